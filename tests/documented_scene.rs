//! A machine, an agent and files with the names that the pages use, and how each command line is run there.

use crate::bundle_rig::Rig;
use crate::common::{Agent, BOARD, Ran, at, command, repository};
use crate::documented::Line;
use crate::served::Served;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Where a command line of the pages is run.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Where {
    /// In a folder with the files.
    Here,
    /// The same, on a machine that is a folder.
    Machine,
    /// It asks an agent.
    Agent,
    /// The same, until it has printed something: it ends with its user.
    Watching,
    /// Not here, because of `more`.
    Elsewhere,
}

/// How lines with some words are run.
pub(crate) struct Rule {
    words: &'static [&'static str],
    pub(crate) place: Where,
    /// Behind the line's own words.
    more: &'static str,
    /// The exit code that is right here.
    code: i32,
}

const fn rule(words: &'static [&'static str], place: Where, more: &'static str) -> Rule {
    Rule { words, place, more, code: 0 }
}

/// The first rule whose words are all in the line holds.
const RULES: &[Rule] = &[
    rule(&["parallel "], Where::Elsewhere, "GNU parallel; tests/experiment.rs merges shards"),
    rule(&["--shadow"], Where::Elsewhere, "needs the kernel's driver; the virtual machine has it"),
    rule(
        &["run sysbench"],
        Where::Elsewhere,
        "minutes; tests/machine_rig.rs measures with sysbench",
    ),
    rule(&["run --board my.toml", "--duration-ms"], Where::Machine, ""),
    rule(&["run --board my.toml"], Where::Machine, "--ticks 5"),
    rule(&["run", "--duration-ms"], Where::Machine, "--board my.toml"),
    rule(&["experiment run", "--blocks"], Where::Here, ""),
    // 20 blocks take a while in a debug build.
    rule(&["experiment run"], Where::Here, "--blocks 2"),
    rule(&["experiment tune"], Where::Here, "--candidates 4"),
    rule(&["policy bench"], Where::Here, "--calls 1000"),
    rule(&["bwmon run"], Where::Machine, "--ticks 5 --board my.toml"),
    rule(&["doctor --board"], Where::Machine, ""),
    rule(&["doctor"], Where::Machine, "--board my.toml"),
    rule(&["bwmon restore"], Where::Machine, ""),
    // No: the machine of the test is not the board that its name stands for.
    Rule { code: 1, ..rule(&["boards probe --tree"], Where::Here, "") },
    Rule { code: 1, ..rule(&["boards probe"], Where::Machine, "") },
    // No: the kernel's rule waits longer than the spec that comes with a new policy allows.
    Rule { code: 1, ..rule(&["policy test native"], Where::Here, "") },
    rule(&["policy which"], Where::Machine, ""),
    rule(&["policy list --product"], Where::Machine, ""),
    rule(&["bundle install", "--root"], Where::Here, ""),
    rule(&["bundle keygen"], Where::Here, ""),
    rule(&["bundle sign"], Where::Here, ""),
    rule(&["bundle "], Where::Machine, ""),
    rule(&["config check bwmon.toml"], Where::Here, ""),
    rule(&["config check"], Where::Here, "bwmon.toml"),
    rule(&["bwmon top"], Where::Agent, ""),
    rule(&["bwmon status"], Where::Agent, ""),
    rule(&["bwmon pause"], Where::Agent, ""),
    rule(&["bwmon reload"], Where::Agent, ""),
    rule(&["journal tail"], Where::Watching, ""),
    rule(&["bwmon hold", " -- "], Where::Agent, ""),
    rule(&["bwmon hold"], Where::Watching, ""),
    rule(&["bwmon "], Where::Here, ""),
];

/// What is done before a line.
const BEFORE: &[(&str, &str)] = &[
    ("policy test", "bwmon policy new my --force"),
    ("experiment run my.toml", "bwmon experiment list --source regression > my.toml"),
];

/// What a line makes, so that it must not be there.
const MAKES: &[(&str, &[&str])] = &[
    ("policy new my", &["my.rhai"]),
    ("policy new room", &["room.rhai", "room.spec.toml"]),
    ("bundle keygen acme", &["acme.key", "acme.pub"]),
    ("bundle build acme/", &["acme.bwmon", "acme.bwmon.minisig"]),
    ("experiment run seed-table", &["seed-table.results"]),
    ("--out new", &["new"]),
];

/// How `line` is run.
pub(crate) fn how(line: &str) -> &'static Rule {
    let rule = RULES.iter().find(|rule| rule.words.iter().all(|word| line.contains(word)));
    rule.expect("the last rule holds for all")
}

/// Files, a machine and an agent.
pub(crate) struct Scene {
    files: TempDir,
    rig: Rig,
    served: Served,
}

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copied(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// The words of `line` behind its first.
fn split(line: &str) -> Vec<String> {
    shlex::split(line.strip_prefix("bwmon ").unwrap()).unwrap()
}

fn words(line: &str) -> Command {
    let words = split(line);
    command(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Runs `command`, with standard output in the file `into` if it is named.
fn written(command: &mut Command, folder: &Path, into: &str) -> Ran {
    let ran: Ran = command.output().unwrap().into();
    if !into.is_empty() {
        fs::write(folder.join(into), &ran.stdout).unwrap();
    }
    ran
}

/// Runs `line` in `folder`.
fn done(line: &str, folder: &Path) -> Ran {
    let (line, into) = line.split_once(" > ").unwrap_or((line, ""));
    written(words(line).current_dir(folder), folder, into)
}

impl Scene {
    pub(crate) fn new() -> Self {
        let (rig, files) = (Rig::new(), tempfile::tempdir().unwrap());
        let scene = Self { files, rig, served: Served::start(&[]) };
        scene.fill();
        scene
    }

    fn fill(&self) {
        let folder = self.files.path();
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let make = |line: &str| {
            let ran = done(line, folder);
            assert_eq!(ran.code, Some(0), "{line}: {}", ran.stderr);
        };
        write("my.toml", BOARD);
        write("secret.txt", "correct horse\n");
        make("bwmon bundle keygen acme --password-file secret.txt");
        let public = fs::read_to_string(folder.join("acme.pub")).unwrap();
        self.rig.tree.write("etc/bwmon/keys/acme.pub", &public);
        write("image/usr/lib/bwmon/keys/acme.pub", &public);
        copied(&self.rig.source("acme", |_| {}), &folder.join("acme"));
        make("bwmon bundle build acme/ -o acme.bwmon");
        make("bwmon bundle sign acme.bwmon --key acme.key --password-file secret.txt");
        let readme = fs::read_to_string(repository().join("README.md")).unwrap();
        let policy = readme.split("```rhai\n").nth(1).unwrap().split("```").next().unwrap();
        write("my.rhai", policy);
        let traffic = repository().join("policies/scenarios/frames.toml");
        for name in ["traffic.toml", "S"] {
            fs::copy(&traffic, folder.join(name)).unwrap();
        }
        std::os::unix::fs::symlink("/bin/true", folder.join("benchmark")).unwrap();
        make("bwmon policy new room");
        make("bwmon config example > bwmon.toml");
        for journal in ["JOURNAL", "J", "journal.jsonl", "shadow.jsonl"] {
            make(&format!("bwmon sim --ticks 200 --journal {journal}"));
        }
        make("bwmon experiment run regression --blocks 2 --out new");
        for results in ["my.results", "seed-table.results", "old.results", "new.results", "old"] {
            copied(&folder.join("new"), &folder.join(results));
        }
        for part in 1..=8 {
            make(&format!(
                "bwmon experiment run regression --blocks 8 --shard {part}/8 --out part{part}"
            ));
        }
        let tree = self.rig.tree.path("sys/firmware/devicetree/base");
        copied(&tree, &folder.join("copied"));
    }

    /// What is wrong with a command line, if anything is.
    pub(crate) fn fault(&self, line: &Line) -> Option<String> {
        let rule = how(&line.text);
        if rule.place == Where::Elsewhere {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        copied(self.files.path(), folder.path());
        for made in MAKES.iter().filter(|(words, _)| line.text.contains(words)).flat_map(|m| m.1) {
            let path = folder.path().join(made);
            if path.is_dir() {
                fs::remove_dir_all(path).unwrap();
            } else {
                fs::remove_file(path).unwrap();
            }
        }
        for (_, first) in BEFORE.iter().filter(|(words, _)| line.text.contains(words)) {
            assert_eq!(done(first, folder.path()).code, Some(0), "{first}");
        }
        // Ten seconds on a board are a moment here; what is installed lies in the folder.
        let text = line.text.replace("-ms 10000", "-ms 100").replace("/etc/bwmon/", "");
        let text = text.replace("NAME|FILE", "sdm845");
        // The board of the test has three levels.
        let text = text.replace("level 3", "level 2");
        let (text, into) = text.split_once(" > ").unwrap_or((&text, ""));
        let mut command = words(text);
        match rule.place {
            Where::Here | Where::Elsewhere => {}
            Where::Machine => drop(command.args(["--root", &self.machine()])),
            Where::Agent | Where::Watching => {
                command =
                    self.served.client(&split(text).iter().map(String::as_str).collect::<Vec<_>>())
            }
        }
        command.current_dir(folder.path()).args(rule.more.split_whitespace());
        if rule.place == Where::Watching {
            return self.watched(&mut command, line);
        }
        let ran = written(&mut command, folder.path(), into);
        let said = || format!("{}: {}: exit code {:?}", line.place, line.text, ran.code);
        (ran.code != Some(rule.code)).then(|| format!("{}\n{}{}", said(), ran.stdout, ran.stderr))
    }

    fn machine(&self) -> String {
        at(&self.rig.tree.folder, "")
    }

    /// What a command that ends with its user says first must be no refusal.
    fn watched(&self, command: &mut Command, line: &Line) -> Option<String> {
        let (reader, writer) = std::io::pipe().unwrap();
        command.stdout(writer.try_clone().unwrap()).stderr(writer);
        let child = Agent::of(command.spawn().unwrap());
        // The command holds the writing ends too: with them open a silent end would not be seen.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut first = String::new();
        BufReader::new(reader).read_line(&mut first).unwrap();
        drop(child);
        let refused = ["", "error", "refused"].contains(&first.split(':').next().unwrap());
        refused.then(|| format!("{}: {}: {first}", line.place, line.text))
    }
}
