//! What the boots showed, for people and for programs that count test results.

use super::console::End;
use super::verdict::Scenario;
use std::fmt;

/// The scenarios of all boots.
#[derive(Default)]
pub(crate) struct Report {
    tests: Vec<Scenario>,
    /// Scenarios that the kernel cannot run, and why.
    absent: Vec<(String, String)>,
    complaints: Vec<String>,
}

impl Report {
    /// Notes a scenario that the kernel cannot run.
    pub(crate) fn absent(&mut self, name: String, why: String) {
        self.absent.push((name, why));
    }

    /// Notes how a boot that should have run `wanted` ended; their names are shown with `prefix`.
    pub(crate) fn add(&mut self, prefix: &str, boot: &str, wanted: &[&str], end: End) {
        let (scenarios, complaint) = match end {
            End::Verdict(verdict) if verdict.pass => (verdict.scenarios, None),
            End::Verdict(verdict) => (verdict.scenarios, verdict.error),
            End::Broken { why, tail } => {
                (Vec::new(), Some(format!("{why}; the end of the console:\n{}", tail.join("\n"))))
            }
        };
        self.complaints.extend(complaint.map(|why| format!("boot {prefix}{boot}: {why}")));
        for name in wanted {
            let seen = scenarios.iter().find(|scenario| scenario.name == *name);
            let silent = || Err("the machine gave no verdict on it".to_owned());
            self.tests.push(Scenario {
                name: format!("{prefix}{name}"),
                ms: seen.map_or(0, |scenario| scenario.ms),
                result: seen.map_or_else(silent, |scenario| scenario.result.clone()),
            });
        }
    }

    /// Whether every scenario passed and no boot had anything else to complain of.
    pub(crate) fn passed(&self) -> bool {
        self.complaints.is_empty() && self.failed() == 0
    }

    fn failed(&self) -> usize {
        self.tests.iter().filter(|test| test.result.is_err()).count()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nrunning {} tests", self.tests.len() + self.absent.len())?;
        for test in &self.tests {
            let word = if test.result.is_ok() { "ok" } else { "FAILED" };
            writeln!(f, "test vm::{} ... {word}", test.name)?;
        }
        for (name, why) in &self.absent {
            writeln!(f, "test vm::{name} ... ignored, {why}")?;
        }
        for test in &self.tests {
            let seconds = test.ms as f64 / 1000.0;
            match &test.result {
                Ok(figures) => {
                    writeln!(f, "\n{} ({seconds:.1} s)", test.name)?;
                    for (name, value) in figures {
                        writeln!(f, "    {name:<28} {value}")?;
                    }
                }
                Err(error) => writeln!(f, "\n{} ({seconds:.1} s): {error}", test.name)?,
            }
        }
        for complaint in &self.complaints {
            writeln!(f, "\n{complaint}")?;
        }
        let (word, failed) = (if self.passed() { "ok" } else { "FAILED" }, self.failed());
        let passed = self.tests.len() - failed;
        let ms: u64 = self.tests.iter().map(|test| test.ms).sum();
        write!(
            f,
            "\ntest result: {word}. {passed} passed; {failed} failed; {} ignored; 0 measured; \
             0 filtered out; finished in {:.2}s",
            self.absent.len(),
            ms as f64 / 1000.0
        )
    }
}
