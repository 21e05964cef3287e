//! The project's own kernel module: binding it, voting through its device, letting go.

use crate::physmem::Window;
use crate::registers::{BYTES, DRIVER, IRQ_STATUS, MONITOR};
use crate::{agent, interconnect, machine, modules, wait};
use anyhow::{Context, Result, bail, ensure};
use rustix::io::Errno;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The module's driver on the platform bus.
pub(crate) const VOTE_DRIVER: &str = "bwmon-vote";
/// What `main` looks for to hold a vote until it is ended.
pub(crate) const HOLDER: &str = "holder";
/// What `main` looks for to read a register until that is its end.
pub(crate) const TOUCHER: &str = "toucher";
/// Printed once a register was read.
const TOUCHING: &str = "toucher: touching";
/// Printed once the vote is in force.
const HOLDING: &str = "holder: holding";

/// The nodes at both ends of the monitor's path.
const NODES: [&str; 2] = ["A53", "NOC"];
const PLATFORM: &str = "/sys/bus/platform";

/// The monitor's vote device.
pub(crate) fn device() -> PathBuf {
    Path::new("/dev").join(format!("bwmon-vote-{MONITOR}"))
}

/// The monitor in our module's hands; it goes back to the kernel's driver, where the kernel has
/// one, when this is dropped.
pub(crate) struct Lent {
    had_driver: bool,
}

impl Lent {
    /// Inserts the module and gives it the monitor.
    pub(crate) fn take() -> Result<Self> {
        modules::insert("bwmon_vote.ko")?;
        let lent = Self { had_driver: machine::driver_is_bound() };
        if lent.had_driver {
            write("drivers", DRIVER, "unbind", MONITOR)?;
        }
        bind()?;
        Ok(lent)
    }

    /// Gives the monitor back, and says what went wrong.
    pub(crate) fn give_back(self) -> Result<()> {
        self.undo()
    }

    fn undo(&self) -> Result<()> {
        if is_bound() {
            unbind()?;
        }
        write("devices", MONITOR, "driver_override", "\n")?;
        if self.had_driver && !machine::driver_is_bound() {
            write("drivers", DRIVER, "bind", MONITOR)?;
        }
        ensure!(machine::driver_is_bound() == self.had_driver, "{DRIVER} did not take it back");
        Ok(())
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let done = machine::driver_is_bound() == self.had_driver && !is_bound();
        if !done && let Err(error) = self.undo() {
            println!("bwmon-vm: give {MONITOR} back: {error:#}");
        }
    }
}

/// What the framework says of the monitor's vote.
pub(crate) fn in_force() -> Result<(u64, u64)> {
    interconnect::vote_of(MONITOR, &NODES)
}

/// Whether our module has the monitor.
pub(crate) fn is_bound() -> bool {
    Path::new(PLATFORM).join("drivers").join(VOTE_DRIVER).join(MONITOR).exists()
}

/// Names our driver and binds it.
pub(crate) fn bind() -> Result<()> {
    write("devices", MONITOR, "driver_override", VOTE_DRIVER)?;
    write("drivers", VOTE_DRIVER, "bind", MONITOR)?;
    // devtmpfs makes the node from a thread of its own.
    wait::until("the vote device", Duration::from_secs(5), || Ok(device().exists().then_some(())))
}

/// Takes the monitor away from our driver.
pub(crate) fn unbind() -> Result<()> {
    write("drivers", VOTE_DRIVER, "unbind", MONITOR)
}

fn write(kind: &str, name: &str, attribute: &str, value: &str) -> Result<()> {
    let path = Path::new(PLATFORM).join(kind).join(name).join(attribute);
    std::fs::write(&path, value).with_context(|| format!("write {value:?} to {}", path.display()))
}

/// One open vote device: its votes last as long as it does.
pub(crate) struct Votes(File);

impl Votes {
    /// Opens the device.
    pub(crate) fn open() -> Result<Self> {
        let path = device();
        let file = File::options().read(true).write(true).open(&path);
        Ok(Self(file.with_context(|| format!("open {}", path.display()))?))
    }

    /// Writes one line; the kernel's own errno when it refuses.
    pub(crate) fn write(&self, line: &[u8]) -> std::result::Result<(), Errno> {
        match (&self.0).write(line) {
            Ok(count) if count == line.len() => Ok(()),
            Ok(_) => Err(Errno::IO),
            Err(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
        }
    }

    /// Votes on a path, by name or index.
    pub(crate) fn vote(&self, path: &str, avg_kbps: u64, peak_kbps: u64) -> Result<()> {
        let line = format!("{path} {avg_kbps} {peak_kbps}\n");
        self.write(line.as_bytes()).with_context(|| format!("vote {line:?}"))
    }

    /// The row of path 0: name, own average and peak, average and peak of all.
    pub(crate) fn row(&self) -> Result<(String, [u64; 4])> {
        let text = self.text().context("read the vote device")?;
        let lines: Vec<&str> = text.lines().collect();
        let [version, heading, row] = lines.as_slice() else {
            bail!("the vote device should give one path: {text:?}");
        };
        ensure!(*version == format!("bwmon-vote 1 {MONITOR}"), "{version:?}");
        ensure!(heading.starts_with("path name avg_kBps"), "{heading:?}");
        let mut words = row.split(' ');
        ensure!(words.next() == Some("0"), "{row:?}");
        let name = words.next().context("no name")?.to_owned();
        let numbers: Vec<u64> = words.map(str::parse).collect::<Result<_, _>>()?;
        Ok((name, numbers.try_into().map_err(|other| anyhow::anyhow!("{other:?}"))?))
    }

    /// What a read from the start gives.
    pub(crate) fn text(&self) -> std::io::Result<String> {
        let mut buffer = [0; 4096];
        let count = self.0.read_at(&mut buffer, 0)?;
        Ok(String::from_utf8_lossy(buffer.get(..count).unwrap_or_default()).into_owned())
    }
}

/// Starts a process that holds a vote on path 0.
pub(crate) fn holder(peak_kbps: u64) -> Result<agent::Agent> {
    let mut holder = agent::Agent::start("/init", HOLDER, &[HOLDER, &peak_kbps.to_string()])?;
    holder.wait_for_line(HOLDING, Duration::from_secs(10))?;
    Ok(holder)
}

/// The holder's main: votes, says so, and sleeps until it is ended.
pub(crate) fn hold(words: &[String]) -> Result<()> {
    let [peak] = words else { bail!("usage: holder PEAK_KBPS") };
    let votes = Votes::open()?;
    votes.vote("0", 0, peak.parse().context("peak")?)?;
    println!("{HOLDING}");
    loop {
        std::thread::park();
    }
}

/// The monitor's UIO device, as a folder of sysfs.
pub(crate) fn uio() -> Result<PathBuf> {
    let folder = Path::new(PLATFORM).join("devices").join(MONITOR).join("uio");
    let list = std::fs::read_dir(&folder).with_context(|| format!("list {}", folder.display()))?;
    Ok(list.flatten().next().context("no UIO device")?.path())
}

/// Its node in `/dev`.
pub(crate) fn uio_node() -> Result<PathBuf> {
    Ok(Path::new("/dev").join(uio()?.file_name().context("no name")?))
}

/// Starts a process that has the block mapped through UIO and reads it.
pub(crate) fn toucher() -> Result<agent::Agent> {
    let mut toucher = agent::Agent::start("/init", TOUCHER, &[TOUCHER])?;
    toucher.wait_for_line(TOUCHING, Duration::from_secs(10))?;
    Ok(toucher)
}

/// The toucher's main.
pub(crate) fn touch() -> Result<()> {
    let window = Window::map_file(&uio_node()?, 0, BYTES).context("map the block")?;
    window.read32(IRQ_STATUS)?;
    println!("{TOUCHING}");
    loop {
        window.read32(IRQ_STATUS)?;
        std::thread::yield_now();
    }
}
