use super::*;

fn conditions(files: &[(&str, &str)]) -> Conditions {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
    Conditions { files: Snapshot(files.collect()), slept_ms: Some(0) }
}

const COUNT: &str = "/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count";
const MAX: &str = "/sys/class/devfreq/noc/max_freq";

fn between(before: &Conditions, after: &Conditions, governed: bool) -> Option<String> {
    disturbed(before, after, &BTreeMap::new(), governed)
}

#[test]
fn a_processor_that_counted_a_throttle_was_disturbed() {
    let (before, after) = (conditions(&[(COUNT, "3\n")]), conditions(&[(COUNT, "4\n")]));
    assert_eq!(before.json()["throttle_count"], 3);
    assert!(between(&before, &after, false).unwrap().starts_with("throttled: the processor"));
    assert_eq!(between(&before, &before, false), None);
}

#[test]
fn limits_of_devfreq_may_change_only_while_an_agent_governs() {
    let (before, after) = (conditions(&[(MAX, "300\n")]), conditions(&[(MAX, "200\n")]));
    let why = format!("{MAX} went from 300 to 200 during the run");
    assert_eq!(between(&before, &after, false), Some(why));
    assert_eq!(between(&before, &after, true), None);
}

#[test]
fn a_clock_that_ran_on_while_the_other_stood_is_a_suspend() {
    let mut after = conditions(&[]);
    after.slept_ms = Some(1_500);
    let why = between(&conditions(&[]), &after, false);
    assert_eq!(why.as_deref(), Some("the machine was suspended during the run"));
    after.slept_ms = Some(3);
    assert_eq!(between(&conditions(&[]), &after, false), None);
}

#[test]
fn what_a_machine_does_not_have_is_not_told() {
    assert_eq!(conditions(&[]).json(), json!({}));
    assert_eq!(conditions(&[]).hottest_c(), None);
}
