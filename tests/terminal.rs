//! A program on a terminal of its own, and what a person would see there.

use crate::common::{Agent, wait_for};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::process::Command;

/// Rows and columns.
const SIZE: (u16, u16) = (24, 80);

/// A terminal with a program on it.
pub(crate) struct Terminal {
    near: File,
    /// Kept open, so that the settings outlive the program.
    far: File,
    screen: vt100::Parser,
    before: Termios,
    program: Agent,
}

fn cells(n: u16) -> NonZero<u16> {
    NonZero::new(n).unwrap()
}

impl Terminal {
    /// Starts `command` with a new terminal as its controlling one.
    pub(crate) fn start(command: &Command) -> Self {
        let near = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&near).unwrap();
        unlockpt(&near).unwrap();
        let name = ptsname(&near, Vec::new()).unwrap();
        let size = Winsize { ws_row: SIZE.0, ws_col: SIZE.1, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&near, size).unwrap();
        fcntl_setfl(&near, OFlags::NONBLOCK).unwrap();
        let far = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let before = tcgetattr(&far).unwrap();
        let end = || far.try_clone().unwrap();
        // setsid does not fork here, as nobody leads the new process's group: its pid is the program's.
        let mut setsid = Command::new("setsid");
        setsid.args(["--ctty", "--"]).arg(command.get_program()).args(command.get_args());
        setsid.env("TERM", "xterm-256color").env_remove("NO_COLOR");
        let child = setsid.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        let screen = vt100::Parser::new(cells(SIZE.0), cells(SIZE.1), 0);
        Self { near: near.into(), far, screen, before, program: Agent::of(child) }
    }

    /// Takes what was written meanwhile, and answers what stands there now.
    pub(crate) fn shows(&mut self) -> String {
        let mut some = [0; 4096];
        while let Ok(n @ 1..) = self.near.read(&mut some) {
            self.screen.process(&some[..n]);
        }
        self.screen.screen().contents()
    }

    /// Waits until it shows `words`.
    pub(crate) fn wait_for(&mut self, words: &str) {
        wait_for(words, || self.shows().contains(words));
    }

    /// Whether anything stands there in colour.
    pub(crate) fn is_coloured(&self) -> bool {
        let cells = (0..SIZE.0).flat_map(|row| (0..SIZE.1).map(move |column| (row, column)));
        cells
            .filter_map(|(row, column)| self.screen.screen().cell(row, column))
            .any(|cell| cell.fgcolor() != vt100::Color::Default)
    }

    pub(crate) fn is_on_other_screen(&self) -> bool {
        self.screen.screen().alternate_screen()
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.near.write_all(keys.as_bytes()).unwrap();
    }

    /// Another width; the program hears of it from the kernel.
    pub(crate) fn widen(&mut self, columns: u16) {
        let size = Winsize { ws_row: SIZE.0, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.near, size).unwrap();
        self.screen.screen_mut().set_size(cells(SIZE.0), cells(columns));
    }

    pub(crate) fn terminate(&self) {
        let pid = i32::try_from(self.program.id()).ok().and_then(Pid::from_raw).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
    }

    /// Waits for its end; the terminal has to be as it was before.
    pub(crate) fn ends_with(mut self, code: i32) {
        let mut ended = None;
        wait_for("the end", || {
            // One that does not read what is written would wait for ever.
            self.shows();
            ended = self.program.try_wait().unwrap();
            ended.is_some()
        });
        self.shows();
        assert_eq!(ended.unwrap().code(), Some(code), "{}", self.shows());
        assert!(!self.is_on_other_screen(), "it is still on the other screen");
        assert!(!self.screen.screen().hide_cursor(), "the cursor is hidden");
        let after = tcgetattr(&self.far).unwrap();
        let modes = |t: &Termios| (t.input_modes, t.output_modes, t.local_modes, t.control_modes);
        assert_eq!(modes(&after), modes(&self.before));
    }
}
