//! A row for each tick and domain.

use super::story::Story;
use crate::board::Board;

/// The columns: times in ns of CLOCK_MONOTONIC, bandwidths in kB/s, clocks in kHz.
const COLUMNS: [&str; 13] = [
    "t_ns",
    "tick",
    "domain",
    "peak_kBps",
    "level",
    "vote_kBps",
    "applied",
    "by",
    "reason",
    "why",
    "fault",
    "others_kBps",
    "cpu_max_kHz",
];

/// Rows of a journal.
pub struct CsvExport<'a> {
    board: &'a Board,
}

impl<'a> CsvExport<'a> {
    /// For journals of `board`.
    pub fn new(board: &'a Board) -> Self {
        Self { board }
    }

    /// The first row.
    pub fn head(&self) -> Vec<u8> {
        rows([COLUMNS.map(str::to_owned).to_vec()])
    }

    /// The rows of a tick; an empty field is unknown.
    pub fn tick(&self, story: &Story) -> Vec<u8> {
        let known = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
        rows(story.domains.iter().enumerate().map(|(index, domain)| {
            vec![
                story.sample.window.end_ns.0.to_string(),
                story.sample.tick.to_string(),
                domain.name.clone(),
                known(domain.peak_kbps),
                known(domain.decision.level.map(|level| level as u64)),
                known(domain.vote_kbps(self.board, index)),
                domain.answer().unwrap_or_default().to_owned(),
                domain.by.clone(),
                domain.decision.reason.clone(),
                domain.why.clone(),
                domain.fault.clone().unwrap_or_default(),
                known(story.others_kbps(index)),
                known(story.sample.probes.cpu_max_khz.map(|khz| khz.0)),
            ]
        }))
    }
}

fn rows(rows: impl IntoIterator<Item = Vec<String>>) -> Vec<u8> {
    let mut out = csv::Writer::from_writer(Vec::new());
    for row in rows {
        // Writing into memory does not fail, and all rows have the same length.
        let _ = out.write_record(row);
    }
    out.into_inner().unwrap_or_default()
}
