//! The dictionary as OpenMetrics text and as a page of the docs.

use super::{DICTIONARY, Metric};
use crate::status::Status;
use std::fmt::Write;

/// `status` in the OpenMetrics text format, version 1.0.0.
pub fn exposition(status: &Status) -> String {
    let mut text = String::new();
    for metric in DICTIONARY {
        let samples = (metric.samples)(status);
        if !samples.is_empty() {
            head(&mut text, metric);
        }
        for sample in samples {
            let label = |(name, value): &(&str, String)| format!("{name}=\"{}\"", escaped(value));
            let labels: Vec<String> = sample.labels.iter().map(label).collect();
            let labels =
                if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
            let (name, suffix) = (metric.name, metric.kind.suffix());
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name}{suffix}{labels} {}", sample.value);
        }
    }
    text + "# EOF\n"
}

fn head(text: &mut String, metric: &Metric) {
    let name = metric.name;
    let _ = writeln!(text, "# TYPE {name} {}", metric.kind.word());
    if !metric.unit.is_empty() {
        let _ = writeln!(text, "# UNIT {name} {}", metric.unit);
    }
    let _ = writeln!(text, "# HELP {name} {}", escaped(metric.help));
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// The table of docs/metrics.md.
pub fn description() -> String {
    let mut text = String::from("| metric | kind | labels | meaning |\n|---|---|---|---|\n");
    for metric in DICTIONARY {
        let labels = metric.labels.iter().map(|label| format!("`{label}`")).collect::<Vec<_>>();
        let _ = writeln!(
            text,
            "| `{}{}` | {} | {} | {} |",
            metric.name,
            metric.kind.suffix(),
            metric.kind.word(),
            labels.join(", "),
            metric.help
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;
    use crate::screen::tests::status;
    use std::collections::BTreeSet;

    /// A line of a sample: its name, its labels and its value.
    fn sample(line: &str) -> (String, Vec<String>, u64) {
        let (front, value) = line.rsplit_once(' ').unwrap();
        let (name, labels) = match front.split_once('{') {
            None => (front, Vec::new()),
            Some((name, rest)) => {
                let inner = rest.strip_suffix('}').unwrap();
                let pattern = regex::Regex::new(r#"([a-z_]+)="((?:[^"\\]|\\.)*)"(?:,|$)"#).unwrap();
                let whole: usize = pattern.find_iter(inner).map(|found| found.len()).sum();
                assert_eq!(whole, inner.len(), "{inner}");
                (name, pattern.captures_iter(inner).map(|c| c[1].to_owned()).collect())
            }
        };
        (name.to_owned(), labels, value.parse().unwrap())
    }

    #[test]
    fn every_line_is_open_metrics() {
        let mut status = status();
        status.domains[1].name = "odd\"\\\n".into();
        status.domains[1].peak_kbps = None;
        let text = exposition(&status);
        assert!(text.ends_with("# EOF\n") && text.matches("# EOF").count() == 1);
        let mut family: Option<&Metric> = None;
        let mut seen = BTreeSet::new();
        for line in text.lines().filter(|line| *line != "# EOF") {
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').unwrap();
                family = DICTIONARY.iter().find(|metric| metric.name == name);
                assert_eq!(family.unwrap().kind.word(), kind);
                assert!(seen.insert(name.to_owned()), "{name} twice");
            } else if !line.starts_with("# ") {
                let metric = family.unwrap();
                let (name, labels, _) = sample(line);
                assert_eq!(name, format!("{}{}", metric.name, metric.kind.suffix()));
                assert!(labels.iter().all(|label| metric.labels.contains(&label.as_str())));
            }
        }
        assert!(text.contains("bwmon_ticks_total 438000\n"));
        // 2934000 kBps are 2934000000 bytes per second.
        assert!(text.contains("bwmon_domain_peak_bytes_per_second{domain=\"llcc\"} 2934000000\n"));
        assert!(text.contains("bwmon_domain_level{domain=\"odd\\\"\\\\\\n\"} 2\n"));
        // Not known: no sample, and no family where there is none at all.
        assert_eq!(text.matches("bwmon_domain_peak_bytes_per_second{").count(), 1);
        assert!(!text.contains("bwmon_probe_events_lost"));
    }

    #[test]
    fn names_end_in_their_unit_and_are_there_once() {
        let names: BTreeSet<&str> = DICTIONARY.iter().map(|metric| metric.name).collect();
        assert_eq!(names.len(), DICTIONARY.len());
        for metric in DICTIONARY {
            assert!(metric.name.ends_with(metric.unit), "{}", metric.name);
            assert!(!metric.name.ends_with("_total"), "{}", metric.name);
            assert!(metric.help.ends_with('.'), "{}", metric.name);
            assert!(metric.kind != Kind::Info || metric.unit.is_empty());
        }
    }

    #[test]
    fn the_page_in_the_docs_is_this_dictionary() {
        let page = include_str!("../../../docs/metrics.md");
        assert!(
            page.contains(&description()),
            "docs/metrics.md lacks the table of `bwmon metrics --dictionary`"
        );
    }
}
