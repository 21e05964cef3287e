//! Products beside the other tools: reload, another policy in the middle, explanations.

use crate::common::{Tree, at, folder, good, json, wait_for};
use std::fs;
use std::process::Stdio;

const MINE: &str = "// @param level = 2 (0..2) x\nfn decide(obs) { opp(cfg::level) }";

#[test]
fn a_reload_of_a_products_script_keeps_its_tunables_and_limits() {
    let tree = Tree::new();
    tree.write("proc/sys/kernel/osrelease", "6.12.9\n");
    tree.write("etc/bwmon/products/mine.rhai", MINE);
    tree.write(
        "etc/bwmon/products/acme.toml",
        "schema = 1\nname = \"acme\"\nboard = \"../../../board.toml\"\nperiod_us = 4500\n\
         [match]\nkernel = \">=6\"\n[policy]\nname = \"mine.rhai\"\nparams = { level = 0 }\n\
         [limits]\nmin_level = 1\n",
    );
    let (journal, said) = (at(&tree.folder, "journal"), tree.path("said"));
    let mut command = tree.command(&["run", "--journal", &journal]);
    let stderr = fs::File::create(&said).unwrap();
    let mut agent = command.stdout(Stdio::null()).stderr(stderr).spawn().unwrap();
    tree.wait_for_journal("\"applied\"");
    tree.write("etc/bwmon/products/mine.rhai", &MINE.replace("cfg::level", "cfg::level, \"new\""));
    tree.wait_for_journal("\"why\":\"new\"");
    let pid = agent.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert_eq!(agent.wait().unwrap().code(), Some(0), "{}", fs::read_to_string(&said).unwrap());
    let text = fs::read_to_string(&journal).unwrap();
    let new = text.lines().find(|line| line.contains("\"why\":\"new\"")).unwrap();
    let entry: serde_json::Value = serde_json::from_str(new).unwrap();
    let ddr = &entry["domains"][0];
    // The tunable is the product's 0, not the script's 2; the floor is the product's, too.
    assert_eq!((&ddr["ask"]["opp"], &ddr["decision"]["level"]), (&0.into(), &1.into()));
    good(&["replay", "--verify", &journal]);
}

#[test]
fn another_policy_takes_over_from_policies_per_domain_with_the_state_of_each() {
    let heir = "fn init(info) { #{ from: \"nobody\" } }\n\
                fn on_event(ev) { if ev.has(\"old_state\") { this.from = ev.old_digest; } }\n\
                fn decide(obs) { opp_min(this.from) }";
    let folder = folder(&[("heir.rhai", heir)]);
    let (file, journal) = (at(&folder, "heir.rhai"), at(&folder, "j"));
    let sim = ["sim", "--product", "vendor-sdm845", "--journal", &journal, "--then", &file];
    good(&[&sim[..], &["--then-at-ms", "200"]].concat());
    good(&["replay", "--verify", &journal]);
    let text = fs::read_to_string(&journal).unwrap();
    let line = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let (header, last) = (line(text.lines().next().unwrap()), line(text.lines().last().unwrap()));
    // Each domain is told the digest of what decided for it.
    let parts = header["policy"]["policies"].as_array().unwrap();
    for domain in last["domains"].as_array().unwrap() {
        let has = |part: &&serde_json::Value| {
            part["domains"].as_array().unwrap().contains(&domain["name"])
        };
        let part = parts.iter().find(has).unwrap();
        assert_eq!(domain["why"], part["policy"]["digest"], "{domain}");
    }
    // The same as a canary, which sees every domain.
    let canary = ["--then-at-ms", "200", "--canary-ms", "100", "--canary-rule", "faults<=0"];
    good(&[&sim[..], &canary].concat());
    good(&["replay", "--verify", &journal]);
}

#[test]
fn an_explanation_shows_the_lines_of_the_domains_own_policy() {
    let folder = folder(&[]);
    let journal = at(&folder, "j");
    good(&["sim", "--product", "vendor-sdm845", "--journal", &journal]);
    for (domain, policy) in [("llcc", "bw_hwmon"), ("l3", "adaptive")] {
        let told =
            json(&["policy", "explain", &journal, "--tick", "40", "--json", "--domain", domain]);
        let story = if told.is_array() { &told[0] } else { &told };
        assert_eq!(story["policy"], policy, "{domain}");
        assert!(!story["steps"].as_array().unwrap().is_empty(), "{domain}");
    }
}

#[test]
fn an_agent_with_policies_per_domain_takes_a_product_that_changes() {
    let tree = Tree::new();
    let board = fs::read_to_string(tree.path("board.toml")).unwrap();
    // A second domain without a vote path, so that there are two policies.
    let two = format!(
        "{board}[[domain]]\nname = \"l3\"\ncolumns = [\"l3\"]\nopp_peak_kBps = [[1], [2]]\n"
    );
    tree.write("board.toml", &two);
    tree.write("proc/sys/kernel/osrelease", "6.12.9\n");
    tree.write(
        "etc/bwmon/products/acme.toml",
        "schema = 1\nname = \"acme\"\nboard = \"../../../board.toml\"\n[match]\nkernel = \">=6\"\n\
         [domain.l3]\npolicy = \"powersave\"\n",
    );
    let (journal, said) = (at(&tree.folder, "journal"), tree.path("said"));
    let stderr = fs::File::create(&said).unwrap();
    let mut command = tree.command(&["run", "--journal", &journal]);
    let mut agent = command.stdout(Stdio::null()).stderr(stderr).spawn().unwrap();
    tree.wait_for_journal("\"applied\"");
    let pid = agent.id().to_string();
    let signal = |name: &str| {
        let sent = std::process::Command::new("kill").args([name, &pid]).status();
        assert!(sent.unwrap().success());
    };
    let wait_for_said = |words: &str| {
        wait_for(words, || fs::read_to_string(&said).unwrap().contains(words));
    };
    signal("-HUP");
    wait_for_said("acme is unchanged");
    // Its limits change, and one of its policies.
    let product = fs::read_to_string(tree.path("etc/bwmon/products/acme.toml")).unwrap();
    let product = product.replace("powersave", "performance") + "[limits]\nmin_level = 1\n";
    fs::write(tree.path("etc/bwmon/products/acme.toml"), product).unwrap();
    tree.wait_for_journal("\"note\":{\"policy\"");
    tree.wait_for_journal("\"terms\"");
    wait_for_said("decides from now on");
    // What is wrong with it is said, and changes nothing.
    fs::write(tree.path("etc/bwmon/products/acme.toml"), "schema = 1\nnme = 1\n").unwrap();
    wait_for_said("did you mean name?");
    wait_for_said("all stays as it is");
    signal("-TERM");
    assert_eq!(agent.wait().unwrap().code(), Some(0));
    good(&["replay", "--verify", &journal]);
}
