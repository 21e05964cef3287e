//! `cargo xtask vm`: the real driver in a virtual machine, our agent beside it, one verdict.
//!
//! A stock Debian arm64 kernel under QEMU, with the nodes of `tests/vm/nodes.dts` and an initramfs
//! that holds our two programs. What happens inside is in `tests/vm/src`.

mod console;
mod cpio;
mod foreign;
mod guest;
mod headers;
mod initramfs;
mod kernel;
mod kmod;
mod modules;
mod needs;
mod qemu;
mod summary;
mod tree;
mod verdict;

use crate::ctx::Ctx;
use anyhow::{Context, Result, bail};
use std::path::PathBuf;

/// What to boot and what to show.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The kernel series: the newest Debian package of it is fetched once and kept.
    #[arg(long, default_value = "6.12", value_name = "SERIES")]
    kernel: String,
    /// Run this scenario alone (may be given more than once).
    #[arg(long = "scenario", value_name = "NAME", value_parser = names())]
    scenarios: Vec<String>,
    /// Where the console goes [default: a file per boot under target/vm].
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Show the console while it runs.
    #[arg(long, short)]
    verbose: bool,
}

impl Default for Args {
    /// Every scenario on the kernel that CI uses.
    fn default() -> Self {
        let kernel = "6.12".to_owned();
        Self { kernel, scenarios: Vec::new(), log: None, verbose: false }
    }
}

/// One boot: scenarios that need the same kernel command line.
struct Boot {
    name: &'static str,
    scenarios: &'static [&'static str],
    /// Words added to the kernel command line.
    cmdline: &'static str,
}

/// `relaxed` lets the player write registers that the kernel's driver holds; `strict` is how
/// machines really run.
const BOOTS: [Boot; 2] = [
    Boot { name: "relaxed", scenarios: &["watching", "agreeing"], cmdline: "iomem=relaxed" },
    Boot { name: "strict", scenarios: &["governing", "killed", "yielding", "voting"], cmdline: "" },
];

fn names() -> clap::builder::PossibleValuesParser {
    let names = BOOTS.iter().flat_map(|boot| boot.scenarios);
    clap::builder::PossibleValuesParser::new(names.copied().collect::<Vec<_>>())
}

/// Builds, boots, judges; an error when anything but a full pass came out.
///
/// # Errors
/// When something is missing, does not build or boot, or a scenario failed.
pub(crate) fn run(ctx: &Ctx, args: &Args) -> Result<()> {
    needs::ensure()?;
    let dir = ctx.target_dir.join("vm");
    std::fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
    let kernel = kernel::fetch(&dir, &args.kernel)?;
    let module = kmod::build(ctx, &dir, &kernel)?;
    let programs = guest::build(ctx)?;
    let initramfs = initramfs::write(ctx, &dir, &kernel, &programs, &module)?;
    let dtb = tree::build(ctx, &dir)?;
    let machine = qemu::Machine { kernel: kernel.image.clone(), initramfs, dtb };
    let mut report = summary::Report::default();
    for boot in &BOOTS {
        let wanted = boot.wanted(&args.scenarios);
        if wanted.is_empty() {
            continue;
        }
        let log = args.log_of(boot, &dir);
        eprintln!("vm: booting {} ({}), console in {}", kernel.release, boot.name, log.display());
        let cmdline = format!("{} bwmon.scenarios={}", boot.cmdline, wanted.join(","));
        let end = machine.boot(&cmdline, &log, args.verbose)?;
        report.add(boot.name, &wanted, end);
    }
    println!("{report}\n");
    if !report.passed() {
        bail!("the virtual machine's verdict is not a pass");
    }
    Ok(())
}

impl Boot {
    /// Those of its scenarios that were asked for; all when none was named.
    fn wanted(&self, asked: &[String]) -> Vec<&'static str> {
        let all = self.scenarios.iter().copied();
        all.filter(|name| asked.is_empty() || asked.iter().any(|a| a == name)).collect()
    }
}

impl Args {
    /// With `--log`, two boots must not write the same file.
    fn log_of(&self, boot: &Boot, dir: &std::path::Path) -> PathBuf {
        match &self.log {
            None => dir.join(format!("console-{}.log", boot.name)),
            Some(file)
                if BOOTS.iter().filter(|b| !b.wanted(&self.scenarios).is_empty()).count() < 2 =>
            {
                file.clone()
            }
            Some(file) => file.with_added_extension(boot.name),
        }
    }
}
