//! CPU OPP tables with bandwidths: what cpufreq votes for each frequency.

use super::interconnect;
use super::names;
use super::node::{At, Problem, Tree};
use super::opp;
use crate::board::CpuOpps;

/// CPUs that are looked at.
const MAX_CPUS: usize = 1024;

/// The tables of all CPUs, each once, in the order of the CPUs; those without bandwidths are none.
pub(super) fn opps(tree: &Tree<'_>, problems: &mut Vec<Problem>) -> Vec<CpuOpps> {
    let Some(cpus) = tree.root().and_then(|root| root.child("cpus")) else { return Vec::new() };
    let mut seen: Vec<&str> = Vec::new();
    let mut all: Vec<CpuOpps> = Vec::new();
    let cpus = cpus.children().filter(|cpu| cpu.name().starts_with("cpu@") && cpu.enabled());
    for (index, cpu) in cpus.take(MAX_CPUS).enumerate() {
        let table = match opp::table_of(cpu) {
            Ok(Some(table)) if !seen.contains(&table.path()) => table,
            Ok(_) => continue,
            Err(what) => {
                problems.push(cpu.problem(what));
                continue;
            }
        };
        seen.push(table.path());
        match opps_of(cpu, table, index, problems) {
            Ok(None) => {}
            Ok(Some(opps)) if all.iter().any(|other| other.name == opps.name) => {
                let what = format!("a second CPU OPP table is called {}: left out", opps.name);
                problems.push(table.problem(what));
            }
            Ok(Some(opps)) => all.push(opps),
            Err(what) => problems.push(table.problem(format!("{what}: the table is left out"))),
        }
    }
    all
}

fn opps_of(
    cpu: At<'_>,
    table: At<'_>,
    index: usize,
    problems: &mut Vec<Problem>,
) -> Result<Option<CpuOpps>, String> {
    let paths = interconnect::paths(cpu)?;
    let rows = opp::rows(table, paths.len(), problems)?;
    if paths.is_empty() || rows.iter().all(|row| row.peak.is_empty()) {
        return Ok(None);
    }
    let values: Result<Vec<Vec<u64>>, String> = rows
        .into_iter()
        .map(|row| {
            let hz = row.hz.ok_or("a row has no opp-hz")?;
            let peaks = row.peak.into_iter().map(u64::from);
            Ok(std::iter::once(hz / 1_000).chain(peaks).collect())
        })
        .collect();
    let name = names::cpu_table(table.name(), &format!("cpu{index}"));
    // The own names of a CPU's paths are not used: every known tree has none.
    let unnamed = paths.into_iter().map(|path| interconnect::Path { name: None, ..path });
    let opps = CpuOpps::new(name, names::columns(&unnamed.collect::<Vec<_>>()), values?);
    opps.map(Some).map_err(|(_, message)| message)
}
