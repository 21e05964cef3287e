//! The examples of docs/products.md: every file in it, every command, to the letter.

use crate::common::{Ran, at, command, folder, good, repository};
use std::fs;
use std::path::Path;

/// Every block of docs/products.md: files are written as they come, each part of the page into a
/// folder of its own; commands are run there and have to print what stands below them.
#[test]
fn the_examples_of_the_guide_do_what_it_says() {
    let page = fs::read_to_string(repository().join("docs/products.md")).unwrap();
    let (mut products, mut commands) = (0, 0);
    for part in page.split("\n## ").skip(1) {
        let folder = folder(&[]);
        for block in part.split("```").skip(1).step_by(2) {
            let (kind, text) = block.split_once('\n').unwrap();
            if kind == "console" {
                commands += run_console(folder.path(), text);
                continue;
            }
            if kind.is_empty() {
                continue;
            }
            let head = text.lines().next().unwrap();
            let name = head.trim_start_matches(['#', '/', ' ']);
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
            if kind == "toml" && !name.starts_with("facts") && name != "wrong.toml" {
                let (file, board) = (at(&folder, name), board_of(text));
                let products = folder.path().to_str().unwrap();
                let list = ["policy", "list", "--products", products, "--product", &file];
                good(&[&list[..], &["--board", board]].concat());
            }
            products += usize::from(kind == "toml");
        }
    }
    assert!(products >= 9 && commands >= 5, "{products} {commands}");
}

fn board_of(text: &str) -> &'static str {
    if text.contains("acme-book") { "x1e80100" } else { "sdm845" }
}

fn run_console(folder: &Path, text: &str) -> usize {
    let mut commands = 0;
    for one in text.split("$ ").skip(1) {
        let (line, printed) = one.split_once('\n').unwrap();
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        let ran: Ran = command(&words).current_dir(folder).output().unwrap().into();
        let got = ran.stdout + ran.stderr.as_str();
        assert_eq!(got.trim_end(), printed.trim_end(), "{line}\n{got}");
        commands += 1;
    }
    commands
}
