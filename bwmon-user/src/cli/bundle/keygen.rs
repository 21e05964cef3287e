//! `bwmon bundle keygen`, and passwords of keys.

use super::places::with_ending;
use crate::bundle::TrustedKey;
use crate::cli::Answer;
use crate::cli::common::text_of;
use crate::cli::output::{json, line, say};
use crate::live::bundles::{NewKey, generate};
use anyhow::{Context, bail};
use serde::Serialize;
use std::fs::OpenOptions;
use std::io::{IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Arguments of `bwmon bundle keygen`.
#[derive(clap::Args)]
#[command(
    after_help = "NAME.pub goes to the machines, into /etc/bwmon/keys or /usr/lib/bwmon/keys. \
NAME.key signs: keep it off them. Both are files of minisign.\n\nExamples:\n\
\x20 bwmon bundle keygen acme                             asks for a password\n\
\x20 bwmon bundle keygen acme --password-file secret.txt\n\
\x20 bwmon bundle keygen bench --no-password              whoever has bench.key can sign"
)]
pub(in crate::cli) struct Args {
    /// The files are called NAME.key and NAME.pub
    #[arg(value_name = "NAME")]
    name: PathBuf,
    /// Protect the secret half by nothing but the rights of its file
    #[arg(long, conflicts_with = "password_file")]
    no_password: bool,
    #[command(flatten)]
    password: PasswordArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// `--password-file`.
#[derive(clap::Args)]
pub(super) struct PasswordArgs {
    /// The password is the first line of this file [default: it is asked for]
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
}

impl PasswordArgs {
    /// The password of a key; asked for twice if it is `new`.
    pub(super) fn password(&self, new: bool) -> anyhow::Result<String> {
        if let Some(file) = &self.password_file {
            let text = text_of(&file.to_string_lossy())?;
            let first = text.lines().next().unwrap_or_default().to_owned();
            if first.is_empty() {
                bail!("the first line of {} is empty: that is no password", file.display());
            }
            return Ok(first);
        }
        if !std::io::stdin().is_terminal() {
            bail!("the key has a password, and nobody is there to ask; give --password-file FILE");
        }
        let password = rpassword::prompt_password("password of the key: ")?;
        if new && password != rpassword::prompt_password("once more: ")? {
            bail!("the passwords differ; nothing was written");
        }
        if new && password.is_empty() {
            bail!("an empty password protects nothing; --no-password says so");
        }
        Ok(password)
    }
}

#[derive(Serialize)]
struct Report {
    key: String,
    public: String,
    secret: String,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    let (public, secret) = (with_ending(&args.name, "pub"), with_ending(&args.name, "key"));
    for file in [&public, &secret] {
        if file.exists() {
            bail!("{} is there already; a key is never overwritten", file.display());
        }
    }
    let password = match args.no_password {
        true => {
            say(&format!("note: whoever reads {} can sign", secret.display()));
            None
        }
        false => Some(args.password.password(true)?),
    };
    let made = generate(password)?;
    let NewKey { public: public_text, secret: secret_text } = &made;
    let key = TrustedKey::parse(&public.display().to_string(), public_text)?;
    write(&secret, secret_text, 0o600)?;
    write(&public, public_text, 0o644)?;
    let report = Report {
        key: key.id.to_string(),
        public: public.display().to_string(),
        secret: secret.display().to_string(),
    };
    if args.json {
        json(&report)?;
    } else {
        let Report { key, public, secret } = &report;
        line(&format!("key {key}: {public} for the machines, {secret} for whoever signs"))?;
    }
    Ok(Answer::Yes)
}

fn write(path: &Path, text: &str, mode: u32) -> anyhow::Result<()> {
    let open = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    open.and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    })
    .with_context(|| format!("cannot write {}", path.display()))
}
