//! `policy check`: a policy compiled and run dry over every level, with every kind of reading.

use super::{ScriptPolicy, Source};
use crate::board::{Board, Level};
use crate::bwmon::COUNT_MAX;
use crate::diag::Diagnostic;
use crate::observe::{Measured, Observation};
use crate::policy::{Ask, FaultKind, Policy, PolicyFault};
use crate::units::{Kbps, Khz, Nanos};

/// What a check found.
#[derive(Clone, Debug)]
pub struct CheckReport {
    /// Calls of `decide` that were made.
    pub calls: u64,
    /// Most operations that one of them used.
    pub max_operations: u64,
    /// Tunables that the script declares.
    pub params: usize,
}

/// Why a policy does not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckFault {
    /// It cannot be loaded, or its `init` faults.
    Refused(Diagnostic),
    /// A call of `decide` faulted.
    Fault(PolicyFault),
}

impl CheckFault {
    /// Where, and what to do.
    pub fn diagnostic(&self) -> &Diagnostic {
        match self {
            Self::Refused(diagnostic) => diagnostic,
            Self::Fault(fault) => &fault.diagnostic,
        }
    }
}

/// [`check_fault`], for those who only want to know what is wrong.
///
/// # Errors
/// The first fault.
pub fn check(
    source: Source,
    board: &Board,
    set: &[(String, String)],
) -> Result<CheckReport, Diagnostic> {
    check_fault(source, board, set).map_err(|fault| fault.diagnostic().clone())
}

/// Compiles `source` for `board` and calls `decide` for every domain, from every level, with a
/// reading, without one, saturated, interrupt-driven, and with the probes present and absent.
///
/// # Errors
/// The first fault. A script that is only wrong on a path which no such observation reaches passes.
pub fn check_fault(
    source: Source,
    board: &Board,
    set: &[(String, String)],
) -> Result<CheckReport, CheckFault> {
    let mut policy = ScriptPolicy::new(source, board, set).map_err(CheckFault::Refused)?;
    let mut report = CheckReport { calls: 0, max_operations: 0, params: policy.params().len() };
    for (domain, described) in board.domains.iter().enumerate() {
        let levels = (0..described.table.len()).map(|level| Some(Level(level)));
        for level in std::iter::once(None).chain(levels) {
            for measured in readings(board, domain) {
                for probes in [false, true] {
                    let all = observations(board, level, measured, probes);
                    let proposal = policy.decide(&all, domain).map_err(CheckFault::Fault)?;
                    report.calls += 1;
                    report.max_operations = report.max_operations.max(policy.operations());
                    if let Ask::Opp(asked) = proposal.ask
                        && !described.table.has(asked)
                    {
                        let fault = unknown_level(&policy, board, domain, asked);
                        return Err(CheckFault::Fault(fault));
                    }
                }
            }
        }
    }
    Ok(report)
}

fn unknown_level(policy: &ScriptPolicy, board: &Board, domain: usize, asked: Level) -> PolicyFault {
    let (name, top) = board
        .domains
        .get(domain)
        .map_or(("?", Level::LOWEST), |d| (d.name.as_str(), d.table.top()));
    let message = format!("opp({asked}) is no level of domain {name}");
    let help = format!("its levels go from 0 to {top}; demand_kBps(n) fits every board");
    let fault = Diagnostic::new(policy.name(), message).help(help);
    PolicyFault::new(FaultKind::UnknownLevel, fault)
}

/// No reading, and peaks around every level of the domain, polled and by interrupt.
fn readings(board: &Board, domain: usize) -> Vec<Option<Measured>> {
    let mut readings = vec![None];
    let Some(described) = board.domains.get(domain) else { return readings };
    let Some(monitor) = board.monitor_of(described) else { return readings };
    let around = described.table.kbps().iter().flat_map(|k| [k.0.saturating_sub(1), k.0, k.0 + 1]);
    let most = monitor.scale.kbps(COUNT_MAX).0;
    for peak in std::iter::once(0).chain(around).chain([most]) {
        for (interrupt, windows) in [(false, 1), (false, 20), (true, 1)] {
            readings.push(Some(Measured {
                peak_kbps: Kbps(peak),
                mean_kbps: (windows == 1 && !interrupt).then_some(Kbps(peak)),
                windows,
                saturated: peak == most,
                interrupt,
                trend_kbps: (windows == 1).then_some(-1_000),
            }));
        }
    }
    readings
}

fn observations(
    board: &Board,
    level: Option<Level>,
    measured: Option<Measured>,
    probes: bool,
) -> Vec<Observation> {
    board
        .domains
        .iter()
        .map(|domain| Observation {
            dt_us: 4_000,
            now: Nanos(Nanos::PER_S),
            measured: domain.monitor.and(measured),
            level: level.map(|level| level.min(domain.table.top())),
            min_level: Level::LOWEST,
            max_level: domain.table.top(),
            others_kbps: probes.then_some(Kbps(1_000_000)),
            kernel_kbps: probes.then_some(Kbps(1_000_000)),
            cpu_max_khz: probes.then_some(Khz(1_000_000)),
            since_change_us: level.map(|_| 40_000),
            lost_events: probes.then_some(0),
        })
        .collect()
}
