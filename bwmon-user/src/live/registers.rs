//! A monitor's registers, mapped: through UIO where a driver offers them, else through `/dev/mem`.

use super::devmem::{self, RegisterError};
use super::mapping::Mapping;
use super::root::Root;
use super::uio::Uio;
use super::vote_device::VOTE_DRIVER;
use crate::board::Monitor;
use crate::bwmon::{Offset, Region, Registers};
use rustix::io::Errno;
use std::os::fd::OwnedFd;

/// The mapped registers of one monitor.
#[derive(Debug)]
pub struct MappedRegisters {
    monitor: Mapping,
    global: Option<Mapping>,
    /// The device that they were mapped through; it has to stay open.
    uio: Option<Uio>,
}

impl MappedRegisters {
    /// Maps all regions of `monitor` through `/dev/mem`.
    ///
    /// # Errors
    /// Why a region cannot be mapped.
    pub fn open(root: &Root, monitor: &Monitor) -> Result<Self, RegisterError> {
        let mut regions = monitor.reg.iter().map(|(a, s)| devmem::map(root, *a, *s));
        let none = RegisterError::Other { address: 0, error: Errno::INVAL };
        let first = regions.next().unwrap_or(Err(none))?;
        Ok(Self { monitor: first, global: regions.next().transpose()?, uio: None })
    }

    /// Maps all regions of `monitor` through `uio`, which has to be this monitor's.
    ///
    /// # Errors
    /// Why a region cannot be mapped, or that it is another one.
    pub(super) fn through(uio: Uio, monitor: &Monitor) -> anyhow::Result<Self> {
        let mut regions = (0..).zip(&monitor.reg).map(|(index, region)| uio.map(index, *region));
        let none = || Err(anyhow::anyhow!("the board gives it no registers"));
        let first = regions.next().unwrap_or_else(none)?;
        let global = regions.next().transpose()?;
        Ok(Self { monitor: first, global, uio: Some(uio) })
    }

    /// Whether the registers can still be touched: a driver that lets go of its device takes the
    /// mapping away, and who touches it then is ended by SIGBUS. A look before each reading leaves
    /// a few microseconds for that, not a run.
    pub fn alive(&self) -> bool {
        self.uio.as_ref().is_none_or(Uio::alive)
    }

    /// A file that can be read when the block has interrupted. `shared` says whether other monitors are
    /// on its line.
    ///
    /// # Errors
    /// Why it has none.
    pub(super) fn events(&self, shared: bool) -> Result<OwnedFd, &'static str> {
        let Some(uio) = &self.uio else {
            return Err("no driver offers its interrupt (UIO)");
        };
        // uio_pdrv_genirq masks the whole line, and the neighbours on it.
        if shared && uio.driver().as_deref() != Some(VOTE_DRIVER) {
            return Err("it shares its line, which only the module bwmon_vote can");
        }
        uio.events().ok_or("its UIO device has no interrupt")
    }

    /// Lets the next interrupt through.
    pub(super) fn unmask(&self) {
        if let Some(uio) = &self.uio {
            uio.unmask();
        }
    }

    fn region(&self, at: Offset) -> Option<&Mapping> {
        match at.region {
            Region::Monitor => Some(&self.monitor),
            Region::Global => self.global.as_ref(),
        }
    }
}

impl Registers for MappedRegisters {
    fn read32(&mut self, at: Offset) -> u32 {
        self.region(at).map_or(0, |region| region.read32(at.bytes))
    }

    fn write32(&mut self, at: Offset, value: u32) {
        if let Some(region) = self.region(at) {
            region.write32(at.bytes, value);
        }
    }
}
