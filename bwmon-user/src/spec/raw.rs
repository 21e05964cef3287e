//! The spec as TOML gives it: every key with its place, nothing checked yet.

use super::value::{Flag, LevelName, PerDomain, Profile, StepName, Whole};
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// A value that may be missing, with its place.
pub(super) type Maybe<T> = Option<Spanned<T>>;

/// Values of tunables, each with its place.
pub(super) type RawSet = BTreeMap<String, Spanned<toml::Value>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSpec {
    pub(super) schema: Spanned<Whole>,
    pub(super) board: Maybe<String>,
    pub(super) preset: Maybe<String>,
    #[serde(default)]
    pub(super) set: RawSet,
    pub(super) period_ms: Maybe<Whole>,
    #[serde(default)]
    pub(super) scenario: Vec<Spanned<RawScenario>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawScenario {
    pub(super) name: Spanned<String>,
    #[serde(default)]
    pub(super) what: String,
    pub(super) board: Maybe<String>,
    pub(super) preset: Maybe<String>,
    #[serde(default)]
    pub(super) set: RawSet,
    pub(super) period_ms: Maybe<Whole>,
    pub(super) start_level: Maybe<LevelName>,
    pub(super) faults_max: Option<Whole>,
    pub(super) series: Maybe<Vec<Spanned<RawStep>>>,
    pub(super) workload: Maybe<String>,
    pub(super) ms: Maybe<Whole>,
    pub(super) cpufreq_votes: Maybe<String>,
    #[serde(default)]
    pub(super) expect: Vec<Spanned<RawExpect>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawStep {
    pub(super) name: Option<String>,
    pub(super) ms: Spanned<Whole>,
    #[serde(rename = "peak_kBps")]
    pub(super) peak: Maybe<PerDomain<Profile>>,
    pub(super) square: Maybe<RawSquare>,
    pub(super) saturated: Maybe<Flag>,
    pub(super) missing: Maybe<Flag>,
    pub(super) interrupt: Maybe<Flag>,
    #[serde(rename = "others_kBps")]
    pub(super) others: Maybe<PerDomain<Whole>>,
    #[serde(rename = "kernel_kBps")]
    pub(super) kernel: Maybe<PerDomain<Whole>>,
    #[serde(rename = "cpu_max_kHz")]
    pub(super) cpu_max: Maybe<Whole>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSquare {
    #[serde(rename = "low_kBps")]
    pub(super) low: Whole,
    #[serde(rename = "high_kBps")]
    pub(super) high: Whole,
    pub(super) high_us: Whole,
    pub(super) period_us: Spanned<Whole>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawExpect {
    pub(super) domain: Maybe<String>,
    pub(super) from_ms: Maybe<Whole>,
    pub(super) to_ms: Maybe<Whole>,
    pub(super) step: Maybe<StepName>,
    pub(super) level_min: Maybe<LevelName>,
    pub(super) level_max: Maybe<LevelName>,
    pub(super) level_at_end: Maybe<LevelName>,
    #[serde(rename = "vote_kBps_min")]
    pub(super) vote_min: Maybe<Whole>,
    #[serde(rename = "vote_kBps_max")]
    pub(super) vote_max: Maybe<Whole>,
    #[serde(rename = "mean_vote_kBps_max")]
    pub(super) mean_vote_max: Maybe<Whole>,
    pub(super) rise_ms: Maybe<Whole>,
    pub(super) rise_to: Maybe<LevelName>,
    pub(super) fall_ms: Maybe<Whole>,
    pub(super) fall_to: Maybe<LevelName>,
    pub(super) stay_ms: Maybe<Whole>,
    pub(super) max_transitions: Maybe<Whole>,
    pub(super) never_below_demand: Maybe<bool>,
    pub(super) grace_ms: Maybe<Whole>,
    pub(super) idle_to_lowest_ms: Maybe<Whole>,
    pub(super) below_demand_ms_max: Maybe<Whole>,
    pub(super) why: Maybe<String>,
    pub(super) same_as: Maybe<String>,
}
