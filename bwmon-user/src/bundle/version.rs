//! Versions of bundles: `1.4.0`, `2.0.0-rc.1`, ordered as semantic versioning does.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// Characters of a version.
const MOST: usize = 64;

/// A version. Two that are equal are written alike: there is no build part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    numbers: [u32; 3],
    /// What stands behind the hyphen; empty for a release.
    pre: Vec<Part>,
}

/// A part of what stands behind the hyphen. Numbers come before words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Number(u32),
    Word(String),
}

impl FromStr for Version {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            let shown: String = text.chars().take(MOST).collect();
            format!(
                "\"{shown}\" is no version of a bundle: write three numbers, 1.4.0, and for a \
                 preview a hyphen and words, 1.4.0-rc.1"
            )
        };
        if text.len() > MOST {
            return Err(wrong());
        }
        let (release, pre) = match text.split_once('-') {
            Some((release, pre)) => (release, Some(pre)),
            None => (text, None),
        };
        let numbers: Option<Vec<u32>> = release.split('.').map(number).collect();
        let numbers = numbers.and_then(|numbers| <[u32; 3]>::try_from(numbers).ok());
        let pre: Option<Vec<Part>> =
            pre.map_or(Some(Vec::new()), |pre| pre.split('.').map(part).collect());
        match (numbers, pre) {
            (Some(numbers), Some(pre)) => Ok(Self { numbers, pre }),
            _ => Err(wrong()),
        }
    }
}

fn number(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    // 01 and 1 would be one version under two names.
    let plain = text == "0" || !text.starts_with('0');
    text.parse().ok().filter(|_| digits && plain)
}

fn part(text: &str) -> Option<Part> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    match text.bytes().all(|byte| byte.is_ascii_digit()) {
        true => number(text).map(Part::Number),
        false => Some(Part::Word(text.to_owned())),
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let release = |version: &Self| version.pre.is_empty();
        self.numbers
            .cmp(&other.numbers)
            // A release comes after its previews.
            .then_with(|| release(self).cmp(&release(other)))
            .then_with(|| self.pre.cmp(&other.pre))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(f, "{major}.{minor}.{patch}")?;
        for (index, part) in self.pre.iter().enumerate() {
            f.write_str(if index == 0 { "-" } else { "." })?;
            match part {
                Part::Number(number) => write!(f, "{number}")?,
                Part::Word(word) => f.write_str(word)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn previews_come_before_their_release_and_numbers_count_as_numbers() {
        let ordered = [
            "0.9.9",
            "1.0.0-1",
            "1.0.0-2",
            "1.0.0-10",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-rc.1",
            "1.0.0",
            "1.0.1",
            "1.2.0",
            "1.10.0",
            "10.0.0",
        ];
        for pair in ordered.windows(2) {
            assert!(version(pair[0]) < version(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn what_is_no_version_is_refused_with_an_example() {
        let long = format!("1.0.0-{}", "a".repeat(80));
        for text in [
            "",
            "1",
            "1.0",
            "1.0.0.0",
            "01.0.0",
            "1.0.0-",
            "1.0.0-a..b",
            "1.0.0-01",
            "1.0.0+x",
            "v1.0.0",
            "1.0.x",
            "1.0.-1",
            " 1.0.0",
            "1.0.4294967296",
            "../1.0.0",
            "1.0.0-a/b",
            &long,
        ] {
            let said = text.parse::<Version>().unwrap_err();
            assert!(said.contains("1.4.0-rc.1") && said.len() < 240, "{text}: {said}");
        }
    }

    proptest! {
        #[test]
        fn a_version_is_written_as_it_was_read(text in "[0-9.a-z-]{0,12}") {
            if let Ok(version) = text.parse::<Version>() {
                prop_assert_eq!(version.to_string(), text);
            }
        }
    }
}
