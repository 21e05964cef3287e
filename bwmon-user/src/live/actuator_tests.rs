//! What goes wrong with votes in the middle of a run.

use super::super::restore::Item;
use super::super::voter;
use super::rig::{BOARD, LIMITS, NOC, PATHS, USERSPACE, rig, tree};
use super::*;
use crate::board::{Level, parse};
use crate::decide::Reason;
use crate::live::Root;
use rustix::io::Errno;

#[test]
fn a_write_that_is_refused_in_mid_run_is_named_retried_in_measure_and_counts_for_nothing() {
    for (path, files) in PATHS {
        for file in files {
            for (errno, name) in
                [(Errno::ACCESS, "EACCES"), (Errno::BUSY, "EBUSY"), (Errno::INVAL, "EINVAL")]
            {
                let mut rig = rig(path);
                rig.fail(Some((file, errno)));
                rig.tries();
                let answers = rig.second(1);
                let [Applied::Refused { why }] = answers.as_slice() else {
                    panic!("{path} {file} {name}: one and the same refusal: {answers:?}")
                };
                assert!(why.contains(name) && why.contains(file), "{path}: {why}");
                // Tries at 0, 20, 60, 140, 300 and 620 ms; at most eight writes each.
                let tries = rig.tries();
                assert!((6..=48).contains(&tries), "{path} {file}: {tries} writes");
                assert_eq!(rig.governor.level(0), Some(Level(2)), "{path}: never the unwritten");
                assert_eq!(rig.governor.level(1), Some(Level(1)), "the other domain goes on");
                assert_eq!(rig.tick(2), (Applied::InForce, Applied::Placed), "{path}: still there");
                rig.fail(None);
                assert_eq!(rig.second(1).last(), Some(&Applied::InForce), "{path} {file}");
                assert_eq!(rig.governor.level(0), Some(Level(1)), "taken at last");
                let released = rig.release();
                assert!(released.iter().all(|line| line.starts_with("true")), "{released:?}");
            }
        }
    }
}

#[test]
fn no_device_in_mid_run_ends_that_domain_once_and_the_loop_goes_on() {
    for (path, files) in PATHS {
        for file in files {
            let mut rig = rig(path);
            rig.fail(Some((file, Errno::NODEV)));
            let (first, other) = rig.tick(1);
            assert!(matches!(first, Applied::Gone { .. }), "{path} {file}: {first:?}");
            assert_eq!(other, Applied::Placed);
            rig.tries();
            for level in [0, 1, 2] {
                let (_, other) = rig.tick(level);
                assert_eq!(other, Applied::Placed);
                assert_eq!(rig.governor.last()[0].vote, None, "{path}: nothing is voted into it");
            }
            assert_eq!(rig.tries(), 0, "{path}");
        }
    }
}

#[test]
fn more_than_was_refused_is_tried_at_once() {
    let mut rig = rig(USERSPACE);
    rig.second(0);
    rig.fail(Some(("set_freq", Errno::BUSY)));
    assert!(matches!(rig.tick(1).0, Applied::Refused { .. }));
    rig.fail(None);
    assert!(matches!(rig.tick(1).0, Applied::Refused { .. }), "that one waits");
    assert_eq!(rig.tick(2).0, Applied::Placed);
}

#[test]
fn what_cannot_be_put_back_stays_in_the_restore_file_with_its_errno() {
    let mut rig = rig(USERSPACE);
    rig.tick(1);
    rig.fail(Some(("governor", Errno::BUSY)));
    let released = rig.release();
    assert_eq!(released[0], "true devfreq l3: governor back to performance");
    assert!(released[1].starts_with("false devfreq noc: EBUSY"), "{released:?}");
    rig.fail(None);
    assert_eq!(rig.release(), ["true devfreq noc: governor back to performance"]);
    assert_eq!(rig.read(&format!("{NOC}/governor")), "performance");
}

#[test]
fn a_limit_that_another_process_lowers_clamps_and_raised_again_is_over() {
    let mut rig = rig(USERSPACE);
    let target = format!("{NOC}/target_freq");
    rig.write(&target, "3000");
    assert_eq!(rig.second(2), [Applied::InForce]);
    // A thermal daemon: the kernel's target follows, our wish stays in set_freq.
    rig.write(&format!("{NOC}/max_freq"), "1000");
    rig.write(&target, "1000");
    assert_eq!(rig.second(2).last(), Some(&Applied::Clamped { found: 1_000 }));
    assert_eq!((rig.seen(), rig.governor.level(0)), (Some(Level(0)), Some(Level(2))));
    assert_eq!(rig.second(2), [Applied::Clamped { found: 1_000 }], "it is so on every tick");
    // A new wish is written all the same, and is clamped too.
    assert_eq!(rig.tick(1).0, Applied::Clamped { found: 1_000 });
    assert_eq!(rig.read(&format!("{NOC}/userspace/set_freq")), "2000");
    rig.write(&format!("{NOC}/max_freq"), "3000");
    rig.write(&target, "2000");
    assert_eq!(rig.second(1).last(), Some(&Applied::InForce));
    rig.tick(1);
    assert_eq!(rig.seen(), Some(Level(1)));
    rig.write(&format!("{NOC}/max_freq"), "2000");
    rig.release();
    assert_eq!(rig.read(&format!("{NOC}/max_freq")), "2000", "theirs");
}

#[test]
fn a_foreign_change_of_our_limits_makes_the_domain_manual_and_stays_at_the_end() {
    let mut rig = rig(LIMITS);
    rig.write(&format!("{NOC}/max_freq"), "1000");
    let last = rig.second(2).pop().unwrap();
    assert_eq!(last, Applied::Refused { why: "no vote".into() });
    assert_eq!(rig.governor.last()[0].decision.reason, Reason::Manual);
    let released = rig.release();
    let left = "true devfreq noc: left as it is: devfreq noc: max_freq is now 1000, we wrote 3000";
    assert!(released.iter().any(|line| line == left), "{released:?}");
    assert_eq!(rig.read(&format!("{NOC}/max_freq")), "1000");
}

#[test]
fn who_wrote_is_named_if_a_probe_saw_it_since_our_last_write() {
    let file = format!("{NOC}/userspace/set_freq");
    let foreign = |rig: &mut rig::Rig| {
        rig.write(&file, "1000");
        let answers = rig.second(1);
        let what = answers.iter().find_map(|answer| match answer {
            Applied::Foreign { what } => Some(what.clone()),
            _ => None,
        });
        what.unwrap()
    };
    let now = "devfreq noc: set_freq is now 1000, we wrote 2000";
    for (comm, after_ns, who) in [
        ("sh", 1, " (by sh[1])"),
        ("kworker/0:1", 1, ", and the kernel (kworker/0:1) has changed its frequency since"),
        ("\u{1b}[2Jx\n", 1, " (by \u{fffd}[2Jx\u{fffd}[1])"),
        ("sh", 0, ""),
    ] {
        let mut rig = rig(USERSPACE);
        rig.tick(1);
        rig.changed_by(comm, after_ns);
        assert_eq!(foreign(&mut rig), format!("{now}{who}"));
    }
    // What was seen before our last look found ours in place.
    let mut rig = rig(USERSPACE);
    rig.tick(1);
    rig.changed_by("sh", 1);
    rig.second(1);
    assert_eq!(foreign(&mut rig), now);
}

#[test]
fn what_somebody_changes_after_the_last_tick_is_not_put_back_either() {
    for (file, text) in [("min_freq", "1000"), ("max_freq", "2000")] {
        let mut rig = rig(LIMITS);
        rig.tick(2);
        rig.write(&format!("{NOC}/{file}"), text);
        let released = rig.release();
        assert!(released.iter().any(|line| line.contains("left as it is")), "{released:?}");
        assert_eq!(rig.read(&format!("{NOC}/{file}")), text);
    }
}

#[test]
fn the_items_of_every_path_of_a_domain_are_forgotten_with_it() {
    let two = "icc = [{ src = \"chm_apps\", dst = \"ebi\" }, { src = \"chm_apps\", dst = \"l3\" }]";
    let board = BOARD.replace("[\"ddr\"]", "[\"ddr\", \"l3\"]").replace("_000]", "_000, 7]");
    let board = parse("b.toml", &format!("{board}{two}\n")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let root = Root::at(folder.path());
    tree(&root);
    let voter = voter::open(&root, &board.domains[0]).unwrap().unwrap();
    let mut restore = RestoreFile::new(&root, &root.path("/run/bwmon"));
    for dst in ["ebi", "l3"] {
        restore.note(Item::Icc { src: "chm_apps".into(), dst: dst.into(), tag: 3 }).unwrap();
    }
    restore.forget(&voter.objects(), "somebody else's");
    assert_eq!((restore.items().len(), restore.put_back().unwrap().len()), (0, 2));
}
