//! What several verbs take: boards, policies, tunables, journals.

use super::output::say;
use crate::board::{self, Board, builtin, builtin_ids};
use crate::diag::did_you_mean;
use crate::journal::{Header, Reader};
pub(super) use crate::live::text_of;
use crate::live::{Machine, open_journal};
use crate::policy::canary::Rule;
use crate::policy::script::Source;
use crate::policy::{self, PolicySpec, library, stage};
use anyhow::bail;
use std::fs;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

/// `--policy` and `--set`.
#[derive(clap::Args, Debug, Clone)]
pub(super) struct PolicyArgs {
    /// The policy: a .rhai file, `bwmon` (the kernel's rule as a script), `adaptive`, or `native`
    /// (the kernel's rule in Rust)
    #[arg(long, value_name = "FILE|NAME", default_value = "bwmon")]
    pub(super) policy: String,
    /// Settings that belong together, from the policy's head; `--set` goes over them
    #[arg(long, value_name = "NAME")]
    pub(super) preset: Option<String>,
    /// A tunable of the policy; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = name_value)]
    pub(super) set: Vec<(String, String)>,
}

/// `--canary-ms` and `--canary-rule`.
#[derive(clap::Args, Debug, Clone)]
pub(super) struct CanaryArgs {
    /// A policy that takes another one's place runs in shadow for so long first
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    canary_ms: Option<u64>,
    /// What it has to meet then to take over: bounds on faults, transitions, below_demand_ms and
    /// mean_vote_kBps (5, +5 over the old policy, x1.5 times the old), a least for agree_pct
    #[arg(
        long,
        value_name = "RULE",
        requires = "canary_ms",
        default_value = "faults<=0, below_demand_ms<=+0, transitions<=x2"
    )]
    canary_rule: Rule,
}

impl CanaryArgs {
    /// The time in milliseconds and the rule, if a canary is wanted.
    pub(super) fn wanted(&self) -> Option<(u64, Rule)> {
        self.canary_ms.map(|ms| (ms, self.canary_rule.clone()))
    }
}

pub(super) fn name_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

impl PolicyArgs {
    pub(super) fn spec(&self) -> anyhow::Result<PolicySpec> {
        if self.policy == policy::NATIVE {
            if let Some(name) = &self.preset {
                bail!("the native policy has no preset {name}");
            }
            if let Some((name, _)) = self.set.first() {
                bail!("the native policy has no tunable {name}; `bwmon` is the same as a script");
            }
            return Ok(PolicySpec::Native);
        }
        if self.policy.starts_with(stage::PREFIX) {
            if let Some(name) = &self.preset {
                bail!("a chain has no preset {name}");
            }
            if let Some((name, _)) = self.set.first() {
                bail!("a chain has no tunable {name}; write its numbers into the stages");
            }
            return Ok(PolicySpec::Chain(self.policy.clone()));
        }
        let source = script(&self.policy)?;
        let set = tunables(&source, self.preset.as_deref(), &self.set)?;
        Ok(PolicySpec::Script { source, set })
    }
}

/// A preset's settings, with `set` after them: the later value counts.
pub(super) fn tunables(
    source: &Source,
    preset: Option<&str>,
    set: &[(String, String)],
) -> anyhow::Result<Vec<(String, String)>> {
    let mut all = match preset {
        Some(name) => policy::script::preset(source, name)?,
        None => Vec::new(),
    };
    all.extend_from_slice(set);
    Ok(all)
}

/// The script called `name`: a file, or the built-in `bwmon`.
pub(super) fn script(name: &str) -> anyhow::Result<Source> {
    // Built-in names first: a file that happens to be called so in the current folder (the binary
    // itself, say) must not take their place. A path with a slash or an ending is a file.
    if let Some(shipped) = library::shipped(name) {
        return Ok(Source { name: name.to_owned(), text: shipped.text.to_owned() });
    }
    if Path::new(name).exists() {
        return Ok(Source { name: name.to_owned(), text: text_of(name)? });
    }
    match did_you_mean(name, library::names()) {
        Some(near) => bail!("there is no policy file {name}; did you mean the policy {near}?"),
        None => bail!(
            "there is no policy file {name}; these are built in: {}",
            library::names().collect::<Vec<_>>().join(", ")
        ),
    }
}

/// The file of the policy `name`, if it is one.
pub(super) fn policy_file(name: &str) -> Option<PathBuf> {
    let shipped = library::shipped(name).is_some() || policy::is_compiled_in(name);
    (!shipped).then(|| PathBuf::from(name))
}

/// The board called `name`: a file, or a built-in one.
pub(super) fn board(name: &str) -> anyhow::Result<Board> {
    if let Some(board) = builtin(name) {
        return Ok(board?);
    }
    if name.ends_with(".toml") || Path::new(name).exists() {
        return Ok(board::parse(name, &text_of(name)?)?);
    }
    match did_you_mean(name, builtin_ids()) {
        Some(near) => bail!("there is no board {name}; did you mean {near}?"),
        None => bail!("there is no board {name}; `bwmon boards` lists the built-in ones"),
    }
}

/// The board of this machine, from its device tree and the built-in board that fits; says which it is
/// and why.
pub(super) fn machine_board(machine: &Machine) -> anyhow::Result<Board> {
    let identity = machine.identify();
    let Some(board) = identity.board else {
        bail!(
            "{}; give a board with --board FILE (`bwmon boards`), or run a policy on a simulated board \
             with `bwmon sim`; `bwmon doctor` and `bwmon boards probe` say what this machine has",
            identity.why
        );
    };
    say(&format!("bwmon: board {}: {}", board.id, identity.why));
    let marks = identity.marks.len();
    if marks > 0 {
        say(&format!(
            "bwmon: {marks} level(s) may not be there on this machine (`bwmon boards probe`)"
        ));
    }
    Ok(board)
}

/// Whether the file `name` begins as journals do.
pub(super) fn is_journal(name: &str) -> bool {
    let mut begin = [0; 1];
    let file = fs::metadata(name).ok().filter(fs::Metadata::is_file);
    let read = file.and_then(|_| fs::File::open(name).ok());
    read.is_some_and(|mut file| file.read(&mut begin).is_ok_and(|n| n == 1) && begin == *b"{")
}

/// Opens the journal `name`, with the older parts of its run that are beside it.
pub(super) fn journal(name: &str) -> anyhow::Result<(Reader<Box<dyn BufRead>>, Header)> {
    let (input, _) = open_journal(name)?;
    Ok(Reader::open(name, input)?)
}
