//! Numbers for people: four digits, thin groups of three, and a word for what is no number.

use crate::experiment::Effect;
use crate::text_table::grouped_digits;

/// What stands where a number is missing.
pub(super) const UNKNOWN: &str = "unknown";

/// `value` with four significant digits.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return UNKNOWN.to_owned();
    }
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e15).contains(&size) {
        return format!("{value:.3e}");
    }
    let place = 3 - size.log10().floor() as i32;
    if place < 0 {
        let unit = 10f64.powi(-place);
        return fixed((value / unit).round() * unit, 0);
    }
    let text = fixed(value, place as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// `value` in `unit`.
pub(super) fn with_unit(value: f64, unit: &str) -> String {
    match value.is_finite() && !unit.is_empty() {
        true => format!("{} {unit}", number(value)),
        false => number(value),
    }
}

/// `value` with so many decimals, its whole part in groups of three.
pub(super) fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{:.*}", decimals, value.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    // What rounds to zero has no sign.
    let negative = value < 0.0 && text.chars().any(|c| ('1'..='9').contains(&c));
    format!("{}{}{rest}", if negative { "-" } else { "" }, grouped_digits(whole))
}

/// A probability.
pub(super) fn probability(p: f64) -> String {
    match p {
        p if !p.is_finite() => UNKNOWN.to_owned(),
        p if p < 0.001 => "<0.001".to_owned(),
        p if p < 0.1 => format!("{p:.3}"),
        p => format!("{p:.2}"),
    }
}

/// An effect's estimate with its unit, as `+240.6 %`.
pub(super) fn estimate(effect: &Effect, unit: &str) -> String {
    match effect.estimate.is_finite() {
        true => {
            format!("{} {unit}", signed(effect.estimate, decimals(effect))).trim_end().to_owned()
        }
        false => UNKNOWN.to_owned(),
    }
}

/// An effect's interval, as `[+238.1, +243.0]`; an end that is nowhere is `unknown`.
pub(super) fn interval(effect: &Effect) -> String {
    let decimals = decimals(effect);
    format!("[{}, {}]", signed(effect.low, decimals), signed(effect.high, decimals))
}

fn signed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return UNKNOWN.to_owned();
    }
    if value.abs() >= 1e15 {
        return format!("{value:+.3e}");
    }
    let text = fixed(value, decimals);
    let zero = !text.contains(|c| ('1'..='9').contains(&c));
    if zero || text.starts_with('-') { text } else { format!("+{text}") }
}

/// How many decimals the estimate and both ends of its interval have: none for whole numbers.
fn decimals(effect: &Effect) -> usize {
    let known = [effect.estimate, effect.low, effect.high].map(|v| v.is_finite().then_some(v));
    let known = || known.iter().flatten();
    if known().all(|value| value.fract() == 0.0) {
        return 0;
    }
    match known().fold(0f64, |most, value| most.max(value.abs())) {
        1e3.. => 0,
        10.0.. => 1,
        0.1.. => 2,
        0.00005.. => 4,
        // Nothing that anybody could see.
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Verdict;

    fn effect(estimate: f64, low: f64, high: f64) -> Effect {
        let (verdict, pairs_needed) = (Verdict::Better, None);
        Effect { pairs: 20, estimate, low, high, p: 0.0, p_adjusted: 0.0, verdict, pairs_needed }
    }

    #[test]
    fn four_digits_are_kept_and_grouped() {
        let shown = [7_216_431.0, 1234.4, 99.994, -0.012_344, 2.5, 0.0].map(number);
        assert_eq!(shown, ["7 216 000", "1 234", "99.99", "-0.01234", "2.5", "0"]);
    }

    #[test]
    fn what_is_no_number_is_unknown_and_what_is_absurd_is_short() {
        let shown = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 1e-300].map(number);
        assert_eq!(shown, ["unknown", "unknown", "unknown", "1.798e308", "1.000e-300"]);
        assert_eq!(with_unit(f64::NAN, "kB/s"), "unknown");
        assert_eq!(with_unit(5.0, "kB/s"), "5 kB/s");
    }

    #[test]
    fn an_effect_has_its_sign_and_one_number_of_decimals() {
        let wide = effect(240.61, 238.07, 243.0);
        assert_eq!(
            (estimate(&wide, "%"), interval(&wide)),
            ("+240.6 %".into(), "[+238.1, +243.0]".into())
        );
        let small = effect(0.336, -0.2, 0.9);
        assert_eq!(
            (estimate(&small, "%"), interval(&small)),
            ("+0.34 %".into(), "[-0.20, +0.90]".into())
        );
        let counts = effect(-12.0, -14.0, 0.0);
        assert_eq!((estimate(&counts, ""), interval(&counts)), ("-12".into(), "[-14, 0]".into()));
        let endless = effect(3.5, f64::NEG_INFINITY, f64::NAN);
        assert_eq!(interval(&endless), "[unknown, unknown]");
    }

    #[test]
    fn a_probability_is_never_zero() {
        let shown = [0.0, 0.0123, 0.5, 1.0, f64::NAN].map(probability);
        assert_eq!(shown, ["<0.001", "0.012", "0.50", "1.00", "unknown"]);
    }
}
