//! Which lines of a script ran.

use std::collections::BTreeMap;

/// Lines and how often a statement that begins on them ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// By line, from 1; 0 for one that never ran.
    pub lines: BTreeMap<usize, u64>,
}

impl Coverage {
    /// Adds what another run reached.
    pub fn add(&mut self, other: &Self) {
        for (line, hits) in &other.lines {
            *self.lines.entry(*line).or_default() += hits;
        }
    }

    /// Lines with a statement, and those of them that ran.
    pub fn counts(&self) -> (usize, usize) {
        (self.lines.len(), self.lines.values().filter(|hits| **hits > 0).count())
    }

    /// Percent of the lines with a statement that ran; `None` for a script without any.
    pub fn percent(&self) -> Option<f64> {
        let (all, ran) = self.counts();
        (all > 0).then(|| ran as f64 * 100.0 / all as f64)
    }

    /// The lines that never ran.
    pub fn missed(&self) -> impl Iterator<Item = usize> {
        self.lines.iter().filter(|(_, hits)| **hits == 0).map(|(line, _)| *line)
    }
}
