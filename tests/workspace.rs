//! What the project asks of its own tree: lints inherited, purity, file sizes.

use crate::common::repository;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Files that git tracks, or would.
fn files(ending: &str) -> Vec<PathBuf> {
    let root = repository();
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(&root)
        .output()
        .unwrap();
    assert!(output.status.success(), "this test reads the git tree");
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .filter(|name| name.ends_with(ending))
        .map(|name| root.join(name))
        .filter(|path| path.exists())
        .collect()
}

fn text(path: &PathBuf) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn every_member_inherits_the_workspaces_lints() {
    let manifests = files("Cargo.toml");
    assert!(manifests.len() >= 6, "{manifests:?}");
    for manifest in manifests {
        let value: toml::Table = toml::from_str(&text(&manifest)).unwrap();
        if value.contains_key("package") {
            let inherited = value.get("lints").and_then(|lints| lints.get("workspace"));
            assert_eq!(inherited, Some(&toml::Value::Boolean(true)), "{}", manifest.display());
        }
    }
}

#[test]
fn the_purity_lint_is_excepted_only_where_the_machine_is_touched_and_with_a_reason() {
    let may = [
        "bwmon-user/src/lib.rs",
        "bwmon-user/src/live/",
        "bwmon-user/build.rs",
        "bwmon-user/examples/",
        "xtask/",
        "tests/",
    ];
    let mut excepted = 0;
    for path in files(".rs") {
        let name = path.strip_prefix(repository()).unwrap().to_str().unwrap().to_owned();
        let text = text(&path);
        // This file names the lint without excepting anything.
        if name == "tests/workspace.rs" || !text.contains("clippy::disallowed") {
            continue;
        }
        excepted += 1;
        assert!(may.iter().any(|prefix| name.starts_with(prefix)), "{name} is on the road");
        assert!(text.contains("reason ="), "{name} gives no reason");
    }
    assert!(excepted >= 3, "the lint is named in clippy.toml and excepted somewhere");
    let lib = text(&repository().join("bwmon-user/src/lib.rs"));
    let names: Vec<&str> = lib
        .split("clippy::disallowed_types")
        .skip(1)
        .filter_map(|rest| rest.split("pub mod ").nth(1)?.split(';').next())
        .collect();
    assert_eq!(names, ["live", "agent", "lab", "cli"]);
}

#[test]
fn files_are_small_and_main_is_smaller() {
    for path in files(".rs") {
        let lines = text(&path).lines().count();
        let most = if path.ends_with("main.rs") { 80 } else { 400 };
        assert!(lines <= most, "{} has {lines} lines", path.display());
    }
}

#[test]
fn the_readme_names_the_two_commands() {
    let readme = text(&repository().join("README.md"));
    for command in ["cargo xtask demo", "cargo xtask test"] {
        assert!(readme.contains(command), "{command}");
    }
}
