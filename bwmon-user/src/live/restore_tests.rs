use super::*;

fn tree() -> (tempfile::TempDir, Root) {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::at(folder.path());
    let dir = root.path("/sys/class/devfreq/noc");
    std::fs::create_dir_all(&dir).unwrap();
    for (name, text) in [("governor", "userspace\n"), ("target_freq", "5\n")] {
        std::fs::write(dir.join(name), text).unwrap();
    }
    std::fs::create_dir_all(root.path("/proc/sys/kernel/random")).unwrap();
    std::fs::write(root.path("/proc/sys/kernel/random/boot_id"), "a\n").unwrap();
    std::fs::create_dir_all(root.path("/run/bwmon")).unwrap();
    (folder, root)
}

fn load(root: &Root) -> Result<Option<RestoreFile>, RestoreError> {
    RestoreFile::load(root, &root.path("/run/bwmon"), &mut |_| {})
}

fn item() -> Item {
    Item::Devfreq { device: "noc".into(), governor: "performance".into(), target_hz: Some(5) }
}

fn noted(root: &Root) -> RestoreFile {
    let mut file = RestoreFile::new(root, &root.path("/run/bwmon"));
    file.note(item()).unwrap();
    file
}

#[test]
fn what_one_process_noted_another_puts_back() {
    let (_folder, root) = tree();
    drop(noted(&root));
    let mut left = load(&root).unwrap().unwrap();
    assert_eq!(left.items(), [item()]);
    let outcomes = left.put_back().unwrap();
    assert!(outcomes[0].done, "{outcomes:?}");
    let governor = std::fs::read_to_string(root.path("/sys/class/devfreq/noc/governor"));
    assert_eq!(governor.unwrap(), "performance");
    assert!(load(&root).unwrap().is_none());
}

#[test]
fn a_governor_that_somebody_else_chose_is_left_alone() {
    let (_folder, root) = tree();
    let mut file = noted(&root);
    std::fs::write(root.path("/sys/class/devfreq/noc/governor"), "powersave\n").unwrap();
    let outcomes = file.put_back().unwrap();
    assert!(outcomes[0].done && outcomes[0].what.contains("powersave"), "{outcomes:?}");
    let governor = std::fs::read_to_string(root.path("/sys/class/devfreq/noc/governor"));
    assert_eq!(governor.unwrap(), "powersave\n");
}

#[test]
fn one_item_that_fails_does_not_stop_the_others_and_stays_in_the_file() {
    let (_folder, root) = tree();
    let mut file = noted(&root);
    std::fs::create_dir_all(root.path("/sys/bus/platform/devices/1.pmu")).unwrap();
    file.note(Item::Driver { device: "1.pmu".into(), driver: "qcom-bwmon".into() }).unwrap();
    let outcomes = file.put_back().unwrap();
    let done: Vec<bool> = outcomes.iter().map(|outcome| outcome.done).collect();
    // The driver was noted last, so it is tried first; its module is not there.
    assert_eq!(done, [false, true]);
    let left = load(&root).unwrap().unwrap();
    assert_eq!(left.items().len(), 1);
}

#[test]
fn without_a_boot_id_nothing_is_touched() {
    let (_folder, root) = tree();
    drop(noted(&root));
    std::fs::remove_file(root.path("/proc/sys/kernel/random/boot_id")).unwrap();
    let error = load(&root).unwrap_err().to_string();
    assert!(error.contains("/proc mounted"), "{error}");
    assert!(root.path("/run/bwmon/restore.json").exists());
}

#[test]
fn a_file_from_before_the_last_boot_is_set_aside() {
    let (_folder, root) = tree();
    drop(noted(&root));
    std::fs::write(root.path("/proc/sys/kernel/random/boot_id"), "b\n").unwrap();
    assert!(load(&root).unwrap().is_none());
    assert!(!root.path("/run/bwmon/restore.json").exists());
    assert!(root.path("/run/bwmon/restore.json.old").exists());
}

#[test]
fn a_broken_file_is_kept_and_named() {
    let (_folder, root) = tree();
    std::fs::write(root.path("/run/bwmon/restore.json"), "{\"schema\": 1").unwrap();
    let error = load(&root).unwrap_err().to_string();
    assert!(error.contains("restore.json") && error.contains("by hand"), "{error}");
    assert!(root.path("/run/bwmon/restore.json").exists());
}

#[test]
fn a_device_that_vanished_needs_nothing() {
    let (_folder, root) = tree();
    let mut file = noted(&root);
    std::fs::remove_dir_all(root.path("/sys/class/devfreq/noc")).unwrap();
    assert!(file.put_back().unwrap()[0].done);
}

#[test]
fn a_full_disk_notes_nothing_so_that_nothing_is_touched() {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::at(folder.path());
    let random = root.path("/proc/sys/kernel/random");
    std::fs::create_dir_all(&random).unwrap();
    std::fs::write(random.join("boot_id"), "one\n").unwrap();
    // ENOSPC on every write.
    std::os::unix::fs::symlink("/dev/full", folder.path().join("restore.json.new")).unwrap();
    let mut restore = RestoreFile::new(&root, folder.path());
    let item = Item::BusDcvs { hw: "DDR".into(), boost_khz: 1 };
    let error = restore.note(item).unwrap_err().to_string();
    assert!(error.contains("No space left on device"), "{error}");
    assert!(restore.items().is_empty() && !restore.path().exists());
}
