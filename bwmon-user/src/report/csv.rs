//! Results for scripts: exact values, an empty field for what is not known.

use super::words::verdict_name;
use crate::experiment::{Judged, JudgedCell, Line, Status};
use ::csv::Writer;

/// One row per workload, measure and subject that has values. Effects are in percent of the
/// baseline where the column `effect_unit` says so, else in the measure's unit.
pub fn csv(judged: &Judged) -> String {
    let header = [
        "workload",
        "measure",
        "unit",
        "subject",
        "n",
        "q1",
        "median",
        "q3",
        "effect",
        "low",
        "high",
        "effect_unit",
        "p",
        "p_adjusted",
        "verdict",
        "pairs",
        "pairs_needed",
    ];
    let rows = judged.cells.iter().map(|cell| row(judged, cell).to_vec());
    document(&header, rows)
}

/// One row per run and measure; a run that measured nothing has one row without a measure.
pub fn runs_csv(lines: &[Line]) -> String {
    let header = [
        "block", "workload", "position", "subject", "attempt", "status", "why", "measure", "value",
    ];
    let rows = lines.iter().flat_map(|line| {
        let run = [
            line.block.to_string(),
            line.workload.clone(),
            line.position.to_string(),
            line.subject.clone(),
            line.attempt.to_string(),
            status(line.status).to_owned(),
            line.why.clone().unwrap_or_default(),
        ];
        let measures = line.measures.iter().map(|(name, value)| [name.clone(), exact(*value)]);
        let mut measures: Vec<[String; 2]> = measures.collect();
        if measures.is_empty() {
            measures.push([String::new(), String::new()]);
        }
        measures.into_iter().map(move |measure| [run.as_slice(), &measure].concat())
    });
    document(&header, rows)
}

fn row(judged: &Judged, cell: &JudgedCell) -> [String; 17] {
    let measure = judged.measures.iter().find(|measure| measure.name == cell.measure);
    let unit = measure.map_or("", |measure| &measure.unit);
    let [q1, median, q3] = cell.quartiles.map(exact);
    let effect = cell.effect.as_ref();
    let of = |value: fn(&crate::experiment::Effect) -> f64| {
        effect.map_or_else(String::new, |effect| exact(value(effect)))
    };
    let effect_unit = match (effect, measure) {
        (Some(_), Some(measure)) if measure.by_ratio => "%",
        (Some(_), _) => unit,
        (None, _) => "",
    };
    [
        cell.workload.clone(),
        cell.measure.clone(),
        unit.to_owned(),
        cell.subject.clone(),
        cell.values.len().to_string(),
        q1,
        median,
        q3,
        of(|effect| effect.estimate),
        of(|effect| effect.low),
        of(|effect| effect.high),
        effect_unit.to_owned(),
        of(|effect| effect.p),
        of(|effect| effect.p_adjusted),
        effect.map_or("", |effect| verdict_name(effect.verdict)).to_owned(),
        effect.map_or_else(String::new, |effect| effect.pairs.to_string()),
        effect.and_then(|effect| effect.pairs_needed).map_or_else(String::new, |n| n.to_string()),
    ]
}

/// The shortest text that reads back as the same number.
fn exact(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Done => "done",
        Status::Failed => "failed",
        Status::Void => "void",
        Status::Skipped => "skipped",
    }
}

fn document(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut writer = Writer::from_writer(Vec::new());
    // Every row has the header's length and memory takes all of it: nothing here can fail.
    let _ = writer.write_record(header);
    for row in rows {
        let _ = writer.write_record(row);
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::{any_judged, two_workloads};
    use proptest::prelude::*;

    fn rows(text: &str) -> Vec<Vec<String>> {
        let mut reader =
            ::csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
    }

    // The sample's burst workload: V at 2 118 999.5 (quartiles 1 % around it), adaptive 240.61 %
    // above it.
    #[test]
    fn numbers_are_exact_and_a_baseline_has_no_effect() {
        let rows = rows(&csv(&two_workloads()));
        assert_eq!(
            rows[1].join(" "),
            "burst throughput kB/s V 3 2000000 2118999.5 2200000         "
        );
        assert_eq!(
            rows[2].join(" "),
            "burst throughput kB/s adaptive 3 7100000 7216000 7300000 240.61 238.07 243 % 0.0009 \
             0.0018 better 20 "
        );
    }

    #[test]
    fn what_is_not_known_is_an_empty_field() {
        let mut judged = two_workloads();
        judged.cells[0].quartiles = [f64::NAN, f64::INFINITY, 3.0];
        assert_eq!(rows(&csv(&judged))[1][5..8], ["", "", "3"]);
    }

    #[test]
    fn a_run_has_a_row_for_each_measure_and_one_if_it_has_none() {
        let line: Line = serde_json::from_str(
            r#"{"block":2,"workload":"a,b","position":1,"subject":"V","status":"done",
                "measures":{"x":0.1,"y":2.0}}"#,
        )
        .unwrap();
        let failed = Line {
            status: Status::Failed,
            why: Some("exit \"1\"\nsecond line".to_owned()),
            measures: Default::default(),
            ..line.clone()
        };
        let rows = rows(&runs_csv(&[line, failed]));
        assert_eq!(rows[1], ["2", "a,b", "1", "V", "0", "done", "", "x", "0.1"]);
        assert_eq!(rows[2][7..], ["y", "2"]);
        assert_eq!(rows[3][5..], ["failed", "exit \"1\"\nsecond line", "", ""]);
    }

    proptest! {
        #[test]
        fn every_cell_is_one_row_whatever_its_names(judged in any_judged()) {
            let rows = rows(&csv(&judged));
            prop_assert_eq!(rows.len(), 1 + judged.cells.len());
            prop_assert!(rows.iter().all(|row| row.len() == 17));
            prop_assert!(!rows.iter().skip(1).any(|row| row[5..8].iter().any(|v| v == "NaN")));
        }
    }
}
