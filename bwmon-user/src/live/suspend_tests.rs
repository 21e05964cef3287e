//! Votes over a suspend.

use super::super::slept::played;
use super::rig::{LIMITS, NOC, USERSPACE, rig};
use crate::vote::Applied;
use rustix::io::Errno;

#[test]
fn a_vote_that_is_lost_over_a_suspend_is_written_again_at_once_and_once() {
    let mut limits = rig(LIMITS);
    limits.tick(1);
    for (file, text) in [("min_freq", "1000"), ("max_freq", "3000")] {
        limits.write(&format!("{NOC}/{file}"), text);
    }
    played::sleep(60_000_000_000);
    assert_eq!(limits.tick(1).0, Applied::Placed);
    assert_eq!(limits.read(&format!("{NOC}/min_freq")), "2000");
    drop(limits);

    let mut rig = rig(USERSPACE);
    rig.tick(1);
    let file = format!("{NOC}/userspace/set_freq");
    rig.write(&file, "undefined");
    played::sleep(60_000_000_000);
    rig.tries();
    assert_eq!(rig.tick(1), (Applied::Placed, Applied::Placed), "each domain learns of it");
    assert_eq!(rig.read(&file), "2000");
    assert_eq!(rig.tick(1), (Applied::InForce, Applied::InForce));
    assert_eq!(rig.tries(), 1);
    // Without a sleep the same is somebody else's doing.
    rig.write(&file, "undefined");
    assert!(rig.second(1).iter().any(|answer| matches!(answer, Applied::Foreign { .. })));
}

#[test]
fn a_vote_that_is_refused_after_a_suspend_is_still_known_as_lost_and_tried_again() {
    let mut rig = rig(USERSPACE);
    rig.tick(1);
    rig.write(&format!("{NOC}/userspace/set_freq"), "undefined");
    rig.fail(Some(("set_freq", Errno::BUSY)));
    played::sleep(60_000_000_000);
    let refused = rig.second(1);
    assert!(matches!(refused.as_slice(), [Applied::Refused { .. }]), "{refused:?}");
    rig.fail(None);
    assert_eq!(rig.second(1).last(), Some(&Applied::InForce));
    assert_eq!(rig.read(&format!("{NOC}/userspace/set_freq")), "2000");
}

#[test]
fn what_somebody_chose_while_the_machine_slept_is_theirs() {
    let mut rig = rig(USERSPACE);
    rig.tick(1);
    rig.write(&format!("{NOC}/userspace/set_freq"), "1000");
    played::sleep(60_000_000_000);
    assert!(matches!(rig.tick(1).0, Applied::Foreign { .. }));
}
