//! A journal walked up to one of its ticks, for an explanation of it.

use super::{Recorded, checked, governor, next_entry};
use crate::governor::Governor;
use crate::journal::{Header, JournalError, Reader};
use crate::policy::Policy;
use crate::run::{RunStats, walk};
use crate::sample::Sample;
use crate::vote::Applied;
use std::io::BufRead;

/// The tick that was looked for: everything as it was when it was decided.
pub struct Reached {
    /// The governor, whose last tick it is.
    pub governor: Governor,
    /// Its sample.
    pub sample: Sample,
    /// The machine's answers, per domain.
    pub applied: Vec<Option<Applied>>,
}

/// Walks `journal` with `policy`, which is its own, to the first tick for which `wanted` says yes.
/// `None` if there is none; then the last sample is in `last`.
///
/// # Errors
/// When the journal is broken.
pub fn until<R: BufRead>(
    mut journal: Reader<R>,
    header: &Header,
    policy: Box<dyn Policy>,
    mut wanted: impl FnMut(&Sample) -> bool,
    last: &mut Option<Sample>,
) -> Result<Option<Reached>, JournalError> {
    checked(journal.file(), header)?;
    let mut governor = governor(header, policy);
    let mut answers = Recorded::default();
    let (mut applied, mut stats) = (Vec::new(), RunStats::default());
    while let Some(entry) = next_entry(&mut journal, &mut governor)? {
        answers.take(entry.domains);
        walk(&mut governor, &mut answers, &entry.sample, &mut applied, &mut stats);
        if wanted(&entry.sample) {
            return Ok(Some(Reached { governor, sample: entry.sample, applied }));
        }
        *last = Some(entry.sample);
    }
    Ok(None)
}
