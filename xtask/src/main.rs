//! The project's chores, one small file per verb. Run as `cargo xtask <verb>`.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "chores read files and run programs; the purity lint guards the agent's road"
)]

mod build_ebpf;
mod ctx;
mod tools;
mod vm;

use clap::{Parser, Subcommand};
use ctx::Ctx;

/// Chores of the bwmon project.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Build the kernel probes, fetching what is needed; the object lands in target/bpf.
    BuildEbpf,
    /// Boot a stock arm64 kernel with the mainline driver and judge the agent on it.
    Vm(vm::Args),
}

fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    let ctx = Ctx::new()?;
    match cli.verb {
        Verb::BuildEbpf => println!("{}", build_ebpf::build_ebpf(&ctx)?.display()),
        Verb::Vm(args) => vm::run(&ctx, &args)?,
    }
    Ok(())
}
