//! `bwmon bundle`: what is refused, and that nothing is changed then.

use crate::bundle_rig::{Files, PRODUCT, ROOM, Rig, SOURCE, SPEC, text, write};
use crate::common::{BOARD, Ran, bwmon, command};
use serde_json::Value;
use std::fs;

#[test]
fn a_spec_that_is_there_and_not_listed_is_named() {
    let rig = Rig::new();
    let source = rig.source("forgetful", |files| {
        let specs = "specs = [\"policies/room.spec.toml\"]\n";
        files[0].1 = files[0].1.replace(specs, "");
    });
    let out = text(&rig.at("out.bwmon"));
    let ran = rig.bundle(&["build", &text(&source), "-o", &out]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let said = "note: policies/room.spec.toml lies beside its policy, is not listed in";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
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
                    ROOM.replace("    demand", "    let x = 1 / (obs.dt_us - 4700);\n    demand")
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
