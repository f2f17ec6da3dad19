//! Times and sizes from a file: CSV with a time and a size in each line.

use super::{Profile, Source};
use crate::OptionError;
use units::Duration;
use units::parameter::{Arguments, File, Options};
use units::table::{Reader, quoted};

/// The options of sources from a file.
#[derive(Debug, Clone, Options)]
struct FileOptions {
    /// CSV with the header time_s,size_bytes (or time_ms, time_us, time_ns): times from the start, not decreasing
    #[option(example = "time_ms,size_bytes\n0,21\n12.5,242\n30,65\n")]
    file: File,
}

pub(super) const ROW: units::parameter::Row<Profile> = units::parameter::Row {
    name: "file",
    about: "times and sizes from a file",
    parameters: FileOptions::PARAMETERS,
    // Invalid files were rejected before.
    build: Profile {
        build: |arguments, _| {
            let (rows, _) = parse(&FileOptions::of(arguments).file.text).unwrap_or_default();
            Box::new(Replay { rows: rows.into_iter(), before: Duration::ZERO })
        },
        check,
        sizes,
    },
};

/// A line: the time since the start, and the size in bytes.
type Datagram = (Duration, u64);

/// The units of time, and the power of ten that makes nanoseconds of each.
const UNITS: [(&str, u32); 4] = [("s", 9), ("ms", 6), ("us", 3), ("ns", 0)];

/// The columns: a time in each of the units, of which one must be there, and the size.
const COLUMNS: [&str; 5] = ["time_s", "time_ms", "time_us", "time_ns", "size_bytes"];

/// The maximum size in bytes: 16 MiB.
const LARGEST: u64 = 1 << 24;
/// The latest message: a year.
const LATEST: Duration = Duration::from_secs(365 * 86_400);
/// The maximum number of lines.
const MAX_LINES: usize = 10_000_000;

fn check(arguments: &Arguments) -> Result<(), OptionError> {
    let FileOptions { file } = FileOptions::of(arguments);
    parse(&file.text).map(|_| ()).map_err(|problem| ("file", format!("{}:{problem}", file.path)))
}

/// What was skipped and rounded in a valid file.
pub(super) fn notes(arguments: &Arguments) -> Vec<String> {
    let FileOptions { file } = FileOptions::of(arguments);
    let (_, notes) = parse(&file.text).unwrap_or_default();
    notes.into_iter().map(|note| format!("{}, {note}", file.path)).collect()
}

fn sizes(arguments: &Arguments) -> (u64, u64) {
    let (rows, _) = parse(&FileOptions::of(arguments).file.text).unwrap_or_default();
    rows.iter().fold((u64::MAX, 0), |(least, most), (_, size)| (least.min(*size), most.max(*size)))
}

/// Reads such a file: its lines, and what was skipped and rounded.
///
/// # Errors
/// `LINE: description`, if the header is unknown, a cell is not a valid number, the times decrease, or there are no
/// lines.
fn parse(text: &str) -> Result<(Vec<Datagram>, Vec<String>), String> {
    let mut reader = Reader::new(text);
    let header = reader.first();
    let (places, unit, power) =
        columns(&mut reader).map_err(|problem| format!("{}: {problem}", header.number))?;
    reader.keep(places.into_iter());
    let mut notes: Vec<String> = reader.skipped(&COLUMNS).into_iter().collect();
    let mut rows: Vec<Datagram> = Vec::new();
    let (mut rounded, mut first, mut cells) = (0, 0, Vec::new());
    while let Some(line) = reader.next(&mut cells) {
        let at = line.number;
        let (row, is_rounded) = row(&mut reader, &cells, places, power).map_err(|fault| {
            let found = line.quoted();
            format!(
                "{at}: found {found}: {fault}; expected a time in {unit} and a size from 1 to {LARGEST} bytes"
            )
        })?;
        if let Some((before, _)) = rows.last().filter(|(before, _)| *before > row.0) {
            return Err(format!("{at}: {} comes after {before}; times must not decrease", row.0));
        }
        if row.0 > LATEST {
            return Err(format!(
                "{at}: a message at {}; expected times from the start of the flow, not since 1970",
                row.0
            ));
        }
        if rows.len() == MAX_LINES {
            return Err(format!("{at}: more than {MAX_LINES} lines"));
        }
        rows.push(row);
        if is_rounded {
            rounded += 1;
            first = if rounded == 1 { at } else { first };
        }
    }
    if rows.is_empty() {
        return Err(format!("{}: there is no line after the header", header.number + 1));
    }
    if rounded > 0 {
        let all = rows.len();
        notes.push(format!("{rounded} of {all} lines rounded to 1 ns; the first is line {first}"));
    }
    Ok((rows, notes))
}

/// The places of time and size, the unit of the time, and the power of ten that makes nanoseconds of it.
fn columns(reader: &mut Reader<'_>) -> Result<([usize; 2], &'static str, u32), String> {
    reader.settle(&COLUMNS, &[])?;
    if let Some((line, unit)) = reader.size_unit_in_comment() {
        let unit = quoted(unit);
        return Err(format!(
            "the comment in line {line} has {unit}; expected bytes, and no other unit of sizes"
        ));
    }
    let places = reader.columns(&COLUMNS)?;
    let times: Vec<(usize, &'static str, u32)> = places
        .iter()
        .zip(UNITS)
        .filter_map(|(place, (unit, power))| Some(((*place)?, unit, power)))
        .collect();
    match (&times[..], places[UNITS.len()]) {
        ([(time, unit, power)], Some(size)) => Ok(([*time, size], unit, *power)),
        _ => {
            let found = reader.first().quoted();
            Err(format!(
                "found {found}, expected the names of columns: time_ms (or time_s, time_us, time_ns), size_bytes"
            ))
        }
    }
}

/// The time and the size of a line, and whether the time was rounded.
///
/// # Errors
/// What is wrong with the first cell that is not one.
fn row<'a>(
    reader: &mut Reader<'a>,
    cells: &[&'a str],
    [time, size]: [usize; 2],
    power: u32,
) -> Result<(Datagram, bool), String> {
    if let Some(fault) = reader.miscounted(cells.len()) {
        return Err(fault);
    }
    let (time, size) = (cells[time], cells[size]);
    let Some((at, is_rounded)) = reader.scaled(time, power) else {
        return Err(reader.fault(time).unwrap_or_else(|| format!("{} is too large", quoted(time))));
    };
    let bytes = reader.whole(size).filter(|size| (1..=LARGEST).contains(size));
    let bytes = bytes.ok_or_else(|| {
        reader.whole_fault(size).unwrap_or_else(|| format!("{} is out of range", quoted(size)))
    })?;
    Ok(((Duration::from_nanos(at), bytes), is_rounded))
}

struct Replay {
    rows: std::vec::IntoIter<Datagram>,
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
        let half = Duration::from_micros(12_500);
        let rows = vec![(Duration::ZERO, 21), (half, 242), (half, 7)];
        for text in [
            "time_ms,size_bytes\n0,21\n12.5,242\r\n12.5,7\n",
            "\u{feff}Time_ms;Size_Bytes\r\n0;21\r\n12,5;242\r\n12,5;7\r\n",
            "# messages\n\"size_bytes\",\"time_s\"\n\"21\",\"0\"\n\"242\",\"0.0125\"\n7,1.25e-2\n",
            "# time_us size_bytes\n# by x\n0.0e+00 2.1e+01\n12500 242\n12500.0 7\n",
            "time (ms)\tsize (bytes)\n0\t21\n12.5\t242\n 12.5 \t 7\n",
        ] {
            assert_eq!(parse(text), Ok((rows.clone(), Vec::new())), "{text}");
        }
        let (rows, notes) = parse("who,time_s,size_bytes\nx,0.5,1\n\"y,z\",0.50000000049,2\n").unwrap();
        assert_eq!(rows, [(ms(500), 1), (ms(500), 2)]);
        assert_eq!(
            notes,
            [
                "skipped a column that is not needed: \"who\"",
                "1 of 2 lines rounded to 1 ns; the first is line 3"
            ]
        );
        let (rows, _) = parse("time_ms,size_bytes\n10,21\n30,22").unwrap();
        let mut source = Replay { rows: rows.into_iter(), before: Duration::ZERO };
        assert_eq!(
            [source.next(), source.next(), source.next()],
            [Some((ms(10), 21)), Some((ms(20), 22)), None]
        );
    }

    #[test]
    fn errors_are_reported_with_their_line() {
        let error = |text: &str| parse(text).unwrap_err();
        assert!(error("").starts_with("1: found \"\", expected the names of columns: time_ms"));
        assert!(error("time,size\n1,2").starts_with("1: found \"time,size\""));
        assert!(error(&"x".repeat(10_000_000)).len() < 200, "not the whole line");
        assert_eq!(error("time_ms,size_bytes\n"), "2: there is no line after the header");
        assert_eq!(
            error("time_ms,size_bytes\n5,1\n4,1"),
            "3: 4 ms comes after 5 ms; times must not decrease"
        );
        assert!(
            error("1,2\n3,4\n").starts_with("1: found \"1,2\", expected the names"),
            "units are not guessed"
        );
        assert!(error("time_ms,time_s,size_bytes\n1,1,2").starts_with("1: found "));
        assert!(
            error("time_s,size_bytes\n1700000000.0,100\n")
                .contains("2: a message at 1700000000 s; expected times from")
        );
        assert!(error("Time (Ms),size_bytes\n1,2").starts_with("1: found "));
        assert!(
            error("# sizes in kB\ntime_s,size_bytes\n0,100\n")
                .starts_with("2: the comment in line 1 has \"kB\"")
        );
        assert!(
            error("# time_ms and size_bytes\n1,2")
                .starts_with("2: the comment in line 1 has \"time_ms\", but")
        );
        for (line, told) in [
            ("1,0", "\"0\" is out of range; expected a time in ms and a size from 1 to 16777216 bytes"),
            ("1,-5", "\"-5\" is below zero;"),
            ("1,\"1,500\"", "\"1,500\" has a separator of thousands; write it without;"),
            ("1,1.5", "\"1.5\" is not a whole number;"),
            ("1,1.500", "\"1.500\" can have three decimals or a separator of thousands;"),
            ("1e30,5", "\"1e30\" is too large;"),
            ("1", "1 value for the 2 columns of line 1"),
        ] {
            let found = error(&format!("time_ms,size_bytes\n{line}\n"));
            assert!(found.contains(told), "{line}: {found}");
        }
        for line in [
            "1",
            "x,1",
            "1,x",
            "1,0",
            "-1,5",
            "1,-5",
            "1,5,6",
            "1e30,5",
            "1,1.5",
            "1,16777217",
            "nan,5",
            "1,inf",
        ] {
            let text = format!("time_ms,size_bytes\n{line}\n0,1");
            assert!(error(&text).starts_with("2: found "), "{line}: {}", error(&text));
        }
    }
}
