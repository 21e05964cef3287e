//! Votes through the interconnect test client of kernels that were built with it
//! (drivers/interconnect/debugfs-client.c).
//!
//! It has one current path for the whole machine, votes outlive the process, a `commit` without a
//! `get` succeeds and does nothing, and a failed `get` poisons the next commits. So source,
//! destination and `get` are written before every commit, every vote is looked up in
//! `interconnect_summary`, and zero is committed at the start and at the end.

use super::icc_summary;
use super::refusal;
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
    written: Option<Written>,
}

/// A vote, and what of ours was found at each path's end right after it.
#[derive(Clone, Debug)]
struct Written {
    level: Level,
    found: Vec<Kbps>,
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
            let (place, there) = (object(path), self.dir.exists());
            let what = if there { &place } else { "the interconnect test client" };
            refusal::answer(&error, &place, what, there)
        })
    }

    /// Votes the peaks in force on the first `count` paths again.
    fn undo(&mut self, count: usize) {
        let Some(written) = &self.written else { return };
        let undone = self
            .peaks(written.level)
            .take(count)
            .all(|(path, peak)| self.commit(path, peak).is_ok());
        if !undone {
            // Neither the old level nor the new one: no look may take it for somebody else's.
            self.written = None;
        }
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

    /// The first vote that was found to be another than ours.
    fn came_to(&self, written: &Written) -> Option<Applied> {
        let mut votes = self.peaks(written.level).zip(&written.found);
        let (_, found) = votes.find(|((_, peak), found)| peak != *found)?;
        Some(Applied::Clamped { found: found.0 })
    }

    /// The peaks of `level`, one per path.
    fn peaks(&self, level: Level) -> impl Iterator<Item = (&IccPath, Kbps)> {
        self.paths.iter().zip(self.table.row(level).iter().copied())
    }
}

impl Voter for IccVoter {
    fn name(&self) -> String {
        format!("{} (test client, a floor)", self.object())
    }

    fn object(&self) -> String {
        self.objects().join(", ")
    }

    fn objects(&self) -> Vec<String> {
        self.paths.iter().map(object).collect()
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
                bail!("{}: {error}", object(path));
            }
        }
        Ok(())
    }

    fn vote(&mut self, level: Level) -> Applied {
        let level = level.min(self.table.top());
        let failure = self.peaks(level).enumerate().find_map(|(done, (path, peak))| {
            self.commit(path, peak).err().map(|answer| (done, answer))
        });
        if let Some((done, answer)) = failure {
            self.undo(done);
            return answer;
        }
        let mut found = Vec::new();
        for path in &self.paths {
            let Some(kbps) = self.found(&path.dst) else {
                // Nothing of ours is in force, and that is nobody else's doing.
                self.written = None;
                return Applied::Refused {
                    why: format!(
                        "{}: the commit was accepted and no vote of {CONSUMER} is in force at {}",
                        object(path),
                        path.dst
                    ),
                };
            };
            found.push(kbps);
        }
        let written = Written { level, found };
        let answer = self.came_to(&written).unwrap_or(Applied::Placed);
        self.written = Some(written);
        answer
    }

    fn look(&mut self) -> Applied {
        if !self.dir.exists() {
            return Applied::Gone { what: "the interconnect test client".to_owned() };
        }
        let Some(written) = &self.written else { return Applied::InForce };
        for ((path, peak), before) in self.peaks(written.level).zip(&written.found) {
            let found = self.found(&path.dst);
            if found != Some(*before) {
                let now = found.map_or("nothing".to_owned(), |kbps| format!("{kbps} kBps"));
                let object = object(path);
                return Applied::Foreign {
                    what: format!(
                        "{object}: the test client's vote is now {now}, we voted {peak} kBps"
                    ),
                };
            }
        }
        self.came_to(written).unwrap_or(Applied::InForce)
    }

    fn is_lost(&self) -> bool {
        self.paths.iter().all(|path| self.found(&path.dst).is_none())
    }
}

/// The object of one path, as in the restore file.
fn object(path: &IccPath) -> String {
    format!("interconnect {}-{}", path.src, path.dst)
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
        _ => refusal::named(error),
    };
    refusal::say(error, format!("{name}: {why}"))
}

/// Takes our vote away.
pub(super) fn put_back(root: &Root, src: &str, dst: &str, tag: u32) -> io::Result<String> {
    let Some(dir) = find(root) else { return Ok("it is gone: nothing to put back".into()) };
    let path = IccPath { src: src.to_owned(), dst: dst.to_owned(), tag };
    commit(&dir, &path, Kbps(0))?;
    Ok("our vote is taken away".into())
}
