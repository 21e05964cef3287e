//! What a run is measured under: clocks, temperatures, limits, counts of trouble.

use super::host::Host;
use super::snapshot::Snapshot;
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io;

const CPUFREQ: &str = "/sys/devices/system/cpu/cpufreq";
const DEVFREQ: &str = "/sys/class/devfreq";
const THERMAL: &str = "/sys/class/thermal";

const FILES: [&str; 17] = [
    "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
    "/sys/devices/system/cpu/cpufreq/policy*/scaling_min_freq",
    "/sys/devices/system/cpu/cpufreq/policy*/scaling_max_freq",
    "/sys/devices/system/cpu/cpufreq/policy*/scaling_cur_freq",
    "/sys/class/devfreq/*/governor",
    "/sys/class/devfreq/*/min_freq",
    "/sys/class/devfreq/*/max_freq",
    "/sys/class/devfreq/*/cur_freq",
    "/sys/class/thermal/thermal_zone*/temp",
    "/sys/class/thermal/cooling_device*/type",
    "/sys/class/thermal/cooling_device*/cur_state",
    "/sys/class/thermal/cooling_device*/stats/total_trans",
    "/sys/devices/system/cpu/cpu*/thermal_throttle/core_throttle_count",
    "/sys/devices/system/cpu/cpu*/thermal_throttle/package_throttle_count",
    "/sys/devices/system/cpu/online",
    "/sys/power/suspend_stats/success",
    "/proc/loadavg",
];

/// The machine at a moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Conditions {
    files: Snapshot,
    /// What the machine has slept since its start, where it is this one.
    slept_ms: Option<i64>,
}

impl Conditions {
    /// Looks, and at the files `more` too.
    ///
    /// # Errors
    /// When the machine does not answer.
    pub(super) fn look<'a>(
        host: &Host,
        more: impl IntoIterator<Item = &'a String>,
    ) -> io::Result<Self> {
        let more = more.into_iter().map(String::as_str);
        let files = host.read(&FILES.into_iter().chain(more).collect::<Vec<_>>())?;
        Ok(Self { files, slept_ms: host.ssh().is_none().then(slept_ms) })
    }

    /// The hottest thermal zone, in degrees; zones that do not measure say nonsense.
    pub(super) fn hottest_c(&self) -> Option<f64> {
        let zones = self.files.folders(THERMAL).into_iter();
        let degrees = zones.filter_map(|zone| {
            let milli: f64 = self.files.number(&format!("{THERMAL}/{zone}/temp"))?;
            (-40_000.0..=150_000.0).contains(&milli).then_some(milli / 1_000.0)
        });
        degrees.reduce(f64::max)
    }

    /// For a result line.
    pub(super) fn json(&self) -> Value {
        let mut all = Map::new();
        let cpufreq = [
            ("governor", "scaling_governor"),
            ("min_kHz", "scaling_min_freq"),
            ("max_kHz", "scaling_max_freq"),
            ("cur_kHz", "scaling_cur_freq"),
        ];
        let devfreq = [
            ("governor", "governor"),
            ("min_Hz", "min_freq"),
            ("max_Hz", "max_freq"),
            ("cur_Hz", "cur_freq"),
        ];
        for (name, folder, keys) in [("cpufreq", CPUFREQ, cpufreq), ("devfreq", DEVFREQ, devfreq)] {
            let devices: Map<String, Value> = self
                .files
                .folders(folder)
                .into_iter()
                .map(|device| (device.to_owned(), self.device(folder, device, &keys)))
                .collect();
            if !devices.is_empty() {
                all.insert(name.into(), Value::Object(devices));
            }
        }
        let cooling: Map<String, Value> =
            self.cooling().into_iter().map(|(name, (state, _))| (name, json!(state))).collect();
        if !cooling.is_empty() {
            all.insert("cooling".into(), Value::Object(cooling));
        }
        let load = self.files.text("/proc/loadavg").and_then(|text| text.split(' ').next());
        let known = [
            ("hottest_c", self.hottest_c().map(Value::from)),
            ("throttle_count", self.throttled().map(Value::from)),
            ("suspends", self.suspends().map(Value::from)),
            ("cpus_online", self.online().map(Value::from)),
            ("load", load.and_then(|load| load.parse::<f64>().ok()).map(Value::from)),
        ];
        all.extend(known.into_iter().filter_map(|(name, value)| Some((name.into(), value?))));
        Value::Object(all)
    }

    fn device(&self, folder: &str, device: &str, keys: &[(&str, &str)]) -> Value {
        let value = |file: &str| {
            let text = self.files.text(&format!("{folder}/{device}/{file}"))?;
            Some(text.parse::<u64>().map_or_else(|_| Value::from(text), Value::from))
        };
        keys.iter().filter_map(|(key, file)| Some(((*key).to_owned(), value(file)?))).collect()
    }

    /// Cooling devices that slow something down, with their state and how often it changed. A fan
    /// does not, and a screen is nobody's concern here.
    fn cooling(&self) -> BTreeMap<String, (u64, Option<u64>)> {
        const SLOW: [&str; 6] = ["cpu", "processor", "devfreq", "powerclamp", "idle", "ddr"];
        let devices = self.files.folders(THERMAL).into_iter();
        let known = devices.filter_map(|device| {
            let file = |name: &str| format!("{THERMAL}/{device}/{name}");
            let kind = self.files.text(&file("type"))?.to_lowercase();
            let state = self.files.number(&file("cur_state"))?;
            let changes = self.files.number(&file("stats/total_trans"));
            let slows = SLOW.iter().any(|word| kind.contains(word)) && !kind.contains("fan");
            slows.then(|| (format!("{device} {kind}"), (state, changes)))
        });
        known.collect()
    }

    /// How often x86 says that it throttled.
    fn throttled(&self) -> Option<u64> {
        let counts = self.files.iter().filter(|(path, _)| path.contains("/thermal_throttle/"));
        counts.filter_map(|(_, text)| text.parse::<u64>().ok()).reduce(u64::wrapping_add)
    }

    fn suspends(&self) -> Option<u64> {
        self.files.number("/sys/power/suspend_stats/success")
    }

    fn online(&self) -> Option<&str> {
        self.files.text("/sys/devices/system/cpu/online")
    }
}

/// What the clock that counts sleep is ahead by.
fn slept_ms() -> i64 {
    let ms = |clock| {
        let time = clock_gettime(clock);
        time.tv_sec * 1_000 + time.tv_nsec / 1_000_000
    };
    ms(ClockId::Boottime) - ms(ClockId::Monotonic)
}

/// What makes the run between `before` and `after` void, if something does. `requested` are the files
/// that were written for it; `governed`, whether an agent works on the devfreq devices meanwhile.
pub(super) fn disturbed(
    before: &Conditions,
    after: &Conditions,
    requested: &BTreeMap<String, String>,
    governed: bool,
) -> Option<String> {
    let asked = requested.iter().find_map(|(path, value)| {
        let now = after.files.text(path).unwrap_or("nothing");
        (now != value).then(|| format!("{path} became {now} during the run, {value} was written"))
    });
    asked
        .or_else(|| throttled(before, after))
        .or_else(|| slept(before, after))
        .or_else(|| changed(before, after, governed))
}

fn throttled(before: &Conditions, after: &Conditions) -> Option<String> {
    let began = before.cooling();
    for (name, (state, changes)) in after.cooling() {
        let known = began.get(&name).copied();
        if state > 0 {
            return Some(format!("throttled: {name} is at {state}"));
        }
        if known.and_then(|(_, changes)| changes) < changes && known.is_some_and(|k| k.1.is_some())
        {
            return Some(format!("throttled: {name} was at work during the run"));
        }
        if known.is_some_and(|(state, _)| state > 0) {
            return Some(format!("throttled: {name} was at work when the run began"));
        }
    }
    let counts = before.throttled().zip(after.throttled());
    let more = counts.is_some_and(|(before, after)| after != before);
    more.then(|| "throttled: the processor counted it (thermal_throttle)".to_owned())
}

fn slept(before: &Conditions, after: &Conditions) -> Option<String> {
    let suspends = before.suspends().zip(after.suspends());
    // A clock that is read in two steps is not exact to the millisecond.
    let slept = before.slept_ms.zip(after.slept_ms).is_some_and(|(b, a)| a - b > 20);
    let suspended = suspends.is_some_and(|(before, after)| after != before);
    (slept || suspended).then(|| "the machine was suspended during the run".to_owned())
}

/// Limits and governors that changed though nobody of us changed them.
fn changed(before: &Conditions, after: &Conditions, governed: bool) -> Option<String> {
    const FIXED: [&str; 4] =
        ["/scaling_governor", "/scaling_min_freq", "/scaling_max_freq", "/governor"];
    const LIMITS: [&str; 2] = ["/min_freq", "/max_freq"];
    for (path, text) in before.files.iter() {
        let limit = path.starts_with(DEVFREQ) && LIMITS.iter().any(|end| path.ends_with(end));
        let watched = FIXED.iter().any(|end| path.ends_with(end)) || (limit && !governed);
        let now = after.files.text(path).unwrap_or("nothing");
        if watched && now != text {
            return Some(format!("{path} went from {text} to {now} during the run"));
        }
    }
    match (before.online(), after.online()) {
        (Some(before), Some(after)) if before != after => {
            Some(format!("CPUs on line went from {before} to {after} during the run"))
        }
        _ => None,
    }
}

#[cfg(test)]
#[path = "conditions_tests.rs"]
mod tests;
