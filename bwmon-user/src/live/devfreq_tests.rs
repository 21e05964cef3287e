//! The userspace voter on a fake tree: plain files that keep what was written.

use super::*;
use crate::board::DevfreqKnob;

fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::at(folder.path());
    let dir = root.path("/sys/class/devfreq/noc");
    std::fs::create_dir_all(dir.join("userspace")).unwrap();
    let defaults = [
        ("available_governors", "userspace performance\n"),
        ("available_frequencies", "100 200 300\n"),
        ("governor", "performance\n"),
        ("target_freq", "300\n"),
        ("cur_freq", "300\n"),
        ("userspace/set_freq", "undefined\n"),
    ];
    for (name, text) in defaults.iter().chain(files) {
        std::fs::write(dir.join(name), text).unwrap();
    }
    let random = root.path("/proc/sys/kernel/random");
    std::fs::create_dir_all(&random).unwrap();
    std::fs::write(random.join("boot_id"), "one\n").unwrap();
    (folder, root)
}

fn path() -> DevfreqPath {
    DevfreqPath {
        device: "noc".into(),
        freq_hz: vec![Hz(100), Hz(200), Hz(300)],
        through: DevfreqKnob::Userspace,
    }
}

fn file(root: &Root, name: &str) -> String {
    std::fs::read_to_string(root.path("/sys/class/devfreq/noc").join(name)).unwrap()
}

#[test]
fn what_was_there_is_noted_before_the_governor_changes() {
    let (_folder, root) = tree(&[]);
    let state = root.path("/run/bwmon");
    std::fs::create_dir_all(&state).unwrap();
    let mut restore = RestoreFile::new(&root, &state);
    let mut voter = DevfreqVoter::open(&root, &path()).unwrap();
    assert_eq!(voter.level_in_force(), Some(Level(2)));
    voter.take_over(&mut restore).unwrap();
    assert_eq!(file(&root, "governor"), "userspace");
    let governor = "performance".to_owned();
    let noted = Item::Devfreq { device: "noc".into(), governor, target_hz: Some(300) };
    assert_eq!(restore.items(), [noted]);
}

#[test]
fn without_a_restore_file_nothing_is_touched() {
    let (_folder, root) = tree(&[]);
    let mut restore = RestoreFile::new(&root, &root.path("/run/not-there"));
    let mut voter = DevfreqVoter::open(&root, &path()).unwrap();
    assert!(matches!(voter.take(&mut restore), Err(DevfreqError::Restore(_))));
    assert_eq!(file(&root, "governor"), "performance\n");
    assert_eq!(restore.items(), []);
}

#[test]
fn a_vote_that_reads_back_otherwise_is_clamped_or_not_honoured() {
    // A fake tree does not answer: target and current stay at 300.
    let (_folder, root) = tree(&[]);
    let mut voter = DevfreqVoter::open(&root, &path()).unwrap();
    assert_eq!(voter.vote(Level(2)), Applied::Placed);
    assert_eq!(voter.vote(Level(0)), Applied::Clamped { found: 300 });
    assert_eq!(file(&root, "userspace/set_freq"), "100");
    let (_folder, root) = tree(&[("target_freq", "100\n")]);
    let mut voter = DevfreqVoter::open(&root, &path()).unwrap();
    assert_eq!(voter.vote(Level(0)), Applied::NotHonoured { found: 300 });
}

#[test]
fn foreign_writes_to_governor_and_set_freq_are_seen() {
    let (_folder, root) = tree(&[("governor", "userspace\n")]);
    let mut voter = DevfreqVoter::open(&root, &path()).unwrap();
    voter.vote(Level(2));
    assert_eq!(voter.look(), Applied::InForce);
    std::fs::write(root.path("/sys/class/devfreq/noc/userspace/set_freq"), "100\n").unwrap();
    assert!(matches!(voter.look(), Applied::Foreign { .. }));
    std::fs::write(root.path("/sys/class/devfreq/noc/governor"), "powersave\n").unwrap();
    let Applied::Foreign { what } = voter.look() else { panic!("foreign") };
    assert_eq!(what, "devfreq noc: governor is now powersave");
}

#[test]
fn a_device_that_vanishes_is_gone_and_one_that_refuses_says_why() {
    let (_folder, root) = tree(&[]);
    let mut voter = DevfreqVoter::open(&root, &path()).unwrap();
    let set_freq = root.path("/sys/class/devfreq/noc/userspace");
    std::fs::remove_dir_all(&set_freq).unwrap();
    let Applied::Refused { why } = voter.vote(Level(0)) else { panic!("refused") };
    assert!(why.contains("userspace/set_freq"), "{why}");
    std::fs::remove_dir_all(root.path("/sys/class/devfreq/noc")).unwrap();
    assert_eq!(voter.vote(Level(0)), Applied::Gone { what: "devfreq noc".into() });
    assert_eq!(voter.look(), Applied::Gone { what: "devfreq noc".into() });
}

#[test]
fn what_is_missing_is_named_together_with_what_is_there() {
    let (_folder, root) = tree(&[]);
    let other = DevfreqPath { device: "gpu".into(), ..path() };
    let error = DevfreqVoter::open(&root, &other).unwrap_err().to_string();
    assert_eq!(error, "there is no devfreq device gpu; this machine has noc");
    let (_folder, root) = tree(&[("available_governors", "performance\n")]);
    let error = DevfreqVoter::open(&root, &path()).unwrap_err().to_string();
    assert!(error.contains("offers: performance"), "{error}");
    let (_folder, root) = tree(&[("available_frequencies", "100 300\n")]);
    let error = DevfreqVoter::open(&root, &path()).unwrap_err().to_string();
    assert!(error.contains("no frequency 200 Hz"), "{error}");
}
