use super::*;
use crate::board::builtin;
use crate::policy::script::Source;
use crate::sim::SEED_TABLE;

fn rows() -> Vec<RowResult> {
    let table = SeedTable::parse("t", SEED_TABLE).unwrap();
    let board = |id: &str| builtin(id).unwrap().unwrap();
    let text = include_str!("../../../policies/adaptive.rhai").to_owned();
    let adaptive =
        PolicySpec::Script { source: Source { name: "adaptive".into(), text }, set: Vec::new() };
    run_table(&table, &board(&table.board), &board(&table.seed_board), &adaptive).unwrap()
}

fn cell(row: &RowResult, config: Config) -> &Cell {
    row.cell(config).unwrap()
}

fn ddr(cell: &Cell) -> &ClockResult {
    cell.clocks.iter().find(|clock| clock.name == "ddr").unwrap()
}

#[test]
fn bwmon_is_predicted_within_ten_percent_on_at_least_twelve_rows() {
    let rows = rows();
    let good = rows
        .iter()
        .filter(|row| cell(row, Config::Bwmon).error_pct.is_some_and(|error| error.abs() <= 10.0));
    assert!(good.count() >= 12, "{rows:#?}");
}

#[test]
fn bwmon_helps_where_the_seed_saw_it_help_and_nowhere_else() {
    for row in rows() {
        let (predicted, published) = (row.benefit_pct(), row.published_benefit_pct());
        if published.abs() <= 5.0 {
            assert!(predicted.abs() <= 5.0, "{row:?}: {predicted}");
        } else {
            let ratio = (predicted + 100.0) / (published + 100.0);
            assert!(predicted > 5.0 && (0.85..1.15).contains(&ratio), "{row:?}: {predicted}");
        }
    }
}

#[test]
fn the_calibration_gives_back_the_two_columns_that_it_was_given() {
    for row in rows() {
        for config in [Config::V, Config::NoVotes] {
            let error = cell(&row, config).error_pct.unwrap();
            // 64 kB R/seq: V is lower than no_votes, and a cost cannot be both.
            assert!(error.abs() < 5.0, "{row:?} {config:?}: {error}");
        }
    }
}

#[test]
fn on_top_of_vanilla_bwmon_changes_nothing_while_the_cpus_are_busy() {
    for row in rows() {
        let (v, both) = (cell(&row, Config::V), cell(&row, Config::VBwmon));
        assert!((both.throughput / v.throughput - 1.0).abs() < 0.001, "{row:?}");
        assert!(ddr(both).vote_integral_kbps_s >= ddr(v).vote_integral_kbps_s);
    }
}

#[test]
fn adaptive_keeps_97_percent_of_vanilla_on_every_row_and_votes_less_ddr() {
    let rows = rows();
    let (mut ours, mut vanilla) = (0, 0);
    for row in &rows {
        let (v, adaptive) = (cell(row, Config::V), cell(row, Config::Adaptive));
        assert_eq!(adaptive.faults, 0);
        assert!(adaptive.throughput >= 0.97 * v.throughput, "{row:?}");
        let bwmon = cell(row, Config::Bwmon);
        assert!(adaptive.throughput >= 0.97 * bwmon.throughput, "{row:?}");
        ours += ddr(adaptive).vote_integral_kbps_s;
        vanilla += ddr(v).vote_integral_kbps_s;
    }
    assert!(ours < vanilla, "{ours} {vanilla}");
}

#[test]
fn the_same_table_gives_the_same_result() {
    assert_eq!(rows(), rows());
}
