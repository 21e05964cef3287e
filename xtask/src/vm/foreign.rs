//! Programs of another Debian release than this machine's, run with their own C library.
//!
//! A newer kernel is built with a newer compiler than the machine's release has, and its options
//! are not the older one's. Nothing is installed: each program gets a script that starts it
//! through the loader of its own release.

use super::headers::Headers;
use crate::tools::process::{Run, on_path};
use crate::tools::suites;
use anyhow::{Context, Result};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes sure that the kernel's compiler can be run, and says where it is if it is not on the path.
///
/// # Errors
/// When it cannot be fetched, or does not run.
pub(crate) fn compiler(dir: &Path, headers: &Headers) -> Result<Option<PathBuf>> {
    let major = headers.compiler()?;
    let name = format!("aarch64-linux-gnu-gcc-{major}");
    if on_path(&name) {
        return Ok(None);
    }
    let suite = headers.suite()?;
    let release = suites::release_of(&suite);
    let root = dir.join(format!("gcc-{major}-{release}"));
    if !root.is_dir() {
        eprintln!("vm: the kernel's compiler, gcc {major}, is not on this machine: fetching it");
        let host = suites::around(dir, &suites::own_architecture()?, release)?;
        let packages =
            [format!("gcc-{major}-aarch64-linux-gnu"), format!("cpp-{major}-aarch64-linux-gnu")];
        let mut debs = vec![host.download("libc6")?];
        for package in &packages {
            debs.push(host.download(package)?);
        }
        host.unpack_all(&debs, &root)?;
    }
    let loader = Loader::find(&root)?;
    let bin = root.join("bin");
    fs::create_dir_all(&bin)?;
    let cc1 = root.join(format!("usr/libexec/gcc-cross/aarch64-linux-gnu/{major}/cc1"));
    loader.wrap(&cc1, &bin.join("cc1"), "")?;
    // The compiler looks for its parts here first.
    let parts = format!(" -B{}/", bin.display());
    loader.wrap(&root.join("usr/bin").join(&name), &bin.join(&name), &parts)?;
    script(&bin.join("as"), "exec aarch64-linux-gnu-as \"$@\"\n")?;
    Command::new(bin.join(&name)).arg("--version").run_for_output()?;
    wrap_kbuild(&loader, headers)?;
    Ok(Some(bin))
}

/// The build's own programs are of the kernel's release, too.
fn wrap_kbuild(loader: &Loader, headers: &Headers) -> Result<()> {
    let folder = headers.flavour().join("scripts/mod");
    let own = folder.join("own");
    fs::create_dir_all(&own)?;
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        if path.is_file() && fs::read(&path)?.starts_with(b"\x7fELF") {
            fs::rename(&path, own.join(name))?;
        }
    }
    for entry in fs::read_dir(&own)? {
        let path = entry?.path();
        loader.wrap(&path, &folder.join(path.file_name().unwrap_or_default()), "")?;
    }
    Ok(())
}

/// The loader and the C library of another release.
struct Loader {
    program: PathBuf,
    libraries: PathBuf,
}

impl Loader {
    /// Looks for `usr/lib/<architecture>/ld-linux*` of an unpacked libc6.
    fn find(root: &Path) -> Result<Self> {
        let folders = fs::read_dir(root.join("usr/lib"))?.flatten().map(|entry| entry.path());
        for libraries in folders.filter(|folder| folder.join("libc.so.6").is_file()) {
            let mut files = fs::read_dir(&libraries)?.flatten().map(|entry| entry.path());
            let is_loader = |path: &PathBuf| {
                path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("ld-linux"))
            };
            if let Some(program) = files.find(is_loader) {
                return Ok(Self { program, libraries });
            }
        }
        anyhow::bail!("no C library in {0}: remove {0} to fetch anew", root.display())
    }

    /// Writes a script at `to` that runs `program`, with `options` before its arguments. Other
    /// libraries than the C library are the machine's own, from the folder of the same name.
    fn wrap(&self, program: &Path, to: &Path, options: &str) -> Result<()> {
        let own = self.libraries.file_name().unwrap_or_default().to_string_lossy();
        let text = format!(
            "exec {} --argv0 \"$0\" --library-path {}:/usr/lib/{own} {}{options} \"$@\"\n",
            self.program.display(),
            self.libraries.display(),
            program.display()
        );
        script(to, &text)
    }
}

fn script(path: &Path, text: &str) -> Result<()> {
    let write = || {
        fs::write(path, format!("#!/bin/sh\n{text}"))?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}
