//! The state of the machine that the scenarios compare before and after.

use crate::registers::{DEVFREQ, DRIVER, MONITOR};
use crate::wait;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(20);

/// Waits until the monitor has its driver, if there is to be one, and the interconnect its devfreq
/// device.
pub(crate) fn wait_until_ready(driver: bool) -> Result<()> {
    if driver {
        wait::until("the bwmon driver to bind", PATIENCE, || Ok(driver_is_bound().then_some(())))?;
    }
    wait::until("the devfreq device", PATIENCE, || Ok(devfreq("governor").exists().then_some(())))
}

/// Whether the kernel's driver holds the monitor.
pub(crate) fn driver_is_bound() -> bool {
    Path::new("/sys/bus/platform/drivers").join(DRIVER).join(MONITOR).exists()
}

/// An attribute of the devfreq device.
pub(crate) fn devfreq(attribute: &str) -> PathBuf {
    Path::new("/sys/class/devfreq").join(DEVFREQ).join(attribute)
}

/// A sysfs or procfs file, trimmed.
pub(crate) fn read(path: &Path) -> Result<String> {
    let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    Ok(text.trim().to_owned())
}

/// How often the monitor's interrupt has been taken, over all CPUs.
pub(crate) fn interrupts() -> Result<u64> {
    let table = read(Path::new("/proc/interrupts"))?;
    let line = table
        .lines()
        .find(|line| line.contains(MONITOR))
        .with_context(|| format!("/proc/interrupts has no line for {MONITOR}"))?;
    let counts = line.split_whitespace().skip(1).map_while(|word| word.parse::<u64>().ok());
    Ok(counts.sum())
}

/// What an agent may change and has to put back.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Snapshot(BTreeMap<&'static str, String>);

impl Snapshot {
    /// The state now.
    pub(crate) fn take() -> Result<Self> {
        let mut all = Self::without_votes()?;
        all.0.insert("min_freq", read(&devfreq("min_freq"))?);
        Ok(all)
    }

    /// The state now, without what the kernel's driver itself changes by voting: on this bench its
    /// interconnect votes show as the devfreq device's lowest frequency.
    pub(crate) fn without_votes() -> Result<Self> {
        let mut state = BTreeMap::new();
        for attribute in ["governor", "max_freq"] {
            state.insert(attribute, read(&devfreq(attribute))?);
        }
        state.insert("driver", if driver_is_bound() { DRIVER.into() } else { String::new() });
        Ok(Self(state))
    }

    /// An error that lists every difference to `earlier`.
    pub(crate) fn must_equal(&self, earlier: &Self) -> Result<()> {
        let changed: Vec<String> = earlier
            .0
            .iter()
            .filter_map(|(name, was)| {
                let is = self.0.get(name).map_or("missing", String::as_str);
                (is != was).then(|| format!("{name}: {was:?} became {is:?}"))
            })
            .collect();
        if !changed.is_empty() {
            bail!("the machine is not as before: {}", changed.join(", "));
        }
        Ok(())
    }
}

/// The kernel's own complaint flags: an error if it warned or oopsed since boot.
pub(crate) fn must_be_untainted() -> Result<u64> {
    const DIED: u64 = 1 << 7;
    const WARNED: u64 = 1 << 9;
    let flags: u64 = read(Path::new("/proc/sys/kernel/tainted"))?.parse().context("tainted")?;
    if flags & (DIED | WARNED) != 0 {
        bail!("the kernel warned or oopsed (taint {flags:#x}): see the console log");
    }
    Ok(flags)
}
