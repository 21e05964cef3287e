//! Ranks with ties, as integers.

/// The ranks of values among each other.
pub(super) struct Ranks {
    /// Twice the rank of every value, in input order. Tied values share the mean of their places (the
    /// mid-rank), which is a whole or a half number: doubled, it is always whole.
    pub(super) doubled: Vec<u64>,
    /// How many values share a rank, for every rank.
    pub(super) groups: Vec<u64>,
}

impl Ranks {
    /// Ranks `values`, which are finite; the smallest has rank 1. Only equal numbers are tied.
    pub(super) fn of(values: &[f64]) -> Self {
        let mut sorted: Vec<(usize, f64)> = values.iter().copied().enumerate().collect();
        sorted.sort_by(|a, b| a.1.total_cmp(&b.1));
        let mut placed: Vec<(usize, u64)> = Vec::with_capacity(values.len());
        let mut groups = Vec::new();
        for group in sorted.chunk_by(|a, b| a.1 == b.1) {
            let (before, size) = (placed.len() as u64, group.len() as u64);
            // First place plus last place.
            let doubled = (before + 1) + (before + size);
            placed.extend(group.iter().map(|(index, _)| (*index, doubled)));
            groups.push(size);
        }
        placed.sort_unstable();
        Self { doubled: placed.into_iter().map(|(_, doubled)| doubled).collect(), groups }
    }

    /// The sum of t^3 - t over groups of t equal values: 0 without ties.
    pub(super) fn tie_term(&self) -> f64 {
        self.groups.iter().map(|t| *t as f64).map(|t| t * t * t - t).sum()
    }
}
