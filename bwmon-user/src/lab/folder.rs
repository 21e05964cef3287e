//! The folder of an experiment's results: everything that a report needs, years later.
//!
//! `agenda.toml` as it was given, `plan.json`, `environment.json`, `results.jsonl` with a line for
//! each run as it comes, `log.jsonl` with moments, `runs/` with what commands printed.

use crate::experiment::{Agenda, Line, Shard, Status, parse};
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

/// What was asked for besides the agenda, and which agenda it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Version of the folder's format.
    pub schema: u32,
    /// The program that made it.
    pub program: String,
    /// SHA-256 of the agenda's text.
    pub agenda_sha256: String,
    /// A seed over the agenda's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Blocks over the agenda's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u32>,
    /// The part of the plan that is here, if it is not the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// Nothing was changed on the machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// This is the baseline against itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aa: bool,
}

/// Version of the folder's format.
pub const FOLDER_SCHEMA: u32 = 1;

/// A folder of results.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    plan: Plan,
    agenda: Agenda,
}

impl Plan {
    /// The plan for the agenda `text`.
    pub fn new(text: &str) -> Self {
        Self {
            schema: FOLDER_SCHEMA,
            program: format!("bwmon {}", crate::version()),
            agenda_sha256: sha256(text),
            ..Self::default()
        }
    }

    /// The part of the plan that is here.
    pub fn shard(&self) -> Shard {
        self.shard.as_deref().and_then(|text| text.parse().ok()).unwrap_or(Shard::WHOLE)
    }

    /// The agenda `text` of the file `name`, with what was asked for over it.
    ///
    /// # Errors
    /// The agenda's first fault.
    pub fn agenda(&self, name: &str, text: &str) -> anyhow::Result<Agenda> {
        let mut agenda = parse(name, text)?;
        agenda.seed = self.seed.unwrap_or(agenda.seed);
        agenda.blocks = self.blocks.unwrap_or(agenda.blocks);
        if self.aa {
            agenda.subjects.truncate(1);
            if let Some(first) = agenda.subjects.first().cloned() {
                let name = format!("{} again", first.name);
                agenda.subjects.push(crate::experiment::Subject { name, ..first });
            }
        }
        Ok(agenda)
    }
}

impl Folder {
    /// Makes the folder `path` for a new experiment; everything that will be written is tried.
    ///
    /// # Errors
    /// When there is one already, or it cannot be written.
    pub fn create(
        path: &Path,
        text: &str,
        plan: Plan,
        environment: &BTreeMap<String, Value>,
    ) -> anyhow::Result<Self> {
        if path.join("plan.json").exists() {
            bail!(
                "{} has results already; go on with --resume, or give another folder with --out",
                path.display()
            );
        }
        // The baseline against itself comes first, in a folder of its own.
        let ours =
            |entry: std::io::Result<fs::DirEntry>| entry.is_ok_and(|e| e.file_name() == "aa");
        if fs::read_dir(path).is_ok_and(|mut entries| entries.any(|entry| !ours(entry))) {
            bail!("{} is not empty; give another folder with --out", path.display());
        }
        let agenda = plan.agenda("agenda.toml", text)?;
        fs::create_dir_all(path).with_context(|| format!("cannot make {}", path.display()))?;
        let folder = Self { path: path.to_owned(), plan, agenda };
        folder.write("agenda.toml", text)?;
        folder.write("environment.json", &pretty(&environment)?)?;
        folder.write("results.jsonl", "")?;
        // The plan last: a folder with a plan is whole.
        folder.write("plan.json", &pretty(&folder.plan)?)?;
        Ok(folder)
    }

    /// The folder `path` of an earlier experiment.
    ///
    /// # Errors
    /// When it is none, or its agenda is not the one that it was made for.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let read = |name: &str| {
            let file = path.join(name);
            fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))
        };
        if !path.join("plan.json").exists() {
            bail!("{} holds no experiment: it has no plan.json", path.display());
        }
        let name = path.join("plan.json").display().to_string();
        let plan: Plan = serde_json::from_str(&read("plan.json")?)
            .with_context(|| format!("{name} is broken"))?;
        if plan.schema != FOLDER_SCHEMA {
            bail!("{name}: schema {} is not known; this bwmon reads {FOLDER_SCHEMA}", plan.schema);
        }
        let text = read("agenda.toml")?;
        let file = path.join("agenda.toml").display().to_string();
        if sha256(&text) != plan.agenda_sha256 {
            bail!(
                "{file} was changed after the experiment began; its results belong to the old one"
            );
        }
        let agenda = plan.agenda(&file, &text)?;
        Ok(Self { path: path.to_owned(), plan, agenda })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was asked for.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The agenda.
    pub fn agenda(&self) -> &Agenda {
        &self.agenda
    }

    /// The agenda's text.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn text(&self) -> anyhow::Result<String> {
        let file = self.path.join("agenda.toml");
        fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))
    }

    /// What was noted of the machines.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn environment(&self) -> anyhow::Result<BTreeMap<String, Value>> {
        let file = self.path.join("environment.json");
        let text =
            fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is broken", file.display()))
    }

    /// The results so far. A last line that was cut off by a crash is left out.
    ///
    /// # Errors
    /// When they cannot be read, or a line before the last is broken.
    pub fn lines(&self) -> anyhow::Result<Vec<Line>> {
        let file = self.path.join("results.jsonl");
        let open = File::open(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let mut lines = Vec::new();
        let mut broken: Option<(usize, serde_json::Error)> = None;
        for (index, text) in BufReader::new(open).lines().enumerate() {
            let text = text.with_context(|| format!("cannot read {}", file.display()))?;
            if let Some((line, error)) = broken {
                bail!("{}:{line}: this is no result: {error}", file.display());
            }
            match serde_json::from_str(&text) {
                Ok(line) => lines.push(line),
                Err(error) => broken = Some((index + 1, error)),
            }
        }
        Ok(lines)
    }

    /// A writer that adds results.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn writer(&self) -> anyhow::Result<Writer> {
        let open = |name: &str| {
            let file = self.path.join(name);
            OpenOptions::new()
                .create(true)
                .append(true)
                .open(&file)
                .with_context(|| format!("cannot write {}", file.display()))
        };
        Ok(Writer { results: open("results.jsonl")?, log: open("log.jsonl")? })
    }

    /// Writes the results anew, in the plan's order, so that they do not depend on who was first.
    ///
    /// # Errors
    /// When they cannot be written; the old ones are then still there.
    pub fn rewrite(&self, lines: &[Line]) -> anyhow::Result<()> {
        self.write("results.jsonl", &text_of(&sorted(&self.agenda, lines))?)
    }

    /// Replaces the file `name`.
    ///
    /// # Errors
    /// When it cannot be written; the old one is then still there.
    pub fn write(&self, name: &str, text: &str) -> anyhow::Result<()> {
        let file = self.path.join(name);
        let fresh = self.path.join(format!(".{name}.new"));
        let write = || -> std::io::Result<()> {
            let mut out = File::create(&fresh)?;
            out.write_all(text.as_bytes())?;
            out.sync_all()?;
            fs::rename(&fresh, &file)
        };
        write().with_context(|| format!("cannot write {}", file.display()))
    }
}

/// Adds results, each at once.
#[derive(Debug)]
pub struct Writer {
    results: File,
    log: File,
}

impl Writer {
    /// Adds a result.
    ///
    /// # Errors
    /// When it cannot be written: going on would lose what comes.
    pub fn add(&mut self, line: &Line, durable: bool) -> anyhow::Result<()> {
        let mut text = serde_json::to_string(line)?;
        text.push('\n');
        self.results.write_all(text.as_bytes()).context("cannot add to results.jsonl")?;
        if durable {
            self.results.sync_data().context("cannot add to results.jsonl")?;
        }
        Ok(())
    }

    /// Adds a moment to the log.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn log(&mut self, what: &str) -> anyhow::Result<()> {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let ms = now.map(|since| since.as_millis() as u64).ok();
        let line = serde_json::json!({ "unix_ms": ms, "what": what });
        self.log.write_all(format!("{line}\n").as_bytes()).context("cannot add to log.jsonl")
    }
}

/// In the plan's order: block by block, workloads as in the agenda, attempts, then positions.
pub fn sorted(agenda: &Agenda, lines: &[Line]) -> Vec<Line> {
    let mut lines = lines.to_vec();
    let place = |line: &Line| agenda.workloads.iter().position(|w| w.name == line.workload);
    lines.sort_by_key(|line| (line.block, place(line), line.attempt, line.position));
    lines
}

/// The blocks (number and workload) whose last attempt is complete and not void.
pub fn complete(agenda: &Agenda, lines: &[Line]) -> BTreeSet<(u32, String)> {
    let mut last: BTreeMap<(u32, &str), (u32, usize, bool)> = BTreeMap::new();
    for line in lines {
        let entry = last.entry((line.block, &line.workload)).or_default();
        if line.attempt > entry.0 {
            *entry = (line.attempt, 0, false);
        }
        if line.attempt == entry.0 {
            entry.1 += 1;
            entry.2 |= line.status == Status::Void;
        }
    }
    last.into_iter()
        .filter(|(_, (_, runs, void))| !void && *runs >= agenda.subjects.len())
        .map(|((block, workload), _)| (block, workload.to_owned()))
        .collect()
}

fn text_of(lines: &[Line]) -> anyhow::Result<String> {
    let mut text = String::new();
    for line in lines {
        text += &serde_json::to_string(line)?;
        text.push('\n');
    }
    Ok(text)
}

fn pretty(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(format!("{}\n", serde_json::to_string_pretty(value)?))
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
