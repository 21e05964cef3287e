//! The project's chores, one small file per verb. Run as `cargo xtask <verb>`.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "chores read files and run programs; the purity lint guards the agent's road"
)]

mod bench;
mod build_ebpf;
mod check;
mod ctx;
mod demo;
mod dist;
mod test;
mod tools;
mod vm;

use clap::{Parser, Subcommand};
use ctx::Ctx;
use std::process::ExitCode;

/// Chores of the bwmon project.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Run the main job: doctor, then the agent on the SDM845 model.
    Demo,
    /// Run every test, the virtual machine included.
    Test {
        /// Leave the virtual machine out.
        #[arg(long)]
        without_vm: bool,
    },
    /// Check format, lints and documentation.
    Check,
    /// Run the benchmarks and print their ratios.
    Bench,
    /// Build the kernel probes, fetching what is needed; the object lands in target/bpf.
    BuildEbpf,
    /// Make the packages: a tarball and a Debian package per architecture, in target/dist.
    Dist(dist::Args),
    /// Boot a stock arm64 kernel with the mainline driver and judge the agent on it.
    Vm(vm::Args),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli.verb) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            // One line with its causes; never a backtrace, whatever RUST_BACKTRACE says.
            eprintln!("error: {e:#}");
            ExitCode::from(2)
        }
    }
}

fn run(verb: &Verb) -> anyhow::Result<()> {
    let ctx = Ctx::new()?;
    match verb {
        Verb::Demo => demo::demo(&ctx)?,
        Verb::Test { without_vm } => test::test(&ctx, *without_vm)?,
        Verb::Check => check::check(&ctx)?,
        Verb::Bench => bench::bench(&ctx)?,
        Verb::BuildEbpf => println!("{}", build_ebpf::build_ebpf(&ctx)?.display()),
        Verb::Dist(args) => dist::run(&ctx, args)?,
        Verb::Vm(args) => vm::run(&ctx, args)?,
    }
    Ok(())
}
