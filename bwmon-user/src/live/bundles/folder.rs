//! One installed bundle: its folder.

use super::durable;
use super::state::Id;
use super::terms::{StoreError, io};
use crate::bundle::{Bundle, MANIFEST, MAX_FILE, Manifest, sha256};
use crate::live::root::names;
use crate::live::text_of;
use rustix::fs::{RenameFlags, renameat_with};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// Writes the files of `bundle` into `folder` of the `store`, whole or not at all.
pub(super) fn write(store: &Path, folder: &Path, bundle: &Bundle) -> Result<(), StoreError> {
    let new = durable::fresh(&store.join("bundle"));
    durable::forget(&new).map_err(io("remove", &new))?;
    write_all(store, &new, folder, bundle).inspect_err(|_| {
        let _ = durable::forget(&new);
    })
}

fn write_all(store: &Path, new: &Path, folder: &Path, bundle: &Bundle) -> Result<(), StoreError> {
    let text = bundle.manifest.text().map_err(|e| io("write", new)(e.into()))?;
    let manifest = (MANIFEST.to_owned(), text.into_bytes());
    let mut folders = vec![new.to_owned()];
    fs::create_dir(new).map_err(io("create", new))?;
    let all = bundle.files.iter().map(|(path, bytes)| (path, bytes.as_slice()));
    for (path, bytes) in all.chain([(&manifest.0, manifest.1.as_slice())]) {
        let file = new.join(path);
        if let Some(parent) = file.parent()
            && !folders.iter().any(|known| known == parent)
        {
            fs::create_dir_all(parent).map_err(io("create", parent))?;
            let within = parent.ancestors().take_while(|folder| *folder != new);
            folders.extend(within.map(Path::to_owned));
        }
        durable::write_new(&file, bytes).map_err(io("write", &file))?;
    }
    for folder in &folders {
        durable::sync_folder(folder).map_err(io("sync", folder))?;
    }
    let parent = folder.parent().unwrap_or(store);
    fs::create_dir_all(parent).map_err(io("create", parent))?;
    let renamed = if folder.exists() {
        // One that is damaged, say: both names stay good all the time.
        let here = rustix::fs::CWD;
        renameat_with(here, new, here, folder, RenameFlags::EXCHANGE).map_err(Into::into)
    } else {
        fs::rename(new, folder)
    };
    renamed.map_err(io("write", folder))?;
    durable::forget(new).map_err(io("remove", new))?;
    durable::sync_folder(parent).map_err(io("sync", parent))?;
    durable::sync_folder(store).map_err(io("sync", store))
}

/// The bundle `id` in `folder`, checked against its manifest.
pub(super) fn read(folder: &Path, id: &Id) -> Result<Bundle, StoreError> {
    let damaged = |why: String| StoreError::Damaged { title: id.title(), why };
    let path = folder.join(MANIFEST);
    let text = text_of(&path.to_string_lossy()).map_err(|error| damaged(format!("{error:#}")))?;
    let manifest =
        Manifest::parse(&path.to_string_lossy(), &text).map_err(|fault| damaged(fault.message))?;
    if (&manifest.name, &manifest.version) != (&id.name, &id.version) {
        return Err(damaged(format!("its manifest is that of {}", manifest.title())));
    }
    let mut files = BTreeMap::new();
    for entry in &manifest.files {
        let file = folder.join(&entry.path);
        let mut bytes = Vec::new();
        File::open(&file)
            .and_then(|open| open.take(MAX_FILE + 1).read_to_end(&mut bytes))
            .map_err(|error| damaged(format!("cannot read {}: {error}", file.display())))?;
        if sha256(&bytes) != entry.sha256 {
            return Err(damaged(format!("{} was changed", file.display())));
        }
        files.insert(entry.path.clone(), bytes);
    }
    Ok(Bundle { manifest, files, digest: id.digest.clone() })
}

/// Every bundle that is unpacked in `store`.
pub(super) fn all(store: &Path) -> Vec<Id> {
    let within = |name: String| {
        let folders = names(&store.join(&name)).into_iter();
        folders.map(move |folder| format!("{name}/{folder}")).collect::<Vec<_>>()
    };
    names(store).into_iter().flat_map(within).filter_map(|name| Id::try_from(name).ok()).collect()
}
