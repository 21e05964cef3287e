//! The files that a spec names, beside it.

use super::text::text_of;
use crate::spec::Files;
use std::path::{Path, PathBuf};

/// The folder of a spec.
#[derive(Clone, Debug)]
pub struct SpecFolder(PathBuf);

impl SpecFolder {
    /// The folder that the file `spec` is in.
    pub fn of(spec: &Path) -> Self {
        Self(spec.parent().map(Path::to_owned).unwrap_or_default())
    }
}

impl Files for SpecFolder {
    fn read(&mut self, name: &str) -> Result<String, String> {
        let path = self.0.join(name);
        text_of(&path.to_string_lossy()).map_err(|error| format!("{error:#}"))
    }
}
