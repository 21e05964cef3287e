//! Telling the operator what changes while the agent runs: once per change, never in a flood.

use super::Say;
use crate::command::{Bound, Hold, PauseAt};
use crate::journal::{EntryView, Header, JournalError, Lost, Note};
use crate::live::AgentJournal;
use crate::policy::canary::CanaryEnd;
use crate::ports::JournalSink;
use crate::units::Nanos;
use crate::vote::Applied;

/// Writes the journal, and says what an operator should not have to look for in it.
pub(super) struct Narrator<'a> {
    file: Option<AgentJournal>,
    say: &'a Say,
    /// What was last said about each domain.
    said: Vec<Said>,
    /// What was last said about the journal.
    journal: Said,
    now: Nanos,
}

/// The same again within this time is counted, not said.
const QUIET: Nanos = Nanos(60 * Nanos::PER_S);

/// What was last said about a domain.
#[derive(Clone, Debug, Default)]
struct Said {
    news: String,
    at: Nanos,
    /// It still is so.
    open: bool,
    /// How often it came again without being said.
    unsaid: u64,
}

impl Said {
    /// The line for `news` at `now`; none while it goes on, or comes again and again.
    fn line(&mut self, news: String, now: Nanos) -> Option<String> {
        let again = self.news == news;
        if again && self.open {
            return None;
        }
        self.open = true;
        if again && now.since(self.at) < QUIET {
            self.unsaid += 1;
            return None;
        }
        let more = match (again, self.unsaid) {
            (true, unsaid @ 1..) => format!(" (and {unsaid} times since it was last said)"),
            _ => String::new(),
        };
        let line = format!("{news}{more}");
        *self = Self { news, at: now, open: true, unsaid: 0 };
        Some(line)
    }
}

impl<'a> Narrator<'a> {
    pub(super) fn new(file: Option<AgentJournal>, say: &'a Say) -> Self {
        Self { file, say, said: Vec::new(), journal: Said::default(), now: Nanos(0) }
    }

    pub(super) fn begin(&mut self, header: &Header) -> Result<(), JournalError> {
        self.said = vec![Said::default(); header.board.domains.len()];
        match &mut self.file {
            Some(file) => file.begin(header),
            None => Ok(()),
        }
    }

    fn tell(&mut self, entry: &EntryView<'_>) {
        for ((name, _, applied), said) in entry.domains().zip(&mut self.said) {
            let news = match applied {
                Some(Applied::Foreign { what }) => {
                    format!("domain {name} is manual from now on: {what}")
                }
                Some(Applied::Gone { what }) => format!("domain {name} is gone: {what} vanished"),
                Some(Applied::Refused { why }) => format!("domain {name}: vote refused: {why}"),
                // Taken again after a refusal: the next refusal is news.
                Some(answer) if answer.in_force() => {
                    said.open = false;
                    continue;
                }
                _ => continue,
            };
            if let Some(line) = said.line(news, entry.sample().window.end_ns) {
                (self.say)(&line);
            }
        }
    }
}

impl JournalSink for Narrator<'_> {
    fn append(&mut self, entry: &EntryView<'_>) -> Result<(), JournalError> {
        self.tell(entry);
        self.now = entry.sample().window.end_ns;
        let Some(file) = &mut self.file else { return Ok(()) };
        let (missing, written) = (file.lost(), file.append(entry));
        self.written(missing, written)
    }

    fn note(&mut self, note: &Note) -> Result<(), JournalError> {
        (self.say)(&news(note));
        let Some(file) = &mut self.file else { return Ok(()) };
        let (missing, written) = (file.lost(), file.note(note));
        self.written(missing, written)
    }
}

impl Narrator<'_> {
    /// `missing` is what could not be written before.
    fn written(
        &mut self,
        missing: Lost,
        written: Result<(), JournalError>,
    ) -> Result<(), JournalError> {
        match &written {
            Err(error) => {
                let news = format!("{error}; governing goes on without it");
                if let Some(line) = self.journal.line(news, self.now) {
                    (self.say)(&line);
                }
            }
            // As seldom as the failures are said: a disk may be full again and again.
            Ok(()) if missing != Lost::default() => {
                self.journal.open = false;
                if self.journal.unsaid == 0 {
                    (self.say)(&format!(
                        "the journal is written again; {} entries and {} notes are missing",
                        missing.entries, missing.notes
                    ));
                }
            }
            Ok(()) => {}
        }
        written
    }
}

/// A note for the operator.
pub(crate) fn news(note: &Note) -> String {
    match note {
        Note::Policy { policy, .. } => {
            let digest = Some(&policy.digest).filter(|digest| !digest.is_empty());
            let digest = digest.map(|digest| format!(" ({digest})")).unwrap_or_default();
            format!("{}{digest} decides from now on", policy.name)
        }
        Note::Canary { policy, ms, rule, .. } => format!(
            "{} ({}) runs in shadow for {ms} ms; it takes over if {rule}",
            policy.name, policy.digest
        ),
        Note::CanaryEnd(end) => canary(end),
        Note::Demoted { domain, fault } => format!(
            "domain {domain}: the policy is demoted after repeated faults, the native rule decides \
             until it is replaced; last fault: {fault}"
        ),
        Note::Pause(PauseAt::Top) => "paused: every domain at its highest level".to_owned(),
        Note::Pause(PauseAt::Keep) => "paused: every domain stays at its level".to_owned(),
        Note::Resume => "resumed: the policy decides".to_owned(),
        Note::Hold(hold) => held(hold),
        Note::Release(id) => format!("hold {id} is over"),
        Note::Lost(lost) => format!(
            "{} entries and {} notes are missing from the journal: they could not be written",
            lost.entries, lost.notes
        ),
    }
}

fn held(hold: &Hold) -> String {
    let bound = |bound: Bound| match bound {
        Bound::Level(level) => format!("level {}", level.0),
        Bound::Kbps(kbps) => format!("{kbps} kBps"),
    };
    let side = |name: &str, side: Option<Bound>| side.map(|b| format!(" {name} {}", bound(b)));
    let sides = [side("at least", hold.floor), side("at most", hold.ceiling)];
    let domain = hold.domain.as_deref().unwrap_or("every domain");
    let sides: String = sides.into_iter().flatten().collect();
    format!("hold {} ({}): {domain}{sides}", hold.id, hold.by)
}

fn canary(end: &CanaryEnd) -> String {
    let figures = format!(
        "same level on {} % of the decisions; transitions {} and {}, below demand {} and {} ms, \
         faults {}",
        end.agree_pct,
        end.old.transitions,
        end.new.transitions,
        end.old.below_demand_us.div_ceil(1_000),
        end.new.below_demand_us.div_ceil(1_000),
        end.new.faults,
    );
    match &end.failed {
        None => format!("the canary takes over: {figures}"),
        Some(why) => format!("the canary is dropped, the old policy stays: {why}; {figures}"),
    }
}

#[cfg(test)]
#[path = "narrator_tests.rs"]
mod tests;
