//! The command line: one file per verb. Data on stdout, messages on stderr.

mod boards;
mod bundle;
mod calibrate;
mod choose;
mod common;
mod completions;
mod config;
mod control;
mod doctor;
mod experiment;
mod export;
mod man;
mod metrics;
mod output;
mod policy;
mod products;
mod replay;
mod restore;
mod run;
mod sim;
mod top;
mod watch;

use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// How a verb ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Done, or the question was answered with yes: exit code 0.
    Yes,
    /// The question was answered with no: exit code 1.
    No,
    /// The exit code of a command that was run.
    Code(u8),
}

/// An eBPF-assisted, adaptive memory-bandwidth governor whose decisions are scripts.
#[derive(Parser)]
#[command(
    name = "bwmon",
    version = crate::version(),
    propagate_version = true,
    arg_required_else_help = true,
    after_help = "Start with `bwmon sim` (no hardware needed) or `bwmon doctor` (what this machine \
        offers).\nExit codes: 0 done or yes, 1 the answer is no, 2 could not do it."
)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// What this machine offers: probes, registers, vote paths, and what is lost without each
    Doctor(doctor::Args),
    /// The boards that bwmon knows: monitors, domains, OPP tables
    Boards(boards::Args),
    /// Find the count units of the monitors with known traffic
    Calibrate(calibrate::Args),
    /// Govern this machine (or watch it: --shadow, --dry-run)
    Run(run::Args),
    /// What the running agent does
    Status(control::status::Args),
    /// The same, drawn again and again, with the last half minute
    Top(top::Args),
    /// The state in OpenMetrics text, for a monitoring system
    Metrics(metrics::Args),
    /// Take every domain to its highest level until `resume`
    Pause(control::simple::PauseArgs),
    /// Let the policy decide again
    Resume(control::simple::Args),
    /// Have the running agent read its files again, and say what came of it
    Reload(control::simple::Args),
    /// Hold a floor or a ceiling, as long as this command lives
    Hold(control::hold::Args),
    /// Follow the running agent's journal
    #[command(subcommand)]
    Journal(control::tail::Verb),
    /// Run a policy on a simulated board: no hardware, no root
    Sim(sim::Args),
    /// Walk a journal again: verify it, or try another policy on its samples
    Replay(replay::Args),
    /// Write a journal for other tools: CSV, or a trace for Perfetto
    Export(export::Args),
    /// Show probe events as they happen
    Watch(watch::Args),
    /// Develop policies
    #[command(subcommand)]
    Policy(policy::Verb),
    /// Products, policies, specs and traces in one signed file: build, sign, verify, install, go back
    #[command(subcommand)]
    Bundle(bundle::Verb),
    /// Compare governors: run an agenda, judge its results, report them
    #[command(subcommand)]
    Experiment(experiment::Verb),
    /// The agent's configuration file
    #[command(subcommand)]
    Config(config::Verb),
    /// Put back what an agent changed and could not put back itself
    Restore(restore::Args),
    /// Print a shell's completions
    Completions(completions::Args),
    /// Print the manual page, or write those of all verbs
    Man(man::Args),
}

/// Runs the verb on the command line; errors go to stderr.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let answer = match cli.verb {
        Verb::Doctor(args) => doctor::main(args),
        Verb::Boards(args) => boards::main(args),
        Verb::Calibrate(args) => calibrate::main(&args),
        Verb::Run(args) => run::main(args),
        Verb::Status(args) => control::status::main(&args),
        Verb::Top(args) => top::main(&args),
        Verb::Metrics(args) => metrics::main(&args),
        Verb::Pause(args) => control::simple::pause(&args),
        Verb::Resume(args) => control::simple::resume(&args),
        Verb::Reload(args) => control::simple::reload(&args),
        Verb::Hold(args) => control::hold::main(&args),
        Verb::Journal(verb) => control::tail::main(&verb),
        Verb::Sim(args) => sim::main(args),
        Verb::Replay(args) => replay::main(args),
        Verb::Export(args) => export::main(&args),
        Verb::Watch(args) => watch::main(args),
        Verb::Policy(verb) => policy::main(verb),
        Verb::Bundle(verb) => bundle::main(verb),
        Verb::Experiment(verb) => experiment::main(verb),
        Verb::Config(verb) => config::main(&verb),
        Verb::Restore(args) => restore::main(args),
        Verb::Completions(args) => completions::main(&args, Cli::command()),
        Verb::Man(args) => man::main(&args, Cli::command()),
    };
    match answer {
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        Ok(Answer::Code(code)) => ExitCode::from(code),
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::say(&format!("error: {error:#}"));
            ExitCode::from(2)
        }
    }
}
