//! What `obs` has.

use super::Type::{Bool, Int, Text};
use super::{ALWAYS, Group, Type, Word};

const READING: &str = "with a reading";
const VOTED: &str = "after the first vote";

const fn reading(name: &'static str, gives: Type, known: &'static str, what: &'static str) -> Word {
    Word { name, group: Group::Reading, form: name, arguments: &[], gives, known, what }
}

/// What `obs` has.
pub const PROPERTIES: &[Word] = &[
    reading("domain", Text, ALWAYS, "name of the domain that is decided"),
    reading("opp_count", Int, ALWAYS, "number of levels"),
    reading("dt_us", Int, ALWAYS, "microseconds since the tick before"),
    reading("valid", Bool, ALWAYS, "whether the monitor has a reading on this tick"),
    reading(
        "peak_kBps",
        Int,
        READING,
        "busiest window of the reading, at most (as the kernel computes it)",
    ),
    reading("mean_kBps", Int, "with a polled reading one window long", "mean of the reading"),
    reading("windows", Int, READING, "whole windows in the reading"),
    reading("saturated", Bool, READING, "the counter was full: the truth is at least `peak_kBps`"),
    reading(
        "interrupt",
        Bool,
        ALWAYS,
        "the hardware (or the kernel's driver) asked for attention on this tick",
    ),
    reading(
        "above",
        Bool,
        ALWAYS,
        "there is a reading, and it needs a higher level than the one in force",
    ),
    reading(
        "below",
        Bool,
        ALWAYS,
        "there is a reading, and it would fit the level below the one in force",
    ),
    reading(
        "trend_kBps",
        Int,
        "from the second reading on",
        "change of `peak_kBps` since the reading before",
    ),
    reading(
        "util_pct",
        Int,
        "with a reading and a level",
        "`peak_kBps` in percent of `level_kBps`",
    ),
    reading("level", Int, VOTED, "level in force, 0 the lowest"),
    reading("level_kBps", Int, VOTED, "bandwidth of the level in force"),
    reading(
        "lower_kBps",
        Int,
        "with a level above 0",
        "bandwidth of the level below the one in force",
    ),
    reading("min_level", Int, ALWAYS, "lowest level that the limits allow"),
    reading("max_level", Int, ALWAYS, "highest level that the limits allow"),
    reading(
        "others_kBps",
        Int,
        "after such a vote was seen",
        "highest peak vote of other consumers at the path's first node, from the probes",
    ),
    reading(
        "kernel_kBps",
        Int,
        "once its driver reported, in shadow",
        "what the kernel's own governor chose last",
    ),
    reading(
        "cpu_max_kHz",
        Int,
        "after a change was seen",
        "highest CPU frequency, from the probes",
    ),
    reading(
        "since_change_ms",
        Int,
        "after the first change",
        "milliseconds since the level last changed",
    ),
    reading("lost_events", Int, "with probes", "probe events lost since the start"),
];
