//! The results as JSON for machines and as Markdown for people.

use std::fmt::Write as _;

use serde_json::json;

use crate::rounds::Row;

/// The line before the results in a document.
const BEGIN: &str = "<!-- results: begin -->";
/// The line after the results in a document.
const END: &str = "<!-- results: end -->";
const NO_MARKS: &str = "there are no marks for the results";

/// An array of `{case, value, unit}`.
pub(crate) fn json(rows: &[Row]) -> String {
    let rows = rows.iter().map(|row| json!({"case": row.case, "value": row.value, "unit": row.unit}));
    let mut text = serde_json::to_string_pretty(&rows.collect::<Vec<_>>()).unwrap_or_default();
    text.push('\n');
    text
}

/// Two tables: the measurements, and the transfers of the bulk cases.
pub(crate) fn markdown(rows: &[Row], rounds: usize, machine: &str) -> String {
    let mut text = format!("Median of {rounds} rounds on {machine}.\n\n");
    text += "| case | median | lowest to highest | unit | what |\n| --- | ---: | ---: | --- | --- |\n";
    for row in rows {
        let (low, high) = row.range;
        let (value, low, high) = (number(row.value), number(low), number(high));
        let _ =
            writeln!(text, "| `{}` | {value} | {low} to {high} | {} | {} |", row.case, row.unit, row.about);
    }
    if rows.iter().any(|row| row.transfer.is_some()) {
        text += "\n| case | bytes | data packets | acknowledgements | dropped | virtual time |\n";
        text += "| --- | ---: | ---: | ---: | ---: | ---: |\n";
    }
    for row in rows {
        let Some(transfer) = row.transfer else { continue };
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} | {} | {:.3} s |",
            row.case,
            grouped(transfer.bytes),
            grouped(transfer.data_packets),
            grouped(transfer.ack_packets),
            grouped(transfer.dropped),
            transfer.seconds
        );
    }
    text
}

/// Replaces the text between the two marks in `document` by `results`.
///
/// # Errors
/// If the marks are missing.
pub(crate) fn replace(document: &str, results: &str) -> Result<String, String> {
    let (head, _, tail) = parts(document)?;
    Ok(format!("{head}{BEGIN}\n{results}{END}{tail}"))
}

/// What is before the results, the results, and what is behind them.
fn parts(document: &str) -> Result<(&str, &str, &str), String> {
    let (head, rest) = document.split_once(BEGIN).ok_or(NO_MARKS)?;
    let (results, tail) = rest.split_once(END).ok_or(NO_MARKS)?;
    Ok((head, results.trim_start(), tail))
}

/// The results in `document`, whose rows are replaced by those in `results` that have the same name. All are in the order
/// of `names`; others are left out.
///
/// # Errors
/// If the marks are missing, or the document's results are of other rounds or of another machine.
pub(crate) fn merge(document: &str, results: &str, names: &[&str]) -> Result<String, String> {
    let [old, new] = [parts(document)?.1, results].map(|text| text.split("\n\n").collect::<Vec<_>>());
    if old.first() != new.first() {
        return Err(format!("its other rows are not like these: {}", old.first().unwrap_or(&"")));
    }
    let mut text = new[0].to_owned();
    for part in 1..old.len().max(new.len()) {
        let tables = [&new, &old].map(|parts| parts.get(part).copied().unwrap_or_default());
        let head = tables.iter().find(|table| !table.is_empty()).into_iter().flat_map(|table| table.lines());
        let row = |name: &&str| {
            let start = format!("| `{name}` |");
            tables.iter().flat_map(|table| table.lines()).find(|line| line.starts_with(&start))
        };
        let lines: Vec<&str> = head.take(2).chain(names.iter().filter_map(row)).collect();
        text = text + "\n\n" + &lines.join("\n");
    }
    Ok(text + "\n")
}

/// Formats large values as integers and small ones with three digits, as the spread of the measurements
/// permits.
fn number(value: f64) -> String {
    match value.abs() {
        1000.0.. => grouped(value.round() as u64),
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Digits in groups of three: `1,234,567`.
fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Transfer;

    fn row() -> Row {
        let transfer =
            Transfer { data_packets: 1234, ack_packets: 617, dropped: 3, bytes: 1_000_000, seconds: 0.25 };
        Row {
            case: "a",
            value: 1_234_567.4,
            unit: "us",
            range: (0.5, 99.96),
            about: "what",
            transfer: Some(transfer),
        }
    }

    #[test]
    fn json_has_the_three_keys() {
        let value: serde_json::Value = serde_json::from_str(&json(&[row()])).unwrap();
        assert_eq!(value, json!([{"case": "a", "value": 1_234_567.4, "unit": "us"}]));
    }

    #[test]
    fn markdown_has_both_tables() {
        let text = markdown(&[row()], 5, "a machine");
        assert!(text.contains("| `a` | 1,234,567 | 0.50 to 100.0 | us | what |"), "{text}");
        assert!(text.contains("| `a` | 1,000,000 | 1,234 | 617 | 3 | 0.250 s |"), "{text}");
        assert!(!markdown(&[Row { transfer: None, ..row() }], 5, "m").contains("virtual time"));
    }

    #[test]
    fn only_the_text_between_the_marks_is_replaced() {
        let document = format!("before\n{BEGIN}\nold\n{END}\nafter\n");
        let new = replace(&document, "new\n").unwrap();
        assert_eq!(new, format!("before\n{BEGIN}\nnew\n{END}\nafter\n"));
        assert_eq!(replace(&new, "new\n").as_deref(), Ok(new.as_str()));
        assert_eq!(replace("no marks", "new"), Err(NO_MARKS.to_owned()));
    }

    #[test]
    fn some_rows_are_replaced_and_others_stay() {
        let rows = |cases: &[(&'static str, f64)], transfer| {
            let row = |(case, value): &(&'static str, f64)| Row { case, value: *value, transfer, ..row() };
            markdown(&cases.iter().map(row).collect::<Vec<_>>(), 5, "m")
        };
        let transfer = row().transfer;
        let old = rows(&[("a", 1.0), ("b", 2.0), ("gone", 3.0)], transfer);
        let document = format!("before\n{BEGIN}\n{old}{END}\nafter\n");
        let merged = merge(&document, &rows(&[("b", 4.0), ("c", 5.0)], transfer), &["c", "a", "b"]).unwrap();
        assert_eq!(merged, rows(&[("c", 5.0), ("a", 1.0), ("b", 4.0)], transfer));
        // Without transfers in the new rows the old ones stay.
        let merged = merge(&document, &rows(&[("b", 4.0)], None), &["a", "b"]).unwrap();
        assert_eq!(merged, rows(&[("a", 1.0), ("b", 4.0)], transfer));
        let other = markdown(&[row()], 6, "m");
        assert!(merge(&document, &other, &["a"]).unwrap_err().contains("of 5 rounds on m"));
    }

    #[test]
    fn digits_are_grouped() {
        assert_eq!(
            [0, 999, 1000, 1_234_567].map(grouped),
            ["0", "999", "1,000", "1,234,567"].map(String::from)
        );
    }
}
