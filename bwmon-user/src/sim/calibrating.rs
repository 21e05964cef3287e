//! Calibration on the simulator, where the answer is known: real driver code over register-level
//! blocks, and traffic whose bytes the plant knows.

use super::{Kind, Setup, Shape, Simulation, Stream, Workload};
use crate::board::Board;
use crate::calibrate::{self, Rig, Seen, Traffic};
use crate::ports::{Clock, CounterSource};
use crate::sample::{Reading, Sample};
use crate::units::Nanos;

/// Distance of the readings: five windows.
const PERIOD: Nanos = Nanos(20 * Nanos::PER_MS);
/// Readings of a trial; the first is thrown away, since it begins before the traffic settles.
const READINGS: u32 = 12;

/// A simulated machine whose blocks count as its board says.
pub struct SimRig {
    board: Board,
}

impl SimRig {
    /// A machine like `board`, whose blocks count in `true_unit_kb` where that is given.
    pub fn new(board: &Board, true_unit_kb: Option<u32>) -> Self {
        let mut board = board.clone();
        for monitor in &mut board.monitors {
            monitor.scale.unit_kb = true_unit_kb.unwrap_or(monitor.scale.unit_kb);
        }
        Self { board }
    }
}

impl Rig for SimRig {
    fn observe(&mut self, traffic: Option<Traffic>) -> Result<Vec<Vec<Seen>>, String> {
        let workload = workload(traffic).ok_or("a workload without phases")?;
        let setup = Setup::of(&self.board).map_err(|fault| fault.to_string())?;
        let mut machine = Simulation::new(&self.board, workload, setup);
        let mut seen: Vec<Vec<Seen>> = vec![Vec::new(); self.board.monitors.len()];
        let mut sample = Sample::default();
        let mut before = 0.0;
        for reading in 0..READINGS {
            let next = machine.clock.now().plus(PERIOD);
            machine.clock.sleep_until(next);
            machine.source.read(&mut sample).map_err(|error| error.to_string())?;
            let useful = machine.plant().useful_kb() * 1_000.0;
            let moved = useful - std::mem::replace(&mut before, useful);
            if reading == 0 {
                continue;
            }
            for (index, reading) in sample.monitors.iter().enumerate() {
                let Reading::Polled { zone_max, elapsed_ns } = reading else { continue };
                let Some(monitor) = self.board.monitors.get(index) else { continue };
                let windows = elapsed_ns.0 as f64 / monitor.scale.window().0.max(1) as f64;
                // A copy is two streams; the program moves the bytes of one.
                let copied = traffic.is_some_and(|own| own.kind == calibrate::Kind::Copy);
                let own = moved / windows / self.clusters(index) / if copied { 2.0 } else { 1.0 };
                if let Some(seen) = seen.get_mut(index) {
                    seen.push(Seen { count: zone_max.peak(), bytes: (own, own) });
                }
            }
        }
        Ok(seen)
    }
}

impl SimRig {
    /// The plant spreads the CPUs' traffic evenly over their monitors.
    fn clusters(&self, monitor: usize) -> f64 {
        let is_cpu = |name: &str| name.starts_with("cpu");
        let name = |index: usize| self.board.monitors.get(index).map_or("", |m| m.name.as_str());
        if !is_cpu(name(monitor)) {
            return 1.0;
        }
        let domains = self.board.domains.iter().filter_map(|domain| domain.monitor);
        domains.filter(|index| is_cpu(name(*index))).count().max(1) as f64
    }
}

fn workload(traffic: Option<Traffic>) -> Option<Workload> {
    let stream =
        |kind, block_kb| Stream::cpu(kind, block_kb, Stream::ALL_THREADS, Shape::Unbounded);
    let streams = match traffic {
        None => Vec::new(),
        Some(Traffic { kind: calibrate::Kind::Read, block_kb, .. }) => {
            vec![stream(Kind::ReadSeq, block_kb)]
        }
        Some(Traffic { kind: calibrate::Kind::Copy, block_kb, .. }) => {
            vec![stream(Kind::ReadSeq, block_kb), stream(Kind::WriteSeq, block_kb)]
        }
    };
    let phase = super::Phase {
        name: "trial".into(),
        length: Nanos(Nanos::PER_S),
        cpu_pct: if streams.is_empty() { 0 } else { 100 },
        asleep_pct: 0,
        streams,
    };
    Workload::new("calibrate".into(), "known traffic".into(), vec![phase])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{builtin, builtin_ids};
    use crate::calibrate::{Finding, Subject, Verdict, calibrate};

    fn findings(board: &Board, true_unit_kb: Option<u32>) -> Vec<Finding> {
        let subjects: Vec<Subject> = board
            .monitors
            .iter()
            .map(|m| Subject { monitor: m.name.clone(), unit_kb: m.scale.unit_kb })
            .collect();
        let mut rig = SimRig::new(board, true_unit_kb);
        calibrate(&mut rig, &subjects, &[None], &mut |_| {}).unwrap()
    }

    #[test]
    fn the_unit_of_every_monitor_of_every_board_is_found_and_no_other_fits() {
        for id in builtin_ids() {
            let board = builtin(id).unwrap().unwrap();
            for finding in findings(&board, None) {
                assert_eq!(finding.verdict, Verdict::Fits, "{id} {finding:#?}");
                assert_eq!(finding.candidates_kb, [finding.subject.unit_kb], "{id}");
            }
        }
    }

    #[test]
    fn a_block_that_counts_otherwise_than_the_board_says_is_doubtful_and_its_unit_named() {
        let board = builtin("sdm845").unwrap().unwrap();
        for true_kb in [32, 128, 256, 512] {
            for finding in findings(&board, Some(true_kb)) {
                assert_eq!(finding.verdict, Verdict::Doubtful, "{finding:#?}");
                assert_eq!(finding.candidates_kb, [true_kb]);
            }
        }
    }

    #[test]
    fn the_disputed_4_mb_of_sdm845s_llcc_would_be_noticed() {
        let board = builtin("sdm845").unwrap().unwrap();
        let finding = &findings(&board, Some(4096))[1];
        assert_eq!(finding.subject.unit_kb, 1024);
        assert_eq!(finding.verdict, Verdict::Doubtful, "{finding:#?}");
        assert!(finding.candidates_kb.contains(&4096));
    }
}
