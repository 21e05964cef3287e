//! CPU OPPs with their bandwidth votes: what mainline's cpufreq votes for each frequency.

use crate::units::{Kbps, Khz};
use serde::{Deserialize, Serialize};

/// The OPP table of one CPU cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuOpps {
    /// The device tree's name of the table, without `_opp_table`.
    pub name: String,
    /// What each bandwidth of a row is a vote for: `ddr`, `llcc`, `l3`.
    pub columns: Vec<String>,
    /// Rows, lowest frequency first. Never empty, all as wide as `columns`.
    pub rows: Vec<CpuOpp>,
}

/// One frequency and its votes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuOpp {
    /// CPU frequency.
    pub khz: Khz,
    /// Peak votes, one per column.
    #[serde(rename = "peak_kBps")]
    pub kbps: Vec<Kbps>,
}

impl CpuOpps {
    /// Checks and takes `rows` of frequency and votes.
    ///
    /// # Errors
    /// The offending row, from 0, and what is wrong with it; row 0 stands for an empty table.
    pub fn new(
        name: String,
        columns: Vec<String>,
        rows: Vec<Vec<u64>>,
    ) -> Result<Self, (usize, String)> {
        let mut opps: Vec<CpuOpp> = Vec::new();
        for (index, row) in rows.into_iter().enumerate() {
            let width = columns.len() + 1;
            if row.len() != width {
                let message = format!("CPU OPP row has {} values, {width} are needed", row.len());
                return Err((index, message));
            }
            let mut values = row.into_iter();
            let khz = Khz(values.next().unwrap_or(0));
            if khz.0 == 0 || opps.last().is_some_and(|last| last.khz >= khz) {
                return Err((index, "CPU OPP rows go from the lowest frequency up".into()));
            }
            opps.push(CpuOpp { khz, kbps: values.map(Kbps).collect() });
        }
        if opps.is_empty() {
            return Err((0, "the CPU OPP table has no rows".into()));
        }
        Ok(Self { name, columns, rows: opps })
    }

    /// The highest frequency.
    pub fn top_khz(&self) -> Khz {
        self.rows.last().map_or(Khz(0), |row| row.khz)
    }

    /// The lowest row with at least `khz`, or the highest.
    pub fn at_least(&self, khz: Khz) -> Option<&CpuOpp> {
        self.rows.iter().find(|row| row.khz >= khz).or(self.rows.last())
    }
}
