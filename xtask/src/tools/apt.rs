//! Debian packages without installing anything: apt with lists of its own.
//!
//! The machine's own apt state is not read or changed, except that the address of a Debian mirror
//! is taken from it: a project must not name one. apt checks signatures and hashes as always.

use super::process::{Run, on_path};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian's signing keys, where the `debian-archive-keyring` package puts them.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// A Debian archive as a machine's apt knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Archive {
    /// The mirror's address.
    uri: String,
    /// The release that the machine itself follows, e.g. a code name.
    pub(crate) release: String,
}

impl Archive {
    /// The mirror's address.
    pub(crate) fn uri(&self) -> &str {
        &self.uri
    }
}

/// A package at one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The package's name.
    pub(crate) package: String,
    /// Its full Debian version.
    pub(crate) version: String,
}

impl Found {
    /// The version without epoch and Debian revision, and without a repacking mark:
    /// `1.95.0+dfsg1-2~bpo13+1` is upstream's `1.95.0`.
    pub(crate) fn upstream(&self) -> &str {
        let v = self.version.split_once(':').map_or(self.version.as_str(), |(_, v)| v);
        v.find(['+', '-', '~']).and_then(|end| v.get(..end)).unwrap_or(v)
    }

    /// Whether its version is later than the other's.
    ///
    /// # Errors
    /// When there is no dpkg to ask.
    pub(crate) fn newer_than(&self, other: &Self) -> Result<bool> {
        later(&self.version, &other.version)
    }

    /// `name=version`, as [`PrivateApt::download`] takes it.
    pub(crate) fn exact(&self) -> String {
        format!("{}={}", self.package, self.version)
    }
}

/// One architecture and a list of suites, with apt's lists and cache in a folder of ours.
pub(crate) struct PrivateApt {
    dir: PathBuf,
    architecture: String,
    mirror: String,
    suites: Vec<String>,
}

impl PrivateApt {
    /// Prepares `dir` (kept between runs) for packages of `architecture` (`amd64`, `arm64`, …).
    /// Two of these must not share a folder.
    ///
    /// # Errors
    /// When this is no machine with apt, its apt knows no Debian archive, or `dir` is unwritable.
    pub(crate) fn new(dir: PathBuf, architecture: &str, suites: &[&str]) -> Result<PrivateApt> {
        let mirror = machine_archive()?.uri;
        for sub in ["lists/partial", "cache/archives/partial", "debs"] {
            let path = dir.join(sub);
            fs::create_dir_all(&path)
                .with_context(|| format!("cannot create {}", path.display()))?;
        }
        let suites = suites.iter().map(|s| (*s).to_owned()).collect();
        let apt = PrivateApt { dir, architecture: architecture.to_owned(), mirror, suites };
        apt.write_sources(&apt.suites)?;
        Ok(apt)
    }

    /// Fetches the suites' package lists. A suite that the mirror does not carry (any more) is
    /// left out with a message.
    ///
    /// # Errors
    /// When no suite at all could be read.
    pub(crate) fn update(&mut self) -> Result<()> {
        let mut good = Vec::new();
        let mut last = None;
        for suite in &self.suites {
            self.write_sources(std::slice::from_ref(suite))?;
            let mut apt = self.command("apt-get");
            // Without this, each suite's lists would be swept away by the next one's update.
            apt.args(["-qq", "-oAPT::Get::List-Cleanup=false", "update"]);
            match apt.run_for_output() {
                Ok(_) => good.push(suite.clone()),
                Err(e) => {
                    eprintln!("apt: suite {suite} left out");
                    last = Some(e);
                }
            }
        }
        if let (true, Some(e)) = (good.is_empty(), last) {
            return Err(e.context("no package list could be fetched"));
        }
        self.suites = good;
        self.write_sources(&self.suites)
    }

    /// The newest version of any package whose whole name matches the POSIX expression `name`
    /// (`linux-image-6\.12\..*-arm64-unsigned`).
    ///
    /// # Errors
    /// When none matches in these suites, or apt fails.
    pub(crate) fn newest(&self, name: &str) -> Result<Found> {
        self.newest_where(name, |_| true)
    }

    /// As [`PrivateApt::newest`], among the versions that `accept` takes.
    ///
    /// # Errors
    /// As [`PrivateApt::newest`].
    pub(crate) fn newest_where(
        &self,
        name: &str,
        accept: impl Fn(&Found) -> bool,
    ) -> Result<Found> {
        let mut best: Option<Found> = None;
        for found in self.all(name)?.into_iter().filter(accept) {
            let newer = match &best {
                None => true,
                Some(b) => found.newer_than(b)?,
            };
            if newer {
                best = Some(found);
            }
        }
        best.with_context(|| {
            format!("no package `{name}` ({}) in {}", self.architecture, self.suites.join(", "))
        })
    }

    /// Downloads `name` or `name=version` unless it is here already, and says where it lies.
    ///
    /// # Errors
    /// When apt does not know it or cannot fetch it.
    pub(crate) fn download(&self, package: &str) -> Result<PathBuf> {
        let debs = self.dir.join("debs");
        let plan = self
            .command("apt-get")
            .args(["download", "--print-uris", package])
            .current_dir(&debs)
            .run_for_output()?;
        let (file, size) =
            planned(&plan).with_context(|| format!("apt did not say what `{package}` is"))?;
        let deb = debs.join(file);
        if fs::metadata(&deb).is_ok_and(|m| m.len() == size) {
            return Ok(deb);
        }
        eprintln!("apt: fetching {package} ({} MB)", size / 1_000_000);
        self.command("apt-get")
            .args(["-qq", "download", package])
            .current_dir(&debs)
            .run_for_output()?;
        if !deb.is_file() {
            bail!("apt-get download left no {}", deb.display());
        }
        Ok(deb)
    }

    /// Unpacks a package's files under `into`, whole or not at all; keeps what is there already.
    ///
    /// # Errors
    /// When `dpkg-deb` fails or the folder cannot be made.
    pub(crate) fn unpack(&self, deb: &Path, into: &Path) -> Result<()> {
        self.unpack_all(&[deb.to_owned()], into)
    }

    /// As [`PrivateApt::unpack`], for packages that expect each other's files.
    ///
    /// # Errors
    /// As [`PrivateApt::unpack`].
    pub(crate) fn unpack_all(&self, debs: &[PathBuf], into: &Path) -> Result<()> {
        if into.is_dir() {
            return Ok(());
        }
        let mut partial = into.as_os_str().to_owned();
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        if partial.exists() {
            fs::remove_dir_all(&partial)?;
        }
        fs::create_dir_all(&partial)?;
        for deb in debs {
            Command::new("dpkg-deb").arg("-x").arg(deb).arg(&partial).run_for_output()?;
        }
        fs::rename(&partial, into).with_context(|| format!("cannot create {}", into.display()))
    }

    /// The first of the suites that could be read.
    pub(crate) fn first_suite(&self) -> &str {
        self.suites.first().map_or("", String::as_str)
    }

    fn all(&self, name: &str) -> Result<Vec<Found>> {
        let listed = self
            .command("apt-cache")
            .args(["search", "--names-only", &format!("^{name}$")])
            .run_for_output()?;
        let names: Vec<&str> = listed.lines().filter_map(|l| l.split(' ').next()).collect();
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let table = self.command("apt-cache").arg("madison").args(names).run_for_output()?;
        Ok(madison(&table))
    }

    fn write_sources(&self, suites: &[String]) -> Result<()> {
        let signed = if Path::new(KEYRING).exists() {
            format!("[signed-by={KEYRING}] ")
        } else {
            String::new()
        };
        let lines: String =
            suites.iter().map(|s| format!("deb {signed}{} {s} main\n", self.mirror)).collect();
        let path = self.dir.join("sources.list");
        fs::write(&path, lines).with_context(|| format!("cannot write {}", path.display()))
    }

    fn command(&self, program: &str) -> Command {
        let mut apt = Command::new(program);
        let dir = self.dir.display();
        // Messages are parsed, so they must not be translated.
        apt.env("LC_ALL", "C").args([
            format!("-oAPT::Architecture={}", self.architecture),
            format!("-oAPT::Architectures={}", self.architecture),
            format!("-oDir::Etc::sourcelist={dir}/sources.list"),
            "-oDir::Etc::sourceparts=-".into(),
            "-oDir::Etc::preferencesparts=-".into(),
            format!("-oDir::State::Lists={dir}/lists"),
            // What is installed on this machine is of no concern here.
            "-oDir::State::status=/dev/null".into(),
            format!("-oDir::Cache={dir}/cache"),
            "-oAcquire::Retries=3".into(),
            // As root, apt would fetch as a user that may not enter the target folder.
            "-oAPT::Sandbox::User=root".into(),
        ]);
        apt
    }
}

/// The Debian archive that this machine's own apt uses.
///
/// # Errors
/// When there is no apt, or it knows no Debian archive.
pub(crate) fn machine_archive() -> Result<Archive> {
    if !on_path("apt-get") || !on_path("dpkg-deb") {
        bail!("this machine has no apt-get and dpkg-deb");
    }
    let ask = |extra: &[&str]| {
        Command::new("apt-get")
            .env("LC_ALL", "C")
            .arg("indextargets")
            .args(extra)
            .args(["--format", "$(REPO_URI) $(ORIGIN) $(RELEASE)", "Created-By: Packages"])
            .run_for_output()
    };
    // Before the machine's first `apt-get update` only the second form answers.
    if let Some(archive) = first_debian(&ask(&[])?) {
        return Ok(archive);
    }
    first_debian(&ask(&["--no-release-info"])?)
        .context("this machine's apt knows no Debian archive (apt-get indextargets)")
}

/// Picks the first archive that is Debian's, or does not say whose it is but carries the usual
/// name in its path; security archives carry other suites.
fn first_debian(targets: &str) -> Option<Archive> {
    targets.lines().find_map(|line| {
        let mut words = line.split(' ');
        let (uri, origin, release) = (words.next()?, words.next()?, words.next()?);
        let unsaid = origin.starts_with("$(") && uri.trim_end_matches('/').ends_with("/debian");
        let debian = origin == "Debian" || unsaid;
        let main = !uri.contains("security") && !release.contains('-');
        (debian && main).then(|| Archive { uri: uri.into(), release: release.into() })
    })
}

/// Reads `apt-cache madison`: `name | version | where`.
fn madison(table: &str) -> Vec<Found> {
    let row = |line: &str| {
        let mut cells = line.split('|').map(str::trim);
        let (package, version) = (cells.next()?, cells.next()?);
        let source = cells.next()?.ends_with("Sources");
        (!source).then(|| Found { package: package.into(), version: version.into() })
    };
    table.lines().filter_map(row).collect()
}

/// Reads `apt-get download --print-uris`: `'address' file size hash`.
fn planned(line: &str) -> Option<(&str, u64)> {
    let mut words = line.lines().last()?.split(' ');
    let file = words.nth(1)?;
    // apt names a file; anything that could leave the folder is not one.
    if file.contains('/') {
        return None;
    }
    Some((file, words.next()?.parse().ok()?))
}

fn later(a: &str, b: &str) -> Result<bool> {
    let status = Command::new("dpkg")
        .args(["--compare-versions", a, "gt", b])
        .status()
        .context("cannot start dpkg")?;
    Ok(status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(version: &str) -> Found {
        Found { package: "p".into(), version: version.into() }
    }

    #[test]
    fn upstream_is_what_lies_between_epoch_and_revision() {
        assert_eq!(found("1.95.0+dfsg1-2~bpo13+1").upstream(), "1.95.0");
        assert_eq!(found("1:7.2-3").upstream(), "7.2");
        assert_eq!(found("6.12").upstream(), "6.12");
    }

    #[test]
    fn the_machine_s_main_archive_is_chosen() {
        let said = "http://a.example/debian-security/ Debian bookworm-security\n\
                    http://a.example/debian/ Debian bookworm-updates\n\
                    http://b.example/node/ $(ORIGIN) nodistro\n\
                    http://a.example/debian/ Debian bookworm\n";
        let archive = first_debian(said).unwrap();
        assert_eq!(archive.uri, "http://a.example/debian/");
        assert_eq!(archive.release, "bookworm");
        assert_eq!(first_debian("http://u.example/ubuntu/ Ubuntu noble"), None);
        let fresh = "http://a.example/debian/ $(ORIGIN) trixie\n";
        assert_eq!(first_debian(fresh).unwrap().release, "trixie");
    }

    #[test]
    fn tables_are_read() {
        let table = " rust-src | 1.95.0+dfsg1-2 | http://a.example/debian x/main amd64 Packages\n\
                     rust-src | 1.94.1-1 | http://a.example/debian x/main Sources\nnonsense\n";
        assert_eq!(madison(table).len(), 1);
        assert_eq!(
            planned("'http://a/p.deb' p_1_all.deb 45 SHA256:0\n"),
            Some(("p_1_all.deb", 45))
        );
        assert_eq!(planned("'http://a/p.deb' ../p.deb 45 SHA256:0\n"), None);
        assert_eq!(planned(""), None);
    }
}
