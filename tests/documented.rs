//! Every command line in README.md and docs/*.md: those in blocks are run, verbs and flags that the text
//! names have to be there.

use crate::common::{good, repository};
use crate::documented_scene::{Scene, Where, how};
use std::collections::BTreeMap;
use std::fs;

/// A command line, and where it stands.
pub(crate) struct Line {
    pub(crate) place: String,
    pub(crate) text: String,
}

/// README.md and docs/*.md: name and text.
fn pages() -> Vec<(String, String)> {
    let mut files = vec![repository().join("README.md")];
    let docs = fs::read_dir(repository().join("docs")).unwrap();
    files.extend(docs.map(|entry| entry.unwrap().path()));
    files.retain(|file| file.extension().is_some_and(|ending| ending == "md"));
    files.sort();
    let named = |file: std::path::PathBuf| {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(file).unwrap())
    };
    files.into_iter().map(named).collect()
}

/// The command lines in blocks of no language; what stands after $ is output too, and has a test of its own. What stands after two spaces or a # is a remark.
fn command_lines(name: &str, text: &str) -> Vec<Line> {
    let mut found = Vec::new();
    let (mut inside, mut plain) = (false, false);
    for (number, line) in text.lines().enumerate() {
        if let Some(language) = line.strip_prefix("```") {
            inside = !inside;
            plain = ["", "text"].contains(&language);
            continue;
        }
        let line = line.strip_prefix("sudo ").unwrap_or(line);
        let is_command = ["bwmon ", "parallel bwmon "].iter().any(|start| line.starts_with(start));
        // A table of folders or of figures has room after its first word.
        if !inside || !plain || !is_command || line.starts_with("bwmon  ") {
            continue;
        }
        let text = line.split("  ").next().unwrap().split(" #").next().unwrap().trim();
        found.push(Line { place: format!("{name}:{}", number + 1), text: text.to_owned() });
    }
    found
}

#[test]
fn every_command_line_in_a_block_does_what_its_page_says() {
    let lines: Vec<Line> =
        pages().iter().flat_map(|(name, text)| command_lines(name, text)).collect();
    assert!(lines.len() > 90, "{} lines are found", lines.len());
    let scene = Scene::new();
    let faults: Vec<String> = lines.iter().filter_map(|line| scene.fault(line)).collect();
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), lines.len(), faults.join("\n"));
    // What is tried elsewhere is the exception.
    let elsewhere = lines.iter().filter(|line| how(&line.text).place == Where::Elsewhere);
    assert!(elsewhere.count() * 10 < lines.len());
}

/// `bwmon …` between backticks, without `sudo`.
fn mentions(text: &str) -> Vec<Vec<String>> {
    let spans = text.split('`').skip(1).step_by(2);
    spans
        .filter_map(|span| span.strip_prefix("sudo ").unwrap_or(span).strip_prefix("bwmon "))
        .map(|rest| rest.split_whitespace().map(str::to_owned).collect())
        .collect()
}

/// The help of a verb: its own verbs, and its text.
fn help(verbs: &[&str], known: &mut BTreeMap<String, String>) -> String {
    let key = verbs.join(" ");
    let ask = || good(&[verbs, &["--help"]].concat()).stdout;
    known.entry(key).or_insert_with(ask).clone()
}

fn has_verb(help: &str, verb: &str) -> bool {
    let after = help.split("Commands:\n").nth(1).unwrap_or_default();
    after.lines().any(|line| line.trim_start().split(' ').next() == Some(verb))
}

/// What `words`, a command line without its program, names and the help does not.
fn unknown(words: &[String], known: &mut BTreeMap<String, String>) -> Vec<String> {
    let mut verbs: Vec<&str> = Vec::new();
    let mut words = words.iter().map(|word| word.trim_matches(['[', ']'])).peekable();
    while let Some(verb) = words.peek().copied() {
        if !has_verb(&help(&verbs, known), verb) {
            break;
        }
        verbs.push(verb);
        words.next();
    }
    if verbs.is_empty() {
        return vec![format!("bwmon {:?} is no verb", words.peek())];
    }
    let text = help(&verbs, known);
    words
        // What a command of somebody else's takes is theirs.
        .take_while(|word| *word != "--" && *word != ">" && *word != "|")
        .filter(|word| word.starts_with("--"))
        .filter_map(|flag| flag.split('=').next())
        .filter(|flag| !text.contains(flag))
        .map(|flag| format!("bwmon {} has no {flag}", verbs.join(" ")))
        .collect()
}

#[test]
fn every_verb_and_flag_that_the_pages_name_is_in_the_help() {
    let (mut known, mut faults, mut count) = (BTreeMap::new(), Vec::new(), 0);
    for (name, text) in pages() {
        for words in mentions(&text) {
            count += 1;
            let wrong = unknown(&words, &mut known);
            faults.extend(wrong.into_iter().map(|what| format!("{name}: {what}")));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count > 80, "{count} are found");
}

/// The examples at the end of the help of a verb and of its own verbs; manual pages are made of them.
fn examples(verbs: &[String], known: &mut BTreeMap<String, String>, found: &mut Vec<Line>) {
    let place: Vec<&str> = verbs.iter().map(String::as_str).collect();
    let text = help(&place, known);
    for line in text.lines().filter_map(|line| line.strip_prefix("  bwmon ")) {
        let line = line.split("  ").next().unwrap();
        let each = line.split(" && bwmon ");
        found.extend(each.map(|one| Line { place: verbs.join(" "), text: one.to_owned() }));
    }
    let commands = text.split("Commands:\n").nth(1).unwrap_or_default();
    let own = commands.lines().take_while(|line| line.starts_with("  "));
    let own = own
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next());
    for verb in own.filter(|verb| *verb != "help") {
        examples(&[verbs, &[verb.to_owned()]].concat(), known, found);
    }
}

#[test]
fn every_example_in_the_help_and_the_manual_names_what_is_there() {
    let (mut known, mut found) = (BTreeMap::new(), Vec::new());
    examples(&[], &mut known, &mut found);
    assert!(found.len() > 80, "{} are found", found.len());
    let mut faults = Vec::new();
    for line in &found {
        let words = shlex::split(&line.text).unwrap();
        let wrong = unknown(&words, &mut known);
        faults.extend(wrong.into_iter().map(|what| format!("{}: {what}", line.place)));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
