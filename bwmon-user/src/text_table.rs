//! Tables of plain text, and numbers to read in them.

use comfy_table::{CellAlignment, Table, presets};

/// A table with a header and no frame; columns named in `right` stand to the right. A cell may
/// have several lines.
pub fn table(header: &[&str], right: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    for (column, name) in table.column_iter_mut().zip(header) {
        if right.contains(name) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.add_rows(rows);
    let text = table.to_string();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n")
}

/// A number with thin groups of three, for reading.
pub fn grouped(n: u64) -> String {
    grouped_digits(&n.to_string())
}

/// `digits` with thin groups of three from the right.
pub fn grouped_digits(digits: &str) -> String {
    let count = digits.chars().count();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (count - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_three_from_the_right() {
        let shown: Vec<String> = [0, 999, 1_000, 25_497_600].map(grouped).into();
        assert_eq!(shown, ["0", "999", "1 000", "25 497 600"]);
    }

    #[test]
    fn named_columns_stand_to_the_right_and_no_line_ends_in_spaces() {
        let rows =
            vec![vec!["a".to_owned(), "1".to_owned()], vec!["bb".to_owned(), "20".to_owned()]];
        assert_eq!(table(&["name", "n"], &["n"], rows), " name   n\n a      1\n bb    20");
    }
}
