//! OPP tables: the levels of a domain, lowest first.

use crate::units::Kbps;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A row of a domain's OPP table, 0 the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Level(pub usize);

impl Level {
    /// The lowest level of every table.
    pub const LOWEST: Level = Level(0);
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Why a table is not one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// No rows.
    #[error("the OPP table has no rows")]
    Empty,
    /// No columns.
    #[error("the OPP table has no columns")]
    NoColumns,
    /// More columns than the road carries.
    #[error("the OPP table has {0} columns, at most {MAX_COLUMNS} are supported")]
    TooManyColumns(usize),
    /// A row of the wrong width.
    #[error("OPP row {row} has {found} values, the table has {columns} columns")]
    Width {
        /// Row, from 0.
        row: usize,
        /// Values in it.
        found: usize,
        /// Columns of the table.
        columns: usize,
    },
    /// A value beyond any bus.
    #[error("OPP row {row} holds more than {MAX_KBPS} kBps")]
    TooLarge {
        /// Row, from 0.
        row: usize,
    },
    /// A zero value.
    #[error("OPP row {row} holds a zero: 0 kBps is no vote")]
    Zero {
        /// Row, from 0.
        row: usize,
    },
    /// Column 0 does not rise, or another column falls.
    #[error("OPP row {row} is not above row {}: rows go from lowest to highest", row - 1)]
    Unsorted {
        /// Row, from 0.
        row: usize,
    },
}

impl TableError {
    /// The offending row, if it is one row's fault.
    pub fn row(&self) -> Option<usize> {
        match self {
            Self::Width { row, .. }
            | Self::TooLarge { row }
            | Self::Zero { row }
            | Self::Unsorted { row } => Some(*row),
            Self::Empty | Self::NoColumns | Self::TooManyColumns(_) => None,
        }
    }
}

/// Columns a table may have: SM8650's CPU OPPs have three (LLCC, DDR, L3), none has more.
pub const MAX_COLUMNS: usize = 4;

/// The largest bandwidth: a thousand times what the fastest memory moves.
pub(super) const MAX_KBPS: u64 = 1_000_000_000_000;

/// A checked OPP table: at least one row, every row of the same width, no zero, column 0 strictly
/// rising and no other column falling. Values are `opp-peak-kBps`: clock times bus width of one
/// channel, not total bytes per second.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RawTable", into = "RawTable")]
pub struct OppTable {
    columns: Vec<String>,
    /// Column 0 of each row, apart, since it is what every lookup searches.
    first: Vec<Kbps>,
    rows: Vec<Vec<Kbps>>,
}

#[derive(Serialize, Deserialize)]
struct RawTable {
    columns: Vec<String>,
    #[serde(rename = "opp_peak_kBps")]
    rows: Vec<Vec<Kbps>>,
}

impl TryFrom<RawTable> for OppTable {
    type Error = TableError;
    fn try_from(raw: RawTable) -> Result<Self, TableError> {
        Self::new(raw.columns, raw.rows)
    }
}

impl From<OppTable> for RawTable {
    fn from(table: OppTable) -> Self {
        Self { columns: table.columns, rows: table.rows }
    }
}

impl OppTable {
    /// Checks and takes `rows`, lowest first, each with one peak kBps per column.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn new(columns: Vec<String>, rows: Vec<Vec<Kbps>>) -> Result<Self, TableError> {
        if columns.is_empty() {
            return Err(TableError::NoColumns);
        }
        if columns.len() > MAX_COLUMNS {
            return Err(TableError::TooManyColumns(columns.len()));
        }
        if rows.is_empty() {
            return Err(TableError::Empty);
        }
        let mut previous: Option<&Vec<Kbps>> = None;
        for (row, values) in rows.iter().enumerate() {
            if values.len() != columns.len() {
                return Err(TableError::Width { row, found: values.len(), columns: columns.len() });
            }
            if values.iter().any(|kbps| kbps.0 > MAX_KBPS) {
                return Err(TableError::TooLarge { row });
            }
            if values.contains(&Kbps(0)) {
                return Err(TableError::Zero { row });
            }
            if let Some(previous) = previous {
                let rises = values.first() > previous.first();
                let falls = values.iter().zip(previous).any(|(new, old)| new < old);
                if !rises || falls {
                    return Err(TableError::Unsorted { row });
                }
            }
            previous = Some(values);
        }
        let first = rows.iter().filter_map(|row| row.first().copied()).collect();
        Ok(Self { columns, first, rows })
    }

    /// Names of the columns; the first is the one that a monitor's reading is compared with.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Number of levels, at least 1.
    pub fn len(&self) -> usize {
        self.first.len()
    }

    /// Never true; here because `len` is.
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// The highest level.
    pub fn top(&self) -> Level {
        Level(self.first.len().saturating_sub(1))
    }

    /// Whether the table has this level.
    pub fn has(&self, level: Level) -> bool {
        level.0 < self.first.len()
    }

    /// Column 0 of every level, lowest first.
    pub fn kbps(&self) -> &[Kbps] {
        &self.first
    }

    /// Column 0 of `level`; a level beyond the table answers as the highest.
    pub fn kbps_of(&self, level: Level) -> Kbps {
        self.first.get(level.0).or(self.first.last()).copied().unwrap_or_default()
    }

    /// All columns of `level`; a level beyond the table answers as the highest.
    pub fn row(&self, level: Level) -> &[Kbps] {
        self.rows.get(level.0).or(self.rows.last()).map_or(&[], Vec::as_slice)
    }

    /// The lowest level with at least `kbps`, or the highest where none has: `dev_pm_opp_find_bw_ceil`
    /// with the driver's fall back to `_floor`.
    pub fn ceil(&self, kbps: Kbps) -> Level {
        Level(self.first.partition_point(|row| *row < kbps).min(self.first.len().saturating_sub(1)))
    }

    /// The highest level with at most `kbps`, or the lowest where none has.
    pub fn floor(&self, kbps: Kbps) -> Level {
        Level(self.first.partition_point(|row| *row <= kbps).saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one_column(values: &[u64]) -> Result<OppTable, TableError> {
        OppTable::new(vec!["ddr".into()], values.iter().map(|v| vec![Kbps(*v)]).collect())
    }

    #[test]
    fn ceil_takes_the_next_level_and_the_top_beyond_the_table() {
        let table = one_column(&[800, 1800, 3000]).unwrap();
        let levels: Vec<usize> =
            [0, 800, 801, 3000, 9999].iter().map(|k| table.ceil(Kbps(*k)).0).collect();
        assert_eq!(levels, [0, 0, 1, 2, 2]);
    }

    #[test]
    fn floor_takes_the_level_below_and_the_lowest_under_the_table() {
        let table = one_column(&[800, 1800, 3000]).unwrap();
        let levels: Vec<usize> =
            [0, 800, 1799, 1800, 9999].iter().map(|k| table.floor(Kbps(*k)).0).collect();
        assert_eq!(levels, [0, 0, 0, 1, 2]);
    }

    #[test]
    fn a_bandwidth_that_would_overflow_is_refused() {
        assert_eq!(one_column(&[5, u64::MAX]), Err(TableError::TooLarge { row: 1 }));
    }

    #[test]
    fn wrong_tables_are_refused_with_their_row() {
        assert_eq!(one_column(&[]), Err(TableError::Empty));
        assert_eq!(one_column(&[5, 0]), Err(TableError::Zero { row: 1 }));
        assert_eq!(one_column(&[5, 5]), Err(TableError::Unsorted { row: 1 }));
        let narrow = OppTable::new(
            vec!["ddr".into(), "l3c".into()],
            vec![vec![Kbps(1), Kbps(2)], vec![Kbps(3)]],
        );
        assert_eq!(narrow, Err(TableError::Width { row: 1, found: 1, columns: 2 }));
        let falling = OppTable::new(
            vec!["ddr".into(), "l3c".into()],
            vec![vec![Kbps(1), Kbps(9)], vec![Kbps(3), Kbps(8)]],
        );
        assert_eq!(falling, Err(TableError::Unsorted { row: 1 }));
    }

    proptest! {
        #[test]
        fn ceil_is_the_lowest_level_that_suffices(
            mut values in prop::collection::btree_set(1u64..1_000_000, 1..14),
            demand in 0u64..1_100_000,
        ) {
            let top = values.iter().copied().max().unwrap();
            let values: Vec<u64> = std::mem::take(&mut values).into_iter().collect();
            let table = one_column(&values).unwrap();
            let level = table.ceil(Kbps(demand));
            if demand <= top {
                prop_assert!(table.kbps_of(level).0 >= demand);
                prop_assert!(level.0 == 0 || table.kbps_of(Level(level.0 - 1)).0 < demand);
            } else {
                prop_assert_eq!(level, table.top());
            }
        }
    }
}
