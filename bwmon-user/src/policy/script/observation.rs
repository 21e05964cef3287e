//! `obs`: what a script sees of one domain at one tick.
//!
//! One read-only custom type, so that a typo is an error with a position. What is not known raises
//! an error unless the script asks `obs.has("…")` first: unknown is never 0.

use super::error::raise;
use super::slots::Slots;
use crate::board::{Board, Level, OppTable};
use crate::observe::{Measured, Observation};
use crate::policy::Why;
use crate::policy::stage::RunMax;
use crate::units::{Kbps, Nanos};
use rhai::{Engine, EvalAltResult, ImmutableString};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Reasons that are kept for the next time.
const MOST_REASONS: usize = 16;
/// The largest number that a reading gives: a petabyte per second, or twelve days in microseconds. No
/// machine is near it, but a journal that somebody wrote may be, and a policy's own arithmetic (times
/// 100, times 1000) must not overflow on it.
const MOST: i64 = 1 << 40;
/// The slot of `obs.quiet_kBps(n)`.
const QUIET: &str = "quiet_kBps";

type Answer<T> = Result<T, Box<EvalAltResult>>;

/// What all `obs` values of a policy share.
#[derive(Debug)]
pub(super) struct Shared {
    names: Vec<ImmutableString>,
    tables: Vec<OppTable>,
    observations: RefCell<Vec<Observation>>,
    slots: RefCell<Vec<Slots>>,
    reasons: RefCell<Vec<(ImmutableString, Why)>>,
    /// The domain that is being decided, for the helpers without a receiver.
    pub(super) current: Cell<usize>,
}

impl Shared {
    pub(super) fn new(board: &Board) -> Rc<Self> {
        Rc::new(Self {
            names: board.domains.iter().map(|domain| domain.name.as_str().into()).collect(),
            tables: board.domains.iter().map(|domain| domain.table.clone()).collect(),
            observations: RefCell::default(),
            reasons: RefCell::default(),
            slots: RefCell::new(vec![Slots::default(); board.domains.len()]),
            current: Cell::new(0),
        })
    }

    pub(super) fn set(&self, all: &[Observation], domain: usize) {
        let mut observations = self.observations.borrow_mut();
        observations.clear();
        observations.extend_from_slice(all);
        self.current.set(domain);
    }

    /// Calls `step` with the slots of the domain that is being decided and the sample's time.
    pub(super) fn in_slots<T>(
        &self,
        step: impl FnOnce(&mut Slots, Nanos) -> Answer<T>,
    ) -> Answer<T> {
        let domain = self.current.get();
        let now = self.observations.borrow().get(domain).map(|obs| obs.now);
        let now = now.ok_or_else(|| raise("slots can be used in decide(obs) only"))?;
        let mut slots = self.slots.borrow_mut();
        let slots = slots.get_mut(domain).ok_or_else(|| raise("no domain is being decided"))?;
        step(slots, now)
    }

    /// `text` as a reason; the same text again costs no allocation.
    pub(super) fn reason(&self, text: &ImmutableString) -> Why {
        let mut reasons = self.reasons.borrow_mut();
        if let Some((_, why)) = reasons.iter().find(|(known, _)| known == text) {
            return why.clone();
        }
        let why = Why::given(text);
        if reasons.len() == MOST_REASONS {
            // Made-up texts (`why("n is " + n)`) must not push out all of the others for ever.
            reasons.clear();
        }
        reasons.push((text.clone(), why.clone()));
        why
    }

    /// Forgets the slots of `domain`.
    pub(super) fn forget(&self, domain: usize) {
        if let Some(slots) = self.slots.borrow_mut().get_mut(domain) {
            slots.clear();
        }
    }

    /// The table of the domain that is being decided.
    pub(super) fn table(&self) -> Answer<&OppTable> {
        self.tables.get(self.current.get()).ok_or_else(|| raise("no domain is being decided"))
    }

    pub(super) fn name(&self, domain: usize) -> ImmutableString {
        self.names.get(domain).cloned().unwrap_or_default()
    }

    pub(super) fn levels(&self, domain: usize) -> usize {
        self.tables.get(domain).map_or(0, OppTable::len)
    }
}

/// The value that scripts call `obs`.
#[derive(Clone, Debug)]
pub(super) struct Obs {
    pub(super) shared: Rc<Shared>,
    pub(super) domain: usize,
}

impl Obs {
    fn with<T>(&self, read: impl FnOnce(&Observation) -> Option<T>, name: &str) -> Answer<T> {
        let observations = self.shared.observations.borrow();
        observations.get(self.domain).and_then(read).ok_or_else(|| {
            raise(format!("`{name}` is not known on this tick: ask `obs.has(\"{name}\")` first"))
        })
    }

    fn measured<T>(&self, read: impl FnOnce(&Measured) -> Option<T>, name: &str) -> Answer<T> {
        self.with(|obs| obs.measured.as_ref().and_then(read), name)
    }

    fn table(&self) -> Answer<&OppTable> {
        self.shared.tables.get(self.domain).ok_or_else(|| raise("no such domain"))
    }

    fn level_kbps(&self) -> Answer<i64> {
        let level = self.with(|obs| obs.level, "level")?;
        Ok(int(self.table()?.kbps_of(level)))
    }

    /// Whether the reading needs a higher level than the one in force: the kernel's zone 3. Before
    /// the first vote the lowest level stands in, as in the driver.
    fn above(&self) -> Answer<bool> {
        let table = self.table()?;
        self.with(
            |obs| {
                let level = obs.level.unwrap_or(Level::LOWEST);
                Some(obs.measured.is_some_and(|m| m.peak_kbps > table.kbps_of(level)))
            },
            "above",
        )
    }

    /// Whether the reading would fit the level below: the kernel's zone 1. Never at the lowest
    /// level, where the driver masks that zone.
    fn below(&self) -> Answer<bool> {
        let table = self.table()?;
        self.with(
            |obs| {
                let lower = match obs.level {
                    None => Some(Level::LOWEST),
                    Some(level) => level.0.checked_sub(1).map(Level),
                };
                let fits = |m: Measured| lower.is_some_and(|l| m.peak_kbps <= table.kbps_of(l));
                Some(obs.measured.is_some_and(fits))
            },
            "below",
        )
    }

    /// The level below the one in force.
    fn lower_kbps(&self) -> Answer<i64> {
        let level = self.with(|obs| obs.level, "level")?;
        match level.0.checked_sub(1) {
            Some(lower) => Ok(int(self.table()?.kbps_of(Level(lower)))),
            None => Err(raise("`lower_kBps` is not known at the lowest level: test `level > 0`")),
        }
    }

    /// The kernel's zone 1 counter: the largest peak once `n` windows on end were below, else -1.
    /// A reading that is above, or an interrupt, forgets it all; no reading changes nothing.
    fn quiet_kbps(&mut self, n: i64) -> Answer<i64> {
        let (above, below) = (self.above()?, self.below()?);
        let measured = self.with(|obs| Some(obs.measured), "peak_kBps")?;
        let Some(measured) = measured else { return Ok(-1) };
        self.shared.in_slots(|slots, _| {
            let run = slots.run(QUIET, "quiet_kBps")?;
            if above || measured.interrupt {
                *run = RunMax::default();
                return Ok(-1);
            }
            let (peak, windows) = (int(measured.peak_kbps), i64::from(measured.windows));
            Ok(run.step(below, peak, windows, n).unwrap_or(-1))
        })
    }

    fn util_pct(&self) -> Answer<i64> {
        let peak = self.measured(|m| Some(m.peak_kbps), "peak_kBps")?;
        Ok(int(peak) * 100 / self.level_kbps()?.max(1))
    }

    fn of(&mut self, name: &str) -> Answer<Obs> {
        let domain = self.shared.names.iter().position(|n| n.as_str() == name);
        domain.map(|domain| Obs { shared: self.shared.clone(), domain }).ok_or_else(|| {
            let known: Vec<&str> = self.shared.names.iter().map(|n| n.as_str()).collect();
            raise(format!("this board has no domain \"{name}\"; it has {}", known.join(", ")))
        })
    }

    fn has_domain(&mut self, name: &str) -> bool {
        self.shared.names.iter().any(|n| n.as_str() == name)
    }

    fn has(&mut self, name: &str) -> Answer<bool> {
        let observations = self.shared.observations.borrow();
        let Some(obs) = observations.get(self.domain) else { return Ok(false) };
        Ok(match name {
            "peak_kBps" | "windows" | "saturated" => obs.measured.is_some(),
            "mean_kBps" => obs.measured.is_some_and(|m| m.mean_kbps.is_some()),
            "trend_kBps" => obs.measured.is_some_and(|m| m.trend_kbps.is_some()),
            "util_pct" => obs.measured.is_some() && obs.level.is_some(),
            "level" | "level_kBps" => obs.level.is_some(),
            "lower_kBps" => obs.level.is_some_and(|level| level.0 > 0),
            "others_kBps" => obs.others_kbps.is_some(),
            "kernel_kBps" => obs.kernel_kbps.is_some(),
            "cpu_max_kHz" => obs.cpu_max_khz.is_some(),
            "since_change_ms" => obs.since_change_us.is_some(),
            "lost_events" => obs.lost_events.is_some(),
            "domain" | "opp_count" | "dt_us" | "valid" | "interrupt" | "above" | "below"
            | "min_level" | "max_level" => true,
            other => {
                return Err(raise(format!(
                    "`has(\"{other}\")`: no such reading; for a domain ask `has_domain`"
                )));
            }
        })
    }
}

/// What a script sees of a reading: at most [`MOST`].
fn tame(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(MOST).min(MOST)
}

fn int(kbps: Kbps) -> i64 {
    tame(kbps.0)
}

fn small(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

pub(super) fn register(engine: &mut Engine) {
    engine.register_type_with_name::<Obs>("Observation");
    engine
        .register_fn("of", Obs::of)
        .register_fn("has", Obs::has)
        .register_fn("has_domain", Obs::has_domain)
        .register_fn("quiet_kBps", Obs::quiet_kbps);
    engine
        .register_get("domain", |o: &mut Obs| o.shared.name(o.domain))
        .register_get("opp_count", |o: &mut Obs| small(o.shared.levels(o.domain)))
        .register_get("dt_us", |o: &mut Obs| o.with(|obs| Some(tame(obs.dt_us)), "dt_us"))
        .register_get("valid", |o: &mut Obs| o.with(|obs| Some(obs.measured.is_some()), "valid"))
        .register_get("peak_kBps", |o: &mut Obs| {
            o.measured(|m| Some(int(m.peak_kbps)), "peak_kBps")
        })
        .register_get("mean_kBps", |o: &mut Obs| o.measured(|m| m.mean_kbps.map(int), "mean_kBps"))
        .register_get("windows", |o: &mut Obs| {
            o.measured(|m| Some(i64::from(m.windows)), "windows")
        })
        .register_get("saturated", |o: &mut Obs| o.measured(|m| Some(m.saturated), "saturated"))
        .register_get("interrupt", |o: &mut Obs| {
            o.with(|obs| Some(obs.measured.is_some_and(|m| m.interrupt)), "interrupt")
        })
        .register_get("above", |o: &mut Obs| o.above())
        .register_get("below", |o: &mut Obs| o.below())
        .register_get("trend_kBps", |o: &mut Obs| {
            o.measured(|m| m.trend_kbps.map(|kbps| kbps.clamp(-MOST, MOST)), "trend_kBps")
        })
        .register_get("util_pct", |o: &mut Obs| o.util_pct());
    engine
        .register_get("level", |o: &mut Obs| o.with(|obs| obs.level.map(|l| small(l.0)), "level"))
        .register_get("level_kBps", |o: &mut Obs| o.level_kbps())
        .register_get("lower_kBps", |o: &mut Obs| o.lower_kbps())
        .register_get("min_level", |o: &mut Obs| {
            o.with(|obs| Some(small(obs.min_level.0)), "min_level")
        })
        .register_get("max_level", |o: &mut Obs| {
            o.with(|obs| Some(small(obs.max_level.0)), "max_level")
        })
        .register_get("others_kBps", |o: &mut Obs| {
            o.with(|obs| obs.others_kbps.map(int), "others_kBps")
        })
        .register_get("kernel_kBps", |o: &mut Obs| {
            o.with(|obs| obs.kernel_kbps.map(int), "kernel_kBps")
        })
        .register_get("cpu_max_kHz", |o: &mut Obs| {
            o.with(|obs| obs.cpu_max_khz.map(|k| tame(k.0)), "cpu_max_kHz")
        })
        .register_get("since_change_ms", |o: &mut Obs| {
            o.with(|obs| obs.since_change_us.map(|us| tame(us / 1_000)), "since_change_ms")
        })
        .register_get("lost_events", |o: &mut Obs| {
            o.with(|obs| obs.lost_events.map(tame), "lost_events")
        });
}
