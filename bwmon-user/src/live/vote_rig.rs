//! Votes through the whole road, for tests: a policy that wishes a level, the rails, the governor,
//! the vote paths on a fake tree whose writes fail on request.

use super::super::slept::played;
use super::super::{voter, write_faults};
use super::*;
use crate::board::{Board, Level, parse};
use crate::decide::{Rails, Unvoted};
use crate::event::{ProbeEvent, ProbeRecord, Writer};
use crate::governor::Governor;
use crate::live::Root;
use crate::observe::Observation;
use crate::policy::{Ask, Policy, PolicyFault, Proposal};
use crate::run::{RunStats, walk};
use crate::sample::{Missing, ProbeFacts, Reading, Sample, Window};
use crate::units::Hz;
use rustix::io::Errno;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(super) const BOARD: &str = r#"schema = 1
id = "b"
name = "b"
source = "a test"
[[domain]]
name = "ddr"
columns = ["ddr"]
opp_peak_kBps = [[800_000], [1_804_000], [3_072_000]]
"#;
const OTHER: &str = r#"
[[domain]]
name = "l3"
columns = ["l3"]
opp_peak_kBps = [[1], [2], [3]]
devfreq = { device = "l3", freq_hz = [1000, 2000, 3000] }
"#;
pub(super) const NOC: &str = "/sys/class/devfreq/noc";
pub(super) const USERSPACE: &str = "devfreq = { device = \"noc\", freq_hz = [1000, 2000, 3000] }";
pub(super) const LIMITS: &str =
    "devfreq = { device = \"noc\", freq_hz = [1000, 2000, 3000], through = \"limits\" }";
const BOOST: &str = "bus_dcvs = { hw = \"DDR\", freq_kHz = [1000, 2000, 3000] }";
const CLIENT: &str = "icc = [{ src = \"chm_apps\", dst = \"ebi\" }]";
const ICC: &str = "/sys/kernel/debug/interconnect";

/// A path, and the files that a vote writes.
pub(super) const PATHS: [(&str, &[&str]); 4] = [
    (USERSPACE, &["set_freq"]),
    (LIMITS, &["min_freq", "max_freq"]),
    (BOOST, &["boost_freq"]),
    (CLIENT, &["src_node", "get", "tag", "peak_bw", "commit"]),
];

thread_local! {
    static NOW: Cell<u64> = const { Cell::new(1_000_000_000) };
}

/// Wishes one level for all domains.
struct Wanted(Arc<AtomicUsize>);

impl Policy for Wanted {
    fn name(&self) -> &str {
        "wanted"
    }
    fn decide(&mut self, _: &[Observation], _: usize) -> Result<Proposal, PolicyFault> {
        Ok(Proposal::new(Ask::Opp(Level(self.0.load(Ordering::Relaxed))), "wanted"))
    }
    fn reset(&mut self, _: usize) {}
}

/// Writes so far, and the file of `noc` (or of the other devices, not of `l3`) that fails.
#[derive(Default)]
struct Writes {
    fails: Option<(&'static str, Errno)>,
    tries: u64,
}

pub(super) struct Rig {
    _folder: tempfile::TempDir,
    pub(super) root: Root,
    actuator: LiveActuator,
    pub(super) governor: Governor,
    wanted: Arc<AtomicUsize>,
    writes: Rc<RefCell<Writes>>,
    stats: RunStats,
}

impl Drop for Rig {
    fn drop(&mut self) {
        write_faults::none();
    }
}

pub(super) fn tree(root: &Root) {
    let write = |name: String, text: &str| {
        let path = root.path(&name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    for device in ["noc", "l3"] {
        for (name, text) in [
            ("available_governors", "userspace performance"),
            ("available_frequencies", "1000 2000 3000"),
            ("governor", "performance"),
            ("min_freq", "1000"),
            ("max_freq", "3000"),
            ("userspace/set_freq", "undefined"),
        ] {
            write(format!("/sys/class/devfreq/{device}/{name}"), text);
        }
    }
    let dcvs = "/sys/devices/system/cpu/bus_dcvs/DDR";
    write(format!("{dcvs}/available_frequencies"), "1000 2000 3000");
    write(format!("{dcvs}/boost_freq"), "0");
    for name in ["src_node", "dst_node", "get", "tag", "avg_bw", "peak_bw", "commit"] {
        write(format!("{ICC}/test_client/{name}"), "");
    }
    write(format!("{ICC}/interconnect_summary"), "");
    write("/proc/sys/kernel/random/boot_id".into(), "one");
    std::fs::create_dir_all(root.path("/run/bwmon")).unwrap();
}

/// The hook: counts, fails, and lets the test client's commits appear in the summary.
fn hook(root: &Root, writes: &Rc<RefCell<Writes>>) {
    let (root, writes) = (root.clone(), writes.clone());
    write_faults::on_write(move |path, _| {
        if path.starts_with(root.path("/sys/class/devfreq/l3")) {
            return None;
        }
        let mut writes = writes.borrow_mut();
        writes.tries += 1;
        let name = path.file_name()?.to_str()?;
        if let Some((file, errno)) = writes.fails
            && file == name
        {
            return Some(Err(errno.into()));
        }
        if name == "commit" {
            let peak = std::fs::read_to_string(root.path(&format!("{ICC}/test_client/peak_bw")));
            let text = format!("-----\nebi 0 9\n  icc-debugfs-client 3 0 {}\n", peak.unwrap());
            std::fs::write(root.path(&format!("{ICC}/interconnect_summary")), text).unwrap();
        }
        None
    });
}

pub(super) fn rig(path: &str) -> Rig {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::at(folder.path());
    tree(&root);
    let writes = Rc::new(RefCell::new(Writes::default()));
    hook(&root, &writes);
    let board: Board = parse("b.toml", &format!("{BOARD}{path}\n{OTHER}")).unwrap();
    let mut restore = RestoreFile::new(&root, &root.path("/run/bwmon"));
    let mut paths = Vec::new();
    for domain in &board.domains {
        let mut voter = voter::open(&root, domain).unwrap().unwrap();
        voter.take_over(&mut restore).unwrap();
        assert_eq!(voter.vote(Level(2)), Applied::Placed, "{path}");
        paths.push(VotePath::Voted(voter));
    }
    let now = || Nanos(NOW.get());
    let watch = || SleepWatch::reading(played::ahead);
    let actuator = LiveActuator::timed(paths, Some(restore), now, watch);
    let rails = board.domains.iter().map(|d| Rails::open(&d.table, Unvoted::Top)).collect();
    let wanted = Arc::new(AtomicUsize::new(2));
    let policy = Box::new(Wanted(wanted.clone()));
    let levels = [Some(Level(2)); 2];
    let governor = Governor::new(Arc::new(board), policy, rails, &levels);
    Rig { _folder: folder, root, actuator, governor, wanted, writes, stats: RunStats::default() }
}

impl Rig {
    /// One tick of 4 ms at which both domains are to have `level`: what the machine answers.
    pub(super) fn tick(&mut self, level: usize) -> (Applied, Applied) {
        self.wanted.store(level, Ordering::Relaxed);
        let start = NOW.get();
        NOW.set(start + 4 * Nanos::PER_MS);
        let sample = Sample {
            tick: 0,
            window: Window { start_ns: Nanos(start), end_ns: Nanos(NOW.get()) },
            monitors: vec![Reading::Missing(Missing::NoUpdate)],
            probes: ProbeFacts::default(),
        };
        let mut applied = Vec::new();
        walk(&mut self.governor, &mut self.actuator, &sample, &mut applied, &mut self.stats);
        let l3 = applied.pop().unwrap().unwrap();
        // A domain that is manual or gone gets no vote.
        let none = Applied::Refused { why: "no vote".into() };
        (applied.pop().unwrap().unwrap_or(none), l3)
    }

    /// A little more than a second of ticks; the answers of the first domain, without those that say the same again.
    pub(super) fn second(&mut self, level: usize) -> Vec<Applied> {
        let mut answers: Vec<Applied> = (0..260).map(|_| self.tick(level).0).collect();
        answers.dedup();
        answers
    }

    pub(super) fn fail(&self, fails: Option<(&'static str, Errno)>) {
        self.writes.borrow_mut().fails = fails;
    }

    pub(super) fn tries(&self) -> u64 {
        std::mem::take(&mut self.writes.borrow_mut().tries)
    }

    pub(super) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.root.path(name)).unwrap()
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.root.path(name), text).unwrap();
    }

    /// A probe saw `comm` change `noc` so long after the last tick.
    pub(super) fn changed_by(&self, comm: &str, after_ns: u64) {
        let (dev, by) = ("noc".into(), Writer { pid: 1, comm: comm.into() });
        let event = ProbeEvent::DevfreqFrequency { dev, freq_hz: Hz(1), prev_hz: Hz(2) };
        let t_ns = Nanos(NOW.get() + after_ns);
        self.actuator.feed.play(ProbeRecord { t_ns, cpu: 0, by: Some(by), event });
    }

    pub(super) fn seen(&self) -> Option<Level> {
        self.governor.last()[0].observation.level
    }

    pub(super) fn release(&mut self) -> Vec<String> {
        let outcomes = self.actuator.release().into_iter();
        outcomes.map(|o| format!("{} {}: {}", o.done, o.object, o.what)).collect()
    }
}
