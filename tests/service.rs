//! The agent as a service: what the manager hears, configuration files, what stays at the end.

use crate::common::{Agent, Tree, at, bad, command, folder, good, wait_for};
use std::fs;
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A service manager's ear.
struct Manager {
    socket: UnixDatagram,
}

impl Manager {
    fn new(tree: &Tree) -> Self {
        let socket = UnixDatagram::bind(tree.path("notify")).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        Self { socket }
    }

    fn next(&self) -> String {
        let mut bytes = [0; 4096];
        let read = self.socket.recv(&mut bytes).expect("nothing is heard");
        String::from_utf8(bytes[..read].to_vec()).unwrap()
    }

    /// The messages until one that holds `words`.
    fn until(&self, words: &str) -> Vec<String> {
        let deadline = Instant::now() + Duration::from_secs(10);
        let mut heard = Vec::new();
        loop {
            assert!(Instant::now() < deadline, "{words} is not in {heard:?}");
            heard.push(self.next());
            if heard.last().unwrap().contains(words) {
                return heard;
            }
        }
    }
}

fn kill(agent: &Agent, signal: &str) {
    let pid = agent.id().to_string();
    assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
}

#[test]
fn the_manager_hears_of_the_first_tick_the_loops_beat_reloads_and_the_end() {
    let tree = Tree::new();
    tree.write("p.rhai", "fn decide(obs) { opp_max() }");
    let manager = Manager::new(&tree);
    let (board, policy) = (at(&tree.folder, "board.toml"), at(&tree.folder, "p.rhai"));
    let mut command = tree.command(&["run", "--board", &board, "--policy", &policy]);
    command.env("NOTIFY_SOCKET", tree.path("notify")).env("WATCHDOG_USEC", "80000");
    let agent = Agent::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let heard = manager.until("READY=1");
    // Before the first tick the loop does not beat.
    assert!(!heard.iter().any(|line| line.contains("WATCHDOG=1")), "{heard:?}");
    assert!(tree.governor() == "userspace", "ready before the first vote");
    manager.until("WATCHDOG=1");
    let heard = manager.until("WATCHDOG=1");
    assert!(heard.len() <= 3, "{heard:?}");
    kill(&agent, "-HUP");
    let heard = manager.until("RELOADING=1");
    assert!(heard.last().unwrap().contains("MONOTONIC_USEC="), "{heard:?}");
    manager.until("READY=1");
    kill(&agent, "-TERM");
    manager.until("STOPPING=1");
    assert_eq!(agent.wait_with_output().unwrap().status.code(), Some(0));
    assert_eq!(tree.governor(), "simple_ondemand");
}

#[test]
fn the_manager_gets_a_line_about_the_state() {
    let tree = Tree::new();
    let manager = Manager::new(&tree);
    let board = at(&tree.folder, "board.toml");
    let mut command = tree.command(&["run", "--board", &board, "--policy", "native"]);
    command.env("NOTIFY_SOCKET", tree.path("notify"));
    let agent = Agent::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let heard = manager.until("STATUS=");
    assert!(heard.last().unwrap().contains("native on tree (govern)"), "{heard:?}");
    kill(&agent, "-INT");
    assert_eq!(agent.wait_with_output().unwrap().status.code(), Some(0));
}

#[test]
fn a_configuration_holds_where_the_command_line_says_nothing() {
    let tree = Tree::new();
    tree.write("p.rhai", "// @param up = 1 (0..2) the level\nfn decide(obs) { opp(cfg::up) }");
    let config = format!(
        "schema = 1\nmode = \"dry-run\"\nboard = \"{}\"\npolicy = \"{}\"\nperiod_us = 5000\n\
         state_dir = \"{}\"\n[params]\nup = 2\n[limits.ddr]\nmax_level = 1\n\
         [journal]\nfile = \"{}\"\n",
        at(&tree.folder, "board.toml"),
        at(&tree.folder, "p.rhai"),
        at(&tree.folder, "state"),
        at(&tree.folder, "journal"),
    );
    tree.write("bwmon.toml", &config);
    let file = at(&tree.folder, "bwmon.toml");
    let run = |more: &[&str]| {
        let mut command = command(&["run", "--config", &file, "--ticks", "3", "--json", "--root"]);
        let output = command.arg(tree.folder.path()).args(more).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{said}");
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let summary = run(&[]);
    assert_eq!((&summary["mode"], &summary["ticks"]), (&"dry-run".into(), &3.into()));
    let journal = tree.read("journal");
    assert!(journal.contains("\"period_us\":5000"), "{journal}");
    // The tunable asks for level 2, the limit lets it have level 1.
    assert!(
        journal.contains("\"ask\":{\"opp\":2}") && journal.contains("\"level\":1"),
        "{journal}"
    );
    // The command line goes over it.
    run(&["--set", "up=0", "--period-us", "6000"]);
    let journal = tree.read("journal");
    assert!(journal.contains("\"period_us\":6000"), "{journal}");
    assert!(journal.contains("\"ask\":{\"opp\":0}"), "{journal}");
    assert_eq!(run(&["--policy", "native"])["policy"], "native");
    good(&["config", "check", &file]);
}

#[test]
fn what_the_check_passes_is_not_refused_by_the_run_for_its_metrics() {
    let folder =
        crate::common::folder(&[("c.toml", "schema = 1\n[metrics]\nlisten = \"0.0.0.0:9845\"\n")]);
    let file = at(&folder, "c.toml");
    for verb in [&["config", "check", &file][..], &["run", "--config", &file]] {
        let ran = crate::common::bwmon(verb);
        assert_ne!(ran.code, Some(0));
        assert!(ran.stderr.contains("c.toml:3:10"), "{}", ran.stderr);
        assert!(ran.stderr.contains("metrics have no password"), "{}", ran.stderr);
    }
}

#[test]
fn a_wrong_configuration_is_refused_with_its_line_before_anything_is_touched() {
    let tree = Tree::new();
    tree.write("bwmon.toml", "schema = 1\nperiod_su = 5000\n");
    let ran = tree.run(&["--config", &at(&tree.folder, "bwmon.toml")]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("bwmon.toml:2:1"), "{}", ran.stderr);
    assert!(ran.stderr.contains("did you mean period_us?"), "{}", ran.stderr);
    assert_eq!(tree.set_freq(), "undefined");
    let said = bad(1, &["config", "check", &at(&tree.folder, "bwmon.toml")]);
    assert!(said.contains("did you mean period_us?"), "{said}");
    assert!(bad(2, &["config", "check", "/nowhere"]).contains("/nowhere"));
    let folder = folder(&[("e.toml", &good(&["config", "example"]).stdout)]);
    good(&["config", "check", &at(&folder, "e.toml")]);
}

#[test]
fn a_configuration_that_changes_is_taken_and_one_that_breaks_is_not() {
    let tree = Tree::new();
    tree.write("p.rhai", "// @param up = 1 (0..2) the level\nfn decide(obs) { opp(cfg::up) }");
    let write = |up: &str, more: &str| {
        let policy = at(&tree.folder, "p.rhai");
        let text = format!("schema = 1\npolicy = \"{policy}\"\n{more}\n[params]\nup = {up}\n");
        tree.write("bwmon.toml", &text);
    };
    write("0", "");
    let (board, journal) = (at(&tree.folder, "board.toml"), at(&tree.folder, "journal"));
    let (config, said) = (at(&tree.folder, "bwmon.toml"), tree.path("said"));
    let args = ["run", "--config", &config, "--board", &board, "--journal", &journal];
    let stderr = fs::File::create(&said).unwrap();
    let mut command = tree.command(&args);
    let agent = Agent::of(command.stdout(Stdio::piped()).stderr(stderr).spawn().unwrap());
    tree.wait_for_journal("{\"opp\":0}");
    write("2", "");
    tree.wait_for_journal("{\"opp\":2}");
    write("2", "perod_us = 1");
    wait_for("a refusal", || {
        let said = fs::read_to_string(&said).unwrap();
        said.contains("did you mean period_us?") && said.contains("all stays as it is")
    });
    write("2", "period_us = 7000");
    kill(&agent, "-HUP");
    wait_for("what stays", || fs::read_to_string(&said).unwrap().contains("is unchanged"));
    kill(&agent, "-TERM");
    assert_eq!(agent.wait_with_output().unwrap().status.code(), Some(0));
    good(&["replay", "--verify", &journal]);
}

#[test]
fn votes_can_be_kept_at_the_end_until_somebody_asks_for_the_restore() {
    for (on_exit, hz) in [("keep", "100"), ("max", "300")] {
        let tree = Tree::new();
        tree.write("p.rhai", "fn decide(obs) { opp_min() }");
        let policy = at(&tree.folder, "p.rhai");
        let ran = tree.run(&["--policy", &policy, "--ticks", "3", "--on-exit", on_exit]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(ran.stdout.contains("kept as it is"), "{}", ran.stdout);
        assert_eq!((tree.governor().as_str(), tree.set_freq().as_str()), ("userspace", hz));
        // The stop step of the service leaves it.
        let mut stop = tree.command(&["restore", "--unless-kept"]);
        let output = stop.output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert!(String::from_utf8_lossy(&output.stderr).contains("on purpose"));
        assert_eq!(tree.governor(), "userspace");
        assert_eq!(tree.restore().code, Some(0));
        assert_eq!(tree.governor(), "simple_ondemand");
    }
}

#[test]
fn after_an_error_everything_is_put_back_whatever_is_configured() {
    let tree = Tree::new();
    // Votes through a journal that cannot be written are no error; a panic is.
    let agent = {
        let board = at(&tree.folder, "board.toml");
        let args = ["run", "--board", &board, "--policy", "native", "--on-exit", "keep"];
        Agent::of(tree.command(&args).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap())
    };
    wait_for("the takeover", || tree.governor() == "userspace");
    // Killed: nobody has left it on purpose.
    kill(&agent, "-KILL");
    agent.wait_with_output().unwrap();
    let output = tree.command(&["restore", "--unless-kept"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(tree.governor(), "simple_ondemand");
}

#[test]
fn the_second_agent_is_told_who_runs() {
    let tree = Tree::new();
    let agent = tree.start();
    tree.wait_for_journal("\"applied\"");
    let ran = tree.run(&["--ticks", "1", "--socket", "none"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains(&format!("pid {}: ", agent.id())), "{}", ran.stderr);
    assert!(ran.stderr.contains("--period-us 4500"), "{}", ran.stderr);
    kill(&agent, "-TERM");
    assert_eq!(agent.wait_with_output().unwrap().status.code(), Some(0));
}
