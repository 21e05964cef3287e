//! Expectations that are judged by what the monitor reads: how fast the level follows a demand.
//!
//! A demand rises where a reading needs a higher level than the one before it, or where a step
//! begins with a larger one; it falls likewise. What the demand does not last long enough to show
//! is not judged.

use super::history::Seen;
use super::judge::{Miss, View};
use super::value::LevelName;
use crate::board::Level;

/// Whether what is judged occurred, and the first miss.
type Judged = (bool, Option<Miss>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Rise,
    Fall,
}

/// A demand that rises or falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Event {
    /// When it does.
    at_ms: u64,
    /// The tick that reads it first.
    tick: usize,
    /// The first tick that reads otherwise; the number of ticks if none does.
    until: usize,
    need: Level,
}

impl View<'_> {
    /// The events of the whole run, in time.
    fn events(&self, turn: Turn) -> Vec<Event> {
        let (mut events, mut open): (Vec<Event>, Vec<usize>) = (Vec::new(), Vec::new());
        let mut before: Option<&Seen> = None;
        let mut begun_ms = None;
        for (tick, seen) in self.seen.iter().enumerate() {
            if self.history.begins.get(tick).is_some_and(|begins| *begins) {
                begun_ms = Some(self.history.start_ms(tick));
            }
            let Some(need) = seen.need(self.table) else { continue };
            if let Some(before) = before
                && let Some(turned) = turned(before, seen, self, begun_ms.is_some())
            {
                let back = |of: Level| match turn {
                    Turn::Rise => need < of || (need == of && turned != turn),
                    Turn::Fall => need > of || (need == of && turned != turn),
                };
                open.retain(|index| match events.get_mut(*index) {
                    Some(event) if back(event.need) => {
                        event.until = tick;
                        false
                    }
                    _ => true,
                });
                if turned == turn {
                    let at_ms = begun_ms.unwrap_or(self.history.start_ms(tick));
                    open.push(events.len());
                    events.push(Event { at_ms, tick, until: self.seen.len(), need });
                }
            }
            begun_ms = None;
            before = Some(seen);
        }
        events
    }

    /// Those that begin in the span.
    fn events_in_span(&self, turn: Turn) -> Vec<Event> {
        let mut events = self.events(turn);
        events.retain(|event| self.ticks.contains(&event.tick));
        events
    }

    /// When the level is first as wanted while the demand of `event` lasts.
    fn reached(&self, event: &Event, good: impl Fn(Level) -> bool) -> Option<u64> {
        let ticks = self.seen.iter().enumerate().skip(event.tick).take(event.until - event.tick);
        let found = ticks.into_iter().find(|(_, seen)| good(seen.level));
        found.map(|(tick, _)| self.history.end_ms(tick))
    }

    /// One event: `None` if the demand did not last until the deadline, else whether it was met.
    fn follow(
        &self,
        event: &Event,
        turn: Turn,
        ms: u64,
        to: Option<LevelName>,
    ) -> Option<Option<Miss>> {
        let target = to.and_then(|name| name.of(self.table)).unwrap_or(event.need);
        let deadline = event.at_ms + ms;
        let reached = self.reached(event, |level| match turn {
            Turn::Rise => level >= target,
            Turn::Fall => level <= target,
        });
        // The demand ended before the time was over: nothing can be said.
        let lasted = self.history.start_ms(event.until);
        if lasted < deadline {
            return None;
        }
        if reached.is_some_and(|at| at <= deadline) {
            return Some(None);
        }
        let demand = self.seen.get(event.tick).map_or_else(String::new, Seen::demand);
        let (verb, bound) = match turn {
            Turn::Rise => ("rises", " or more"),
            Turn::Fall => ("falls", " or less"),
        };
        let expected = format!(
            "demand {verb} at {} ms to {demand}; {}{bound} was to be in force by {deadline} ms",
            event.at_ms,
            self.level(target),
        );
        let seen = match reached {
            Some(at) => format!("it was at {at} ms"),
            None => format!("it was not by {lasted} ms, where that demand ends"),
        };
        Some(Some(self.miss(deadline, expected, seen)))
    }

    fn follow_all(&self, turn: Turn, ms: u64, to: Option<LevelName>) -> Judged {
        let events = self.events_in_span(turn);
        let mut judged =
            events.iter().filter_map(|event| self.follow(event, turn, ms, to)).peekable();
        (judged.peek().is_some(), judged.find_map(|miss| miss))
    }
}

/// How the demand turned between two readings; `begun` if a step began in between.
fn turned(before: &Seen, now: &Seen, view: &View<'_>, begun: bool) -> Option<Turn> {
    let (was, is) = (before.need(view.table)?, now.need(view.table)?);
    match is.cmp(&was) {
        std::cmp::Ordering::Greater => Some(Turn::Rise),
        std::cmp::Ordering::Less => Some(Turn::Fall),
        std::cmp::Ordering::Equal if begun && now.reading > before.reading => Some(Turn::Rise),
        std::cmp::Ordering::Equal if begun && now.reading < before.reading => Some(Turn::Fall),
        std::cmp::Ordering::Equal => None,
    }
}

pub(super) fn rise(view: &View<'_>, ms: u64, to: Option<LevelName>) -> Judged {
    view.follow_all(Turn::Rise, ms, to)
}

pub(super) fn fall(view: &View<'_>, ms: u64, to: Option<LevelName>) -> Judged {
    view.follow_all(Turn::Fall, ms, to)
}

/// A fall right after another is part of it: the level may answer the first.
pub(super) fn stay(view: &View<'_>, ms: u64) -> Judged {
    let events = view.events(Turn::Fall);
    let mut previous: Option<u64> = None;
    let mut judged = false;
    for event in events {
        let alone = previous.is_none_or(|at| event.at_ms >= at + ms);
        previous = Some(event.at_ms);
        let before = event.tick.checked_sub(1).and_then(|tick| view.seen.get(tick));
        let Some(before) = before.filter(|seen| seen.level > Level::LOWEST) else { continue };
        if !alone || !view.ticks.contains(&event.tick) {
            continue;
        }
        judged = true;
        let end = event.at_ms + ms;
        let ticks = view.seen.iter().enumerate().skip(event.tick).take(event.until - event.tick);
        let early = ticks
            .take_while(|(tick, _)| view.history.end_ms(*tick) < end)
            .find(|(_, seen)| seen.level < before.level);
        if let Some((tick, seen)) = early {
            let demand = view.seen.get(event.tick).map_or_else(String::new, Seen::demand);
            let at_ms = view.history.end_ms(tick);
            let expected = format!(
                "demand falls at {} ms to {demand}; {} was to stay in force until {end} ms",
                event.at_ms,
                view.level(before.level),
            );
            let seen = format!("{} was at {at_ms} ms", view.level(seen.level));
            return (true, Some(view.miss(at_ms, expected, seen)));
        }
    }
    (judged, None)
}

pub(super) fn never_below(view: &View<'_>, grace_ms: u64) -> Judged {
    let (mut judged, mut below) = (false, 0);
    for (tick, seen) in view.span() {
        let Some(need) = seen.need(view.table) else { continue };
        judged = true;
        below = if seen.level < need { below + 1 } else { 0 };
        let below_ms = below * view.history.period_ms;
        if below_ms <= grace_ms {
            continue;
        }
        let at_ms = view.history.end_ms(tick);
        let expected = format!(
            "at {at_ms} ms the demand is {}, which {} carries",
            seen.demand(),
            view.level(need)
        );
        let mut was = format!("{} was in force", view.level(seen.level));
        if grace_ms > 0 {
            was += &format!(", below the demand for {below_ms} ms ({grace_ms} are allowed)");
        }
        return (true, Some(view.miss(at_ms, expected, was)));
    }
    (judged, None)
}

pub(super) fn idle(view: &View<'_>, ms: u64) -> Judged {
    let (mut judged, mut since) = (false, None);
    for (tick, seen) in view.span() {
        match seen.need(view.table) {
            Some(Level::LOWEST) => {
                since.get_or_insert(view.history.start_ms(tick));
            }
            Some(_) => since = None,
            None => {}
        }
        let Some(since) = since else { continue };
        let at_ms = view.history.end_ms(tick);
        if at_ms < since + ms {
            continue;
        }
        judged = true;
        if seen.level > Level::LOWEST {
            let expected = format!(
                "no demand above the lowest level from {since} ms on; {} was to be in force from \
                 {} ms on",
                view.level(Level::LOWEST),
                since + ms
            );
            let was = format!("at {at_ms} ms it was {}", view.level(seen.level));
            return (true, Some(view.miss(at_ms, expected, was)));
        }
    }
    (judged, None)
}
