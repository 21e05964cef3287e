//! `bwmon policy check`.

use super::findings::{self, annotate, tell};
use crate::board::{Board, builtin, builtin_ids};
use crate::cli::common::PolicyArgs;
use crate::cli::output::{json, line, say};
use crate::cli::{Answer, common};
use crate::policy::script::lint::{Code, Finding, Severity, closed_loop, lint, sort};
use crate::policy::script::{CheckFault, CheckReport, MAX_OPERATIONS, Source, check_fault};
use crate::policy::{FaultKind, NATIVE, PolicySpec};
use serde::Serialize;
use std::sync::Arc;

/// Boards on which a policy governs by default: one whose levels carry two paths, one with several
/// domains, one with long tables.
const CLOSED_LOOP: [&str; 3] = ["sdm845-seed", "sdm845", "sc7280"];

const HELP: &str = "Three things are done: the script is looked through, decide() is called from \
every level of every board with every kind of reading, and the policy governs sdm845-seed, sdm845 \
and sc7280 (or --board) on demands that are worked out from their tables. Findings go to stderr, \
sorted by place.\n\n\
Examples:\n\
\x20 bwmon policy check my.rhai\n\
\x20 bwmon policy check my.rhai --board sdm845 --preset sdm845-cpubw\n\
\x20 bwmon policy check --deny-warnings --format github policies/*.rhai     in CI\n\
\x20 bwmon policy check my.rhai --allow level-never-chosen\n\
\x20 bwmon policy check --list-codes                                        every lint";

fn long_help() -> String {
    format!("{HELP}\n\n{}", findings::help())
}

/// Arguments of `bwmon policy check`.
#[derive(clap::Args)]
#[command(after_help = HELP, after_long_help = long_help())]
pub(in crate::cli) struct Args {
    /// Policies: .rhai files, shipped names, `native`, or chains
    #[arg(value_name = "FILE|NAME", required_unless_present = "list_codes")]
    policies: Vec<String>,
    /// The board to check it for [default: every built-in one]
    #[arg(long, value_name = "BOARD|FILE")]
    board: Option<String>,
    /// Settings that belong together, from the policy's head
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// A tunable of the policy; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = common::name_value)]
    set: Vec<(String, String)>,
    /// Answer no on warnings, too
    #[arg(long)]
    deny_warnings: bool,
    /// Say nothing of this lint; may be given several times
    #[arg(long, value_name = "CODE")]
    allow: Vec<String>,
    /// How findings are shown; `github` are annotations for its workflows
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Print JSON: short for `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Print the code of every lint with a sentence, and check nothing
    #[arg(long)]
    list_codes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Json,
    Github,
}

#[derive(Default, Serialize)]
struct Row {
    policy: String,
    ok: bool,
    boards: usize,
    calls: u64,
    max_operations: u64,
    tunables: usize,
    /// The first error, as it is shown.
    fault: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
    findings: Vec<findings::Row>,
    #[serde(skip)]
    found: Vec<Finding>,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    let format = if args.json { Format::Json } else { args.format };
    if args.list_codes {
        findings::list(format == Format::Json)?;
        return Ok(Answer::Yes);
    }
    let allowed = findings::codes(&args.allow)?;
    let boards = match &args.board {
        Some(board) => vec![common::board(board)?],
        None => builtin_ids().filter_map(builtin).collect::<Result<_, _>>()?,
    };
    let boards: Vec<Arc<Board>> = boards.into_iter().map(Arc::new).collect();
    let mut rows = Vec::new();
    for name in &args.policies {
        let (mut row, found) = check_one(args, name, &boards, &allowed)?;
        row.take(found, args.deny_warnings);
        rows.push(row);
    }
    match format {
        Format::Json => json(&rows)?,
        Format::Text => rows.iter().try_for_each(Row::print)?,
        Format::Github => {
            rows.iter().flat_map(|row| &row.found).try_for_each(annotate)?;
        }
    }
    Ok(if rows.iter().all(|row| row.ok) { Answer::Yes } else { Answer::No })
}

impl Row {
    fn take(&mut self, mut found: Vec<Finding>, deny_warnings: bool) {
        sort(&mut found);
        let error = found.iter().find(|finding| finding.severity() == Severity::Error);
        if let Some(Finding { diagnostic, .. }) = error {
            self.fault = Some(diagnostic.to_string());
            self.line = diagnostic.place.as_ref().map(|place| place.line);
            self.column = diagnostic.place.as_ref().map(|place| place.column);
        }
        self.ok = error.is_none() && (found.is_empty() || !deny_warnings);
        self.findings = found.iter().map(findings::Row::from).collect();
        self.found = found;
    }

    fn print(&self) -> anyhow::Result<()> {
        self.found.iter().for_each(tell);
        let errors = self.found.iter().filter(|f| f.severity() == Severity::Error).count();
        let warnings = self.found.len() - errors;
        let Self { policy, boards, calls, max_operations, tunables, .. } = self;
        if !self.ok {
            say(&format!("{policy}: {errors} error(s), {warnings} warning(s)"));
            return Ok(());
        }
        if *boards == 0 {
            return line(&format!("{policy}: the kernel's rule in Rust, compiled in"));
        }
        let warned = if warnings > 0 { format!(", {warnings} warning(s)") } else { String::new() };
        if *calls == 0 {
            return line(&format!("{policy}: good on {boards} board(s), no script{warned}"));
        }
        line(&format!(
            "{policy}: good on {boards} board(s), {calls} calls, at most {max_operations} of \
             {MAX_OPERATIONS} operations, {tunables} tunable(s){warned}"
        ))
    }
}

fn check_one(
    args: &Args,
    name: &str,
    boards: &[Arc<Board>],
    allowed: &[Code],
) -> anyhow::Result<(Row, Vec<Finding>)> {
    let mut row = Row { policy: name.to_owned(), ..Row::default() };
    if name == NATIVE {
        // Compiled with the program; its tests check it on every board.
        return Ok((row, Vec::new()));
    }
    let (preset, set) = (args.preset.clone(), args.set.clone());
    let spec = PolicyArgs { policy: name.to_owned(), preset, set }.spec()?;
    row.boards = boards.len();
    let (mut found, follows) = match &spec {
        PolicySpec::Script { source, set } => script(source, set, boards, &mut row, allowed),
        other => (chain(other, boards), true),
    };
    if found.iter().all(|finding| finding.severity() == Severity::Warning) {
        let governed =
            |board: &&Arc<Board>| args.board.is_some() || CLOSED_LOOP.contains(&board.id.as_str());
        for board in boards.iter().filter(governed) {
            found.extend(closed_loop(&spec, board, follows));
        }
    }
    found.retain(|finding| !allowed.contains(&finding.code));
    Ok((row, found))
}

/// The static lints and the dry run; whether the script reads the demand.
fn script(
    source: &Source,
    set: &[(String, String)],
    boards: &[Arc<Board>],
    row: &mut Row,
    allowed: &[Code],
) -> (Vec<Finding>, bool) {
    let lints = boards.first().map(|board| lint(source, board)).unwrap_or_default();
    let mut found = lints.findings;
    found.retain(|finding| !allowed.contains(&finding.code));
    for board in boards {
        match check_fault(source.clone(), board, set) {
            Ok(CheckReport { calls, max_operations, params }) => {
                row.calls += calls;
                row.max_operations = row.max_operations.max(max_operations);
                row.tunables = params;
            }
            Err(fault) if explained(&fault, &found) => break,
            Err(fault) => {
                let code = match fault {
                    CheckFault::Refused(_) => Code::Refused,
                    CheckFault::Fault(_) => Code::Fault,
                };
                let board = Some(board.id.clone()).filter(|_| code == Code::Fault);
                let diagnostic = fault.diagnostic().clone();
                found.push(Finding { board, ..Finding::new(code, diagnostic) });
                break;
            }
        }
    }
    (found, lints.reads_demand)
}

/// Whether a lint already says what the fault comes from, with a better place.
fn explained(fault: &CheckFault, found: &[Finding]) -> bool {
    let line = |finding: &Finding| finding.diagnostic.place.as_ref().map(|place| place.line);
    let at = fault.diagnostic().place.as_ref().map(|place| place.line);
    let errors = || found.iter().filter(|finding| finding.severity() == Severity::Error);
    let kind = match fault {
        CheckFault::Fault(fault) => Some(fault.kind),
        CheckFault::Refused(_) => None,
    };
    let has = |codes: &[Code]| errors().any(|finding| codes.contains(&finding.code));
    match kind {
        Some(FaultKind::WrongType) => has(&[Code::NoProposal]),
        Some(FaultKind::State) => has(&[Code::StateType, Code::UnknownStateKey]),
        _ => at.is_some() && errors().any(|finding| line(finding) == at),
    }
}

fn chain(spec: &PolicySpec, boards: &[Arc<Board>]) -> Vec<Finding> {
    let refused = |board: &Arc<Board>| spec.clone().build(board).err();
    let first = boards.iter().find_map(refused);
    first.into_iter().map(|fault| Finding::new(Code::Refused, fault)).collect()
}
