//! What the guest finds in its root folder.

use super::{cpio, guest::Programs, kmod, modules::Modules};
use crate::ctx::Ctx;
use anyhow::{Context, Result};
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

type Archive = cpio::Writer<BufWriter<File>>;

/// Writes the archive and says where it is.
///
/// # Errors
/// When a part of it cannot be read, or the archive cannot be written.
pub(crate) fn write(
    ctx: &Ctx,
    dir: &Path,
    modules: &Modules,
    programs: &Programs,
    module: &Path,
) -> Result<PathBuf> {
    let path = dir.join("initramfs.cpio");
    let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut archive = cpio::Writer::new(BufWriter::new(file));
    for name in ["dev", "modules", "policies"] {
        archive.folder(name)?;
    }
    // The kernel opens the console for init before anything is mounted.
    archive.device("dev/console", 5, 1)?;
    add(&mut archive, "init", 0o755, &programs.init)?;
    add(&mut archive, "bwmon", 0o755, &programs.bwmon)?;
    for board in ["board.toml", "board-vote.toml"] {
        add(&mut archive, board, 0o644, &ctx.root.join("tests/vm").join(board))?;
    }
    add_modules(&mut archive, modules)?;
    // Not in the order: a scenario inserts it.
    add(&mut archive, &format!("modules/{}", kmod::MODULE), 0o644, module)?;
    add_policies(&mut archive, &ctx.root.join("policies"))?;
    archive.finish()?;
    Ok(path)
}

fn add(archive: &mut Archive, name: &str, mode: u32, from: &Path) -> Result<()> {
    let content = std::fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
    archive.file(name, mode, &content).with_context(|| format!("cannot add {name}"))
}

/// The modules and, in `modules/order`, their names in the order of insertion.
fn add_modules(archive: &mut Archive, modules: &Modules) -> Result<()> {
    let mut order = String::new();
    for file in &modules.files {
        let name = file_name(file)?;
        add(archive, &format!("modules/{name}"), 0o644, file)?;
        order.push_str(&name);
        order.push('\n');
    }
    archive.file("modules/order", 0o644, order.as_bytes()).context("cannot add the module list")
}

/// Every script that lies directly in the folder.
fn add_policies(archive: &mut Archive, from: &Path) -> Result<()> {
    let listed = std::fs::read_dir(from).with_context(|| format!("read {}", from.display()))?;
    for entry in listed {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rhai") {
            add(archive, &format!("policies/{}", file_name(&path)?), 0o644, &path)?;
        }
    }
    Ok(())
}

fn file_name(path: &Path) -> Result<String> {
    let name = path.file_name().and_then(|name| name.to_str());
    name.map(str::to_owned).with_context(|| format!("{} has no plain name", path.display()))
}
