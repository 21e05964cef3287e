//! The emulator: the machine's hardware, and one boot of it.

use super::console::{self, Console, End};
use anyhow::{Context, Result};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The parts of the machine that do not change between boots.
pub(crate) struct Machine {
    pub(crate) kernel: PathBuf,
    pub(crate) initramfs: PathBuf,
    pub(crate) dtb: PathBuf,
}

/// QEMU with the machine's hardware and nothing to boot; `option` is added to `-M`.
pub(crate) fn command(option: &str) -> Command {
    let mut qemu = Command::new("qemu-system-aarch64");
    qemu.arg("-M").arg(format!("virt,gic-version=2{option}"));
    qemu.args(["-cpu", "cortex-a72", "-smp", "2", "-m", "1024"]);
    // No network card: its option ROM is in a package that nothing else here needs.
    qemu.args(["-net", "none", "-display", "none", "-monitor", "none", "-serial", "stdio"]);
    qemu.arg("-no-reboot");
    qemu
}

impl Machine {
    /// Boots with these words added to the kernel command line, until the verdict.
    ///
    /// # Errors
    /// When QEMU cannot be started or the log cannot be written; a bad end is not an error.
    pub(crate) fn boot(&self, cmdline: &str, log: &Path, verbose: bool) -> Result<End> {
        let log = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut qemu = command("");
        qemu.arg("-kernel").arg(&self.kernel).arg("-initrd").arg(&self.initramfs);
        qemu.arg("-dtb").arg(&self.dtb).arg("-append");
        // A panicking guest reboots, which ends the emulator (-no-reboot).
        qemu.arg(format!("console=ttyAMA0 rdinit=/init panic=-1 oops=panic {cmdline}"));
        let child = qemu.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut running = Running(child.context("cannot start qemu-system-aarch64")?);
        let output = running.0.stdout.take().context("QEMU has no console")?;
        let mut console = Console::new(console::lines_of(output), log, verbose);
        let end = console.watch()?;
        if matches!(end, End::Verdict(_)) {
            console.drain()?;
        }
        Ok(end)
    }
}

/// An emulator that does not outlive its guard.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let ended = self.0.kill().and_then(|()| self.0.wait());
        if let Err(error) = ended {
            eprintln!("vm: cannot end QEMU: {error}");
        }
    }
}
