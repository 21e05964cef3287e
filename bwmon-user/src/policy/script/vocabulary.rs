//! Every name a script may use, with its meaning, and the functions behind the proposal ones.

use super::error::raise;
use super::observation::{self, Obs, Shared};
use super::slots;
use crate::board::Level;
use crate::policy::{Ask, Proposal, Why};
use crate::units::Kbps;
use rhai::{Engine, EvalAltResult, ImmutableString};
use std::rc::Rc;

type Answer<T> = Result<T, Box<EvalAltResult>>;

/// A name and what it means.
pub type Word = (&'static str, &'static str);

/// What `obs` has.
pub const PROPERTIES: &[Word] = &[
    ("domain", "name of the domain that is decided"),
    ("opp_count", "number of levels"),
    ("dt_us", "microseconds since the tick before"),
    ("valid", "whether the monitor has a reading on this tick"),
    ("peak_kBps", "busiest window of the reading, at most (as the kernel computes it)"),
    ("mean_kBps", "mean of the reading; known when it is one window long"),
    ("windows", "whole windows in the reading"),
    ("saturated", "the counter was full: the truth is at least peak_kBps"),
    ("interrupt", "the hardware (or the kernel's driver) asked for attention on this tick"),
    ("above", "there is a reading, and it needs a higher level than the one in force"),
    ("below", "there is a reading, and it would fit the level below the one in force"),
    ("trend_kBps", "change of peak_kBps since the reading before"),
    ("util_pct", "peak_kBps in percent of level_kBps"),
    ("level", "level in force, 0 the lowest; known after the first vote"),
    ("level_kBps", "bandwidth of the level in force"),
    ("lower_kBps", "bandwidth of the level below the one in force"),
    ("min_level", "lowest level that the limits allow"),
    ("max_level", "highest level that the limits allow"),
    ("others_kBps", "highest peak vote of the path's other consumers, from the probes"),
    ("kernel_kBps", "what the kernel's own governor chose, in shadow"),
    ("cpu_max_kHz", "highest CPU frequency, from the probes"),
    ("since_change_ms", "milliseconds since the level last changed"),
    ("lost_events", "probe events lost since the start"),
];

/// What a script may call besides the standard arithmetic, array, map and string functions.
pub const FUNCTIONS: &[Word] = &[
    ("has", "obs.has(\"name\"): whether a reading is known on this tick"),
    ("has_domain", "obs.has_domain(\"domain\"): whether this board has that domain"),
    ("of", "obs.of(\"domain\"): the observation of another domain on the same tick"),
    (
        "demand_kBps",
        "propose the lowest level that carries this much; a text as last argument is the reason",
    ),
    ("opp", "propose this level; a text as last argument is the reason"),
    ("opp_max", "propose the highest level; a text as last argument is the reason"),
    ("opp_min", "propose the lowest level; a text as last argument is the reason"),
    ("hold", "propose the level in force; a text as last argument is the reason"),
    ("hold_ms", "proposal.hold_ms(n): do not come down for n milliseconds afterwards"),
    (
        "wake_kBps",
        "proposal.wake_kBps(up, down): wake levels; not used until boards are interrupt-driven",
    ),
    ("why", "proposal.why(\"text\"): the reason, for the journal (48 characters)"),
    ("opp_kBps", "bandwidth of a level"),
    ("opp_ceil", "lowest level that carries this much"),
    ("opp_floor", "highest level that is not above this much"),
    ("headroom", "headroom(kBps, pct): kBps so that it uses pct percent"),
    ("clamp", "clamp(x, low, high)"),
    ("lerp", "lerp(x, x0, y0, x1, y1): on the line between two points, and no further"),
    ("ewma", "ewma(\"slot\", x, pct): exponential average, pct the weight of x"),
    ("ewma_up", "ewma_up(\"slot\", x, pct): the same, but rises at once"),
    ("average", "average(\"slot\", x, n): mean of the last n values, at most 64"),
    ("percentile", "percentile(\"slot\", x, n, pct): percentile of the last n values"),
    ("peak_hold", "peak_hold(\"slot\", x, ms): largest of the last ms milliseconds"),
    ("hold_down", "hold_down(\"slot\", x, ms): rises at once, falls after ms milliseconds below"),
    ("slew", "slew(\"slot\", x, up_per_ms, down_per_ms): bounded slope; 0 is no bound"),
    (
        "run_max",
        "run_max(\"slot\", cond, x, by, n): largest x once cond held for n windows, else -1",
    ),
    ("hysteresis", "hysteresis(\"slot\", x, low, high): true above high, false below low"),
    ("debounce", "debounce(\"slot\", cond, n): changes after n calls on end that differ"),
    ("elapsed_ms", "elapsed_ms(\"slot\"): milliseconds since its first use or restart"),
    ("restart", "restart(\"slot\"): the time of elapsed_ms starts anew"),
    ("forget", "forget(\"slot\"): the slot starts anew"),
];

/// Registers the vocabulary.
pub(super) fn register(engine: &mut Engine, shared: &Rc<Shared>) {
    observation::register(engine);
    slots::register(engine, shared);
    engine.register_type_with_name::<Proposal>("Proposal");
    engine
        .register_fn("hold", || Proposal::new(Ask::Hold, ""))
        .register_fn("opp_max", || Proposal::new(Ask::Max, ""))
        .register_fn("opp_min", || Proposal::new(Ask::Min, ""))
        .register_fn("demand_kBps", |n: i64| demand(n))
        .register_fn("demand_kBps", |n: f64| demand(ceil(n)?))
        .register_fn("opp", |level: i64| opp(level))
        .register_fn("hold_ms", |mut p: Proposal, ms: i64| -> Answer<Proposal> {
            p.hold_ms = u32::try_from(ms)
                .map_err(|_| raise(format!("hold_ms({ms}): give 0 to 4294967295")))?;
            Ok(p)
        })
        .register_fn("wake_kBps", |mut p: Proposal, up: i64, down: i64| -> Answer<Proposal> {
            if down < 0 || up < down {
                return Err(raise(format!("wake_kBps({up}, {down}): up is above down, both >= 0")));
            }
            p.wake_kbps = Some((Kbps(up as u64), Kbps(down as u64)));
            Ok(p)
        });
    register_reasons(engine, shared);
    engine.register_fn("clamp", |x: i64, low: i64, high: i64| x.max(low).min(high));
    let table = shared.clone();
    engine.register_fn("opp_kBps", move |level: i64| -> Answer<i64> {
        let table = table.table()?;
        let known = usize::try_from(level).ok().map(Level).filter(|level| table.has(*level));
        let level = known.ok_or_else(|| {
            raise(format!("opp_kBps({level}): levels go from 0 to {}", table.top()))
        })?;
        Ok(table.kbps_of(level).0 as i64)
    });
    let table = shared.clone();
    engine.register_fn("opp_ceil", move |kbps: i64| -> Answer<i64> {
        Ok(table.table()?.ceil(Kbps(kbps.max(0) as u64)).0 as i64)
    });
    let table = shared.clone();
    engine.register_fn("opp_floor", move |kbps: i64| -> Answer<i64> {
        Ok(table.table()?.floor(Kbps(kbps.max(0) as u64)).0 as i64)
    });
    engine.register_type_with_name::<Info>("Info");
    engine
        .register_get("domain", |i: &mut Info| i.0.shared.name(i.0.domain))
        .register_get("opp_count", |i: &mut Info| i.0.shared.levels(i.0.domain) as i64);
}

/// The same with a reason: one call and one value less than `.why("…")`.
fn register_reasons(engine: &mut Engine, shared: &Rc<Shared>) {
    type Text = ImmutableString;
    let s = shared.clone();
    engine.register_fn("hold", move |text: Text| because(Ask::Hold, s.reason(&text)));
    let s = shared.clone();
    engine.register_fn("opp_max", move |text: Text| because(Ask::Max, s.reason(&text)));
    let s = shared.clone();
    engine.register_fn("opp_min", move |text: Text| because(Ask::Min, s.reason(&text)));
    let s = shared.clone();
    engine.register_fn("demand_kBps", move |n: i64, text: Text| -> Answer<Proposal> {
        Ok(Proposal { why: s.reason(&text), ..demand(n)? })
    });
    let s = shared.clone();
    engine.register_fn("demand_kBps", move |n: f64, text: Text| -> Answer<Proposal> {
        Ok(Proposal { why: s.reason(&text), ..demand(ceil(n)?)? })
    });
    let s = shared.clone();
    engine.register_fn("opp", move |level: i64, text: Text| -> Answer<Proposal> {
        Ok(Proposal { why: s.reason(&text), ..opp(level)? })
    });
    let s = shared.clone();
    engine.register_fn("why", move |p: &mut Proposal, text: Text| Proposal {
        why: s.reason(&text),
        ..p.clone()
    });
}

/// What `init(info)` gets: the domain's name and its number of levels.
#[derive(Clone, Debug)]
pub(super) struct Info(pub(super) Obs);

fn demand(n: i64) -> Answer<Proposal> {
    let n = u64::try_from(n)
        .map_err(|_| raise(format!("demand_kBps({n}): a bandwidth is not negative")))?;
    Ok(Proposal::new(Ask::Demand(Kbps(n)), ""))
}

fn opp(level: i64) -> Answer<Proposal> {
    let level =
        usize::try_from(level).map_err(|_| raise(format!("opp({level}): levels start at 0")))?;
    Ok(Proposal::new(Ask::Opp(Level(level)), ""))
}

fn because(ask: Ask, why: Why) -> Proposal {
    Proposal { why, ..Proposal::new(ask, "") }
}

fn ceil(n: f64) -> Answer<i64> {
    if n.is_finite() && (0.0..9.0e15).contains(&n) {
        Ok(n.ceil() as i64)
    } else {
        Err(raise(format!("{n} is no bandwidth in kBps")))
    }
}
