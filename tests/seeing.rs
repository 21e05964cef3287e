//! `bwmon top` on a terminal and without one, and metrics, from an agent on a fake machine.

use crate::common::{Ran, at, bad, command, folder, wait_for};
use crate::served::{LOW, Served};
use crate::terminal::Terminal;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;

/// An agent that serves metrics at a socket in its own folder.
fn with_metrics() -> (Served, std::path::PathBuf) {
    let tree = crate::common::Tree::new();
    tree.write("p.rhai", LOW);
    let path = tree.path("metrics.sock");
    let place = format!("unix:{}", path.display());
    (Served::on(tree, &["--metrics", &place]), path)
}

/// What comes back for `head`: status line and headers, and the rest.
fn ask(path: &std::path::Path, head: &str) -> (String, String) {
    let mut stream = UnixStream::connect(path).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

/// Samples by name with labels.
fn samples(text: &str) -> BTreeMap<String, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (name, value) = line.rsplit_once(' ').unwrap();
            (name.to_owned(), value.parse().unwrap())
        })
        .collect()
}

#[test]
fn metrics_are_served_where_the_command_line_says_and_grow() {
    let (served, path) = with_metrics();
    wait_for("the socket", || path.exists());
    let get = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
    let (head, first) = ask(&path, get);
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    assert!(head.contains("application/openmetrics-text; version=1.0.0; charset=utf-8"), "{head}");
    assert!(head.contains(&format!("Content-Length: {}", first.len())), "{head}");
    assert!(first.ends_with("# EOF\n"), "{first}");
    let before = samples(&first);
    assert!(before["bwmon_ticks_total"] >= 1.0);
    assert_eq!(before["bwmon_domain_level{domain=\"ddr\"}"], 0.0, "the policy votes the lowest");
    // What there are no probes for has no sample.
    assert!(!before.contains_key("bwmon_probe_events_lost_total"));
    wait_for("more ticks", || {
        samples(&ask(&path, get).1)["bwmon_ticks_total"] > before["bwmon_ticks_total"]
    });
    // What the command prints differs in values, and in readings that were not there yet.
    let printed = samples(&served.done(&["metrics"]));
    assert!(printed["bwmon_ticks_total"] > before["bwmon_ticks_total"]);
    // Every sample has its name in the dictionary.
    let dictionary = served.done(&["metrics", "--dictionary"]);
    for name in before.keys().chain(printed.keys()) {
        let name = name.split('{').next().unwrap();
        assert!(dictionary.contains(&format!("`{name}`")), "{name} is not in the dictionary");
    }
    served.end();
    assert!(!path.exists(), "the socket is left");
}

#[test]
fn other_pages_and_methods_are_answered_and_rubbish_disturbs_nobody() {
    let (served, path) = with_metrics();
    wait_for("the socket", || path.exists());
    assert!(ask(&path, "GET /x HTTP/1.1\r\n\r\n").0.starts_with("HTTP/1.1 404"));
    assert!(ask(&path, "POST /metrics HTTP/1.1\r\n\r\n").0.starts_with("HTTP/1.1 405"));
    let long = format!("GET /metrics HTTP/1.1\r\nX: {}\r\n", "x".repeat(9_000));
    assert!(ask(&path, &long).0.starts_with("HTTP/1.1 431"));
    // More than are read at one time, and none says anything.
    let silent: Vec<UnixStream> = (0..40).map(|_| UnixStream::connect(&path).unwrap()).collect();
    let ticks = served.status()["counts"]["ticks"].as_u64().unwrap();
    served.wait_for_status("ticks", |s| s["counts"]["ticks"].as_u64().unwrap() > ticks + 20);
    drop(silent);
    served.end();
}

#[test]
fn metrics_that_others_could_reach_are_refused_before_anything_is_touched() {
    let said = bad(2, &["run", "--metrics", "0.0.0.0:9845"]);
    assert!(said.contains("metrics have no password"), "{said}");
    let said = bad(2, &["run", "--metrics", "9845"]);
    assert!(said.contains("127.0.0.1:9845"), "{said}");
    let tree = crate::common::Tree::new();
    tree.write("precious", "kept");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let file = format!("unix:{}", at(&tree.folder, "precious"));
    for (place, words) in [(address.as_str(), "cannot serve metrics"), (&file, "is no socket")] {
        let ran = tree.run(&["--ticks", "1", "--metrics", place]);
        assert_eq!(ran.code, Some(2), "{place}");
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
        assert_eq!(tree.set_freq(), "undefined");
    }
    assert_eq!(tree.read("precious"), "kept");
}

#[test]
fn without_a_terminal_top_prints_one_picture_of_the_width_that_is_asked_for() {
    let served = Served::start(&[]);
    for (more, width) in [(&[][..], 80), (&["--columns", "120"], 120)] {
        let picture = served.done(&[&["top", "--once"], more].concat());
        assert!(picture.contains("bwmon") && picture.contains("ddr"), "{picture}");
        assert!(picture.contains("low"), "the policy's reason: {picture}");
        assert!(picture.lines().all(|line| line.chars().count() <= width), "{picture}");
        assert!(!picture.contains('\u{1b}'), "{picture}");
    }
    let picture = served.done(&["top", "--ascii"]);
    assert!(picture.is_ascii(), "{picture}");
    served.end();
}

#[test]
fn top_without_an_agent_says_so() {
    let folder = folder(&[]);
    let ran: Ran = command(&["top", "--socket", &at(&folder, "none")]).output().unwrap().into();
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("no agent listens at"), "{}", ran.stderr);
}

/// `bwmon top` on a terminal of 80 columns.
fn top(served: &Served, more: &[&str]) -> Terminal {
    let mut terminal = Terminal::start(&served.client(&[&["top"], more].concat()));
    terminal.wait_for("ddr");
    assert!(terminal.is_on_other_screen());
    terminal
}

#[test]
fn top_quits_for_each_of_its_keys_and_for_signals_and_leaves_the_terminal_as_it_was() {
    let served = Served::start(&[]);
    for key in ["q", "\u{1b}", "\u{3}"] {
        let mut terminal = top(&served, &[]);
        terminal.press(key);
        terminal.ends_with(0);
    }
    let terminal = top(&served, &[]);
    terminal.terminate();
    terminal.ends_with(0);
    served.end();
}

#[test]
fn top_follows_the_width_and_goes_without_colour() {
    let served = Served::start(&[]);
    let mut terminal = top(&served, &["--every-ms", "50"]);
    assert!(terminal.is_coloured());
    terminal.widen(120);
    wait_for("a line of the new width", || {
        terminal.shows().lines().any(|line| line.chars().count() > 80)
    });
    terminal.press("q");
    terminal.ends_with(0);
    let mut terminal = top(&served, &["--no-colour"]);
    assert!(!terminal.is_coloured());
    terminal.press("q");
    terminal.ends_with(0);
    served.end();
}

#[test]
fn top_shows_the_last_picture_when_the_agent_goes_and_the_next_agent_after_it() {
    let served = Served::start(&[]);
    let mut terminal = top(&served, &["--every-ms", "50"]);
    let tree = served.ended();
    terminal.wait_for("the agent has gone");
    let _next = Served::on(tree, &[]);
    wait_for("the next agent", || !terminal.shows().contains("the agent has gone"));
    terminal.press("q");
    terminal.ends_with(0);
}
