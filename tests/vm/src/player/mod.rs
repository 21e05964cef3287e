//! The hardware: the register-level model of the block behind the reserved memory.
//!
//! Runs as a process of its own (`/init player <trace> [loop]`), see `main.rs`.

mod plug;
mod trace;

use crate::registers::SPI;
use crate::{agent, gic, wait};
use anyhow::{Context, Result, bail};
use plug::Plug;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// How finely the hardware's time runs. A window lasts 4 ms.
const STEP: Duration = Duration::from_micros(500);

/// What `main` looks for to become the player.
pub(crate) const WORD: &str = "player";
/// Printed once the hardware can be used.
const READY: &str = "player: ready";

/// Whether interrupts are raised: only while the kernel's driver is there to take them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    Connected,
    Cut,
}

/// Starts the player and waits until it plays. `rounds` is how often the trace is played.
pub(crate) fn start(rounds: u32, wire: Wire) -> Result<agent::Agent> {
    let wire = if wire == Wire::Connected { "irq" } else { "no-irq" };
    let words = [WORD, wire, &rounds.to_string()];
    let mut player = agent::Agent::start("/init", "player", &words)?;
    player.wait_for_line(READY, Duration::from_secs(10))?;
    Ok(player)
}

/// How many interrupts a player that has come to its end has raised.
pub(crate) fn interrupts(player: &agent::Agent) -> Result<u64> {
    let said = player.stdout()?;
    let figures = said.lines().last().context("the player said nothing")?;
    let figures: Value = serde_json::from_str(figures).context("the player's figures")?;
    figures.get("interrupts").and_then(Value::as_u64).context("the player counted no interrupts")
}

/// The player's main: plays `rounds` rounds, then prints its figures as one line of JSON.
pub(crate) fn main(words: &[String]) -> Result<()> {
    let (wire, rounds) = match words {
        [wire, rounds] => (wire.as_str(), rounds.parse::<u32>().context("rounds")?),
        _ => bail!("usage: player irq|no-irq ROUNDS"),
    };
    let line = match wire {
        "irq" => Some(gic::Line::open(SPI)?),
        "no-irq" => None,
        other => bail!("{other:?} is neither irq nor no-irq"),
    };
    let line_is_connected = line.is_some();
    let mut plug = Plug::open(line)?;
    println!("{READY}");
    for round in 0..rounds {
        play(&mut plug, round)?;
    }
    if line_is_connected {
        wait::until("software to answer the last interrupt", Duration::from_secs(5), || {
            plug.pass(Duration::ZERO, 0)?;
            Ok((!plug.asserted()).then_some(()))
        })?;
    }
    let figures = plug.figures();
    println!("{}", json!({ "interrupts": figures.raised, "clears": figures.clears }));
    Ok(())
}

/// Plays the trace once, in real time.
fn play(plug: &mut Plug, round: u32) -> Result<()> {
    for segment in trace::TRACE {
        println!("player: round {round}: {}", segment.name);
        let start = Instant::now();
        let mut before = Duration::ZERO;
        while before < segment.length() {
            std::thread::sleep(STEP);
            let now = start.elapsed();
            plug.pass(now - before, segment.kbps_at((before + now) / 2))?;
            before = now;
        }
    }
    Ok(())
}
