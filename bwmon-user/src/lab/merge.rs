//! Shards put together: the folder that one machine would have made.

use super::folder::{Folder, Plan};
use super::trace::TRACE_FILE;
use crate::experiment::{Line, Shard};
use anyhow::bail;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Puts `parts` together in the new folder `out`. The parts are shards of one plan; without all of
/// them the whole is not there, which `partial` allows.
///
/// # Errors
/// When parts do not belong together, overlap or are missing, or when files cannot be read or
/// written; nothing is made then.
pub fn merge(out: &Path, parts: &[Folder], partial: bool) -> anyhow::Result<Folder> {
    let Some(first) = parts.first() else { bail!("nothing to merge") };
    let plan = Plan { shard: None, ..first.plan().clone() };
    let mut shards: BTreeMap<usize, &Folder> = BTreeMap::new();
    let count = first.plan().shard().count;
    for part in parts {
        let Shard { index, count: of } = part.plan().shard();
        if (Plan { shard: None, ..part.plan().clone() }) != plan || of != count {
            bail!(
                "{} and {} are not parts of one plan: agenda, seed, blocks, program and number of \
                 shards must be the same",
                first.path().display(),
                part.path().display()
            );
        }
        if let Some(other) = shards.insert(index, part) {
            bail!(
                "{} and {} are both shard {index}/{count}",
                other.path().display(),
                part.path().display()
            );
        }
    }
    let missing: Vec<String> =
        (1..=count).filter(|index| !shards.contains_key(index)).map(|i| i.to_string()).collect();
    if !missing.is_empty() && !partial {
        bail!(
            "shards {} of {count} are missing; --partial merges what is there",
            missing.join(", ")
        );
    }
    let mut lines: Vec<Line> = Vec::new();
    let mut environment: BTreeMap<String, Value> = BTreeMap::new();
    for part in shards.values() {
        lines.extend(part.lines()?);
        environment = together(environment, part.environment()?);
    }
    let folder = Folder::create(out, &first.text()?, plan, &environment)?;
    folder.rewrite(&lines)?;
    for part in shards.values() {
        keep_traces(part.path(), out)?;
    }
    Ok(folder)
}

/// What the charts are made of; outputs of commands stay where they were written.
fn keep_traces(part: &Path, out: &Path) -> anyhow::Result<()> {
    let Ok(runs) = fs::read_dir(part.join("runs")) else { return Ok(()) };
    for run in runs {
        let run = run?;
        let trace = run.path().join(TRACE_FILE);
        if trace.exists() {
            let folder = out.join("runs").join(run.file_name());
            fs::create_dir_all(&folder)?;
            fs::copy(&trace, folder.join(TRACE_FILE))?;
        }
    }
    Ok(())
}

/// Machines add up, each once; what else was noted is of the agenda, and the same for all.
fn together(
    mut all: BTreeMap<String, Value>,
    part: BTreeMap<String, Value>,
) -> BTreeMap<String, Value> {
    for (key, value) in part {
        match (all.get_mut(&key), value) {
            (Some(Value::Array(known)), Value::Array(more)) => {
                for one in more {
                    if !known.contains(&one) {
                        known.push(one);
                    }
                }
            }
            (Some(_), _) => {}
            (None, value) => {
                all.insert(key, value);
            }
        }
    }
    all
}
