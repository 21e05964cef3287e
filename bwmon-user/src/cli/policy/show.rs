//! `bwmon policy show`.

use crate::cli::output::{clean, is_terminal, json, line, table};
use crate::cli::{Answer, common};
use crate::policy::script::words::{FUNCTIONS, PROPERTIES};
use crate::policy::script::{Head, Param, Source, Value, digest, outline, uses};
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
        bail!(
            "{} is compiled in; it has no tunables and no script (`bwmon policy show bwmon` is the \
             native rule as a script, `bwmon policy docs` lists the stages of chains)",
            args.policy
        );
    }
    let source = common::script(&args.policy)?;
    if args.source {
        let text = source.text.trim_end();
        if is_terminal() {
            line(&clean(text))?
        } else {
            line(text)?
        }
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
            readings: uses(&source.text, PROPERTIES),
            functions: uses(&source.text, FUNCTIONS),
        })?;
        return Ok(Answer::Yes);
    }
    line(&clean(&format!("{}: {}", source.name, head.intent)))?;
    for paragraph in &head.paragraphs {
        line(&clean(&format!("  {paragraph}")))?;
    }
    line(&format!("  digest {}{}", digest(&source.text), shipped(&source)))?;
    if !params.is_empty() {
        let row = |param: &Param| {
            let range = param.range.map_or("-".to_owned(), |(low, high)| format!("{low}..{high}"));
            vec![param.name.clone(), param.default.to_string(), range, param.doc.clone()]
        };
        let rows = params.iter().map(row).collect();
        line("")?;
        line(&clean(&table(&["tunable", "default", "range", "meaning"], &["default"], rows)))?;
    }
    if !presets.is_empty() {
        line("")?;
        let set = |set: &[(String, String)]| {
            let pairs: Vec<String> = set.iter().map(|(n, v)| format!("{n}={v}")).collect();
            pairs.join(" ")
        };
        let rows = presets.iter().map(|p| vec![p.name.clone(), set(&p.set)]).collect();
        line(&clean(&table(&["preset", "sets"], &[], rows)))?;
    }
    line(&format!("\nreads  {}", uses(&source.text, PROPERTIES).join(", ")))?;
    line(&format!("calls  {}", uses(&source.text, FUNCTIONS).join(", ")))?;
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
