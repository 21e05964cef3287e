//! What an experiment is to do: subjects, workloads, measures, and where.

use crate::sim::CpufreqVotes;
use serde::Serialize;
use std::collections::BTreeMap;

/// A checked agenda. Names of subjects, of workloads and of measures are unique and none of the
/// three lists is empty.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agenda {
    /// Its name.
    pub name: String,
    /// What it is to find out.
    pub what: String,
    /// What the orders are drawn from.
    pub seed: u64,
    /// Complete blocks for each workload: every subject once, in random order. For two subjects a
    /// block is a pair.
    pub blocks: u32,
    /// Where it runs.
    pub place: Place,
    /// The board: a built-in one or a file; `None` for the machine's own, in the simulator sdm845.
    pub board: Option<String>,
    /// Distance of the agent's ticks.
    pub period_us: u64,
    /// Time after a subject was put in place that is recorded and not counted.
    pub settle_ms: u64,
    /// How often a void block is run again.
    pub max_retries: u32,
    /// How differences are judged.
    pub judging: Judging,
    /// Disturbances of the simulated rig.
    pub rig: Rig,
    /// What a run on a machine has to meet.
    pub limits: Limits,
    /// What is compared; the first is the baseline.
    pub subjects: Vec<Subject>,
    /// What is run under each of them.
    pub workloads: Vec<Workload>,
    /// What is measured.
    pub measures: Vec<Measure>,
}

/// Where an experiment runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// On the model: no hardware, no root.
    Simulator,
    /// On this machine.
    Machine,
    /// On the machine that ssh knows by this name.
    Ssh(String),
}

/// How differences are judged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Judging {
    /// Confidence of the intervals, in percent; 1 less this is the level of the tests.
    pub confidence_pct: f64,
    /// Smallest effect of interest for measures that name none, in percent.
    pub smallest_effect_pct: f64,
}

/// Disturbances that a simulated rig adds to every measure, drawn from the seed, so that a design can
/// be tried where the truth is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Rig {
    /// Standard deviation of a run, in percent.
    pub noise_pct: f64,
    /// What the whole experiment drifts by from its first run to its last, in percent.
    pub drift_pct: f64,
}

/// Bounds that a run on a machine has to keep; without them nothing is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Limits {
    /// No run begins before the hottest thermal zone is this many degrees above where the first run
    /// began, at most.
    pub cooldown_c: Option<f64>,
    /// How long to wait for that.
    pub cooldown_timeout_s: u64,
}

/// One of the things compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Subject {
    /// Its name in results and reports.
    pub name: String,
    /// What is put in place.
    pub kind: SubjectKind,
    /// A board of its own, as the seed's node is beside the SDM845; simulator only.
    pub board: Option<String>,
    /// Which of cpufreq's votes reach the paths; simulator only.
    #[serde(serialize_with = "as_debug")]
    pub cpufreq_votes: Option<CpufreqVotes>,
    /// Distance of the agent's ticks, where it is not the agenda's.
    pub period_us: Option<u64>,
}

fn as_debug<S: serde::Serializer>(
    votes: &Option<CpufreqVotes>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    votes.map(|votes| format!("{votes:?}").to_lowercase()).serialize(serializer)
}

/// What a subject is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SubjectKind {
    /// bwmon with a policy, its preset and its tunables.
    Policy {
        /// A file, a shipped policy, `native` or a chain.
        policy: String,
        /// Settings that belong together.
        preset: Option<String>,
        /// Tunables over them.
        set: BTreeMap<String, String>,
    },
    /// The kernel's own driver, icc-bwmon.
    Kernel,
    /// A governor of the board's devfreq devices.
    Devfreq(String),
    /// A governor of all cpufreq policies.
    Cpufreq(String),
    /// Domains held at a level.
    Fixed(BTreeMap<String, FixedLevel>),
    /// Nothing is put in place.
    None,
}

/// A level that a domain is held at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FixedLevel {
    /// The lowest level that carries so much, in kBps.
    #[serde(rename = "kBps")]
    Kbps(u64),
    /// The lowest.
    Min,
    /// The highest.
    Max,
}

/// What is run under a subject.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Workload {
    /// Its name in results and reports.
    pub name: String,
    /// What runs.
    pub kind: WorkloadKind,
}

/// What runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkloadKind {
    /// Traffic on the model.
    Simulated {
        /// A built-in workload, or a scenario file.
        traffic: String,
        /// Virtual time that is counted, in ms; `None` for one round.
        duration_ms: Option<u64>,
    },
    /// A row of the seed's sysbench table on the model.
    SeedRow {
        /// Block size in kB.
        #[serde(rename = "bs_kB")]
        bs_kb: u32,
        /// As in the table: `W/seq`.
        access: String,
    },
    /// A command.
    Command(Command),
}

/// A real command.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Command {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Runs before the counted one, in the same place, whose output is not read.
    pub warmup: u32,
    /// Counted runs; the measures of a run are their medians.
    pub repetitions: u32,
    /// After which it is killed and the run marked failed.
    pub timeout_s: u64,
    /// The CPUs that it is bound to, as taskset writes them (`4-7`).
    pub cpus: Option<String>,
}

/// What is measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measure {
    /// Its name in results and reports.
    pub name: String,
    /// Its unit, for reports.
    pub unit: String,
    /// Where it comes from.
    pub from: From,
    /// Which way is good.
    pub better: Better,
    /// Whether the answer rests on it: primary measures are corrected for being several, the others
    /// are exploratory.
    pub primary: bool,
    /// How two values are compared.
    pub compare: Compare,
}

/// Where a measure comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum From {
    /// The agent's journal.
    Journal {
        /// What of it.
        what: JournalMeasure,
        /// Of this domain; `None` for the sum (of times the greatest) of all.
        domain: Option<String>,
    },
    /// What the command printed: the first group of this expression.
    Regex(String),
    /// What the command printed, as JSON: an RFC 6901 pointer.
    Json(String),
    /// How long the command took, in seconds. In the simulator: unknown.
    WallTime,
    /// Energy while the command ran, in joules, from powercap zones (RAPL) or hwmon energy inputs
    /// whose name contains this; empty for all packages.
    Energy(String),
    /// The model's own knowledge, whoever votes and whether an agent looks or not.
    Model {
        /// What of it.
        what: ModelMeasure,
        /// Of this clock or domain; `None` for the throughput.
        domain: Option<String>,
    },
}

/// What a journal tells about a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalMeasure {
    /// Mean of the measured bandwidth, in kB/s.
    #[serde(rename = "mean_kBps")]
    MeanKbps,
    /// Mean level in force, in kB/s.
    #[serde(rename = "mean_vote_kBps")]
    MeanVoteKbps,
    /// Level in force over time.
    #[serde(rename = "vote_integral_kBps_s")]
    VoteIntegralKbpsS,
    /// Changes of level.
    Transitions,
    /// Time in which a reading was above the level in force for it, in ms.
    BelowDemandMs,
    /// From the first reading above the level in force to a level that carries it: the median.
    ReactionUsP50,
    /// The same: of a hundred the longest but one.
    ReactionUsP99,
    /// Faults of the policy.
    Faults,
}

/// What the model knows of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelMeasure {
    /// What the workload moved, in kB/s.
    #[serde(rename = "throughput_kBps")]
    ThroughputKbps,
    /// Mean level in force of a clock, by all voters, in kB/s.
    #[serde(rename = "mean_vote_kBps")]
    MeanVoteKbps,
    /// Level in force of a clock over time, while the CPUs are not powered down: the proxy for power.
    #[serde(rename = "vote_integral_kBps_s")]
    VoteIntegralKbpsS,
    /// Changes of a clock's level.
    Transitions,
    /// Time in which a governed domain's clock held traffic back, in ms.
    BelowDemandMs,
}

impl ModelMeasure {
    /// The unit of its values.
    pub fn unit(self) -> &'static str {
        match self {
            Self::ThroughputKbps | Self::MeanVoteKbps => "kBps",
            Self::VoteIntegralKbpsS => "kBps s",
            Self::Transitions => "changes",
            Self::BelowDemandMs => "ms",
        }
    }

    /// Whether values of 0 are ordinary, so that ratios say nothing.
    pub fn counts(self) -> bool {
        matches!(self, Self::Transitions | Self::BelowDemandMs)
    }
}

/// Which way is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

/// How two values are compared, with the smallest difference that matters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Compare {
    /// By their ratio; the smallest effect in percent. For values above zero.
    Ratio {
        /// In percent.
        smallest_effect_pct: f64,
    },
    /// By their difference; the smallest effect in the measure's unit. For counts, which may be 0.
    Difference {
        /// In the measure's unit.
        smallest_effect: f64,
    },
}

impl JournalMeasure {
    /// The unit of its values.
    pub fn unit(self) -> &'static str {
        match self {
            Self::MeanKbps | Self::MeanVoteKbps => "kBps",
            Self::VoteIntegralKbpsS => "kBps s",
            Self::Transitions => "changes",
            Self::BelowDemandMs => "ms",
            Self::ReactionUsP50 | Self::ReactionUsP99 => "us",
            Self::Faults => "faults",
        }
    }

    /// Whether values of 0 are ordinary, so that ratios say nothing.
    pub fn counts(self) -> bool {
        matches!(self, Self::Transitions | Self::BelowDemandMs | Self::Faults)
    }
}

impl Agenda {
    /// The subject that the others are compared with.
    pub fn baseline(&self) -> Option<&Subject> {
        self.subjects.first()
    }

    /// The names of the subjects, in their order.
    pub fn subject_names(&self) -> impl Iterator<Item = &str> {
        self.subjects.iter().map(|subject| subject.name.as_str())
    }
}
