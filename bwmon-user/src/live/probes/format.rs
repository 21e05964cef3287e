//! The `format` text that tracefs shows for each event: parsed, and matched with the fields that
//! a probe copies. Pure: text in, offsets out.
//!
//! A line reads `field:__data_loc char[] name; offset:8; size:4; signed:0;`, with tabs between
//! the parts (Documentation/trace/events.rst, section 4).

use bwmon_common::{FieldType, Kind, MAX_FIELDS};
use thiserror::Error;

/// How the bytes of a field lead to its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// The value itself.
    Plain,
    /// An array inside the record, e.g. `char comm[16]`.
    Array,
    /// `__data_loc`: 4 bytes, `length << 16 | offset from the record's start`.
    DataLoc,
    /// `__rel_loc`: as above, but the offset counts from behind the field.
    RelLoc,
}

/// One field of an event's record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatField {
    /// Its name.
    pub name: String,
    /// Bytes from the record's start.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
    /// How to read it.
    pub location: Location,
    /// Whether the kernel calls it signed.
    pub signed: bool,
}

impl FormatField {
    /// Whether its value is a dynamic string or array elsewhere in the record.
    pub fn is_data_loc(&self) -> bool {
        self.location == Location::DataLoc
    }
}

/// An event's record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    /// All fields, the common header's included, in the kernel's order.
    pub fields: Vec<FormatField>,
}

/// The text is not a format.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line} of the event's format: {why}")]
pub struct FormatError {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub why: &'static str,
}

/// The event is not laid out as the probe needs it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LayoutError {
    /// The kernel's event has no such field.
    #[error("it has no field `{0}`")]
    Missing(String),
    /// The field is of another type.
    #[error("its field `{field}` has {size} bytes as {location:?}, wanted is {wanted:?}")]
    OtherType {
        /// Which field.
        field: String,
        /// The kernel's size.
        size: u32,
        /// The kernel's kind of location.
        location: Location,
        /// What the probe copies.
        wanted: FieldType,
    },
}

/// No event's record is larger (the kernel's `PERF_MAX_TRACE_SIZE` is 8192; `__data_loc` can say
/// 16 bits).
const MAX_RECORD: u32 = 65_535;

/// Reads a `format` text. Lines before the fields and the print format are passed over.
///
/// # Errors
/// When a field line is incomplete, its numbers are no numbers or do not fit in a record, or when
/// there is no field at all.
pub fn parse(text: &str) -> Result<Format, FormatError> {
    let mut fields = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with("print fmt:") {
            break;
        }
        if let Some(rest) = line.strip_prefix("field:") {
            fields.push(field(rest).map_err(|why| FormatError { line: index + 1, why })?);
        }
    }
    if fields.is_empty() {
        return Err(FormatError { line: text.lines().count(), why: "no field before the end" });
    }
    Ok(Format { fields })
}

fn field(text: &str) -> Result<FormatField, &'static str> {
    let mut parts = text.split(';').map(str::trim);
    let (name, location) = declaration(parts.next().unwrap_or_default())?;
    let mut number = |key: &str, missing: &'static str| {
        let part = parts.next().and_then(|p| p.strip_prefix(key)).ok_or(missing)?;
        part.parse::<u32>().map_err(|_| missing)
    };
    let offset = number("offset:", "no number as offset")?;
    let size = number("size:", "no number as size")?;
    let signed = number("signed:", "no 0 or 1 as signed")? != 0;
    if offset.checked_add(size).is_none_or(|end| end > MAX_RECORD) {
        return Err("the field lies outside of any record");
    }
    Ok(FormatField { name, offset, size, location, signed })
}

/// Takes a C declaration apart: `__data_loc char[] name`, `char comm[16]`, `unsigned long freq`.
fn declaration(text: &str) -> Result<(String, Location), &'static str> {
    let (kind, last) = text.rsplit_once(char::is_whitespace).ok_or("no type and name")?;
    let (name, array) = match last.split_once('[') {
        Some((name, _)) => (name, true),
        None => (last, false),
    };
    let name = name.trim_start_matches('*');
    if name.is_empty() {
        return Err("no name");
    }
    let location = match kind.split_whitespace().next() {
        Some("__data_loc") => Location::DataLoc,
        Some("__rel_loc") => Location::RelLoc,
        _ if array => Location::Array,
        _ => Location::Plain,
    };
    Ok((name.to_owned(), location))
}

/// One row of [`bwmon_common::Offsets`]: where each field of this kind lies in an event of this
/// format. `called` gives the kernel's name of a field, as a rule the same.
///
/// # Errors
/// When a field is missing or of another type; the probe must then not be attached.
pub(super) fn offsets_row(
    kind: Kind,
    format: &Format,
    called: impl Fn(&'static str) -> &'static str,
) -> Result<[u32; MAX_FIELDS], LayoutError> {
    let mut row = [0; MAX_FIELDS];
    for (cell, wanted) in row.iter_mut().zip(kind.fields()) {
        let name = called(wanted.name);
        let found = format.fields.iter().find(|f| f.name == name);
        let found = found.ok_or_else(|| LayoutError::Missing(name.to_owned()))?;
        let fits = match wanted.kind {
            FieldType::Text => found.location == Location::DataLoc && found.size == 4,
            FieldType::U32 => found.location == Location::Plain && found.size == 4,
            FieldType::U64 => found.location == Location::Plain && found.size == 8,
        };
        if !fits {
            return Err(LayoutError::OtherType {
                field: name.to_owned(),
                size: found.size,
                location: found.location,
                wanted: wanted.kind,
            });
        }
        *cell = found.offset;
    }
    Ok(row)
}

#[cfg(test)]
#[path = "format_tests.rs"]
mod tests;
