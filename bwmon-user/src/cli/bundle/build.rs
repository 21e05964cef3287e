//! `bwmon bundle build`.

use super::candidate::{Report, checked, summary};
use super::places::{RootArgs, bytes_of, write};
use crate::bundle::{
    Bundle, ENDING, MAX_FILE, MAX_PACKED, SOURCE, manifest, pack, parse_source, sha256,
};
use crate::cli::Answer;
use crate::cli::common::text_of;
use crate::cli::output::{json, line, say};
use crate::diag::Diagnostic;
use anyhow::bail;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Arguments of `bwmon bundle build`.
#[derive(clap::Args)]
#[command(
    after_help = "What is built has passed every check that `bwmon bundle install` makes, but for \
the signature. The same files give the same bytes, wherever and whenever they are built.\n\n\
Examples:\n\
\x20 bwmon bundle build                       the bundle.toml of this folder\n\
\x20 bwmon bundle build acme/ -o out/         out/NAME-VERSION.bwmon"
)]
pub(in crate::cli) struct Args {
    /// A folder with a bundle.toml, or such a file
    #[arg(value_name = "DIR|FILE", default_value = ".")]
    source: PathBuf,
    /// Where to: a file, or a folder for NAME-VERSION.bwmon
    #[arg(long, short, value_name = "FILE|DIR", default_value = ".")]
    output: PathBuf,
    /// Pack it, whether or not what is in it holds
    #[arg(long)]
    no_check: bool,
    #[command(flatten)]
    root: RootArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    let source = if args.source.is_dir() { args.source.join(SOURCE) } else { args.source.clone() };
    let (bundle, packed) = built(&source)?;
    let checked = match args.no_check {
        true => {
            say("note: --no-check: whether it holds is found out when it is installed");
            None
        }
        false => Some(checked(&bundle, &args.root)??),
    };
    let name = format!("{}-{}.{ENDING}", bundle.manifest.name, bundle.manifest.version);
    let output = if args.output.is_dir() { args.output.join(name) } else { args.output.clone() };
    write(&output, &packed)?;
    if args.json {
        json(&Report::new(&bundle, None, checked.as_ref()))?;
        return Ok(Answer::Yes);
    }
    line(&format!(
        "{}: {} ({}), {} files, {} bytes",
        output.display(),
        bundle.manifest.title(),
        bundle.short_digest(),
        bundle.files.len(),
        packed.len()
    ))?;
    if let Some(checked) = &checked {
        line(&summary(checked))?;
    }
    Ok(Answer::Yes)
}

/// The bundle that the `bundle.toml` at `source` describes.
fn built(source: &Path) -> anyhow::Result<(Bundle, Vec<u8>)> {
    let shown = source.display().to_string();
    let text = text_of(&shown)?;
    let described = parse_source(&shown, &text)?;
    let folder = source.parent().unwrap_or(Path::new(""));
    let mut files = BTreeMap::new();
    for (path, (role, place)) in &described.files {
        let bytes = bytes_of(&folder.join(path), MAX_FILE).map_err(|error| {
            let why = format!("the {} {path} cannot be packed: {error:#}", role.name());
            Diagnostic::new(&shown, why).at(place.clone())
        })?;
        files.insert(path.clone(), bytes);
    }
    for spec in
        files.keys().filter_map(|path| Some(format!("{}.spec.toml", path.strip_suffix(".rhai")?)))
    {
        if !files.contains_key(&spec) && folder.join(&spec).is_file() {
            say(&format!(
                "note: {spec} lies beside its policy, is not listed in {shown} and not packed"
            ));
        }
    }
    let manifest = manifest(&described, &files).map_err(|why| Diagnostic::new(&shown, why))?;
    let packed = pack(&manifest, &files)?;
    if packed.len() as u64 > MAX_PACKED {
        bail!("{shown}: the bundle would be larger than {MAX_PACKED} bytes");
    }
    let digest = sha256(&packed);
    Ok((Bundle { manifest, files, digest }, packed))
}
