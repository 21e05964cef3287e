//! The vote paths besides devfreq's userspace governor, on fake trees: a plain file is a kernel that
//! keeps whatever was written, a link into /dev or /proc one that refuses.

use super::*;
use crate::board::parse;
use crate::live::restore::Item;
use crate::vote::Applied;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

const DEVFREQ: &str = "/sys/class/devfreq/noc";
const DCVS: &str = "/sys/devices/system/cpu/bus_dcvs/DDR";
const ICC: &str = "/sys/kernel/debug/interconnect";

struct Machine {
    _folder: tempfile::TempDir,
    root: Root,
}

impl Machine {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::at(folder.path());
        let machine = Self { _folder: folder, root };
        machine.write("/proc/sys/kernel/random/boot_id", "one\n");
        std::fs::create_dir_all(machine.root.path("/run/bwmon")).unwrap();
        for (name, text) in files {
            machine.write(name, text);
        }
        machine
    }

    fn limits() -> Self {
        let files = [
            ("available_frequencies", "100000 200000 300000\n"),
            ("min_freq", "100000\n"),
            ("max_freq", "300000\n"),
            ("cur_freq", "200000\n"),
        ];
        let files: Vec<(String, &str)> =
            files.iter().map(|(name, text)| (format!("{DEVFREQ}/{name}"), *text)).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (n.as_str(), *t)).collect();
        Self::new(&files)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap().trim().to_owned()
    }

    /// The voter for a domain of three levels with `path` as its vote path.
    fn voter(&self, path: &str, columns: usize) -> anyhow::Result<Box<dyn Voter>> {
        let names = ["\"ddr\"", "\"l3c\""][..columns].join(", ");
        let row = |n: u64| vec![n.to_string(); columns].join(", ");
        let text = format!(
            "schema = 1\nid = \"b\"\nname = \"b\"\nsource = \"a test\"\n[[domain]]\nname = \"ddr\"\n\
             columns = [{names}]\nopp_peak_kBps = [[{}], [{}], [{}]]\n{path}\n",
            row(800_000),
            row(1_804_000),
            row(3_072_000)
        );
        let board = parse("b.toml", &text).unwrap_or_else(|fault| panic!("{fault}"));
        open(&self.root, &board.domains[0]).map(|voter| voter.expect("a path is named"))
    }

    fn restore(&self) -> RestoreFile {
        RestoreFile::new(&self.root, &self.path("/run/bwmon"))
    }
}

const LIMITS: &str =
    "devfreq = { device = \"noc\", freq_hz = [100000, 200000, 300000], through = \"limits\" }";
const BOOST: &str = "bus_dcvs = { hw = \"DDR\", freq_kHz = [200, 400, 600] }";
const CLIENT: &str = "icc = [{ src = \"chm_apps\", dst = \"ebi\" }]";

#[test]
fn limits_are_voted_in_the_order_that_never_crosses_them_and_given_back() {
    let machine = Machine::limits();
    let mut voter = machine.voter(LIMITS, 1).unwrap();
    assert_eq!(voter.level_in_force(), Some(Level(1)));
    let mut restore = machine.restore();
    voter.take_over(&mut restore).unwrap();
    assert_eq!(
        restore.items(),
        [Item::DevfreqLimits { device: "noc".into(), min_hz: 100_000, max_hz: 300_000 }]
    );
    assert_eq!(voter.vote(Level(1)), Applied::Placed);
    assert_eq!(
        (
            machine.read(&format!("{DEVFREQ}/min_freq")),
            machine.read(&format!("{DEVFREQ}/max_freq"))
        ),
        ("200000".into(), "200000".into())
    );
    // The clock of a fake tree stays where it is.
    assert_eq!(voter.vote(Level(2)), Applied::NotHonoured { found: 200_000 });
    assert_eq!(voter.look(), Applied::NotHonoured { found: 200_000 });
    let outcome = &restore.put_back().unwrap()[0];
    assert_eq!(outcome.what, "limits back to no floor and no ceiling");
    // 0 takes the request away, as in devfreq's max_freq_store and min_freq_store.
    assert_eq!(machine.read(&format!("{DEVFREQ}/max_freq")), "0");
}

fn dcvs() -> Machine {
    Machine::new(&[
        (&format!("{DCVS}/available_frequencies"), "200 400 600\n"),
        (&format!("{DCVS}/boost_freq"), "200\n"),
        (&format!("{DCVS}/cur_freq"), "400\n"),
    ])
}

#[test]
fn a_boost_floor_is_voted_read_back_and_given_back() {
    let machine = dcvs();
    let mut voter = machine.voter(BOOST, 1).unwrap();
    assert_eq!(voter.level_in_force(), Some(Level(1)));
    let mut restore = machine.restore();
    voter.take_over(&mut restore).unwrap();
    // Others may hold the clock higher than our floor; nobody may hold it lower.
    assert_eq!(voter.vote(Level(0)), Applied::Placed);
    assert_eq!(voter.vote(Level(2)), Applied::NotHonoured { found: 400 });
    assert_eq!(machine.read(&format!("{DCVS}/boost_freq")), "600");
    assert_eq!(voter.look(), Applied::NotHonoured { found: 400 });
    machine.write(&format!("{DCVS}/boost_freq"), "300\n");
    assert!(matches!(voter.look(), Applied::Foreign { .. }));
    assert_eq!(restore.put_back().unwrap()[0].what, "boost_freq back to 200 kHz");
    assert_eq!(machine.read(&format!("{DCVS}/boost_freq")), "200");
}

#[test]
fn what_the_kernel_answers_to_a_boost_is_said_in_words() {
    let machine = Machine::new(&[
        (&format!("{DCVS}/available_frequencies"), "200 400 6000\n"),
        (&format!("{DCVS}/boost_freq"), "200\n"),
    ]);
    let path = "bus_dcvs = { hw = \"DDR\", freq_kHz = [200, 400, 6000] }";
    let mut voter = machine.voter(path, 1).unwrap();
    let file = machine.path(&format!("{DCVS}/boost_freq"));
    std::fs::remove_file(&file).unwrap();
    // A file of the kernel that takes no more than 1000: EINVAL.
    symlink("/proc/self/oom_score_adj", &file).unwrap();
    let Applied::Refused { why } = voter.vote(Level(2)) else { panic!("refused") };
    assert!(why.contains("6000 kHz is above hw_max_freq"), "{why}");
}

#[test]
fn frequencies_that_are_not_listed_and_blocks_that_are_not_there_are_named() {
    let machine = dcvs();
    let error = |path: &str| machine.voter(path, 1).unwrap_err().to_string();
    assert!(
        error("bus_dcvs = { hw = \"DDR\", freq_kHz = [200, 400, 601] }")
            .contains("no frequency 601 kHz; it lists: 200 400 600")
    );
    assert!(
        error("bus_dcvs = { hw = \"LLCC\", freq_kHz = [1, 2, 3] }")
            .contains("this machine has DDR")
    );
    assert!(error(LIMITS).contains("no devfreq device noc; this machine has none"));
    assert!(error(CLIENT).contains("no interconnect test client"));
}

/// A test client under `spelling`, with a summary that says `votes` of ours at `ebi`.
fn client(spelling: &str, peak: &str) -> Machine {
    let machine = Machine::new(&[]);
    for name in ["src_node", "dst_node", "get", "tag", "avg_bw", "peak_bw", "commit"] {
        machine.write(&format!("{ICC}/{spelling}/{name}"), "");
    }
    summary(&machine, peak);
    machine
}

fn summary(machine: &Machine, peak: &str) {
    let row = match peak {
        "" => String::new(),
        peak => format!("  icc-debugfs-client        3          0    {peak}\n"),
    };
    let text = format!(
        " node   tag   avg   peak\n-----\nchm_apps   0   0\nebi   0   7216000\n  other.dev   7   10   7216000\n{row}"
    );
    machine.write(&format!("{ICC}/interconnect_summary"), &text);
}

#[test]
fn an_interconnect_vote_names_its_path_before_every_commit_and_is_looked_up() {
    for spelling in ["test_client", "test-client"] {
        let machine = client(spelling, "1804000");
        let mut voter = machine.voter(CLIENT, 1).unwrap();
        let mut restore = machine.restore();
        voter.take_over(&mut restore).unwrap();
        let file = |name: &str| machine.read(&format!("{ICC}/{spelling}/{name}"));
        assert_eq!(file("peak_bw"), "0");
        assert_eq!(voter.vote(Level(1)), Applied::Placed);
        let written =
            ["src_node", "dst_node", "get", "tag", "avg_bw", "peak_bw", "commit"].map(file);
        assert_eq!(written, ["chm_apps", "ebi", "1", "3", "0", "1804000", "1"]);
        assert_eq!(voter.look(), Applied::InForce);
        summary(&machine, "800000");
        let Applied::Foreign { what } = voter.look() else { panic!("foreign") };
        assert!(what.contains("now 800000 kBps, we voted 1804000"), "{what}");
        assert_eq!(restore.put_back().unwrap()[0].what, "our vote is taken away");
        assert_eq!(machine.read(&format!("{ICC}/{spelling}/peak_bw")), "0");
    }
}

#[test]
fn a_commit_that_does_nothing_is_refused_and_another_amount_is_clamped() {
    let machine = client("test_client", "");
    let mut voter = machine.voter(CLIENT, 1).unwrap();
    let Applied::Refused { why } = voter.vote(Level(2)) else { panic!("refused") };
    assert!(why.contains("accepted and no vote of icc-debugfs-client is in force"), "{why}");
    // Our own failed vote is not taken for somebody else's doing.
    assert_eq!(voter.look(), Applied::InForce);
    summary(&machine, "1");
    assert_eq!(voter.vote(Level(2)), Applied::Clamped { found: 1 });
    // It stays clamped: nobody has changed anything since.
    assert_eq!(voter.look(), Applied::Clamped { found: 1 });
}

#[test]
fn a_client_that_fails_says_which_file_and_one_that_vanishes_is_gone() {
    let machine = client("test_client", "800000");
    let mut voter = machine.voter(CLIENT, 1).unwrap();
    let get = machine.path(&format!("{ICC}/test_client/get"));
    std::fs::remove_file(&get).unwrap();
    symlink("/dev/full", &get).unwrap();
    let Applied::Refused { why } = voter.vote(Level(0)) else { panic!("refused") };
    assert!(why.starts_with("interconnect chm_apps-ebi: get:"), "{why}");
    assert!(voter.take_over(&mut machine.restore()).is_err());
    std::fs::remove_dir_all(machine.path(&format!("{ICC}/test_client"))).unwrap();
    assert!(matches!(voter.vote(Level(0)), Applied::Gone { .. }));
    assert!(matches!(voter.look(), Applied::Gone { .. }));
}

#[test]
fn every_column_of_a_level_is_voted_through_a_path_of_its_own() {
    let machine = client("test_client", "3072000");
    let two = "icc = [{ src = \"chm_apps\", dst = \"ebi\" }, { src = \"chm_apps\", dst = \"ebi\", tag = 7 }]";
    let mut voter = machine.voter(two, 2).unwrap();
    assert_eq!(voter.vote(Level(2)), Applied::Placed);
    assert_eq!(machine.read(&format!("{ICC}/test_client/tag")), "7");
}

#[test]
fn without_a_restore_file_nothing_is_touched() {
    let machine = client("test_client", "800000");
    let mut voter = machine.voter(CLIENT, 1).unwrap();
    let mut restore = RestoreFile::new(&machine.root, &machine.path("/not/there"));
    assert!(voter.take_over(&mut restore).is_err());
    assert_eq!(machine.read(&format!("{ICC}/test_client/src_node")), "");
}

#[test]
fn board_files_with_wrong_vote_paths_are_refused_with_their_line() {
    for (path, said) in [
        ("icc = []", "has 0 paths, the OPP table has 1 columns"),
        ("icc = [{ src = \"a\", dst = \"a\" }]", "is no path"),
        ("icc = [{ src = \"a/b\", dst = \"c\" }]", "is no path"),
        ("icc = [{ src = \"a\", dst = \"c\", tag = 0 }]", "tag 0"),
        ("bus_dcvs = { hw = \"../x\", freq_kHz = [1, 2, 3] }", "names no block"),
        ("bus_dcvs = { hw = \"DDR\", freq_kHz = [1, 2] }", "3 rising entries"),
        (
            "bus_dcvs = { hw = \"DDR\", freq_kHz = [1, 2, 3] }\nicc = [{ src = \"a\", dst = \"c\" }]",
            "more than one vote path",
        ),
        (
            "devfreq = { device = \"noc\", freq_hz = [1, 2, 3], through = \"limit\" }",
            "unknown variant",
        ),
    ] {
        let text = format!(
            "schema = 1\nid = \"b\"\nname = \"b\"\nsource = \"a test\"\n[[domain]]\nname = \"ddr\"\n\
             columns = [\"ddr\"]\nopp_peak_kBps = [[1], [2], [3]]\n{path}\n"
        );
        let fault = parse("b.toml", &text).unwrap_err();
        assert!(fault.to_string().contains(said) && fault.place.is_some(), "{path}: {fault}");
    }
}
