//! `bwmon policy new`.

use crate::cli::output::{line, say};
use crate::cli::{Answer, common};
use crate::policy::{is_compiled_in, library};
use anyhow::{Context, bail};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

/// Arguments of `bwmon policy new`.
#[derive(clap::Args)]
#[command(after_help = "Writes NAME.rhai and NAME.spec.toml into the current folder. Then:\n\
\x20 bwmon policy check NAME.rhai    bwmon policy test NAME.rhai    bwmon sim --policy NAME.rhai --plot\n\
Examples:\n\
\x20 bwmon policy new mine                      from a commented template\n\
\x20 bwmon policy new mine --from bw_hwmon      from a shipped policy and its spec\n\
\x20 bwmon policy new products/mine --from a.rhai")]
pub(in crate::cli) struct Args {
    /// Its name: lower-case letters, digits, `-` and `_`; a folder may stand before it
    #[arg(value_name = "NAME")]
    name: String,
    /// Start from this policy's script and spec instead of the template
    #[arg(long, value_name = "FILE|NAME")]
    from: Option<String>,
    /// Replace files that are there
    #[arg(long)]
    force: bool,
}

const SCRIPT: &str = include_str!("template.rhai");
const SPEC: &str = include_str!("template.spec.toml");

/// What is to be written.
struct Start {
    script: String,
    spec: String,
    /// The spec was not written for the script.
    unfit: bool,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    let name = checked(&args.name)?;
    let start = match &args.from {
        Some(from) => copied(from, name)?,
        None => Start {
            script: SCRIPT.replace("NAME", name),
            spec: SPEC.replace("NAME", name),
            unfit: false,
        },
    };
    let script = format!("{}.rhai", args.name);
    let spec = format!("{}.spec.toml", args.name);
    write(&[(&script, &start.script), (&spec, &start.spec)], args.force)?;
    line(&script)?;
    line(&spec)?;
    if let (true, Some(from)) = (start.unfit, &args.from) {
        say(&format!(
            "{from} has no spec: {spec} is the template's, and may ask for what the script does not \
             do; change it until `bwmon policy test {script}` says what you mean"
        ));
    }
    Ok(Answer::Yes)
}

/// The name without its folder.
fn checked(given: &str) -> anyhow::Result<&str> {
    let name = Path::new(given).file_name().and_then(|name| name.to_str()).unwrap_or("");
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
    if !begins || !name.chars().all(fits) || !given.ends_with(name) {
        bail!(
            "{given} is no name for a policy: lower-case letters, digits, - and _, a letter first, \
             and no ending (.rhai comes by itself)"
        );
    }
    if library::names().any(|known| known == name) {
        bail!("{name} is the name of a shipped policy, which would come first; choose another");
    }
    Ok(name)
}

/// The script and the spec of `from`, under the new name.
fn copied(from: &str, name: &str) -> anyhow::Result<Start> {
    if is_compiled_in(from) {
        bail!(
            "{from} is compiled in and has no script; `--from bwmon` is the native rule as a script"
        );
    }
    let script = common::script(from)?.text;
    let beside = Path::new(from).with_extension("spec.toml");
    let spec = match library::shipped(from) {
        Some(shipped) => shipped.spec.map(str::to_owned),
        None if beside.exists() => Some(common::text_of(&beside.to_string_lossy())?),
        None => None,
    };
    let old = Path::new(from).file_stem().and_then(|stem| stem.to_str()).unwrap_or(from);
    let renamed = |text: &str| renamed(text, old, name);
    Ok(Start {
        script: renamed(&script),
        unfit: spec.is_none(),
        spec: spec.map_or_else(|| SPEC.replace("NAME", name), |spec| renamed(&spec)),
    })
}

/// `text` with the new name where the head says the old one, and where the files are named.
fn renamed(text: &str, old: &str, new: &str) -> String {
    let text = match text.strip_prefix(&format!("// {old}:")) {
        Some(rest) => format!("// {new}:{rest}"),
        None => text.to_owned(),
    };
    let mut renamed = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find(old) {
        let (before, found) = rest.split_at(at);
        let after = found.get(old.len()..).unwrap_or("");
        renamed.push_str(before);
        let whole = !renamed.ends_with(|c: char| c.is_alphanumeric() || "_-./".contains(c));
        let file = after.starts_with(".rhai") || after.starts_with(".spec.toml");
        renamed.push_str(if whole && file { new } else { old });
        rest = after;
    }
    renamed + rest
}

/// Writes all `files`, or none: nothing is replaced unless `force` says so.
fn write(files: &[(&str, &str)], force: bool) -> anyhow::Result<()> {
    if !force
        && let Some((there, _)) = files.iter().find(|(file, _)| fs::symlink_metadata(file).is_ok())
    {
        bail!("{there} is there already; --force replaces it");
    }
    let mut open: Vec<(&str, File)> = Vec::new();
    let mut made: Vec<&str> = Vec::new();
    for (file, _) in files {
        let new = fs::symlink_metadata(file).is_err();
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(new).create(!new);
        match options.open(file) {
            Ok(opened) => open.push((*file, opened)),
            Err(error) => {
                // Half a policy is none.
                for file in made {
                    let _ = fs::remove_file(file);
                }
                return Err(error).with_context(|| format!("cannot write {file}"));
            }
        }
        if new {
            made.push(*file);
        }
    }
    for ((file, mut out), (_, text)) in open.into_iter().zip(files) {
        let written = out.set_len(0).and_then(|()| out.write_all(text.as_bytes()));
        written.with_context(|| format!("cannot write {file}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_head_and_the_names_of_files_are_renamed() {
        let text =
            "// fixed: a fixed level; see fixed.spec.toml\n// not unfixed.rhai\nlet fixed = 1;\n";
        assert_eq!(
            renamed(text, "fixed", "mine"),
            "// mine: a fixed level; see mine.spec.toml\n// not unfixed.rhai\nlet fixed = 1;\n"
        );
        assert_eq!(renamed("// other: x", "fixed", "mine"), "// other: x");
    }

    #[test]
    fn names_that_would_hide_or_confuse_are_refused() {
        for name in
            ["Mine", "mine.rhai", "bwmon", "a/native", "", "9x", "a b", "é", "a/", "..", "-x"]
        {
            assert!(checked(name).is_err(), "{name}");
        }
        for (given, name) in [("mine", "mine"), ("a/b-1_c", "b-1_c"), ("./x", "x")] {
            assert_eq!(checked(given).unwrap(), name);
        }
    }
}
