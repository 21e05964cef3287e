//! The figures of docs/policies.md are those that `bwmon sim` gives.

use crate::common::{json, repository};
use std::collections::BTreeMap;

/// Workloads that are run here: the two that tell policies apart best and are short.
const TRIED: [&str; 2] = ["frames", "launch"];

/// The rows of the table below `heading`: what runs, and its cell for each workload.
fn rows(page: &str, heading: &str) -> Vec<(String, BTreeMap<String, String>)> {
    let (_, after) = page.split_once(heading).unwrap();
    let mut lines = after.lines().skip_while(|line| !line.starts_with('|'));
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let workloads = cells(lines.next().unwrap());
    lines
        .skip(1)
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let row = cells(line);
            let policy = row[0].trim_matches('`').to_owned();
            (policy, workloads.iter().cloned().zip(row).skip(1).collect())
        })
        .collect()
}

#[test]
fn the_table_of_the_shipped_policies_is_what_sim_says() {
    let page = std::fs::read_to_string(repository().join("docs/policies.md")).unwrap();
    let tables = ["ddr", "llcc"].map(|name| (name, rows(&page, &format!("### Domain `{name}`"))));
    // The cells that a run of the simulator has to give, on each of the two domains.
    let mut runs: BTreeMap<(String, &str), Vec<(&str, String)>> = BTreeMap::new();
    for (domain, rows) in tables {
        assert!(rows.len() >= 10, "{domain}: {}", rows.len());
        for (policy, cells) in rows {
            for workload in TRIED {
                let cell = cells[workload].clone();
                runs.entry((policy.clone(), workload)).or_default().push((domain, cell));
            }
        }
    }
    for ((policy, workload), expected) in runs {
        let mut command = vec!["sim", "--json", "--workload", workload, "--policy"];
        command.extend(policy.split(' '));
        let report = json(&command);
        for (name, cell) in expected {
            let domains = report["domains"].as_array().unwrap();
            let domain = domains.iter().find(|domain| domain["name"] == name).unwrap();
            let vote = domain["mean_vote_kBps"].as_f64().unwrap() / 1_000.0;
            let (changes, below) = (&domain["transitions"], &domain["below_demand_ms"]);
            let seen = format!("{vote:.0} / {changes} / {below}");
            assert_eq!(seen, cell, "{policy} on {workload}, {name}");
        }
    }
}
