//! `bwmon policy test`: runs the spec beside a policy.

use super::covered::{CoverageReport, Covered};
use crate::cli::output::{grouped, json, line, say};
use crate::cli::{Answer, common};
use crate::diag::printable;
use crate::live::SpecFolder;
use crate::policy::{NATIVE, PolicySpec, library, stage};
use crate::spec::{self, Files, NoFiles, Options, ScenarioReport, SpecReport};
use anyhow::bail;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// Arguments of `bwmon policy test`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n\
\x20 bwmon policy test                            every shipped policy\n\
\x20 bwmon policy test my.rhai                    with my.spec.toml beside it\n\
\x20 bwmon policy test my.rhai --filter idle      only the scenarios with that in their name\n\
\x20 bwmon policy test native --spec my.spec.toml another policy against the same spec\n\
Exit code 1: a scenario failed. 2: the spec or the policy is wrong. docs/policy-spec.md has the \
format.")]
pub(in crate::cli) struct Args {
    /// Policies: .rhai files, or shipped ones by name [default: every shipped one]
    #[arg(value_name = "POLICY|FILE")]
    policies: Vec<String>,
    /// The spec [default: <name>.spec.toml beside the script]
    #[arg(long, value_name = "FILE", requires = "policies")]
    spec: Option<String>,
    /// Run only the scenarios whose name contains this
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// A board in the place of those that the spec names
    #[arg(long, value_name = "BOARD|FILE")]
    board: Option<String>,
    /// A tunable of the policy, over the spec's; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = common::name_value,
        requires = "policies")]
    set: Vec<(String, String)>,
    /// Tell which lines of the script no scenario reached
    #[arg(long)]
    coverage: bool,
    /// Answer no if less than so many percent of the lines were reached
    #[arg(long, value_name = "PCT", requires = "coverage",
        value_parser = clap::value_parser!(u8).range(0..=100))]
    threshold: Option<u8>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The result, in the shape that scripts rely on.
#[derive(Serialize)]
struct Report {
    ok: bool,
    simulated_ms: u64,
    policies: Vec<PolicyReport>,
}

/// One policy's part.
#[derive(Serialize)]
struct PolicyReport {
    #[serde(flatten)]
    spec: SpecReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<CoverageReport>,
}

/// A spec as it was found: its name, its text, and where the files are that it names.
struct Found {
    name: String,
    text: String,
    folder: Option<SpecFolder>,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    let board = args.board.as_deref().map(common::board).transpose()?.map(Arc::new);
    let options = Options { board, filter: args.filter.clone() };
    let mut policies = Vec::new();
    if args.policies.is_empty() {
        for shipped in library::SHIPPED {
            match shipped.spec {
                Some(_) => policies.push(one(args, shipped.name, &options)?),
                None => say(&format!("{} has no spec", shipped.name)),
            }
        }
    }
    for name in &args.policies {
        policies.push(one(args, name, &options)?);
    }
    if let Some(part) = &args.filter
        && policies.iter().all(|report| report.spec.scenarios.is_empty())
    {
        bail!("no scenario has \"{part}\" in its name");
    }
    let report = Report {
        ok: policies.iter().all(|report| report.spec.ok && !report.too_little(args.threshold)),
        simulated_ms: policies.iter().map(|report| report.spec.simulated_ms()).sum(),
        policies,
    };
    if args.json {
        json(&report)?;
    } else {
        print(&report, args.threshold)?;
    }
    Ok(if report.ok { Answer::Yes } else { Answer::No })
}

impl PolicyReport {
    /// Whether fewer lines were reached than asked for; never where that cannot be told.
    fn too_little(&self, threshold: Option<u8>) -> bool {
        let percent = self.coverage.as_ref().and_then(|coverage| coverage.percent);
        threshold.zip(percent).is_some_and(|(least, percent)| percent < f64::from(least))
    }
}

fn one(args: &Args, name: &str, options: &Options) -> anyhow::Result<PolicyReport> {
    let mut subject = Covered::new(subject(name, &args.set)?, args.coverage);
    let found = match &args.spec {
        Some(file) => read(file)?,
        None => beside(name)?,
    };
    let mut folder;
    let files: &mut dyn Files = match found.folder {
        Some(path) => {
            folder = path;
            &mut folder
        }
        None => &mut NoFiles,
    };
    let spec = spec::run(&found.name, &found.text, &mut subject, options, files)?;
    Ok(PolicyReport { spec, coverage: args.coverage.then(|| subject.report()) })
}

fn subject(name: &str, set: &[(String, String)]) -> anyhow::Result<PolicySpec> {
    let compiled_in = name == NATIVE || name.starts_with(stage::PREFIX);
    if let Some((tunable, _)) = set.first().filter(|_| compiled_in) {
        bail!("{name} has no tunable {tunable}");
    }
    Ok(match name {
        NATIVE => PolicySpec::Native,
        chain if compiled_in => PolicySpec::Chain(chain.to_owned()),
        script => PolicySpec::Script { source: common::script(script)?, set: set.to_vec() },
    })
}

/// A start for those who have no spec yet; a test runs it.
const EXAMPLE: &str = r#"schema = 1

[[scenario]]
name = "a rise is answered at once"
series = [{ ms = 100, peak_kBps = 100_000 }, { ms = 100, peak_kBps = 6_000_000 }]
[[scenario.expect]]
rise_ms = 4
"#;

/// The spec that belongs to the policy `name`.
fn beside(name: &str) -> anyhow::Result<Found> {
    if let Some(shipped) = library::shipped(name) {
        return match shipped.spec {
            Some(text) => {
                let name = format!("<shipped {name}.spec.toml>");
                Ok(Found { name, text: text.to_owned(), folder: None })
            }
            None => bail!("the shipped policy {name} has no spec; give one with --spec FILE"),
        };
    }
    if name == NATIVE || name.starts_with(stage::PREFIX) {
        bail!("{name} has no spec of its own; give one with --spec FILE");
    }
    let file = Path::new(name).with_extension("spec.toml");
    if !file.exists() {
        let file = file.display();
        bail!(
            "{name} has no spec: there is no {file}\nWrite one there, for example:\n\n{EXAMPLE}\n\
             docs/policy-spec.md says what else can be expected; --spec FILE takes one from elsewhere"
        );
    }
    read(&file.to_string_lossy())
}

fn read(file: &str) -> anyhow::Result<Found> {
    let folder = SpecFolder::of(Path::new(file));
    Ok(Found { name: file.to_owned(), text: common::text_of(file)?, folder: Some(folder) })
}

fn print(report: &Report, threshold: Option<u8>) -> anyhow::Result<()> {
    for policy in &report.policies {
        line(&policy.spec.policy)?;
        for scenario in &policy.spec.scenarios {
            line(&row(scenario))?;
        }
        if let Some(coverage) = &policy.coverage {
            let too_little = match threshold {
                Some(least) if policy.too_little(threshold) => format!(", less than {least} %"),
                _ => String::new(),
            };
            line(&format!("  {}{too_little}", coverage.text()))?;
        }
    }
    let all = || report.policies.iter().flat_map(|policy| &policy.spec.scenarios);
    let failed = all().filter(|scenario| !scenario.ok).count();
    let expectations: usize = all().map(|scenario| scenario.expectations).sum();
    line(&format!(
        "{} scenarios, {expectations} expectations, {} ms simulated: {}",
        all().count(),
        grouped(report.simulated_ms),
        if failed == 0 { "all hold".to_owned() } else { format!("{failed} failed") }
    ))
}

/// A scenario's line, and two for each expectation that does not hold.
fn row(scenario: &ScenarioReport) -> String {
    let state = if scenario.ok { "ok" } else { "failed" };
    let mut text =
        format!("  {state:6} {:>6} ms  {}", grouped(scenario.simulated_ms), scenario.name);
    if !scenario.ok && !scenario.what.is_empty() {
        text += &format!("\n    ({})", scenario.what);
    }
    for failure in &scenario.failures {
        let domain = failure.domain.as_ref().map_or_else(String::new, |name| format!(" on {name}"));
        text += &format!("\n    {} (line {}){domain}:", failure.expectation, failure.line);
        text += &format!("\n      {}, {}", failure.expected, failure.seen);
    }
    text.chars().map(|c| if c == '\n' { c } else { printable(c) }).collect()
}
