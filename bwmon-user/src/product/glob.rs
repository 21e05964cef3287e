//! Patterns for names of machines: `*` stands for any text, `?` for one character.

use std::fmt;

/// A pattern. Case counts; nothing but `*` and `?` is special.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    /// The pattern `text`.
    ///
    /// # Errors
    /// What is wrong with it: empty, with white space around it, or with the characters of other
    /// kinds of patterns.
    pub fn new(text: &str) -> Result<Self, String> {
        if text.is_empty() || text.trim() != text {
            return Err("a pattern is not empty and has no white space around it".into());
        }
        if text.chars().any(char::is_control) {
            return Err("a pattern has no control characters".into());
        }
        match text.chars().find(|c| matches!(c, '[' | ']' | '{' | '}' | '\\')) {
            Some(c) => Err(format!(
                "{c} in a pattern: only * (any text) and ? (one character) are known; write ? for \
                 a {c} in a name"
            )),
            None => Ok(Self(text.to_owned())),
        }
    }

    /// Whether all of `name` fits. Takes at most pattern times name steps.
    pub fn fits(&self, name: &str) -> bool {
        let pattern: Vec<char> = self.0.chars().collect();
        let name: Vec<char> = name.chars().collect();
        let (mut at, mut read) = (0, 0);
        // The last star, and how much of the name it has taken so far.
        let mut star: Option<(usize, usize)> = None;
        while read < name.len() {
            match (pattern.get(at), name.get(read)) {
                (Some('*'), _) => {
                    star = Some((at, read));
                    at += 1;
                }
                (Some(p), Some(c)) if *p == '?' || p == c => {
                    at += 1;
                    read += 1;
                }
                _ => {
                    let Some((star_at, taken)) = star else { return false };
                    star = Some((star_at, taken + 1));
                    at = star_at + 1;
                    read = taken + 1;
                }
            }
        }
        pattern.iter().skip(at).all(|p| *p == '*')
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fits(pattern: &str, name: &str) -> bool {
        Glob::new(pattern).unwrap().fits(name)
    }

    #[test]
    fn a_star_is_any_text_and_a_question_mark_one_character() {
        for (pattern, name) in [
            ("acme,tab10", "acme,tab10"),
            ("acme,*", "acme,"),
            ("*", ""),
            ("acme,tab10-rev?", "acme,tab10-rev3"),
            ("*tab*rev?", "acme,tab10-rev3"),
            ("a*b*c", "a-b-b-c"),
            ("ThinkPad X13s Gen ?", "ThinkPad X13s Gen 1"),
        ] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("acme,tab10", "acme,tab1"),
            ("acme,tab1", "acme,tab10"),
            ("acme,tab10-rev?", "acme,tab10-rev"),
            ("acme,tab10-rev?", "acme,tab10-rev10"),
            ("Acme*", "acme"),
            ("a*b*c", "a-c-b"),
            ("?", ""),
        ] {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn what_belongs_to_other_kinds_of_patterns_is_refused() {
        for text in ["", " a", "a\n", "a[0-9]", "{a,b}", "a\\*", "a\u{7}"] {
            assert!(Glob::new(text).is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn a_pattern_made_from_a_name_fits_it(
            name in "[a-z,-]{0,12}", from in 0usize..12, to in 0usize..12, one in 0usize..12,
        ) {
            let from = from.min(name.len());
            let to = to.clamp(from, name.len());
            let mut pattern = format!("{}*{}", &name[..from], &name[to..]);
            if one < from {
                pattern.replace_range(one..=one, "?");
            }
            prop_assert!(fits(&pattern, &name), "{} {}", pattern, name);
        }

        #[test]
        fn a_pattern_agrees_with_a_plain_search(pattern in "[ab*?]{1,6}", name in "[ab]{0,8}") {
            fn plain(p: &[u8], n: &[u8]) -> bool {
                match (p.split_first(), n.split_first()) {
                    (None, None) => true,
                    (Some((b'*', rest)), _) => {
                        plain(rest, n) || n.split_first().is_some_and(|(_, less)| plain(p, less))
                    }
                    (Some((c, p)), Some((d, n))) => (*c == b'?' || c == d) && plain(p, n),
                    _ => false,
                }
            }
            prop_assert_eq!(fits(&pattern, &name), plain(pattern.as_bytes(), name.as_bytes()));
        }
    }
}
