//! The archive format of an initramfs: cpio "newc", written by hand because it is this little.

use std::io::{Result, Write};

const REGULAR: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;
const DEVICE: u32 = 0o020_000;

/// Writes one archive.
pub(crate) struct Writer<W> {
    out: W,
    entries: u32,
}

impl<W: Write> Writer<W> {
    /// An archive that goes to `out`.
    pub(crate) fn new(out: W) -> Self {
        Self { out, entries: 0 }
    }

    /// A folder; parents first.
    pub(crate) fn folder(&mut self, name: &str) -> Result<()> {
        self.entry(name, FOLDER | 0o755, (0, 0), &[])
    }

    /// A file with these permission bits.
    pub(crate) fn file(&mut self, name: &str, mode: u32, content: &[u8]) -> Result<()> {
        self.entry(name, REGULAR | mode, (0, 0), content)
    }

    /// A character device.
    pub(crate) fn device(&mut self, name: &str, major: u32, minor: u32) -> Result<()> {
        self.entry(name, DEVICE | 0o600, (major, minor), &[])
    }

    /// Writes the end mark and hands the output back.
    pub(crate) fn finish(mut self) -> Result<W> {
        self.entry("TRAILER!!!", 0, (0, 0), &[])?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn entry(&mut self, name: &str, mode: u32, device: (u32, u32), content: &[u8]) -> Result<()> {
        self.entries += 1;
        let too_long = |_| std::io::Error::other(format!("{name} does not fit into cpio"));
        let size = u32::try_from(content.len()).map_err(too_long)?;
        let name_size = u32::try_from(name.len() + 1).map_err(too_long)?;
        let (major, minor) = device;
        // inode, mode, uid, gid, links, mtime, size, device of the file system (2), of the node
        // (2), length of the name with its NUL, checksum (unused).
        let fields = [self.entries, mode, 0, 0, 1, 0, size, 0, 0, major, minor, name_size, 0];
        let mut header = String::from("070701");
        for field in fields {
            header.push_str(&format!("{field:08X}"));
        }
        self.out.write_all(header.as_bytes())?;
        self.out.write_all(name.as_bytes())?;
        self.out.write_all(&[0])?;
        self.pad(header.len() + name.len() + 1)?;
        self.out.write_all(content)?;
        self.pad(content.len())
    }

    /// Headers and contents each start at a multiple of four.
    fn pad(&mut self, written: usize) -> Result<()> {
        let missing = written.next_multiple_of(4) - written;
        self.out.write_all([0; 3].get(..missing).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::Writer;

    #[test]
    fn every_part_starts_at_a_multiple_of_four() {
        let mut writer = Writer::new(Vec::new());
        writer.file("a", 0o644, b"12345").unwrap();
        writer.folder("dir").unwrap();
        let bytes = writer.finish().unwrap();
        assert_eq!(bytes.len() % 4, 0);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let starts: Vec<usize> = text.match_indices("070701").map(|(at, _)| at).collect();
        assert_eq!(starts.len(), 3);
        assert!(starts.iter().all(|at| at % 4 == 0), "{starts:?}");
        assert!(text.starts_with("07070100000001000081A4"), "{text}");
        assert_eq!(text.find("12345"), Some(112));
    }
}
