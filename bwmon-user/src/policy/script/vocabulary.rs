//! The functions behind the words of `words.rs`.

use super::error::raise;
use super::event;
use super::observation::{self, Obs, Shared};
use super::slots;
use crate::board::Level;
use crate::policy::{Ask, Proposal, Why};
use crate::units::Kbps;
use rhai::{Engine, EvalAltResult, ImmutableString};
use std::rc::Rc;

type Answer<T> = Result<T, Box<EvalAltResult>>;

/// Registers the vocabulary.
pub(super) fn register(engine: &mut Engine, shared: &Rc<Shared>) {
    observation::register(engine);
    slots::register(engine, shared);
    event::register(engine);
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
