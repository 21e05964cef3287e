//! The six tracepoints: their names, and the fields that the probes copy.
//!
//! Names and types are those of the kernel's trace headers (`drivers/interconnect/trace.h`,
//! `include/trace/events/devfreq.h`, `include/trace/events/power.h`,
//! `drivers/soc/qcom/trace_icc-bwmon.h`).

use FieldType::{Text, U32, U64};

/// Which tracepoint a record comes from.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `interconnect:icc_set_bw`
    IccSetBw = 0,
    /// `interconnect:icc_set_bw_end`
    IccSetBwEnd = 1,
    /// `devfreq:devfreq_frequency`
    DevfreqFrequency = 2,
    /// `devfreq:devfreq_monitor`
    DevfreqMonitor = 3,
    /// `icc_bwmon:qcom_bwmon_update`
    BwmonUpdate = 4,
    /// `power:cpu_frequency`
    CpuFrequency = 5,
}

/// How a field looks in the event's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// `__data_loc char[]`: a 4-byte `length << 16 | offset` of a NUL-terminated string.
    Text,
    /// 4 bytes, signed or not.
    U32,
    /// 8 bytes (`unsigned long` of a 64-bit kernel).
    U64,
}

/// One field that a probe copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name in the event's `format`.
    pub name: &'static str,
    /// Its type; the loader leaves an event alone whose kernel disagrees.
    pub kind: FieldType,
}

const fn f(name: &'static str, kind: FieldType) -> Field {
    Field { name, kind }
}

impl Kind {
    /// How many kinds there are.
    pub const COUNT: usize = Self::ALL.len();

    /// All kinds, in the order of their numbers.
    pub const ALL: [Kind; 6] = [
        Kind::IccSetBw,
        Kind::IccSetBwEnd,
        Kind::DevfreqFrequency,
        Kind::DevfreqMonitor,
        Kind::BwmonUpdate,
        Kind::CpuFrequency,
    ];

    /// This kind's row in tables and counters.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The kind with this number, if there is one.
    pub fn from_number(number: u32) -> Option<Kind> {
        Self::ALL.into_iter().find(|k| *k as u32 == number)
    }

    /// The tracepoint's group under `events/` in tracefs.
    pub const fn group(self) -> &'static str {
        match self {
            Kind::IccSetBw | Kind::IccSetBwEnd => "interconnect",
            Kind::DevfreqFrequency | Kind::DevfreqMonitor => "devfreq",
            Kind::BwmonUpdate => "icc_bwmon",
            Kind::CpuFrequency => "power",
        }
    }

    /// The tracepoint's name within its group; the BPF program has the same one.
    pub const fn event(self) -> &'static str {
        match self {
            Kind::IccSetBw => "icc_set_bw",
            Kind::IccSetBwEnd => "icc_set_bw_end",
            Kind::DevfreqFrequency => "devfreq_frequency",
            Kind::DevfreqMonitor => "devfreq_monitor",
            Kind::BwmonUpdate => "qcom_bwmon_update",
            Kind::CpuFrequency => "cpu_frequency",
        }
    }

    /// The fields that the probe copies, in the order of the constants in [`field`].
    pub const fn fields(self) -> &'static [Field] {
        match self {
            Kind::IccSetBw => {
                &const {
                    [
                        f("path_name", Text),
                        f("dev", Text),
                        f("node_name", Text),
                        f("avg_bw", U32),
                        f("peak_bw", U32),
                        f("node_avg_bw", U32),
                        f("node_peak_bw", U32),
                    ]
                }
            }
            Kind::IccSetBwEnd => &const { [f("path_name", Text), f("dev", Text), f("ret", U32)] },
            Kind::DevfreqFrequency => {
                &const { [f("dev_name", Text), f("freq", U64), f("prev_freq", U64)] }
            }
            Kind::DevfreqMonitor => {
                &const {
                    [
                        f("dev_name", Text),
                        f("freq", U64),
                        f("busy_time", U64),
                        f("total_time", U64),
                        f("polling_ms", U32),
                    ]
                }
            }
            Kind::BwmonUpdate => {
                &const { [f("name", Text), f("meas_kbps", U32), f("up_kbps", U32), f("down_kbps", U32)] }
            }
            Kind::CpuFrequency => &const { [f("state", U32), f("cpu_id", U32)] },
        }
    }
}

/// Columns of [`crate::Offsets`], one module per kind: positions in [`Kind::fields`].
pub mod field {
    /// [`super::Kind::IccSetBw`]
    pub mod icc_set_bw {
        /// `path_name`
        pub const PATH: usize = 0;
        /// `dev`
        pub const DEV: usize = 1;
        /// `node_name`
        pub const NODE: usize = 2;
        /// `avg_bw`
        pub const AVG: usize = 3;
        /// `peak_bw`
        pub const PEAK: usize = 4;
        /// `node_avg_bw`
        pub const NODE_AVG: usize = 5;
        /// `node_peak_bw`
        pub const NODE_PEAK: usize = 6;
    }

    /// [`super::Kind::IccSetBwEnd`]
    pub mod icc_set_bw_end {
        /// `path_name`
        pub const PATH: usize = 0;
        /// `dev`
        pub const DEV: usize = 1;
        /// `ret`
        pub const RET: usize = 2;
    }

    /// [`super::Kind::DevfreqFrequency`]
    pub mod devfreq_frequency {
        /// `dev_name`
        pub const DEV: usize = 0;
        /// `freq`
        pub const FREQ: usize = 1;
        /// `prev_freq`
        pub const PREV: usize = 2;
    }

    /// [`super::Kind::DevfreqMonitor`]
    pub mod devfreq_monitor {
        /// `dev_name`
        pub const DEV: usize = 0;
        /// `freq`
        pub const FREQ: usize = 1;
        /// `busy_time`
        pub const BUSY: usize = 2;
        /// `total_time`
        pub const TOTAL: usize = 3;
        /// `polling_ms`
        pub const POLLING: usize = 4;
    }

    /// [`super::Kind::BwmonUpdate`]
    pub mod bwmon_update {
        /// `name`
        pub const NAME: usize = 0;
        /// `meas_kbps`
        pub const MEAS: usize = 1;
        /// `up_kbps`
        pub const UP: usize = 2;
        /// `down_kbps`
        pub const DOWN: usize = 3;
    }

    /// [`super::Kind::CpuFrequency`]
    pub mod cpu_frequency {
        /// `state`
        pub const KHZ: usize = 0;
        /// `cpu_id`
        pub const CPU: usize = 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MAX_FIELDS;

    #[test]
    fn numbers_rows_and_names_agree() {
        for (row, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind.index(), row);
            assert_eq!(Kind::from_number(row as u32), Some(kind));
        }
        assert_eq!(Kind::from_number(Kind::COUNT as u32), None);
    }

    #[test]
    fn columns_are_the_places_in_the_field_lists() {
        let at = |kind: Kind, column: usize| kind.fields()[column].name;
        assert_eq!(at(Kind::IccSetBw, field::icc_set_bw::NODE_PEAK), "node_peak_bw");
        assert_eq!(at(Kind::IccSetBw, field::icc_set_bw::NODE), "node_name");
        assert_eq!(at(Kind::IccSetBwEnd, field::icc_set_bw_end::RET), "ret");
        assert_eq!(at(Kind::DevfreqFrequency, field::devfreq_frequency::PREV), "prev_freq");
        assert_eq!(at(Kind::DevfreqMonitor, field::devfreq_monitor::POLLING), "polling_ms");
        assert_eq!(at(Kind::BwmonUpdate, field::bwmon_update::DOWN), "down_kbps");
        assert_eq!(at(Kind::CpuFrequency, field::cpu_frequency::CPU), "cpu_id");
        assert!(Kind::ALL.iter().all(|k| k.fields().len() <= MAX_FIELDS));
    }
}
