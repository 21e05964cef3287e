//! A tree in which bundles are made, signed and installed, for the tests of `bwmon bundle`.

use crate::common::{BOARD, Ran, Tree, bwmon};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// What a bundle of this test is made of: `(name, text)`.
pub(crate) type Files = Vec<(&'static str, String)>;

pub(crate) const PRODUCT: &str = r#"schema = 1
name = "acme"
version = "7"
board = "boards/tree.toml"
period_us = 4500
[match]
dt_compatible = ["acme,tab10"]
[policy]
name = "policies/room.rhai"
params = { room_pct = 75 }
"#;

pub(crate) const ROOM: &str = r#"// How much room is left above the busiest window.
// @param room_pct = 80 (30..100) how full the busiest window may leave a level
fn decide(obs) {
    if !obs.valid { return hold("no reading"); }
    demand_kBps(headroom(obs.peak_kBps, cfg::room_pct)).hold_ms(20).why("room")
}
"#;

/// Three quarters of 1 804 000 kBps, level 1, are 1 353 000.
pub(crate) const SPEC: &str = r#"schema = 1
board = "../boards/tree.toml"
[[scenario]]
name = "asks for more under load"
series = [
  { ms = 100, peak_kBps = 64_000 },
  { ms = 100, peak_kBps = 1_280_000 },
]
[[scenario.expect]]
step = 2
level_at_end = 1
"#;

pub(crate) const SOURCE: &str = r#"schema = 1
name = "acme-tablets"
version = "1.0.0"
what = "Acme tablets"
products = ["acme.toml"]
policies = ["policies/room.rhai"]
specs = ["policies/room.spec.toml"]
traces = ["traces/demo.jsonl"]
boards = ["boards/tree.toml"]
[requires]
bwmon = ">=0.1"
"#;

/// A folder for bundles, a key, and a machine that trusts it.
pub(crate) struct Rig {
    pub(crate) tree: Tree,
    work: TempDir,
}

pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub(crate) fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

impl Rig {
    pub(crate) fn new() -> Self {
        let rig = Self { tree: Tree::new(), work: tempfile::tempdir().unwrap() };
        rig.tree.write("sys/firmware/devicetree/base/compatible", "acme,tab10\0qcom,sdm845\0");
        rig.tree.write("proc/sys/kernel/osrelease", "6.12.9\n");
        rig.keygen("acme");
        rig.tree.write("etc/bwmon/keys/acme.pub", &rig.read("acme.pub"));
        rig
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.work.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap()
    }

    pub(crate) fn keygen(&self, name: &str) -> String {
        let ran = bwmon(&["bundle", "keygen", &text(&self.at(name)), "--no-password", "--json"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        serde_json::from_str::<Value>(&ran.stdout).unwrap()["key"].as_str().unwrap().to_owned()
    }

    /// The files of `acme-tablets` in the folder `name`, changed by `change`.
    pub(crate) fn source(&self, name: &str, change: impl FnOnce(&mut Files)) -> PathBuf {
        let mut files: Files = vec![
            ("bundle.toml", SOURCE.into()),
            ("acme.toml", PRODUCT.into()),
            ("policies/room.rhai", ROOM.into()),
            ("policies/room.spec.toml", SPEC.into()),
            ("boards/tree.toml", BOARD.into()),
            ("traces/demo.jsonl", self.trace()),
        ];
        change(&mut files);
        let folder = self.at(name);
        files.iter().for_each(|(name, text)| write(&folder.join(name), text));
        folder
    }

    /// A journal on the tree's board.
    pub(crate) fn trace(&self) -> String {
        let (board, journal) = (self.tree.path("board.toml"), self.at("trace.jsonl"));
        let (board, journal) = (text(&board), text(&journal));
        let args = [
            "sim",
            "--board",
            &board,
            "--policy",
            "native",
            "--ticks",
            "60",
            "--period-us",
            "4700",
            "--journal",
            &journal,
        ];
        let ran = bwmon(&args);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        self.read("trace.jsonl")
    }

    pub(crate) fn bundle(&self, args: &[&str]) -> Ran {
        let root = text(self.tree.folder.path());
        let mut all = vec!["bundle"];
        all.extend(args);
        all.extend(["--root", &root]);
        bwmon(&all)
    }

    /// Builds the folder `source` and signs it; the answer is the bundle.
    pub(crate) fn signed(&self, source: &Path, check: bool) -> String {
        let file = self.at(&format!("{}.bwmon", source.file_name().unwrap().to_str().unwrap()));
        let (source, file) = (text(source), text(&file));
        let mut args = vec!["build", &source, "-o", &file];
        if !check {
            args.push("--no-check");
        }
        let ran = self.bundle(&args);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        self.sign(&file);
        file
    }

    pub(crate) fn sign(&self, file: &str) {
        let ran = bwmon(&["bundle", "sign", file, "--key", &text(&self.at("acme.key"))]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }

    /// A signed bundle of `version`.
    pub(crate) fn version(&self, version: &str) -> String {
        let source = self.source(version, |files| {
            files[0].1 = SOURCE.replace("1.0.0", version);
        });
        self.signed(&source, true)
    }

    pub(crate) fn install(&self, file: &str, more: &[&str]) -> Ran {
        let mut args = vec!["install", file];
        args.extend(more);
        self.bundle(&args)
    }

    pub(crate) fn installs(&self, file: &str, more: &[&str]) -> Ran {
        let ran = self.install(file, more);
        assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
        ran
    }

    pub(crate) fn which(&self, more: &[&str]) -> Ran {
        let root = text(self.tree.folder.path());
        let mut args = vec!["policy", "which", "--root", &root];
        args.extend(more);
        bwmon(&args)
    }

    /// The bundle of the product that this machine would take; the product's name.
    pub(crate) fn product(&self) -> (Value, Value) {
        let ran = self.which(&["--json"]);
        let found: Value = serde_json::from_str(&ran.stdout).unwrap();
        (found["product"]["name"].clone(), found["product"]["bundle"]["version"].clone())
    }

    /// Every name and byte of the store, but for the lock.
    pub(crate) fn store(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        walk(&self.tree.path("var/lib/bwmon/bundles"), &mut found);
        found.sort();
        found
    }
}

fn walk(folder: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_symlink() {
            let target = fs::read_link(&path).unwrap();
            found.push((path, text(&target).into_bytes()));
        } else if path.is_dir() {
            walk(&path, found);
        } else if !path.ends_with("lock") {
            let bytes = fs::read(&path).unwrap();
            found.push((path, bytes));
        }
    }
}
