//! `bwmon calibrate`: on the simulator, where the answer is known, and refused live.

use crate::board_probe::{DDR, Phone};
use crate::common::{at, bad, bwmon, good, json};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::FileExt;

/// Monitor, verdict and the units that fit.
type Row = (String, String, Vec<u64>);

/// The exit code, and a row for each monitor of a simulated board.
fn found(args: &[&str]) -> (Option<i32>, Vec<Row>) {
    let ran = bwmon(&[["calibrate", "--json"].as_slice(), args].concat());
    let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    let monitors = report["monitors"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let units = |value: &Value| value.as_array().unwrap().iter().flat_map(Value::as_u64).collect();
    let rows = monitors.iter().map(|monitor| {
        (text(&monitor["monitor"]), text(&monitor["verdict"]), units(&monitor["candidates_kB"]))
    });
    (ran.code, rows.collect())
}

fn fits(monitor: &str, unit_kb: u64) -> Row {
    (monitor.into(), "fits".into(), vec![unit_kb])
}

#[test]
fn the_units_of_simulated_boards_are_found() {
    let sdm845 = vec![fits("cpu", 64), fits("llcc", 1024)];
    assert_eq!(found(&["--sim", "sdm845"]), (Some(0), sdm845));
    assert_eq!(found(&["--sim", "sc7280"]), (Some(0), vec![fits("cpu", 64), fits("llcc", 64)]));
    let three = ["cpu0", "cpu1", "cpu2"].map(|name| fits(name, 64));
    assert_eq!(found(&["--sim", "glymur"]), (Some(0), three.into()));
}

#[test]
fn a_block_that_counts_otherwise_answers_no_and_names_the_unit() {
    let (code, rows) = found(&["--sim", "sdm845", "--true-unit-kb", "256"]);
    assert_eq!(code, Some(1));
    assert!(
        rows.iter().all(|(_, verdict, units)| verdict == "doubtful" && *units == [256]),
        "{rows:?}"
    );
    let text = bwmon(&["calibrate", "--sim", "sdm845", "--true-unit-kb", "256"]).stdout;
    assert!(text.contains("the board's 1024 kB does not fit; 256 kB does"), "{text}");
    assert_eq!(json(&["calibrate", "--sim", "sc7180", "--json"])["on"], "sim");
    assert!(good(&["calibrate", "--sim", "sc7180"]).stdout.contains("fits the board's 64 kB"));
}

#[test]
fn without_registers_it_is_refused_with_the_reason_for_each_block() {
    let phone = Phone::new(&DDR);
    phone.bind("1436400.pmu");
    phone.bind("114a000.pmu");
    let state = at(&phone.folder, "state");
    let ran = phone.run(&["calibrate", "--state-dir", &state]);
    assert_eq!(ran.code, Some(2));
    for words in ["1436400.pmu: the kernel's driver holds them", "114a000.pmu:", "unbind"] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    let said = bad(2, &["calibrate", "--sim", "sdm845", "--cpu", "1"]);
    assert!(said.contains("cannot be used with"), "{said}");
}

#[test]
fn a_block_in_which_the_traffic_does_not_show_is_told_from_one_that_fits() {
    let phone = Phone::new(&DDR);
    phone.bind("114a000.pmu");
    // ZONE_MAX(1) of the CPU monitor: the same with and without traffic, as in a block elsewhere.
    let mem = fs::OpenOptions::new().read(true).write(true).open(phone.path("dev/mem")).unwrap();
    mem.write_at(&150u32.to_le_bytes(), 0x0143_6400 + 0x2e4).unwrap();
    let state = at(&phone.folder, "state");
    let ran = phone.run(&["calibrate", "--json", "--cpu", "0", "--state-dir", &state]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("no count unit can be told"), "{}", ran.stderr);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["monitors"][0]["verdict"], "cannot_be_told");
    assert!(report["monitors"][0]["why"].as_str().unwrap().contains("does not show"));
    assert_eq!(report["monitors"][0]["trials"][1]["quiet_count"], 150);
    // The block was programmed to count, and is stopped again: ENABLE at 0x2a0 is 0.
    let mut enable = [9; 4];
    mem.read_exact_at(&mut enable, 0x0143_6400 + 0x2a0).unwrap();
    assert_eq!(u32::from_le_bytes(enable), 0);
    let mut window = [0; 4];
    mem.read_exact_at(&mut window, 0x0143_6400 + 0x2a8).unwrap();
    assert_eq!(u32::from_le_bytes(window), 76_800);
    // The other block has a driver: nothing was written there.
    mem.read_exact_at(&mut window, 0x0114_a000 + 0x20).unwrap();
    assert_eq!(window, [0; 4]);
}
