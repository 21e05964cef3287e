//! What holds for every shipped policy, on any board and any observation.

use super::SHIPPED;
use crate::board::{Board, Level, builtin, builtin_ids};
use crate::observe::{Measured, Observation};
use crate::policy::script::{Param, ScriptPolicy, Source, Value};
use crate::policy::testing::observation;
use crate::policy::{Ask, Policy, Proposal};
use crate::units::{Kbps, Khz, Nanos};
use proptest::prelude::*;

/// What one tick brings, as proptest draws it; `None` is "not known".
#[derive(Clone, Debug)]
struct Drawn {
    dt_us: u64,
    peak: Option<u64>,
    windows: u32,
    flags: (bool, bool, bool),
    trend: Option<i64>,
    level: Option<prop::sample::Index>,
    others: Option<u64>,
    kernel: Option<u64>,
    cpu_khz: Option<u64>,
    since_change_us: Option<u64>,
    lost: Option<u64>,
}

/// A number of any size, with the ends and the usual ones drawn often.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        3 => 0u64..30_000_000,
        1 => 0u64..=u64::from(u32::MAX),
        1 => any::<u64>(),
        1 => prop::sample::select(vec![0, 1, u64::from(u32::MAX), i64::MAX as u64, u64::MAX]),
    ]
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let maybe = || prop::option::of(number());
    let first = (number(), maybe(), any::<u32>(), any::<(bool, bool, bool)>());
    let trend = prop::option::of(any::<i64>());
    let level = prop::option::of(any::<prop::sample::Index>());
    (first, trend, level, (maybe(), maybe(), maybe()), (maybe(), maybe())).prop_map(
        |((dt_us, peak, windows, flags), trend, level, probes, (since_change_us, lost))| {
            let (others, kernel, cpu_khz) = probes;
            Drawn {
                dt_us,
                peak,
                windows,
                flags,
                trend,
                level,
                others,
                kernel,
                cpu_khz,
                since_change_us,
                lost,
            }
        },
    )
}

impl Drawn {
    /// The observations of all domains of `board`: a domain without a monitor has no reading.
    fn on(&self, board: &Board, now: Nanos) -> Vec<Observation> {
        let (saturated, interrupt, mean) = self.flags;
        let measured = self.peak.map(|peak| Measured {
            peak_kbps: Kbps(peak),
            mean_kbps: mean.then_some(Kbps(peak)),
            windows: self.windows,
            saturated,
            interrupt,
            trend_kbps: self.trend,
        });
        let of = |domain: &crate::board::Domain| Observation {
            dt_us: self.dt_us,
            now,
            measured: domain.monitor.and(measured),
            level: self.level.map(|index| Level(index.index(domain.table.len()))),
            max_level: domain.table.top(),
            others_kbps: self.others.map(Kbps),
            kernel_kbps: self.kernel.map(Kbps),
            cpu_max_khz: self.cpu_khz.map(Khz),
            since_change_us: self.since_change_us,
            lost_events: self.lost,
            ..observation()
        };
        board.domains.iter().map(of).collect()
    }
}

/// A value that `param` allows: its default, an end of its range, or in between.
fn allowed(param: &Param, choice: u8) -> String {
    let (low, high) = param.range.unwrap_or((0.0, 1.0));
    let number = match choice % 5 {
        0 => low,
        1 => high,
        2 => (low + 1.0).min(high),
        _ => (low + (high - low) * f64::from(choice) / 255.0).floor(),
    };
    match (&param.default, choice % 4) {
        (default, 3) => default.to_string(),
        (Value::List(_), 0) => String::new(),
        (Value::List(_), _) => format!("{number},{high},{low}"),
        (Value::Bool(_), _) => "true".into(),
        _ => number.to_string(),
    }
}

fn policy(
    shipped: &super::Shipped,
    board: &Board,
    set: &[(String, String)],
) -> Result<ScriptPolicy, TestCaseError> {
    let source = Source { name: shipped.name.into(), text: shipped.text.into() };
    ScriptPolicy::new(source, board, set).map_err(|fault| TestCaseError::fail(fault.to_string()))
}

/// What `policy` proposes on each of `ticks` for every domain; a fault fails the test.
fn walk(
    policy: &mut ScriptPolicy,
    board: &Board,
    ticks: &[Drawn],
) -> Result<Vec<Proposal>, TestCaseError> {
    let mut now = Nanos(0);
    let mut proposals = Vec::new();
    for tick in ticks {
        now = Nanos(now.0.saturating_add(tick.dt_us.saturating_mul(Nanos::PER_US)));
        let all = tick.on(board, now);
        for (domain, described) in board.domains.iter().enumerate() {
            let said = policy.decide(&all, domain);
            let said = said.map_err(|fault| TestCaseError::fail(format!("{fault}: {tick:?}")))?;
            if let Ask::Opp(level) = said.ask {
                prop_assert!(described.table.has(level), "{level:?} on {}", described.name);
            }
            proposals.push(said);
        }
    }
    Ok(proposals)
}

fn any_board() -> impl Strategy<Value = Board> {
    let ids: Vec<&str> = builtin_ids().collect();
    prop::sample::select(ids).prop_map(|id| builtin(id).unwrap().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_shipped_policy_faults_on_any_observation_of_any_board(
        board in any_board(),
        which in any::<prop::sample::Index>(),
        ticks in prop::collection::vec(drawn(), 1..40),
    ) {
        let shipped = which.get(SHIPPED);
        walk(&mut policy(shipped, &board, &[])?, &board, &ticks)?;
    }

    #[test]
    fn no_tunable_within_its_range_makes_a_shipped_policy_fault(
        board in any_board(),
        which in any::<prop::sample::Index>(),
        choices in prop::collection::vec(any::<u8>(), 32),
        ticks in prop::collection::vec(drawn(), 1..40),
    ) {
        let shipped = which.get(SHIPPED);
        let plain = policy(shipped, &board, &[])?;
        let set: Vec<(String, String)> = plain
            .params()
            .iter()
            .zip(&choices)
            .map(|(param, choice)| (param.name.clone(), allowed(param, *choice)))
            .collect();
        let walked = policy(shipped, &board, &set).and_then(|mut p| walk(&mut p, &board, &ticks));
        prop_assert!(walked.is_ok(), "{} {set:?}: {:?}", shipped.name, walked.err());
    }

    #[test]
    fn no_preset_makes_a_shipped_policy_fault(
        board in any_board(),
        which in any::<prop::sample::Index>(),
        ticks in prop::collection::vec(drawn(), 1..40),
    ) {
        let with_presets: Vec<_> =
            SHIPPED.iter().filter(|shipped| shipped.text.contains("@preset")).collect();
        for shipped in with_presets {
            let presets = policy(shipped, &board, &[])?.presets().to_vec();
            let preset = which.get(&presets);
            walk(&mut policy(shipped, &board, &preset.set)?, &board, &ticks)?;
        }
    }
}
