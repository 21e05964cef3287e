//! Workloads, the seed's rows among them.

use super::Check;
use crate::diag::{Diagnostic, did_you_mean};
use crate::experiment::agenda::{Command, Place, Workload, WorkloadKind};
use crate::experiment::raw::{RawRow, RawWorkload};
use crate::sim::{SEED_TABLE, SeedTable, builtin_workload_names};
use std::ops::Range;
use toml::Spanned;

impl Check<'_> {
    pub(super) fn workloads(
        &self,
        raw: Vec<Spanned<RawWorkload>>,
        place: &Place,
    ) -> Result<Vec<Workload>, Diagnostic> {
        let mut all = Vec::new();
        for workload in raw {
            let span = workload.span();
            let made = self.workload(span.clone(), workload.into_inner(), place)?;
            all.extend(made.into_iter().map(|workload| (workload, span.clone())));
        }
        if all.is_empty() {
            return Err(Diagnostic::new(self.file, "the agenda has no [[workload]]")
                .help("add one with simulated = \"frames\", or command = [\"sysbench\", …]"));
        }
        self.unique("workload", all.iter().map(|(w, span)| (w.name.as_str(), span.clone())))?;
        Ok(all.into_iter().map(|(workload, _)| workload).collect())
    }

    fn workload(
        &self,
        span: Range<usize>,
        raw: RawWorkload,
        place: &Place,
    ) -> Result<Vec<Workload>, Diagnostic> {
        let given = [
            raw.simulated.is_some(),
            raw.seed_row.is_some(),
            raw.seed_table,
            raw.command.is_some(),
        ];
        if given.iter().filter(|is| **is).count() != 1 {
            return Err(self
                .fault(span, "a workload is one thing")
                .help("one of simulated, seed_row, seed_table = true, command"));
        }
        let on_model = matches!(place, Place::Simulator);
        if raw.command.is_some() == on_model {
            let (message, help) = if on_model {
                ("the model runs no commands", "place = \"machine\" or \"ssh:NAME\"")
            } else {
                ("a machine runs commands, not the model's traffic", "place = \"simulator\"")
            };
            return Err(self.fault(span, message).help(help));
        }
        let of_command = raw.warmup.is_some()
            || raw.repetitions.is_some()
            || raw.timeout_s.is_some()
            || raw.cpus.is_some();
        if on_model && of_command {
            return Err(
                self.fault(span, "warmup, repetitions, timeout_s and cpus belong to a command")
            );
        }
        if raw.simulated.is_none() && raw.duration_ms.is_some() {
            return Err(self.fault(span, "duration_ms belongs to simulated traffic"));
        }
        if raw.seed_table {
            return self.seed_table(span, raw.name);
        }
        let (title, kind) = match (raw.simulated.clone(), raw.seed_row.as_ref(), &raw.command) {
            (Some(traffic), ..) => self.simulated(span, traffic, raw.duration_ms)?,
            (_, Some(row), _) => self.row(row)?,
            (.., Some(argv)) => self.command(span, argv.clone(), &raw)?,
            _ => return Ok(Vec::new()),
        };
        Ok(vec![Workload { name: raw.name.unwrap_or(title), kind }])
    }

    fn simulated(
        &self,
        span: Range<usize>,
        traffic: String,
        duration_ms: Option<Spanned<u64>>,
    ) -> Result<(String, WorkloadKind), Diagnostic> {
        let is_file = traffic.ends_with(".toml");
        if !is_file && !builtin_workload_names().any(|name| name == traffic) {
            let known: Vec<&str> = builtin_workload_names().collect();
            return Err(match did_you_mean(&traffic, known.iter().copied()) {
                Some(near) => self
                    .fault(span, format!("there is no workload {traffic}"))
                    .help(format!("did you mean {near}?")),
                None => self
                    .fault(span, format!("there is no workload {traffic}"))
                    .help(format!("known: {}; or a scenario file (.toml)", known.join(", "))),
            });
        }
        let duration_ms = duration_ms
            .map(|ms| self.ranged(Some(ms), 0, 1..=86_400_000, "duration_ms"))
            .transpose()?;
        Ok((traffic.clone(), WorkloadKind::Simulated { traffic, duration_ms }))
    }

    fn row(&self, raw: &RawRow) -> Result<(String, WorkloadKind), Diagnostic> {
        let rows = seed_rows();
        let access = raw.access.get_ref();
        if rows.iter().any(|(bs_kb, known)| *bs_kb == raw.bs_kb && known == access) {
            return Ok(seed_row(raw.bs_kb, access));
        }
        let known: Vec<String> = rows.iter().map(|(bs, access)| format!("{bs} {access}")).collect();
        Err(self
            .fault(raw.access.span(), format!("the seed has no row {} {access}", raw.bs_kb))
            .help(format!("its rows: {}", known.join(", "))))
    }

    fn seed_table(
        &self,
        span: Range<usize>,
        name: Option<String>,
    ) -> Result<Vec<Workload>, Diagnostic> {
        if name.is_some() {
            return Err(self.fault(span, "the rows of the seed's table have their own names"));
        }
        let rows = seed_rows();
        let workload = |(bs_kb, access): &(u32, String)| {
            let (name, kind) = seed_row(*bs_kb, access);
            Workload { name, kind }
        };
        Ok(rows.iter().map(workload).collect())
    }

    fn command(
        &self,
        span: Range<usize>,
        argv: Vec<String>,
        raw: &RawWorkload,
    ) -> Result<(String, WorkloadKind), Diagnostic> {
        let Some(program) = argv.first().filter(|program| !program.is_empty()).cloned() else {
            return Err(self.fault(span, "a command without a program"));
        };
        if argv.iter().any(|word| word.contains('\0')) {
            return Err(self.fault(span, "a command with a NUL"));
        }
        let cpus = raw.cpus.as_ref().map(|cpus| self.cpus(cpus)).transpose()?;
        let repetitions = self.ranged(raw.repetitions.clone(), 1, 1..=1_000, "repetitions")?;
        let timeout_s = self.ranged(raw.timeout_s.clone(), 600, 1..=86_400, "timeout_s")?;
        let warmup = raw.warmup.unwrap_or(0);
        let kind = Command { argv, warmup, repetitions, timeout_s, cpus };
        Ok((program, WorkloadKind::Command(kind)))
    }

    /// As taskset takes them: `0`, `4-7`, `0,2,4-7`.
    fn cpus(&self, raw: &Spanned<String>) -> Result<String, Diagnostic> {
        let range = |part: &str| match part.split_once('-') {
            Some((from, to)) => {
                from.parse::<u32>().ok().zip(to.parse().ok()).is_some_and(|(a, b)| a <= b)
            }
            None => part.parse::<u32>().is_ok(),
        };
        if raw.get_ref().split(',').all(range) {
            return Ok(raw.get_ref().clone());
        }
        let message = format!("{} is no list of CPUs", raw.get_ref());
        Err(self.fault(raw.span(), message).help("write it as taskset does: 4-7 or 0,2,4-7"))
    }
}

/// Block size in kB and access, as in the seed's table.
fn seed_rows() -> Vec<(u32, String)> {
    let table = SeedTable::parse("<built-in seed-sysbench.toml>", SEED_TABLE);
    let rows = table.map(|table| table.rows).unwrap_or_default();
    rows.iter().map(|row| (row.bs_kb, row.kind.name().to_owned())).collect()
}

fn seed_row(bs_kb: u32, access: &str) -> (String, WorkloadKind) {
    (format!("{bs_kb} kB {access}"), WorkloadKind::SeedRow { bs_kb, access: access.to_owned() })
}
