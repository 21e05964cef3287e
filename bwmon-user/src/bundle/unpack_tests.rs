use super::*;
use crate::bundle::testing::{self, bundle};
use crate::bundle::{FileEntry, Manifest, Role};
use flate2::{Compression, GzBuilder};
use proptest::prelude::*;
use std::io::Write;
use tar::{EntryType, Header};

const FILES: [(&str, &str); 3] =
    [("acme.toml", "schema = 1\n"), ("policies/a.rhai", "fn decide(obs) {}"), ("x", "")];

fn packed(bundle: &Bundle) -> Vec<u8> {
    pack::pack(&bundle.manifest, &bundle.files).unwrap()
}

fn gzip(tar: &[u8]) -> Vec<u8> {
    let gzip = GzBuilder::new().mtime(0).operating_system(255);
    let mut out = gzip.write(Vec::new(), Compression::best());
    out.write_all(tar).unwrap();
    out.finish().unwrap()
}

fn fault(packed: &[u8]) -> String {
    let said = unpack("f.bwmon", packed).unwrap_err().to_string();
    assert!(said.contains("f.bwmon") && !said.chars().any(|c| c.is_control() && c != '\n'));
    said
}

/// A member as a hostile writer makes it: its name is not looked at.
fn raw(kind: EntryType, name: &str, bytes: &[u8], change: impl Fn(&mut Header)) -> Vec<u8> {
    let mut header = Header::new_ustar();
    header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(bytes.len() as u64);
    change(&mut header);
    header.set_cksum();
    let mut out = header.as_bytes().to_vec();
    out.extend(bytes);
    out.resize(out.len().div_ceil(512) * 512, 0);
    out
}

fn plain(name: &str, bytes: &[u8]) -> Vec<u8> {
    raw(EntryType::Regular, name, bytes, |_| {})
}

fn archive(members: &[Vec<u8>]) -> Vec<u8> {
    let mut tar: Vec<u8> = members.concat();
    tar.resize(tar.len() + 1024, 0);
    gzip(&tar)
}

/// An archive with the manifest that fits `FILES`, and then `members`.
fn after_manifest(members: &[Vec<u8>]) -> Vec<u8> {
    let text = bundle(&FILES).manifest.text().unwrap();
    let mut all = vec![plain(MANIFEST, text.as_bytes())];
    all.extend_from_slice(members);
    archive(&all)
}

#[test]
fn what_was_packed_is_unpacked_and_the_same_files_give_the_same_bytes() {
    let bundle = bundle(&FILES);
    assert_eq!(unpack("f", &packed(&bundle)).unwrap(), bundle);
    assert_eq!(packed(&bundle), packed(&testing::bundle(&FILES)));
    // The header of gzip: no name, no time, no system.
    assert_eq!(packed(&bundle)[..10], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255]);
    // As this file writes archives by hand, which the other tests do.
    let each = FILES.map(|(name, text)| plain(name, text.as_bytes()));
    assert_eq!(after_manifest(&each), packed(&bundle));
}

#[test]
fn members_that_are_no_plain_files_or_lead_elsewhere_are_refused() {
    let link = |kind, word: &'static str| {
        let member = raw(kind, "acme.toml", b"", |header| {
            header.set_link_name("/etc/shadow").unwrap();
        });
        (member, word)
    };
    for (member, word) in [
        (plain("../../etc/passwd", b"x"), "leads out of the bundle"),
        (plain("/etc/passwd", b"x"), "absolute path"),
        (plain("a/./b", b"x"), "no plain name"),
        (plain("a\u{1b}[31m", b"x"), "no plain name"),
        (plain(&"a".repeat(100), b"x"), "too long"),
        link(EntryType::Symlink, "a symbolic link"),
        link(EntryType::Link, "a hard link"),
        (raw(EntryType::Char, "null", b"", |_| {}), "a device"),
        (raw(EntryType::Block, "sda", b"", |_| {}), "a device"),
        (raw(EntryType::Fifo, "pipe", b"", |_| {}), "a pipe"),
        (raw(EntryType::Directory, "policies", b"", |_| {}), "a folder"),
        (raw(EntryType::GNULongName, "long", b"../x", |_| {}), "an extension"),
        (raw(EntryType::XHeader, "pax", b"20 path=../x\n", |_| {}), "an extension"),
        (raw(EntryType::GNUSparse, "sparse", b"", |_| {}), "an extension"),
        (plain("stranger", b"x"), "stranger is in it, but not in its manifest"),
        (plain(MANIFEST, b"{}"), "manifest.json is in it twice"),
        (plain("acme.toml", b"schema = 2\n"), "not the file of the digest"),
        (plain("acme.toml", b"schema"), "has 6 bytes, its manifest says 11"),
    ] {
        let said = fault(&after_manifest(&[member]));
        assert!(said.contains(word), "{word}: {said}");
    }
}

#[test]
fn files_that_are_missing_doubled_or_in_another_form_are_refused() {
    let [a, b, c] = FILES.map(|(name, text)| plain(name, text.as_bytes()));
    let said = fault(&after_manifest(&[a.clone(), c.clone()]));
    assert!(said.contains("policies/a.rhai is in its manifest, but not in it"), "{said}");
    let said = fault(&after_manifest(&[a.clone(), a.clone(), b.clone(), c.clone()]));
    assert!(said.contains("acme.toml is in it twice"), "{said}");
    let other = |change: fn(&mut Header)| raw(EntryType::Regular, "x", b"", change);
    for third in [
        other(|header| header.set_mode(0o4755)),
        other(|header| header.set_uid(1000)),
        other(|header| header.set_mtime(1)),
    ] {
        let said = fault(&after_manifest(&[a.clone(), b.clone(), third]));
        assert!(said.contains("not as bwmon writes it"), "{said}");
    }
    let said = fault(&after_manifest(&[c.clone(), b.clone(), a.clone()]));
    assert!(said.contains("not as bwmon writes it: other order"), "{said}");
    // Behind the end of the archive, where other programs may look.
    let text = bundle(&FILES).manifest.text().unwrap();
    let mut tar = [plain(MANIFEST, text.as_bytes()), a, b, c, vec![0; 1024]].concat();
    tar.extend(plain("../../etc/passwd", b"x"));
    assert!(fault(&gzip(&tar)).contains("data behind its end"));
}

#[test]
fn what_is_no_bundle_at_all_is_refused() {
    let good = packed(&bundle(&FILES));
    let mut trailing = good.clone();
    trailing.extend(b"more");
    let twice = [good.clone(), good.clone()].concat();
    let cut = &good[..good.len() - 20];
    let first = archive(&[plain("acme.toml", b"schema = 1\n")]);
    let no_text = archive(&[plain(MANIFEST, &[0xff, 0xfe])]);
    let no_json = archive(&[plain(MANIFEST, b"{\"schema\": 1,")]);
    let future = archive(&[plain(MANIFEST, b"{\"schema\": 7}")]);
    for (packed, word) in [
        (&b""[..], "does not begin as gzip"),
        (b"PK\x03\x04", "does not begin as gzip"),
        (b"\x1f\x8b", "damaged or cut off"),
        (&trailing, "4 bytes follow its end"),
        (&twice, "bytes follow its end"),
        (cut, "damaged or cut off"),
        (&gzip(b""), "it is empty"),
        (&gzip(&[7; 512]), "its archive is broken"),
        (&first, "its first file is acme.toml, not manifest.json"),
        (&no_text, "no UTF-8"),
        (&no_json, "manifest.json is broken"),
        (&future, "newer bwmon"),
    ] {
        let said = fault(packed);
        assert!(said.contains(word), "{word}: {said}");
    }
}

#[test]
fn bombs_are_stopped_before_they_go_off() {
    // 200 MiB of zeros in 200 kB.
    let mut out = GzBuilder::new().write(Vec::new(), Compression::best());
    for _ in 0..200 {
        out.write_all(&[0; 1 << 20]).unwrap();
    }
    let bomb = out.finish().unwrap();
    assert!(bomb.len() < 300_000);
    assert!(fault(&bomb).contains("unpacks to more than"), "{}", fault(&bomb));
    assert!(fault(&vec![0x1f; MAX_PACKED as usize + 1]).contains("larger than"));
    // A member that says to be huge, in a small archive.
    let huge = raw(EntryType::Regular, "acme.toml", b"x", |header| header.set_size(u64::MAX >> 1));
    assert!(fault(&after_manifest(&[huge])).contains("acme.toml is larger than 1048576 bytes"));
    // More members than a bundle has.
    let many: Vec<(String, Vec<u8>)> =
        (0..=MAX_FILES).map(|n| (format!("f{n:04}"), Vec::new())).collect();
    let entry = |(path, _): &(String, Vec<u8>)| FileEntry {
        path: path.clone(),
        role: Role::Extra,
        size: 0,
        sha256: sha256(b""),
    };
    let listed = many.iter().take(MAX_FILES).map(entry).collect();
    let manifest = Manifest { files: listed, ..bundle(&[]).manifest };
    let mut members = vec![plain(MANIFEST, manifest.text().unwrap().as_bytes())];
    members.extend(many.iter().map(|(path, _)| plain(path, b"")));
    assert!(fault(&archive(&members)).contains("more than 256 files"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn any_byte_that_is_flipped_is_noticed_or_changes_nothing(at in any::<usize>(), bit in 0..8u8) {
        let bundle = bundle(&FILES);
        let mut packed = packed(&bundle);
        let at = at % packed.len();
        packed[at] ^= 1 << bit;
        if let Ok(read) = unpack("f", &packed) {
            prop_assert_eq!((read.manifest, read.files), (bundle.manifest, bundle.files));
            prop_assert_ne!(read.digest, bundle.digest);
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..2_000), whole in any::<bool>()) {
        // As they are, as an archive, and as the first member of one.
        let _ = unpack("f", &bytes);
        let _ = unpack("f", &gzip(&bytes));
        if whole {
            let _ = unpack("f", &archive(&[plain(MANIFEST, &bytes)]));
        }
    }

    #[test]
    fn any_byte_of_the_archive_itself_that_is_flipped_is_refused(at in any::<usize>(), bit in 0..8u8) {
        // With the checksum of gzip made good again, as one does who means it.
        let bundle = bundle(&FILES);
        let mut tar = pack::tar(&bundle.manifest.text().unwrap(), &bundle.manifest, &bundle.files).unwrap();
        let at = at % tar.len();
        tar[at] ^= 1 << bit;
        if let Ok(read) = unpack("f", &gzip(&tar)) {
            // Only what the manifest says about itself can differ, and then it is another bundle.
            prop_assert_eq!(read.files, bundle.files);
            prop_assert_ne!(read.manifest, bundle.manifest);
        }
    }
}
