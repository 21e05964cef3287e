//! A policy that changes while it runs: reload, canary, demotion, and journals that tell it.

use crate::common::{Tree, at, bad, folder, good, wait_for};
use bwmon_user::board::builtin;
use bwmon_user::decide::{Rails, Unvoted};
use bwmon_user::governor::Governor;
use bwmon_user::policy::script::Source;
use bwmon_user::policy::{PolicySpec, library};
use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::Arc;

const TOP: &str = "fn decide(obs) { opp_max(\"top\") }";
const LOW: &str = "fn decide(obs) { opp_min(\"low\") }";

/// An agent on a fake machine, with its policy in a file of its own.
struct Agent {
    tree: Tree,
    child: Child,
}

impl Agent {
    fn start(policy: &str, more: &[&str]) -> Self {
        let tree = Tree::new();
        tree.write("p.rhai", policy);
        Self::on(tree, more)
    }

    fn on(tree: Tree, more: &[&str]) -> Self {
        let (board, journal) = (at(&tree.folder, "board.toml"), at(&tree.folder, "journal"));
        let policy = at(&tree.folder, "p.rhai");
        let said = fs::File::create(tree.path("said")).unwrap();
        let args = [
            "run",
            "--board",
            &board,
            "--period-us",
            "4500",
            "--journal",
            &journal,
            "--policy",
            &policy,
        ];
        let mut command = tree.command(&args);
        let child = command.args(more).stdout(Stdio::piped()).stderr(said).spawn().unwrap();
        let agent = Self { tree, child };
        agent.wait_for_entry("\"applied\"");
        agent
    }

    fn file(&self) -> PathBuf {
        self.tree.path("p.rhai")
    }

    fn said(&self) -> String {
        fs::read_to_string(self.tree.path("said")).unwrap()
    }

    fn wait_for(&self, words: &str) {
        wait_for(words, || self.said().contains(words));
    }

    fn wait_for_entry(&self, words: &str) {
        self.tree.wait_for_journal(words);
    }

    fn hangup(&self) {
        self.signal("-HUP");
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(std::process::Command::new("kill").args([name, &pid]).status().unwrap().success());
    }

    /// Ends it; its journal has to walk again to the byte. Answers stdout.
    fn end(mut self) -> String {
        self.signal("-TERM");
        let code = self.child.wait().unwrap().code();
        assert_eq!(code, Some(0), "{}", self.said());
        assert_eq!(self.tree.governor(), "simple_ondemand");
        good(&["replay", "--verify", &at(&self.tree.folder, "journal")]);
        let mut stdout = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        stdout
    }
}

#[test]
fn a_policy_that_is_written_anew_renamed_over_or_linked_elsewhere_is_taken() {
    let agent = Agent::start(LOW, &[]);
    agent.wait_for_entry("\"why\":\"low\"");
    fs::write(agent.file(), TOP).unwrap();
    agent.wait_for_entry("\"why\":\"top\"");
    agent.wait_for("decides from now on");

    agent.tree.write("next", "fn decide(obs) { opp_min(\"renamed\") }");
    fs::rename(agent.tree.path("next"), agent.file()).unwrap();
    agent.wait_for_entry("\"why\":\"renamed\"");

    agent.tree.write("linked", "fn decide(obs) { opp_max(\"linked\") }");
    symlink(agent.tree.path("linked"), agent.tree.path("link")).unwrap();
    fs::rename(agent.tree.path("link"), agent.file()).unwrap();
    agent.wait_for_entry("\"why\":\"linked\"");
    // And what the link leads to.
    agent.tree.write("linked", "fn decide(obs) { opp_max(\"behind the link\") }");
    agent.wait_for_entry("\"why\":\"behind the link\"");
    assert_eq!(agent.said().matches("passed its check").count(), 4);
    agent.end();
}

#[test]
fn a_broken_policy_is_said_once_and_the_old_one_stays() {
    let agent = Agent::start(LOW, &[]);
    fs::write(agent.file(), "fn decide(obs) { opp_mn() }").unwrap();
    agent.wait_for("is refused; the policy stays as it is");
    agent.wait_for("did you mean `opp_min`?");
    fs::remove_file(agent.file()).unwrap();
    agent.wait_for("there is no policy file");
    // It comes back as it was: nothing to do, and nothing is said unless somebody asks.
    fs::write(agent.file(), LOW).unwrap();
    agent.hangup();
    agent.wait_for("is unchanged");
    let said = agent.said();
    assert_eq!(
        (said.matches("is refused").count(), said.matches("there is no policy file").count()),
        (1, 1),
        "{said}"
    );
    assert!(!said.contains("decides from now on"), "{said}");
    agent.end();
}

#[test]
fn without_watching_only_sighup_reloads() {
    let agent = Agent::start(LOW, &["--no-watch"]);
    fs::write(agent.file(), TOP).unwrap();
    agent.hangup();
    agent.wait_for_entry("\"why\":\"top\"");
    agent.end();
}

#[test]
fn a_policy_that_breaks_its_spec_is_refused_and_one_that_keeps_it_is_taken() {
    let tree = Tree::new();
    tree.write("p.rhai", TOP);
    tree.write(
        "p.spec.toml",
        "schema = 1\nboard = \"sdm845-seed\"\n[[scenario]]\nname = \"served\"\n\
         series = [{ ms = 40, peak_kBps = 100_000 }, { ms = 40, peak_kBps = 3_000_000 }]\n\
         [[scenario.expect]]\nrise_ms = 8\n",
    );
    let agent = Agent::on(tree, &[]);
    fs::write(agent.file(), LOW).unwrap();
    agent.wait_for("does not hold: \"served\", rise_ms = 8");
    fs::write(agent.file(), "fn decide(obs) { if obs.valid { demand_kBps(obs.peak_kBps, \"kept\") } else { opp_max() } }").unwrap();
    agent.wait_for("and its spec (1 scenarios)");
    agent.wait_for_entry("\"why\":\"kept\"");
    agent.end();
}

#[test]
fn a_canary_is_promoted_or_dropped_by_its_rule() {
    let agent =
        Agent::start(LOW, &["--canary-ms", "60", "--canary-rule", "faults<=0, mean_vote_kBps<=+0"]);
    fs::write(agent.file(), TOP).unwrap();
    agent.wait_for("runs in shadow for 60 ms");
    agent.wait_for("the canary is dropped, the old policy stays: mean_vote_kBps is 3072000");
    fs::write(agent.file(), "fn decide(obs) { opp_min(\"as low\") }").unwrap();
    agent.wait_for("the canary takes over");
    agent.wait_for_entry("\"why\":\"as low\"");
    let journal = fs::read_to_string(agent.tree.path("journal")).unwrap();
    assert!(!journal.contains("\"why\":\"top\""));
    agent.end();
}

#[test]
fn a_policy_that_faults_again_and_again_is_demoted_until_it_is_replaced() {
    // 3 faults at once: aside for 1, 2, 4 and 8 s; the fifth time for good. On the virtual clock.
    let folder = folder(&[(
        "p.rhai",
        "fn decide(obs) { if obs.level == 0 { hold() } else { throw \"no\" } }",
    )]);
    let (file, journal) = (at(&folder, "p.rhai"), at(&folder, "j"));
    let args = [
        "sim",
        "--policy",
        &file,
        "--workload",
        "idle",
        "--duration-ms",
        "20000",
        "--journal",
        &journal,
    ];
    let then = ["--then", "bwmon", "--then-at-ms", "18000"];
    let ran = good(&[&args[..], &then[..]].concat());
    assert!(ran.stdout.contains("the policy is demoted after repeated faults"), "{}", ran.stdout);
    let text = fs::read_to_string(&journal).unwrap();
    assert!(text.contains("\"by\":\"demoted\"") && text.contains("{\"note\":{\"demoted\":"));
    let after: Vec<&str> =
        text.lines().skip_while(|l| !l.starts_with("{\"note\":{\"policy\"")).skip(1).collect();
    assert!(after.len() > 400 && after.iter().all(|line| !line.contains("\"by\":\"demoted\"")));
    good(&["replay", "--verify", &journal]);
}

#[test]
fn state_crosses_a_reload_only_where_the_new_policy_takes_it() {
    let counts = "fn init(i) { #{ n: 0 } }\nfn decide(obs) { this.n += 1; hold(`n ${this.n}`) }\n";
    let takes = format!(
        "{counts}fn on_event(ev) {{ if ev.kind == \"reload\" {{ this.n = ev.old_state.n; }} }}\n"
    );
    let folder =
        folder(&[("a.rhai", counts), ("b.rhai", &takes), ("c.rhai", &format!("{counts}// c\n"))]);
    let journal = at(&folder, "j");
    let last = |then: &str| {
        good(&[
            "sim",
            "--policy",
            &at(&folder, "a.rhai"),
            "--ticks",
            "20",
            "--journal",
            &journal,
            "--then",
            &at(&folder, then),
            "--then-at-ms",
            "40",
        ]);
        good(&["replay", "--verify", &journal]);
        fs::read_to_string(&journal).unwrap().lines().last().unwrap().to_owned()
    };
    // 10 ticks of the first policy, 10 of the second.
    assert!(last("b.rhai").contains("\"why\":\"n 20\""));
    assert!(last("c.rhai").contains("\"why\":\"n 10\""));
}

#[test]
fn a_journal_whose_notes_were_changed_does_not_verify() {
    let folder = folder(&[]);
    let journal = at(&folder, "j");
    good(&[
        "sim",
        "--journal",
        &journal,
        "--then",
        "adaptive",
        "--then-at-ms",
        "200",
        "--canary-ms",
        "400",
    ]);
    good(&["replay", "--verify", &journal]);
    let text = fs::read_to_string(&journal).unwrap();
    assert!(text.contains("{\"note\":{\"canary_end\":"), "no end");
    let changed = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        fs::write(&journal, text.replacen(from, to, 1)).unwrap();
    };
    changed("\"promoted\":true", "\"promoted\":false");
    bad(1, &["replay", "--verify", &journal]);
    changed("\"ms\":400", "\"ms\":300");
    bad(1, &["replay", "--verify", &journal]);
    let without: String =
        text.lines().filter(|l| !l.contains("canary_end")).map(|l| format!("{l}\n")).collect();
    fs::write(&journal, without).unwrap();
    bad(1, &["replay", "--verify", &journal]);
    changed("headroom(obs.peak_kBps", "headroom(2 * obs.peak_kBps");
    assert!(bad(2, &["replay", "--verify", &journal]).contains("not the one of its digest"));
}

#[test]
fn a_thousand_swaps_leave_no_file_open() {
    let board = Arc::new(builtin("sdm845-seed").unwrap().unwrap());
    let rails = board.domains.iter().map(|d| Rails::open(&d.table, Unvoted::Top)).collect();
    let make = |name: &str| {
        let text = library::shipped(name).unwrap().text.to_owned();
        let source = Source { name: name.into(), text };
        PolicySpec::Script { source, set: Vec::new() }.build(&board).unwrap().0
    };
    let mut governor = Governor::new(board.clone(), make("bwmon"), rails, &[]);
    let files = || fs::read_dir("/proc/self/fd").unwrap().count();
    let before = files();
    for round in 0..1_000 {
        governor.replace(make(if round % 2 == 0 { "adaptive" } else { "bwmon" }));
    }
    // Tests beside this one open files of their own.
    assert!(files() < before + 100, "{before} {}", files());
}

#[test]
fn rules_and_times_are_checked_before_anything_runs() {
    let rule = |text: &str| {
        bad(
            2,
            &[
                "sim",
                "--then",
                "adaptive",
                "--then-at-ms",
                "1",
                "--canary-ms",
                "1",
                "--canary-rule",
                text,
            ],
        )
    };
    assert!(rule("fault<=0").contains("did you mean `faults`?"));
    assert!(rule("faults<0").contains("is no condition"));
    assert!(bad(2, &["sim", "--then", "adaptive"]).contains("--then-at-ms"));
    assert!(bad(2, &["sim", "--canary-ms", "5"]).contains("goes with --then"));
    assert!(bad(2, &["sim", "--then", "adaptve", "--then-at-ms", "1"]).contains("did you mean"));
}
