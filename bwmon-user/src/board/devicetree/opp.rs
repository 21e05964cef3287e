//! OPP tables: the node's `operating-points-v2`, its rows with bandwidths for each path.

use super::node::{At, Problem};
use serde::Serialize;

/// Rows that a table may have; the longest of the known ones has 47.
const MAX_ROWS: usize = 256;

/// One row.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Row {
    /// `opp-hz`, if it has one.
    pub hz: Option<u64>,
    /// `opp-peak-kBps`, one value per path; empty if it has none.
    #[serde(rename = "peak_kBps")]
    pub peak: Vec<u32>,
    /// `opp-avg-kBps`, one value per path; empty if it has none.
    #[serde(rename = "avg_kBps", skip_serializing_if = "Vec::is_empty")]
    pub avg: Vec<u32>,
    /// `opp-supported-hw`: masks of hardware versions that have this row; empty for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub supported_hw: Vec<u32>,
}

/// The table that `node` refers to.
///
/// # Errors
/// What is wrong with the reference.
pub(super) fn table_of(node: At<'_>) -> Result<Option<At<'_>>, String> {
    // More than one table is for devices with several power domains.
    let Some(cells) = node.cells("operating-points-v2")? else { return Ok(None) };
    match cells.first() {
        None => Err("operating-points-v2 is empty".into()),
        Some(phandle) => node.follow(*phandle).map(Some),
    }
}

/// The rows of `table` for `paths` paths, as the kernel orders them: by frequency, then by the first
/// bandwidth. A row that cannot be used is reported, as is a second one that is the same.
///
/// # Errors
/// What is wrong with the table as a whole.
pub(super) fn rows(
    table: At<'_>,
    paths: usize,
    problems: &mut Vec<Problem>,
) -> Result<Vec<Row>, String> {
    let mut rows: Vec<Row> = Vec::new();
    for child in table.children().filter(|child| child.enabled()) {
        if rows.len() >= MAX_ROWS {
            return Err(format!("the table {} has more than {MAX_ROWS} rows", table.path()));
        }
        match row(child, paths) {
            Ok(row) if rows.contains(&row) => {
                problems.push(child.problem("says the same as another row: it is left out"));
            }
            Ok(row) => rows.push(row),
            Err(what) => problems.push(child.problem(format!("{what}: the row is left out"))),
        }
    }
    rows.sort();
    Ok(rows)
}

fn row(child: At<'_>, paths: usize) -> Result<Row, String> {
    let hz = match child.cells("opp-hz")?.as_deref() {
        None => None,
        Some([high, low]) => Some(u64::from(*high) << 32 | u64::from(*low)),
        Some(cells) => return Err(format!("opp-hz has {} cells, not two", cells.len())),
    };
    let columns = |property: &str| {
        let values = child.cells(property)?.unwrap_or_default();
        // The kernel refuses such a row too ("Mismatch between opp-peak-kBps and paths").
        if !values.is_empty() && values.len() != paths {
            return Err(format!(
                "{property} has {} values, the node has {paths} interconnect path(s)",
                values.len()
            ));
        }
        Ok(values)
    };
    let row = Row {
        hz,
        peak: columns("opp-peak-kBps")?,
        avg: columns("opp-avg-kBps")?,
        supported_hw: child.cells("opp-supported-hw")?.unwrap_or_default(),
    };
    if row.hz.is_none() && row.peak.is_empty() {
        return Err("has neither opp-hz nor opp-peak-kBps".into());
    }
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::super::node::{Node, Tree};
    use super::super::testing::{cells, node, strings};
    use super::*;

    fn opp(name: &str, peak: &[u32]) -> Node {
        cells(node(name), "opp-peak-kBps", peak)
    }

    fn rows_of(children: Vec<Node>, paths: usize) -> (Result<Vec<Row>, String>, Vec<Problem>) {
        let mut table = node("opp-table");
        table.children = children;
        let mut problems = Vec::new();
        let tree = Tree::new(&table, &mut Vec::new());
        let rows = rows(tree.root().unwrap(), paths, &mut problems);
        (rows, problems)
    }

    #[test]
    fn rows_are_sorted_by_their_values_and_not_by_their_names() {
        // As text opp-10 comes before opp-2.
        let all = vec![opp("opp-10", &[900]), opp("opp-2", &[300]), opp("opp-0", &[100])];
        let (rows, problems) = rows_of(all, 1);
        let peaks: Vec<u32> = rows.unwrap().iter().map(|row| row.peak[0]).collect();
        assert_eq!((peaks, problems), (vec![100, 300, 900], vec![]));
    }

    #[test]
    fn a_row_with_another_number_of_columns_is_left_out_and_named() {
        let (rows, problems) = rows_of(vec![opp("opp-0", &[1, 2]), opp("opp-1", &[3])], 1);
        assert_eq!(rows.unwrap().len(), 1);
        assert_eq!(problems[0].path, "/opp-0");
        assert!(problems[0].what.contains("2 values, the node has 1 interconnect path"));
    }

    #[test]
    fn disabled_double_and_empty_rows_do_not_count() {
        let off = strings(opp("opp-2", &[5]), "status", &["disabled"]);
        let all = vec![opp("opp-0", &[1]), opp("opp-1", &[1]), off, node("opp-3")];
        let (rows, problems) = rows_of(all, 1);
        assert_eq!((rows.unwrap().len(), problems.len()), (1, 2));
    }

    #[test]
    fn frequencies_are_64_bit_and_averages_and_hardware_masks_are_kept() {
        // 0x1_0000_0000 Hz would not fit 32 bits.
        let opp = cells(opp("opp-0", &[7]), "opp-hz", &[1, 0]);
        let opp = cells(cells(opp, "opp-avg-kBps", &[6]), "opp-supported-hw", &[0x3]);
        let row = rows_of(vec![opp], 1).0.unwrap().remove(0);
        assert_eq!((row.hz, row.avg, row.supported_hw), (Some(1 << 32), vec![6], vec![3]));
        let short = cells(node("opp-0"), "opp-hz", &[1]);
        assert!(rows_of(vec![short], 1).1[0].what.contains("opp-hz has 1 cells"));
    }
}
