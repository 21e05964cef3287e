//! `bwmon bundle`: a bundle's whole life.

use crate::bundle_rig::{ROOM, Rig, text};
use crate::common::{Ran, bwmon};
use serde_json::Value;
use std::fs;

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
        "acme on tree; 1 policies checked, 1 scenarios hold, 60 recorded ticks without a fault",
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

    // The doctor looks at the board that a run would take.
    let ran = bwmon(&["doctor", "--root", &text(rig.tree.folder.path())]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("board tree: named by the product acme 7"), "{}", ran.stdout);

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
    // They are still here, and none of them counts.
    let rows: Value = serde_json::from_str(&rig.bundle(&["list", "--json"]).stdout).unwrap();
    let rows = rows.as_array().unwrap();
    assert!(rows.iter().all(|row| row["current"] == false), "{rows:?}");
    assert!(rows.iter().all(|row| row["standing"] == "rolled back"), "{rows:?}");
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
