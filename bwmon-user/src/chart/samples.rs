//! Charts for the tests beside this module.

use super::{Chart, Mark, Series, Style};
use crate::units::Nanos;
use proptest::prelude::*;

pub(super) fn series(name: &str, style: Style, points_ms: &[(u64, Option<f64>)]) -> Series {
    let points = points_ms.iter().map(|(ms, value)| (Nanos(ms * Nanos::PER_MS), *value));
    Series::new(name, style, points.collect()).unwrap()
}

/// 100 ms: idle, a burst of 4 GB/s from 20 to 50 ms, unknown from 80 ms; the vote follows.
pub(super) fn burst() -> Chart {
    let traffic = [(0, Some(0.0)), (20, Some(4e6)), (50, Some(500e3)), (80, None)];
    let vote = [(0, Some(1e6)), (30, Some(4e6)), (70, Some(1e6))];
    Chart {
        title: "ddr".to_owned(),
        unit: "kBps",
        duration: Nanos(100 * Nanos::PER_MS),
        series: vec![series("measured", Style::Area, &traffic), series("vote", Style::Step, &vote)],
        marks: vec![
            Mark { at: Nanos(0), label: "idle".to_owned() },
            Mark { at: Nanos(20 * Nanos::PER_MS), label: "burst".to_owned() },
        ],
    }
}

/// Any chart at all: odd values, any times, any text.
pub(super) fn any_chart() -> impl Strategy<Value = Chart> {
    let time = || prop_oneof![0..2_000_000_000u64, any::<u64>()].prop_map(Nanos);
    let value = prop_oneof![
        Just(None),
        any::<f64>().prop_map(Some),
        (0.0..3e7).prop_map(Some),
        Just(Some(f64::MAX)),
    ];
    let style = prop_oneof![Just(Style::Area), Just(Style::Step), Just(Style::Line)];
    let points = prop::collection::vec((time(), value), 0..40).prop_map(|mut points| {
        points.sort_by_key(|(at, _)| *at);
        points
    });
    let series = (any::<String>(), style, points)
        .prop_map(|(name, style, points)| Series::new(name, style, points).unwrap());
    let mark = (time(), any::<String>()).prop_map(|(at, label)| Mark { at, label });
    (
        any::<String>(),
        prop_oneof![Just("kBps"), Just("percent of the whole")],
        time(),
        prop::collection::vec(series, 0..5),
        prop::collection::vec(mark, 0..8),
    )
        .prop_map(|(title, unit, duration, series, marks)| Chart {
            title,
            unit,
            duration,
            series,
            marks,
        })
}
