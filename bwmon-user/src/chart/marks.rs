//! Where the names of marks fit, in columns or pixels.

/// A label that wants to stand at `at` and needs `length`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label {
    pub(super) at: f64,
    pub(super) length: f64,
}

/// The row for each label, `None` where it fits nowhere. Row 0 is shared with the ticks of all
/// marks, so a label there has to end before the next mark; row 1 has only labels. `labels` are in
/// order, `end` is where the space ends, `gap` what has to stay free between neighbours.
pub(super) fn rows(labels: &[Label], end: f64, gap: f64) -> Vec<Option<usize>> {
    let next = labels.iter().skip(1).map(|label| label.at - gap).chain([end]);
    let mut free = f64::NEG_INFINITY;
    labels
        .iter()
        .zip(next)
        .map(|(label, next)| {
            let stop = label.at + label.length;
            if stop <= next.min(end) {
                return Some(0);
            }
            if stop > end || label.at < free {
                return None;
            }
            free = stop + gap;
            Some(1)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_that_would_meet_the_next_mark_moves_down_and_then_away() {
        let label = |at, length| Label { at, length };
        let labels = [
            label(0.0, 4.0),   // ends at 4, the next mark is at 10
            label(10.0, 9.0),  // would end at 19, past 14: row 1
            label(14.0, 6.0),  // would end at 20, past 16; row 1 is taken until 20
            label(16.0, 5.0),  // ends at 21, the next mark is at 70
            label(70.0, 20.0), // the space ends at 80
        ];
        assert_eq!(rows(&labels, 80.0, 1.0), [Some(0), Some(1), None, Some(0), None]);
    }
}
