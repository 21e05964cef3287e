//! One tick's whole story: one line of the journal.

use crate::board::Board;
use crate::decide::Decision;
use crate::governor::{DomainTick, Origin};
use crate::policy::Ask;
use crate::sample::Sample;
use crate::units::Kbps;
use crate::vote::{Applied, Vote};
use serde::ser::{SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};

/// A story about to be written: borrowed, so that a run without a journal pays nothing.
#[derive(Clone, Copy)]
pub struct EntryView<'a> {
    board: &'a Board,
    sample: &'a Sample,
    ticks: &'a [DomainTick],
    applied: &'a [Option<Applied>],
}

impl<'a> EntryView<'a> {
    /// The story of `sample`; `ticks` and `applied` have one entry per domain of `board`.
    pub fn new(
        board: &'a Board,
        sample: &'a Sample,
        ticks: &'a [DomainTick],
        applied: &'a [Option<Applied>],
    ) -> Self {
        Self { board, sample, ticks, applied }
    }

    /// The sample.
    pub fn sample(&self) -> &Sample {
        self.sample
    }

    /// Per domain: its name, its tick and the machine's answer.
    pub fn domains(
        &self,
    ) -> impl Iterator<Item = (&'a str, &'a DomainTick, Option<&'a Applied>)> + use<'a> {
        let names = self.board.domains.iter().map(|domain| domain.name.as_str());
        let answers = self.applied.iter().map(Option::as_ref).chain(std::iter::repeat(None));
        names.zip(self.ticks).zip(answers).map(|((name, tick), answer)| (name, tick, answer))
    }

    /// The line, without its end.
    ///
    /// # Errors
    /// Never in practice: every part is plain data.
    pub fn line(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}

impl Serialize for EntryView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Domains<'a, 'b>(&'b EntryView<'a>);
        impl Serialize for Domains<'_, '_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_seq(self.0.domains().map(DomainLine::new))
            }
        }
        let mut line = serializer.serialize_struct("Entry", 2)?;
        line.serialize_field("sample", self.sample)?;
        line.serialize_field("domains", &Domains(self))?;
        line.end()
    }
}

/// One domain in a line.
#[derive(Serialize)]
struct DomainLine<'a> {
    name: &'a str,
    #[serde(rename = "peak_kBps")]
    peak_kbps: Option<Kbps>,
    by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    ask: Ask,
    why: &'a str,
    #[serde(skip_serializing_if = "is_zero")]
    hold_ms: u32,
    #[serde(rename = "wake_kBps", skip_serializing_if = "Option::is_none")]
    wake_kbps: Option<(Kbps, Kbps)>,
    decision: Decision,
    vote: Option<Vote>,
    applied: Option<&'a Applied>,
}

impl<'a> DomainLine<'a> {
    fn new((name, tick, applied): (&'a str, &'a DomainTick, Option<&'a Applied>)) -> Self {
        let (by, fault) = match &tick.origin {
            Origin::Policy => ("policy", None),
            Origin::Fault(fault) => ("fallback", Some(fault.line())),
            Origin::Aside => ("fallback", None),
            Origin::Demoted => ("demoted", None),
        };
        Self {
            name,
            peak_kbps: tick.observation.measured.map(|m| m.peak_kbps),
            by,
            fault,
            ask: tick.proposal.ask,
            why: &tick.proposal.why,
            hold_ms: tick.proposal.hold_ms,
            wake_kbps: tick.proposal.wake_kbps,
            decision: tick.decision,
            vote: tick.vote,
            applied,
        }
    }
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// What is read back from a line: all that is needed to walk it again.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Entry {
    /// The sample.
    pub sample: Sample,
    /// The machine's answers, per domain.
    pub domains: Vec<EntryDomain>,
}

/// One domain of an [`Entry`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct EntryDomain {
    /// Its name.
    pub name: String,
    /// What the machine answered; `None` where there was no vote.
    pub applied: Option<Applied>,
}
