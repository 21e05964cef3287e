//! Every metric: its name, kind, meaning, and where its value comes from.

use crate::status::{Counts, DomainStatus, Status};
use crate::units::Kbps;

/// What a metric is, as OpenMetrics has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A value that goes up and down.
    Gauge,
    /// A count since the agent's start; its samples end in `_total`.
    Counter,
    /// Words, as labels of a sample that is always 1; its sample ends in `_info`.
    Info,
}

impl Kind {
    /// The word of the exposition.
    pub fn word(self) -> &'static str {
        match self {
            Self::Gauge => "gauge",
            Self::Counter => "counter",
            Self::Info => "info",
        }
    }

    /// What is put behind the metric's name in a sample.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Gauge => "",
            Self::Counter => "_total",
            Self::Info => "_info",
        }
    }
}

/// One value with its labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Names and values.
    pub labels: Vec<(&'static str, String)>,
    /// The value.
    pub value: u64,
}

/// A metric.
#[derive(Clone, Copy)]
pub struct Metric {
    /// Its name, without the suffix of its kind.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// The unit that its name ends in; empty for a plain number.
    pub unit: &'static str,
    /// Its labels.
    pub labels: &'static [&'static str],
    /// What it means.
    pub help: &'static str,
    /// Its samples in a status; none where it is not known.
    pub samples: fn(&Status) -> Vec<Sample>,
}

fn one(value: Option<u64>) -> Vec<Sample> {
    value.map(|value| Sample { labels: Vec::new(), value }).into_iter().collect()
}

fn count(status: &Status, of: fn(&Counts) -> u64) -> Vec<Sample> {
    one(Some(of(&status.counts)))
}

fn each(status: &Status, of: fn(&DomainStatus) -> Option<u64>) -> Vec<Sample> {
    let sample = |domain: &DomainStatus| {
        let labels = vec![("domain", domain.name.clone())];
        of(domain).map(|value| Sample { labels, value })
    };
    status.domains.iter().filter_map(sample).collect()
}

fn number(level: usize) -> u64 {
    u64::try_from(level).unwrap_or(u64::MAX)
}

/// Bytes per second, the base unit of bandwidth in OpenMetrics.
fn bytes(kbps: Kbps) -> u64 {
    kbps.0.saturating_mul(1_000)
}

fn agent(status: &Status) -> Vec<Sample> {
    let mut labels = vec![
        ("program", status.program.clone()),
        ("board", status.board.clone()),
        ("mode", status.mode.clone()),
        ("policy", status.policy.name.clone()),
    ];
    // Only scripts have one.
    if !status.policy.digest.is_empty() {
        labels.push(("policy_digest", status.policy.digest.clone()));
    }
    if let Some(product) = &status.product {
        labels.push(("product", product.name.clone()));
        labels.extend(product.version.clone().map(|version| ("product_version", version)));
        if let Some(bundle) = &product.bundle {
            labels.push(("bundle", bundle.name.clone()));
            labels.push(("bundle_version", bundle.version.clone()));
            labels.push(("bundle_digest", bundle.digest.clone()));
        }
    }
    vec![Sample { labels, value: 1 }]
}

const DOMAIN: &[&str] = &["domain"];

/// A metric without a unit.
const fn plain(
    name: &'static str,
    kind: Kind,
    labels: &'static [&'static str],
    help: &'static str,
    samples: fn(&Status) -> Vec<Sample>,
) -> Metric {
    Metric { name, kind, unit: "", labels, help, samples }
}

/// A gauge of each domain in bytes per second.
const fn bandwidth(
    name: &'static str,
    help: &'static str,
    samples: fn(&Status) -> Vec<Sample>,
) -> Metric {
    Metric { name, kind: Kind::Gauge, unit: "bytes_per_second", labels: DOMAIN, help, samples }
}

/// All metrics, in the order in which they are written.
pub const DICTIONARY: &[Metric] = &[
    plain(
        "bwmon_agent",
        Kind::Info,
        &[
            "program",
            "board",
            "mode",
            "policy",
            "policy_digest",
            "product",
            "product_version",
            "bundle",
            "bundle_version",
            "bundle_digest",
        ],
        "What runs; labels that do not apply are absent.",
        agent,
    ),
    Metric {
        name: "bwmon_uptime_seconds",
        kind: Kind::Gauge,
        unit: "seconds",
        labels: &[],
        help: "Time since the first tick, in whole seconds.",
        samples: |s| one(Some(s.uptime_ms / 1_000)),
    },
    plain("bwmon_ticks", Kind::Counter, &[], "Samples walked.", |s| count(s, |c| c.ticks)),
    plain("bwmon_wakes", Kind::Counter, &[], "Samples that an interrupt brought.", |s| {
        count(s, |c| c.wakes)
    }),
    plain("bwmon_missed_ticks", Kind::Counter, &[], "Grid points that had passed.", |s| {
        count(s, |c| c.missed)
    }),
    plain("bwmon_policy_faults", Kind::Counter, &[], "Faults of the policy.", |s| {
        count(s, |c| c.faults)
    }),
    plain(
        "bwmon_fallback_decisions",
        Kind::Counter,
        &[],
        "Decisions that were the native rule's.",
        |s| count(s, |c| c.fallbacks),
    ),
    plain(
        "bwmon_demoted_domains",
        Kind::Gauge,
        &[],
        "Domains for which the policy is demoted now.",
        |s| count(s, |c| c.demoted),
    ),
    plain("bwmon_journal_errors", Kind::Counter, &[], "Lines that could not be written.", |s| {
        count(s, |c| c.journal_errors)
    }),
    plain("bwmon_reloads", Kind::Counter, &[], "Policies or products taken while running.", |s| {
        count(s, |c| c.reloads)
    }),
    plain("bwmon_reloads_refused", Kind::Counter, &[], "Those refused.", |s| {
        count(s, |c| c.reloads_refused)
    }),
    plain(
        "bwmon_probe_events_lost",
        Kind::Counter,
        &[],
        "Probe events lost; absent without probes.",
        |s| one(s.counts.lost_events),
    ),
    plain(
        "bwmon_page_faults",
        Kind::Counter,
        &[],
        "Page faults of the governing thread since it has settled (256 ticks); absent before.",
        |s| one(s.counts.page_faults),
    ),
    plain("bwmon_paused", Kind::Gauge, &[], "1 while the agent is paused, else 0.", |s| {
        one(Some(u64::from(s.pause.is_some())))
    }),
    plain("bwmon_holds", Kind::Gauge, &[], "Bounds that clients hold now.", |s| {
        one(Some(number(s.holds.len())))
    }),
    plain(
        "bwmon_canary_running",
        Kind::Gauge,
        &[],
        "1 while a policy runs in shadow, else 0.",
        |s| one(Some(u64::from(s.canary.is_some()))),
    ),
    bandwidth(
        "bwmon_domain_peak_bytes_per_second",
        "The busiest window of the last tick; absent without a reading.",
        |s| each(s, |d| d.peak_kbps.map(bytes)),
    ),
    bandwidth(
        "bwmon_domain_mean_bytes_per_second",
        "The mean of the last tick; absent where it is not known.",
        |s| each(s, |d| d.mean_kbps.map(bytes)),
    ),
    bandwidth(
        "bwmon_domain_others_bytes_per_second",
        "The highest peak vote of other consumers; absent without probes.",
        |s| each(s, |d| d.others_kbps.map(bytes)),
    ),
    plain("bwmon_domain_level", Kind::Gauge, DOMAIN, "The level of our vote, 0 the lowest.", |s| {
        each(s, |d| d.level.map(number))
    }),
    bandwidth("bwmon_domain_level_bytes_per_second", "The bandwidth of that level.", |s| {
        each(s, |d| d.level_kbps.map(bytes))
    }),
    plain("bwmon_domain_min_level", Kind::Gauge, DOMAIN, "The lowest level allowed now.", |s| {
        each(s, |d| Some(number(d.min_level)))
    }),
    plain("bwmon_domain_max_level", Kind::Gauge, DOMAIN, "The highest level allowed now.", |s| {
        each(s, |d| Some(number(d.max_level)))
    }),
    plain(
        "bwmon_domain_ours",
        Kind::Gauge,
        DOMAIN,
        "1 while the agent has the say over the domain; 0 when it is manual or gone.",
        |s| each(s, |d| Some(u64::from(d.owner == "ours"))),
    ),
    plain("bwmon_domain_transitions", Kind::Counter, DOMAIN, "Level changes taken.", |s| {
        each(s, |d| Some(d.transitions))
    }),
    plain("bwmon_domain_votes_refused", Kind::Counter, DOMAIN, "Votes refused.", |s| {
        each(s, |d| Some(d.refused))
    }),
    plain("bwmon_domain_policy_faults", Kind::Counter, DOMAIN, "Faults of the policy.", |s| {
        each(s, |d| Some(d.faults))
    }),
];
