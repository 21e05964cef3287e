//! `bwmon policy docs`.

use crate::cli::Answer;
use crate::cli::output::{line, table};
use crate::policy::script::{FUNCTIONS, PROPERTIES, Word};

pub(super) fn main() -> anyhow::Result<Answer> {
    let rows = |words: &[Word], prefix: &str| {
        words
            .iter()
            .map(|(name, what)| vec![format!("{prefix}{name}"), (*what).to_owned()])
            .collect()
    };
    line(&table(&["reading", "meaning"], &[], rows(PROPERTIES, "obs.")))?;
    line("")?;
    line(&table(&["function", "meaning"], &[], rows(FUNCTIONS, "")))?;
    line("\nThe language, with examples: docs/policy-guide.md")?;
    Ok(Answer::Yes)
}
