//! Where `nodes.dts` puts the block, and the registers (v4, unified) that the bench touches.

/// The platform device of the monitor.
pub(crate) const MONITOR: &str = "7fe00000.pmu";
/// The devfreq device of the interconnect.
pub(crate) const DEVFREQ: &str = "interconnect@7fe10000";
/// The kernel driver that owns the monitor.
pub(crate) const DRIVER: &str = "qcom-bwmon";
/// Physical address of the block.
pub(crate) const BASE: u64 = 0x7fe0_0000;
/// Bytes to map: the block and the rest of its page.
pub(crate) const BYTES: usize = 0x1000;
/// The monitor's interrupt.
pub(crate) const SPI: u32 = 100;

/// Whether the block may interrupt at all.
pub(crate) const GLOBAL_IRQ_ENABLE: u32 = 0x00c;
/// Which zones may interrupt, bits 7:4.
pub(crate) const IRQ_ENABLE: u32 = 0x10c;
/// Which zones want attention, bits 7:4.
pub(crate) const IRQ_STATUS: u32 = 0x100;
/// The largest count of a window seen in a zone, for zone 0; the others follow.
pub(crate) const ZONE_MAX: u32 = 0x2e0;

/// The status bit of a zone.
pub(crate) fn status_bit(zone: u32) -> u32 {
    1 << (4 + zone)
}

/// The maximum register of a zone.
pub(crate) fn zone_max(zone: u32) -> u32 {
    ZONE_MAX + 4 * zone
}
