//! `doctor`: what this machine offers, how that was found out, and what is lost without it.

use super::binding::{Binding, KERNEL_DRIVER};
use super::bus_dcvs::BUS_DCVS;
use super::devmem::lockdown;
use super::devmem_error::SYS_RAWIO;
use super::identity::memory_clocks;
use super::in_force::{InForce, in_force};
use super::machine::Machine;
use super::probes::{Loader, ProbeError};
use super::reached::Reached;
use super::root::names;
use super::uio;
use super::vote_device::VOTE_DRIVER;
use super::ways::{Way, ways};
use super::{icc_client, voter};
use crate::board::Board;
use bwmon_common::Kind;
use serde::Serialize;

/// Something that a machine may offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Capability {
    /// Its name.
    pub name: String,
    /// Whether it is there.
    pub present: bool,
    /// How that was found out, and what was found.
    pub how: String,
    /// What is lost without it.
    pub without_it: String,
}

/// Everything that `doctor` found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The kernel's release.
    pub kernel: Option<String>,
    /// The board, if this machine is one that bwmon knows (or one was named).
    pub board: Option<String>,
    /// Why it is this board, or none.
    pub board_why: String,
    /// Whether `bwmon run` can govern this machine now.
    pub can_govern: bool,
    /// Whether `bwmon run --shadow` can.
    pub can_shadow: bool,
    /// One row per capability.
    pub capabilities: Vec<Capability>,
    /// Ways to vote, for each domain; `bwmon run` uses devfreq.
    pub ways: Vec<Way>,
    /// The votes in force, and floors that nobody voted.
    pub in_force: InForce,
    /// Whether the bandwidth that was reached fits the levels.
    pub bandwidth: Vec<Reached>,
}

/// Looks at `machine`, as a machine like `board` if that is known, `why` it is that one. The probes are loaded and let go;
/// what stays is a mounted tracefs, if it was not mounted before.
pub fn doctor(machine: &Machine, board: Option<&Board>, why: &str) -> Report {
    let mut rows = Vec::new();
    probes(machine, &mut rows);
    let updates = rows.iter().any(|row| row.present && row.name.contains("qcom_bwmon_update"));
    registers(machine, &mut rows);
    let devmem = rows.iter().any(|row| row.present && row.name == "/dev/mem");
    let (mut bound, mut governable) = (false, false);
    let mut found = Vec::new();
    if let Some(board) = board {
        bound = monitors(machine, board, &mut rows);
        found = ways(machine.root(), board);
        governable = vote_paths(machine, board, devmem, &mut rows);
    } else {
        rows.push(no_board(machine));
    }
    other_paths(machine, &mut rows);
    let in_force = in_force(machine.root(), board);
    rows.push(votes_row(&in_force));
    rows.push(memory_row(machine));
    let unknown = "no --journal was given and nothing was measured (--measure)";
    let domains = board.map_or(&[] as &[_], |board| &board.domains).iter();
    Report {
        kernel: machine.kernel(),
        board: board.map(|board| board.id.clone()),
        board_why: why.to_owned(),
        can_govern: governable,
        can_shadow: bound && updates,
        capabilities: rows,
        ways: found,
        in_force,
        bandwidth: domains.map(|domain| Reached::unknown(&domain.name, unknown)).collect(),
    }
}

fn row(
    name: impl Into<String>,
    present: bool,
    how: impl Into<String>,
    without_it: impl Into<String>,
) -> Capability {
    Capability { name: name.into(), present, how: how.into(), without_it: without_it.into() }
}

fn probes(machine: &Machine, rows: &mut Vec<Capability>) {
    let lost = "no votes of others, no CPU frequencies, no shadow: policies see the monitor alone";
    if !machine.root().is_machine() {
        rows.push(row("probes", false, "not looked for in a tree", lost));
        return;
    }
    match Loader::embedded().and_then(Loader::load) {
        Ok(set) => {
            let count = format!("{} of {} attached", set.attached.len(), Kind::COUNT);
            rows.push(row("probes", true, count, lost));
            for probe in &set.attached {
                let name = format!("probe {}", probe.event);
                rows.push(row(name, true, "attached to the tracepoint", ""));
            }
            for absent in &set.absent {
                let name = format!("probe {}", absent.event);
                rows.push(row(name, false, absent.why.clone(), absent.lost));
            }
        }
        Err(error) => {
            let how = match &error {
                ProbeError::NoObject => {
                    "built with a stub: no BPF linker was there (cargo xtask build-ebpf)".to_owned()
                }
                other => other.to_string(),
            };
            rows.push(row("probes", false, how, lost));
        }
    }
}

fn registers(machine: &Machine, rows: &mut Vec<Capability>) {
    let lost = "no reading of the counters: only --shadow, where the kernel's driver is bound";
    let path = machine.root().path("/dev/mem");
    let missing = machine.effective_capabilities().is_some_and(|mask| mask & (1 << SYS_RAWIO) == 0);
    let (present, how) = if !path.exists() {
        (false, "no /dev/mem: the kernel was built without CONFIG_DEVMEM".to_owned())
    } else if let Some(mode) = lockdown(machine.root()) {
        (false, format!("closed by kernel lockdown ({mode})"))
    } else if missing {
        (false, "CAP_SYS_RAWIO is missing".to_owned())
    } else {
        match std::fs::OpenOptions::new().read(true).write(true).open(&path) {
            Ok(_) => (true, "opened for reading and writing".to_owned()),
            Err(error) => (false, format!("cannot be opened: {error}")),
        }
    };
    rows.push(row("/dev/mem", present, how, lost));
}

fn no_board(machine: &Machine) -> Capability {
    let found = machine.bwmon_devices();
    let how = if found.is_empty() {
        "no BWMON device in the device tree, no known board".to_owned()
    } else {
        let names: Vec<&str> = found.iter().map(|(device, _)| device.as_str()).collect();
        format!("{} here, but no built-in board fits: give --board FILE", names.join(", "))
    };
    row("board", false, how, "nothing to govern: `bwmon sim` runs everything on a model")
}

/// Answers whether the kernel's driver has a monitor.
fn monitors(machine: &Machine, board: &Board, rows: &mut Vec<Capability>) -> bool {
    let mut bound = false;
    for monitor in &board.monitors {
        let binding = Binding::new(machine.root(), &monitor.device());
        let there = binding.present();
        let driver = binding.driver();
        let how = match (&driver, there) {
            (Some(driver), _) => format!("{} is bound to {driver}", monitor.device()),
            (None, true) => format!("{} is there, no driver is bound", monitor.device()),
            (None, false) => format!("no platform device {}", monitor.device()),
        };
        let how = match uio::find(machine.root(), &monitor.device()) {
            None => how,
            Some(dir) => {
                let node = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
                format!("{how}, which offers registers and interrupt as /dev/{node}")
            }
        };
        bound |= driver.as_deref() == Some(KERNEL_DRIVER);
        let name = format!("monitor {}", monitor.name);
        rows.push(row(name, there, how, "its domains are not measured"));
    }
    bound
}

/// Answers whether a domain has all of it: a vote path, a monitor on this machine, and its registers,
/// through `/dev/mem` or from the module that has the vote path.
fn vote_paths(machine: &Machine, board: &Board, devmem: bool, rows: &mut Vec<Capability>) -> bool {
    let mut any = false;
    for domain in &board.domains {
        let name = format!("vote path of {}", domain.name);
        let without = "decided and journalled, never written";
        match voter::open(machine.root(), domain) {
            Ok(None) => rows.push(row(name, false, "the board names none", without)),
            Ok(Some(voter)) => {
                any |= board.monitor_of(domain).is_some_and(|monitor| {
                    let device = monitor.device();
                    let module = domain.vote.as_ref().is_some_and(|vote| vote.device == device);
                    Binding::new(machine.root(), &device).present() && (devmem || module)
                });
                let level = voter.level_in_force().map_or_else(
                    || "unknown".to_owned(),
                    |level| format!("level {level} of {}", domain.table.top()),
                );
                let how = format!("{}: now {level}", voter.name());
                rows.push(row(name, true, how, without));
            }
            Err(error) => rows.push(row(name, false, format!("{error:#}"), without)),
        }
    }
    any
}

fn votes_row(in_force: &InForce) -> Capability {
    let lost =
        "who votes what is not known: a floor of somebody else's cannot be told from our own";
    let how = match &in_force.unknown {
        Some(why) => why.clone(),
        None => {
            format!("interconnect_summary read, {} node(s) of the domains", in_force.nodes.len())
        }
    };
    row("votes in force", in_force.unknown.is_none(), how, lost)
}

fn memory_row(machine: &Machine) -> Capability {
    let lost = "levels that the fitted memory lacks are not told from those that it has";
    let clocks = memory_clocks(machine.root());
    let how = clocks.as_ref().map_or_else(
        || "no qcom_smem/dram_frequencies in debugfs".to_owned(),
        |clocks| format!("{} clocks, from qcom_smem/dram_frequencies", clocks.len()),
    );
    row("clocks of the fitted memory", clocks.is_some(), how, lost)
}

fn other_paths(machine: &Machine, rows: &mut Vec<Capability>) {
    let devices = machine.devfreq_devices();
    let how = if devices.is_empty() {
        "/sys/class/devfreq is empty".to_owned()
    } else {
        devices.join(", ")
    };
    rows.push(row("devfreq devices", !devices.is_empty(), how, "no votes through devfreq"));
    let client = icc_client::find(machine.root());
    rows.push(row(
        "interconnect test client",
        client.is_some(),
        client.map_or_else(
            || "not in debugfs (stock kernels have none)".to_owned(),
            |path| path.display().to_string(),
        ),
        "no votes on interconnect paths from here",
    ));
    rows.push(vote_module(machine));
    let dcvs = machine.root().path(BUS_DCVS).exists();
    let how = if dcvs { BUS_DCVS } else { "Qualcomm vendor kernels only" };
    rows.push(row("bus_dcvs", dcvs, how, "no boost floors"));
}

/// The project's own kernel module, and the devices that it has.
fn vote_module(machine: &Machine) -> Capability {
    let folder = machine.root().path("/sys/bus/platform/drivers").join(VOTE_DRIVER);
    let there = folder.exists();
    let devices: Vec<String> = names(&folder).into_iter().filter(|n| n.contains('.')).collect();
    let how = match (there, devices.is_empty()) {
        (false, _) => "not loaded (bwmon-user/kmod/bwmon_vote)".to_owned(),
        (true, true) => "loaded; it has no device".to_owned(),
        (true, false) => format!("loaded; it has {}", devices.join(", ")),
    };
    let lost = "no interconnect votes on stock kernels, no interrupt of a block";
    row("kernel module bwmon_vote", there, how, lost)
}
