//! Calibration: the seed's table, read from its data file, turned into costs and capacities.
//!
//! Only the columns V and no_votes go in: [`Row::measured`] is all that this module reads of a row.
//! The published bwmon column is kept apart, for comparing predictions with.

use super::resource::Resource;
use super::traffic::{Caches, Cost, Kind, Stretch, calibrate};
use super::workload::Stream;
use crate::board::{Board, builtin};
use crate::diag::{Diagnostic, Place};
use crate::units::Kbps;
use serde::Deserialize;

/// The data file in the binary.
pub const SEED_TABLE: &str = include_str!("../../../policies/experiments/seed-sysbench.toml");

/// Traffic of everything else on the machine. Assumed: a machine under test is never quite silent.
const BACKGROUND_KBPS: f64 = 30_000.0;

/// One row of the seed's table, throughputs in the table's own unit.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Block size.
    #[serde(rename = "bs_kB")]
    pub bs_kb: u32,
    /// What sysbench did.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// With cpufreq's votes.
    #[serde(rename = "V")]
    pub v: f64,
    /// Without.
    pub no_votes: f64,
    /// Published with bwmon and without cpufreq's votes. Never an input.
    pub bwmon: f64,
}

impl Row {
    /// What may be calibrated on: V and no_votes.
    pub fn measured(&self) -> (f64, f64) {
        (self.v, self.no_votes)
    }
}

/// The data file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeedTable {
    schema: u32,
    /// Its name.
    pub name: String,
    /// The board whose clocks were measured.
    pub board: String,
    /// The board of the published bwmon column.
    pub seed_board: String,
    /// Kilobytes (1000 bytes) in the table's unit.
    #[serde(rename = "unit_kB")]
    pub unit_kb: f64,
    /// Virtual time for each cell.
    pub ms: u64,
    /// The machine's caches.
    pub caches: Caches,
    /// The rows.
    #[serde(rename = "row")]
    pub rows: Vec<Row>,
}

impl SeedTable {
    /// Parses and checks `text`; `file` is its name in errors.
    ///
    /// # Errors
    /// The first fault, with its line.
    pub fn parse(file: &str, text: &str) -> Result<Self, Diagnostic> {
        let table: Self =
            toml::from_str(text).map_err(|error| Diagnostic::from_toml(file, text, &error))?;
        if table.schema != 1 {
            return Err(Diagnostic::new(file, format!("schema {} is not known", table.schema)));
        }
        let bad = |row: &Row| {
            let values = [row.v, row.no_votes, row.bwmon];
            row.bs_kb == 0 || values.iter().any(|v| !v.is_finite() || *v <= 0.0)
        };
        if let Some(index) = table.rows.iter().position(bad) {
            let offset = text.match_indices("[[row]]").nth(index).map_or(0, |(at, _)| at);
            return Err(Diagnostic::new(file, "a row with a value that is not above zero")
                .at(Place::at_byte(text, offset)));
        }
        if table.rows.is_empty() || table.ms == 0 || table.unit_kb <= 0.0 {
            return Err(Diagnostic::new(file, "the table needs rows, ms and unit_kB above zero"));
        }
        Ok(table)
    }
}

/// What the plant needs to know of a machine.
#[derive(Clone, Debug)]
pub struct Calibration {
    caches: Caches,
    lowest: Stretch,
    unit_kb: f64,
    rows: Vec<Row>,
    /// DDR capacity: what it moved at its lowest level, and what each kBps of level adds.
    ddr: (f64, f64, f64),
    /// System-cache capacity in kB/s per kBps of level.
    llcc_per_level: f64,
}

impl Calibration {
    /// From the seed's table in the binary.
    ///
    /// # Errors
    /// Never for the file that ships.
    pub fn seed() -> Result<Self, Diagnostic> {
        let table = SeedTable::parse("<built-in seed-sysbench.toml>", SEED_TABLE)?;
        let board = builtin(&table.board).ok_or_else(|| {
            Diagnostic::new("<built-in seed-sysbench.toml>", "its board is not built in")
        })??;
        Ok(Self::from_table(&table, &board))
    }

    /// From `table`, measured on a machine with the clocks of `board`.
    pub fn from_table(table: &SeedTable, board: &Board) -> Self {
        let resources = Resource::all(board, 0);
        let find = |name: &str| resources.iter().find(|resource| resource.name == name);
        let lowest = |name: &str| find(name).map_or(1.0, Resource::lowest_stretch);
        let mut calibration = Self {
            caches: table.caches,
            lowest: Stretch { cpu: 1.0, l3: lowest("l3"), ddr: lowest("ddr") },
            unit_kb: table.unit_kb,
            rows: table.rows.clone(),
            ddr: (0.0, 0.0, 0.0),
            llcc_per_level: 0.0,
        };
        calibration.capacities(find("ddr"), find("llcc"));
        calibration
    }

    /// A path carried at least what the table says it moved: the largest row at the top and at the
    /// bottom fix a straight line for the DDR; for the system cache, the top one alone.
    fn capacities(&mut self, ddr: Option<&Resource>, llcc: Option<&Resource>) {
        let largest = |memory: bool, top: bool| {
            let moved = self.rows.iter().map(|row| {
                let (path, to_memory) = self.crossing(row.kind, row.bs_kb);
                let (v, no_votes) = row.measured();
                let rate = if top { v } else { no_votes } * self.unit_kb;
                rate * if memory { to_memory } else { path }
            });
            moved.fold(0.0, f64::max)
        };
        let level = |resource: Option<&Resource>, top: bool| {
            resource.map_or(1.0, |r| {
                let lowest = r.kbps().0 as f64;
                if top { lowest * r.lowest_stretch() } else { lowest }
            })
        };
        let (low, high) = (largest(true, false), largest(true, true));
        let span = (level(ddr, true) - level(ddr, false)).max(1.0);
        let line = (low, level(ddr, false), ((high - low) / span).max(0.0));
        // With cpufreq's votes the system cache ran at the level that carries the DDR's highest.
        let llcc_level = llcc.map_or(1.0, |llcc| llcc.level_for(level(ddr, true)));
        let per_level = largest(false, true) / llcc_level;
        self.ddr = line;
        self.llcc_per_level = per_level;
    }

    /// kB/s that the DDR moves at `level`.
    pub fn ddr_capacity(&self, level: Kbps) -> f64 {
        let (at_lowest, lowest, per_level) = self.ddr;
        at_lowest + (level.0 as f64 - lowest).max(0.0) * per_level
    }

    /// kB/s that the CPUs' path moves at `level`.
    pub fn llcc_capacity(&self, level: Kbps) -> f64 {
        level.0 as f64 * self.llcc_per_level
    }

    /// kB/s of everything else.
    pub fn background_kbps(&self) -> f64 {
        BACKGROUND_KBPS
    }

    /// Bytes on the CPUs' path, and to memory, for each useful byte.
    fn crossing(&self, kind: Kind, working_set_kb: u32) -> (f64, f64) {
        let (l3, llcc) = self.caches.misses(kind, working_set_kb);
        (l3 * kind.amplification(), llcc * kind.amplification())
    }

    /// The cost of one row.
    pub fn cost_of(&self, row: &Row) -> Cost {
        let (v, no_votes) = row.measured();
        let measured = (v * self.unit_kb, no_votes * self.unit_kb);
        calibrate(self.caches, row.kind, row.bs_kb, measured, self.lowest)
    }

    /// The cost of a stream, and its bytes on the CPUs' path and to memory. A stream without a cost
    /// of its own gets that of the row of its kind which the caches treat alike, by block size.
    pub fn lower(&self, stream: &Stream) -> (Cost, f64, f64) {
        let Some(kind) = stream.kind else {
            return (Cost { core: 0.0, l3: 0.0, ddr: 0.0 }, 0.0, 1.0);
        };
        let mut cost = stream.cost.unwrap_or_else(|| self.nearest(kind, stream.working_set_kb));
        // Fewer CPUs wait as long for each kilobyte, but fewer of them at a time.
        cost.core *= f64::from(Stream::ALL_THREADS) / f64::from(stream.threads.max(1));
        let (path, memory) = self.crossing(kind, stream.working_set_kb);
        (cost, path, memory)
    }

    fn nearest(&self, kind: Kind, working_set_kb: u32) -> Cost {
        let place = |set: u32| {
            let (l3, llcc) = self.caches.misses(kind, set);
            u8::from(l3 > 0.0) + u8::from(llcc > 0.0)
        };
        let distance = |row: &&Row| {
            let places = place(row.bs_kb).abs_diff(place(working_set_kb));
            (places, row.bs_kb.abs_diff(working_set_kb))
        };
        let rows = self.rows.iter().filter(|row| row.kind == kind);
        rows.min_by_key(distance)
            .map_or(Cost { core: 1e-7, l3: 0.0, ddr: 0.0 }, |row| self.cost_of(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_table_has_the_seeds_thirteen_rows() {
        let table = SeedTable::parse("t", SEED_TABLE).unwrap();
        assert_eq!(table.rows.len(), 13);
    }

    #[test]
    fn the_published_bwmon_column_changes_no_prediction() {
        let mut table = SeedTable::parse("t", SEED_TABLE).unwrap();
        let board = builtin("sdm845").unwrap().unwrap();
        let before = Calibration::from_table(&table, &board);
        for row in &mut table.rows {
            row.bwmon = 1.0;
        }
        let after = Calibration::from_table(&table, &board);
        let costs =
            |c: &Calibration| -> Vec<Cost> { c.rows.iter().map(|r| c.cost_of(r)).collect() };
        assert_eq!(costs(&before), costs(&after));
        assert_eq!((before.ddr, before.llcc_per_level), (after.ddr, after.llcc_per_level));
    }

    #[test]
    fn capacity_grows_from_what_moved_at_the_bottom_to_what_moved_at_the_top() {
        let calibration = Calibration::seed().unwrap();
        // 4846 MiB/s at 800000 and 17711 ... 18554 MiB/s at 7216000, the largest rows to memory.
        let bottom = calibration.ddr_capacity(Kbps(800_000)) / 1_048.576;
        let top = calibration.ddr_capacity(Kbps(7_216_000)) / 1_048.576;
        assert!((4_846.0..5_100.0).contains(&bottom), "{bottom}");
        assert!((18_554.0..18_555.0).contains(&top), "{top}");
    }

    #[test]
    fn broken_tables_are_named_with_their_line() {
        let refused = |from: &str, to: &str| {
            SeedTable::parse("t", &SEED_TABLE.replacen(from, to, 1)).unwrap_err()
        };
        assert!(refused("V = 14795", "V = -1").place.is_some());
        assert!(refused("W/seq", "W/sec").place.is_some());
        assert!(refused("bwmon = 4985", "bwmoon = 4985").message.contains("bwmoon"));
    }
}
