//! Lints about the script as a whole: what is never used, names, numbers, slots.

use super::codes::Code;
use super::model::Script;
use super::report::Report;
use super::usage::SlotUse;
use super::walk::Walker;
use crate::policy::script::MAX_SLOTS;
use rhai::{ASTNode, Expr, Position, Stmt};
use std::collections::BTreeMap;

/// Spellings of a unit that read as bits.
const BITS: [&str; 4] = ["kbps", "Kbps", "mbps", "Mbps"];

/// Everything that only the whole script tells, after `walker` has walked it.
pub(super) fn check(script: &Script, walker: &mut Walker) {
    unused(script, walker);
    slots(walker);
    numbers(script, &mut walker.report);
    names(script, walker);
}

fn unused(script: &Script, walker: &mut Walker) {
    for tunable in &script.tunables {
        if !walker.usage.has_tunable(&tunable.name) {
            let (line, column) = place_of_tunable(walker.report.text(), &tunable.name);
            let message = format!("nothing reads the tunable `{}`", tunable.name);
            let help = format!("read it as cfg::{}, or remove the line", tunable.name);
            walker.report.add_at(Code::UnusedTunable, line, column, message, help);
        }
    }
    for index in walker.unreached() {
        let Some(function) = script.functions.get(index) else { continue };
        // A decide with a wrong number of arguments is refused anyhow.
        if function.is_anonymous() || ["decide", "init", "on_event"].contains(&&*function.name) {
            continue;
        }
        let message = format!("nothing calls the function `{}`", function.name);
        let help = "remove it, or call it from decide";
        walker.report.add(Code::UnusedFunction, script.place_of(index), message, help);
    }
    let shape = walker.state.clone().unwrap_or_default();
    for (name, at, _) in shape.iter() {
        if !walker.usage.is_read(name) {
            let message = format!("nothing reads `this.{name}`");
            let help = "remove it from init, and where it is set";
            walker.report.add(Code::UnusedStateKey, *at, message, help);
        }
    }
}

fn slots(walker: &mut Walker) {
    // `restart` is for the timers of `elapsed_ms`, `forget` for any slot.
    let owner = |helper: &'static str| if helper == "restart" { "elapsed_ms" } else { helper };
    let mut owners: BTreeMap<String, (&str, Position)> = BTreeMap::new();
    let uses: Vec<(Position, SlotUse)> =
        walker.usage.slots.iter().map(|(at, used)| (*at, used.clone())).collect();
    for (at, SlotUse { slot, helper }) in uses {
        if helper == "forget" {
            continue;
        }
        let helper = owner(helper);
        match owners.get(slot.as_str()) {
            Some((first, _)) if *first == helper => {}
            Some((first, first_at)) => {
                let line = first_at.line().unwrap_or(0);
                let message = format!("the slot \"{slot}\" is used by {first} on line {line}");
                let help = format!("give {helper} a slot of its own");
                walker.report.add(Code::SlotTwoHelpers, at, message, help);
            }
            None => {
                owners.insert(slot.to_string(), (helper, at));
                if owners.len() == MAX_SLOTS + 1 {
                    let message =
                        format!("a domain has at most {MAX_SLOTS} slots, this is one more");
                    walker.report.add(Code::TooManySlots, at, message, "use a slot for less");
                }
            }
        }
    }
}

fn numbers(script: &Script, report: &mut Report) {
    for number in &script.tokens.numbers {
        let message = if number.became_float {
            "this is larger than a whole number can be, and became a number with a point"
        } else {
            "a whole number beyond 2^53 is not exact everywhere"
        };
        let help = "9223372036854775807 is the largest there is, for \"no bound\"";
        report.add(Code::NumberTooLarge, number.at, message, help);
    }
}

fn names(script: &Script, walker: &mut Walker) {
    let report = &mut walker.report;
    for tunable in &script.tunables {
        let (line, column) = place_of_tunable(report.text(), &tunable.name);
        name(report, &tunable.name, line, column);
    }
    for head in &script.tokens.heads {
        at(report, &head.name, head.at);
        for (parameter, place) in &head.parameters {
            at(report, parameter, *place);
        }
    }
    let bodies = script.functions.iter().map(|function| function.body.as_slice());
    for statement in bodies.chain([script.constants.as_slice()]).flatten() {
        statement.walk(&mut Vec::new(), &mut |path| {
            match path.last() {
                Some(ASTNode::Stmt(Stmt::Var(parts, ..))) => {
                    at(report, &parts.0.name, parts.0.pos);
                }
                Some(ASTNode::Stmt(Stmt::For(parts, _))) => {
                    at(report, &parts.0.name, parts.0.pos);
                    if let Some(counter) = &parts.1 {
                        at(report, &counter.name, counter.pos);
                    }
                }
                Some(ASTNode::Expr(Expr::Map(entries, _))) => {
                    for (key, _) in &entries.0 {
                        at(report, &key.name, key.pos);
                    }
                }
                _ => {}
            }
            true
        });
    }
}

fn at(report: &mut Report, text: &str, position: Position) {
    let (line, column) = (position.line().unwrap_or(0), position.position().unwrap_or(1));
    name(report, text, line, column);
}

fn name(report: &mut Report, text: &str, line: usize, column: usize) {
    if let Some(unit) = BITS.iter().find(|unit| text.contains(*unit)) {
        let message = format!("`{unit}` in `{text}` reads as bits per second");
        let help = "bandwidths here are bytes: end the name in _kBps (1000 bytes) or _MiBps (2^20)";
        report.add_at(Code::UnitInName, line, column, message, help);
    }
}

/// Line and column of the name in its `// @param` line.
fn place_of_tunable(text: &str, name: &str) -> (usize, usize) {
    for (index, line) in text.lines().enumerate() {
        let Some((before, after)) = line.split_once("@param") else { continue };
        let rest = after.trim_start();
        let named = rest.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with('='));
        if before.trim() == "//" && named {
            let bytes = line.len() - rest.len();
            let column = line.get(..bytes).unwrap_or("").chars().count() + 1;
            return (index + 1, column);
        }
    }
    (0, 1)
}
