//! `bwmon top`.

use super::Answer;
use super::control::SocketArgs;
use super::output::{is_terminal, line, say};
use crate::agent::stop_on_signals;
use crate::control::Ask;
use crate::live::control_client::ClientError;
use crate::screen::{View, draw, frame_text};
use crate::status::Status;
use anyhow::Context;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyModifiers};
use ratatui::crossterm::terminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::time::Duration;

/// Arguments of `bwmon top`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n\
\x20 bwmon top               q, Esc or Ctrl-C quits\n\
\x20 ssh board bwmon top --once --columns 120\n\
\n\
Per domain: the level of the highest, its kBps, the busiest window, the mean, the highest vote of\n\
others; then the policy's wish and reason, what the guard rails made of it (->), and the machine's\n\
answer; then the last half minute: bars are measured, the line is the level, the top edge is the\n\
highest level. What is not known is - or a dot. It only looks: `bwmon pause` and the like change\n\
something.")]
pub(super) struct Args {
    /// Time between two pictures
    #[arg(long, value_name = "MS", default_value_t = 500,
        value_parser = clap::value_parser!(u64).range(50..=60_000))]
    every_ms: u64,
    /// Print one picture as text; also where stdout is no terminal
    #[arg(long)]
    once: bool,
    /// Width of that picture [default: the terminal's, else 80]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(60..=400))]
    columns: Option<u16>,
    /// Plain characters only
    #[arg(long)]
    ascii: bool,
    /// No colour, as with NO_COLOR in the environment
    #[arg(long)]
    no_colour: bool,
    #[command(flatten)]
    socket: SocketArgs,
}

/// Rows of a picture that goes to no terminal.
const ROWS: u16 = 24;

/// How often keys and signals are looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Between two tries to find an agent again.
const AGAIN: Duration = Duration::from_millis(500);

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let view = View { colour: !args.no_colour && !no_colour, ascii: args.ascii, gone: false };
    if args.once || !is_terminal() {
        return once(args, view);
    }
    // Before the screen is cleared: no agent is an error to read.
    let first = status(&args.socket.connect()?.ask(&Ask::Status {})?)?;
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(stop.clone())?;
    let (sender, pictures) = sync_channel(1);
    let (socket, every_ms) = (args.socket.clone(), args.every_ms);
    std::thread::Builder::new()
        .name("pictures".to_owned())
        .spawn(move || follow(&socket, every_ms, &sender))
        .context("cannot start a thread")?;
    let mut screen = ratatui::try_init().context("this terminal cannot be drawn on; try --once")?;
    let shown = show(&mut screen, first, &pictures, view, &stop);
    ratatui::restore();
    shown?;
    Ok(Answer::Yes)
}

fn once(args: &Args, view: View) -> anyhow::Result<Answer> {
    let status = status(&args.socket.connect()?.ask(&Ask::Status {})?)?;
    let size = if is_terminal() { terminal::size().ok() } else { None };
    let columns = args.columns.or(size.map(|(columns, _)| columns.max(60))).unwrap_or(80);
    line(frame_text(&status, columns, ROWS, view).trim_end())?;
    Ok(Answer::Yes)
}

fn status(text: &str) -> anyhow::Result<Status> {
    serde_json::from_str(text)
        .context("the agent's status is not as this bwmon knows it; is it another version?")
}

/// Pictures from the agent, and from the one after it; `None` when it goes. Ends with the process.
fn follow(socket: &SocketArgs, every_ms: u64, pictures: &SyncSender<Option<Status>>) {
    loop {
        if let Ok(mut client) = socket.connect() {
            let mut next: Result<Option<String>, ClientError> =
                client.ask(&Ask::Watch { every_ms }).map(Some);
            while let Ok(Some(text)) = &next {
                let Ok(status) = status(text) else { break };
                if pictures.send(Some(status)).is_err() {
                    return;
                }
                next = client.read();
            }
        }
        if pictures.send(None).is_err() {
            return;
        }
        std::thread::sleep(AGAIN);
    }
}

fn show(
    screen: &mut ratatui::DefaultTerminal,
    mut last: Status,
    pictures: &Receiver<Option<Status>>,
    mut view: View,
    stop: &AtomicBool,
) -> anyhow::Result<()> {
    let mut fresh = true;
    loop {
        match pictures.try_recv() {
            Ok(Some(status)) => (last, view.gone, fresh) = (status, false, true),
            Ok(None) => (view.gone, fresh) = (true, true),
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => {
                say("the thread that follows the agent has ended");
                return Ok(());
            }
        }
        if fresh {
            screen.draw(|frame| draw(frame, &last, view))?;
            fresh = false;
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        if event::poll(LOOK)? {
            match event::read()? {
                Event::Key(key) => match key.code {
                    KeyCode::Char('q') | KeyCode::Esc => return Ok(()),
                    KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                        return Ok(());
                    }
                    _ => {}
                },
                Event::Resize(..) => fresh = true,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_picture_in_the_docs_is_the_one_that_is_drawn() {
        let mut status = crate::screen::tests::status();
        status.domains[0].history.reverse();
        let drawn = crate::screen::svg(&status, 80, 20);
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/pictures/top.svg");
        if std::env::var_os("BWMON_DRAW").is_some() {
            std::fs::write(file, &drawn).unwrap();
        }
        assert_eq!(
            std::fs::read_to_string(file).unwrap_or_default(),
            drawn,
            "run with BWMON_DRAW=1"
        );
    }
}
