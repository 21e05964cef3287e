//! The probes' BPF object, and whether it fits this agent.

use super::ProbeError;
use bwmon_common::{ABI_SYMBOL, ABI_VERSION};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _};
use std::borrow::Cow;

/// What build.rs found: the object, or nothing.
static EMBEDDED: &[u8] = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/bwmon-probes"));

/// An object whose ABI version was checked.
#[derive(Clone, Debug)]
pub struct Object(Cow<'static, [u8]>);

impl Object {
    /// The one inside this program. Needs no privilege, so `doctor` can ask.
    ///
    /// # Errors
    /// [`ProbeError::NoObject`] when this program was built without, and as
    /// [`Object::from_bytes`].
    pub fn embedded() -> Result<Object, ProbeError> {
        Self::checked(Cow::Borrowed(EMBEDDED))
    }

    /// One read from elsewhere.
    ///
    /// # Errors
    /// [`ProbeError::NoObject`] for no bytes, [`ProbeError::BadObject`] for foreign ones,
    /// [`ProbeError::AbiMismatch`] for those of another version.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Object, ProbeError> {
        Self::checked(Cow::Owned(bytes))
    }

    fn checked(bytes: Cow<'static, [u8]>) -> Result<Object, ProbeError> {
        if bytes.is_empty() {
            return Err(ProbeError::NoObject);
        }
        let object = abi_version(&bytes).map_err(|why| ProbeError::BadObject { why })?;
        if object != ABI_VERSION {
            return Err(ProbeError::AbiMismatch { object, agent: ABI_VERSION });
        }
        Ok(Object(bytes))
    }

    /// The ELF file.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Reads the version from the object's read-only data, without loading anything.
fn abi_version(bytes: &[u8]) -> Result<u32, String> {
    let file = object::File::parse(bytes).map_err(|e| e.to_string())?;
    let none = || format!("it has no symbol {ABI_SYMBOL}: not bwmon's probes");
    let symbol = file.symbol_by_name(ABI_SYMBOL).ok_or_else(none)?;
    let section = symbol.section_index().ok_or_else(none)?;
    let section = file.section_by_index(section).map_err(|e| e.to_string())?;
    let data = section.data_range(symbol.address(), 4).map_err(|e| e.to_string())?;
    let data: [u8; 4] = data.and_then(|d| d.try_into().ok()).ok_or_else(none)?;
    // The object is built for bpfel.
    Ok(u32::from_le_bytes(data))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_bytes_are_no_object() {
        assert!(matches!(Object::from_bytes(Vec::new()), Err(ProbeError::NoObject)));
    }

    #[test]
    fn foreign_bytes_are_refused() {
        let error = Object::from_bytes(b"\x7fELF, or nearly".to_vec()).unwrap_err();
        assert!(matches!(error, ProbeError::BadObject { .. }), "{error}");
        // A real ELF file that is not ours: this test itself.
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let error = Object::from_bytes(own).unwrap_err();
        assert!(error.to_string().contains(ABI_SYMBOL), "{error}");
    }

    #[test]
    fn another_version_is_named() {
        let Ok(object) = Object::embedded() else {
            assert!(std::env::var("CI").as_deref() != Ok("true"), "no object under CI");
            eprintln!("skipped: no object in this build");
            return;
        };
        let file = object::File::parse(object.bytes()).unwrap();
        let symbol = file.symbol_by_name(ABI_SYMBOL).unwrap();
        let section = file.section_by_index(symbol.section_index().unwrap()).unwrap();
        let at = (section.file_range().unwrap().0 + symbol.address()) as usize;
        let mut bytes = object.bytes().to_vec();
        bytes[at..at + 4].copy_from_slice(&7u32.to_le_bytes());
        let error = Object::from_bytes(bytes).unwrap_err();
        assert!(matches!(error, ProbeError::AbiMismatch { object: 7, agent: ABI_VERSION }));
    }
}
