//! A native trace for Perfetto: counters of bandwidth and votes, and an instant where a level changes.
//!
//! Times are CLOCK_MONOTONIC, as in the journal and in the probes, and a clock snapshot says so; so
//! the trace can be joined with one of sched and cpufreq events of the same boot. Message and field
//! numbers are those of Perfetto's public protos (trace_packet, track_descriptor, track_event,
//! counter_descriptor, clock_snapshot).

use super::story::Story;
use super::wire::Message;
use crate::board::Board;
use crate::units::Nanos;

/// Fields, by message.
mod field {
    /// `Trace.packet`
    pub(super) const PACKET: u32 = 1;
    pub(super) mod packet {
        pub(in super::super) const CLOCK_SNAPSHOT: u32 = 6;
        pub(in super::super) const TIMESTAMP: u32 = 8;
        pub(in super::super) const SEQUENCE: u32 = 10;
        pub(in super::super) const TRACK_EVENT: u32 = 11;
        pub(in super::super) const CLOCK: u32 = 58;
        pub(in super::super) const TRACK_DESCRIPTOR: u32 = 60;
    }
    pub(super) mod track {
        pub(in super::super) const UUID: u32 = 1;
        pub(in super::super) const NAME: u32 = 2;
        pub(in super::super) const PARENT: u32 = 5;
        pub(in super::super) const COUNTER: u32 = 8;
    }
    pub(super) mod counter {
        pub(in super::super) const UNIT_NAME: u32 = 6;
    }
    pub(super) mod event {
        pub(in super::super) const KIND: u32 = 9;
        pub(in super::super) const TRACK: u32 = 11;
        pub(in super::super) const CATEGORY: u32 = 22;
        pub(in super::super) const NAME: u32 = 23;
        pub(in super::super) const COUNTER_VALUE: u32 = 30;
    }
    pub(super) mod snapshot {
        pub(in super::super) const CLOCKS: u32 = 1;
        pub(in super::super) const PRIMARY: u32 = 2;
        pub(in super::super) const CLOCK_ID: u32 = 1;
        pub(in super::super) const CLOCK_TIME: u32 = 2;
    }
}

/// `ClockSnapshot.Clock.BuiltinClocks.MONOTONIC`
const MONOTONIC: u64 = 3;
/// `TrackEvent.Type`
const INSTANT: u64 = 3;
const COUNTER: u64 = 4;
/// One writer, one sequence.
const SEQUENCE: u64 = 1;
/// Track numbers: ours is the first, each domain has as many.
const ROOT: u64 = 0x6277_6d6f_6e00;
const PER_DOMAIN: u64 = 8;

/// The counters of a domain, in the order of their tracks.
const COUNTERS: [&str; 3] = ["peak_kBps", "vote_kBps", "others_kBps"];
/// The track of a domain's events, behind its counters.
const EVENTS: u64 = 4;

/// Packets of a journal.
pub struct PerfettoExport<'a> {
    board: &'a Board,
    begun: bool,
    levels: Vec<Option<usize>>,
}

impl<'a> PerfettoExport<'a> {
    /// For journals of `board`.
    pub fn new(board: &'a Board) -> Self {
        Self { board, begun: false, levels: vec![None; board.domains.len()] }
    }

    /// The packets of a tick; before the first the clock and the tracks.
    pub fn tick(&mut self, story: &Story) -> Vec<u8> {
        let now = story.sample.window.end_ns;
        let mut out = Vec::new();
        if !self.begun {
            self.begun = true;
            self.head(now, &mut out);
        }
        for (index, domain) in story.domains.iter().enumerate() {
            let vote = domain.vote_kbps(self.board, index);
            let values = [domain.peak_kbps, vote, story.others_kbps(index)];
            for (number, value) in values.into_iter().enumerate() {
                if let Some(value) = value {
                    packet(&mut out, now, counter(track(index, number as u64), value));
                }
            }
            if let Some(fault) = &domain.fault {
                let name = format!("fault: {fault}");
                packet(&mut out, now, instant(track(index, EVENTS), &name));
            }
            let before = self.levels.get(index).copied().flatten();
            if let Some(level) = domain.decision.level.filter(|level| Some(*level) != before) {
                let answer = domain.answer().unwrap_or("no answer");
                let why = if domain.why.is_empty() { &domain.decision.reason } else { &domain.why };
                let name = format!("level {level}: {why} ({answer})");
                packet(&mut out, now, instant(track(index, EVENTS), &name));
            }
            if let Some(known) = self.levels.get_mut(index) {
                *known = domain.decision.level;
            }
        }
        if let Some(khz) = story.sample.probes.cpu_max_khz {
            packet(&mut out, now, counter(ROOT + 1, khz.0));
        }
        out
    }

    fn head(&self, now: Nanos, out: &mut Vec<u8>) {
        let clock = Message::default()
            .number(field::snapshot::CLOCK_ID, MONOTONIC)
            .number(field::snapshot::CLOCK_TIME, now.0);
        let snapshot = Message::default()
            .message(field::snapshot::CLOCKS, clock)
            .number(field::snapshot::PRIMARY, MONOTONIC);
        packet(out, now, Message::default().message(field::packet::CLOCK_SNAPSHOT, snapshot));
        packet(out, now, descriptor(ROOT, None, "bwmon", None));
        packet(out, now, descriptor(ROOT + 1, Some(ROOT), "cpu_max_kHz", Some("kHz")));
        for (index, domain) in self.board.domains.iter().enumerate() {
            for (number, counter) in COUNTERS.iter().enumerate() {
                let name = format!("{} {counter}", domain.name);
                let uuid = track(index, number as u64);
                packet(out, now, descriptor(uuid, Some(ROOT), &name, Some("kBps")));
            }
            let name = format!("{} levels", domain.name);
            packet(out, now, descriptor(track(index, EVENTS), Some(ROOT), &name, None));
        }
    }
}

fn track(domain: usize, number: u64) -> u64 {
    ROOT + (domain as u64 + 1) * PER_DOMAIN + number
}

/// A track; with a unit it is a counter's.
fn descriptor(uuid: u64, parent: Option<u64>, name: &str, unit: Option<&str>) -> Message {
    let mut track =
        Message::default().number(field::track::UUID, uuid).text(field::track::NAME, name);
    if let Some(parent) = parent {
        track = track.number(field::track::PARENT, parent);
    }
    if let Some(unit) = unit {
        let counter = Message::default().text(field::counter::UNIT_NAME, unit);
        track = track.message(field::track::COUNTER, counter);
    }
    Message::default().message(field::packet::TRACK_DESCRIPTOR, track)
}

fn counter(track: u64, value: u64) -> Message {
    let event = Message::default()
        .number(field::event::KIND, COUNTER)
        .number(field::event::TRACK, track)
        .number(field::event::COUNTER_VALUE, value);
    Message::default().message(field::packet::TRACK_EVENT, event)
}

fn instant(track: u64, name: &str) -> Message {
    let event = Message::default()
        .number(field::event::KIND, INSTANT)
        .number(field::event::TRACK, track)
        .text(field::event::CATEGORY, "bwmon")
        .text(field::event::NAME, name);
    Message::default().message(field::packet::TRACK_EVENT, event)
}

/// Adds a packet with its time to the trace.
fn packet(out: &mut Vec<u8>, now: Nanos, content: Message) {
    let packet = content
        .number(field::packet::TIMESTAMP, now.0)
        .number(field::packet::SEQUENCE, SEQUENCE)
        .number(field::packet::CLOCK, MONOTONIC);
    out.extend(Message::default().message(field::PACKET, packet).into_bytes());
}

#[cfg(test)]
#[path = "perfetto_tests.rs"]
mod tests;
