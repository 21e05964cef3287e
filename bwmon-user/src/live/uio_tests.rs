//! A UIO device that is a plain file: its pages keep what was written.

use super::*;
use std::os::unix::fs::FileExt;

const PAGE: u64 = 4096;

/// A tree with `uio0` of 1400.pmu, whose registers lie 0x400 into the page.
fn tree() -> (tempfile::TempDir, Root) {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::at(folder.path());
    for (map, addr, offset) in [("map0", 0x1000, 0x400), ("map1", 0x9000, 0)] {
        let dir = root.path("/sys/bus/platform/devices/1400.pmu/uio/uio0/maps").join(map);
        std::fs::create_dir_all(&dir).unwrap();
        for (name, value) in [("addr", addr), ("offset", offset), ("size", PAGE)] {
            std::fs::write(dir.join(name), format!("{value:#018x}\n")).unwrap();
        }
    }
    std::fs::create_dir_all(root.path("/dev")).unwrap();
    let file = std::fs::File::create(root.path("/dev/uio0")).unwrap();
    file.set_len(2 * PAGE).unwrap();
    (folder, root)
}

fn open(root: &Root) -> Uio {
    Uio::open(root, find(root, "1400.pmu").unwrap()).unwrap()
}

#[test]
fn each_region_is_mapped_at_its_offset() {
    let (_folder, root) = tree();
    let uio = open(&root);
    uio.map(0, (0x1400, 0x600)).unwrap().write32(0x2a8, 7);
    uio.map(1, (0x9000, 0x58)).unwrap().write32(0x10, 9);
    let file = std::fs::File::open(root.path("/dev/uio0")).unwrap();
    let word = |at| {
        let mut bytes = [0; 4];
        file.read_exact_at(&mut bytes, at).unwrap();
        u32::from_le_bytes(bytes)
    };
    // The second region starts a page into the file: the offset chooses it.
    assert_eq!((word(0x400 + 0x2a8), word(PAGE + 0x10)), (7, 9));
}

#[test]
fn registers_elsewhere_or_fewer_than_the_board_says_are_not_touched() {
    let (_folder, root) = tree();
    let uio = open(&root);
    let error = |index, region| format!("{:#}", uio.map(index, region).unwrap_err());
    assert!(error(0, (0x1300, 0x600)).contains("maps registers at 0x1400, the board has them at"));
    assert!(error(0, (0x1400, 0x1000)).contains("too few for the block"));
    assert!(error(2, (0x1400, 0x600)).contains("offers no such region"));
}

#[test]
fn a_device_that_a_driver_let_go_of_is_no_longer_alive() {
    let (_folder, root) = tree();
    let uio = open(&root);
    assert!(uio.alive());
    std::fs::remove_dir_all(root.path("/sys/bus/platform/devices/1400.pmu/uio/uio0")).unwrap();
    assert!(!uio.alive());
    assert_eq!(find(&root, "1400.pmu"), None);
}
