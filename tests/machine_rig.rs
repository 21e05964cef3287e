//! Experiments on a machine: a fake tree, real commands, agents of the built binary, a fake ssh.

use crate::common::{BOARD, Tree, at, wait_for};
use bwmon_user::experiment::{Agenda, Status, parse};
use bwmon_user::lab::machine::{MachineRig, Settings, Site, SshTo, put_back};
use bwmon_user::lab::{Job, Outcome, Rig, traces_of};
use bwmon_user::live::Root;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;

/// A fake machine, an agenda, and a folder of results.
pub(crate) struct Lab {
    pub(crate) tree: Tree,
    pub(crate) results: TempDir,
    pub(crate) agenda: Agenda,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) dry_run: bool,
    ssh: Option<PathBuf>,
}

pub(crate) const CPU: &str = "sys/devices/system/cpu/cpufreq/policy0";

impl Lab {
    /// An agenda with `rest` after its head, on the tree's board.
    pub(crate) fn new(rest: &str) -> Self {
        let tree = Tree::new();
        for (name, text) in [
            ("scaling_governor", "schedutil\n"),
            ("scaling_available_governors", "performance schedutil\n"),
            ("scaling_min_freq", "300000\n"),
            ("scaling_max_freq", "2803200\n"),
        ] {
            tree.write(&format!("{CPU}/{name}"), text);
        }
        let board = at(&tree.folder, "board.toml");
        let head = format!(
            "schema = 1\nname = \"test\"\nwhat = \"a test\"\nplace = \"machine\"\n\
             board = \"{board}\"\nperiod_us = 4500\nsettle_ms = 20\n"
        );
        let agenda = parse("test.toml", &format!("{head}{rest}"));
        let agenda = agenda.unwrap_or_else(|error| panic!("{error}"));
        let results = tempfile::tempdir().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        Self { tree, results, agenda, stop, dry_run: false, ssh: None }
    }

    /// The same machine, but behind a program that takes the place of ssh and runs everything here.
    pub(crate) fn behind_ssh(mut self) -> Self {
        let program = self.results.path().join("fake-ssh");
        // As ssh does, it hands the words after the name to a shell as one line, in a session that is
        // not ours: what is left running there is not ended with ssh.
        let script = "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\n\
                      [ \"$2\" = board.lan ] || { echo \"no route to $2\" >&2; exit 255; }\n\
                      shift 2; exec setsid -w sh -c \"$*\"\n";
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        self.ssh = Some(program);
        self
    }

    pub(crate) fn site(&self) -> Site {
        let ssh = self.ssh.clone();
        Site {
            ssh: ssh.map(|program| SshTo { name: "board.lan".into(), program }),
            root: Root::at(self.tree.folder.path()),
            exe: env!("CARGO_BIN_EXE_bwmon").into(),
            state_dir: Some(self.tree.path("state")),
        }
    }

    pub(crate) fn rig(&self) -> MachineRig {
        let settings = Settings {
            site: self.site(),
            agenda: self.agenda.clone(),
            agenda_dir: self.tree.folder.path().to_owned(),
            results: self.results.path().to_owned(),
            dry_run: self.dry_run,
            stop: self.stop.clone(),
        };
        MachineRig::new(settings).unwrap()
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.results.path().join("runs/0")
    }

    /// The first workload under the subject `subject`.
    pub(crate) fn run(&self, rig: &mut MachineRig, subject: usize) -> Outcome {
        rig.run(&Job {
            subject: &self.agenda.subjects[subject],
            workload: &self.agenda.workloads[0],
            block: 0,
            progress: 0.0,
            folder: &self.folder(),
        })
    }

    /// One run that must come to its measures.
    fn done(&self) -> Outcome {
        let mut rig = self.rig();
        assert_eq!(rig.cannot(&self.agenda.subjects[0]), None);
        let outcome = self.run(&mut rig, 0);
        assert_eq!(outcome.status, Status::Done, "{outcome:?}");
        assert_eq!(rig.end(), Vec::<String>::new());
        assert!(!self.results.path().join("knobs.json").exists());
        outcome
    }
}

pub(crate) const NONE: &str =
    "[[subject]]\nnone = true\n[[subject]]\nname = \"other\"\nnone = true\n";
pub(crate) const SCORE: &str = "[[measure]]\nbetter = \"higher\"\nprimary = true\nname = \"score\"\nregex = 'score=(\\S+)'\nunit = \"points\"\n";

/// A shell's command that waits until the tree's agent has had some more ticks.
const BUSY: &str = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo score=$i";

const JOURNALLED: &str = r#"
[[measure]]
better = "higher"
primary = true
name = "vote"
journal = "mean_vote_kBps"
[[measure]]
better = "higher"
primary = true
name = "faults"
journal = "faults"
smallest_effect = 1.0
[[measure]]
better = "higher"
primary = true
name = "read"
journal = "mean_kBps"
domain = "ddr"
"#;

fn workload(script: &str) -> String {
    format!("[[workload]]\nname = \"work\"\ncommand = [\"sh\", \"-c\", {script:?}]\n")
}

#[test]
fn a_policy_governs_beside_the_command_and_its_journal_is_measured() {
    let subjects = "[[subject]]\npolicy = \"performance\"\n[[subject]]\nnone = true\n";
    let lab = Lab::new(&format!("{subjects}{}{SCORE}{JOURNALLED}", workload(BUSY)));
    let outcome = lab.done();
    assert_eq!(outcome.measures["score"], 20_000.0);
    assert_eq!((outcome.measures["vote"], outcome.measures["faults"]), (3_072_000.0, 0.0));
    // The counters of the fake block stay 0: one count of 16000 kBps is what the kernel adds.
    assert_eq!(outcome.measures["read"], 16_000.0);
    let agent = &outcome.conditions["agent"];
    assert_eq!((&agent["mode"], &agent["policy"]), (&json!("govern"), &json!("performance")));
    assert_eq!(agent["policy_digest"].as_str().unwrap().len(), 16);
    let cpu = &outcome.conditions["before"]["cpufreq"]["policy0"];
    assert_eq!((&cpu["governor"], &cpu["max_kHz"]), (&json!("schedutil"), &json!(2_803_200)));
    assert_eq!(lab.tree.governor(), "simple_ondemand");
    assert!(lab.folder().join("run-1.out").exists() && lab.folder().join("agent.jsonl").exists());
    // The first block's run is kept for the report's charts.
    let traces = traces_of(&lab.folder());
    assert_eq!((traces.len(), traces[0].domain.as_str()), (1, "ddr"));
    let votes = traces[0].points.iter().map(|point| point.vote_kbps);
    assert!(votes.len() > 0 && votes.clone().all(|vote| vote == Some(3_072_000)), "{traces:?}");
}

#[test]
fn a_fixed_level_is_what_is_voted_all_the_time() {
    let subjects = "[[subject]]\nfixed = { ddr = 900000 }\n[[subject]]\nnone = true\n";
    let lab = Lab::new(&format!("{subjects}{}{SCORE}{JOURNALLED}", workload(BUSY)));
    assert_eq!(lab.done().measures["vote"], 1_804_000.0);
}

#[test]
fn beside_a_governor_the_journal_is_unknown_where_no_agent_can_look_on() {
    let subjects = "[[subject]]\ncpufreq = \"performance\"\n[[subject]]\nnone = true\n";
    let lab = Lab::new(&format!("{subjects}{}{SCORE}{JOURNALLED}", workload(BUSY)));
    let mut rig = lab.rig();
    assert_eq!(rig.cannot(&lab.agenda.subjects[0]), None);
    let outcome = lab.run(&mut rig, 0);
    assert_eq!(outcome.status, Status::Done, "{outcome:?}");
    assert_eq!(outcome.measures.keys().collect::<Vec<_>>(), ["score"]);
    let why = outcome.conditions["journal_unknown"].as_str().unwrap();
    assert!(why.contains("no monitor of board tree can be read"), "{why}");
    assert_eq!(lab.tree.read(&format!("{CPU}/scaling_governor")), "performance");
    // The next subject does not inherit it.
    let outcome = lab.run(&mut rig, 1);
    assert_eq!(outcome.status, Status::Done, "{outcome:?}");
    assert_eq!(lab.tree.read(&format!("{CPU}/scaling_governor")), "schedutil");
    assert_eq!(rig.end(), Vec::<String>::new());
}

#[test]
fn subjects_that_cannot_run_here_say_why() {
    let subjects = "[[subject]]\ndevfreq = \"performance\"\n[[subject]]\ncpufreq = \"ondemand\"\n\
        [[subject]]\nkernel = true\n[[subject]]\npolicy = \"missing.rhai\"\n\
        [[subject]]\nfixed = { llcc = \"max\" }\n[[subject]]\nname = \"tuned\"\npolicy = \"bwmon\"\n\
        set = { nonsense = 3 }\n";
    let lab = Lab::new(&format!("{subjects}{}{SCORE}", workload(BUSY)));
    let mut rig = lab.rig();
    let mut why = |index: usize| rig.cannot(&lab.agenda.subjects[index]).unwrap();
    assert_eq!(
        why(0),
        "/sys/class/devfreq/noc/governor does not offer performance, but: userspace simple_ondemand"
    );
    assert!(why(1).ends_with("does not offer ondemand, but: performance schedutil"));
    assert_eq!(
        why(2),
        "the kernel's driver qcom-bwmon (icc-bwmon) is not there or holds no device"
    );
    assert!(why(3).contains("missing.rhai"), "{}", why(3));
    assert_eq!(why(4), "board tree has no domain llcc; it has ddr");
    assert!(why(5).contains("nonsense"), "{}", why(5));
    lab.tree.write("sys/bus/platform/drivers/qcom-bwmon/1400.pmu/modalias", "of:x\n");
    assert_eq!(rig.cannot(&lab.agenda.subjects[2]), None);
    assert_eq!(lab.tree.governor(), "simple_ondemand");
}

#[test]
fn a_dry_run_lets_policies_decide_and_writes_nothing() {
    let subjects =
        "[[subject]]\npolicy = \"performance\"\n[[subject]]\ncpufreq = \"performance\"\n";
    let mut lab = Lab::new(&format!("{subjects}{}{SCORE}{JOURNALLED}", workload(BUSY)));
    lab.dry_run = true;
    let outcome = lab.done();
    assert_eq!(outcome.conditions["agent"]["mode"], "dry-run");
    assert_eq!(lab.rig().cannot(&lab.agenda.subjects[1]).unwrap(), "a dry run changes nothing");
    assert_eq!(lab.tree.set_freq(), "undefined");
}

#[test]
fn warm_up_and_repetitions_run_and_the_median_counts() {
    let count = "echo x >> count; echo score=$(wc -l < count)";
    let work = format!("{}warmup = 2\nrepetitions = 3\n", workload(count));
    let time =
        "[[measure]]\nbetter = \"higher\"\nprimary = true\nname = \"time\"\nwall_time = true\n";
    let energy =
        "[[measure]]\nbetter = \"higher\"\nprimary = true\nname = \"joules\"\nenergy = \"\"\n";
    let lab = Lab::new(&format!("{NONE}{work}{SCORE}{time}{energy}"));
    let outcome = lab.done();
    // The third, fourth and fifth run of it.
    assert_eq!(outcome.measures["score"], 4.0);
    assert!(outcome.measures["time"] > 0.0);
    assert_eq!(outcome.measures.get("joules"), None, "unknown is not 0");
}

#[test]
fn a_command_runs_on_the_cpus_that_it_is_bound_to() {
    let work = format!("{}cpus = \"0\"\n", workload("grep Cpus_allowed_list /proc/self/status"));
    let cpus = SCORE.replace("score=(\\S+)", "list:\\s+([0-9,-]+)");
    let lab = Lab::new(&format!("{NONE}{work}{cpus}"));
    assert_eq!(lab.done().measures["score"], 0.0);
}

#[test]
fn energy_is_what_the_counters_counted_while_the_command_ran() {
    let work = workload("echo 250000 > sys/class/powercap/intel-rapl:0/energy_uj");
    let energy =
        "[[measure]]\nbetter = \"higher\"\nprimary = true\nname = \"joules\"\nenergy = \"\"\n";
    let lab = Lab::new(&format!("{NONE}{work}{energy}"));
    let zone = "sys/class/powercap/intel-rapl:0";
    lab.tree.write(&format!("{zone}/name"), "package-0\n");
    lab.tree.write(&format!("{zone}/energy_uj"), "750000\n");
    lab.tree.write(&format!("{zone}/max_energy_range_uj"), "1000000\n");
    assert_eq!(lab.done().measures["joules"], 0.5);
}

#[test]
fn behind_ssh_everything_is_the_same() {
    let subjects = "[[subject]]\npolicy = \"mine.rhai\"\n[[subject]]\ncpufreq = \"performance\"\n";
    let time =
        "[[measure]]\nbetter = \"higher\"\nprimary = true\nname = \"time\"\nwall_time = true\n";
    let lab = Lab::new(&format!("{subjects}{}{SCORE}{JOURNALLED}{time}", workload(BUSY)));
    let lab = lab.behind_ssh();
    let policy = "// it's mine\nfn decide(obs) {\n    opp_max(\"a 'quoted' \\\\ reason\")\n}\n";
    lab.tree.write("mine.rhai", policy);
    let outcome = lab.done();
    assert_eq!((outcome.measures["score"], outcome.measures["vote"]), (20_000.0, 3_072_000.0));
    assert!(outcome.measures["time"] > 0.0);
    assert_eq!(lab.tree.governor(), "simple_ondemand");
    let mut rig = lab.rig();
    assert_eq!(rig.cannot(&lab.agenda.subjects[1]), None);
    let outcome = lab.run(&mut rig, 1);
    assert_eq!(outcome.status, Status::Done, "{outcome:?}");
    assert_eq!(lab.tree.read(&format!("{CPU}/scaling_governor")), "performance");
    assert_eq!(rig.environment()["host"], "board.lan");
    assert_eq!(rig.end(), Vec::<String>::new());
    assert_eq!(lab.tree.read(&format!("{CPU}/scaling_governor")), "schedutil");
}

#[test]
fn words_reach_the_other_side_whole_whatever_is_in_them() {
    let words = ["it's", "a  b", "x\ny", "$HOME `id` \"q\" \\", "*", "ü€"];
    let list: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
    let work = format!(
        "[[workload]]\nname = \"work\"\ncommand = [\"printf\", \"%s|\", {}, \"score=1\"]\n",
        list.join(", ")
    );
    let lab = Lab::new(&format!(
        "{NONE}{work}[[measure]]\nbetter = \"higher\"\nprimary = true\nname = \"score\"\nregex = 'score=(\\d)'\nunit = \"points\"\n"
    ));
    let lab = lab.behind_ssh();
    assert_eq!(lab.done().measures["score"], 1.0);
    let printed = fs::read_to_string(lab.folder().join("run-1.out")).unwrap();
    assert_eq!(printed, format!("{}|score=1|", words.join("|")));
}

#[test]
fn a_killed_experiment_is_put_back_and_its_agent_ended() {
    let subjects = "[[subject]]\ncpufreq = \"performance\"\n[[subject]]\nnone = true\n";
    let lab = Lab::new(&format!("{subjects}{}{SCORE}", workload(BUSY)));
    let mut rig = lab.rig();
    assert_eq!(lab.run(&mut rig, 0).status, Status::Done);
    // As after kill -9: nothing of it is run any more.
    std::mem::forget(rig);
    let file = lab.results.path().join("knobs.json");
    let journal = at(&lab.tree.folder, "journal");
    let noted = fs::read_to_string(&file).unwrap();
    let noted = noted.replacen("}", &format!(",\"agent\":{journal:?}}}"), 1);
    fs::write(&file, noted).unwrap();
    let mut agent = lab.tree.start();
    wait_for("a vote", || lab.tree.set_freq() == "300");
    let waiting = std::thread::spawn(move || agent.wait().unwrap());
    let said = put_back(lab.results.path(), &lab.site());
    assert!(said[0].starts_with("ended the agent"), "{said:?}");
    assert_eq!(said[1..], [format!("/{CPU}/scaling_governor is schedutil again")]);
    assert_eq!(waiting.join().unwrap().code(), Some(0));
    assert_eq!(lab.tree.read(&format!("{CPU}/scaling_governor")), "schedutil");
    assert_eq!((lab.tree.governor(), file.exists()), ("simple_ondemand".into(), false));
    assert_eq!(put_back(lab.results.path(), &lab.site()), Vec::<String>::new());
}

#[test]
fn what_was_noted_before_the_last_start_of_the_machine_is_not_put_back() {
    let subjects = "[[subject]]\ncpufreq = \"performance\"\n[[subject]]\nnone = true\n";
    let lab = Lab::new(&format!("{subjects}{}{SCORE}", workload(BUSY)));
    let mut rig = lab.rig();
    assert_eq!(lab.run(&mut rig, 0).status, Status::Done);
    std::mem::forget(rig);
    lab.tree.write("proc/sys/kernel/random/boot_id", "two\n");
    let said = lab.rig().take_notes();
    assert!(said[0].contains("started anew"), "{said:?}");
    assert_eq!(lab.tree.read(&format!("{CPU}/scaling_governor")), "performance");
    assert!(lab.results.path().join("knobs.json.old").exists());
}

#[test]
fn sysbench_is_measured_as_it_is() {
    if std::process::Command::new("sysbench").arg("--version").output().is_err() {
        println!("skipped: sysbench is not installed (apt-get install sysbench)");
        return;
    }
    let subjects = "[[subject]]\npolicy = \"bwmon\"\n[[subject]]\nnone = true\n";
    let work = "[[workload]]\nname = \"sysbench\"\ncommand = [\"sysbench\", \"memory\", \
        \"--memory-block-size=64K\", \"--memory-total-size=1T\", \"--time=1\", \"run\"]\ntimeout_s = 60\n";
    let rate = "[[measure]]\nbetter = \"higher\"\nprimary = true\nname = \"rate\"\nunit = \"MiB/s\"\n\
        regex = 'transferred \\(([0-9.]+) MiB/sec\\)'\n";
    let mut lab = Lab::new(&format!("{subjects}{work}{rate}{JOURNALLED}"));
    lab.dry_run = true;
    let measures = lab.done().measures;
    assert!(measures["rate"] > 1.0, "{measures:?}");
    assert!(BOARD.contains("800_000") && measures["vote"] >= 800_000.0, "{measures:?}");
}
