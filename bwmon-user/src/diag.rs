//! One error for one place in a text that an operator wrote: file, line, the offending text, and
//! what to do.

use std::fmt;

/// A fault in a policy, board file, agenda or journal, shown with its source line and a caret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file as the operator named it, or a name in angle brackets for built-in texts.
    pub file: String,
    /// Line and column, both from 1; `None` when the fault has no single place.
    pub place: Option<Place>,
    /// What is wrong, in one line.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// Where in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The text of that line.
    pub text: String,
}

impl Place {
    /// The place of line `line` and column `column` (both from 1) in `source`.
    pub fn at(source: &str, line: usize, column: usize) -> Self {
        let text = source.lines().nth(line.saturating_sub(1)).unwrap_or("").to_owned();
        Self { line: line.max(1), column: column.max(1), text }
    }

    /// The place of byte `offset` in `source`.
    pub fn at_byte(source: &str, offset: usize) -> Self {
        let before = source.get(..offset.min(source.len())).unwrap_or(source);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        Self::at(source, line, column)
    }
}

impl Diagnostic {
    /// A fault without a place yet.
    pub fn new(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self { file: file.into(), place: None, message: message.into(), help: None }
    }

    /// What the TOML parser says about `text`, the file `file`.
    pub fn from_toml(file: &str, text: &str, error: &toml::de::Error) -> Self {
        let mut fault = Self::new(file, error.message().trim());
        fault.help = nearest_key(&fault.message);
        match error.span() {
            Some(span) => fault.at(Place::at_byte(text, span.start)),
            None => fault,
        }
    }

    /// The same fault at `place`.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// The same fault with a next step.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// What an unknown key may have been meant to be, from the parser's own list: "unknown field `a`,
/// expected one of `b`, `c`".
fn nearest_key(message: &str) -> Option<String> {
    let mut names = message.strip_prefix("unknown field `")?.split('`').step_by(2);
    let word = names.next()?;
    did_you_mean(word, names).map(|near| format!("did you mean {near}?"))
}

/// Characters of a source line that are shown.
const SHOWN: usize = 160;

/// `c`, or a mark in its place if it would move the cursor or change the terminal.
pub fn printable(c: char) -> char {
    if c.is_control() && c != '\t' { '\u{fffd}' } else { c }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message: String =
            self.message.chars().map(|c| if c == '\n' { c } else { printable(c) }).collect();
        writeln!(f, "{message}")?;
        match &self.place {
            Some(place) => {
                let number = place.line.to_string();
                let gutter = " ".repeat(number.len());
                writeln!(f, "{gutter}--> {}:{}:{}", self.file, place.line, place.column)?;
                writeln!(f, "{gutter} |")?;
                // Of a very long line the part around the fault.
                let skip = if place.column > SHOWN { place.column - SHOWN / 2 } else { 0 };
                let shown = place.text.chars().skip(skip).take(SHOWN);
                writeln!(f, "{number} | {}", shown.map(printable).collect::<String>())?;
                let before = place.text.chars().skip(skip).take(place.column - 1 - skip);
                let indent: String = before.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
                write!(f, "{gutter} | {indent}^")?;
            }
            None => write!(f, " --> {}", self.file)?,
        }
        if let Some(help) = &self.help {
            write!(f, "\n  = help: {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}

/// The candidate that is closest to `word`, if it is close enough to be what was meant.
pub fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (edit_distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.chars().count().max(3) / 3)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Levenshtein distance, one row at a time; the words are names, a few dozen characters long.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut next = vec![i + 1];
        for ((cb, above), diagonal) in b.iter().zip(row.iter().skip(1)).zip(row.iter()) {
            let left = next.last().copied().unwrap_or(0);
            next.push((left + 1).min(above + 1).min(diagonal + usize::from(ca != *cb)));
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caret_stands_under_the_offending_character() {
        let source = "a = 1\nb = x\n";
        let shown =
            Diagnostic::new("f.toml", "bad value").at(Place::at_byte(source, 10)).to_string();
        assert_eq!(shown, "bad value\n --> f.toml:2:5\n  |\n2 | b = x\n  |     ^");
    }

    #[test]
    fn a_near_name_is_suggested_and_a_far_one_is_not() {
        assert_eq!(did_you_mean("sdm485", ["sdm845", "sc7180"]), Some("sdm845"));
        assert_eq!(did_you_mean("raspberry", ["sdm845", "sc7180"]), None);
    }

    #[test]
    fn an_unknown_toml_key_is_answered_with_the_nearest_one() {
        let near = |message: &str| nearest_key(message);
        let known = "unknown field `force_claer`, expected one of `name`, `force_clear`";
        assert_eq!(near(known).as_deref(), Some("did you mean force_clear?"));
        assert_eq!(near("unknown field `speed`, expected `name`"), None);
        assert_eq!(near("invalid type: string"), None);
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal_and_long_lines_are_cut() {
        let source = format!("{}\u{1b}[31mx", "a".repeat(500));
        let shown = Diagnostic::new("f", "bad\u{1b}").at(Place::at(&source, 1, 501)).to_string();
        assert!(!shown.contains('\u{1b}'), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() < 200), "{shown}");
    }

    #[test]
    fn a_place_beyond_the_text_is_still_shown() {
        assert_eq!(Place::at("one line", 9, 0), Place { line: 9, column: 1, text: String::new() });
    }
}
