//! Axes: round ticks, and units that keep their labels short.

/// An axis from 0 to `top` with its ticks and the unit they are shown in.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    pub(super) top: f64,
    pub(super) ticks: Vec<f64>,
    pub(super) unit: &'static str,
    divisor: f64,
    decimals: usize,
}

/// Room for every bandwidth there is, and none for an overflow.
const HIGHEST: f64 = 1e300;
/// Ticks besides zero.
const FEWEST: f64 = 2.0;
const MOST: f64 = 4.0;

impl Axis {
    /// An axis for values up to `highest`, with 3 to 5 ticks and a little air above.
    pub(super) fn values(highest: f64, unit: &'static str) -> Self {
        let top = highest.clamp(1.0, HIGHEST) * 1.05;
        Self::new(top, step(top, MOST), value_unit(top, unit))
    }

    /// The same for a character grid of `rows` rows: the ticks lie on the edges of rows, equally
    /// far apart, and as little as possible stays empty above.
    pub(super) fn value_rows(highest: f64, rows: usize, unit: &'static str) -> Self {
        let (highest, rows) = (highest.clamp(1.0, HIGHEST), rows.max(1) as f64);
        let fits = |step: f64| {
            let per_step = (rows * step / highest).floor();
            let ticks = (rows / per_step).floor();
            (FEWEST..=MOST).contains(&ticks).then_some((step * rows / per_step, step))
        };
        let best = steps(highest).filter_map(fits).min_by(|(a, _), (b, _)| a.total_cmp(b));
        let (top, step) = best.unwrap_or_else(|| (highest, step(highest, MOST)));
        Self::new(top, step, value_unit(top, unit))
    }

    /// A time axis of `span` nanoseconds with at most `most` ticks besides zero.
    pub(super) fn time(span: u64, most: usize) -> Self {
        let top = span.max(1) as f64;
        let unit = match top {
            ..1e4 => ("ns", 1.0),
            ..1e7 => ("us", 1e3),
            ..1e10 => ("ms", 1e6),
            _ => ("s", 1e9),
        };
        Self::new(top, step(top, most.max(1) as f64), unit)
    }

    fn new(top: f64, step: f64, (unit, divisor): (&'static str, f64)) -> Self {
        let count = (top / step + 1e-9).floor().clamp(0.0, 100.0) as u32;
        let ticks = (0..=count).map(|i| f64::from(i) * step).collect();
        let shown = step / divisor;
        let whole = |decimals: &usize| {
            let scaled = shown * 10f64.powi(*decimals as i32);
            scaled >= 0.5 && (scaled - scaled.round()).abs() < 1e-6 * scaled
        };
        let decimals = (0..4).find(whole).unwrap_or(4);
        Self { top, ticks, unit, divisor, decimals }
    }

    /// `value` in the unit of the axis.
    pub(super) fn label(&self, value: f64) -> String {
        let shown = value / self.divisor;
        if value == 0.0 {
            "0".to_owned()
        } else if shown >= 1e6 {
            format!("{shown:.0e}")
        } else {
            format!("{shown:.*}", self.decimals)
        }
    }

    /// Where `value` lies between 0 and the top, as a share of the axis.
    pub(super) fn share(&self, value: f64) -> f64 {
        (value / self.top).clamp(0.0, 1.0)
    }
}

/// Round steps around what an axis up to `top` may need: 1, 2 and 5 times powers of ten.
fn steps(top: f64) -> impl Iterator<Item = f64> {
    let power = top.log10().floor();
    [-2.0, -1.0, 0.0, 1.0].into_iter().flat_map(move |near| {
        // Whole powers of ten are exact, negative ones are not: divide by what is exact.
        let power = power + near;
        let decade = move |digit: f64| match power < 0.0 {
            true => digit / 10f64.powf(-power),
            false => digit * 10f64.powf(power),
        };
        [1.0, 2.0, 5.0].map(decade)
    })
}

/// The smallest round step of which at most `most` fit below `top`.
pub(crate) fn step(top: f64, most: f64) -> f64 {
    steps(top).find(|step| (top / step + 1e-9).floor() <= most).unwrap_or(top)
}

/// How values up to `top` are shown. Bandwidth is decimal: 1 GB/s is 1 000 000 kBps.
fn value_unit(top: f64, unit: &'static str) -> (&'static str, f64) {
    match (unit, top) {
        ("kBps", ..1e3) => ("kB/s", 1.0),
        ("kBps", ..1e6) => ("MB/s", 1e3),
        ("kBps", ..1e9) => ("GB/s", 1e6),
        ("kBps", _) => ("TB/s", 1e9),
        _ => (unit, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<String> {
        axis.ticks.iter().map(|tick| axis.label(*tick)).collect()
    }

    #[test]
    fn the_top_level_of_the_sdm845_is_shown_in_gigabytes() {
        let axis = Axis::values(7_216_000.0, "kBps");
        assert_eq!(
            (axis.unit, labels(&axis)),
            ("GB/s", vec!["0".into(), "2".into(), "4".into(), "6".into()])
        );
    }

    #[test]
    fn small_traffic_is_shown_in_megabytes() {
        let axis = Axis::values(256_000.0, "kBps");
        assert_eq!(
            (axis.unit, labels(&axis)),
            ("MB/s", vec!["0".into(), "100".into(), "200".into()])
        );
    }

    #[test]
    fn a_step_of_half_a_gigabyte_has_one_decimal_throughout() {
        let axis = Axis::values(1_804_000.0, "kBps");
        assert_eq!(labels(&axis), ["0", "0.5", "1.0", "1.5"]);
    }

    #[test]
    fn ticks_of_a_grid_lie_on_row_edges() {
        // 12 rows, 25.5 GB/s: steps of 10 GB/s give 4 rows each (12 * 10 / 25.5 = 4.7) and a top
        // of 30; steps of 5 would give 2 rows each and 6 ticks; steps of 20 give 9 rows and 1.
        let axis = Axis::value_rows(25_497_600.0, 12, "kBps");
        assert_eq!(axis.top, 30e6);
        assert_eq!(labels(&axis), ["0", "10", "20", "30"]);
    }

    #[test]
    fn every_axis_has_three_to_five_ticks() {
        for exponent in -2..30 {
            for digit in 10..100 {
                let highest = f64::from(digit) * 10f64.powi(exponent);
                let axis = Axis::values(highest, "kBps");
                assert!((3..=5).contains(&axis.ticks.len()), "{highest}: {axis:?}");
                for rows in 4..30 {
                    let axis = Axis::value_rows(highest, rows, "kBps");
                    assert!((3..=5).contains(&axis.ticks.len()), "{highest}, {rows}: {axis:?}");
                    assert!(axis.top >= highest * 0.999_999, "{highest}, {rows}: {axis:?}");
                }
            }
        }
    }

    #[test]
    fn time_is_shown_in_the_unit_of_its_size() {
        let shown = |span| {
            let axis = Axis::time(span, 5);
            (axis.unit, axis.ticks.last().map(|tick| axis.label(*tick)).unwrap())
        };
        assert_eq!(shown(1_500_000_000), ("ms", "1500".into()));
        assert_eq!(shown(60_000_000_000), ("s", "60".into()));
        assert_eq!(shown(40_000), ("us", "40".into()));
        assert_eq!(shown(1), ("ns", "1.0".into()));
    }

    #[test]
    fn absurd_values_have_short_labels_and_a_finite_axis() {
        let axis = Axis::values(f64::MAX, "kBps");
        assert!(axis.top.is_finite());
        assert!(labels(&axis).iter().all(|label| label.len() <= 6), "{axis:?}");
    }
}
