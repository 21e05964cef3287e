//! An agent that answers at a socket, for the tests of its clients.

use crate::common::{Agent, Ran, Tree, at, command, good, wait_for};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::Duration;

pub(crate) const LOW: &str = "fn decide(obs) { opp_min(\"low\") }";

/// An agent on a fake machine that answers at a socket.
pub(crate) struct Served {
    pub(crate) tree: Tree,
    agent: Option<Agent>,
}

impl Served {
    pub(crate) fn start(more: &[&str]) -> Self {
        let tree = Tree::new();
        tree.write("p.rhai", LOW);
        Self::on(tree, more)
    }

    pub(crate) fn on(tree: Tree, more: &[&str]) -> Self {
        let (policy, said) = (at(&tree.folder, "p.rhai"), tree.path("said"));
        let stderr = fs::File::create(said).unwrap();
        let board = at(&tree.folder, "board.toml");
        let journal = at(&tree.folder, "journal");
        let mut command = tree.command(&["run", "--board", &board, "--journal", &journal]);
        if !more.contains(&"--period-us") {
            command.args(["--period-us", "4500"]);
        }
        command.args(["--policy", &policy]).args(more).stdout(Stdio::null()).stderr(stderr);
        let agent = Some(Agent::of(command.spawn().unwrap()));
        let served = Self { tree, agent };
        wait_for("the socket", || served.path().exists());
        served.tree.wait_for_journal("\"applied\"");
        served
    }

    /// The agent's process.
    pub(crate) fn pid(&self) -> u32 {
        self.agent.as_ref().unwrap().id()
    }

    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.tree.path("state/control.sock")
    }

    pub(crate) fn socket(&self) -> String {
        at(&self.tree.folder, "state/control.sock")
    }

    /// `bwmon <args> --socket …`.
    pub(crate) fn client(&self, args: &[&str]) -> Command {
        // Before a command that is run.
        let end = args.iter().position(|arg| *arg == "--").unwrap_or(args.len());
        let (ours, theirs) = args.split_at(end);
        let mut client = command(ours);
        client.args(["--socket", &self.socket()]).args(theirs);
        client
    }

    pub(crate) fn ask(&self, args: &[&str]) -> Ran {
        self.client(args).output().unwrap().into()
    }

    pub(crate) fn done(&self, args: &[&str]) -> String {
        let ran = self.ask(args);
        assert_eq!(ran.code, Some(0), "{args:?}: {}{}", ran.stdout, ran.stderr);
        ran.stdout
    }

    pub(crate) fn status(&self) -> Value {
        serde_json::from_str(&self.done(&["status", "--json"])).unwrap()
    }

    pub(crate) fn wait_for_status(&self, what: &str, holds: impl Fn(&Value) -> bool) {
        wait_for(what, || holds(&self.status()));
    }

    pub(crate) fn raw(&self) -> UnixStream {
        let stream = UnixStream::connect(self.path()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream
    }

    /// Sends `bytes`, and answers the first line that comes back.
    pub(crate) fn say(&self, bytes: &[u8]) -> Value {
        let mut stream = self.raw();
        stream.write_all(bytes).unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Ends it; its journal has to walk again to the byte.
    pub(crate) fn end(self) {
        drop(self.ended());
    }

    /// Ends it, and answers the machine that it leaves.
    pub(crate) fn ended(mut self) -> Tree {
        let agent = self.agent.take().unwrap();
        let pid = agent.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        let output = agent.wait_with_output().unwrap();
        let said = fs::read_to_string(self.tree.path("said")).unwrap();
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert_eq!(self.tree.governor(), "simple_ondemand");
        assert!(!self.path().exists(), "the socket is left");
        good(&["replay", "--verify", &at(&self.tree.folder, "journal")]);
        self.tree
    }
}
