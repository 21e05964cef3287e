//! Running the binary, folders, fake trees.

use serde_json::Value;
use std::fs;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bwmon"));
    command.args(args).stdin(Stdio::null()).env_remove("RUST_BACKTRACE");
    command
}

pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

pub(crate) fn bwmon(args: &[&str]) -> Ran {
    command(args).output().unwrap().into()
}

/// Runs and wants exit code 0.
pub(crate) fn good(args: &[&str]) -> Ran {
    let ran = bwmon(args);
    assert_eq!(ran.code, Some(0), "{args:?}: {}{}", ran.stdout, ran.stderr);
    ran
}

/// Runs, wants `code`, and answers stderr.
pub(crate) fn bad(code: i32, args: &[&str]) -> String {
    let ran = bwmon(args);
    assert_eq!(ran.code, Some(code), "{args:?}: {}{}", ran.stdout, ran.stderr);
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    ran.stderr
}

pub(crate) fn json(args: &[&str]) -> Value {
    let ran = good(args);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{args:?}: {e}\n{}", ran.stdout))
}

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// A folder with `files`.
pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

pub(crate) fn at(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().unwrap().to_owned()
}

/// Waits until `done`, at most ten seconds.
pub(crate) fn wait_for(what: &str, done: impl FnMut() -> bool) {
    wait_within(10, what, done);
}

/// Waits until `done`, at most so many seconds.
pub(crate) fn wait_within(seconds: u64, what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(seconds);
    while !done() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::yield_now();
    }
}

/// A running agent, killed where a test ends early: it would govern its folder for ever.
pub(crate) struct Agent(Option<Child>);

impl Agent {
    pub(crate) fn of(child: Child) -> Self {
        Self(Some(child))
    }

    pub(crate) fn wait_with_output(mut self) -> std::io::Result<Output> {
        self.0.take().unwrap().wait_with_output()
    }
}

impl Deref for Agent {
    type Target = Child;
    fn deref(&self) -> &Child {
        self.0.as_ref().unwrap()
    }
}

impl DerefMut for Agent {
    fn deref_mut(&mut self) -> &mut Child {
        self.0.as_mut().unwrap()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A machine in a folder: one block behind a file that stands for `/dev/mem`, one devfreq device.
pub(crate) struct Tree {
    pub(crate) folder: TempDir,
}

pub(crate) const BOARD: &str = r#"schema = 1
id = "tree"
name = "A fake tree"
source = "a test"
[[monitor]]
name = "cpu"
node = "pmu@1400"
compatible = ["qcom,sdm845-cpu-bwmon", "qcom,sdm845-bwmon"]
layout = "v4-unified"
reg = [[0x1400, 0x600]]
count_unit_kB = 64
[[domain]]
name = "ddr"
monitor = "cpu"
columns = ["ddr"]
opp_peak_kBps = [[800_000], [1_804_000], [3_072_000]]
devfreq = { device = "noc", freq_hz = [100, 200, 300] }
"#;

/// The offset of ZONE_MAX(1) of the block in the fake `/dev/mem`.
pub(crate) const ZONE_MAX_1: u64 = 0x1400 + 0x2e4;

impl Tree {
    pub(crate) fn new() -> Self {
        let tree = Self { folder: folder(&[("board.toml", BOARD)]) };
        tree.write("sys/class/devfreq/noc/available_governors", "userspace simple_ondemand\n");
        tree.write("sys/class/devfreq/noc/available_frequencies", "100 200 300\n");
        tree.write("sys/class/devfreq/noc/governor", "simple_ondemand\n");
        tree.write("sys/class/devfreq/noc/min_freq", "100\n");
        tree.write("sys/class/devfreq/noc/max_freq", "300\n");
        tree.write("sys/class/devfreq/noc/userspace/set_freq", "undefined\n");
        tree.write("proc/sys/kernel/random/boot_id", "one\n");
        tree.write("dev/mem", "");
        let mem = fs::OpenOptions::new().write(true).open(tree.path("dev/mem")).unwrap();
        mem.set_len(0x3000).unwrap();
        fs::create_dir_all(tree.path("sys/bus/platform/devices/1400.pmu")).unwrap();
        tree
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap().trim().to_owned()
    }

    pub(crate) fn governor(&self) -> String {
        self.read("sys/class/devfreq/noc/governor")
    }

    pub(crate) fn set_freq(&self) -> String {
        self.read("sys/class/devfreq/noc/userspace/set_freq")
    }

    /// `bwmon <args>` on this tree.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = command(args);
        command.arg("--root").arg(self.folder.path());
        command.arg("--state-dir").arg(self.path("state"));
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        let board = at(&self.folder, "board.toml");
        let mut all = vec!["run", "--board", &board];
        all.extend(args);
        self.command(&all).output().unwrap().into()
    }

    /// An agent that runs until it is stopped.
    pub(crate) fn start(&self) -> Agent {
        let board = at(&self.folder, "board.toml");
        let journal = at(&self.folder, "journal");
        let args = ["run", "--board", &board, "--period-us", "4500", "--journal", &journal];
        Agent(self.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().ok())
    }

    /// Waits until the running agent's journal holds `word`.
    pub(crate) fn wait_for_journal(&self, word: &str) {
        wait_for(word, || {
            fs::read_to_string(self.path("journal")).is_ok_and(|text| text.contains(word))
        });
    }

    pub(crate) fn restore(&self) -> Ran {
        self.command(&["restore"]).output().unwrap().into()
    }
}
