//! Names that a tree does not have: bwmon's own, as the shipped board files use them.

use super::interconnect::Path;

/// Letters that a name may have.
const MAX: usize = 32;

/// `text` as a plain name: letters, digits, `-` and `_`; `otherwise` if nothing is left.
pub(super) fn plain(text: &str, otherwise: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = text.chars().map(plain).take(MAX).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { otherwise.to_owned() } else { name.to_owned() }
}

/// Where a block sits, by its own compatible: `cpu` or `llcc`.
pub(super) fn kind(compatible: &[String]) -> &'static str {
    let own = compatible.first().map_or("", String::as_str);
    if own.contains("llcc") { "llcc" } else { "cpu" }
}

/// Names of monitors of these kinds, in order: the kind, with a number where there are several.
pub(super) fn monitors(kinds: &[&str]) -> Vec<String> {
    let same = |kind: &str, all: &[&str]| all.iter().filter(|other| **other == kind).count();
    let named = kinds.iter().enumerate().map(|(index, kind)| {
        let before = same(kind, kinds.get(..index).unwrap_or_default());
        if same(kind, kinds) > 1 { format!("{kind}{before}") } else { (*kind).to_owned() }
    });
    named.collect()
}

/// Names of domains, given each one's first column and its monitor's name and kind: the column;
/// where several have it, those of CPU monitors have the monitor's name behind it.
pub(super) fn domains(of: &[(String, String, &str)]) -> Vec<String> {
    let shared = |column: &str| of.iter().filter(|(other, ..)| other == column).count() > 1;
    let named = of.iter().map(|(column, monitor, kind)| {
        if shared(column) && (*kind == "cpu" || monitor != kind) {
            plain(&format!("{column}-{monitor}"), monitor)
        } else {
            column.clone()
        }
    });
    named.collect()
}

/// Names of the columns of a table with a value for each of `paths`: their own names, or what the
/// bandwidth is a vote for, or `path0`.
pub(super) fn columns(paths: &[Path]) -> Vec<String> {
    let mut columns: Vec<String> = Vec::new();
    for (index, path) in paths.iter().enumerate() {
        let own = path.name.as_deref().or(path.resource());
        let fallback = format!("path{index}");
        let name = own.map_or_else(|| fallback.clone(), |own| plain(own, &fallback));
        columns.push(if columns.contains(&name) { fallback } else { name });
    }
    columns
}

/// The name of a CPU OPP table, by its node: `cpu0` of `opp-table-cpu0` or `cpu0_opp_table`.
pub(super) fn cpu_table(node: &str, otherwise: &str) -> String {
    let name = node.strip_prefix("opp-table-").or_else(|| node.strip_prefix("opp_table_"));
    let name = name.or_else(|| node.strip_suffix("_opp_table"));
    let name = name.or_else(|| node.strip_suffix("-opp-table"));
    plain(name.unwrap_or_default(), otherwise)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_monitors_of_a_kind_are_numbered() {
        assert_eq!(monitors(&["cpu", "cpu", "llcc"]), ["cpu0", "cpu1", "llcc"]);
        assert_eq!(monitors(&["cpu"]), ["cpu"]);
    }

    #[test]
    fn domains_that_vote_for_the_same_are_told_apart_by_their_monitors() {
        let of = |column: &str, monitor: &str, kind| (column.to_owned(), monitor.to_owned(), kind);
        // SM6350: both monitors end at the memory.
        let both = [of("ddr", "cpu", "cpu"), of("ddr", "llcc", "llcc")];
        assert_eq!(domains(&both), ["ddr-cpu", "ddr"]);
        let two = [of("ddr", "cpu0", "cpu"), of("ddr", "cpu1", "cpu")];
        assert_eq!(domains(&two), ["ddr-cpu0", "ddr-cpu1"]);
        let apart = [of("llcc", "cpu", "cpu"), of("ddr", "llcc", "llcc")];
        assert_eq!(domains(&apart), ["llcc", "ddr"]);
        let llccs = [of("ddr", "llcc0", "llcc"), of("ddr", "llcc1", "llcc")];
        assert_eq!(domains(&llccs), ["ddr-llcc0", "ddr-llcc1"]);
    }

    #[test]
    fn names_are_made_plain_and_never_empty() {
        assert_eq!(plain("Thundercomm Dragonboard 845c!", "x"), "Thundercomm-Dragonboard-845c");
        assert_eq!(plain("../..", "x"), "x");
        assert_eq!(plain(&"a".repeat(99), "x").len(), 32);
    }

    #[test]
    fn cpu_tables_are_called_by_their_label_in_both_spellings() {
        assert_eq!(cpu_table("opp-table-cpu4", "cpu7"), "cpu4");
        assert_eq!(cpu_table("cpu4_opp_table", "cpu7"), "cpu4");
        assert_eq!(cpu_table("opp-table", "cpu7"), "cpu7");
    }
}
