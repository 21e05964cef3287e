//! Every run and measure as a Parquet file, for DuckDB, Spark or DataFusion over a fleet's results.

use crate::experiment::{Line, Status};
use parquet::basic::Compression;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::sync::Arc;

/// One row for each measure of a run, and one without a measure for a run that has none.
const SCHEMA: &str = "message runs {
    required binary experiment (UTF8);
    required int32 block;
    required binary workload (UTF8);
    required binary subject (UTF8);
    required int32 position;
    required int32 attempt;
    required binary status (UTF8);
    optional binary why (UTF8);
    optional binary measure (UTF8);
    optional double value;
}";

struct Row<'a> {
    line: &'a Line,
    measure: Option<(&'a str, f64)>,
}

/// `lines` of the experiment `name` as the bytes of a Parquet file: one row group, not compressed.
///
/// # Errors
/// When the writer refuses, which it does not for plain columns.
pub fn parquet(name: &str, lines: &[Line]) -> Result<Vec<u8>> {
    let rows: Vec<Row<'_>> = lines.iter().flat_map(rows_of).collect();
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let properties = WriterProperties::builder().set_compression(Compression::UNCOMPRESSED).build();
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    strings(&mut group, rows.iter().map(|_| name))?;
    numbers(&mut group, rows.iter().map(|row| row.line.block))?;
    strings(&mut group, rows.iter().map(|row| row.line.workload.as_str()))?;
    strings(&mut group, rows.iter().map(|row| row.line.subject.as_str()))?;
    numbers(&mut group, rows.iter().map(|row| row.line.position))?;
    numbers(&mut group, rows.iter().map(|row| row.line.attempt))?;
    strings(&mut group, rows.iter().map(|row| status(row.line.status)))?;
    known(&mut group, rows.iter().map(|row| row.line.why.as_deref()))?;
    known(&mut group, rows.iter().map(|row| row.measure.map(|(name, _)| name)))?;
    values(&mut group, rows.iter().map(|row| row.measure.map(|(_, value)| value)))?;
    group.close()?;
    file.into_inner()
}

fn rows_of(line: &Line) -> Vec<Row<'_>> {
    if line.measures.is_empty() {
        return vec![Row { line, measure: None }];
    }
    let measures = line.measures.iter();
    measures.map(|(name, value)| Row { line, measure: Some((name, *value)) }).collect()
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Done => "done",
        Status::Failed => "failed",
        Status::Void => "void",
        Status::Skipped => "skipped",
    }
}

type Group<'a> = SerializedRowGroupWriter<'a, Vec<u8>>;

/// The next column, written by `write`.
fn column(
    group: &mut Group<'_>,
    write: impl FnOnce(&mut ColumnWriter<'_>) -> Result<()>,
) -> Result<()> {
    let missing = || ParquetError::General("the schema has no more columns".to_owned());
    let mut column = group.next_column()?.ok_or_else(missing)?;
    write(column.untyped())?;
    column.close()
}

fn other_type() -> ParquetError {
    ParquetError::General("the schema and its writer disagree".to_owned())
}

fn strings<'a>(group: &mut Group<'_>, values: impl Iterator<Item = &'a str>) -> Result<()> {
    let values: Vec<ByteArray> = values.map(ByteArray::from).collect();
    column(group, |column| match column {
        ColumnWriter::ByteArrayColumnWriter(typed) => {
            typed.write_batch(&values, None, None).map(drop)
        }
        _ => Err(other_type()),
    })
}

fn known<'a>(group: &mut Group<'_>, values: impl Iterator<Item = Option<&'a str>>) -> Result<()> {
    let values: Vec<Option<&str>> = values.collect();
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<ByteArray> = values.into_iter().flatten().map(ByteArray::from).collect();
    column(group, |column| match column {
        ColumnWriter::ByteArrayColumnWriter(typed) => {
            typed.write_batch(&values, Some(&levels), None).map(drop)
        }
        _ => Err(other_type()),
    })
}

fn numbers(group: &mut Group<'_>, values: impl Iterator<Item = u32>) -> Result<()> {
    let values: Vec<i32> = values.map(|value| i32::try_from(value).unwrap_or(i32::MAX)).collect();
    column(group, |column| match column {
        ColumnWriter::Int32ColumnWriter(typed) => typed.write_batch(&values, None, None).map(drop),
        _ => Err(other_type()),
    })
}

fn values(group: &mut Group<'_>, values: impl Iterator<Item = Option<f64>>) -> Result<()> {
    let values: Vec<Option<f64>> = values.collect();
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<f64> = values.into_iter().flatten().collect();
    column(group, |column| match column {
        ColumnWriter::DoubleColumnWriter(typed) => {
            typed.write_batch(&values, Some(&levels), None).map(drop)
        }
        _ => Err(other_type()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;
    use std::collections::BTreeMap;

    #[test]
    fn what_is_written_is_read_back_and_what_is_unknown_is_null() {
        let line = |status, measures: &[(&str, f64)]| Line {
            block: 3,
            workload: "w".to_owned(),
            position: 1,
            subject: "s".to_owned(),
            attempt: 0,
            status,
            why: (status == Status::Failed).then(|| "hung".to_owned()),
            measures: measures.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
            conditions: BTreeMap::new(),
        };
        let lines =
            [line(Status::Done, &[("rate", 5.5), ("time", 0.0)]), line(Status::Failed, &[])];
        let bytes = parquet("x", &lines).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[0].get_string(0).unwrap(), "x");
        assert_eq!((rows[0].get_int(1).unwrap(), rows[0].get_double(9).unwrap()), (3, 5.5));
        assert_eq!(rows[1].get_string(8).unwrap(), "time");
        assert_eq!(rows[2].get_string(6).unwrap(), "failed");
        assert_eq!(rows[2].get_string(7).unwrap(), "hung");
        assert!(rows[2].get_double(9).is_err(), "a run without a value has none");
    }
}
