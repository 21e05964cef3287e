//! All domains' vote paths behind one door.

use super::devfreq::DevfreqVoter;
use super::restore::RestoreFile;
use crate::ports::Actuator;
use crate::vote::{Applied, Vote};
use serde::Serialize;

/// Unchanged votes between two looks at whether they still stand: about once a second at the
/// default period.
const LOOK_EVERY: u32 = 125;

/// How one domain is voted.
#[derive(Debug)]
pub(super) enum VotePath {
    /// Through a devfreq device.
    Devfreq(DevfreqVoter),
    /// Decided and journalled, never written.
    DryRun,
}

/// What is said about a domain's path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PathDescription {
    /// The domain.
    pub domain: String,
    /// The path.
    pub path: String,
}

/// Votes on a live machine.
#[derive(Debug)]
pub struct LiveActuator {
    paths: Vec<(VotePath, u32)>,
    restore: Option<RestoreFile>,
}

impl LiveActuator {
    /// One path per domain; `restore` undoes them.
    pub(super) fn new(paths: Vec<VotePath>, restore: Option<RestoreFile>) -> Self {
        Self { paths: paths.into_iter().map(|path| (path, 0)).collect(), restore }
    }

    /// Puts back what was there, and says what was done for each object.
    ///
    /// # Errors
    /// When the restore file cannot be brought up to date.
    pub fn put_back(
        &mut self,
    ) -> Result<Vec<super::restore::Outcome>, super::restore::RestoreError> {
        match &mut self.restore {
            Some(restore) => restore.put_back(),
            None => Ok(Vec::new()),
        }
    }
}

impl Actuator for LiveActuator {
    fn apply(&mut self, vote: &Vote) -> Applied {
        let Some((path, unchanged)) = self.paths.get_mut(vote.domain) else {
            return Applied::Refused { why: "no such domain".into() };
        };
        match path {
            VotePath::DryRun if vote.change => Applied::DryRun,
            VotePath::DryRun => Applied::InForce,
            VotePath::Devfreq(voter) if vote.change => {
                *unchanged = 0;
                // Somebody may have taken the device since the last look.
                match voter.look() {
                    Applied::InForce => voter.vote(vote.level),
                    other => other,
                }
            }
            VotePath::Devfreq(voter) => {
                *unchanged += 1;
                if !unchanged.is_multiple_of(LOOK_EVERY) {
                    return Applied::InForce;
                }
                voter.look()
            }
        }
    }

    fn release(&mut self) -> Result<(), Vec<String>> {
        let failed: Vec<String> = match self.put_back() {
            Ok(outcomes) => outcomes
                .into_iter()
                .filter(|outcome| !outcome.done)
                .map(|outcome| format!("{}: {}", outcome.object, outcome.what))
                .collect(),
            Err(error) => vec![error.to_string()],
        };
        if failed.is_empty() { Ok(()) } else { Err(failed) }
    }
}
