//! Numbers out of what a command printed.

use regex::{Regex, RegexBuilder};
use serde_json::Value;

/// The expression of a measure; `^` and `$` stand for a line's begin and end.
///
/// # Errors
/// When it is none.
pub(super) fn expression(text: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text).multi_line(true).build()
}

/// The first group of `expression` in `text`, as a number.
///
/// # Errors
/// Why there is none.
pub(super) fn by_expression(expression: &Regex, text: &str) -> Result<f64, String> {
    let Some(found) = expression.captures(text) else {
        return Err(format!("nothing fits {expression}"));
    };
    let group = found.get(1).map_or("", |group| group.as_str().trim());
    number(group).ok_or_else(|| format!("{expression} finds \"{group}\", which is no number"))
}

/// The number at the RFC 6901 pointer in the JSON that `text` is, or that begins in it.
///
/// # Errors
/// Why there is none.
pub(super) fn by_pointer(pointer: &str, text: &str) -> Result<f64, String> {
    let begins: Vec<usize> = text.match_indices(['{', '[']).map(|(at, _)| at).collect();
    // fio and others print a line before.
    let tries = std::iter::once(0).chain(begins.into_iter().take(64));
    let json = tries.filter_map(|at| text.get(at..)).find_map(first_value);
    let Some(json) = json else { return Err("it is no JSON".to_owned()) };
    match json.pointer(pointer) {
        None => Err(format!("its JSON has nothing at {pointer}")),
        Some(Value::Number(found)) => {
            found.as_f64().ok_or_else(|| format!("{found} at {pointer} is too large"))
        }
        Some(Value::String(found)) => {
            number(found.trim()).ok_or_else(|| format!("\"{found}\" at {pointer} is no number"))
        }
        Some(_) => Err(format!("what is at {pointer} in its JSON is no number")),
    }
}

fn first_value(text: &str) -> Option<Value> {
    serde_json::Deserializer::from_str(text).into_iter().next()?.ok()
}

/// A plain number: digits, a point, an exponent. `inf` and `nan` are none.
fn number(text: &str) -> Option<f64> {
    let plain = text.chars().all(|c| c.is_ascii_digit() || "+-.eE".contains(c));
    text.parse().ok().filter(|number: &f64| plain && number.is_finite())
}

/// The median; of none there is none.
pub(super) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.get(sorted.len() / 2).copied()?;
    if sorted.len() % 2 == 1 {
        return Some(middle);
    }
    Some(f64::midpoint(middle, sorted.get(sorted.len() / 2 - 1).copied()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_finds_its_number_or_says_what_it_found() {
        let mib = expression(r"transferred \(([^ ]+) MiB/sec\)").unwrap();
        let at = |text| by_expression(&mib, text);
        assert_eq!(at("102400.00 MiB transferred (7311.45 MiB/sec)\n"), Ok(7311.45));
        assert_eq!(at("transferred (1e3 MiB/sec)"), Ok(1000.0));
        assert!(at("nothing").unwrap_err().starts_with("nothing fits transferred"));
        for word in ["nan", "inf", "1,024", "-"] {
            let text = format!("transferred ({word} MiB/sec)");
            let error = by_expression(&mib, &text).unwrap_err();
            assert!(error.contains(&format!("finds \"{word}\", which is no number")), "{error}");
        }
        assert_eq!(by_expression(&expression(r"^score=(\d+)$").unwrap(), "a\nscore=3\nb"), Ok(3.0));
    }

    #[test]
    fn a_pointer_finds_its_number_also_behind_what_was_printed_before() {
        let text =
            "fio: [ is noise\n{\"jobs\":[{\"read\":{\"bw\":12.5,\"name\":\"x\",\"s\":\"7\"}}]}\n";
        let at = |pointer| by_pointer(pointer, text);
        assert_eq!(at("/jobs/0/read/bw"), Ok(12.5));
        assert_eq!(at("/jobs/0/read/s"), Ok(7.0));
        assert_eq!(at("/jobs/1"), Err("its JSON has nothing at /jobs/1".into()));
        assert!(at("/jobs/0/read/name").unwrap_err().contains("\"x\" at"));
        assert!(at("/jobs").unwrap_err().contains("no number"));
        assert_eq!(by_pointer("", "12"), Ok(12.0));
        assert_eq!(by_pointer("/a", "plain text"), Err("it is no JSON".into()));
    }

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 9.0]), Some(3.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 9.0]), Some(3.0));
    }
}
