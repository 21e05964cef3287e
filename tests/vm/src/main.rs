//! The guest of the virtual machine: PID 1, the hardware player, the scenarios.
//!
//! As `/init` it mounts, inserts the drivers, runs the scenarios that the kernel command line
//! names, prints one verdict line and powers off. `role.rs` has what else it can be.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test program: it reads clocks and files and starts processes; the road does not"
)]

mod agent;
mod cmdline;
mod gic;
mod interconnect;
mod machine;
mod modules;
mod mounts;
mod physmem;
mod player;
mod registers;
mod role;
mod scenario;
mod tracefs;
mod verdict;
mod vote;
mod wait;

use anyhow::{Result, bail};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use verdict::Verdict;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some(code) = role::play(&words) {
        return code;
    }
    let verdict = catch_unwind(AssertUnwindSafe(boot))
        .unwrap_or_else(|panic| Verdict::broken(&verdict::panic_text(panic.as_ref())));
    verdict.print();
    power_off();
    ExitCode::FAILURE
}

/// Everything up to the verdict.
fn boot() -> Verdict {
    match prepare() {
        Ok(options) => scenario::run_all(&options),
        Err(error) => Verdict::broken(&format!("{error:#}")),
    }
}

/// A machine in which the scenarios can run.
fn prepare() -> Result<cmdline::Options> {
    if !rustix::process::getpid().is_init() {
        bail!("this program is the init of a virtual machine: start it with `cargo xtask vm`");
    }
    mounts::mount_all()?;
    let options = cmdline::Options::read()?;
    modules::insert_all()?;
    machine::wait_until_ready(options.driver)?;
    Ok(options)
}

/// Ends the machine; with QEMU's `-no-reboot` that ends the emulator.
fn power_off() {
    if rustix::process::getpid().is_init() {
        let answer = rustix::system::reboot(rustix::system::RebootCommand::PowerOff);
        println!("bwmon-vm: power off: {answer:?}");
    }
}
