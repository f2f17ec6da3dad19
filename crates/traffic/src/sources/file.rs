//! Times and sizes from a file: CSV with a time and a size in each line.

use super::{Profile, Source};
use crate::OptionError;
use units::Duration;
use units::parameter::{Arguments, Default, Kind, Parameter};

pub(super) const ROW: units::parameter::Row<Profile> = units::parameter::Row {
    name: "file",
    about: "times and sizes from a file",
    parameters: &[Parameter {
        name: "file",
        kind: Kind::File("time_ms,size_bytes\n0,21\n12.5,242\n30,65\n"),
        default: Default::Required,
        about: "CSV with the header time_s,size_bytes (or time_ms, time_us, time_ns): times from the start, not decreasing",
    }],
    // Invalid files were rejected before.
    build: Profile {
        build: |arguments, _| {
            let rows = parse(&arguments.file("file").text).unwrap_or_default();
            Box::new(Replay { rows: rows.into_iter(), before: Duration::ZERO })
        },
        check,
        sizes,
    },
};

/// A line: the time since the start, and the size in bytes.
pub type Row = (Duration, u64);

/// The maximum size in bytes: 16 MiB.
const LARGEST: u64 = 1 << 24;
/// The maximum number of lines.
const MAX_LINES: usize = 10_000_000;

fn check(arguments: &Arguments) -> Result<(), OptionError> {
    let file = arguments.file("file");
    parse(&file.text).map(|_| ()).map_err(|problem| ("file", format!("{}:{problem}", file.path)))
}

fn sizes(arguments: &Arguments) -> (u64, u64) {
    let rows = parse(&arguments.file("file").text).unwrap_or_default();
    rows.iter().fold((u64::MAX, 0), |(least, most), (_, size)| (least.min(*size), most.max(*size)))
}

/// Parses such a file.
///
/// # Errors
/// `LINE: description`, if the header is unknown, a cell is not a valid number, the times decrease, or there are no
/// lines.
pub fn parse(text: &str) -> Result<Vec<Row>, String> {
    let mut lines =
        text.trim_end().lines().enumerate().map(|(at, line)| (at + 1, line.trim_end_matches('\r')));
    let header = lines.next().map_or("", |(_, line)| line);
    let unit = ["s", "ms", "us", "ns"].into_iter().find(|unit| header == format!("time_{unit},size_bytes"));
    let Some(unit) = unit else {
        let found: String = header.chars().take(40).collect();
        return Err(format!(
            "1: found {found:?}, expected \"time_ms,size_bytes\" (or time_s, time_us, time_ns)"
        ));
    };
    let mut rows: Vec<Row> = Vec::new();
    for (at, line) in lines {
        let row = row(line, unit).ok_or_else(|| {
            let found: String = line.chars().take(40).collect();
            format!("{at}: found {found:?}, expected a time in {unit} and a size from 1 to {LARGEST} bytes")
        })?;
        if let Some((before, _)) = rows.last().filter(|(before, _)| *before > row.0) {
            return Err(format!("{at}: {} comes after {before}; times must not decrease", row.0));
        }
        if rows.len() == MAX_LINES {
            return Err(format!("{at}: more than {MAX_LINES} lines"));
        }
        rows.push(row);
    }
    if rows.is_empty() { Err("2: there is no line after the header".to_owned()) } else { Ok(rows) }
}

fn row(line: &str, unit: &str) -> Option<Row> {
    let (time, size) = line.split_once(',')?;
    let numeric =
        |cell: &str, also: char| cell.bytes().all(|byte| byte.is_ascii_digit() || char::from(byte) == also);
    if !numeric(time, '.') || !numeric(size, '0') {
        return None;
    }
    let time = format!("{time} {unit}").parse().ok()?;
    size.parse().ok().filter(|size| (1..=LARGEST).contains(size)).map(|size| (time, size))
}

struct Replay {
    rows: std::vec::IntoIter<Row>,
    before: Duration,
}

impl Source for Replay {
    fn next(&mut self) -> Option<(Duration, u64)> {
        let (at, size) = self.rows.next()?;
        let gap = at - self.before;
        self.before = at;
        Some((gap, size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_times_and_sizes() {
        let ms = Duration::from_millis;
        assert_eq!(parse("time_ms,size_bytes\n0,21\n12.5,242\r\n12.5,7\n"), {
            Ok(vec![
                (Duration::ZERO, 21),
                (Duration::from_micros(12_500), 242),
                (Duration::from_micros(12_500), 7),
            ])
        });
        assert_eq!(parse("time_s,size_bytes\n0.5,1"), Ok(vec![(ms(500), 1)]));
        let rows = parse("time_ms,size_bytes\n10,21\n30,22").unwrap();
        let mut source = Replay { rows: rows.into_iter(), before: Duration::ZERO };
        assert_eq!(
            [source.next(), source.next(), source.next()],
            [Some((ms(10), 21)), Some((ms(20), 22)), None]
        );
    }

    #[test]
    fn errors_are_reported_with_their_line() {
        let error = |text: &str| parse(text).unwrap_err();
        assert!(error("").starts_with("1: found \"\", expected \"time_ms,size_bytes\""));
        assert!(error("time,size\n1,2").starts_with("1: found \"time,size\""));
        assert!(error(&"x".repeat(10_000_000)).len() < 200, "not the whole line");
        assert_eq!(error("time_ms,size_bytes\n"), "2: there is no line after the header");
        assert_eq!(
            error("time_ms,size_bytes\n5,1\n4,1"),
            "3: 4 ms comes after 5 ms; times must not decrease"
        );
        for line in [
            "",
            "1",
            "x,1",
            "1,x",
            "1,0",
            "-1,5",
            "1,-5",
            "1, 5",
            " 1,5",
            "1,5,6",
            "1e3,5",
            "1,16777217",
            "1,+5",
        ] {
            let text = format!("time_ms,size_bytes\n{line}\n0,1");
            assert!(error(&text).starts_with("2: found "), "{line}: {}", error(&text));
        }
    }
}
