//! `bwmon policy docs`.

use crate::cli::output::{json, line, say, table};
use crate::cli::{Answer, common};
use crate::policy::script::words::{self, Group, Word};
use crate::policy::stage::STAGES;
use anyhow::{Context, anyhow};

/// Arguments of `bwmon policy docs`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n\
\x20 bwmon policy docs                                  every name, with its meaning\n\
\x20 bwmon policy docs --definitions > bwmon.d.rhai     for editors that know Rhai")]
pub(in crate::cli) struct Args {
    /// Print a Rhai definition file, for editors
    #[arg(long)]
    definitions: bool,
    /// Print the tables of docs/policy-guide.md
    #[arg(long, conflicts_with = "definitions")]
    markdown: bool,
    /// Print JSON
    #[arg(long, conflicts_with_all = ["definitions", "markdown", "update"])]
    json: bool,
    /// Make the tables between the marks of this Markdown file anew
    #[arg(long, value_name = "FILE", conflicts_with_all = ["definitions", "markdown"])]
    update: Option<String>,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    if args.definitions {
        line(words::definitions().trim_end())?;
    } else if args.markdown {
        for group in Group::ALL {
            line(&format!("{}:\n\n{}", group.name(), words::markdown(group)))?;
        }
    } else if let Some(file) = &args.update {
        update(file)?;
    } else if args.json {
        let words = Group::ALL.into_iter().flat_map(Group::words).map(entry);
        let stages = STAGES.iter().map(|(name, arguments, what)| {
            serde_json::json!({ "name": name, "arguments": arguments, "what": what })
        });
        let (words, stages): (Vec<_>, Vec<_>) = (words.collect(), stages.collect());
        json(&serde_json::json!({ "words": words, "stages": stages }))?;
    } else {
        tables()?;
    }
    Ok(Answer::Yes)
}

fn entry(word: &Word) -> serde_json::Value {
    let arguments: Vec<_> = word.arguments.iter().map(|(name, kind)| [name, kind.name()]).collect();
    serde_json::json!({
        "name": word.name,
        "group": word.group.name(),
        "written": word.form,
        "arguments": arguments,
        "gives": word.gives.name(),
        "known": word.known,
        "what": word.what,
    })
}

fn update(file: &str) -> anyhow::Result<()> {
    let old = common::text_of(file)?;
    let new = words::refreshed(&old).map_err(|why| anyhow!("{file}: {why}"))?;
    if new == old {
        say(&format!("{file} is as it should be"));
        return Ok(());
    }
    std::fs::write(file, new).with_context(|| format!("cannot write {file}"))
}

fn tables() -> anyhow::Result<()> {
    for group in Group::ALL {
        let row = |word: &Word| match group {
            Group::Reading => {
                let form = format!("obs.{}", word.form);
                vec![form, word.gives.name().into(), word.what.into(), word.known.into()]
            }
            Group::Refinement => {
                vec![format!(".{}", word.form), word.gives.name().into(), word.what.into()]
            }
            _ => vec![word.form.into(), word.gives.name().into(), word.what.into()],
        };
        let heads: &[&str] = match group {
            Group::Reading => &["reading", "type", "meaning", "known"],
            _ => &["written", "gives", "meaning"],
        };
        line(&table(heads, &[], group.words().map(row).collect()))?;
        line("")?;
    }
    let stage = |(name, arguments, what): &(&str, &[&str], &str)| {
        let form = match arguments.is_empty() {
            true => (*name).to_owned(),
            false => format!("{name}({})", arguments.join(", ")),
        };
        vec![form, (*what).to_owned()]
    };
    line(&table(&["stage of a chain", "meaning"], &[], STAGES.iter().map(stage).collect()))?;
    line("\nThe language, with examples: docs/policy-guide.md")
}
