//! Offered: what this kernel has and lacks, as the kernel shows it and as `bwmon doctor` says it.
//!
//! The host knows which kernels are built with the driver. Both ways are asserted: a kernel that
//! lacks it must be said to lack it, one that has it must not.

use super::rules;
use crate::agent::Agent;
use crate::cmdline::Options;
use crate::registers::{DRIVER, MONITOR};
use crate::tracefs::has_event;
use crate::verdict::Figures;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);
/// The event that comes with the driver.
const UPDATE: &str = "icc_bwmon/qcom_bwmon_update";
/// Events that every kernel here has, driver or not.
const COMMON: [&str; 3] =
    ["interconnect/icc_set_bw", "interconnect/icc_set_bw_end", "devfreq/devfreq_frequency"];

/// Runs the scenario.
pub(crate) fn run() -> Result<Figures> {
    let driver = Options::read()?.driver;
    let there = Path::new("/sys/bus/platform/drivers").join(DRIVER).exists();
    ensure!(there == driver, "{DRIVER} is there: {there}, expected: {driver}");
    ensure!(has_event(UPDATE) == driver, "{UPDATE} is there: {}", has_event(UPDATE));

    let mut doctor = Agent::bwmon("offered", &["doctor", "--board", rules::BOARD, "--json"])?;
    doctor.must_succeed(PATIENCE)?;
    let report: Value = serde_json::from_str(&doctor.stdout()?).context("doctor's report")?;
    for event in COMMON {
        ensure!(has_event(event), "this kernel has no {event}");
        must_say(&report, &probe(event), true)?;
    }
    must_say(&report, &probe(UPDATE), driver)?;
    must_say(&report, "/dev/mem", true)?;
    let monitor = must_say(&report, "monitor cpu", true)?;
    let wanted = if driver {
        format!("{MONITOR} is bound to {DRIVER}")
    } else {
        format!("{MONITOR} is there, no driver is bound")
    };
    ensure!(monitor == wanted, "doctor says {monitor:?}, not {wanted:?}");
    ensure!(report.get("can_shadow") == Some(&json!(driver)), "can it be shadowed? {report}");
    ensure!(report.get("can_govern") == Some(&json!(true)), "can it be governed? {report}");

    let mut figures = Figures::new();
    figures.insert("driver".into(), json!(driver));
    let rows = report.get("capabilities").and_then(Value::as_array).context("capabilities")?;
    let absent = rows.iter().filter(|row| row.get("present") == Some(&json!(false)));
    let absent: Vec<&Value> = absent.filter_map(|row| row.get("name")).collect();
    figures.insert("absent".into(), json!(absent));
    Ok(figures)
}

fn probe(event: &str) -> String {
    format!("probe {}", event.replace('/', ":"))
}

/// What `doctor` says of a capability, which must be there or not; what is absent must come with
/// what is lost.
fn must_say(report: &Value, name: &str, present: bool) -> Result<String> {
    let rows = report.get("capabilities").and_then(Value::as_array).context("capabilities")?;
    let row = rows.iter().find(|row| row.get("name") == Some(&json!(name)));
    let row = row.with_context(|| format!("doctor says nothing of {name}"))?;
    ensure!(row.get("present") == Some(&json!(present)), "doctor on {name}: {row}");
    let text = |key| row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    ensure!(present || !text("without_it").is_empty(), "{name}: what is lost? {row}");
    Ok(text("how"))
}
