//! Debian's suites, nearest to this machine first: what comes from its own release runs here.

use super::apt::{PrivateApt, machine_archive};
use super::process::Run;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

/// Where kernels newer than a release's own are packaged.
const OTHERS: [&str; 4] = ["bookworm", "bookworm-backports", "trixie", "trixie-backports"];

/// The machine's own release and its backports, then the others.
fn order(own: &str) -> Vec<String> {
    let mut suites = vec![own.to_owned(), format!("{own}-backports")];
    suites.extend(OTHERS.map(str::to_owned));
    let mut seen = std::collections::BTreeSet::new();
    suites.retain(|suite| seen.insert(suite.clone()));
    suites
}

/// The release that a suite of backports adds to.
pub(crate) fn release_of(suite: &str) -> &str {
    suite.strip_suffix("-backports").unwrap_or(suite)
}

/// The architecture of this machine's own programs, as Debian calls it.
///
/// # Errors
/// When there is no dpkg to ask.
pub(crate) fn own_architecture() -> Result<String> {
    let said = Command::new("dpkg").arg("--print-architecture").run_for_output()?;
    Ok(said.trim().to_owned())
}

/// One suite's packages of an architecture, with lists in a folder under `dir`.
fn open(dir: &Path, architecture: &str, suite: &str) -> Result<PrivateApt> {
    let folder = dir.join(format!("apt-{architecture}-{suite}"));
    let mut apt = PrivateApt::new(folder, architecture, &[suite])?;
    apt.update()?;
    Ok(apt)
}

/// The suite itself and the release that it adds to, for packages that go with one of `suite`.
///
/// # Errors
/// When neither can be read.
pub(crate) fn around(dir: &Path, architecture: &str, suite: &str) -> Result<PrivateApt> {
    let folder = dir.join(format!("apt-{architecture}-around-{suite}"));
    let mut suites = vec![suite];
    if release_of(suite) != suite {
        suites.push(release_of(suite));
    }
    let mut apt = PrivateApt::new(folder, architecture, &suites)?;
    apt.update()?;
    Ok(apt)
}

/// The first answer, suite by suite: the lists of those behind it are not fetched.
///
/// # Errors
/// The last suite's, when none has it.
pub(crate) fn nearest<T>(
    dir: &Path,
    architecture: &str,
    look: impl Fn(&PrivateApt) -> Result<T>,
) -> Result<(PrivateApt, T)> {
    let mut last = None;
    for suite in order(&machine_archive()?.release) {
        let answer = open(dir, architecture, &suite).and_then(|apt| {
            let found = look(&apt)?;
            Ok((apt, found))
        });
        match answer {
            Ok(found) => return Ok(found),
            Err(error) => last = Some(error),
        }
    }
    Err(last.context("there is no suite to look in")?)
}

/// The answers of all suites that have one.
///
/// # Errors
/// When the machine's own archive is not known.
pub(crate) fn all<T>(
    dir: &Path,
    architecture: &str,
    look: impl Fn(&PrivateApt) -> Result<T>,
) -> Result<Vec<(PrivateApt, T)>> {
    let suites = order(&machine_archive()?.release);
    let answers = suites.iter().filter_map(|suite| {
        let apt = open(dir, architecture, suite).ok()?;
        let found = look(&apt).ok()?;
        Some((apt, found))
    });
    Ok(answers.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_s_own_release_comes_first_and_none_twice() {
        let trixie = ["trixie", "trixie-backports", "bookworm", "bookworm-backports"];
        assert_eq!(order("trixie"), trixie);
        assert_eq!(order("sid").len(), 6);
        assert_eq!((release_of("trixie-backports"), release_of("sid")), ("trixie", "sid"));
    }
}
