//! Workloads: how much traffic the CPUs would like to move, over time.

use crate::units::{Kbps, Nanos};

/// How the demand runs within a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The same all the time.
    Constant(Kbps),
    /// In a straight line from one value to another.
    Ramp(Kbps, Kbps),
    /// High for the first `high_us` of every `period_us`, else low.
    Square {
        /// Demand in the pause.
        low: Kbps,
        /// Demand in the pulse.
        high: Kbps,
        /// Length of the pulse.
        high_us: u32,
        /// Distance of the pulses; never 0.
        period_us: u32,
    },
}

/// A span of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// What it is, for tables.
    pub name: &'static str,
    /// How long; never 0.
    pub length: Nanos,
    /// The demand of all CPUs together on their path.
    pub shape: Shape,
    /// How much of it misses the last-level cache and goes on to memory.
    pub memory_pct: u32,
}

/// Phases that repeat for ever. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Its name.
    pub name: &'static str,
    phases: Vec<Phase>,
    length: u64,
}

impl Workload {
    fn new(name: &'static str, phases: Vec<Phase>) -> Self {
        let length = phases.iter().map(|phase| phase.length.0).sum();
        Self { name, phases, length }
    }

    /// The phases.
    pub fn phases(&self) -> &[Phase] {
        &self.phases
    }

    /// Length of one round.
    pub fn length(&self) -> Nanos {
        Nanos(self.length)
    }

    /// The phase at `now` and the time since it began.
    pub fn phase_at(&self, now: Nanos) -> Option<(&Phase, Nanos)> {
        let mut rest = now.0.checked_rem(self.length)?;
        for phase in &self.phases {
            if rest < phase.length.0 {
                return Some((phase, Nanos(rest)));
            }
            rest -= phase.length.0;
        }
        None
    }

    /// Demand on the CPUs' path, and how many percent of it go on to memory, at `now`.
    pub fn demand(&self, now: Nanos) -> (Kbps, u32) {
        let Some((phase, since)) = self.phase_at(now) else { return (Kbps(0), 0) };
        let kbps = match phase.shape {
            Shape::Constant(kbps) => kbps,
            Shape::Ramp(from, to) => {
                let share = i128::from(since.0);
                let step = (i128::from(to.0) - i128::from(from.0)) * share
                    / i128::from(phase.length.0.max(1));
                Kbps(u64::try_from(i128::from(from.0) + step).unwrap_or(0))
            }
            Shape::Square { low, high, high_us, period_us } => {
                if since.as_us() % u64::from(period_us.max(1)) < u64::from(high_us) {
                    high
                } else {
                    low
                }
            }
        };
        (kbps, phase.memory_pct)
    }
}

fn phase(name: &'static str, ms: u64, shape: Shape, memory_pct: u32) -> Phase {
    Phase { name, length: Nanos(ms * Nanos::PER_MS), shape, memory_pct }
}

/// Names of the workloads in the binary.
pub fn builtin_workload_names() -> [&'static str; 5] {
    ["demo", "idle", "stream", "frames", "square"]
}

/// The workload called `name`.
pub fn builtin_workload(name: &str) -> Option<Workload> {
    use Shape::{Constant, Ramp, Square};
    let idle = Constant(Kbps(150_000));
    let frames =
        Square { low: Kbps(400_000), high: Kbps(9_000_000), high_us: 6_000, period_us: 16_667 };
    let phases = match name {
        "demo" => vec![
            phase("idle", 200, idle, 40),
            phase("app start", 120, Ramp(Kbps(1_000_000), Kbps(14_000_000)), 60),
            phase("stream", 300, Constant(Kbps(17_400_000)), 100),
            phase("in the caches", 200, Constant(Kbps(30_000_000)), 2),
            phase("60 Hz frames", 400, frames, 50),
            phase("idle again", 280, idle, 40),
        ],
        "idle" => vec![phase("idle", 1_000, idle, 40)],
        "stream" => vec![phase("stream", 1_000, Constant(Kbps(17_400_000)), 100)],
        "frames" => vec![phase("60 Hz frames", 1_000, frames, 50)],
        // A pulse each period of the block's own window, the worst case for sampling.
        "square" => {
            let shape = Square {
                low: Kbps(100_000),
                high: Kbps(12_000_000),
                high_us: 4_000,
                period_us: 8_000,
            };
            vec![phase("4 ms on, 4 ms off", 1_000, shape, 100)]
        }
        _ => return None,
    };
    let name = builtin_workload_names().into_iter().find(|known| *known == name)?;
    Some(Workload::new(name, phases))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(name: &str, ms: u64) -> u64 {
        builtin_workload(name).unwrap().demand(Nanos(ms * Nanos::PER_MS)).0.0
    }

    #[test]
    fn phases_follow_each_other_and_start_again() {
        // demo: idle to 200 ms, then a ramp of 120 ms; 1500 ms a round.
        assert_eq!(at("demo", 199), 150_000);
        assert_eq!(at("demo", 200), 1_000_000);
        assert_eq!(at("demo", 260), 7_500_000);
        assert_eq!(at("demo", 1_500 + 199), 150_000);
    }

    #[test]
    fn a_square_wave_is_high_for_the_first_part_of_its_period() {
        let seen: Vec<u64> = [0, 3, 4, 7, 8].iter().map(|ms| at("square", *ms)).collect();
        assert_eq!(seen, [12_000_000, 12_000_000, 100_000, 100_000, 12_000_000]);
    }

    #[test]
    fn every_built_in_workload_has_phases() {
        for name in builtin_workload_names() {
            let workload = builtin_workload(name).unwrap();
            assert!(workload.phases().iter().all(|phase| phase.length.0 > 0), "{name}");
        }
    }
}
