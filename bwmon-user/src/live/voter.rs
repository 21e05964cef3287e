//! One way to vote for one domain.

use super::bus_dcvs::BusDcvsVoter;
use super::devfreq::DevfreqVoter;
use super::devfreq_limits::LimitsVoter;
use super::icc_client::IccVoter;
use super::restore::RestoreFile;
use super::root::Root;
use super::vote_device::DeviceVoter;
use crate::board::{DevfreqKnob, Domain, Level};
use crate::vote::Applied;
use std::fmt::Debug;

/// A vote path that was looked at and can be used. Every implementation writes only what the machine
/// lists, reads back what it wrote, and notes what was there before its first write.
pub(super) trait Voter: Debug {
    /// The object, for messages: `devfreq soc:ddr-bw (userspace)`.
    fn name(&self) -> String;

    /// What is voted through, for messages: `devfreq soc:ddr-bw`.
    fn object(&self) -> String;

    /// The objects of the restore items that belong to it.
    fn objects(&self) -> Vec<String> {
        vec![self.object()]
    }

    /// The level in force by whatever is there now; `None` if it cannot be told.
    fn level_in_force(&self) -> Option<Level>;

    /// Notes what is there, and takes the path over.
    ///
    /// # Errors
    /// When that could not be noted (nothing was changed), or the path was not given.
    fn take_over(&mut self, restore: &mut RestoreFile) -> anyhow::Result<()>;

    /// Votes for `level` and says what came of it.
    fn vote(&mut self, level: Level) -> Applied;

    /// Whether what was written still stands. Less than it in force is `Clamped` or `NotHonoured`.
    fn look(&mut self) -> Applied;

    /// Whether nothing is left of our vote, as before the first one. After a sleep that is a loss; at
    /// any other time it is somebody else's doing.
    fn is_lost(&self) -> bool;
}

/// The vote path that the board names for `domain`, looked at; `None` if it names none.
///
/// # Errors
/// What is missing on this machine, and what is there instead.
pub(super) fn open(root: &Root, domain: &Domain) -> anyhow::Result<Option<Box<dyn Voter>>> {
    if let Some(path) = &domain.devfreq {
        return Ok(Some(match path.through {
            DevfreqKnob::Userspace => Box::new(DevfreqVoter::open(root, path)?),
            DevfreqKnob::Limits => Box::new(LimitsVoter::open(root, path)?),
        }));
    }
    if !domain.icc.is_empty() {
        return Ok(Some(Box::new(IccVoter::open(root, &domain.icc, &domain.table)?)));
    }
    if let Some(device) = &domain.vote {
        return Ok(Some(Box::new(DeviceVoter::open(root, device, &domain.table)?)));
    }
    match &domain.bus_dcvs {
        Some(path) => Ok(Some(Box::new(BusDcvsVoter::open(root, path)?))),
        None => Ok(None),
    }
}

#[cfg(test)]
#[path = "voter_tests.rs"]
mod tests;
