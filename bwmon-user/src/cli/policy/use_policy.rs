//! `bwmon policy use`.

use crate::cli::Answer;
use crate::cli::common::{self, CanaryArgs, PolicyArgs};
use crate::cli::control::SocketArgs;
use crate::control::{Ask, PolicyUse};
use crate::policy::PolicySpec;

/// Arguments of `bwmon policy use`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n\
\x20 bwmon policy use my.rhai --set up_pct=80\n\
\x20 bwmon policy use adaptive --canary-ms 60000   in shadow for a minute first\n\
\x20 bwmon reload                                  back to what the files say\n\
\n\
The agent checks the policy on its board before it lets it decide; limits stay. Until `bwmon reload`\n\
or a new start, changed files are not followed. Exit codes: 0 done, 1 refused (the running policy\n\
stays), 2 there is no agent or no right.")]
pub(in crate::cli) struct Args {
    /// The policy: a .rhai file, `native`, or one that is built in
    #[arg(value_name = "FILE|NAME")]
    policy: String,
    /// Settings that belong together, from the policy's head; `--set` goes over them
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// A tunable of the policy; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = common::name_value)]
    set: Vec<(String, String)>,
    #[command(flatten)]
    canary: CanaryArgs,
    #[command(flatten)]
    socket: SocketArgs,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    let (preset, set) = (args.preset.clone(), args.set.clone());
    // Here, where the file is: its errors have its lines.
    let policy = PolicyArgs { policy: args.policy.clone(), preset, set }.spec()?;
    let (name, text, set) = match policy {
        // The preset has become settings.
        PolicySpec::Script { source, set } => (source.name, Some(source.text), set),
        other => (other.title().to_owned(), None, Vec::new()),
    };
    let (canary_ms, canary_rule) = args.canary.wanted().unzip();
    let canary_rule = canary_rule.map(|rule| rule.to_string());
    let ask = PolicyUse { name, text, preset: None, set, canary_ms, canary_rule };
    args.socket.change(&Ask::PolicyUse(ask))
}
