//! `bwmon run --interrupts` where there is nothing to be woken by. Real interrupts are in the virtual
//! machine (`cargo xtask vm --scenario waking`).

use crate::common::{Tree, at};
use std::fs;

#[test]
fn without_an_interrupt_all_is_polled_and_that_is_said_once() {
    let tree = Tree::new();
    let file = at(&tree.folder, "journal");
    let args = ["--interrupts", "--period-us", "4000", "--ticks", "30", "--journal", &file];
    let ran = tree.run(&args);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let said = "polled, not woken by interrupts: monitor cpu: no driver offers its interrupt (UIO)";
    assert_eq!(ran.stderr.matches(said).count(), 1, "{}", ran.stderr);
    // The pace is the polled one, not the heartbeat's: 30 ticks of 4 ms.
    let header = fs::read_to_string(tree.path("journal")).unwrap();
    let header: serde_json::Value = serde_json::from_str(header.lines().next().unwrap()).unwrap();
    assert_eq!(header["period_us"], 4_000);
    assert!(!header["capabilities"].as_array().unwrap().contains(&"interrupts".into()));
}

#[test]
fn words_that_make_no_sense_together_are_refused() {
    let tree = Tree::new();
    for args in [&["--interrupts", "--shadow"][..], &["--heartbeat-ms", "500"]] {
        let ran = tree.run(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.stderr);
        assert_eq!(tree.governor(), "simple_ondemand");
    }
}
