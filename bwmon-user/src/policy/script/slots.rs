//! Named slots: the memory of the stateful helpers, one set per domain.

use super::error::raise;
use super::observation::Shared;
use crate::policy::stage::{
    Debounce, Ewma, HoldDown, Hysteresis, MOST_VALUES, PeakHold, RunMax, Slew, Window, headroom,
    lerp,
};
use crate::units::Nanos;
use rhai::{Dynamic, Engine, EvalAltResult};
use std::rc::Rc;

type Answer<T> = Result<T, Box<EvalAltResult>>;

/// Slots of one domain.
pub const MAX_SLOTS: usize = 16;

/// The machine in a slot.
#[derive(Clone, Debug)]
enum Machine {
    Ewma(Ewma),
    PeakHold(PeakHold),
    Window(Window),
    Hysteresis(Hysteresis),
    Debounce(Debounce),
    HoldDown(HoldDown),
    Slew(Slew),
    RunMax(RunMax),
    Timer(Nanos),
}

/// One domain's slots.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    entries: Vec<(Box<str>, &'static str, Machine)>,
}

impl Slots {
    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }

    fn forget(&mut self, slot: &str) {
        self.entries.retain(|(name, ..)| &**name != slot);
    }

    /// The machine called `slot`, made by `fresh` when `helper` names it for the first time.
    fn machine(
        &mut self,
        slot: &str,
        helper: &'static str,
        fresh: impl FnOnce() -> Machine,
    ) -> Answer<&mut Machine> {
        let found = self.entries.iter().position(|(name, ..)| &**name == slot);
        let index = match found {
            Some(index) => index,
            None if self.entries.len() == MAX_SLOTS => {
                return Err(raise(format!(
                    "{helper}(\"{slot}\", …): a domain has at most {MAX_SLOTS} slots"
                )));
            }
            None => {
                self.entries.push((slot.into(), helper, fresh()));
                self.entries.len() - 1
            }
        };
        let Some((_, user, machine)) = self.entries.get_mut(index) else {
            return Err(raise(format!("{helper}: there is no slot \"{slot}\"")));
        };
        if *user != helper {
            return Err(raise(format!(
                "the slot \"{slot}\" is used by {user}; give {helper} another"
            )));
        }
        Ok(machine)
    }
}

impl Slots {
    /// The run in `slot`, for a helper that steps it itself.
    pub(super) fn run(&mut self, slot: &str, helper: &'static str) -> Answer<&mut RunMax> {
        match self.machine(slot, helper, || Machine::RunMax(RunMax::default()))? {
            Machine::RunMax(run) => Ok(run),
            _ => Err(raise(format!("{helper}: the slot holds something else"))),
        }
    }
}

/// Defines a helper: looks its machine up and steps it.
macro_rules! step {
    ($shared:expr, $slot:expr, $helper:literal, $variant:ident, |$machine:ident, $now:ident| $step:expr) => {
        $shared.in_slots(|slots, $now| {
            match slots.machine($slot, $helper, || Machine::$variant(Default::default()))? {
                Machine::$variant($machine) => Ok($step),
                _ => Err(raise(concat!($helper, ": the slot holds something else"))),
            }
        })
    };
}

/// A whole number of what a script gives: one with a point is rounded up, as demands are.
fn whole(value: &Dynamic, what: &str) -> Answer<i64> {
    if let Ok(n) = value.as_int() {
        return Ok(n);
    }
    match value.as_float() {
        Ok(x) if x.is_finite() && x.abs() < 9.0e15 => Ok(x.ceil() as i64),
        Ok(x) => Err(raise(format!("{what}: {x} is too large or no number"))),
        Err(kind) => Err(raise(format!("{what}: a number is needed, not {kind}"))),
    }
}

fn within(what: &str, value: i64, low: i64, high: i64) -> Answer<i64> {
    if (low..=high).contains(&value) {
        Ok(value)
    } else {
        Err(raise(format!("{what} is {value}; it goes from {low} to {high}")))
    }
}

/// Registers the helpers.
pub(super) fn register(engine: &mut Engine, shared: &Rc<Shared>) {
    register_smooth(engine, shared);
    register_hold(engine, shared);
    register_switch(engine, shared);
    register_plain(engine);
}

fn register_smooth(engine: &mut Engine, shared: &Rc<Shared>) {
    let s = shared.clone();
    engine.register_fn("ewma", move |slot: &str, x: Dynamic, pct: i64| -> Answer<i64> {
        let (x, pct) = (whole(&x, "ewma")?, within("ewma's pct", pct, 0, 100)?);
        step!(s, slot, "ewma", Ewma, |m, _now| m.step(x, pct))
    });
    let s = shared.clone();
    engine.register_fn("ewma_up", move |slot: &str, x: Dynamic, pct: i64| -> Answer<i64> {
        let (x, pct) = (whole(&x, "ewma_up")?, within("ewma_up's pct", pct, 0, 100)?);
        step!(s, slot, "ewma_up", Ewma, |m, _now| m.step_up(x, pct))
    });
    let s = shared.clone();
    engine.register_fn("average", move |slot: &str, x: Dynamic, n: i64| -> Answer<i64> {
        let (x, n) = (whole(&x, "average")?, count("average's n", n)?);
        step!(s, slot, "average", Window, |m, _now| {
            m.push(x, n);
            m.average()
        })
    });
    let s = shared.clone();
    engine.register_fn(
        "percentile",
        move |slot: &str, x: Dynamic, n: i64, pct: i64| -> Answer<i64> {
            let (x, n) = (whole(&x, "percentile")?, count("percentile's n", n)?);
            let pct = within("percentile's pct", pct, 0, 100)?;
            step!(s, slot, "percentile", Window, |m, _now| {
                m.push(x, n);
                m.percentile(pct)
            })
        },
    );
    let s = shared.clone();
    engine.register_fn(
        "slew",
        move |slot: &str, x: Dynamic, up: Dynamic, down: Dynamic| -> Answer<i64> {
            let x = whole(&x, "slew")?;
            let up = within("slew's up_per_ms", whole(&up, "slew")?, 0, i64::MAX)?;
            let down = within("slew's down_per_ms", whole(&down, "slew")?, 0, i64::MAX)?;
            step!(s, slot, "slew", Slew, |m, now| m.step(now, x, up, down))
        },
    );
}

fn register_hold(engine: &mut Engine, shared: &Rc<Shared>) {
    let s = shared.clone();
    engine.register_fn("peak_hold", move |slot: &str, x: Dynamic, ms: i64| -> Answer<i64> {
        let (x, ms) = (whole(&x, "peak_hold")?, within("peak_hold's ms", ms, 0, i64::MAX)?);
        step!(s, slot, "peak_hold", PeakHold, |m, now| m.step(now, x, ms))
    });
    let s = shared.clone();
    engine.register_fn("hold_down", move |slot: &str, x: Dynamic, ms: i64| -> Answer<i64> {
        let (x, ms) = (whole(&x, "hold_down")?, within("hold_down's ms", ms, 0, i64::MAX)?);
        step!(s, slot, "hold_down", HoldDown, |m, now| m.step(now, x, ms))
    });
    let s = shared.clone();
    engine.register_fn(
        "run_max",
        move |slot: &str, cond: bool, x: Dynamic, by: i64, n: i64| -> Answer<i64> {
            let x = within("run_max's x", whole(&x, "run_max")?, 0, i64::MAX)?;
            let by = within("run_max's by", by, 0, i64::MAX)?;
            step!(s, slot, "run_max", RunMax, |m, _now| m.step(cond, x, by, n).unwrap_or(-1))
        },
    );
}

fn register_switch(engine: &mut Engine, shared: &Rc<Shared>) {
    let s = shared.clone();
    engine.register_fn(
        "hysteresis",
        move |slot: &str, x: Dynamic, low: Dynamic, high: Dynamic| -> Answer<bool> {
            let x = whole(&x, "hysteresis")?;
            let (low, high) = (whole(&low, "hysteresis")?, whole(&high, "hysteresis")?);
            if low > high {
                return Err(raise(format!("hysteresis: low {low} is above high {high}")));
            }
            step!(s, slot, "hysteresis", Hysteresis, |m, _now| m.step(x, low, high))
        },
    );
    let s = shared.clone();
    engine.register_fn("debounce", move |slot: &str, cond: bool, n: i64| -> Answer<bool> {
        step!(s, slot, "debounce", Debounce, |m, _now| m.step(cond, n))
    });
    let s = shared.clone();
    engine.register_fn("elapsed_ms", move |slot: &str| -> Answer<i64> {
        s.in_slots(|slots, now| {
            match slots.machine(slot, "elapsed_ms", || Machine::Timer(now))? {
                Machine::Timer(since) => {
                    Ok(i64::try_from(now.since(*since).as_ms()).unwrap_or(i64::MAX))
                }
                _ => Err(raise("elapsed_ms: the slot holds something else")),
            }
        })
    });
    let s = shared.clone();
    engine.register_fn("restart", move |slot: &str| -> Answer<()> {
        s.in_slots(|slots, now| {
            match slots.machine(slot, "elapsed_ms", || Machine::Timer(now))? {
                Machine::Timer(since) => {
                    *since = now;
                    Ok(())
                }
                _ => Err(raise("restart: the slot is no timer")),
            }
        })
    });
    let s = shared.clone();
    engine.register_fn("forget", move |slot: &str| -> Answer<()> {
        s.in_slots(|slots, _| {
            slots.forget(slot);
            Ok(())
        })
    });
}

fn register_plain(engine: &mut Engine) {
    engine
        .register_fn("headroom", |x: Dynamic, pct: Dynamic| -> Answer<i64> {
            let (x, pct) = (whole(&x, "headroom")?, whole(&pct, "headroom")?);
            let pct = within("headroom's pct", pct, 1, 100)?;
            headroom(x, pct).ok_or_else(|| raise("headroom: too large"))
        })
        .register_fn("lerp", |x: i64, x0: i64, y0: i64, x1: i64, y1: i64| lerp(x, x0, y0, x1, y1));
}

fn count(what: &str, n: i64) -> Answer<usize> {
    let n = within(what, n, 1, MOST_VALUES as i64)?;
    usize::try_from(n).map_err(|_| raise(what.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::super::{ScriptPolicy, Source};
    use crate::board::builtin;
    use crate::observe::Observation;
    use crate::policy::testing::observation;
    use crate::policy::{Ask, Policy};
    use crate::units::{Kbps, Nanos};

    fn policy(body: &str) -> ScriptPolicy {
        let text = format!("fn decide(obs) {{ {body} }}");
        let board = builtin("sdm845").unwrap().unwrap();
        ScriptPolicy::new(Source { name: "p.rhai".into(), text }, &board, &[]).unwrap()
    }

    fn at(ms: u64) -> Vec<Observation> {
        vec![Observation { now: Nanos(ms * Nanos::PER_MS), dt_us: ms * 1_000, ..observation() }; 3]
    }

    fn demand(policy: &mut ScriptPolicy, domain: usize, ms: u64) -> u64 {
        match policy.decide(&at(ms), domain).unwrap().ask {
            Ask::Demand(Kbps(n)) => n,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_slot_remembers_per_domain_and_time_is_the_samples() {
        let mut p = policy("let t = elapsed_ms(\"t\"); demand_kBps(ewma(\"e\", t, 50))");
        assert_eq!(demand(&mut p, 0, 10), 0);
        // 40 ms since the first call, half of it.
        assert_eq!(demand(&mut p, 0, 50), 20);
        assert_eq!(demand(&mut p, 1, 50), 0);
    }

    #[test]
    fn a_fault_forgets_the_slots_of_its_domain_only() {
        let mut p = policy(
            "let t = elapsed_ms(\"t\"); if t == 20 && obs.domain == \"ddr\" { throw \"x\"; } demand_kBps(t)",
        );
        for domain in [0, 1] {
            demand(&mut p, domain, 10);
        }
        assert!(p.decide(&at(30), 1).is_err());
        assert_eq!((demand(&mut p, 0, 40), demand(&mut p, 1, 40)), (30, 0));
    }

    #[test]
    fn forget_and_restart_start_anew() {
        let mut p = policy(
            "let x = average(\"a\", obs.dt_us, 4); if obs.dt_us == 3_000 { forget(\"a\"); } demand_kBps(x)",
        );
        // Mean of 1000; of 1000 and 3000; then only 5000.
        assert_eq!([1, 3, 5].map(|ms| demand(&mut p, 0, ms)), [1_000, 2_000, 5_000]);
        let mut p =
            policy("let t = elapsed_ms(\"t\"); if t == 2 { restart(\"t\"); } demand_kBps(t)");
        assert_eq!([1, 3, 6].map(|ms| demand(&mut p, 0, ms)), [0, 2, 3]);
    }

    #[test]
    fn wrong_use_of_a_slot_is_a_fault_that_names_it() {
        for (body, said) in [
            ("ewma(\"a\", 1, 50); average(\"a\", 1, 5); hold()", "used by ewma; give average"),
            ("for i in 0..20 { ewma(`s${i}`, 1, 50); } hold()", "at most 16 slots"),
            ("ewma(\"a\", \"x\", 50); hold()", "a number is needed, not string"),
            ("ewma(\"a\", 0.0 / 0.0, 50); hold()", "too large or no number"),
            ("percentile(\"a\", 1, 65, 50); hold()", "from 1 to 64"),
            ("hysteresis(\"a\", 1, 5, 2); hold()", "low 5 is above high 2"),
            ("restart(\"a\"); ewma(\"a\", 1, 50); hold()", "used by elapsed_ms"),
            ("headroom(5, 0); hold()", "goes from 1 to 100"),
        ] {
            let fault = policy(body).decide(&at(1), 0).unwrap_err();
            assert!(fault.diagnostic.message.contains(said), "{body}: {fault}");
            assert!(fault.diagnostic.place.is_some(), "{body}: {fault}");
        }
    }

    #[test]
    fn numbers_with_a_point_are_rounded_up() {
        let mut p = policy(
            "demand_kBps(hold_down(\"h\", 2.1, 8) + headroom(1.5, 50) + lerp(5, 0, 0, 10, 20))",
        );
        // 3 + 2 * 100 / 50 + 10.
        assert_eq!(demand(&mut p, 0, 1), 17);
    }

    #[test]
    fn a_run_is_below_zero_until_it_is_long_enough() {
        let mut p = policy("let x = run_max(\"r\", true, obs.dt_us, 1, 3); demand_kBps(x + 1)");
        assert_eq!([5, 7, 6].map(|ms| demand(&mut p, 0, ms)), [0, 0, 7_001]);
    }
}
