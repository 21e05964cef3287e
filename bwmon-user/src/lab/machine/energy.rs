//! Energy counters: powercap zones (RAPL) and hwmon.

use super::snapshot::Snapshot;

/// The files that are read.
pub(super) const FILES: [&str; 6] = [
    "/sys/class/powercap/*/name",
    "/sys/class/powercap/*/energy_uj",
    "/sys/class/powercap/*/max_energy_range_uj",
    "/sys/class/hwmon/hwmon*/name",
    "/sys/class/hwmon/hwmon*/energy*_input",
    "/sys/class/hwmon/hwmon*/energy*_label",
];

const POWERCAP: &str = "/sys/class/powercap";
const HWMON: &str = "/sys/class/hwmon";

/// A counter, by its file.
struct Counter {
    file: String,
    name: String,
    /// What it counts to before it begins at 0 again.
    range_uj: Option<u64>,
}

/// What the counters whose name contains `wanted` (empty: all packages) counted between two
/// readings, in joules. `None` where there is none, or one could not be read.
pub(super) fn joules(before: &Snapshot, after: &Snapshot, wanted: &str) -> Option<f64> {
    let counters = counters(before, wanted);
    let mut sum = 0;
    for counter in &counters {
        let began: u64 = before.number(&counter.file)?;
        let ended: u64 = after.number(&counter.file)?;
        // One turn is allowed for: a zone takes minutes at least.
        sum += match ended.checked_sub(began) {
            Some(spent) => spent,
            None => counter.range_uj?.checked_sub(began)?.checked_add(ended)?,
        };
    }
    (!counters.is_empty()).then_some(sum as f64 / 1e6)
}

fn counters(snapshot: &Snapshot, wanted: &str) -> Vec<Counter> {
    let zones = zones(snapshot, wanted);
    if zones.is_empty() { sensors(snapshot, wanted) } else { zones }
}

fn zones(snapshot: &Snapshot, wanted: &str) -> Vec<Counter> {
    let zones = snapshot.folders(POWERCAP).into_iter().filter_map(|zone| {
        let name = snapshot.text(&format!("{POWERCAP}/{zone}/name"))?;
        let fits =
            if wanted.is_empty() { name.starts_with("package") } else { name.contains(wanted) };
        fits.then(|| Counter {
            file: format!("{POWERCAP}/{zone}/energy_uj"),
            name: zone.to_owned(),
            range_uj: snapshot.number(&format!("{POWERCAP}/{zone}/max_energy_range_uj")),
        })
    });
    let mut zones: Vec<Counter> = zones.collect();
    // The same zones once more, by another interface.
    let doubled = |zone: &Counter| zone.name.contains("-mmio");
    if !zones.iter().all(doubled) {
        zones.retain(|zone| !doubled(zone));
    }
    zones
}

/// The inputs of hwmon; their own label counts, or the chip's name.
fn sensors(snapshot: &Snapshot, wanted: &str) -> Vec<Counter> {
    let inputs = snapshot.iter().filter(|(path, _)| path.starts_with(HWMON));
    let inputs = inputs.filter_map(|(path, _)| path.strip_suffix("_input"));
    let named = inputs.filter_map(|input| {
        let chip = input.rsplit_once('/')?.0;
        let label = snapshot.text(&format!("{input}_label"));
        let name = label.or_else(|| snapshot.text(&format!("{chip}/name"))).unwrap_or_default();
        // amd_energy has cores beside the sockets that they are in.
        let fits =
            if wanted.is_empty() { !name.starts_with("Ecore") } else { name.contains(wanted) };
        let (file, name) = (format!("{input}_input"), name.to_owned());
        fits.then_some(Counter { file, name, range_uj: None })
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(files: &[(&str, &str)]) -> Snapshot {
        let files =
            files.iter().map(|(path, text)| (format!("/sys/class/{path}"), text.to_string()));
        Snapshot(files.collect())
    }

    fn rapl(package: &str, dram: &str, mmio: &str) -> Snapshot {
        snapshot(&[
            ("powercap/intel-rapl:0/name", "package-0\n"),
            ("powercap/intel-rapl:0/energy_uj", package),
            ("powercap/intel-rapl:0/max_energy_range_uj", "1000000\n"),
            ("powercap/intel-rapl:0:0/name", "dram\n"),
            ("powercap/intel-rapl:0:0/energy_uj", dram),
            ("powercap/intel-rapl-mmio:0/name", "package-0\n"),
            ("powercap/intel-rapl-mmio:0/energy_uj", mmio),
        ])
    }

    #[test]
    fn a_counter_that_began_anew_is_carried_over_its_range() {
        let (before, after) = (rapl("900000", "100", "5"), rapl("150000", "700100", "99"));
        assert_eq!(joules(&before, &after, ""), Some(0.25));
        assert_eq!(joules(&before, &after, "dram"), Some(0.7));
        // A range that is not known.
        assert_eq!(joules(&after, &before, "dram"), None);
        assert_eq!(joules(&before, &after, "gpu"), None);
    }

    #[test]
    fn hwmon_is_asked_where_there_is_no_zone_and_cores_are_not_counted_twice() {
        let read = |socket: &str| {
            snapshot(&[
                ("hwmon/hwmon3/name", "amd_energy\n"),
                ("hwmon/hwmon3/energy1_label", "Ecore000\n"),
                ("hwmon/hwmon3/energy1_input", "7\n"),
                ("hwmon/hwmon3/energy2_label", "Esocket0\n"),
                ("hwmon/hwmon3/energy2_input", socket),
            ])
        };
        assert_eq!(joules(&read("1000000"), &read("3500000"), ""), Some(2.5));
        assert_eq!(joules(&read("1"), &read("1"), "core"), Some(0.0));
        assert_eq!(joules(&snapshot(&[]), &snapshot(&[]), ""), None);
    }

    #[test]
    fn what_could_not_be_read_is_unknown_and_not_zero() {
        let mut after = rapl("900001", "100", "5");
        after.0.remove("/sys/class/powercap/intel-rapl:0/energy_uj");
        assert_eq!(joules(&rapl("900000", "100", "5"), &after, ""), None);
    }
}
