//! Votes through the interconnect test client of kernels that were built with it
//! (drivers/interconnect/debugfs-client.c).
//!
//! It has one current path for the whole machine, votes outlive the process, a `commit` without a
//! `get` succeeds and does nothing, and a failed `get` poisons the next commits. So source,
//! destination and `get` are written before every commit, every vote is looked up in
//! `interconnect_summary`, and zero is committed at the start and at the end.

use super::icc_summary;
use super::restore::{Item, RestoreFile};
use super::root::{Root, read_line, read_text, write_value};
use super::voter::Voter;
use crate::board::{IccPath, Level, OppTable};
use crate::units::Kbps;
use crate::vote::Applied;
use anyhow::bail;
use std::io;
use std::path::{Path, PathBuf};

const INTERCONNECT: &str = "/sys/kernel/debug/interconnect";
/// The code makes the first, the document in the tree names the second.
const SPELLINGS: [&str; 2] = ["test_client", "test-client"];
/// How `interconnect_summary` calls it.
const CONSUMER: &str = "icc-debugfs-client";
/// EPROBE_DEFER, which the kernel lets through to us.
const PROBE_DEFER: i32 = 517;

/// The test client's folder, under either spelling.
pub(super) fn find(root: &Root) -> Option<PathBuf> {
    SPELLINGS.iter().map(|name| root.path(INTERCONNECT).join(name)).find(|dir| dir.is_dir())
}

/// The paths of one domain, one per column of its table.
#[derive(Debug)]
pub(super) struct IccVoter {
    root: Root,
    dir: PathBuf,
    paths: Vec<IccPath>,
    table: OppTable,
    written: Option<Level>,
}

impl IccVoter {
    /// Looks whether the client is there; changes nothing.
    pub(super) fn open(root: &Root, paths: &[IccPath], table: &OppTable) -> anyhow::Result<Self> {
        let Some(dir) = find(root) else {
            bail!(
                "this kernel has no interconnect test client (no {INTERCONNECT}/test_client): it is \
                 built only with INTERCONNECT_ALLOW_WRITE_DEBUGFS, and debugfs has to be mounted"
            );
        };
        if !root.path(INTERCONNECT).join("interconnect_summary").exists() {
            bail!("there is no interconnect_summary, so no vote could be read back");
        }
        let (root, paths, table) = (root.clone(), paths.to_vec(), table.clone());
        Ok(Self { root, dir, paths, table, written: None })
    }

    fn commit(&self, path: &IccPath, peak: Kbps) -> Result<(), Applied> {
        commit(&self.dir, path, peak).map_err(|error| {
            if self.dir.exists() {
                Applied::Refused { why: format!("interconnect {}-{}: {error}", path.src, path.dst) }
            } else {
                Applied::Gone { what: "the interconnect test client".to_owned() }
            }
        })
    }

    /// Our peak vote at `node`, as the kernel says; `None` where there is none.
    fn found(&self, node: &str) -> Option<Kbps> {
        let text = read_text(&self.root.path(INTERCONNECT).join("interconnect_summary")).ok()?;
        let votes = icc_summary::parse(&text).into_iter();
        votes
            .filter(|vote| vote.node == node && vote.consumer == CONSUMER)
            .map(|v| v.peak_kbps)
            .max()
    }

    /// The peaks of `level`, one per path.
    fn peaks(&self, level: Level) -> impl Iterator<Item = (&IccPath, Kbps)> {
        self.paths.iter().zip(self.table.row(level).iter().copied())
    }
}

impl Voter for IccVoter {
    fn name(&self) -> String {
        format!("interconnect {} (test client, a floor)", self.object_names())
    }

    fn object(&self) -> String {
        format!("interconnect {}", self.object_names())
    }

    fn level_in_force(&self) -> Option<Level> {
        None
    }

    fn take_over(&mut self, restore: &mut RestoreFile) -> anyhow::Result<()> {
        for path in &self.paths {
            restore.note(Item::Icc {
                src: path.src.clone(),
                dst: path.dst.clone(),
                tag: path.tag,
            })?;
            // What an agent that was killed left behind, and a look whether the path is there.
            if let Err(error) = commit(&self.dir, path, Kbps(0)) {
                bail!("interconnect {}-{}: {error}", path.src, path.dst);
            }
        }
        Ok(())
    }

    fn vote(&mut self, level: Level) -> Applied {
        let level = level.min(self.table.top());
        for (path, peak) in self.peaks(level) {
            if let Err(answer) = self.commit(path, peak) {
                return answer;
            }
        }
        self.written = Some(level);
        for (path, peak) in self.peaks(level) {
            match self.found(&path.dst) {
                Some(found) if found == peak => {}
                Some(found) => return Applied::Clamped { found: found.0 },
                None => {
                    return Applied::Refused {
                        why: format!(
                            "interconnect {}-{}: the commit was accepted and no vote of \
                             {CONSUMER} is in force at {}",
                            path.src, path.dst, path.dst
                        ),
                    };
                }
            }
        }
        Applied::Placed
    }

    fn look(&self) -> Applied {
        if !self.dir.exists() {
            return Applied::Gone { what: "the interconnect test client".to_owned() };
        }
        let Some(level) = self.written else { return Applied::InForce };
        for (path, peak) in self.peaks(level) {
            let found = self.found(&path.dst);
            if found != Some(peak) {
                let now = found.map_or("nothing".to_owned(), |kbps| format!("{kbps} kBps"));
                return Applied::Foreign {
                    what: format!(
                        "interconnect {}-{}: the test client's vote is now {now}, we voted {peak} \
                         kBps",
                        path.src, path.dst
                    ),
                };
            }
        }
        Applied::InForce
    }
}

impl IccVoter {
    fn object_names(&self) -> String {
        let names: Vec<String> =
            self.paths.iter().map(|path| format!("{}-{}", path.src, path.dst)).collect();
        names.join(" ")
    }
}

/// One vote: `get` before `commit`, tag first. Average 0: an interconnect sums averages.
fn commit(dir: &Path, path: &IccPath, peak: Kbps) -> io::Result<()> {
    if u32::try_from(peak.0).is_ok_and(|peak| peak < u32::MAX / 2) {
        let write = |name: &str, value: &str| {
            write_value(&dir.join(name), value).map_err(|error| said(name, &error))
        };
        write("src_node", &path.src)?;
        write("dst_node", &path.dst)?;
        write("get", "1")?;
        // Another program may have written between: then the commit would go to its path.
        for (name, ours) in [("src_node", &path.src), ("dst_node", &path.dst)] {
            let now = read_line(&dir.join(name))?;
            if now != *ours {
                let text = format!("another program uses the test client ({name} is {now})");
                return Err(io::Error::other(text));
            }
        }
        write("tag", &path.tag.to_string())?;
        write("avg_bw", "0")?;
        write("peak_bw", &peak.0.to_string())?;
        return write("commit", "1");
    }
    // A saturated vote holds the whole machine awake (meta-qcom#2571).
    Err(io::Error::other(format!("{peak} kBps is no vote that is ever placed")))
}

fn said(name: &str, error: &io::Error) -> io::Error {
    let why = match (name, error.raw_os_error()) {
        ("get", Some(PROBE_DEFER)) => "there is no such path between two known nodes".to_owned(),
        ("commit", Some(PROBE_DEFER)) => {
            "the test client's current path is broken since a failed get".to_owned()
        }
        // Before 6.19 (8cc27f5c6dd1) `get` says so for names that were never written.
        ("get", Some(12)) => "the kernel did not take the names of the nodes".to_owned(),
        _ => error.to_string(),
    };
    io::Error::new(error.kind(), format!("{name}: {why}"))
}

/// Takes our vote away.
pub(super) fn put_back(root: &Root, src: &str, dst: &str, tag: u32) -> io::Result<String> {
    let Some(dir) = find(root) else { return Ok("it is gone: nothing to put back".into()) };
    let path = IccPath { src: src.to_owned(), dst: dst.to_owned(), tag };
    commit(&dir, &path, Kbps(0))?;
    Ok("our vote is taken away".into())
}
