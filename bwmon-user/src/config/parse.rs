//! TOML to a [`Config`], with the place of whatever is wrong.

use super::{Config, ControlConfig, JournalConfig, ModeName, OnExit, Readers};
use crate::diag::{Diagnostic, Place};
use crate::metrics::MetricsPlan;
use crate::policy::canary::Rule;
use crate::product::GivenLimit;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use toml::{Spanned, Value};

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    schema: Option<Spanned<i64>>,
    mode: Option<ModeName>,
    board: Option<String>,
    policy: Option<String>,
    product: Option<String>,
    #[serde(default)]
    products: Vec<String>,
    preset: Option<String>,
    #[serde(default)]
    params: BTreeMap<String, Spanned<Value>>,
    #[serde(default)]
    limits: BTreeMap<String, Spanned<Value>>,
    #[serde(default, deserialize_with = "period_us")]
    period_us: Option<u64>,
    interrupts: Option<bool>,
    #[serde(default, deserialize_with = "heartbeat_ms")]
    heartbeat_ms: Option<u64>,
    watch: Option<bool>,
    on_exit: Option<OnExit>,
    state_dir: Option<String>,
    canary: Option<RawCanary>,
    #[serde(default)]
    journal: RawJournal,
    #[serde(default)]
    control: RawControl,
    #[serde(default)]
    metrics: RawMetrics,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCanary {
    #[serde(deserialize_with = "canary_ms")]
    ms: u64,
    rule: Option<Spanned<String>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawJournal {
    file: Option<Spanned<String>>,
    #[serde(default, rename = "max_MB", deserialize_with = "max_mb")]
    max_mb: Option<u64>,
    #[serde(default, deserialize_with = "keep")]
    keep: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawControl {
    socket: Option<String>,
    group: Option<String>,
    readers: Option<Readers>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawMetrics {
    listen: Option<Spanned<String>>,
}

/// Parses the configuration `text`; `file` is its name in errors.
///
/// # Errors
/// The first fault, with its place and what to do.
pub fn parse(file: &str, text: &str) -> Result<Config, Diagnostic> {
    let raw: Raw =
        toml::from_str(text).map_err(|error| Diagnostic::from_toml(file, text, &error))?;
    let at = |byte: usize, message: String| {
        Diagnostic::new(file, message).at(Place::at_byte(text, byte))
    };
    match &raw.schema {
        Some(schema) if *schema.get_ref() == 1 => {}
        Some(schema) => {
            let message = format!("configuration schema {} is not known", schema.get_ref());
            return Err(at(schema.span().start, message).help("this bwmon reads schema 1"));
        }
        None => {
            return Err(Diagnostic::new(file, "the configuration has no schema")
                .help("a configuration begins with schema = 1"));
        }
    }
    if raw.policy.is_some() && raw.product.is_some() {
        return Err(Diagnostic::new(file, "both a policy and a product are named")
            .help("a product names its policies; leave one of the two out"));
    }
    let mut params = Vec::new();
    for (name, value) in raw.params {
        let plain = scalar(value.get_ref()).ok_or_else(|| {
            at(value.span().start, format!("the tunable {name} is a number, true, false or a text"))
        })?;
        params.push((name, plain));
    }
    let canary = match raw.canary {
        None => None,
        Some(RawCanary { ms, rule: None }) => Some((ms, Rule::default())),
        Some(RawCanary { ms, rule: Some(rule) }) => {
            let parsed = rule.get_ref().parse::<Rule>();
            Some((ms, parsed.map_err(|error| at(rule.span().start, error.to_string()))?))
        }
    };
    let listen = raw.metrics.listen.map(|listen| {
        let plan = listen.get_ref().parse::<MetricsPlan>();
        plan.map_err(|why| at(listen.span().start, why))
    });
    if let Some(file) = raw.journal.file.as_ref().filter(|file| file.get_ref().is_empty()) {
        return Err(at(file.span().start, "the journal's file has no name".to_owned())
            .help("name a file, or leave the key out"));
    }
    Ok(Config {
        mode: raw.mode,
        board: raw.board,
        policy: raw.policy,
        product: raw.product,
        products: raw.products,
        preset: raw.preset,
        params,
        limits: limits(&raw.limits, &at)?,
        period_us: raw.period_us,
        interrupts: raw.interrupts,
        heartbeat_ms: raw.heartbeat_ms,
        watch: raw.watch,
        on_exit: raw.on_exit,
        state_dir: raw.state_dir,
        canary,
        journal: JournalConfig {
            file: raw.journal.file.map(Spanned::into_inner),
            max_mb: raw.journal.max_mb,
            keep: raw.journal.keep,
        },
        control: ControlConfig {
            socket: raw.control.socket,
            group: raw.control.group,
            readers: raw.control.readers,
        },
        metrics_listen: listen.transpose()?,
    })
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Integer(number) => Some(number.to_string()),
        Value::Boolean(yes) => Some(yes.to_string()),
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}

/// `[limits]` for all domains, `[limits.NAME]` for one.
fn limits(
    raw: &BTreeMap<String, Spanned<Value>>,
    at: &impl Fn(usize, String) -> Diagnostic,
) -> Result<Vec<GivenLimit>, Diagnostic> {
    let mut all = Vec::new();
    for (name, value) in raw {
        let byte = value.span().start;
        let mut one = |name: String, value: &Value| {
            let Value::Integer(number) = value else {
                return Err(at(byte, format!("the limit {name} is a whole number")));
            };
            let limit: Result<GivenLimit, String> = format!("{name}={number}").parse();
            let mut limit = limit.map_err(|error| at(byte, error))?;
            limit.option = format!("limits.{name} = {number}");
            all.push(limit);
            Ok(())
        };
        match value.get_ref() {
            Value::Table(domain) => {
                for (limit, value) in domain {
                    one(format!("{name}.{limit}"), value)?;
                }
            }
            value => one(name.clone(), value)?,
        }
    }
    Ok(all)
}

fn ranged<'de, D: Deserializer<'de>>(
    from: D,
    range: RangeInclusive<i64>,
) -> Result<Option<u64>, D::Error> {
    let number = i64::deserialize(from)?;
    match u64::try_from(number) {
        Ok(value) if range.contains(&number) => Ok(Some(value)),
        _ => Err(D::Error::custom(format!(
            "{number} is not from {} to {}",
            range.start(),
            range.end()
        ))),
    }
}

fn period_us<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    ranged(from, 1_000..=1_000_000)
}

fn heartbeat_ms<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    ranged(from, 100..=10_000)
}

fn canary_ms<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    ranged(from, 1..=86_400_000).map(Option::unwrap_or_default)
}

fn max_mb<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    ranged(from, 1..=1_000_000)
}

fn keep<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    ranged(from, 1..=1_000)
}

#[cfg(test)]
mod tests {
    use super::super::EXAMPLE;
    use super::*;
    use crate::product::LimitKey;

    fn wrong(text: &str) -> String {
        parse("c.toml", text).unwrap_err().to_string()
    }

    #[test]
    fn what_is_written_is_what_is_meant() {
        let config = parse(
            "c.toml",
            "schema = 1\nmode = \"dry-run\"\npolicy = \"adaptive\"\non_exit = \"max\"\n\
             [params]\nup_pct = 80\n[limits]\nmin_level = 1\n[limits.ddr]\nmin_kBps = 800_000\n\
             [canary]\nms = 60_000\n[control]\nreaders = \"all\"\n[journal]\nmax_MB = 64\n",
        )
        .unwrap();
        assert_eq!(config.mode, Some(ModeName::DryRun));
        assert_eq!(config.on_exit, Some(OnExit::Max));
        assert_eq!(config.params, [("up_pct".to_owned(), "80".to_owned())]);
        assert_eq!(config.canary, Some((60_000, Rule::default())));
        assert_eq!(config.control.readers, Some(Readers::All));
        assert_eq!(config.journal.max_mb, Some(64));
        let limit = |l: &GivenLimit| (l.domain.clone(), l.key, l.value);
        let limits: Vec<_> = config.limits.iter().map(limit).collect();
        assert_eq!(
            limits,
            [(Some("ddr".to_owned()), LimitKey::MinKbps, 800_000), (None, LimitKey::MinLevel, 1)]
        );
    }

    #[test]
    fn unknown_keys_are_refused_with_what_was_meant() {
        let said = wrong("schema = 1\nperod_us = 8000\n");
        assert!(said.contains("c.toml:2:1"), "{said}");
        assert!(said.contains("did you mean period_us?"), "{said}");
        assert!(wrong("schema = 1\n[control]\nsoket = \"x\"\n").contains("did you mean socket?"));
    }

    #[test]
    fn values_out_of_range_are_refused_with_their_place() {
        let said = wrong("schema = 1\nperiod_us = 10\n");
        assert!(said.contains("10 is not from 1000 to 1000000"), "{said}");
        assert!(said.contains("c.toml:2:13"), "{said}");
        assert!(wrong("schema = 2\n").contains("schema 2 is not known"));
        assert!(wrong("mode = \"govern\"\n").contains("begins with schema = 1"));
        assert!(wrong("schema = 1\n[limits]\nmin_levl = 1\n").contains("did you mean min_level?"));
        assert!(wrong("schema = 1\n[limits]\nmin_level = \"x\"\n").contains("whole number"));
        assert!(wrong("schema = 1\n[canary]\nms = 5\nrule = \"falts<=0\"\n").contains("faults"));
        assert!(wrong("schema = 1\npolicy = \"a\"\nproduct = \"b\"\n").contains("leave one"));
    }

    /// Every key of the example, in force.
    #[test]
    fn the_example_says_nothing_and_every_key_of_it_is_known() {
        assert_eq!(parse("example", EXAMPLE).unwrap(), Config::default());
        let line = |line: &str| {
            let plain =
                line.strip_prefix('#').filter(|rest| !rest.starts_with(' ') && !rest.is_empty());
            plain.unwrap_or(line).to_owned()
        };
        let all: Vec<String> = EXAMPLE.lines().map(line).collect();
        // A product instead of a policy.
        let all: Vec<&str> =
            all.iter().map(String::as_str).filter(|l| !l.starts_with("product =")).collect();
        let config = parse("example", &all.join("\n")).unwrap();
        assert!(config.mode.is_some() && config.board.is_some() && config.canary.is_some());
        assert!(config.journal.keep.is_some() && config.metrics_listen.is_some());
        assert!(!config.limits.is_empty() && !config.params.is_empty());
    }
}
