//! Workloads: who would like to move how much, over time.

use super::scenario;
use super::shape::Shape;
use super::traffic::{Cost, Kind};
use crate::units::Nanos;

/// One source of traffic in a phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// What kind; `None` for DMA, which goes straight to memory.
    pub kind: Option<Kind>,
    /// How much memory it goes over.
    pub working_set_kb: u32,
    /// CPUs that it runs on.
    pub threads: u32,
    /// What it asks for.
    pub shape: Shape,
    /// What a kilobyte costs it; `None` for the cost of its kind and working set.
    pub cost: Option<Cost>,
}

impl Stream {
    /// The CPUs for which costs were measured.
    pub const ALL_THREADS: u32 = 8;

    /// Traffic of a device.
    pub fn dma(shape: Shape) -> Self {
        Self { kind: None, working_set_kb: 0, threads: Self::ALL_THREADS, shape, cost: None }
    }

    /// Traffic of the CPUs.
    pub fn cpu(kind: Kind, working_set_kb: u32, threads: u32, shape: Shape) -> Self {
        Self { kind: Some(kind), working_set_kb, threads, shape, cost: None }
    }
}

/// A span of a workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// What it is, for tables.
    pub name: String,
    /// How long; never 0.
    pub length: Nanos,
    /// Load of the CPUs, which cpufreq follows.
    pub cpu_pct: u32,
    /// Share of the time for which all CPUs are powered down, were it not for the agent's polls.
    pub asleep_pct: u32,
    /// Who moves something.
    pub streams: Vec<Stream>,
}

/// Phases that repeat for ever. Never empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Its name.
    pub name: String,
    /// What it stands for.
    pub what: String,
    phases: Vec<Phase>,
    length: u64,
}

impl Workload {
    /// `None` without phases, or if one has no length.
    pub fn new(name: String, what: String, phases: Vec<Phase>) -> Option<Self> {
        if phases.is_empty() || phases.iter().any(|phase| phase.length.0 == 0) {
            return None;
        }
        let length = phases.iter().map(|phase| phase.length.0).sum();
        Some(Self { name, what, phases, length })
    }

    /// One stream, for ever.
    pub fn constant(name: String, what: String, stream: Stream) -> Self {
        let length = Nanos(Nanos::PER_S);
        let phase = Phase {
            name: name.clone(),
            length,
            cpu_pct: 100,
            asleep_pct: 0,
            streams: vec![stream],
        };
        Self { name, what, phases: vec![phase], length: length.0 }
    }

    /// The phases.
    pub fn phases(&self) -> &[Phase] {
        &self.phases
    }

    /// Length of one round.
    pub fn length(&self) -> Nanos {
        Nanos(self.length)
    }

    /// The number of the phase at `now` and the time since it began.
    pub fn index_at(&self, now: Nanos) -> (usize, Nanos) {
        let mut rest = now.0.checked_rem(self.length).unwrap_or(0);
        for (index, phase) in self.phases.iter().enumerate() {
            if rest < phase.length.0 {
                return (index, Nanos(rest));
            }
            rest -= phase.length.0;
        }
        (0, Nanos(0))
    }

    /// The phase at `now` and the time since it began.
    pub fn phase_at(&self, now: Nanos) -> Option<(&Phase, Nanos)> {
        let (index, since) = self.index_at(now);
        self.phases.get(index).map(|phase| (phase, since))
    }
}

macro_rules! scenarios {
    ($($name:literal),* $(,)?) => {
        const SCENARIOS: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../../../policies/scenarios/", $name, ".toml")))),*
        ];
    };
}

scenarios![
    "demo", "idle", "stream", "frames", "camera", "launch", "memcpy", "dma", "ramp", "square"
];

/// Names of the workloads in the binary.
pub fn builtin_workload_names() -> impl Iterator<Item = &'static str> {
    SCENARIOS.iter().map(|(name, _)| *name)
}

/// The workload called `name`.
pub fn builtin_workload(name: &str) -> Option<Workload> {
    let (_, text) = SCENARIOS.iter().find(|(known, _)| *known == name)?;
    // A test parses them all; they name no trace.
    scenario::parse(name, text, &mut |_| Err("built-in scenarios have no traces".into())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_scenario_parses_and_is_named_as_its_file() {
        for name in builtin_workload_names() {
            let workload = builtin_workload(name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(workload.name, name);
        }
    }

    #[test]
    fn phases_follow_each_other_and_start_again() {
        let demo = builtin_workload("demo").unwrap();
        let at = |ms: u64| demo.phase_at(Nanos(ms * Nanos::PER_MS)).unwrap().0.name.clone();
        // Idle for 200 ms, the app's start for 120, 1500 ms a round.
        assert_eq!([at(0), at(199), at(200)], ["idle", "idle", "app start"]);
        assert_eq!(at(1_500 + 199), "idle");
    }
}
