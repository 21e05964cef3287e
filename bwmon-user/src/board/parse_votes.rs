//! The vote paths of a board file's domains.

use super::{
    BusDcvsPath, Check, DevfreqPath, IccPath, RawDevfreq, RawVoteDevice, VoteDevice, is_file_name,
};
use crate::diag::Diagnostic;
use crate::units::{Hz, Khz};
use toml::Spanned;

impl Check<'_> {
    pub(super) fn devfreq(
        &self,
        raw: RawDevfreq,
        levels: usize,
    ) -> Result<DevfreqPath, Diagnostic> {
        if !is_file_name(raw.device.get_ref()) {
            return Err(self
                .fault(raw.device.span(), format!("\"{}\" names no device", raw.device.get_ref()))
                .help("the name of a folder in /sys/class/devfreq"));
        }
        let freqs = raw.freq_hz.get_ref();
        if freqs.len() != levels {
            let message =
                format!("freq_hz has {} entries, the OPP table has {levels} rows", freqs.len());
            return Err(self
                .fault(raw.freq_hz.span(), message)
                .help("give one devfreq frequency in Hz for each level; neighbours may repeat"));
        }
        if freqs.contains(&Hz(0)) || !freqs.is_sorted() {
            return Err(self
                .fault(raw.freq_hz.span(), "freq_hz holds a zero or falls")
                .help("a higher level may not ask for a lower frequency"));
        }
        Ok(DevfreqPath {
            device: raw.device.into_inner(),
            freq_hz: raw.freq_hz.into_inner(),
            through: raw.through,
        })
    }

    pub(super) fn icc(
        &self,
        raw: Spanned<Vec<IccPath>>,
        columns: usize,
    ) -> Result<Vec<IccPath>, Diagnostic> {
        let paths = raw.get_ref();
        if paths.len() != columns {
            let message =
                format!("icc has {} paths, the OPP table has {columns} columns", paths.len());
            return Err(self
                .fault(raw.span(), message)
                .help("every column of a level is voted, so give one path for each"));
        }
        for path in paths {
            if !is_file_name(&path.src) || !is_file_name(&path.dst) || path.src == path.dst {
                let message = format!("\"{}\" to \"{}\" is no path", path.src, path.dst);
                return Err(self
                    .fault(raw.span(), message)
                    .help("two node names, as interconnect_summary prints them"));
            }
            if !(1..=0x1ff).contains(&path.tag) {
                return Err(self
                    .fault(raw.span(), format!("tag {} is none that is voted", path.tag))
                    .help("3 is ACTIVE_ONLY, 7 is ALWAYS; 0 would hold the bus in sleep too"));
            }
        }
        Ok(raw.into_inner())
    }

    pub(super) fn bus_dcvs(
        &self,
        raw: Spanned<BusDcvsPath>,
        levels: usize,
    ) -> Result<BusDcvsPath, Diagnostic> {
        let path = raw.get_ref();
        if !is_file_name(&path.hw) {
            return Err(self
                .fault(raw.span(), format!("\"{}\" names no block", path.hw))
                .help("the name of a folder in /sys/devices/system/cpu/bus_dcvs"));
        }
        let freqs = &path.freq_khz;
        if freqs.len() != levels || freqs.contains(&Khz(0)) || !freqs.is_sorted() {
            let message = format!("freq_kHz has to have {levels} rising entries, none 0");
            return Err(self
                .fault(raw.span(), message)
                .help("one frequency in kHz for each level; neighbours may repeat"));
        }
        Ok(raw.into_inner())
    }

    /// Without `paths`, the device's own in their order: one for each column.
    pub(super) fn vote_device(
        &self,
        raw: RawVoteDevice,
        columns: usize,
    ) -> Result<VoteDevice, Diagnostic> {
        if !is_file_name(raw.device.get_ref()) {
            return Err(self
                .fault(raw.device.span(), format!("\"{}\" names no device", raw.device.get_ref()))
                .help("the name of a folder in /sys/bus/platform/devices, such as 1436400.pmu"));
        }
        let Some(paths) = raw.paths else {
            let paths = (0..columns).map(|index| index.to_string()).collect();
            return Ok(VoteDevice { device: raw.device.into_inner(), paths });
        };
        let names = paths.get_ref();
        if names.len() != columns {
            let message =
                format!("vote names {} paths, the OPP table has {columns} columns", names.len());
            return Err(self
                .fault(paths.span(), message)
                .help("every column of a level is voted, so give one path for each"));
        }
        let word = |name: &str| {
            (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic())
        };
        if let Some(name) = names.iter().find(|name| !word(name)) {
            return Err(self
                .fault(paths.span(), format!("\"{name}\" names no path"))
                .help("an index, or a name in the node's interconnect-names"));
        }
        Ok(VoteDevice { device: raw.device.into_inner(), paths: paths.into_inner() })
    }
}
