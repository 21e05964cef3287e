//! Axes that need not begin at zero, with round ticks and a unit that keeps their labels short.

use crate::chart::step;
use crate::report::number::fixed;

/// An axis from `low` to `high` with its ticks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    pub(super) ticks: Vec<f64>,
    pub(super) unit: String,
    divisor: f64,
    decimals: usize,
}

/// Room for every value there is, and none for an overflow.
const HIGHEST: f64 = 1e300;

impl Scale {
    /// An axis for these values with a little air on both sides and at most about `most` ticks.
    pub(super) fn over(values: impl Iterator<Item = f64>, unit: &str, most: f64) -> Self {
        let known = values.filter(|value| value.is_finite());
        let ends = known.map(|value| value.clamp(-HIGHEST, HIGHEST)).fold(None, |ends, value| {
            let (low, high) = ends.unwrap_or((value, value));
            Some((value.min(low), value.max(high)))
        });
        let (least, greatest) = ends.unwrap_or((0.0, 1.0));
        let size = least.abs().max(greatest.abs());
        // Where all is the same there is still an axis: one percent around it.
        let air = (0.05 * (greatest - least)).max(0.01 * size).max(f64::MIN_POSITIVE * 1e8);
        let low = if least >= 0.0 { (least - air).max(0.0) } else { least - air };
        let high = greatest + air;
        let (unit, divisor) = scaled(unit, size);
        let step = step(high - low, most);
        let first = (low / step - 1e-9).ceil();
        let ticks = (0..20).map(|i| (first + f64::from(i)) * step);
        let ticks = ticks.take_while(|tick| *tick <= high + 1e-9 * step).collect();
        let whole = |decimals: &usize| {
            let scaled = step / divisor * 10f64.powi(*decimals as i32);
            scaled >= 0.5 && (scaled - scaled.round()).abs() < 1e-6 * scaled
        };
        let decimals = (0..6).find(whole).unwrap_or(6);
        Self { low, high, ticks, unit, divisor, decimals }
    }

    /// Where `value` lies, as a share of the axis.
    pub(super) fn share(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// Whether `value` lies on the axis.
    pub(super) fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// `value` in the unit of the axis.
    pub(super) fn label(&self, value: f64) -> String {
        let shown = value / self.divisor;
        match shown.abs() {
            ..1e-12 => "0".to_owned(),
            1e6.. => format!("{shown:.1e}"),
            _ => fixed(shown, self.decimals),
        }
    }
}

/// How values up to `size` are shown. Bandwidth is decimal: 1 GB/s is 1 000 000 kBps.
fn scaled(unit: &str, size: f64) -> (String, f64) {
    let Some(rest) = unit.strip_prefix("kB") else { return (unit.to_owned(), 1.0) };
    if rest.starts_with(|c: char| c.is_alphanumeric() && c != 'p') {
        return (unit.to_owned(), 1.0);
    }
    let rest = rest.strip_prefix("ps").map_or(rest.to_owned(), |rest| format!("/s{rest}"));
    let (prefix, divisor) = match size {
        ..1e3 => ('k', 1.0),
        ..1e6 => ('M', 1e3),
        ..1e9 => ('G', 1e6),
        _ => ('T', 1e9),
    };
    (format!("{prefix}B{rest}"), divisor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale) -> String {
        let labels: Vec<String> = scale.ticks.iter().map(|tick| scale.label(*tick)).collect();
        format!("{} {}", labels.join(" "), scale.unit)
    }

    // 7.1 to 7.3 GB/s with one percent of air: 7.027 to 7.373; of steps of 0.05 there would be 6,
    // of 0.1 there are 4 ticks.
    #[test]
    fn an_axis_need_not_begin_at_zero() {
        let scale = Scale::over([7.1e6, 7.3e6].into_iter(), "kB/s", 4.0);
        assert_eq!(labels(&scale), "7.1 7.2 7.3 GB/s");
        assert_eq!(scale.share(7.2e6), 0.5);
    }

    #[test]
    fn units_of_bandwidth_are_scaled_and_others_are_not() {
        let shown = ["kBps s", "kB", "kB/s", "kBtu", "us", ""].map(|unit| scaled(unit, 5e6).0);
        assert_eq!(shown, ["GB/s s", "GB", "GB/s", "kBtu", "us", ""]);
    }

    #[test]
    fn values_of_either_sign_have_zero_among_their_ticks() {
        let scale = Scale::over([-3.0, 240.0].into_iter(), "%", 6.0);
        assert_eq!(labels(&scale), "0 50 100 150 200 250 %");
    }

    #[test]
    fn one_value_none_and_absurd_ones_have_a_finite_axis() {
        let cases: [&[f64]; 6] = [
            &[],
            &[0.0],
            &[5.0, 5.0],
            &[f64::NAN, f64::INFINITY],
            &[f64::MAX, f64::MIN],
            &[1e-300],
        ];
        for values in cases {
            let scale = Scale::over(values.iter().copied(), "kB/s", 4.0);
            assert!(scale.low.is_finite() && scale.high.is_finite(), "{values:?}: {scale:?}");
            assert!((1..=8).contains(&scale.ticks.len()), "{values:?}: {scale:?}");
            assert!(
                scale.share(values.first().copied().unwrap_or(0.5)) >= 0.0 || values[0].is_nan()
            );
        }
    }
}
