//! The workload of a run: its command, warmed up, repeated and measured.

use super::energy;
use super::host::{Call, Host, outputs};
use super::measure::{by_expression, by_pointer, median};
use super::process::Ending;
use super::snapshot::Snapshot;
use super::stop::Stop;
use super::trouble::Trouble;
use crate::experiment::{Command, From, Measure};
use regex::Regex;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes of a command's output that are searched.
const MOST: u64 = 16 * 1024 * 1024;

/// A measure and, where it has one, its expression.
pub(super) type Asked = (Measure, Option<Regex>);

/// Runs workloads.
#[derive(Debug)]
pub(super) struct Worker {
    measures: Vec<Asked>,
    /// Where commands run on this machine.
    cwd: PathBuf,
    stop: Stop,
    /// Programs that were found.
    known: BTreeSet<String>,
}

/// What the counted runs of a command came to.
#[derive(Debug, Default)]
pub(super) struct Worked {
    /// Each measure's values, one for each run.
    values: BTreeMap<String, Vec<f64>>,
    /// How long each took, for the run's conditions.
    pub(super) took: Vec<f64>,
}

impl Worked {
    /// The measures: medians of the runs.
    pub(super) fn measures(&self) -> BTreeMap<String, f64> {
        let medians = self.values.iter().filter_map(|(name, of)| Some((name.clone(), median(of)?)));
        medians.collect()
    }

    /// For the run's conditions.
    pub(super) fn json(&self) -> Value {
        json!(self.took)
    }
}

impl Worker {
    pub(super) fn new(measures: Vec<Asked>, cwd: &Path, stop: Stop) -> Self {
        Self { measures, cwd: cwd.to_owned(), stop, known: BTreeSet::new() }
    }

    /// The command's words, bound to its CPUs.
    fn argv(command: &Command) -> Vec<String> {
        let bound = command.cpus.as_ref().map(|cpus| ["taskset", "-c", cpus].map(str::to_owned));
        bound.into_iter().flatten().chain(command.argv.iter().cloned()).collect()
    }

    /// Fails if one of the programs is missing: before anything is changed for it.
    pub(super) fn check(&mut self, host: &Host, command: &Command) -> Result<(), Trouble> {
        let mut needed = vec![command.argv.first().map_or("", String::as_str)];
        needed.extend(command.cpus.as_ref().map(|_| "taskset"));
        needed.extend(host.ssh().map(|_| "timeout"));
        for program in needed {
            if !self.known.contains(program) {
                if !host.has(program, &self.cwd)? {
                    let place = host.ssh().map_or("this machine", |ssh| ssh.name());
                    let why = format!("the command {program} is not found on {place}");
                    return Err(Trouble::Failed(why));
                }
                self.known.insert(program.to_owned());
            }
        }
        Ok(())
    }

    /// Runs it before the runs that count; what it prints is kept and not read.
    pub(super) fn warm_up(
        &self,
        host: &mut Host,
        command: &Command,
        folder: &Path,
    ) -> Result<(), Trouble> {
        (1..=command.warmup).try_for_each(|number| {
            self.once(host, command, &folder.join(format!("warmup-{number}"))).map(drop)
        })
    }

    /// Runs it as often as it counts.
    pub(super) fn work(
        &self,
        host: &mut Host,
        command: &Command,
        folder: &Path,
        worked: &mut Worked,
    ) -> Result<(), Trouble> {
        for number in 1..=command.repetitions {
            let output = folder.join(format!("run-{number}"));
            let before = self.energy(host)?;
            let took = self.once(host, command, &output)?;
            let after = self.energy(host)?;
            worked.took.extend(took.map(|took| took.as_secs_f64()));
            self.measure(&output, took, &before.zip(after), worked)?;
        }
        Ok(())
    }

    fn energy(&self, host: &Host) -> io::Result<Option<Snapshot>> {
        let wanted =
            self.measures.iter().any(|(measure, _)| matches!(measure.from, From::Energy(_)));
        wanted.then(|| host.read(&energy::FILES)).transpose()
    }

    /// One run of the command, that ends well.
    fn once(
        &self,
        host: &mut Host,
        command: &Command,
        output: &Path,
    ) -> Result<Option<Duration>, Trouble> {
        let argv = Self::argv(command);
        let timeout = Duration::from_secs(command.timeout_s);
        let call = Call { argv: &argv, cwd: &self.cwd, output, timeout };
        let ran = match host.run(&call, &self.stop) {
            Ok(ran) => ran,
            // Here the command itself; behind ssh the connection.
            Err(error) if host.ssh().is_none() => {
                let what = match error.kind() {
                    io::ErrorKind::NotFound => "it is not found".to_owned(),
                    _ => error.to_string(),
                };
                return Err(Trouble::Failed(format!("{} cannot be run: {what}", argv.join(" "))));
            }
            Err(error) => return Err(error.into()),
        };
        let said = || {
            let [out, err] = outputs(output);
            let last = |path: &PathBuf| text(path).trim().lines().last().map(str::to_owned);
            let said = last(&err).or_else(|| last(&out)).map(|said| format!(": {said}"));
            format!("{} (kept in {})", said.unwrap_or_default(), output.display())
        };
        let name = command.argv.first().map_or("", String::as_str);
        match ran.ending {
            Ending::Code(0) => Ok(ran.took),
            Ending::Stopped => Err(Trouble::Void("interrupted".to_owned())),
            Ending::TimedOut => Err(Trouble::Failed(format!(
                "{name} did not end in {} s and was killed{}",
                command.timeout_s,
                said()
            ))),
            Ending::Code(code) => {
                Err(Trouble::Failed(format!("{name} ended with {code}{}", said())))
            }
            Ending::Signal(signal) => {
                Err(Trouble::Failed(format!("{name} was ended by signal {signal}{}", said())))
            }
        }
    }

    /// What one run says of each measure. One that the command should have printed must be there.
    fn measure(
        &self,
        output: &Path,
        took: Option<Duration>,
        energy: &Option<(Snapshot, Snapshot)>,
        worked: &mut Worked,
    ) -> Result<(), Trouble> {
        let [out, err] = outputs(output).map(|path| text(&path));
        for (measure, expression) in &self.measures {
            let printed = match (&measure.from, expression) {
                (From::Regex(_), Some(expression)) => Some(
                    by_expression(expression, &out)
                        .or_else(|why| by_expression(expression, &err).map_err(|_| why)),
                ),
                (From::Json(pointer), _) => Some(
                    by_pointer(pointer, &out)
                        .or_else(|why| by_pointer(pointer, &err).map_err(|_| why)),
                ),
                (From::WallTime, _) => took.map(|took| Ok(took.as_secs_f64())),
                (From::Energy(name), _) => {
                    let spent =
                        energy.as_ref().and_then(|(from, to)| energy::joules(from, to, name));
                    spent.map(Ok)
                }
                _ => None,
            };
            match printed {
                None => {}
                Some(Ok(value)) => {
                    worked.values.entry(measure.name.clone()).or_default().push(value);
                }
                Some(Err(why)) => {
                    return Err(Trouble::Failed(format!(
                        "no {} in what was printed: {why} (kept in {})",
                        measure.name,
                        output.display()
                    )));
                }
            }
        }
        Ok(())
    }
}

fn text(path: &Path) -> String {
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(path) {
        let _ = file.take(MOST).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
