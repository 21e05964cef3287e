//! `bwmon policy show`.

use crate::cli::output::{json, line, table};
use crate::cli::{Answer, common};
use crate::policy::script::words::{FUNCTIONS, Group, PROPERTIES, Word};
use crate::policy::script::{Head, Param, Source, Value, digest, outline};
use crate::policy::{NATIVE, library, stage};
use anyhow::bail;
use serde::Serialize;
use std::collections::BTreeMap;

/// Arguments of `bwmon policy show`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n\
\x20 bwmon policy show bw_hwmon                what it is for, its tunables and presets\n\
\x20 bwmon policy show adaptive --source       its script, as a start for your own")]
pub(in crate::cli) struct Args {
    /// The policy: a .rhai file or a shipped name
    #[arg(value_name = "FILE|NAME")]
    policy: String,
    /// Print the script instead
    #[arg(long, conflicts_with = "json")]
    source: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    policy: String,
    digest: String,
    intent: String,
    about: Vec<String>,
    tunables: Vec<Tunable>,
    presets: BTreeMap<String, BTreeMap<String, String>>,
    readings: Vec<&'static str>,
    functions: Vec<&'static str>,
}

#[derive(Serialize)]
struct Tunable {
    name: String,
    default: serde_json::Value,
    min: Option<f64>,
    max: Option<f64>,
    what: String,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    if args.policy == NATIVE || args.policy.starts_with(stage::PREFIX) {
        bail!("{} is compiled in; it has no tunables and no script", args.policy);
    }
    let source = common::script(&args.policy)?;
    if args.source {
        line(source.text.trim_end())?;
        return Ok(Answer::Yes);
    }
    let (params, presets) = outline(&source)?;
    let head = Head::of(&source.text);
    if args.json {
        json(&Report {
            policy: source.name.clone(),
            digest: digest(&source.text),
            intent: head.intent,
            about: head.paragraphs,
            tunables: params.iter().map(tunable).collect(),
            presets: presets
                .into_iter()
                .map(|preset| (preset.name, preset.set.into_iter().collect()))
                .collect(),
            readings: used(&source, PROPERTIES),
            functions: used(&source, FUNCTIONS),
        })?;
        return Ok(Answer::Yes);
    }
    line(&format!("{}: {}", source.name, head.intent))?;
    for paragraph in &head.paragraphs {
        line(&format!("  {paragraph}"))?;
    }
    line(&format!("  digest {}{}", digest(&source.text), shipped(&source)))?;
    if !params.is_empty() {
        let row = |param: &Param| {
            let range = param.range.map_or("-".to_owned(), |(low, high)| format!("{low}..{high}"));
            vec![param.name.clone(), param.default.to_string(), range, param.doc.clone()]
        };
        let rows = params.iter().map(row).collect();
        line("")?;
        line(&table(&["tunable", "default", "range", "meaning"], &["default"], rows))?;
    }
    if !presets.is_empty() {
        line("")?;
        let set = |set: &[(String, String)]| {
            let pairs: Vec<String> = set.iter().map(|(n, v)| format!("{n}={v}")).collect();
            pairs.join(" ")
        };
        let rows = presets.iter().map(|p| vec![p.name.clone(), set(&p.set)]).collect();
        line(&table(&["preset", "sets"], &[], rows))?;
    }
    line(&format!("\nreads  {}", used(&source, PROPERTIES).join(", ")))?;
    line(&format!("calls  {}", used(&source, FUNCTIONS).join(", ")))?;
    Ok(Answer::Yes)
}

fn tunable(param: &Param) -> Tunable {
    Tunable {
        name: param.name.clone(),
        default: Value::json(&param.default),
        min: param.range.map(|(low, _)| low),
        max: param.range.map(|(_, high)| high),
        what: param.doc.clone(),
    }
}

fn shipped(source: &Source) -> &'static str {
    match library::SHIPPED.iter().any(|shipped| shipped.text == source.text) {
        true => ", shipped with bwmon",
        false => "",
    }
}

/// The words that the script's code has, comments aside.
fn used(source: &Source, words: &'static [Word]) -> Vec<&'static str> {
    let code: String = source
        .text
        .lines()
        .map(|line| line.split("//").next().unwrap_or(""))
        .collect::<Vec<_>>()
        .join("\n");
    let plain = |c: char| c.is_alphanumeric() || c == '_';
    let has = |word: &Word| {
        let reading = word.group == Group::Reading;
        code.match_indices(word.name).any(|(at, name)| {
            let before = code.get(..at).unwrap_or("");
            let after = code.get(at + name.len()..).unwrap_or("");
            let whole = !before.ends_with(plain) && !after.starts_with(plain);
            whole && if reading { before.ends_with('.') } else { after.starts_with('(') }
        })
    };
    words.iter().filter(|word| has(word)).map(|word| word.name).collect()
}
