//! The head of a script: what its first comment says.

/// The head comment, without the tunables and presets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// What follows `// name:` on the first line.
    pub intent: String,
    /// The rest, paragraph by paragraph (`Intent:`, `Inputs:`, `Promise:`).
    pub paragraphs: Vec<String>,
}

impl Head {
    /// The head of `text`; empty where it begins with code.
    pub fn of(text: &str) -> Self {
        let comments = text
            .lines()
            .map_while(|line| line.trim_start().strip_prefix("//"))
            .map(str::trim)
            .filter(|line| !line.starts_with("@param") && !line.starts_with("@preset"));
        let mut head = Self::default();
        let mut open = false;
        for (number, line) in comments.enumerate() {
            if number == 0 {
                let intent = line.split_once(':').map_or(line, |(_, intent)| intent);
                head.intent = intent.trim().to_owned();
                continue;
            }
            let begins = ["Intent:", "Inputs:", "Promise:"].iter().any(|w| line.starts_with(w));
            match head.paragraphs.last_mut() {
                Some(last) if open && !begins && !line.is_empty() => {
                    last.push(' ');
                    last.push_str(line);
                }
                _ if line.is_empty() => {}
                _ => head.paragraphs.push(line.to_owned()),
            }
            open = !line.is_empty();
        }
        head
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::library::SHIPPED;

    #[test]
    fn intent_and_paragraphs_are_told_apart() {
        let head = Head::of(
            "// slow: comes down late.\n//\n// Intent: a\n// b\n// Inputs: c\n//\n// d\n// @param x = 1\n\n// no more\n",
        );
        assert_eq!(head.intent, "comes down late.");
        assert_eq!(head.paragraphs, ["Intent: a b", "Inputs: c", "d"]);
        assert_eq!(Head::of("fn decide(obs) { hold() }"), Head::default());
    }

    #[test]
    fn every_shipped_policy_says_intent_inputs_and_promise() {
        for shipped in SHIPPED {
            let head = Head::of(shipped.text);
            assert!(head.intent.len() > 20, "{}", shipped.name);
            for word in ["Intent:", "Inputs:", "Promise:"] {
                assert!(head.paragraphs.iter().any(|p| p.starts_with(word)), "{}", shipped.name);
            }
        }
    }
}
