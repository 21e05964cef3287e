//! Limits on a played kernel: one request for all who write the two files, one of a driver's.

use super::super::write_faults;
use super::*;
use rustix::io::Errno;
use std::cell::RefCell;
use std::rc::Rc;

/// devfreq's limits as drivers/devfreq/devfreq.c keeps them.
#[derive(Debug)]
struct Kernel {
    dir: PathBuf,
    /// The request behind the two files.
    request: (u64, u64),
    /// The ceiling of a driver (thermal).
    driver_max: u64,
    /// As kernels before 5.6 did: EINVAL where the two would cross.
    refuses_crossing: bool,
    fails: Option<(&'static str, Errno)>,
    /// What was written, in order.
    writes: Vec<(String, u64)>,
}

impl Kernel {
    fn write(&mut self, name: &str, value: u64) -> io::Result<()> {
        if let Some((file, errno)) = self.fails
            && file == name
        {
            return Err(errno.into());
        }
        let (min, max) = self.request;
        let wanted = if name == "min_freq" { (value, max) } else { (min, value) };
        if self.refuses_crossing && wanted.1 != 0 && wanted.0 > wanted.1 {
            return Err(Errno::INVAL.into());
        }
        self.request = wanted;
        self.writes.push((name.to_owned(), value));
        self.show();
        Ok(())
    }

    /// The aggregate, as the files show it: the maximum wins.
    fn show(&self) {
        let own_max = if self.request.1 == 0 { u64::MAX } else { self.request.1 };
        let max = own_max.min(self.driver_max).min(300_000);
        let min = self.request.0.max(100_000).min(max);
        for (name, value) in [("min_freq", min), ("max_freq", max), ("cur_freq", min)] {
            std::fs::write(self.dir.join(name), format!("{value}\n")).unwrap();
        }
    }
}

struct Machine {
    _folder: tempfile::TempDir,
    root: Root,
    kernel: Rc<RefCell<Kernel>>,
}

impl Drop for Machine {
    fn drop(&mut self) {
        write_faults::none();
    }
}

fn machine() -> Machine {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::at(folder.path());
    let dir = root.path(CLASS).join("noc");
    for folder in [&dir, &root.path("/run/bwmon"), &root.path("/proc/sys/kernel/random")] {
        std::fs::create_dir_all(folder).unwrap();
    }
    std::fs::write(root.path("/proc/sys/kernel/random/boot_id"), "one\n").unwrap();
    std::fs::write(dir.join("available_frequencies"), "100000 200000 300000\n").unwrap();
    let kernel = Rc::new(RefCell::new(Kernel {
        dir: dir.clone(),
        request: (0, 0),
        driver_max: u64::MAX,
        refuses_crossing: true,
        fails: None,
        writes: Vec::new(),
    }));
    kernel.borrow().show();
    let played = kernel.clone();
    write_faults::on_write(move |path, text| {
        let name = path.strip_prefix(&dir).ok()?.to_str()?.to_owned();
        Some(played.borrow_mut().write(&name, text.parse().unwrap()))
    });
    Machine { _folder: folder, root, kernel }
}

impl Machine {
    fn voter(&self) -> LimitsVoter {
        let path = DevfreqPath {
            device: "noc".into(),
            freq_hz: vec![Hz(100_000), Hz(200_000), Hz(300_000)],
            through: crate::board::DevfreqKnob::Limits,
        };
        LimitsVoter::open(&self.root, &path).unwrap()
    }

    fn taken(&self) -> (LimitsVoter, RestoreFile) {
        let mut restore = RestoreFile::new(&self.root, &self.root.path("/run/bwmon"));
        let mut voter = self.voter();
        voter.take_over(&mut restore).unwrap();
        (voter, restore)
    }

    fn request(&self) -> (u64, u64) {
        self.kernel.borrow().request
    }

    /// Another process writes `value` into the file `name`.
    fn other(&self, name: &str, value: u64) {
        self.kernel.borrow_mut().write(name, value).unwrap();
    }
}

#[test]
fn limits_never_cross_on_the_way_up_down_and_back_on_a_kernel_that_refuses_that() {
    let machine = machine();
    // A floor of the operator's from before: the first vote is a fall.
    machine.other("min_freq", 200_000);
    let (mut voter, mut restore) = machine.taken();
    for level in [0, 2, 1, 2, 0] {
        assert_eq!(voter.vote(Level(level)), Applied::Placed, "{level}");
        let hz = 100_000 * (level as u64 + 1);
        assert_eq!((machine.request(), voter.look()), ((hz, hz), Applied::InForce));
    }
    let said = &restore.put_back().unwrap()[0];
    assert_eq!(said.what, "limits back to 200000 Hz and no ceiling");
    assert_eq!(machine.request(), (200_000, 0));
}

#[test]
fn the_maximum_goes_first_to_rise_and_last_to_fall() {
    let machine = machine();
    let mut voter = machine.voter();
    voter.vote(Level(1));
    machine.kernel.borrow_mut().writes.clear();
    voter.vote(Level(2));
    voter.vote(Level(0));
    let names: Vec<String> =
        machine.kernel.borrow().writes.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(names, ["max_freq", "min_freq", "min_freq", "max_freq"]);
}

#[test]
fn a_half_written_vote_is_taken_back_and_not_held_against_anybody() {
    for (from, to, file) in [(1, 2, "min_freq"), (1, 0, "max_freq"), (0, 2, "max_freq")] {
        for errno in [Errno::ACCESS, Errno::BUSY, Errno::INVAL] {
            let machine = machine();
            let mut voter = machine.voter();
            voter.vote(Level(from));
            let before = machine.request();
            machine.kernel.borrow_mut().fails = Some((file, errno));
            let Applied::Refused { why } = voter.vote(Level(to)) else { panic!("{file} {errno}") };
            assert!(why.contains(file) && why.contains(": E"), "{why}");
            assert_eq!(machine.request(), before, "{file}");
            assert_eq!(voter.look(), Applied::InForce, "{file}");
            machine.kernel.borrow_mut().fails = None;
            assert_eq!(voter.vote(Level(to)), Applied::Placed, "{file}");
        }
    }
    let machine = machine();
    let mut voter = machine.voter();
    voter.vote(Level(1));
    machine.kernel.borrow_mut().fails = Some(("max_freq", Errno::NODEV));
    assert_eq!(voter.vote(Level(2)), Applied::Gone { what: "devfreq noc".into() });
}

#[test]
fn a_ceiling_of_a_driver_clamps_and_is_over_when_it_is_lifted() {
    let machine = machine();
    let (mut voter, mut restore) = machine.taken();
    assert_eq!(voter.vote(Level(2)), Applied::Placed);
    // A cooling device has a request of its own.
    machine.kernel.borrow_mut().driver_max = 100_000;
    machine.kernel.borrow().show();
    assert_eq!(voter.look(), Applied::Clamped { found: 100_000 });
    assert_eq!(voter.vote(Level(1)), Applied::Clamped { found: 100_000 });
    assert_eq!(machine.request(), (200_000, 200_000), "our request is kept all the while");
    machine.kernel.borrow_mut().driver_max = u64::MAX;
    machine.kernel.borrow().show();
    assert_eq!(voter.look(), Applied::InForce);
    assert_eq!(restore.put_back().unwrap()[0].what, "limits back to no floor and no ceiling");
}

#[test]
fn a_ceiling_that_another_process_writes_over_ours_is_theirs_and_stays() {
    // Lower than ours: it looks like a driver's, and is told apart; and higher.
    for theirs in [100_000, 300_000] {
        let machine = machine();
        let (mut voter, mut restore) = machine.taken();
        voter.vote(Level(1));
        machine.kernel.borrow_mut().refuses_crossing = false;
        machine.other("max_freq", theirs);
        let Applied::Foreign { what } = voter.look() else { panic!("foreign: {theirs}") };
        assert_eq!(what, format!("devfreq noc: max_freq is now {theirs}, we wrote 200000"));
        assert_eq!(machine.request().1, theirs, "it is theirs again after the look");
        restore.forget(&voter.objects(), &what);
        let said = &restore.put_back().unwrap()[0];
        assert_eq!(said.what, format!("left as it is: {what}"));
        assert_eq!(machine.request().1, theirs);
    }
}

#[test]
fn a_floor_that_another_process_lowers_is_theirs() {
    let machine = machine();
    let (mut voter, _restore) = machine.taken();
    voter.vote(Level(1));
    machine.other("min_freq", 0);
    let Applied::Foreign { what } = voter.look() else { panic!("foreign") };
    assert_eq!(what, "devfreq noc: min_freq is now 100000, we wrote 200000");
}

#[test]
fn limits_that_are_as_before_ours_are_lost_and_others_are_not() {
    let machine = machine();
    let (mut voter, _restore) = machine.taken();
    voter.vote(Level(1));
    assert!(!voter.is_lost());
    machine.kernel.borrow_mut().request = (0, 0);
    machine.kernel.borrow().show();
    assert!(voter.is_lost() && matches!(voter.look(), Applied::Foreign { .. }));
    std::fs::remove_dir_all(machine.root.path("/sys/class/devfreq/noc")).unwrap();
    assert!(!voter.is_lost());
    assert_eq!(voter.look(), Applied::Gone { what: "devfreq noc".into() });
}
