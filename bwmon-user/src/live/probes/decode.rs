//! From the bytes of a ring buffer record to a [`ProbeRecord`]. Total: any bytes get an answer.

use crate::event::{ProbeEvent, ProbeRecord, Writer};
use crate::units::{Hz, Kbps, Khz, Nanos};
use bwmon_common::{
    BwmonUpdate, COMM_BYTES, CpuFrequency, DevfreqFrequency, DevfreqMonitor, Header, IccSetBw,
    IccSetBwEnd, Kind, NAME_BYTES, Name,
};
use std::mem::offset_of;
use thiserror::Error;

/// Ends a name that the kernel had longer than [`NAME_BYTES`] lets through, so that it never
/// equals a whole one.
pub const CUT_MARK: char = '…';

/// Stands for a name that could not be read.
pub const UNREADABLE: &str = "<unreadable>";

/// Bytes that are no record of this ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// Not the size of its kind (or not even a header).
    #[error("a record of {got} bytes, wanted are {wanted}")]
    Size {
        /// Bytes of this kind, or of a header.
        wanted: usize,
        /// Bytes given.
        got: usize,
    },
    /// A kind that this ABI does not have.
    #[error("a record of the unknown kind {0}")]
    Kind(u32),
    /// A name longer than its field.
    #[error("a name of {0} bytes")]
    NameLength(u32),
}

/// Decodes one record. Byte order is the machine's own, as on the kernel's side.
///
/// # Errors
/// When the bytes are no record of this ABI.
pub fn decode(bytes: &[u8]) -> Result<ProbeRecord, DecodeError> {
    let header = Reader(bytes);
    let number = header.u32(offset_of!(Header, kind)).map_err(|_| too_short(bytes))?;
    let kind = Kind::from_number(number).ok_or(DecodeError::Kind(number))?;
    let wanted = size(kind);
    if bytes.len() != wanted {
        return Err(DecodeError::Size { wanted, got: bytes.len() });
    }
    Ok(ProbeRecord {
        t_ns: Nanos(header.u64(offset_of!(Header, t_ns))?),
        cpu: header.u32(offset_of!(Header, cpu))?,
        by: header.writer()?,
        event: event(kind, &header)?,
    })
}

fn size(kind: Kind) -> usize {
    match kind {
        Kind::IccSetBw => size_of::<IccSetBw>(),
        Kind::IccSetBwEnd => size_of::<IccSetBwEnd>(),
        Kind::DevfreqFrequency => size_of::<DevfreqFrequency>(),
        Kind::DevfreqMonitor => size_of::<DevfreqMonitor>(),
        Kind::BwmonUpdate => size_of::<BwmonUpdate>(),
        Kind::CpuFrequency => size_of::<CpuFrequency>(),
    }
}

fn event(kind: Kind, r: &Reader<'_>) -> Result<ProbeEvent, DecodeError> {
    Ok(match kind {
        Kind::IccSetBw => ProbeEvent::IccSetBw {
            path: r.name(offset_of!(IccSetBw, path))?,
            dev: r.name(offset_of!(IccSetBw, dev))?,
            node: r.name(offset_of!(IccSetBw, node))?,
            avg_kbps: r.kbps(offset_of!(IccSetBw, avg_kbps))?,
            peak_kbps: r.kbps(offset_of!(IccSetBw, peak_kbps))?,
            node_avg_kbps: r.kbps(offset_of!(IccSetBw, node_avg_kbps))?,
            node_peak_kbps: r.kbps(offset_of!(IccSetBw, node_peak_kbps))?,
        },
        Kind::IccSetBwEnd => ProbeEvent::IccSetBwEnd {
            path: r.name(offset_of!(IccSetBwEnd, path))?,
            dev: r.name(offset_of!(IccSetBwEnd, dev))?,
            ret: r.u32(offset_of!(IccSetBwEnd, ret))?.cast_signed(),
        },
        Kind::DevfreqFrequency => ProbeEvent::DevfreqFrequency {
            dev: r.name(offset_of!(DevfreqFrequency, dev))?,
            freq_hz: Hz(r.u64(offset_of!(DevfreqFrequency, freq_hz))?),
            prev_hz: Hz(r.u64(offset_of!(DevfreqFrequency, prev_hz))?),
        },
        Kind::DevfreqMonitor => ProbeEvent::DevfreqMonitor {
            dev: r.name(offset_of!(DevfreqMonitor, dev))?,
            freq_hz: Hz(r.u64(offset_of!(DevfreqMonitor, freq_hz))?),
            busy_time: r.u64(offset_of!(DevfreqMonitor, busy_time))?,
            total_time: r.u64(offset_of!(DevfreqMonitor, total_time))?,
            polling_ms: r.u32(offset_of!(DevfreqMonitor, polling_ms))?,
        },
        Kind::BwmonUpdate => ProbeEvent::BwmonUpdate {
            name: r.name(offset_of!(BwmonUpdate, name))?,
            meas_kbps: r.kbps(offset_of!(BwmonUpdate, meas_kbps))?,
            up_kbps: r.kbps(offset_of!(BwmonUpdate, up_kbps))?,
            down_kbps: r.kbps(offset_of!(BwmonUpdate, down_kbps))?,
        },
        Kind::CpuFrequency => ProbeEvent::CpuFrequency {
            target_cpu: r.u32(offset_of!(CpuFrequency, target_cpu))?,
            khz: Khz(u64::from(r.u32(offset_of!(CpuFrequency, khz))?)),
        },
    })
}

fn too_short(bytes: &[u8]) -> DecodeError {
    DecodeError::Size { wanted: size_of::<Header>(), got: bytes.len() }
}

/// Bytes, read at offsets; never beyond their end.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn array<const N: usize>(&self, at: usize) -> Result<[u8; N], DecodeError> {
        let end = at.saturating_add(N);
        let bytes = self.0.get(at..end).and_then(|b| b.try_into().ok());
        bytes.ok_or(DecodeError::Size { wanted: end, got: self.0.len() })
    }

    fn u32(&self, at: usize) -> Result<u32, DecodeError> {
        self.array(at).map(u32::from_ne_bytes)
    }

    fn u64(&self, at: usize) -> Result<u64, DecodeError> {
        self.array(at).map(u64::from_ne_bytes)
    }

    fn kbps(&self, at: usize) -> Result<Kbps, DecodeError> {
        self.u32(at).map(|n| Kbps(u64::from(n)))
    }

    fn writer(&self) -> Result<Option<Writer>, DecodeError> {
        let pid = self.u32(offset_of!(Header, pid))?;
        let comm: [u8; COMM_BYTES] = self.array(offset_of!(Header, comm))?;
        let text = comm.split(|byte| *byte == 0).next().unwrap_or_default();
        let comm = String::from_utf8_lossy(text).into_owned();
        Ok((pid != 0).then_some(Writer { pid, comm }))
    }

    fn name(&self, at: usize) -> Result<String, DecodeError> {
        let len = self.u32(at + offset_of!(Name, len))?;
        let flags = self.u32(at + offset_of!(Name, flags))?;
        let bytes: [u8; NAME_BYTES] = self.array(at + offset_of!(Name, bytes))?;
        if flags & Name::UNREADABLE != 0 {
            return Ok(UNREADABLE.to_owned());
        }
        let text = bytes.get(..len as usize).ok_or(DecodeError::NameLength(len))?;
        let mut text = String::from_utf8_lossy(text).into_owned();
        if flags & Name::TRUNCATED != 0 {
            text.push(CUT_MARK);
        }
        Ok(text)
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
