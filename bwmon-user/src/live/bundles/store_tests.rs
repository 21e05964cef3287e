use super::state::{Id, Standing};
use super::*;
use crate::bundle::testing::versioned;
use crate::bundle::{Bundle, MANIFEST};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn store() -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("bundles"));
    (folder, store)
}

fn bundle(version: &str) -> Bundle {
    versioned(version, &[("acme.toml", version), ("policies/a.rhai", "fn decide(obs) {}")])
}

fn install(store: &Store, version: &str) -> Id {
    store.install(&bundle(version), None, &Terms::default()).unwrap();
    Id::from(bundle(version).record())
}

fn current(store: &Store) -> Option<String> {
    store.current().unwrap().map(|installed| installed.id.version)
}

fn standing(store: &Store, id: &Id) -> Option<Standing> {
    let text = fs::read_to_string(store.dir().join("state.json")).unwrap();
    let state: super::state::State = serde_json::from_str(&text).unwrap();
    state.bundles.get(id).map(|record| record.standing.clone())
}

/// Every name below the store with what is in it, but for the lock.
fn picture(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_symlink() {
            names.push(format!(
                "{} -> {}",
                path.display(),
                fs::read_link(&path).unwrap().display()
            ));
        } else if path.is_dir() {
            names.push(path.display().to_string());
            names.extend(picture(&path));
        } else if !path.ends_with("lock") {
            names.push(format!("{}: {:?}", path.display(), fs::read(&path).unwrap()));
        }
    }
    names.sort();
    names
}

#[test]
fn an_empty_store_has_no_bundle_and_is_not_made_by_asking() {
    let (_folder, store) = store();
    assert_eq!(store.current().unwrap(), None);
    assert_eq!(store.started("one").unwrap(), Started::None);
    assert_eq!(store.rollback().unwrap(), None);
    assert!(store.list().unwrap().is_empty() && !store.dir().exists());
}

#[test]
fn what_is_installed_is_what_was_in_the_bundle() {
    let (_folder, store) = store();
    let bundle = bundle("1.0.0");
    assert_eq!(store.install(&bundle, Some("KEY".into()), &Terms::default()).unwrap(), None);
    let installed = store.current().unwrap().unwrap();
    assert_eq!(
        (&installed.bundle.manifest, &installed.bundle.files),
        (&bundle.manifest, &bundle.files)
    );
    assert_eq!(installed.key.as_deref(), Some("KEY"));
    assert_eq!(installed.standing, Standing::Trial { boots: vec![] });
    let text = fs::read_to_string(installed.folder.join("acme.toml")).unwrap();
    assert_eq!(text, "1.0.0");
    assert!(fs::read_link(store.link_path()).unwrap().is_relative(), "the store can be moved");
}

#[test]
fn a_bundle_that_reboots_the_machine_twice_is_left_for_the_last_good_one_and_not_tried_again() {
    let (_folder, store) = store();
    let good = install(&store, "1.0.0");
    store.started("boot 1").unwrap();
    store.proven(&good).unwrap();
    let new = install(&store, "1.1.0");
    let on_trial = |boots: &[&str]| {
        Started::With(
            new.clone(),
            Standing::Trial { boots: boots.iter().map(ToString::to_string).collect() },
        )
    };
    assert_eq!(store.started("boot 1").unwrap(), on_trial(&["boot 1"]));
    // The agent starts again without a reboot: that is no reboot.
    assert_eq!(store.started("boot 1").unwrap(), on_trial(&["boot 1"]));
    assert_eq!(store.started("boot 2").unwrap(), on_trial(&["boot 1", "boot 2"]));
    // The second reboot while it is not proven.
    let Started::RolledBack(rolled) = store.started("boot 3").unwrap() else { panic!("left") };
    assert_eq!((&rolled.from, rolled.to.as_ref()), (&new, Some(&good)));
    assert!(rolled.why.contains("rebooted 2 times"), "{}", rolled.why);
    assert_eq!(current(&store).as_deref(), Some("1.0.0"));
    assert_eq!(store.started("boot 3").unwrap(), Started::With(good, Standing::Proven));
    let said = store.install(&bundle("1.1.0"), None, &Terms::default()).unwrap_err().to_string();
    assert!(said.contains("rebooted 2 times") && said.contains("--retry"), "{said}");
    let retry = Terms { retry: true, ..Terms::default() };
    store.install(&bundle("1.1.0"), None, &retry).unwrap();
    assert_eq!(standing(&store, &new), Some(Standing::Trial { boots: vec![] }));
}

#[test]
fn reboots_of_a_bundle_that_has_proven_itself_are_not_counted() {
    let (_folder, store) = store();
    let id = install(&store, "1.0.0");
    store.started("0").unwrap();
    store.proven(&id).unwrap();
    for boot in 1..9 {
        let started = store.started(&boot.to_string()).unwrap();
        assert_eq!(started, Started::With(id.clone(), Standing::Proven));
    }
}

#[test]
fn the_first_bundle_that_fails_leaves_the_machine_without_one() {
    let (_folder, store) = store();
    let id = install(&store, "1.0.0");
    let rolled = store.failed(&id, "the canary \u{1b}[31m failed").unwrap().unwrap();
    assert_eq!((rolled.to, current(&store)), (None, None));
    let Some(Standing::Failed { why }) = standing(&store, &id) else { panic!("failed") };
    assert!(!why.contains('\u{1b}'), "{why}");
    // A late word does not bring it back, and a failure of what does not count moves nothing.
    store.proven(&id).unwrap();
    assert!(matches!(standing(&store, &id), Some(Standing::Failed { .. })));
    let next = install(&store, "1.1.0");
    assert_eq!(store.failed(&id, "again").unwrap(), None);
    assert_eq!(
        store.started("1").unwrap(),
        Started::With(next, Standing::Trial { boots: vec!["1".into()] })
    );
}

#[test]
fn rolling_back_goes_from_good_to_good_and_the_left_one_can_come_again() {
    let (_folder, store) = store();
    for version in ["1.0.0", "1.1.0", "1.2.0"] {
        let id = install(&store, version);
        store.proven(&id).unwrap();
    }
    let on_trial = install(&store, "1.3.0");
    for version in ["1.2.0", "1.1.0", "1.0.0"] {
        let rolled = store.rollback().unwrap().unwrap();
        assert_eq!(rolled.to.map(|id| id.version).as_deref(), Some(version));
        assert_eq!(current(&store).as_deref(), Some(version));
    }
    assert_eq!(store.rollback().unwrap().unwrap().to, None);
    assert_eq!(current(&store), None);
    store.install(&bundle("1.3.0"), None, &Terms::default()).unwrap();
    assert_eq!(standing(&store, &on_trial), Some(Standing::Trial { boots: vec![] }));
}

#[test]
fn older_versions_and_other_contents_of_one_version_need_a_word() {
    let (_folder, store) = store();
    install(&store, "1.1.0");
    let other = versioned("1.1.0", &[("acme.toml", "other")]);
    let before = picture(store.dir());
    for (bundle, word) in [
        (bundle("1.0.9"), "1.0.9 is older than the installed acme 1.1.0"),
        (bundle("1.1.0-rc.1"), "is older"),
        (other.clone(), "a version stands for one content"),
    ] {
        let said = store.install(&bundle, None, &Terms::default()).unwrap_err().to_string();
        assert!(said.contains(word) && said.contains("--allow-downgrade"), "{said}");
        assert_eq!(picture(store.dir()), before);
    }
    let allowed = Terms { allow_downgrade: true, ..Terms::default() };
    store.install(&bundle("1.0.9"), None, &allowed).unwrap();
    assert_eq!(current(&store).as_deref(), Some("1.0.9"));
}

#[test]
fn an_install_that_cannot_be_written_changes_nothing() {
    let (_folder, store) = store();
    install(&store, "1.0.0");
    // A file where the folder of the other bundle would have to be.
    fs::write(store.dir().join("other"), "").unwrap();
    let before = picture(store.dir());
    let mut other = bundle("1.0.0");
    other.manifest.name = "other".into();
    let said = store.install(&other, None, &Terms::default()).unwrap_err().to_string();
    assert!(said.contains("cannot create") && said.contains("other"), "{said}");
    assert_eq!(picture(store.dir()), before);
}

#[test]
fn a_crash_between_standing_and_link_is_read_as_the_last_good_one_and_mended() {
    let (_folder, store) = store();
    let good = install(&store, "1.0.0");
    store.proven(&good).unwrap();
    let bad = install(&store, "1.1.0");
    store.failed(&bad, "broken").unwrap();
    // As if the power had gone before the link was swapped; the folder is there until the next word.
    super::durable::relink(&store.link_path(), &bad.folder()).unwrap();
    assert_eq!(current(&store).as_deref(), Some("1.0.0"));
    let Started::RolledBack(rolled) = store.started("1").unwrap() else { panic!("mended") };
    assert_eq!((rolled.to, rolled.why.as_str()), (Some(good.clone()), "broken"));
    assert_eq!(fs::read_link(store.link_path()).unwrap(), good.folder());
}

#[test]
fn a_crash_in_the_middle_of_unpacking_leaves_what_the_next_install_clears_away() {
    let (_folder, store) = store();
    install(&store, "1.0.0");
    fs::create_dir(store.dir().join(".new-bundle")).unwrap();
    fs::write(store.dir().join(".new-bundle/half"), "x").unwrap();
    std::os::unix::fs::symlink("x", store.dir().join(".new-current")).unwrap();
    fs::write(store.dir().join(".new-state.json"), "{").unwrap();
    assert_eq!(current(&store).as_deref(), Some("1.0.0"));
    install(&store, "1.1.0");
    assert_eq!(current(&store).as_deref(), Some("1.1.0"));
    let left: Vec<String> =
        picture(store.dir()).into_iter().filter(|name| name.contains(".new")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn damage_is_named_and_an_install_of_the_same_bundle_mends_it() {
    let (_folder, store) = store();
    let good = install(&store, "1.0.0");
    store.proven(&good).unwrap();
    let folder = store.current().unwrap().unwrap().folder;
    fs::write(folder.join("acme.toml"), "changed").unwrap();
    let said = store.current().unwrap_err().to_string();
    assert!(said.contains("acme.toml was changed") && said.contains("rollback"), "{said}");
    assert!(store.list().unwrap()[0].installed.is_err());
    install(&store, "1.0.0");
    assert_eq!(standing(&store, &good), Some(Standing::Proven));
    assert_eq!(current(&store).as_deref(), Some("1.0.0"));
    // A good one that is damaged is nothing to go back to.
    let new = install(&store, "1.1.0");
    fs::remove_file(folder.join(MANIFEST)).unwrap();
    assert_eq!(store.failed(&new, "x").unwrap().unwrap().to, None);
}

#[test]
fn a_store_that_is_broken_says_which_file_and_changes_nothing() {
    let (_folder, store) = store();
    install(&store, "1.0.0");
    for (text, word) in [
        ("{", "state.json is broken"),
        ("{\"schema\": 9, \"bundles\": {}, \"good\": []}", "schema 9"),
    ] {
        fs::write(store.dir().join("state.json"), text).unwrap();
        let said = store.started("1").unwrap_err().to_string();
        assert!(said.contains(word) && said.contains("state.json"), "{said}");
        assert!(store.install(&bundle("1.1.0"), None, &Terms::default()).is_err());
    }
    fs::remove_file(store.dir().join("state.json")).unwrap();
    assert_eq!(current(&store).as_deref(), Some("1.0.0"), "a lost state is a trial");
    for target in ["../../etc", "/etc", "acme/1.0.0", "acme/../../x-0123456789abcdef"] {
        super::durable::relink(&store.link_path(), Path::new(target)).unwrap();
        let said = store.current().unwrap_err().to_string();
        assert!(said.contains("current is broken"), "{said}");
    }
}

#[test]
fn what_nobody_goes_back_to_is_removed() {
    let (_folder, store) = store();
    for patch in 0..8 {
        let id = install(&store, &format!("1.0.{patch}"));
        store.proven(&id).unwrap();
    }
    let left: Vec<String> = store.list().unwrap().into_iter().map(|row| row.id.version).collect();
    assert_eq!(left, ["1.0.5", "1.0.6", "1.0.7"]);
}

#[test]
fn a_bundle_that_a_crash_left_unpacked_and_unknown_is_removed_by_the_next_install() {
    let (_folder, store) = store();
    install(&store, "1.0.0");
    let lost = Id::from(bundle("1.1.0").record());
    fs::create_dir_all(store.dir().join(lost.folder())).unwrap();
    install(&store, "1.2.0");
    assert!(!store.dir().join(lost.folder()).exists());
}

#[test]
fn where_no_bundle_has_proven_itself_the_one_before_is_gone_back_to() {
    let (_folder, store) = store();
    let first = install(&store, "1.0.0");
    install(&store, "1.1.0");
    assert_eq!(store.rollback().unwrap().unwrap().to, Some(first.clone()));
    // It is on trial as before; and it has nothing before it.
    let second = install(&store, "1.1.0");
    store.failed(&first, "x").unwrap();
    assert_eq!(store.failed(&second, "x").unwrap().unwrap().to, None);
}
