//! Why registers cannot be reached through `/dev/mem`: what the system answered, and what tells one
//! reason for the same answer from another.

use rustix::io::Errno;
use std::path::{Path, PathBuf};

/// CAP_SYS_RAWIO, as a bit of `CapEff`: `open_mem` of drivers/char/mem.c asks for it.
pub(super) const SYS_RAWIO: u32 = 17;

/// Why the registers cannot be reached.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// There is no `/dev/mem`.
    #[error("{}: not there; the kernel was built without CONFIG_DEVMEM", .0.display())]
    NoDevMem(PathBuf),
    /// The file's own permissions.
    #[error("{}: the file's permissions forbid it; it belongs to root (mode 0640)", .0.display())]
    Permission(PathBuf),
    /// The process lacks the capability.
    #[error(
        "/dev/mem needs CAP_SYS_RAWIO, which this process does not have: run as root, or give the \
         service that capability (containers drop it)"
    )]
    Capability,
    /// Kernel lockdown.
    #[error(
        "/dev/mem is closed by kernel lockdown ({0}); use --shadow, or boot without lockdown \
         (secure boot turns it on)"
    )]
    Lockdown(String),
    /// Refused although the process may and the kernel is not locked down.
    #[error(
        "{}: refused although CAP_SYS_RAWIO is there and the kernel is not locked down; a security \
         module (SELinux, AppArmor) or a device cgroup stands before it", .0.display()
    )]
    Policy(PathBuf),
    /// The page is claimed by a driver.
    #[error(
        "the registers at {address:#x} are claimed by {by} (IO_STRICT_DEVMEM); its driver has to be \
         unbound first"
    )]
    Claimed {
        /// Physical address.
        address: u64,
        /// Whose region it is, by /proc/iomem.
        by: String,
    },
    /// The kernel maps nothing there.
    #[error(
        "the kernel refuses to map the registers at {address:#x}: CONFIG_STRICT_DEVMEM, and no driver \
         claims them in /proc/iomem; it takes them for RAM, or /proc/iomem hides its addresses"
    )]
    Strict {
        /// Physical address.
        address: u64,
    },
    /// Anything else.
    #[error("the registers at {address:#x} cannot be mapped: {error}")]
    Other {
        /// Physical address.
        address: u64,
        /// What the system said.
        error: Errno,
    },
}

/// Why `/dev/mem` at `path` could not be opened. `capabilities` is the effective mask, if it is known,
/// and `lockdown` the mode, if it is one.
pub(super) fn not_opened(
    path: &Path,
    error: Errno,
    address: u64,
    capabilities: Option<u64>,
    lockdown: Option<String>,
) -> RegisterError {
    let lacks = capabilities.is_some_and(|mask| mask & (1 << SYS_RAWIO) == 0);
    match (error, lockdown) {
        (Errno::NOENT | Errno::NXIO | Errno::NODEV, _) => RegisterError::NoDevMem(path.to_owned()),
        (Errno::ACCESS, _) => RegisterError::Permission(path.to_owned()),
        // The capability is asked for before lockdown is.
        (Errno::PERM, _) if lacks => RegisterError::Capability,
        (Errno::PERM, Some(mode)) => RegisterError::Lockdown(mode),
        (Errno::PERM, None) => RegisterError::Policy(path.to_owned()),
        (error, _) => RegisterError::Other { address, error },
    }
}

/// Why `size` bytes at `address` could not be mapped; `iomem` is the text of `/proc/iomem`.
pub(super) fn not_mapped(error: Errno, address: u64, size: u64, iomem: &str) -> RegisterError {
    match (error, claimer(iomem, address, size)) {
        (Errno::PERM | Errno::ACCESS, Some(by)) => RegisterError::Claimed { address, by },
        (Errno::PERM | Errno::ACCESS, None) => RegisterError::Strict { address },
        (error, _) => RegisterError::Other { address, error },
    }
}

/// The innermost region of `iomem` that overlaps the registers: `01436400-014369ff : 1436400.pmu`.
/// Without CAP_SYS_ADMIN all addresses read as 0, and nothing is found.
fn claimer(iomem: &str, address: u64, size: u64) -> Option<String> {
    let hex = |text: &str| u64::from_str_radix(text.trim(), 16).ok();
    // Inner regions come after those that hold them.
    iomem.lines().rev().find_map(|line| {
        let (range, name) = line.split_once(" : ")?;
        let (start, end) = range.split_once('-')?;
        let (start, end) = (hex(start)?, hex(end)?);
        let overlaps = end > 0 && start < address + size && end >= address;
        overlaps.then(|| name.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Option<u64> = Some(u64::MAX);

    fn opened(error: Errno, capabilities: Option<u64>, lockdown: Option<&str>) -> RegisterError {
        let mode = lockdown.map(str::to_owned);
        not_opened(Path::new("/dev/mem"), error, 0x143_6400, capabilities, mode)
    }

    #[test]
    fn a_missing_capability_is_told_from_lockdown_and_from_a_security_module() {
        // Bit 17 is CAP_SYS_RAWIO.
        assert_eq!(opened(Errno::PERM, Some(!(1 << 17)), None), RegisterError::Capability);
        let locked = opened(Errno::PERM, Some(0), Some("integrity"));
        assert_eq!(locked, RegisterError::Capability, "asked for first");
        let locked = opened(Errno::PERM, ALL, Some("integrity"));
        assert_eq!(locked, RegisterError::Lockdown("integrity".into()));
        let refused = opened(Errno::PERM, ALL, None);
        assert_eq!(refused, RegisterError::Policy("/dev/mem".into()));
        // Capabilities that cannot be read are not taken for missing.
        assert_eq!(opened(Errno::PERM, None, None), refused);
    }

    #[test]
    fn no_device_and_the_files_permissions_have_their_own_words() {
        assert_eq!(opened(Errno::NOENT, ALL, None), RegisterError::NoDevMem("/dev/mem".into()));
        assert_eq!(opened(Errno::ACCESS, ALL, None), RegisterError::Permission("/dev/mem".into()));
        let other = opened(Errno::MFILE, ALL, None);
        assert_eq!(other, RegisterError::Other { address: 0x143_6400, error: Errno::MFILE });
    }

    #[test]
    fn a_claimed_region_is_named_and_an_unclaimed_one_is_strict_devmem() {
        let iomem = "00000000-0fffffff : soc@0\n  01436400-014369ff : 1436400.pmu pmu@1436400\n\
                     80000000-8fffffff : System RAM\n";
        let mapped = |address| not_mapped(Errno::PERM, address, 0x600, iomem);
        let by = "1436400.pmu pmu@1436400".to_owned();
        assert_eq!(mapped(0x143_6400), RegisterError::Claimed { address: 0x143_6400, by });
        let by = "System RAM".to_owned();
        assert_eq!(mapped(0x8000_0000), RegisterError::Claimed { address: 0x8000_0000, by });
        assert_eq!(mapped(0x2000_0000), RegisterError::Strict { address: 0x2000_0000 });
        // As an unprivileged reader sees it.
        let hidden = "00000000-00000000 : soc@0\n  00000000-00000000 : 1436400.pmu\n";
        let unknown = not_mapped(Errno::PERM, 0x143_6400, 0x600, hidden);
        assert_eq!(unknown, RegisterError::Strict { address: 0x143_6400 });
        let other = not_mapped(Errno::AGAIN, 0x143_6400, 0x600, iomem);
        assert_eq!(other, RegisterError::Other { address: 0x143_6400, error: Errno::AGAIN });
    }
}
