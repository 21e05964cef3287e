//! Finding tracefs, and reading how an event's record is laid out.

use super::ProbeError;
use super::format::{Format, parse};
use std::io;
use std::path::{Path, PathBuf};

/// Where tracefs is mounted, the newer place first.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// What it takes to look into tracefs.
const CAPABILITY: &str = "CAP_DAC_READ_SEARCH";

/// What reading an event's format came to.
pub(super) enum Described {
    /// The event is there.
    As(Format),
    /// It is not, or not in a shape that is understood: why.
    Not(String),
}

/// The mounted tracefs; mounts it when it is not and this process may.
///
/// # Errors
/// [`ProbeError::Permission`] when it is there but closed, [`ProbeError::NoTracefs`] when it is
/// neither there nor mountable.
pub(super) fn find() -> Result<PathBuf, ProbeError> {
    for place in PLACES {
        match std::fs::read_dir(Path::new(place).join("events")) {
            Ok(_) => return Ok(place.into()),
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
                return Err(closed(&format!("look into {place}")));
            }
            Err(_) => {}
        }
    }
    let [place, _] = PLACES;
    rustix::mount::mount("tracefs", place, "tracefs", rustix::mount::MountFlags::empty(), None)
        .map_err(|e| ProbeError::NoTracefs { why: format!("mounting it at {place}: {e}") })?;
    Ok(place.into())
}

/// Reads `events/<group>/<event>/format`.
///
/// # Errors
/// When the file is there but may not or cannot be read.
pub(super) fn describe(tracefs: &Path, group: &str, event: &str) -> Result<Described, ProbeError> {
    let path = tracefs.join("events").join(group).join(event).join("format");
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(match parse(&text) {
            Ok(format) => Described::As(format),
            Err(e) => Described::Not(e.to_string()),
        }),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            Ok(Described::Not("this kernel has no such event".into()))
        }
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
            Err(closed(&format!("read {}", path.display())))
        }
        Err(source) => Err(ProbeError::Read { path, source }),
    }
}

fn closed(what: &str) -> ProbeError {
    ProbeError::Permission { what: what.to_owned(), capability: CAPABILITY }
}
