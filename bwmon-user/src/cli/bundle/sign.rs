//! `bwmon bundle sign`.

use super::keygen::PasswordArgs;
use super::places::{bytes_of, with_ending, write};
use crate::bundle::{MAX_PACKED, MAX_SIGNATURE, SIGNATURE_ENDING, unpack};
use crate::cli::Answer;
use crate::cli::output::{json, line};
use crate::live::bundles::SigningKey;
use anyhow::{Context, bail};
use serde::Serialize;
use std::path::PathBuf;

/// Arguments of `bwmon bundle sign`.
#[derive(clap::Args)]
#[command(
    after_help = "The signature is FILE.minisig, a detached one of minisign. Its trusted comment has \
the bundle's name, version and digest.\n\nExamples:\n\
\x20 bwmon bundle sign acme-1.4.0.bwmon --key acme.key\n\
\x20 bwmon bundle sign acme-1.4.0.bwmon --key acme.key --password-file secret.txt"
)]
pub(in crate::cli) struct Args {
    /// The bundle
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The secret key
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    #[command(flatten)]
    password: PasswordArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    name: String,
    version: String,
    digest: String,
    signature: String,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    let packed = bytes_of(&args.file, MAX_PACKED)?;
    // What is no bundle is not signed as one.
    let bundle = unpack(&args.file.display().to_string(), &packed)?;
    let shown = args.key.display().to_string();
    let text = bytes_of(&args.key, MAX_SIGNATURE)?;
    let text = String::from_utf8_lossy(&text);
    if text.contains("public key") {
        bail!("{shown} is a public key, which cannot sign; its other half is the .key file");
    }
    let key = SigningKey::open(&text, || args.password.password(false))
        .with_context(|| format!("cannot sign with {shown}"))?;
    let signature = with_ending(&args.file, SIGNATURE_ENDING);
    write(&signature, key.sign(&packed, &bundle)?.as_bytes())?;
    let record = bundle.record();
    let report = Report {
        name: record.name,
        version: record.version,
        digest: record.digest,
        signature: signature.display().to_string(),
    };
    if args.json {
        json(&report)?;
    } else {
        let Report { name, version, digest, signature } = &report;
        line(&format!("{signature}: {name} {version} ({digest})"))?;
    }
    Ok(Answer::Yes)
}
