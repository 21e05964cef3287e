//! Choosing between polled and interrupt-driven: all monitors that are read, or none.
//!
//! A monitor that has to be polled sets the pace for all, so interrupts of the others would save
//! nothing.

use super::armed::ArmedBlock;
use super::clock::MonotonicClock;
use super::source::LiveMonitor;
use super::wake::WakingClock;
use crate::board::{Board, Level};
use crate::units::Kbps;

/// The monitors, interrupt-driven if all can be, and the clock that they wake; `note` is told why
/// they are not.
pub(super) fn choose(
    board: &Board,
    monitors: Vec<LiveMonitor>,
    note: &mut dyn FnMut(String),
) -> (Vec<LiveMonitor>, WakingClock) {
    let mut events = Vec::new();
    for (monitor, live) in board.monitors.iter().zip(&monitors) {
        let why = match live {
            LiveMonitor::Absent | LiveMonitor::Armed(_) => continue,
            LiveMonitor::Kernel(_) => "the kernel's driver has it",
            LiveMonitor::Polled(driver) => match driver.registers().events(monitor.irq_shared) {
                Ok(file) => {
                    events.push(file);
                    continue;
                }
                Err(why) => why,
            },
        };
        note(format!("polled, not woken by interrupts: monitor {}: {why}", monitor.name));
        return (monitors, WakingClock::default());
    }
    let armed = monitors.into_iter().enumerate().map(|(index, live)| match live {
        LiveMonitor::Polled(driver) => {
            let block = ArmedBlock::new(*driver, lowest(board, index), MonotonicClock);
            LiveMonitor::Armed(Box::new(block))
        }
        other => other,
    });
    (armed.collect(), WakingClock::new(events))
}

/// The lowest level of what a monitor measures.
fn lowest(board: &Board, monitor: usize) -> Kbps {
    let measured = board.domains.iter().filter(|domain| domain.monitor == Some(monitor));
    measured.map(|domain| domain.table.kbps_of(Level::LOWEST)).min().unwrap_or(Kbps(0))
}
