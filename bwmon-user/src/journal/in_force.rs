//! What holds at some point of a journal: the header of a part that goes on from there.

use super::{EntryView, Header, Note};
use crate::board::Level;
use crate::command::{Hold, PauseAt, Terms};
use serde::{Deserialize, Serialize};

/// That a journal goes on from an earlier file, and what its header says of that point besides
/// policy, product, rails and levels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Continues {
    /// The number of this part; the first file is part 0 and has no such mark.
    pub part: u64,
    /// The first 16 digits of the SHA-256 of the first file's header: parts of one run share it.
    pub of: String,
    /// The pause in force, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<PauseAt>,
    /// The holds in force.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<Hold>,
    /// A canary was on trial.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_trial: bool,
}

/// Follows a journal line by line.
#[derive(Clone, Debug)]
pub struct InForce {
    header: Header,
    pause: Option<PauseAt>,
    holds: Vec<Hold>,
    trial: Option<(super::PolicyRecord, Option<Terms>)>,
}

impl InForce {
    /// At the beginning.
    pub fn new(header: Header) -> Self {
        Self { header, pause: None, holds: Vec::new(), trial: None }
    }

    /// After `note`.
    pub fn note(&mut self, note: &Note) {
        match note {
            Note::Policy { policy, terms } => {
                self.header.policy.clone_from(policy);
                self.trial = None;
                self.terms(terms.clone());
            }
            Note::Canary { policy, terms, .. } => {
                self.trial = Some((policy.clone(), terms.clone()));
            }
            Note::CanaryEnd(end) => {
                if let Some((policy, terms)) = self.trial.take().filter(|_| end.promoted) {
                    self.header.policy = policy;
                    self.terms(terms);
                }
            }
            Note::Pause(at) => self.pause = Some(*at),
            Note::Resume => self.pause = None,
            Note::Hold(hold) => self.holds.push(hold.clone()),
            Note::Release(id) => self.holds.retain(|hold| hold.id != *id),
            Note::Demoted { .. } | Note::Lost(_) => {}
        }
    }

    fn terms(&mut self, terms: Option<Terms>) {
        if let Some(terms) = terms {
            self.header.rails = terms.rails;
            self.header.product = terms.product;
        }
    }

    /// After `entry`.
    pub fn entry(&mut self, entry: &EntryView<'_>) {
        for (index, (_, tick, answer)) in entry.domains().enumerate() {
            if let (Some(vote), Some(answer)) = (tick.vote, answer)
                && answer.in_force()
            {
                self.level(index, vote.level);
            }
        }
    }

    fn level(&mut self, domain: usize, level: Level) {
        if self.header.levels.len() <= domain {
            self.header.levels.resize(domain + 1, None);
        }
        if let Some(known) = self.header.levels.get_mut(domain) {
            *known = Some(level);
        }
    }

    /// The header of a part, number `part`, that goes on from here; `of` as in [`Continues`].
    pub fn header(&self, part: u64, of: &str) -> Header {
        let continues = Continues {
            part,
            of: of.to_owned(),
            pause: self.pause,
            holds: self.holds.clone(),
            on_trial: self.trial.is_some(),
        };
        Header { continues: Some(continues), ..self.header.clone() }
    }
}
