//! A running agent and its clients.

use crate::common::{Agent, Ran, Tree, at, command, folder, good, wait_for};
use crate::served::{LOW, Served};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

const TOP: &str = "fn decide(obs) { opp_max(\"top\") }";

#[test]
fn status_says_what_runs_in_words_and_as_json() {
    let served = Served::start(&[]);
    let status = served.status();
    assert_eq!(status["board"], "tree");
    assert_eq!(status["mode"], "govern");
    assert_eq!(status["period_us"], 4_500);
    assert_eq!(status["domains"][0]["name"], "ddr");
    assert_eq!(status["domains"][0]["why"], "low");
    // 800000 kBps is the lowest row.
    assert_eq!(status["domains"][0]["level_kBps"], 800_000);
    assert_eq!(status["pause"], Value::Null);
    let text = served.done(&["status"]);
    assert!(text.contains("govern on tree") && text.contains("ddr"), "{text}");
    served.end();
}

#[test]
fn a_pause_goes_to_the_top_and_a_resume_gives_the_policy_its_way() {
    let served = Served::start(&[]);
    assert!(served.done(&["pause"]).contains("highest level"));
    // The highest of three rows.
    served.wait_for_status("the top", |status| status["domains"][0]["level"] == 2);
    wait_for("the write", || served.tree.set_freq() == "300");
    assert_eq!(served.status()["pause"], "top");
    assert!(served.done(&["resume"]).contains("the policy decides"));
    served.wait_for_status("the policy's level", |status| status["domains"][0]["level"] == 0);
    assert!(served.done(&["pause", "--keep"]).contains("stays at its level"));
    served.done(&["resume"]);
    served.end();
}

#[test]
fn holds_count_together_and_end_with_their_clients() {
    let served = Served::start(&[]);
    let hold = |bound: &str| {
        let mut client = served.client(&["hold", "--floor-level", bound, "--why", "a test"]);
        let mut child = client.stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("a test") && line.contains("at least"), "{line}");
        Agent::of(child)
    };
    let (one, two) = (hold("1"), hold("2"));
    served.wait_for_status("the higher floor", |status| status["domains"][0]["level"] == 2);
    assert_eq!(served.status()["holds"].as_array().unwrap().len(), 2);
    // Killed, not ended.
    drop(two);
    served.wait_for_status("the lower floor", |status| status["domains"][0]["level"] == 1);
    drop(one);
    served.wait_for_status("no floor", |status| status["domains"][0]["level"] == 0);
    assert_eq!(served.status()["holds"].as_array().unwrap().len(), 0);
    served.end();
}

#[test]
fn a_hold_lasts_as_long_as_its_command_and_ends_with_its_exit_code() {
    let served = Served::start(&[]);
    let socket = served.socket();
    let asks = format!(
        "until {} status --json --socket {socket} | grep -q '\"level\": 2'; do :; done; exit 7",
        env!("CARGO_BIN_EXE_bwmon")
    );
    let hold = ["hold", "--domain", "ddr", "--floor-kBps", "3000000", "--", "sh", "-c", &asks];
    assert_eq!(served.ask(&hold).code, Some(7));
    served.wait_for_status("no floor", |status| status["domains"][0]["level"] == 0);
    // And for a time.
    served.done(&["hold", "--ceiling-level", "1", "--ms", "20"]);
    served.end();
}

#[test]
fn a_policy_is_checked_where_it_is_used_and_a_refusal_is_no_success() {
    let served = Served::start(&[]);
    served.tree.write("top.rhai", TOP);
    let top = at(&served.tree.folder, "top.rhai");
    assert!(served.done(&["policy", "use", &top]).contains("decides from now on"));
    served.wait_for_status("its way", |status| status["domains"][0]["why"] == "top");
    // The file that was followed changes: nobody asks for it.
    served.tree.write("p.rhai", "fn decide(obs) { opp_min(\"anew\") }");
    served.tree.write("bad.rhai", "fn decide(obs) { opp_mn() }");
    let ran = served.ask(&["policy", "use", &at(&served.tree.folder, "bad.rhai")]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("did you mean `opp_min`?"), "{}", ran.stderr);
    assert!(ran.stdout.is_empty(), "{}", ran.stdout);
    assert_eq!(served.status()["domains"][0]["why"], "top");
    assert_eq!(served.status()["last_reload"]["ok"], false);
    // Back to the files.
    assert!(served.done(&["reload"]).contains("decides from now on"));
    served.wait_for_status("the file's way", |status| status["domains"][0]["why"] == "anew");
    assert!(served.done(&["reload"]).contains("is unchanged"));
    served.tree.write("p.rhai", "fn decide(obs) { 1 + }");
    wait_for("a refusal", || served.status()["counts"]["reloads_refused"] == 2);
    assert_eq!(served.ask(&["reload"]).code, Some(1));
    assert_eq!(served.status()["domains"][0]["why"], "anew");
    // One that is built in, in shadow first.
    let canary = ["policy", "use", "native", "--canary-ms", "40", "--canary-rule", "faults<=0"];
    assert!(served.done(&canary).contains("runs in shadow for 40 ms"));
    served.wait_for_status("the canary", |status| status["policy"]["name"] == "native");
    served.end();
}

#[test]
fn the_journal_can_be_followed_and_replayed() {
    let served = Served::start(&[]);
    let mut client = served.client(&["journal", "tail", "--lines", "12"]);
    let child = client.stdout(Stdio::piped()).spawn().unwrap();
    let tail: Ran = child.wait_with_output().unwrap().into();
    assert_eq!((tail.code, tail.stdout.lines().count()), (Some(0), 12), "{}", tail.stderr);
    let first: Value = serde_json::from_str(tail.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(first["board"]["id"], "tree");
    let lines = tail.stdout.lines().skip(1);
    let ticks: Vec<u64> = lines
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["sample"]["tick"].as_u64().unwrap()
        })
        .collect();
    assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]), "{ticks:?}");
    let folder = folder(&[("tail", &tail.stdout)]);
    good(&["replay", "--policy", "native", &at(&folder, "tail")]);
    served.end();
}

#[test]
fn what_is_no_request_is_answered_and_disturbs_nobody() {
    let served = Served::start(&[]);
    let before = served.status()["counts"]["ticks"].as_u64().unwrap();
    assert_eq!(served.say(b"hello\n")["code"], "bad_request");
    assert_eq!(served.say(b"{\"bwmon\":9,\"verb\":\"status\"}\n")["code"], "version");
    let unknown = served.say(b"{\"bwmon\":1,\"verb\":\"paus\"}\n");
    assert!(unknown["error"].as_str().unwrap().contains("did you mean pause?"), "{unknown}");
    assert_eq!(served.say(&vec![b'x'; 600 * 1024])["code"], "too_large");
    assert_eq!(served.say(&[0xff, 0xfe, b'\n'])["code"], "bad_request");
    let hold =
        served.say(b"{\"bwmon\":1,\"verb\":\"hold\",\"domain\":\"drr\",\"floor_level\":1}\n");
    assert!(hold["error"].as_str().unwrap().contains("did you mean ddr?"), "{hold}");
    // One that stops in the middle of a word, and one that asks and never reads.
    let mut slow = served.raw();
    slow.write_all(b"{\"bwmon\":1,").unwrap();
    let mut deaf = served.raw();
    deaf.write_all(b"{\"bwmon\":1,\"verb\":\"watch\",\"every_ms\":50}\n").unwrap();
    // Several requests on one connection.
    let mut stream = served.raw();
    stream.write_all(b"nonsense\n{\"bwmon\":1,\"verb\":\"status\"}\n").unwrap();
    let mut lines = BufReader::new(stream).lines();
    assert!(lines.next().unwrap().unwrap().contains("\"ok\":false"));
    assert!(lines.next().unwrap().unwrap().contains("\"ok\":true"));
    served.wait_for_status("ticks", |s| s["counts"]["ticks"].as_u64().unwrap() > before + 20);
    served.end();
}

#[test]
fn a_thousand_clients_are_answered_and_more_are_turned_away() {
    let served = Served::start(&[]);
    let mut clients: Vec<UnixStream> = (0..1_000).map(|_| served.raw()).collect();
    for client in &mut clients {
        client.write_all(b"{\"bwmon\":1,\"verb\":\"status\"}\n").unwrap();
    }
    let mut answers = 0;
    for client in &clients {
        let mut line = String::new();
        BufReader::new(client).read_line(&mut line).unwrap();
        answers += usize::from(line.starts_with("{\"ok\":true"));
    }
    assert_eq!(answers, 1_000);
    // Room for 1,100 in all.
    let more: Vec<UnixStream> = (0..200).map(|_| served.raw()).collect();
    let mut last = String::new();
    (&more[199]).read_to_string(&mut last).unwrap();
    assert!(last.contains("\"busy\""), "{last}");
    drop((clients, more));
    wait_for("room", || served.ask(&["status"]).code == Some(0));
    served.end();
}

#[test]
fn without_an_agent_or_with_something_else_in_its_place_clients_say_so() {
    let folder = folder(&[("file", "")]);
    for name in ["nothing", "file"] {
        let path = at(&folder, name);
        let ran: Ran = command(&["status", "--socket", &path]).output().unwrap().into();
        assert_eq!(ran.code, Some(2));
        assert!(ran.stderr.contains("no agent listens at"), "{}", ran.stderr);
    }
    let tree = Tree::new();
    tree.write("precious", "kept");
    let ran = tree.run(&["--ticks", "1", "--socket", &at(&tree.folder, "precious")]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("is no socket"), "{}", ran.stderr);
    assert_eq!(tree.read("precious"), "kept");
    // The machine was not touched.
    assert_eq!(tree.set_freq(), "undefined");
}

#[test]
fn a_user_without_rights_is_refused_by_the_kernel_or_by_the_agent() {
    if !rustix_is_root() {
        eprintln!("skipped: rights of other users: needs root");
        assert!(std::env::var_os("CI").is_none(), "CI skips nothing");
        return;
    }
    let tree = Tree::new();
    tree.write("p.rhai", LOW);
    tree.write("c.toml", "schema = 1\n[control]\ngroup = \"\"\nreaders = \"all\"\n");
    fs::set_permissions(tree.folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let config = at(&tree.folder, "c.toml");
    let served = Served::on(tree, &["--config", &config]);
    let as_nobody = |verb: &str| {
        let program = served.tree.path("bwmon");
        if !program.exists() {
            fs::copy(env!("CARGO_BIN_EXE_bwmon"), &program).unwrap();
        }
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        let output = command.arg(program).args([verb, "--socket", &served.socket()]).output();
        Ran::from(output.unwrap())
    };
    let ran = as_nobody("status");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let ran = as_nobody("pause");
    assert_eq!(ran.code, Some(2), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("you may read, not change"), "{}", ran.stderr);
    assert_eq!(served.status()["pause"], Value::Null);
    // And where others may not even read, the kernel keeps them out.
    fs::set_permissions(served.path(), fs::Permissions::from_mode(0o600)).unwrap();
    let ran = as_nobody("status");
    assert!(ran.stderr.contains("you may not speak to the agent"), "{}", ran.stderr);
    served.end();
}

fn rustix_is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    String::from_utf8_lossy(&id.stdout).trim() == "0"
}
