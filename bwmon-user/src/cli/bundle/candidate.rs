//! A bundle that is to be trusted: its signature, what is in it, and whether that holds.

use super::places::{RootArgs, bytes_of, with_ending};
use crate::bundle::check::{Checked, check};
use crate::bundle::{
    Bundle, MAX_PACKED, MAX_SIGNATURE, SIGNATURE_ENDING, Signed, TrustedKey, unpack, verify,
};
use crate::cli::output::say;
use crate::cli::products;
use crate::journal::BundleRecord;
use crate::live::bundles::trusted_keys;
use anyhow::{Context, anyhow};
use serde::Serialize;
use std::path::PathBuf;

/// The bundle and who may have signed it.
#[derive(clap::Args)]
pub(super) struct CandidateArgs {
    /// The bundle; its signature is the same name with .minisig behind it
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// A folder with the public keys (*.pub) that are trusted; may be given several times, the first
    /// hides same-named files of the later [default: /etc/bwmon/keys, /run/bwmon/keys,
    /// /usr/lib/bwmon/keys]
    #[arg(long, value_name = "DIR", conflicts_with = "insecure_unsigned")]
    keys: Vec<PathBuf>,
    /// Take a bundle that nobody vouches for: for a bench, never for a product
    #[arg(long)]
    insecure_unsigned: bool,
}

/// A bundle for which somebody vouches, unless nobody was asked to.
pub(super) struct Candidate {
    pub(super) bundle: Bundle,
    pub(super) signed: Option<Signed>,
    pub(super) checked: Checked,
}

/// The answer is no: it is not signed as it should be, broken, or it does not hold.
#[derive(Debug)]
pub(super) struct Refused(anyhow::Error);

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#}", self.0)
    }
}

impl std::error::Error for Refused {}

fn refused(file: &str, why: impl Into<anyhow::Error>) -> anyhow::Error {
    Refused(why.into().context(format!("{file} is refused"))).into()
}

impl CandidateArgs {
    /// Reads and checks it; nothing is written anywhere.
    ///
    /// # Errors
    /// [`Refused`], or what cannot be read.
    pub(super) fn candidate(&self, root: &RootArgs) -> anyhow::Result<Candidate> {
        let file = self.file.display().to_string();
        let packed = bytes_of(&self.file, MAX_PACKED)?;
        // The signature first: of a file that nobody vouches for, nothing else is read.
        let signed = self.signed(&file, &packed, root)?;
        let bundle = unpack(&file, &packed).map_err(|fault| refused(&file, fault))?;
        if let Some(signed) = &signed {
            signed.is_for(&bundle).map_err(|why| refused(&file, why))?;
        }
        let checked = checked(&bundle, root)?.map_err(|why| refused(&file, why))?;
        Ok(Candidate { bundle, signed, checked })
    }

    fn signed(&self, file: &str, packed: &[u8], root: &RootArgs) -> anyhow::Result<Option<Signed>> {
        if self.insecure_unsigned {
            say(&format!(
                "WARNING: --insecure-unsigned: nobody vouches for {file}, and its signature is not \
                 looked at"
            ));
            return Ok(None);
        }
        let path = with_ending(&self.file, SIGNATURE_ENDING);
        if !path.exists() {
            return Err(refused(
                file,
                anyhow!("it is not signed: there is no {} (`bwmon bundle sign`)", path.display()),
            ));
        }
        let text = bytes_of(&path, MAX_SIGNATURE)?;
        let text = String::from_utf8(text)
            .map_err(|_| refused(file, anyhow!("{} is no UTF-8 text", path.display())))?;
        let keys: Vec<TrustedKey> =
            trusted_keys(&root.root(), &self.keys)?.into_iter().filter_map(|key| key.key).collect();
        let signed = verify(packed, &text, &keys).map_err(|why| refused(file, why))?;
        Ok(Some(signed))
    }
}

/// Whether what is in the bundle holds.
pub(super) fn checked(
    bundle: &Bundle,
    root: &RootArgs,
) -> anyhow::Result<Result<Checked, crate::diag::Diagnostic>> {
    let below = products::below_bundles(&root.root()).context("cannot look for products")?;
    Ok(check(bundle, env!("CARGO_PKG_VERSION"), below, &mut products::script))
}

/// What is told of a bundle, as JSON.
#[derive(Serialize)]
pub(super) struct Report<'a> {
    #[serde(flatten)]
    record: BundleRecord,
    what: Option<&'a str>,
    /// The key that signed it, and its file; `None` where nobody was asked.
    signed_by: Option<String>,
    key_file: Option<&'a str>,
    files: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    checked: Option<&'a Checked>,
}

impl<'a> Report<'a> {
    pub(super) fn new(
        bundle: &'a Bundle,
        signed: Option<&'a Signed>,
        checked: Option<&'a Checked>,
    ) -> Self {
        Self {
            record: bundle.record(),
            what: bundle.manifest.what.as_deref(),
            signed_by: signed.map(|signed| signed.key.to_string()),
            key_file: signed.map(|signed| signed.key_file.as_str()),
            files: bundle.files.len(),
            checked,
        }
    }
}

impl Candidate {
    pub(super) fn report(&self) -> Report<'_> {
        Report::new(&self.bundle, self.signed.as_ref(), Some(&self.checked))
    }

    /// Who vouches for it, in words.
    pub(super) fn vouched(&self) -> String {
        match &self.signed {
            Some(signed) => format!("signed by the key {} ({})", signed.key, signed.key_file),
            None => "signed by nobody that was asked".into(),
        }
    }
}

/// What was checked, in a line; notes go to stderr.
pub(super) fn summary(checked: &Checked) -> String {
    for note in &checked.notes {
        say(&format!("note: {note}"));
    }
    let each = |on: &crate::bundle::check::ProductOn| format!("{} on {}", on.name, on.board);
    let products: Vec<String> = checked.products.iter().map(each).collect();
    format!(
        "{}; {} policies checked, {} scenarios hold, {} recorded ticks without a fault",
        products.join(", "),
        checked.policies,
        checked.scenarios,
        checked.trace_ticks
    )
}
