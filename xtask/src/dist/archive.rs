//! The same bytes from the same files: tar, gzip and ar without anything of the machine in them.

use super::payload::Payload;
use anyhow::{Context, Result, bail};
use flate2::{Compression, GzBuilder};
use std::io::Write;
use tar::{Builder, EntryType, Header};

/// A tar archive of `payload`, its paths behind `prefix`, made at `epoch` (seconds).
///
/// # Errors
/// When a path does not fit into the format.
pub(crate) fn tar(payload: &Payload, prefix: &str, epoch: u64) -> Result<Vec<u8>> {
    let mut archive = Builder::new(Vec::new());
    add(&mut archive, prefix, EntryType::Directory, 0o755, epoch, &[])?;
    for folder in payload.folders() {
        let path = format!("{prefix}{folder}/");
        add(&mut archive, &path, EntryType::Directory, 0o755, epoch, &[])?;
    }
    for (path, item) in payload.files() {
        let path = format!("{prefix}{path}");
        add(&mut archive, &path, EntryType::Regular, item.mode, epoch, &item.content)?;
    }
    archive.into_inner().context("the archive cannot be ended")
}

fn add(
    archive: &mut Builder<Vec<u8>>,
    path: &str,
    kind: EntryType,
    mode: u32,
    epoch: u64,
    content: &[u8],
) -> Result<()> {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_mtime(epoch);
    header.set_uid(0);
    header.set_gid(0);
    header.set_username("root")?;
    header.set_groupname("root")?;
    header.set_size(content.len() as u64);
    // `append_data` would drop the "./" that dpkg's own archives have.
    let gnu = header.as_gnu_mut().context("a GNU header is one")?;
    let name = path.as_bytes();
    match gnu.name.get_mut(..name.len()) {
        Some(place) => place.copy_from_slice(name),
        None => bail!("{path} is longer than 100 bytes"),
    }
    header.set_cksum();
    archive.append(&header, content).with_context(|| format!("add {path}"))
}

/// Compressed, without a name and a time.
///
/// # Errors
/// None that memory does not give.
pub(crate) fn gzip(content: &[u8]) -> Result<Vec<u8>> {
    let mut out = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    out.write_all(content)?;
    Ok(out.finish()?)
}

/// An ar archive, as `ar(5)` has it: a Debian package is one.
pub(crate) fn ar(members: &[(&str, &[u8])], epoch: u64) -> Vec<u8> {
    let mut out = b"!<arch>\n".to_vec();
    for (name, content) in members {
        let size = content.len();
        out.extend(
            format!("{name:<16}{epoch:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 100_644).bytes(),
        );
        out.extend(*content);
        if size % 2 == 1 {
            out.push(b'\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ar_member_begins_at_an_even_place_behind_a_head_of_60_bytes() {
        let bytes = ar(&[("debian-binary", b"2.0\n"), ("odd", b"123"), ("next", b"")], 7);
        // 8 bytes of magic; heads of 60; 4 and 3 + 1 bytes of content.
        assert_eq!(bytes.len(), 8 + 60 + 4 + 60 + 4 + 60);
        assert_eq!(&bytes[8..24], b"debian-binary   ");
        assert_eq!(&bytes[8 + 58..8 + 64], b"`\n2.0\n");
    }

    #[test]
    fn an_archive_holds_what_it_was_given_and_nothing_of_the_machine() {
        let mut payload = Payload::default();
        payload.program("usr/bin/a", "code");
        let bytes = tar(&payload, "./", 1_700_000_000).unwrap();
        assert_eq!(bytes, tar(&payload, "./", 1_700_000_000).unwrap());
        let mut archive = tar::Archive::new(bytes.as_slice());
        let mut seen = Vec::new();
        for entry in archive.entries().unwrap() {
            let entry = entry.unwrap();
            let header = entry.header();
            assert_eq!((header.uid().unwrap(), header.mtime().unwrap()), (0, 1_700_000_000));
            seen.push(String::from_utf8(entry.path_bytes().to_vec()).unwrap());
        }
        assert_eq!(seen, ["./", "./usr/", "./usr/bin/", "./usr/bin/a"]);
        payload.file("x".repeat(120), "");
        assert!(tar(&payload, "./", 0).is_err());
    }

    #[test]
    fn gzip_knows_no_time() {
        // RFC 1952: bytes 4 to 7 are the time.
        assert_eq!(gzip(b"text").unwrap()[4..8], [0, 0, 0, 0]);
    }
}
