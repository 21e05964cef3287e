//! Voting: our kernel module has the monitor, and real interconnect votes go through its device.
//! The framework's own summary, the kernel's trace and our probes all tell of the same votes.

use super::recorded::Recording;
use super::rules;
use crate::machine::{self, Snapshot};
use crate::registers::{BASE, BYTES, MONITOR};
use crate::verdict::Figures;
use crate::vote::{self, Lent, Votes, in_force};
use crate::{interconnect, modules, physmem, wait};
use anyhow::{Context, Result, ensure};
use rustix::io::Errno;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(20);
/// The name of the monitor's path in the tree.
const PATH: &str = "ddr";
/// From here on a value is refused.
const LIMIT: u64 = i32::MAX as u64;

/// Runs the scenario.
pub(crate) fn run() -> Result<Figures> {
    let before = Snapshot::take()?;
    let mut figures = Figures::new();
    let recording = Recording::start("voting")?;
    let lent = Lent::take()?;
    ensure!(!machine::driver_is_bound(), "two drivers have the monitor");

    offers_the_block()?;
    figures.insert("levels".into(), json!(every_level()?));
    combine()?;
    figures.insert("bad_lines_refused".into(), json!(bad_lines()?));
    killed_holder()?;
    suspended(&recording)?;
    unbound_with_an_open_file()?;
    unbound_with_a_mapping()?;
    module_in_use()?;

    lent.give_back()?;
    let recorded = recording.finish()?;
    figures.insert("votes_named_as_ours".into(), json!(named(&recorded.records)?));
    for (event, count) in recorded.counts {
        figures.insert(event.into(), json!(count));
    }
    // Unused now, so it can be removed: nothing of it was left behind.
    modules::remove(c"bwmon_vote").context("remove the module")?;
    Snapshot::take()?.must_equal(&before)?;
    Ok(figures)
}

/// Votes that were placed in this process: the probes say so of each.
fn named(records: &[Value]) -> Result<usize> {
    let us = u64::from(std::process::id());
    let ours = |record: &&Value| {
        record.get("event").and_then(Value::as_str) == Some("icc_set_bw")
            && record.pointer("/by/pid").and_then(Value::as_u64) == Some(us)
            && record
                .pointer("/by/comm")
                .and_then(Value::as_str)
                .is_some_and(|comm| !comm.is_empty())
    };
    let named = records.iter().filter(ours).count();
    // Every level twice, on the two nodes of the path.
    ensure!(named >= 4 * 8, "{named} votes are named as ours");
    Ok(named)
}

fn must_be(avg_kbps: u64, peak_kbps: u64, what: &str) -> Result<()> {
    let found = in_force()?;
    ensure!(found == (avg_kbps, peak_kbps), "{what}: {avg_kbps}/{peak_kbps} became {found:?}");
    Ok(())
}

/// The block is a UIO device with its registers and its interrupt, and nobody else's page any more.
fn offers_the_block() -> Result<()> {
    let uio = vote::uio()?;
    let wanted = [
        ("name", "bwmon"),
        ("maps/map0/addr", "0x000000007fe00000"),
        ("maps/map0/size", "0x0000000000001000"),
    ];
    for (attribute, value) in wanted {
        let found = machine::read(&uio.join(attribute))?;
        ensure!(found == value, "{attribute} of the UIO device: {found}");
    }
    machine::interrupts().context("the interrupt is not requested")?;
    let mapped = physmem::Window::map(BASE, BYTES).err();
    ensure!(mapped == Some(Errno::PERM), "the page of a claimed block: {mapped:?}");
    Ok(())
}

/// Each level of the board, up and down, by name and by index.
fn every_level() -> Result<usize> {
    let board = rules::board()?;
    let table = &board.domains.first().context("no domain")?.table;
    let votes = Votes::open()?;
    must_be(0, 0, "before the first vote")?;
    let levels: Vec<u64> = table.kbps().iter().map(|kbps| kbps.0).collect();
    for (path, peak) in
        levels.iter().map(|l| (PATH, l)).chain(levels.iter().rev().map(|l| ("0", l)))
    {
        votes.vote(path, 0, *peak)?;
        must_be(0, *peak, "a level")?;
        let row = votes.row()?;
        ensure!(row == (PATH.to_owned(), [0, *peak, 0, *peak]), "voted {peak}, read {row:?}");
    }
    drop(votes);
    must_be(0, 0, "after the file was closed")?;
    Ok(levels.len())
}

/// Two open files: averages add up, the higher peak wins, and each goes with its own file.
fn combine() -> Result<()> {
    let first = Votes::open()?;
    let second = Votes::open()?;
    first.vote(PATH, 100_000, 3_072_000)?;
    second.vote(PATH, 250_000, 800_000)?;
    must_be(350_000, 3_072_000, "two files")?;
    ensure!(first.row()?.1 == [100_000, 3_072_000, 350_000, 3_072_000], "{:?}", first.row()?);
    ensure!(second.row()?.1 == [250_000, 800_000, 350_000, 3_072_000], "{:?}", second.row()?);
    drop(first);
    must_be(250_000, 800_000, "the higher one was closed")?;
    // A sum that reaches the limit is refused, and the votes before it stay.
    let third = Votes::open()?;
    let most = LIMIT - 1 - 250_000;
    third.vote(PATH, most, 0)?;
    must_be(LIMIT - 1, 800_000, "the largest sum")?;
    let refused = third.write(format!("{PATH} {} 0", most + 1).as_bytes());
    ensure!(refused == Err(Errno::OVERFLOW), "a sum of {LIMIT}: {refused:?}");
    must_be(LIMIT - 1, 800_000, "after a refused sum")?;
    // The refused value is nowhere: with it, no other file could vote any more.
    ensure!(third.row()?.1 == [most, 0, LIMIT - 1, 800_000], "{:?}", third.row()?);
    second.vote(PATH, 250_000, 1_804_000)?;
    must_be(LIMIT - 1, 1_804_000, "another file after a refused sum")
}

/// What is not a vote is refused, and changes nothing.
fn bad_lines() -> Result<usize> {
    let long = format!("{PATH} 0 {:>200}", 1);
    let bad: [(&[u8], Errno); 21] = [
        (b"\n", Errno::INVAL),
        (b"ddr", Errno::INVAL),
        (b"ddr 0", Errno::INVAL),
        (b"ddr 0 1 2", Errno::INVAL),
        (b"ddr 0 1 ", Errno::INVAL),
        (b"ddr  0 1", Errno::INVAL),
        (b" ddr 0 1", Errno::INVAL),
        (b"ddr 0 -1", Errno::INVAL),
        (b"ddr +1 0", Errno::INVAL),
        (b"ddr 0 0x10", Errno::INVAL),
        (b"ddr 0 1k", Errno::INVAL),
        (b"ddr 0 1\nddr 0 2\n", Errno::INVAL),
        (b"ddr 0 1\n\n", Errno::INVAL),
        (b"ddr 0 1\0", Errno::INVAL),
        (long.as_bytes(), Errno::INVAL),
        (b"ddr 0 2147483647", Errno::RANGE),
        (b"ddr 2147483647 0", Errno::RANGE),
        (b"ddr 0 99999999999999999999999", Errno::RANGE),
        (b"l3 0 1", Errno::NOENT),
        (b"1 0 1", Errno::NOENT),
        (b"99999999999 0 1", Errno::RANGE),
    ];
    let votes = Votes::open()?;
    votes.vote(PATH, 7, 1_804_000)?;
    for (line, errno) in &bad {
        let text = String::from_utf8_lossy(line);
        let answer = votes.write(line);
        ensure!(answer == Err(*errno), "{text:?} should be {errno:?}: {answer:?}");
        must_be(7, 1_804_000, &text)?;
    }
    Ok(bad.len())
}

/// A holder that gets no chance to tidy up leaves no vote.
fn killed_holder() -> Result<()> {
    let mut holder = vote::holder(6_220_000)?;
    must_be(0, 6_220_000, "a holder")?;
    holder.signal(Signal::KILL)?;
    holder.wait(PATIENCE)?;
    // The kernel closes the file of a dead process before its parent hears of it, or just after.
    wait::until("the killed holder's vote to go", PATIENCE, || {
        Ok((in_force()? == (0, 0)).then_some(()))
    })
}

/// Suspend takes the votes off and resume puts them back: seen in the trace, since nobody runs
/// in between.
fn suspended(recording: &Recording) -> Result<()> {
    let votes = Votes::open()?;
    votes.vote(PATH, 5, 4_068_000)?;
    let ours = |recording: &Recording| -> Result<Vec<u64>> {
        let lines = recording.truth()?;
        let lines = lines
            .iter()
            .filter(|l| l.event == "icc_set_bw" && l.text("dev").is_ok_and(|d| d == MONITOR));
        lines.map(|line| line.number("peak_bw")).collect()
    };
    let earlier = ours(recording)?.len();
    // As far as the devices, all of their phases, and back at once.
    std::fs::write("/sys/module/suspend/parameters/pm_test_delay", "0").context("pm_test_delay")?;
    std::fs::write("/sys/power/pm_test", "platform").context("pm_test")?;
    let slept = std::fs::write("/sys/power/state", "freeze").context("suspend");
    std::fs::write("/sys/power/pm_test", "none").context("pm_test")?;
    slept?;
    let seen = ours(recording)?.split_off(earlier);
    ensure!(seen == [0, 0, 4_068_000, 4_068_000], "suspend and resume voted {seen:?}");
    must_be(5, 4_068_000, "after resume")?;
    ensure!(votes.row()?.1 == [5, 4_068_000, 5, 4_068_000], "{:?}", votes.row()?);
    Ok(())
}

/// The driver goes while a file is open: the vote goes, the file is of no use any more, and a new
/// binding starts clean.
fn unbound_with_an_open_file() -> Result<()> {
    let votes = Votes::open()?;
    votes.vote(PATH, 0, 5_412_000)?;
    vote::unbind()?;
    ensure!(!interconnect::knows(MONITOR)?, "an unbound device has a path");
    ensure!(!vote::device().exists(), "the vote device is still there");
    let write = votes.write(b"ddr 0 1");
    ensure!(write == Err(Errno::NODEV), "a vote after the unbind: {write:?}");
    let read = votes.text().err().and_then(|error| Errno::from_io_error(&error));
    ensure!(read == Some(Errno::NODEV), "a read after the unbind: {read:?}");
    vote::bind()?;
    must_be(0, 0, "a new binding, the old file still open")?;
    let fresh = Votes::open()?;
    fresh.vote(PATH, 0, 800_000)?;
    let write = votes.write(b"ddr 0 7216000");
    ensure!(write == Err(Errno::NODEV), "the old file votes on the new binding: {write:?}");
    drop(votes);
    must_be(0, 800_000, "the old file was closed")
}

/// The block has one owner at a time, and none once the driver lets go: whoever has it mapped loses it.
fn unbound_with_a_mapping() -> Result<()> {
    let mut toucher = vote::toucher()?;
    let second = std::fs::File::open(vote::uio_node()?).err();
    let second = second.and_then(|error| Errno::from_io_error(&error));
    ensure!(second == Some(Errno::BUSY), "a second owner of the block: {second:?}");
    vote::unbind()?;
    let end = toucher.wait(PATIENCE)?;
    ensure!(end.signal() == Some(7), "the mapping was to be taken away, it ended with {end}");
    vote::bind()?;
    // Nobody has it: it can be had again.
    drop(std::fs::File::open(vote::uio_node()?).context("open the block after that")?);
    Ok(())
}

/// An open file keeps the module in.
fn module_in_use() -> Result<()> {
    let votes = Votes::open()?;
    let refused = modules::remove(c"bwmon_vote");
    ensure!(refused == Err(Errno::AGAIN), "the module was in use: {refused:?}");
    drop(votes);
    ensure!(Path::new("/sys/module/bwmon_vote").exists(), "the module went");
    Ok(())
}
