//! A journal behind the doors: the road is walked again over recorded samples and answers.

mod until;

pub use until::{Reached, until};

use crate::command::{Command, Replacement};
use crate::diag::Diagnostic;
use crate::governor::{Governor, Tally};
use crate::journal::{
    Entry, EntryDomain, EntryView, Header, JournalError, Line, Lost, Note, PolicyRecord, Reader,
};
use crate::policy::{self, Policy, PolicySpec};
use crate::ports::{Actuator, Outcome};
use crate::run::{RunStats, obey, walk};
use crate::sample::Sample;
use crate::units::Kbps;
use crate::vote::{Applied, Vote};
use std::collections::VecDeque;
use std::io::BufRead;
use std::sync::Arc;

/// What a verification found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Entries that were walked again.
    pub entries: u64,
    /// Entries that came out otherwise.
    pub different: u64,
    /// The first of them: line, recorded text, replayed text.
    pub first: Option<(usize, String, String)>,
}

impl Verified {
    fn differs(&mut self, line: usize, recorded: String, again: String) {
        self.different += 1;
        self.first.get_or_insert((line, recorded, again));
    }
}

/// Walks `journal` again with its own policy and compares every line to the byte.
///
/// # Errors
/// When the journal is broken or its policy cannot be made.
pub fn verify<R: BufRead>(
    mut journal: Reader<R>,
    header: &Header,
) -> Result<Verified, JournalError> {
    checked(journal.file(), header)?;
    whole(journal.file(), header)?;
    let policy = PolicySpec::from_record(&header.policy).build(&header.board)?.0;
    let mut governor = governor(header, policy);
    let file = journal.file().to_owned();
    let mut before: Option<Sample> = None;
    let mut answers = Recorded::default();
    let (mut applied, mut stats) = (Vec::new(), RunStats::default());
    let mut found = Verified::default();
    let mut expected: VecDeque<String> = VecDeque::new();
    while let Some((line, recorded)) = journal.read()? {
        let entry = match line {
            Line::Entry(entry) => *entry,
            Line::Note(note) => {
                if let Note::Lost(lost) = *note {
                    return Err(cut(&file, journal.line(), &found, lost).into());
                }
                if let Some(command) = command(&file, header, &note)? {
                    obey(&mut governor, command)?;
                } else if expected.pop_front().as_deref() != Some(recorded) {
                    let recorded = recorded.to_owned();
                    found.differs(journal.line(), recorded, "nothing of the kind".to_owned());
                }
                continue;
            }
        };
        let recorded = recorded.to_owned();
        if let Some(missing) = expected.pop_front() {
            found.differs(journal.line(), recorded.clone(), missing);
            expected.clear();
        }
        let line = journal.line();
        follows(&file, line, header, before.as_ref(), &entry.sample)?;
        answers.take(entry.domains);
        walk(&mut governor, &mut answers, &entry.sample, &mut applied, &mut stats);
        let again = EntryView::new(governor.board(), &entry.sample, governor.last(), &applied)
            .line()
            .unwrap_or_default();
        found.entries += 1;
        if again != recorded {
            found.differs(line, recorded, again);
        }
        expected.extend(governor.take_notes().iter().filter_map(|note| note.line().ok()));
        before = Some(entry.sample);
    }
    Ok(found)
}

/// One domain under the recorded and under another policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// The domain's name.
    pub name: String,
    /// Ticks on which both voted.
    pub ticks: u64,
    /// Ticks on which the levels differ.
    pub different: u64,
    /// Mean level as recorded.
    pub recorded_mean: Kbps,
    /// Mean level under the other policy.
    pub other_mean: Kbps,
    /// Level changes as recorded.
    pub recorded_transitions: u64,
    /// Level changes under the other policy.
    pub other_transitions: u64,
}

/// What another policy did on recorded samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// One row per domain.
    pub rows: Vec<Compared>,
    /// How often the other policy did not have its way.
    pub tally: Tally,
}

/// Walks `journal` with its own policy and with `other`, both over the recorded samples. Open loop:
/// the traffic does not answer to the other policy's levels.
///
/// # Errors
/// When the journal is broken or its policy cannot be made.
pub fn compare<R: BufRead>(
    mut journal: Reader<R>,
    header: &Header,
    other: Box<dyn Policy>,
) -> Result<Comparison, JournalError> {
    checked(journal.file(), header)?;
    let own = PolicySpec::from_record(&header.policy).build(&header.board)?.0;
    let mut own = governor(header, own);
    let mut other = governor(header, other);
    let (mut recorded, mut assumed) = (Recorded::default(), Assumed);
    let (mut applied, mut stats) = (Vec::new(), RunStats::default());
    let mut sums = vec![(0u128, 0u128); header.board.domains.len()];
    let mut rows: Vec<Compared> = header
        .board
        .domains
        .iter()
        .map(|domain| Compared { name: domain.name.clone(), ..Compared::default() })
        .collect();
    while let Some(entry) = next_entry(&mut journal, header, &mut own)? {
        recorded.take(entry.domains);
        walk(&mut own, &mut recorded, &entry.sample, &mut applied, &mut stats);
        walk(&mut other, &mut assumed, &entry.sample, &mut applied, &mut stats);
        let ticks = own.last().iter().zip(other.last());
        for ((row, sum), (a, b)) in rows.iter_mut().zip(&mut sums).zip(ticks) {
            let (Some(a), Some(b)) = (a.vote, b.vote) else { continue };
            row.ticks += 1;
            row.different += u64::from(a.level != b.level);
            row.recorded_transitions += u64::from(a.change);
            row.other_transitions += u64::from(b.change);
            sum.0 += u128::from(a.peak_kbps.0);
            sum.1 += u128::from(b.peak_kbps.0);
        }
    }
    for (row, (own, other)) in rows.iter_mut().zip(sums) {
        let ticks = u128::from(row.ticks.max(1));
        row.recorded_mean = Kbps((own / ticks) as u64);
        row.other_mean = Kbps((other / ticks) as u64);
    }
    Ok(Comparison { rows, tally: other.tally().clone() })
}

/// A journal's header says what its entries are measured with.
fn checked(file: &str, header: &Header) -> Result<(), JournalError> {
    let wrong = |what: String| Err(Diagnostic::new(file, what).into());
    if let Err(why) = header.board.check() {
        return wrong(format!("the board in the journal's header does not fit: {why}"));
    }
    if header.rails.len() != header.board.domains.len() {
        return wrong("the header has other rails than its board has domains".into());
    }
    records(&header.policy).try_for_each(|policy| digest_fits(file, policy))
}

/// A part of a journal does not say what its policy remembered when it began.
pub(super) fn whole(file: &str, header: &Header) -> Result<(), JournalError> {
    let Some(continues) = &header.continues else { return Ok(()) };
    let message = format!(
        "this is part {} of a journal, and the part before it is not here: what its policy \
         remembered at its first tick is not known",
        continues.part
    );
    let help = format!(
        "name the newest file, with the older parts beside it as {file}.1, {file}.2 and so on, back \
         to the first; `bwmon replay --policy` and `bwmon export` take any part"
    );
    Err(Diagnostic::new(file, message).help(help).into())
}

/// Lines are missing, so that nothing after them can be told.
fn cut(file: &str, line: usize, found: &Verified, lost: Lost) -> Diagnostic {
    let message = format!(
        "at line {line} {} entries are missing, which could not be written: what follows cannot be \
         verified; of the {} entries before, {} differ",
        lost.entries, found.entries, found.different
    );
    Diagnostic::new(file, message)
}

/// The policy, or where domains have their own, those.
fn records(policy: &PolicyRecord) -> impl Iterator<Item = &PolicyRecord> {
    let parts = policy.policies.iter().map(|part| &part.policy);
    parts.chain(Some(policy).filter(|policy| policy.policies.is_empty()))
}

fn digest_fits(file: &str, policy: &PolicyRecord) -> Result<(), JournalError> {
    let digest = policy::script::digest(&policy.source);
    if policy::is_compiled_in(&policy.name) || digest == policy.digest {
        return Ok(());
    }
    let what = format!("the policy {} in the journal is not the one of its digest", policy.name);
    Err(Diagnostic::new(file, what).into())
}

/// The next entry; what the notes before it say was done is done to `governor`.
fn next_entry<R: BufRead>(
    journal: &mut Reader<R>,
    header: &Header,
    governor: &mut Governor,
) -> Result<Option<Entry>, JournalError> {
    loop {
        let note = match journal.read()? {
            None => return Ok(None),
            Some((Line::Entry(entry), _)) => return Ok(Some(*entry)),
            Some((Line::Note(note), _)) => note,
        };
        if let Some(command) = command(journal.file(), header, &note)? {
            obey(governor, command)?;
        }
    }
}

/// What was done to the governor before the next entry; `None` for what it noted by itself.
fn command(file: &str, header: &Header, note: &Note) -> Result<Option<Command>, JournalError> {
    let (policy, canary, terms) = match note {
        Note::Policy { policy, terms } => (policy, None, terms),
        Note::Canary { policy, ms, rule, terms } => (policy, Some((*ms, rule.clone())), terms),
        Note::Pause(at) => return Ok(Some(Command::Pause(*at))),
        Note::Resume => return Ok(Some(Command::Resume)),
        Note::Hold(hold) => return Ok(Some(Command::Hold(hold.clone()))),
        Note::Release(id) => return Ok(Some(Command::Release(*id))),
        Note::CanaryEnd(_) | Note::Demoted { .. } | Note::Lost(_) => return Ok(None),
    };
    records(policy).try_for_each(|policy| digest_fits(file, policy))?;
    if terms.as_ref().is_some_and(|terms| terms.rails.len() != header.board.domains.len()) {
        let what = "a note has other rails than the board has domains";
        return Err(Diagnostic::new(file, what).into());
    }
    let (policy, terms) = (PolicySpec::from_record(policy), terms.clone());
    Ok(Some(Command::Replace(Box::new(Replacement { policy, canary, terms }))))
}

/// An entry that cannot follow the one before it was put there by somebody else.
fn follows(
    file: &str,
    line: usize,
    header: &Header,
    before: Option<&Sample>,
    sample: &Sample,
) -> Result<(), JournalError> {
    let wrong = |what: &str| {
        let message = format!("line {line}: {what}");
        Err(Diagnostic::new(file, message).help("the journal was changed or put together").into())
    };
    if sample.monitors.len() != header.board.monitors.len() {
        return wrong("other readings than the board has monitors");
    }
    if sample.window.end_ns < sample.window.start_ns {
        return wrong("its window ends before it starts");
    }
    match before {
        Some(before) if sample.tick <= before.tick => {
            wrong("its tick does not come after the last")
        }
        Some(before) if sample.window.start_ns != before.window.end_ns => {
            wrong("its window does not start where the last one ended")
        }
        _ => Ok(()),
    }
}

fn governor(header: &Header, policy: Box<dyn policy::Policy>) -> Governor {
    let board = Arc::new(header.board.clone());
    let mut governor = Governor::new(board, policy, header.rails.clone(), &header.levels);
    if let Some(continues) = &header.continues {
        governor.set_pause(continues.pause);
        continues.holds.iter().cloned().for_each(|hold| governor.hold(hold));
    }
    governor
}

/// Gives the recorded answers.
#[derive(Default)]
struct Recorded(VecDeque<Applied>);

impl Recorded {
    fn take(&mut self, domains: Vec<EntryDomain>) {
        self.0 = domains.into_iter().filter_map(|domain| domain.applied).collect();
    }
}

impl Actuator for Recorded {
    fn apply(&mut self, _: &Vote) -> Applied {
        // A vote that the recording does not have shows up as a line that differs.
        self.0.pop_front().unwrap_or(Applied::InForce)
    }

    fn release(&mut self) -> Vec<Outcome> {
        Vec::new()
    }
}

/// Takes every vote.
struct Assumed;

impl Actuator for Assumed {
    fn apply(&mut self, vote: &Vote) -> Applied {
        if vote.change { Applied::Placed } else { Applied::InForce }
    }

    fn release(&mut self) -> Vec<Outcome> {
        Vec::new()
    }
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod commands_tests;
