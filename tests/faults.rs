//! What goes wrong on a machine in the middle of a run, and kill -9 at random points.

use crate::common::{Agent, Tree, ZONE_MAX_1, at, good, wait_for};
use std::fs;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

/// The agent's registers in the fake `/dev/mem`.
const REGISTERS: (u64, usize) = (0x1400, 0x600);

fn mem(tree: &Tree) -> fs::File {
    fs::OpenOptions::new().write(true).open(tree.path("dev/mem")).unwrap()
}

/// Ends an agent of `tree` in good order; its journal walks again to the byte.
fn end(tree: &Tree, mut agent: Agent) {
    let pid = agent.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert_eq!(agent.wait().unwrap().code(), Some(0));
    good(&["replay", "--verify", &at(&tree.folder, "journal")]);
}

#[test]
fn kill_9_at_200_random_points_and_restore_puts_everything_back() {
    let tree = Tree::new();
    let untouched = |tree: &Tree| {
        let files = ["governor", "min_freq", "max_freq"];
        files.map(|name| tree.read(&format!("sys/class/devfreq/noc/{name}")))
    };
    let before = untouched(&tree);
    // A small generator, so that a failure can be repeated: x = x * 6364136223846793005 + 1.
    let mut random: u64 = 20_261_201;
    let (mut taken, mut early) = (0, 0);
    for point in 0..200 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let moment = Duration::from_micros(random >> 33 & 0xffff);
        let mut agent = tree.start();
        let began = Instant::now();
        while began.elapsed() < moment {
            std::thread::yield_now();
        }
        agent.kill().unwrap();
        agent.wait().unwrap();
        if tree.governor() == "userspace" {
            taken += 1
        } else {
            early += 1
        }
        let ran = tree.restore();
        assert_eq!(ran.code, Some(0), "point {point} at {moment:?}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(untouched(&tree), before, "point {point} at {moment:?}");
        assert_eq!(tree.restore().stdout, "nothing to put back\n", "point {point}");
    }
    // 0 to 65 ms: before and after the takeover.
    assert!(taken > 20 && early > 5, "{taken} after the takeover, {early} before");
}

#[test]
fn a_block_that_loses_its_programming_is_programmed_anew_and_said_in_the_journal() {
    let tree = Tree::new();
    let agent = tree.start();
    // The block is programmed after the first vote.
    tree.wait_for_journal("\"polled\"");
    let (at, size) = REGISTERS;
    mem(&tree).write_at(&vec![0; size], at).unwrap();
    tree.wait_for_journal("\"missing\":\"reprogrammed\"");
    // It counts again after that.
    mem(&tree).write_at(&150u32.to_le_bytes(), ZONE_MAX_1).unwrap();
    tree.wait_for_journal("\"peak_kBps\":2416000");
    end(&tree, agent);
}

#[test]
fn a_full_counter_is_the_highest_level() {
    let tree = Tree::new();
    let agent = tree.start();
    wait_for("a vote", || tree.set_freq() == "300");
    mem(&tree).write_at(&0xfffu32.to_le_bytes(), ZONE_MAX_1).unwrap();
    // (4095 + 1) * 16000 kBps.
    tree.wait_for_journal("\"peak_kBps\":65536000");
    end(&tree, agent);
    assert_eq!(tree.set_freq(), "300");
}

#[test]
fn cpus_that_go_off_line_are_in_the_journal() {
    let tree = Tree::new();
    tree.write("sys/devices/system/cpu/online", "0-7\n");
    let agent = tree.start();
    tree.wait_for_journal("\"cpus_online\":8");
    tree.write("sys/devices/system/cpu/online", "0-3\n");
    tree.wait_for_journal("\"cpus_online\":4");
    end(&tree, agent);
}

#[test]
fn a_device_that_vanishes_and_comes_back_is_left_alone_until_the_next_start() {
    let tree = Tree::new();
    let agent = tree.start();
    wait_for("a vote", || tree.set_freq() == "300");
    let device = tree.path("sys/class/devfreq/noc");
    fs::rename(&device, tree.path("away")).unwrap();
    tree.wait_for_journal("{\"gone\":");
    fs::rename(tree.path("away"), &device).unwrap();
    // As a kernel would make it anew.
    tree.write("sys/class/devfreq/noc/governor", "simple_ondemand\n");
    tree.write("sys/class/devfreq/noc/userspace/set_freq", "undefined\n");
    tree.wait_for_journal("\"reason\":\"gone\"");
    end(&tree, agent);
    assert_eq!(
        (tree.governor().as_str(), tree.set_freq().as_str()),
        ("simple_ondemand", "undefined")
    );
}
