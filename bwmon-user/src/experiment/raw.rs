//! An agenda as it is written, before it is checked.

use super::agenda::{Better, JournalMeasure, ModelMeasure};
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawAgenda {
    pub(super) schema: Spanned<u32>,
    pub(super) name: Spanned<String>,
    pub(super) what: String,
    pub(super) seed: Option<u64>,
    pub(super) blocks: Option<Spanned<u32>>,
    pub(super) place: Option<Spanned<String>>,
    pub(super) board: Option<String>,
    pub(super) period_us: Option<Spanned<u64>>,
    pub(super) settle_ms: Option<Spanned<u64>>,
    pub(super) max_retries: Option<u32>,
    pub(super) confidence_pct: Option<Spanned<f64>>,
    pub(super) smallest_effect_pct: Option<Spanned<f64>>,
    pub(super) rig: Option<RawRig>,
    pub(super) limits: Option<RawLimits>,
    #[serde(default)]
    pub(super) subject: Vec<Spanned<RawSubject>>,
    #[serde(default)]
    pub(super) sweep: Vec<Spanned<RawSweep>>,
    #[serde(default)]
    pub(super) workload: Vec<Spanned<RawWorkload>>,
    #[serde(default)]
    pub(super) measure: Vec<Spanned<RawMeasure>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRig {
    pub(super) noise_pct: Option<Spanned<f64>>,
    pub(super) drift_pct: Option<Spanned<f64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawLimits {
    pub(super) cooldown_c: Option<Spanned<f64>>,
    pub(super) cooldown_timeout_s: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSubject {
    pub(super) name: Option<String>,
    pub(super) policy: Option<String>,
    pub(super) preset: Option<String>,
    #[serde(default)]
    pub(super) set: BTreeMap<String, toml::Value>,
    #[serde(default)]
    pub(super) kernel: bool,
    pub(super) devfreq: Option<String>,
    pub(super) cpufreq: Option<String>,
    pub(super) fixed: Option<Spanned<BTreeMap<String, toml::Value>>>,
    #[serde(default)]
    pub(super) none: bool,
    pub(super) board: Option<String>,
    pub(super) cpufreq_votes: Option<Spanned<String>>,
    pub(super) period_us: Option<Spanned<u64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSweep {
    pub(super) policy: String,
    pub(super) preset: Option<String>,
    #[serde(default)]
    pub(super) set: BTreeMap<String, toml::Value>,
    pub(super) grid: Option<BTreeMap<String, Vec<toml::Value>>>,
    pub(super) random: Option<Spanned<BTreeMap<String, toml::Value>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawWorkload {
    pub(super) name: Option<String>,
    pub(super) simulated: Option<String>,
    pub(super) duration_ms: Option<Spanned<u64>>,
    pub(super) seed_row: Option<RawRow>,
    #[serde(default)]
    pub(super) seed_table: bool,
    pub(super) command: Option<Vec<String>>,
    pub(super) warmup: Option<u32>,
    pub(super) repetitions: Option<Spanned<u32>>,
    pub(super) timeout_s: Option<Spanned<u64>>,
    pub(super) cpus: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRow {
    #[serde(rename = "bs_kB")]
    pub(super) bs_kb: u32,
    #[serde(rename = "type")]
    pub(super) access: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMeasure {
    pub(super) name: String,
    pub(super) unit: Option<String>,
    pub(super) better: Better,
    #[serde(default)]
    pub(super) primary: bool,
    pub(super) journal: Option<JournalMeasure>,
    pub(super) domain: Option<String>,
    pub(super) regex: Option<Spanned<String>>,
    pub(super) json: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) wall_time: bool,
    pub(super) energy: Option<String>,
    pub(super) model: Option<ModelMeasure>,
    pub(super) smallest_effect_pct: Option<Spanned<f64>>,
    pub(super) smallest_effect: Option<Spanned<f64>>,
}
