//! What a failed write means: the device is gone, or the machine refuses and may take it later.

use super::root::write_value;
use crate::vote::Applied;
use rustix::io::Errno;
use std::io;
use std::path::Path;

/// The names that people look up. Others are told by their number.
const NAMES: [(Errno, &str); 14] = [
    (Errno::ACCESS, "EACCES"),
    (Errno::AGAIN, "EAGAIN"),
    (Errno::BUSY, "EBUSY"),
    (Errno::INVAL, "EINVAL"),
    (Errno::IO, "EIO"),
    (Errno::NODEV, "ENODEV"),
    (Errno::NOENT, "ENOENT"),
    (Errno::NOMEM, "ENOMEM"),
    (Errno::NOSPC, "ENOSPC"),
    (Errno::NXIO, "ENXIO"),
    (Errno::PERM, "EPERM"),
    (Errno::RANGE, "ERANGE"),
    (Errno::ROFS, "EROFS"),
    (Errno::TIMEDOUT, "ETIMEDOUT"),
];

/// An error with more words than the system's, which keeps its number.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
struct Said {
    errno: Option<Errno>,
    text: String,
}

/// `error`, told as `text`.
pub(super) fn say(error: &io::Error, text: String) -> io::Error {
    io::Error::new(error.kind(), Said { errno: errno_of(error), text })
}

/// The system's number of `error`, also where it was told in other words.
pub(super) fn errno_of(error: &io::Error) -> Option<Errno> {
    Errno::from_io_error(error)
        .or_else(|| error.get_ref().and_then(|inner| inner.downcast_ref::<Said>())?.errno)
}

/// `EBUSY: Device or resource busy (os error 16)`: the name that kernel documents use, and the words.
pub(super) fn named(error: &io::Error) -> String {
    let errno = Errno::from_io_error(error);
    match NAMES.iter().find(|(known, _)| Some(*known) == errno) {
        Some((_, name)) => format!("{name}: {error}"),
        None => error.to_string(),
    }
}

/// Writes `value` into `path`; the error names the errno.
///
/// # Errors
/// As the system says.
pub(super) fn write_named(path: &Path, value: &str) -> io::Result<()> {
    write_value(path, value).map_err(|error| say(&error, named(&error)))
}

/// The answer to a vote that failed at `place` (a file, a path) of the device `what`. `there` says
/// whether the device still is: one that answers ENODEV is gone though its folder may linger.
pub(super) fn answer(error: &io::Error, place: &str, what: &str, there: bool) -> Applied {
    match errno_of(error) {
        Some(Errno::NODEV | Errno::NXIO) => Applied::Gone { what: what.to_owned() },
        _ if !there => Applied::Gone { what: what.to_owned() },
        _ => Applied::Refused { why: format!("{place}: {}", named(error)) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_keeps_its_number_and_its_name_however_it_is_told() {
        let busy = io::Error::from(Errno::BUSY);
        assert_eq!(named(&busy), "EBUSY: Device or resource busy (os error 16)");
        let told = say(&busy, "commit: busy".into());
        assert_eq!((errno_of(&told), told.to_string()), (Some(Errno::BUSY), "commit: busy".into()));
        assert_eq!(errno_of(&io::Error::other("x")), None);
        assert_eq!(named(&io::Error::from_raw_os_error(71)), "Protocol error (os error 71)");
    }

    #[test]
    fn no_device_is_gone_and_everything_else_is_refused_while_the_device_is_there() {
        let of = |errno: Errno, there| answer(&errno.into(), "f", "devfreq noc", there);
        let gone = Applied::Gone { what: "devfreq noc".into() };
        assert_eq!(of(Errno::NODEV, true), gone);
        assert_eq!(of(Errno::BUSY, false), gone);
        let why = "f: EACCES: Permission denied (os error 13)".to_owned();
        assert_eq!(of(Errno::ACCESS, true), Applied::Refused { why });
    }
}
