//! What is kept of a machine beside the results.

use super::host::Host;
use super::snapshot::Snapshot;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};

/// Programs that write the files that experiments and agents write, by the 15 characters that the
/// kernel keeps of their names.
const WRITERS: [&str; 18] = [
    "auto-cpufreq",
    "bwmon",
    "cpufreqd",
    "cpupower-gui",
    "gamemoded",
    "irqbalance",
    "laptop_mode",
    "mpdecision",
    "perfd",
    "power-profiles-",
    "powertop",
    "system76-power",
    "thermal-engine",
    "thermald",
    "tlp",
    "tuned",
    "tuned-ppd",
    "uperf",
];

const FILES: [&str; 18] = [
    "/proc/sys/kernel/ostype",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/version",
    "/proc/sys/kernel/hostname",
    "/proc/sys/kernel/arch",
    "/proc/sys/kernel/randomize_va_space",
    "/proc/cmdline",
    "/proc/meminfo",
    "/proc/swaps",
    "/proc/*/comm",
    "/sys/firmware/devicetree/base/model",
    "/sys/firmware/devicetree/base/compatible",
    "/sys/class/dmi/id/sys_vendor",
    "/sys/class/dmi/id/product_name",
    "/sys/class/dmi/id/bios_version",
    "/sys/devices/system/cpu/online",
    "/sys/devices/system/cpu/smt/active",
    "/sys/devices/system/cpu/cpufreq/policy*/scaling_driver",
];

/// What is known of the machine and of the agenda's folder. What is not known is not there.
pub(super) fn environment(host: &Host, agenda: &Path) -> BTreeMap<String, Value> {
    let mut known = BTreeMap::new();
    known.insert("bwmon".to_owned(), Value::from(crate::version()));
    if let Some(ssh) = host.ssh() {
        known.insert("host".to_owned(), Value::from(ssh.name()));
    }
    if let Some(git) = git(agenda) {
        known.insert("agenda_git".to_owned(), git);
    }
    match host.read(&FILES) {
        Ok(mut files) => {
            if host.ssh().is_none() {
                // This program itself is no other writer.
                files.0.remove(&format!("/proc/{}/comm", std::process::id()));
            }
            known.extend(machine(&files));
        }
        Err(error) => drop(known.insert("unknown".to_owned(), Value::from(error.to_string()))),
    }
    known
}

fn machine(files: &Snapshot) -> BTreeMap<String, Value> {
    let text = |path: &str| {
        let text = files.text(path).filter(|text| !text.is_empty())?;
        Some(Value::from(text))
    };
    let compatible = files.text("/sys/firmware/devicetree/base/compatible");
    let compatible = compatible.map(|names| json!(names.split('\0').collect::<Vec<_>>()));
    let aslr = files.number::<u64>("/proc/sys/kernel/randomize_va_space").map(Value::from);
    let swaps = files.text("/proc/swaps").map(|text| {
        let swaps: Vec<&str> =
            text.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
        json!(swaps)
    });
    let all = [
        ("ostype", text("/proc/sys/kernel/ostype")),
        ("kernel", text("/proc/sys/kernel/osrelease")),
        ("kernel_version", text("/proc/sys/kernel/version")),
        ("hostname", text("/proc/sys/kernel/hostname")),
        ("arch", text("/proc/sys/kernel/arch")),
        ("cmdline", text("/proc/cmdline")),
        ("model", text("/sys/firmware/devicetree/base/model")),
        ("compatible", compatible),
        ("dmi_vendor", text("/sys/class/dmi/id/sys_vendor")),
        ("dmi_product", text("/sys/class/dmi/id/product_name")),
        ("firmware", text("/sys/class/dmi/id/bios_version")),
        ("cpus_online", text("/sys/devices/system/cpu/online")),
        ("smt", text("/sys/devices/system/cpu/smt/active")),
        ("cpufreq_drivers", some(ending(files, "/scaling_driver"))),
        ("memory_kB", memory(files)),
        ("swaps", swaps),
        ("address_randomization", aslr),
        ("other_writers", Some(json!(writers(files)))),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

fn some(names: BTreeSet<&str>) -> Option<Value> {
    (!names.is_empty()).then(|| json!(names))
}

fn ending<'a>(files: &'a Snapshot, end: &str) -> BTreeSet<&'a str> {
    files.iter().filter(|(path, _)| path.ends_with(end)).map(|(_, text)| text).collect()
}

fn memory(files: &Snapshot) -> Option<Value> {
    let line =
        files.text("/proc/meminfo")?.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(Value::from)
}

/// Programs that run and write the same files.
fn writers(files: &Snapshot) -> BTreeSet<&str> {
    let mut running = ending(files, "/comm");
    // The one that vendors call android.hardware.power-service and the like.
    let known = |name: &str| WRITERS.contains(&name) || name.starts_with("android.hardwar");
    running.retain(|name| known(name));
    running
}

/// The commit that the agenda's folder is at, if it is in a repository and git is there.
fn git(folder: &Path) -> Option<Value> {
    let ask = |words: &[&str]| {
        let mut git = Command::new("git");
        git.arg("-C").arg(folder).args(words).stdin(Stdio::null()).stderr(Stdio::null());
        let output = git.output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let commit = ask(&["rev-parse", "HEAD"])?;
    let changed = ask(&["status", "--porcelain"]).map(|text| !text.is_empty());
    let mut git = BTreeMap::from([("commit", Value::from(commit))]);
    git.extend(changed.map(|changed| ("changed", Value::from(changed))));
    Some(json!(git))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::Root;
    use std::fs;

    #[test]
    fn what_is_not_there_is_unknown_and_what_is_there_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let host = Host::here(Root::at(folder.path()));
        let known = environment(&host, folder.path());
        assert_eq!(known.keys().collect::<Vec<_>>(), ["bwmon", "other_writers"]);
        for (path, text) in [
            ("/proc/12/comm", "power-profiles-\n"),
            ("/proc/13/comm", "bash\n"),
            ("/proc/meminfo", "MemTotal:     4005232 kB\nMemFree: 1 kB\n"),
            ("/proc/sys/kernel/osrelease", "6.12.9\n"),
            ("/proc/swaps", "Filename Type\n/dev/zram0 partition\n"),
            ("/sys/firmware/devicetree/base/compatible", "acme,tab\0qcom,sdm845\0"),
            ("/sys/devices/system/cpu/cpufreq/policy0/scaling_driver", "qcom-cpufreq-hw\n"),
            ("/sys/devices/system/cpu/cpufreq/policy4/scaling_driver", "qcom-cpufreq-hw\n"),
        ] {
            let path = host.root().path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let known = environment(&host, folder.path());
        assert_eq!(known["other_writers"], json!(["power-profiles-"]));
        assert_eq!(known["memory_kB"], 4_005_232);
        assert_eq!(known["kernel"], "6.12.9");
        assert_eq!(known["swaps"], json!(["/dev/zram0"]));
        assert_eq!(known["compatible"], json!(["acme,tab", "qcom,sdm845"]));
        assert_eq!(known["cpufreq_drivers"], json!(["qcom-cpufreq-hw"]));
    }
}
