//! What goes wrong in experiments on a machine: commands that are missing, fail, hang or print
//! nothing, and machines that are disturbed.

use crate::common::wait_for;
use crate::machine_rig::{CPU, Lab, NONE, SCORE};
use bwmon_user::experiment::Status;
use bwmon_user::lab::{Outcome, Rig};
use std::fs;
use std::sync::atomic::Ordering;

fn workload(argv: &[&str], more: &str) -> String {
    format!("[[workload]]\nname = \"work\"\ncommand = {argv:?}\n{more}\n")
}

fn shell(script: &str) -> String {
    workload(&["sh", "-c", script], "")
}

/// The outcome of the first subject's run, and why.
fn ended(lab: &Lab) -> (Status, String, Outcome) {
    let mut rig = lab.rig();
    let outcome = lab.run(&mut rig, 0);
    (outcome.status, outcome.why.clone().unwrap_or_default(), outcome)
}

fn failed(work: &str) -> (String, Lab) {
    let lab = Lab::new(&format!("{NONE}{work}{SCORE}"));
    let (status, why, outcome) = ended(&lab);
    assert_eq!((status, outcome.measures.len()), (Status::Failed, 0), "{why}");
    (why, lab)
}

fn void(lab: &Lab) -> String {
    let (status, why, outcome) = ended(lab);
    assert_eq!((status, outcome.measures.len()), (Status::Void, 0), "{why}");
    why
}

/// Whether the process whose id is in the tree's file `pid` has ended.
fn gone(lab: &Lab) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", lab.tree.read("pid")));
    // Whoever inherits a killed process may be slow to wait for it.
    stat.map_or(true, |stat| stat.rsplit(')').next().unwrap().trim().starts_with('Z'))
}

#[test]
fn a_missing_command_is_named_and_nothing_is_put_in_place_for_it() {
    let (why, lab) = failed(&workload(&["no-such-program", "--fast"], ""));
    assert_eq!(why, "the command no-such-program is not found on this machine");
    assert!(!lab.folder().join("run-1.out").exists());
    let (why, _) = failed(&workload(&["./no-such-script"], ""));
    assert!(why.contains("./no-such-script is not found"), "{why}");
}

#[test]
fn a_failing_command_is_told_with_its_code_its_last_words_and_where_its_output_is() {
    let (why, lab) = failed(&shell("echo score=1; echo oh no >&2; exit 3"));
    let kept = lab.folder().join("run-1");
    assert_eq!(why, format!("sh ended with 3: oh no (kept in {})", kept.display()));
    assert_eq!(fs::read_to_string(kept.with_extension("out")).unwrap(), "score=1\n");
    let (why, _) = failed(&shell("kill -9 $$"));
    assert!(why.starts_with("sh was ended by signal 9"), "{why}");
    let (why, _) = failed(&workload(&["sh", "-c", "exit 4"], "warmup = 1"));
    assert!(why.contains("ended with 4") && why.contains("warmup-1"), "{why}");
}

#[test]
fn a_command_that_hangs_is_killed_with_everything_that_it_started() {
    let script = "trap '' TERM; sh -c 'trap \"\" TERM; while :; do sleep 1000; done' & \
                  echo $! > pid; echo score=1; wait";
    // Deaf to TERM, so that nothing but the kill ends it.
    let (why, lab) = failed(&workload(&["sh", "-c", script], "timeout_s = 1"));
    assert!(why.starts_with("sh did not end in 1 s and was killed: score=1"), "{why}");
    wait_for("the child of the child", || gone(&lab));
}

#[test]
fn what_a_command_leaves_running_does_not_disturb_the_next_run() {
    let lab =
        Lab::new(&format!("{NONE}{}{SCORE}", shell("sleep 1000 & echo $! > pid; echo score=1")));
    let (status, why, _) = ended(&lab);
    assert_eq!(status, Status::Done, "{why}");
    wait_for("what was left", || gone(&lab));
}

#[test]
fn a_hang_behind_ssh_is_ended_on_the_other_side() {
    let work = workload(&["sh", "-c", "echo $$ > pid; echo score=1; sleep 1000"], "timeout_s = 1");
    let lab = Lab::new(&format!("{NONE}{work}{SCORE}")).behind_ssh();
    let pid = lab.tree.path("pid");
    let script = format!("echo $$ > {}; echo score=1; sleep 1000", pid.display());
    let work = workload(&["sh", "-c", &script], "timeout_s = 1");
    let mut hung = lab;
    hung.agenda.workloads = Lab::new(&format!("{NONE}{work}{SCORE}")).agenda.workloads;
    let (status, why, _) = ended(&hung);
    assert_eq!(status, Status::Failed, "{why}");
    assert!(why.starts_with("sh did not end in 1 s and was killed"), "{why}");
    wait_for("the command", || gone(&hung));
}

#[test]
fn a_command_that_prints_no_measure_has_failed_and_its_output_is_kept() {
    let (why, lab) = failed(&shell("echo fine"));
    assert!(why.starts_with("no score in what was printed: nothing fits score=(\\S+)"), "{why}");
    assert_eq!(fs::read_to_string(lab.folder().join("run-1.out")).unwrap(), "fine\n");
    let (why, _) = failed(&shell("echo score=much"));
    assert!(why.contains("finds \"much\", which is no number"), "{why}");
    // stress-ng and others print to stderr.
    let lab = Lab::new(&format!("{NONE}{}{SCORE}", shell("echo score=7 >&2")));
    assert_eq!(ended(&lab).2.measures["score"], 7.0);
}

#[test]
fn a_pointer_that_leads_nowhere_is_told() {
    let json = "[[measure]]\nbetter = \"higher\"\nprimary = true\nname = \"bw\"\njson = \"/jobs/0/bw\"\nunit = \"kB/s\"\n";
    let lab = Lab::new(&format!("{NONE}{}{json}", shell("echo '{\"jobs\":[{\"bw\":\"5\"}]}'")));
    assert_eq!(ended(&lab).2.measures["bw"], 5.0);
    let lab = Lab::new(&format!("{NONE}{}{json}", shell("echo '{\"jobs\":[]}'")));
    let (status, why, _) = ended(&lab);
    assert_eq!(status, Status::Failed);
    assert!(
        why.starts_with("no bw in what was printed: its JSON has nothing at /jobs/0/bw"),
        "{why}"
    );
}

#[test]
fn a_knob_that_somebody_else_turns_makes_the_run_void() {
    let subjects = "[[subject]]\ncpufreq = \"performance\"\n[[subject]]\nnone = true\n";
    let turn = |file: &str, value: &str| shell(&format!("echo score=1; echo {value} > {file}"));
    let governor = format!("{CPU}/scaling_governor");
    let lab = Lab::new(&format!("{subjects}{}{SCORE}", turn(&governor, "schedutil")));
    assert_eq!(
        void(&lab),
        format!("/{governor} became schedutil during the run, performance was written")
    );
    // Also one that nobody asked for.
    let most = format!("{CPU}/scaling_max_freq");
    let lab = Lab::new(&format!("{NONE}{}{SCORE}", turn(&most, "1209600")));
    assert_eq!(void(&lab), format!("/{most} went from 2803200 to 1209600 during the run"));
    let online = "sys/devices/system/cpu/online";
    let lab = Lab::new(&format!("{NONE}{}{SCORE}", turn(online, "0-3")));
    lab.tree.write(online, "0-7\n");
    assert_eq!(void(&lab), "CPUs on line went from 0-7 to 0-3 during the run");
}

#[test]
fn throttling_and_suspending_make_the_run_void() {
    let cooling = "sys/class/thermal/cooling_device0";
    let lab = |script: &str| {
        let lab = Lab::new(&format!("{NONE}{}{SCORE}", shell(&format!("echo score=1; {script}"))));
        lab.tree.write(&format!("{cooling}/type"), "cpufreq-cpu0\n");
        lab.tree.write(&format!("{cooling}/cur_state"), "0\n");
        lab.tree.write(&format!("{cooling}/stats/total_trans"), "3\n");
        lab.tree.write("sys/power/suspend_stats/success", "0\n");
        lab
    };
    let state = lab(&format!("echo 2 > {cooling}/cur_state"));
    assert_eq!(void(&state), "throttled: cooling_device0 cpufreq-cpu0 is at 2");
    let between = lab(&format!("echo 5 > {cooling}/stats/total_trans"));
    assert_eq!(
        void(&between),
        "throttled: cooling_device0 cpufreq-cpu0 was at work during the run"
    );
    let slept = lab("echo 1 > sys/power/suspend_stats/success");
    assert_eq!(void(&slept), "the machine was suspended during the run");
    let fan = lab(&format!("echo 2 > {cooling}/cur_state"));
    fan.tree.write(&format!("{cooling}/type"), "pwm-fan\n");
    assert_eq!(ended(&fan).0, Status::Done);
}

#[test]
fn a_foreign_vote_beside_a_policy_makes_the_run_void() {
    let subjects = "[[subject]]\npolicy = \"performance\"\n[[subject]]\nnone = true\n";
    let script = "echo score=1; echo powersave > sys/class/devfreq/noc/governor; \
                  until grep -q foreign ../*/runs/0/agent.jsonl $RUN; do :; done";
    let lab = Lab::new(&format!("{subjects}{}{SCORE}", shell("true")));
    let journal = lab.folder().join("agent.jsonl");
    let script = script.replace("../*/runs/0/agent.jsonl $RUN", &journal.to_string_lossy());
    let mut turned = lab;
    turned.agenda.workloads =
        Lab::new(&format!("{subjects}{}{SCORE}", shell(&script))).agenda.workloads;
    let why = void(&turned);
    assert!(
        why.contains("/sys/class/devfreq/noc/governor went from userspace to powersave"),
        "{why}"
    );
}

#[test]
fn an_agent_that_dies_at_its_start_makes_the_run_void_and_says_why() {
    let subjects = "[[subject]]\npolicy = \"performance\"\n[[subject]]\nnone = true\n";
    let lab = Lab::new(&format!("{subjects}{}{SCORE}", shell("echo score=1")));
    fs::remove_dir_all(lab.tree.path("sys/bus/platform/devices/1400.pmu")).unwrap();
    let why = void(&lab);
    assert!(why.starts_with("the agent ended: monitor cpu: this machine has no device"), "{why}");
    assert!(!lab.results.path().join("knobs.json").exists());
}

#[test]
fn an_agent_that_is_killed_during_the_run_makes_it_void_and_what_it_left_is_put_back() {
    let subjects = "[[subject]]\npolicy = \"performance\"\n[[subject]]\nnone = true\n";
    let kill = "pid=$(sed -n 's/.*\"pid\": \\([0-9]*\\).*/\\1/p' state/restore.json); kill -9 $pid; \
                echo score=1";
    let lab = Lab::new(&format!("{subjects}{}{SCORE}", shell(kill)));
    let mut rig = lab.rig();
    let outcome = lab.run(&mut rig, 0);
    assert_eq!(outcome.status, Status::Void, "{outcome:?}");
    let why = outcome.why.unwrap();
    // Whether it has ended when it is looked at, or only just then.
    let ended = why.starts_with("the agent ended during the run");
    assert!(ended || why.starts_with("the agent failed"), "{why}");
    let said = rig.take_notes();
    assert!(said.iter().any(|line| line.contains("governor back to simple_ondemand")), "{said:?}");
    assert_eq!(lab.tree.governor(), "simple_ondemand");
    assert_eq!(rig.end(), Vec::<String>::new());
}

#[test]
fn to_stop_ends_the_command_and_the_run_is_void() {
    for behind_ssh in [false, true] {
        let lab = Lab::new(&format!("{NONE}{}{SCORE}", shell("true")));
        let pid = lab.tree.path("pid");
        let script = format!("echo $$ > {}; exec sleep 1000", pid.display());
        let mut lab = if behind_ssh { lab.behind_ssh() } else { lab };
        lab.agenda.workloads =
            Lab::new(&format!("{NONE}{}{SCORE}", shell(&script))).agenda.workloads;
        let (stop, written) = (lab.stop.clone(), pid.clone());
        let signal = std::thread::spawn(move || {
            wait_for("the command", || {
                fs::read_to_string(&written).is_ok_and(|t| t.ends_with('\n'))
            });
            stop.store(true, Ordering::Relaxed);
        });
        assert_eq!(void(&lab), "interrupted");
        signal.join().unwrap();
        wait_for("the end of the command", || gone(&lab));
    }
}

#[test]
fn a_machine_that_stays_too_hot_is_not_measured() {
    let limits = "[limits]\ncooldown_c = 5.0\ncooldown_timeout_s = 0\n";
    let lab = Lab::new(&format!("{limits}{NONE}{}{SCORE}", shell("echo score=1")));
    let zone = "sys/class/thermal/thermal_zone3/temp";
    lab.tree.write(zone, "40000\n");
    // A zone that is off.
    lab.tree.write("sys/class/thermal/thermal_zone4/temp", "-274000\n");
    let mut rig = lab.rig();
    assert_eq!(lab.run(&mut rig, 0).status, Status::Done);
    lab.tree.write(zone, "45500\n");
    let hot = lab.run(&mut rig, 0);
    assert_eq!(hot.why.unwrap(), "after 0 s still 45.5 °C, more than 45 °C");
    lab.tree.write(zone, "44900\n");
    let cool = lab.run(&mut rig, 0);
    assert_eq!(cool.status, Status::Done);
    assert_eq!(cool.conditions["before"]["hottest_c"], 44.9);
}

#[test]
fn a_machine_that_does_not_answer_is_an_error_with_what_ssh_said() {
    let lab = Lab::new(&format!("{NONE}{}{SCORE}", shell("true"))).behind_ssh();
    let mut site = lab.site();
    if let Some(ssh) = &mut site.ssh {
        ssh.name = "nowhere".into();
    }
    let settings = bwmon_user::lab::machine::Settings {
        site,
        agenda: lab.agenda.clone(),
        agenda_dir: lab.tree.folder.path().to_owned(),
        results: lab.results.path().to_owned(),
        dry_run: false,
        stop: lab.stop.clone(),
    };
    let error = bwmon_user::lab::machine::MachineRig::new(settings).unwrap_err();
    assert_eq!(format!("{error:#}"), "cannot reach the machine: nowhere: no route to nowhere");
}
