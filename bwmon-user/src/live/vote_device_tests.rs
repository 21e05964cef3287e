//! The voter on a device that is played; the module itself is tried in the virtual machine.

use super::*;
use crate::board::parse;
use rustix::io::Errno;
use std::cell::RefCell;
use std::rc::Rc;

/// A device with two paths, `ddr` and one without a name.
#[derive(Debug, Default)]
struct Device {
    /// What was written.
    lines: Vec<String>,
    /// Own and all peaks that a read gives instead of what was written.
    shown: Option<[(u64, u64); 2]>,
    peaks: [u64; 2],
    fails: Option<Errno>,
}

#[derive(Debug)]
struct Played(Rc<RefCell<Device>>);

impl Votes for Played {
    fn write(&self, line: &str) -> io::Result<()> {
        let mut device = self.0.borrow_mut();
        if let Some(errno) = device.fails {
            return Err(errno.into());
        }
        let words: Vec<&str> = line.trim_end().split(' ').collect();
        let index = usize::from(words[0] == "1");
        device.peaks[index] = words[2].parse().unwrap();
        device.lines.push(line.to_owned());
        Ok(())
    }

    fn read(&self) -> io::Result<String> {
        let device = self.0.borrow();
        if let Some(errno) = device.fails {
            return Err(errno.into());
        }
        let [first, second] = device.shown.unwrap_or(device.peaks.map(|peak| (peak, peak)));
        Ok(table(first, second))
    }
}

fn table(first: (u64, u64), second: (u64, u64)) -> String {
    format!(
        "bwmon-vote 1 1400.pmu\npath name avg_kBps peak_kBps all_avg_kBps all_peak_kBps\n\
         0 ddr 0 {} 0 {}\n1 - 0 {} 7 {}\n",
        first.0, first.1, second.0, second.1
    )
}

fn domain(columns: usize, vote: &str) -> crate::board::Domain {
    let names = ["\"ddr\"", "\"l3c\""][..columns].join(", ");
    let row = |n: u64| (0..columns).map(|c| (n + c as u64).to_string()).collect::<Vec<_>>();
    let rows: Vec<String> = [800_000, 1_804_000, 3_072_000]
        .map(|n| format!("[{}]", row(n).join(", ")))
        .into_iter()
        .collect();
    let text = format!(
        "schema = 1\nid = \"b\"\nname = \"b\"\nsource = \"a test\"\n[[domain]]\nname = \"ddr\"\n\
         columns = [{names}]\nopp_peak_kBps = [{}]\nvote = {vote}\n",
        rows.join(", ")
    );
    parse("b.toml", &text).unwrap_or_else(|fault| panic!("{fault}")).domains.remove(0)
}

/// A voter that has its device.
fn voter(columns: usize, vote: &str) -> (DeviceVoter, Rc<RefCell<Device>>) {
    let domain = domain(columns, vote);
    let device = Rc::new(RefCell::new(Device::default()));
    let voter = DeviceVoter {
        root: Root::at("/not/there"),
        device: domain.vote.unwrap(),
        table: domain.table,
        votes: Some(Box::new(Played(device.clone()))),
        written: None,
    };
    (voter, device)
}

const ONE: &str = "{ device = \"1400.pmu\", paths = [\"ddr\"] }";

#[test]
fn every_column_of_a_level_is_one_line_and_is_read_back() {
    let (mut voter, device) = voter(2, "{ device = \"1400.pmu\" }");
    assert_eq!(voter.look(), Applied::InForce);
    assert_eq!(voter.vote(Level(1)), Applied::Placed);
    assert_eq!(device.borrow().lines, ["0 0 1804000\n", "1 0 1804001\n"]);
    assert_eq!(voter.look(), Applied::InForce);
    assert_eq!(voter.level_in_force(), Some(Level(1)));
    // A level beyond the table is the top one, never an unlisted value.
    voter.vote(Level(9));
    assert_eq!(device.borrow().lines[2..], ["0 0 3072000\n", "1 0 3072001\n"]);
}

#[test]
fn a_vote_that_reads_back_otherwise_is_clamped_or_not_honoured() {
    let (mut voter, device) = voter(1, ONE);
    device.borrow_mut().shown = Some([(800_000, 800_000), (0, 0)]);
    assert_eq!(voter.vote(Level(1)), Applied::Clamped { found: 800_000 });
    device.borrow_mut().shown = Some([(1_804_000, 0), (0, 0)]);
    assert_eq!(voter.vote(Level(1)), Applied::NotHonoured { found: 0 });
    // Another program's higher vote on the device is no fault: ours is a floor.
    device.borrow_mut().shown = Some([(1_804_000, 3_072_000), (0, 0)]);
    assert_eq!(voter.vote(Level(1)), Applied::Placed);
    assert_eq!(voter.level_in_force(), Some(Level(2)));
}

#[test]
fn a_device_that_was_unbound_is_gone_and_one_that_refuses_says_what() {
    let (mut voter, device) = voter(1, ONE);
    assert_eq!(voter.vote(Level(0)), Applied::Placed);
    device.borrow_mut().fails = Some(Errno::NODEV);
    let gone = Applied::Gone { what: "vote device 1400.pmu".into() };
    assert_eq!((voter.look(), voter.vote(Level(1))), (gone.clone(), gone));
    device.borrow_mut().fails = Some(Errno::RANGE);
    let Applied::Refused { why } = voter.vote(Level(1)) else { panic!("refused") };
    assert!(why.contains("bwmon-vote-1400.pmu: path ddr, 1804000 kBps"), "{why}");
}

#[test]
fn tables_of_other_versions_and_garbage_are_not_read() {
    let good = table((1, 2), (3, 4));
    let read = rows(&good).unwrap();
    assert_eq!((read[0].name.as_str(), read[0].own, read[1].all), ("ddr", Kbps(1), Kbps(4)));
    assert_eq!(rows(&good.replace("vote 1 ", "vote 2 ")), None);
    assert_eq!(rows(&good.replace(" 7 ", " seven ").replace("- 0", "-")), None);
    assert_eq!(rows(""), None);
}

#[test]
fn a_path_that_the_device_does_not_have_is_named_with_those_that_it_has() {
    let (voter, _device) = voter(1, "{ device = \"1400.pmu\", paths = [\"l3\"] }");
    let error = voter.must_have_paths(&**voter.votes.as_ref().unwrap()).unwrap_err().to_string();
    assert!(error.ends_with("has no path l3; it has 0 (ddr), 1 (-)"), "{error}");
}

/// A tree with the platform device, and with the module if `loaded`.
fn tree(loaded: bool) -> (tempfile::TempDir, Root) {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::at(folder.path());
    let device = root.path("/sys/bus/platform/devices/1400.pmu");
    std::fs::create_dir_all(&device).unwrap();
    std::fs::write(device.join("driver_override"), "(null)\n").unwrap();
    let drivers = root.path("/sys/bus/platform/drivers");
    for driver in ["qcom-bwmon", "uart"] {
        std::fs::create_dir_all(drivers.join(driver)).unwrap();
    }
    if loaded {
        std::fs::create_dir_all(drivers.join(VOTE_DRIVER)).unwrap();
    }
    (folder, root)
}

fn bound(root: &Root, driver: &str) {
    let link = root.path("/sys/bus/platform/devices/1400.pmu/driver");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(root.path("/sys/bus/platform/drivers").join(driver), link).unwrap();
}

fn open(root: &Root, vote: &str) -> anyhow::Result<DeviceVoter> {
    let domain = domain(1, vote);
    DeviceVoter::open(root, domain.vote.as_ref().unwrap(), &domain.table)
}

#[test]
fn what_is_missing_is_said_before_anything_is_touched() {
    let (_folder, root) = tree(false);
    let error = |vote: &str, root: &Root| open(root, vote).unwrap_err().to_string();
    assert!(error(ONE, &root).contains("module bwmon_vote is not loaded"));
    let (_folder, root) = tree(true);
    assert!(error("{ device = \"9.pmu\" }", &root).contains("no platform device 9.pmu"));
    bound(&root, "uart");
    assert!(error(ONE, &root).contains("bound to uart, which bwmon does not take it from"));
    for driver in ["qcom-bwmon", VOTE_DRIVER] {
        bound(&root, driver);
        let opened = open(&root, ONE);
        // A tree has no vote device to look at.
        assert_eq!(opened.is_ok(), driver == "qcom-bwmon", "{opened:?}");
    }
}

#[test]
fn a_binding_that_somebody_changed_is_left_and_our_word_is_taken_back() {
    let (_folder, root) = tree(true);
    let word = root.path("/sys/bus/platform/devices/1400.pmu/driver_override");
    let back = || put_back(&root, "1400.pmu", Some("qcom-bwmon"));
    std::fs::write(&word, "bwmon-vote\n").unwrap();
    bound(&root, "uart");
    assert_eq!(back().unwrap(), "left to uart, which has it now");
    assert_eq!(std::fs::read_to_string(&word).unwrap(), "\n");
    bound(&root, "qcom-bwmon");
    assert_eq!(back().unwrap(), "qcom-bwmon has it already");
    std::fs::write(&word, "vfio-platform\n").unwrap();
    std::fs::remove_file(root.path("/sys/bus/platform/devices/1400.pmu/driver")).unwrap();
    assert_eq!(put_back(&root, "1400.pmu", None).unwrap(), "no driver has it, as before");
    assert_eq!(std::fs::read_to_string(&word).unwrap(), "vfio-platform\n");
    // A tree does not bind: that must not pass for done.
    assert!(back().is_err());
    assert!(put_back(&root, "9.pmu", None).unwrap().contains("gone"));
}

#[test]
fn board_files_with_wrong_vote_devices_are_refused_with_their_line() {
    let text = |vote: &str| {
        format!(
            "schema = 1\nid = \"b\"\nname = \"b\"\nsource = \"a test\"\n[[domain]]\nname = \"ddr\"\n\
             columns = [\"ddr\"]\nopp_peak_kBps = [[1], [2], [3]]\n{vote}\n"
        )
    };
    for (vote, said) in [
        ("vote = { device = \"../x\" }", "names no device"),
        ("vote = { device = \"1.pmu\", paths = [] }", "names 0 paths, the OPP table has 1 columns"),
        ("vote = { device = \"1.pmu\", paths = [\"a b\"] }", "\"a b\" names no path"),
        ("vote = { device = \"1.pmu\", path = \"a\" }", "unknown field"),
        (
            "vote = { device = \"1.pmu\" }\nbus_dcvs = { hw = \"DDR\", freq_kHz = [1, 2, 3] }",
            "more than one vote path",
        ),
        (
            "vote = { device = \"1.pmu\" }\n[[domain]]\nname = \"l3\"\ncolumns = [\"l3\"]\n\
             opp_peak_kBps = [[1]]\nvote = { device = \"1.pmu\" }",
            "domains \"ddr\" and \"l3\" vote on the same path",
        ),
    ] {
        let fault = parse("b.toml", &text(vote)).unwrap_err();
        assert!(fault.to_string().contains(said) && fault.place.is_some(), "{vote}: {fault}");
    }
    let board = parse("b.toml", &text("vote = { device = \"1.pmu\" }")).unwrap();
    assert_eq!(board.domains[0].vote.as_ref().unwrap().paths, ["0"]);
}
