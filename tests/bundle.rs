//! `bwmon bundle`: a bundle's whole life, and bundles that mean harm.

use crate::common::{BOARD, Ran, Tree, bwmon, command};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// What a bundle of this test is made of: `(name, text)`.
type Files = Vec<(&'static str, String)>;

const PRODUCT: &str = r#"schema = 1
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

const ROOM: &str = r#"// How much room is left above the busiest window.
// @param room_pct = 80 (30..100) how full the busiest window may leave a level
fn decide(obs) {
    if !obs.valid { return hold("no reading"); }
    demand_kBps(headroom(obs.peak_kBps, cfg::room_pct)).hold_ms(20).why("room")
}
"#;

/// Three quarters of 1 804 000 kBps, level 1, are 1 353 000.
const SPEC: &str = r#"schema = 1
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

const SOURCE: &str = r#"schema = 1
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
struct Rig {
    tree: Tree,
    work: TempDir,
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

impl Rig {
    fn new() -> Self {
        let rig = Self { tree: Tree::new(), work: tempfile::tempdir().unwrap() };
        rig.tree.write("sys/firmware/devicetree/base/compatible", "acme,tab10\0qcom,sdm845\0");
        rig.tree.write("proc/sys/kernel/osrelease", "6.12.9\n");
        rig.keygen("acme");
        rig.tree.write("etc/bwmon/keys/acme.pub", &rig.read("acme.pub"));
        rig
    }

    fn at(&self, name: &str) -> PathBuf {
        self.work.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap()
    }

    fn keygen(&self, name: &str) -> String {
        let ran = bwmon(&["bundle", "keygen", &text(&self.at(name)), "--no-password", "--json"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        serde_json::from_str::<Value>(&ran.stdout).unwrap()["key"].as_str().unwrap().to_owned()
    }

    /// The files of `acme-tablets` in the folder `name`, changed by `change`.
    fn source(&self, name: &str, change: impl FnOnce(&mut Files)) -> PathBuf {
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
    fn trace(&self) -> String {
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
            "--journal",
            &journal,
        ];
        let ran = bwmon(&args);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        self.read("trace.jsonl")
    }

    fn bundle(&self, args: &[&str]) -> Ran {
        let root = text(self.tree.folder.path());
        let mut all = vec!["bundle"];
        all.extend(args);
        all.extend(["--root", &root]);
        bwmon(&all)
    }

    /// Builds the folder `source` and signs it; the answer is the bundle.
    fn signed(&self, source: &Path, check: bool) -> String {
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

    fn sign(&self, file: &str) {
        let ran = bwmon(&["bundle", "sign", file, "--key", &text(&self.at("acme.key"))]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }

    /// A signed bundle of `version`.
    fn version(&self, version: &str) -> String {
        let source = self.source(version, |files| {
            files[0].1 = SOURCE.replace("1.0.0", version);
        });
        self.signed(&source, true)
    }

    fn install(&self, file: &str, more: &[&str]) -> Ran {
        let mut args = vec!["install", file];
        args.extend(more);
        self.bundle(&args)
    }

    fn installs(&self, file: &str, more: &[&str]) -> Ran {
        let ran = self.install(file, more);
        assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
        ran
    }

    fn which(&self, more: &[&str]) -> Ran {
        let root = text(self.tree.folder.path());
        let mut args = vec!["policy", "which", "--root", &root];
        args.extend(more);
        bwmon(&args)
    }

    /// The bundle of the product that this machine would take; the product's name.
    fn product(&self) -> (Value, Value) {
        let ran = self.which(&["--json"]);
        let found: Value = serde_json::from_str(&ran.stdout).unwrap();
        (found["product"]["name"].clone(), found["product"]["bundle"]["version"].clone())
    }

    /// Every name and byte of the store, but for the lock.
    fn store(&self) -> Vec<(PathBuf, Vec<u8>)> {
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

#[test]
fn the_whole_life_of_a_bundle() {
    let rig = Rig::new();
    // Built twice, in two folders, with other times and rights: the same bytes.
    let one = rig.source("one", |_| {});
    let two = rig.source("two", |_| {});
    let times = fs::FileTimes::new().set_modified(std::time::UNIX_EPOCH);
    let changed = fs::File::options().write(true).open(two.join("acme.toml")).unwrap();
    changed.set_times(times).unwrap();
    let (one, two) = (rig.signed(&one, true), rig.signed(&two, true));
    assert_eq!(fs::read(&one).unwrap(), fs::read(&two).unwrap());

    let ran = rig.bundle(&["verify", &one]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for said in [
        "acme-tablets 1.0.0 (",
        "etc/bwmon/keys/acme.pub",
        "acme on tree; 1 policies checked, 1 scenarios hold, 59 recorded ticks without a fault",
    ] {
        assert!(ran.stdout.contains(said), "{said}: {}", ran.stdout);
    }
    assert_eq!(rig.product().0, Value::from("sdm845"), "before it is installed");

    let ran = rig.installs(&one, &[]);
    assert!(ran.stdout.contains("the product of this machine: acme"), "{}", ran.stdout);
    assert_eq!(rig.product(), ("acme".into(), "1.0.0".into()));
    let ran = rig.which(&["--explain"]);
    assert!(ran.stdout.contains("bundle acme-tablets 1.0.0"), "{}", ran.stdout);
    assert!(ran.stdout.contains("built-in"), "{}", ran.stdout);

    // What governs says which bundle it came in.
    let journal = text(&rig.at("journal.jsonl"));
    let ran = rig.tree.command(&["run", "--dry-run", "--ticks", "5", "--journal", &journal]);
    let ran: Ran = { ran }.output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let first: Value =
        serde_json::from_str(rig.read("journal.jsonl").lines().next().unwrap()).unwrap();
    assert_eq!(first["product"]["bundle"]["name"], "acme-tablets");
    assert_eq!(first["product"]["bundle"]["version"], "1.0.0");
    assert_eq!(first["product"]["bundle"]["digest"].as_str().unwrap().len(), 16);
    assert_eq!(first["policy"]["params"]["room_pct"], 75);

    // A newer one over it, and back.
    let newer = rig.version("1.1.0");
    let ran = rig.installs(&newer, &[]);
    assert!(ran.stdout.contains("over acme-tablets 1.0.0"), "{}", ran.stdout);
    assert_eq!(rig.product().1, Value::from("1.1.0"));
    let ran = rig.bundle(&["list", "--json"]);
    let rows: Value = serde_json::from_str(&ran.stdout).unwrap();
    let row = |n: usize| (rows[n]["version"].clone(), rows[n]["current"].clone());
    assert_eq!((row(0), row(1)), (("1.0.0".into(), false.into()), ("1.1.0".into(), true.into())));
    assert_eq!(rows[1]["standing"], "not started yet");
    assert_eq!(rows[1]["products"][0], "acme");
    let ran = rig.bundle(&["rollback"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("back to acme-tablets 1.0.0"), "{}", ran.stdout);
    assert_eq!(rig.product().1, Value::from("1.0.0"));
    let ran = rig.bundle(&["rollback"]);
    assert!(ran.stdout.contains("back to no bundle"), "{}", ran.stdout);
    assert_eq!(rig.product().0, Value::from("sdm845"));
    let ran = rig.bundle(&["rollback"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
    assert!(rig.bundle(&["list"]).stderr.contains("no bundle is installed"));
}

#[test]
fn an_administrators_file_goes_over_the_bundle_and_the_bundle_over_the_distributions() {
    let rig = Rig::new();
    rig.installs(&rig.version("1.0.0"), &[]);
    rig.tree.write("usr/lib/bwmon/products/acme.toml", "broken, but hidden");
    assert_eq!(rig.product(), ("acme".into(), "1.0.0".into()));
    let own = "schema = 1\nname = \"acme\"\n[match]\ndt_compatible = [\"acme,tab10\"]\n";
    rig.tree.write("etc/bwmon/products/acme.toml", own);
    assert_eq!(rig.product(), ("acme".into(), Value::Null));
    let ran = rig.which(&["--explain"]);
    assert!(ran.stdout.contains("acme.toml is hidden by"), "{}", ran.stdout);
    // A product that stands on one of the bundle says the bundle.
    let own = "schema = 1\nname = \"mine\"\nextends = \"acme\"\n[match]\nkernel = \">=6\"\n";
    fs::remove_file(rig.tree.path("etc/bwmon/products/acme.toml")).unwrap();
    rig.tree.write("etc/bwmon/products/mine.toml", own);
    assert_eq!(rig.product(), ("mine".into(), "1.0.0".into()));
}

#[test]
fn nobody_is_trusted_who_is_not_and_the_unknown_key_is_named() {
    let rig = Rig::new();
    let file = rig.version("1.0.0");
    let refused = |args: &[&str], word: &str| {
        let before = rig.store();
        let verified = rig.bundle(&[&["verify", &file], args].concat());
        assert_eq!(verified.code, Some(1), "{}", verified.stderr);
        let ran = rig.install(&file, args);
        assert_eq!(ran.code, Some(2), "{}", ran.stdout);
        for ran in [&verified, &ran] {
            assert!(ran.stderr.contains(word), "{word}: {}", ran.stderr);
            assert_eq!(ran.stderr.matches("error").count(), 1, "one error: {}", ran.stderr);
        }
        assert_eq!(rig.store(), before);
    };
    // Another key under the same roof.
    let keys = tempfile::tempdir().unwrap();
    rig.keygen("other");
    fs::write(keys.path().join("other.pub"), rig.read("other.pub")).unwrap();
    let id = rig.read("acme.pub").lines().next().unwrap().rsplit(' ').next().unwrap().to_owned();
    refused(&["--keys", &text(keys.path())], &format!("the key {id}, which is not trusted here"));
    // The key is masked by an administrator.
    let key = rig.tree.path("etc/bwmon/keys/acme.pub");
    rig.tree.write("usr/lib/bwmon/keys/acme.pub", &rig.read("acme.pub"));
    fs::write(&key, "").unwrap();
    refused(&[], "no key is trusted here");
    fs::remove_file(&key).unwrap();
    rig.installs(&file, &[]);
    // The signature of another bundle, one byte of this one, none at all.
    let signature = format!("{file}.minisig");
    let good = fs::read(&signature).unwrap();
    let other = rig.version("1.1.0");
    fs::copy(format!("{other}.minisig"), &signature).unwrap();
    refused(&[], "was changed after it was signed");
    fs::write(&signature, "no signature").unwrap();
    refused(&[], "its signature cannot be read");
    fs::remove_file(&signature).unwrap();
    refused(&[], "it is not signed: there is no");
    let ran = rig.installs(&file, &["--insecure-unsigned"]);
    assert!(ran.stderr.contains("WARNING: --insecure-unsigned: nobody vouches"), "{}", ran.stderr);
    assert!(rig.bundle(&["list"]).stdout.contains("nobody"));
    fs::write(&signature, good).unwrap();
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, bytes).unwrap();
    refused(&[], "was changed after it was signed");
}

#[test]
fn older_and_other_bundles_need_a_word_and_a_failed_one_is_not_tried_again() {
    let rig = Rig::new();
    let (old, new) = (rig.version("1.0.0"), rig.version("1.1.0"));
    rig.installs(&new, &[]);
    let before = rig.store();
    let ran = rig.install(&old, &[]);
    assert_eq!(ran.code, Some(2));
    let said = "acme-tablets 1.0.0 is older than the installed acme-tablets 1.1.0";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    assert_eq!(rig.store(), before);
    rig.installs(&old, &["--allow-downgrade"]);
    assert_eq!(rig.product().1, Value::from("1.0.0"));
    // The same version with another content.
    let source = rig.source("changed", |files| files[2].1 = ROOM.replace("20", "24"));
    let ran = rig.install(&rig.signed(&source, true), &[]);
    assert!(ran.stderr.contains("a version stands for one content"), "{}", ran.stderr);
    // As the agent would note it.
    let state = rig.tree.path("var/lib/bwmon/bundles/state.json");
    let text = fs::read_to_string(&state).unwrap();
    let mut value: Value = serde_json::from_str(&text).unwrap();
    let bundles = value["bundles"].as_object_mut().unwrap();
    let (_, one) = bundles.iter_mut().find(|(id, _)| id.contains("/1.1.0-")).unwrap();
    *one = serde_json::json!({"standing": "failed", "why": "it rebooted"});
    fs::write(&state, value.to_string()).unwrap();
    let ran = rig.install(&new, &[]);
    assert!(ran.stderr.contains("has failed on this machine (it rebooted)"), "{}", ran.stderr);
    rig.installs(&new, &["--retry"]);
    assert_eq!(rig.product().1, Value::from("1.1.0"));
}

#[test]
fn what_does_not_hold_is_refused_by_build_verify_and_install_and_changes_nothing() {
    let rig = Rig::new();
    rig.installs(&rig.version("1.0.0"), &[]);
    let before = rig.store();
    type Change = fn(&mut Files);
    let cases: [(&str, Change, &[&str]); 9] = [
        (
            "product",
            |f| f[1].1 = PRODUCT.replace("period_us", "perod_us"),
            &["did you mean period_us?"],
        ),
        (
            "domain",
            |f| f[1].1 += "[domain.dd]\npolicy = \"native\"\n",
            &["dd", "did you mean ddr?"],
        ),
        ("tunable", |f| f[1].1 = PRODUCT.replace("= 75", "= 20"), &["room_pct", "acme.toml:10"]),
        ("script", |f| f[2].1 = ROOM.replace("headroom(", "headrom("), &["room.rhai:5"]),
        (
            "endless",
            |f| f[2].1 = ROOM.replace("    demand", "    while true {}\n    demand"),
            &["operations"],
        ),
        (
            "spec",
            |f| f[3].1 = SPEC.replace("at_end = 1", "at_end = 2"),
            &["the spec does not hold"],
        ),
        (
            "board",
            |f| f[4].1 = BOARD.replace("count_unit_kB", "count_unit_kb"),
            &["boards/tree.toml"],
        ),
        ("trace", |f| f[5].1 = "no journal\n".into(), &["traces/demo.jsonl"]),
        // A policy that faults where the model never goes: only the trace knows.
        (
            "fault",
            |f| {
                f[2].1 =
                    ROOM.replace("    demand", "    let x = 1 / (obs.dt_us - 4000);\n    demand")
            },
            &["traces/demo.jsonl", "faults"],
        ),
    ];
    for (name, change, words) in cases {
        let source = rig.source(name, |files| {
            files[0].1 = SOURCE.replace("1.0.0", "1.9.0");
            change(files);
        });
        let built = rig.bundle(&["build", &text(&source), "-o", &text(&rig.at("never.bwmon"))]);
        assert_eq!((built.code, rig.at("never.bwmon").exists()), (Some(2), false), "{name}");
        let file = rig.signed(&source, false);
        let verified = rig.bundle(&["verify", &file]);
        assert_eq!(verified.code, Some(1), "{name}: {}", verified.stdout);
        let ran = rig.install(&file, &[]);
        assert_eq!(ran.code, Some(2), "{name}: {}", ran.stdout);
        for ran in [&built, &verified, &ran] {
            for word in words {
                assert!(ran.stderr.contains(word), "{name}: {word}: {}", ran.stderr);
            }
        }
        assert_eq!(rig.store(), before, "{name}");
    }
}

#[test]
fn a_bundle_with_which_the_machine_would_not_know_its_product_is_refused() {
    let rig = Rig::new();
    let file = rig.version("1.0.0");
    let twin = "schema = 1\nname = \"twin\"\n[match]\ndt_compatible = [\"acme,tab1?\"]\n";
    rig.tree.write("etc/bwmon/products/twin.toml", twin);
    let ran = rig.install(&file, &[]);
    assert_eq!(ran.code, Some(2));
    for word in
        ["would not know its product", "2 products fit this machine equally", "acme", "twin"]
    {
        assert!(ran.stderr.contains(word), "{word}: {}", ran.stderr);
    }
    assert!(rig.store().is_empty());
    // Two of the bundle's own.
    let source = rig.source("twins", |files| {
        files[0].1 = SOURCE.replace("[\"acme.toml\"]", "[\"acme.toml\", \"acme2.toml\"]");
        files.push(("acme2.toml", PRODUCT.replace("\"acme\"", "\"acme2\"")));
    });
    let ran = rig.bundle(&["build", &text(&source)]);
    assert!(ran.stderr.contains("acme and acme2 ask for the same"), "{}", ran.stderr);
}

#[test]
fn a_bundle_toml_that_is_wrong_is_shown_where() {
    let rig = Rig::new();
    for (name, from, to, words) in [
        ("key", "products =", "prodcuts =", ["did you mean products?", "bundle.toml:5:1"]),
        ("gone", "room.rhai\"", "rom.rhai\"", ["rom.rhai cannot be packed", "bundle.toml:6:13"]),
        (
            "out",
            "\"acme.toml\"",
            "\"../acme.toml\"",
            ["leads out of the bundle", "bundle.toml:5:13"],
        ),
        ("old", "schema = 1", "schema = 0", ["schema 0 is not known", "bundle.toml:1:10"]),
        ("future", ">=0.1", ">=9", ["requires bwmon >=9", "this is"]),
    ] {
        let source = rig.source(name, |files| files[0].1 = SOURCE.replacen(from, to, 1));
        let ran = rig.bundle(&["build", &text(&source), "-o", &text(&rig.at("never.bwmon"))]);
        assert_eq!(ran.code, Some(2), "{}", ran.stdout);
        for word in words {
            assert!(ran.stderr.contains(word), "{word}: {}", ran.stderr);
        }
    }
    assert!(!rig.at("never.bwmon").exists());
}

#[test]
fn a_key_is_never_overwritten_and_one_with_a_password_signs() {
    use std::os::unix::fs::PermissionsExt;
    let rig = Rig::new();
    let mode = fs::metadata(rig.at("acme.key")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let before = rig.read("acme.key");
    let ran = bwmon(&["bundle", "keygen", &text(&rig.at("acme")), "--no-password"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("never overwritten"), "{}", ran.stderr);
    assert_eq!(rig.read("acme.key"), before);
    let name = text(&rig.at("sealed"));
    let ran = bwmon(&["bundle", "keygen", &name]);
    assert!(ran.code == Some(2) && ran.stderr.contains("--password-file"), "{}", ran.stderr);
    write(&rig.at("password"), "sesame\n");
    write(&rig.at("wrong"), "simsalabim\n");
    let (password, wrong) = (text(&rig.at("password")), text(&rig.at("wrong")));
    let ran = bwmon(&["bundle", "keygen", &name, "--password-file", &password]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let file = rig.version("1.0.0");
    let key = text(&rig.at("sealed.key"));
    let sign = |password: &str| {
        bwmon(&["bundle", "sign", &file, "--key", &key, "--password-file", password])
    };
    let ran = sign(&wrong);
    assert!(ran.code == Some(2) && ran.stderr.contains("password"), "{}", ran.stderr);
    assert_eq!(sign(&password).code, Some(0));
    rig.tree.write("run/bwmon/keys/sealed.pub", &rig.read("sealed.pub"));
    assert_eq!(rig.bundle(&["verify", &file]).code, Some(0));
}

#[test]
fn what_cannot_be_read_or_written_is_said_with_its_name() {
    let rig = Rig::new();
    let file = rig.version("1.0.0");
    for (args, word) in [
        (&["verify", "/not/there.bwmon"][..], "cannot read /not/there.bwmon"),
        (&["verify", "/dev/zero"], "not a regular file"),
        (&["verify", &file, "--keys", "/not/there"], "cannot look for keys in /not/there"),
        (&["install", &file, "--store", "/dev/null/store"], "cannot create /dev/null/store"),
    ] {
        let ran = rig.bundle(args);
        assert_eq!(ran.code, Some(2), "{}", ran.stdout);
        assert!(ran.stderr.contains(word), "{word}: {}", ran.stderr);
    }
    // A store somewhere else.
    let store = text(&rig.at("store"));
    rig.installs(&file, &["--store", &store]);
    assert_eq!(rig.product().0, Value::from("sdm845"));
    let root = text(rig.tree.folder.path());
    let args = ["policy", "which", "--root", &root, "--store", &store];
    let ran: Ran = command(&args).output().unwrap().into();
    assert!(ran.stdout.starts_with("acme 7 ("), "{}{}", ran.stdout, ran.stderr);
}
