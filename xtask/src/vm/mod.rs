//! `cargo xtask vm`: the real driver in a virtual machine, our agent beside it, one verdict.
//!
//! A stock Debian arm64 kernel under QEMU, with the nodes of `tests/vm/nodes.dts` and an initramfs
//! that holds our two programs and our kernel module. What happens inside is in `tests/vm/src`.

mod boots;
mod console;
mod cpio;
mod foreign;
mod guest;
mod headers;
mod initramfs;
mod kernel;
mod kmod;
mod modules;
mod qemu;
mod summary;
mod tree;
mod verdict;

use crate::ctx::Ctx;
use crate::tools::needs;
use anyhow::{Context, Result, bail};
use boots::{BOOTS, Boot, Scenario};
use kernel::NEWEST;
use std::path::{Path, PathBuf};

/// The kernel that CI uses.
const DEFAULT: &str = "6.12";
/// Those on which the rest is shown: one without the kernel's driver, and whatever is newest.
const ALL: [&str; 3] = ["6.1", DEFAULT, NEWEST];

/// What to boot and what to show.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The kernel series, or `newest`: Debian's newest of it is fetched once and kept.
    #[arg(long, default_value = DEFAULT, value_name = "SERIES", value_parser = series)]
    kernel: String,
    /// Every kernel that bwmon is tried on: 6.1, 6.12, newest.
    #[arg(long, conflicts_with = "kernel")]
    all_kernels: bool,
    /// Run this scenario alone (may be given more than once).
    #[arg(long = "scenario", value_name = "NAME",
        value_parser = clap::builder::PossibleValuesParser::new(boots::names()))]
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
        Self {
            kernel: DEFAULT.to_owned(),
            all_kernels: false,
            scenarios: Vec::new(),
            log: None,
            verbose: false,
        }
    }
}

/// Two numbers, or the word. It becomes part of a file name and of a search pattern.
fn series(text: &str) -> Result<String, String> {
    let number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let two = text.split_once('.').is_some_and(|(major, minor)| number(major) && number(minor));
    if text == NEWEST || two {
        return Ok(text.to_owned());
    }
    Err(format!("a series is two numbers, such as {DEFAULT}, or `{NEWEST}`"))
}

/// Builds, boots, judges; an error when anything but a full pass came out.
///
/// # Errors
/// When something is missing, does not build or boot, or a scenario failed.
pub(crate) fn run(ctx: &Ctx, args: &Args) -> Result<()> {
    needs::ensure(&needs::BENCH)?;
    let dir = ctx.target_dir.join("vm");
    std::fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
    let mut report = summary::Report::default();
    let kernels = if args.all_kernels { ALL.to_vec() } else { vec![args.kernel.as_str()] };
    for series in kernels {
        on_kernel(ctx, args, &dir, series, &mut report)
            .with_context(|| format!("kernel {series}"))?;
    }
    println!("{report}\n");
    if !report.passed() {
        bail!("the virtual machine's verdict is not a pass");
    }
    Ok(())
}

fn on_kernel(
    ctx: &Ctx,
    args: &Args,
    dir: &Path,
    series: &str,
    report: &mut summary::Report,
) -> Result<()> {
    let kernel = kernel::fetch(dir, series)?;
    let modules = modules::find(&kernel)?;
    let module = kmod::build(ctx, dir, &kernel)?;
    let programs = guest::build(ctx)?;
    let initramfs = initramfs::write(ctx, dir, &modules, &programs, &module)?;
    let dtb = tree::build(ctx, dir)?;
    let machine = qemu::Machine { kernel: kernel.image.clone(), initramfs, dtb };
    let prefix = if series == DEFAULT { String::new() } else { format!("{series}::") };
    for boot in &BOOTS {
        let (absent, wanted): (Vec<Scenario>, Vec<Scenario>) = boot
            .wanted(&args.scenarios)
            .into_iter()
            .partition(|one| one.needs_driver && !modules.driver);
        for scenario in absent {
            let why = format!("{} has no icc-bwmon", kernel.release);
            report.absent(format!("{prefix}{}", scenario.name), why);
        }
        if wanted.is_empty() {
            continue;
        }
        let wanted: Vec<&str> = wanted.iter().map(|one| one.name).collect();
        let log = args.log_of(boot, series, dir);
        eprintln!("vm: booting {} ({}), console in {}", kernel.release, boot.name, log.display());
        let driver = if modules.driver { "yes" } else { "no" };
        let scenarios = wanted.join(",");
        let cmdline = format!("{} bwmon.driver={driver} bwmon.scenarios={scenarios}", boot.cmdline);
        let end = machine.boot(&cmdline, &log, args.verbose)?;
        report.add(&prefix, boot.name, &wanted, end);
    }
    Ok(())
}

impl Args {
    /// With `--log`, two boots must not write the same file.
    fn log_of(&self, boot: &Boot, series: &str, dir: &Path) -> PathBuf {
        match &self.log {
            None => dir.join(format!("console-{series}-{}.log", boot.name)),
            Some(file)
                if !self.all_kernels
                    && BOOTS.iter().filter(|b| !b.wanted(&self.scenarios).is_empty()).count()
                        < 2 =>
            {
                file.clone()
            }
            Some(file) => file.with_added_extension(format!("{series}-{}", boot.name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::series;

    #[test]
    fn a_series_is_two_numbers_or_the_newest() {
        for good in ["6.1", "6.12", "newest"] {
            assert_eq!(series(good).as_deref(), Ok(good));
        }
        for bad in ["", "6", "6.", "6.1.2", "../6.1", "6.*", "latest"] {
            assert!(series(bad).is_err(), "{bad}");
        }
    }
}
