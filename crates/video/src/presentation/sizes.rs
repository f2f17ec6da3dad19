//! A presentation from the sizes of its segments: CSV with a line per segment and a column per representation.

use super::file::{self, TextError};
use super::{
    Fault, Kind, MAX_DURATION, MAX_REPRESENTATIONS, MAX_SEGMENTS, MAX_SIZES, Period, Presentation,
    PresentationError, Representation, Source, Track, TrackError,
};
use random::Stream;
use units::parameter::{Arguments, Kind as OptionKind, Parameter, Row, Value};
use units::table::{self, Reader};
use units::{Duration, Rate, Size};

pub(super) const ROW: Row<Source> = Row {
    name: "sizes",
    about: "the sizes of segments in a file (CSV): a line per segment, a column per representation",
    parameters: &[
        Parameter::required(
            "file",
            OptionKind::File("low,high\n40000,120000\n50000,150000\n30000,90000\n"),
            "the sizes: a line with the names of the representations, then a line with the bytes of each segment",
        ),
        Parameter::with_default("segment", OptionKind::Duration, "\"3 s\"", "duration of a segment"),
        Parameter::optional(
            "duration",
            OptionKind::Duration,
            "duration of the presentation, if the last segment is shorter than the others",
        ),
        Parameter::optional(
            "bitrates",
            OptionKind::List(&OptionKind::Rate),
            "declared bitrate of each column, rising; without it the means of the columns",
        ),
        Parameter::with_default(
            "initialization",
            OptionKind::Size,
            "\"0 B\"",
            "bytes of the initialization segment of each representation; 0 for none",
        ),
    ],
    build: Source { build, notes },
};

/// The names of columns that only count the lines; the index of pandas has none.
const COUNTERS: [&str; 4] = ["segment", "number", "index", ""];

/// Which columns are skipped.
fn notes(arguments: &Arguments) -> Vec<String> {
    let file = arguments.file("file");
    let reader = Reader::new(&file.text);
    let names = reader.names().iter().filter(|name| !is_counter(name));
    let taken: Vec<String> = names.map(|name| table::plain(name)).collect();
    let skipped = reader.skipped(&taken.iter().map(String::as_str).collect::<Vec<_>>());
    skipped.map(|skipped| format!("{}, {skipped}", file.path)).into_iter().collect()
}

fn is_counter(name: &str) -> bool {
    COUNTERS.contains(&table::plain(name).as_str())
}

fn build(arguments: &Arguments, _: &mut Stream) -> Result<Presentation, Fault> {
    let file = arguments.file("file");
    let in_file = |problem: String| -> Fault { ("file", format!("{}, {problem}", file.path)) };
    let columns = parse(&file.text).map_err(|error| in_file(error.to_string()))?;
    let durations = durations(arguments, columns[0].sizes.len())?;
    let whole = durations.iter().fold(Duration::ZERO, |sum, duration| sum + *duration);
    let bitrates = match declared(arguments, columns.len())? {
        Some(bitrates) => bitrates,
        None => columns.iter().map(|column| column.mean(whole)).collect(),
    };
    let initialization = arguments.size("initialization").as_bytes();
    let representation = |(column, bitrate): (Column, Rate)| Representation {
        id: column.name,
        bitrate,
        resolution: None,
        initialization,
        sizes: column.sizes,
    };
    let representations = columns.into_iter().zip(bitrates).map(representation).collect();
    let track = Track { kind: Kind::Video, durations, representations };
    Presentation::new(vec![Period { tracks: vec![track] }]).map_err(|error| match error {
        PresentationError::Track(_, _, TrackError::Initialization(_)) => ("initialization", error.to_string()),
        PresentationError::Track(_, _, TrackError::Order(_) | TrackError::Bitrate(_))
            if arguments.has("bitrates") =>
        {
            ("bitrates", error.to_string())
        }
        PresentationError::Track(_, _, TrackError::Order(at)) => in_file(format!(
            "the mean of column {} is not above that of column {at}; expected columns by rising size, or \"bitrates\"",
            at + 1
        )),
        _ => in_file(error.to_string()),
    })
}

/// The duration of each of so many segments.
fn durations(arguments: &Arguments, segments: usize) -> Result<Vec<Duration>, Fault> {
    let segment = arguments.duration("segment");
    if segment.is_zero() {
        return Err(("segment", "expected a duration above zero".to_owned()));
    }
    if segment * segments as u64 > MAX_DURATION {
        return Err(("segment", PresentationError::Duration.to_string()));
    }
    let mut durations = vec![segment; segments];
    if arguments.has("duration") {
        let (whole, before) = (arguments.duration("duration"), segment * (segments as u64 - 1));
        if whole <= before || whole > before + segment {
            let problem = format!(
                "{segments} segments of {segment} last longer than {before}, and at most {}; the duration is {whole}",
                before + segment
            );
            return Err(("duration", problem));
        }
        durations[segments - 1] = whole - before;
    }
    Ok(durations)
}

/// The option `bitrates`.
fn declared(arguments: &Arguments, columns: usize) -> Result<Option<Vec<Rate>>, Fault> {
    if !arguments.has("bitrates") {
        return Ok(None);
    }
    let rate = |value| if let Value::Rate(rate) = value { rate } else { Rate::ZERO };
    let bitrates: Vec<Rate> = arguments.list("bitrates").into_iter().map(rate).collect();
    if bitrates.len() != columns {
        return Err(("bitrates", format!("{} bitrates for {columns} columns", bitrates.len())));
    }
    Ok(Some(bitrates))
}

/// The sizes of a representation.
#[derive(Debug, PartialEq, Eq)]
struct Column {
    name: String,
    /// Its place in a line.
    place: usize,
    sizes: Vec<u64>,
}

impl Column {
    /// The mean bitrate of segments that last so long together.
    fn mean(&self, whole: Duration) -> Rate {
        // At most MAX_SEGMENTS times MAX_SEGMENT_BYTES: 10^17.
        let bitrate = Rate::of(Size::from_bytes(self.sizes.iter().sum()), whole);
        bitrate.max(Rate::from_bits_per_sec(1))
    }
}

/// Reads the file: at least one column, and at least one segment.
///
/// # Errors
/// The first invalid line, with a description.
fn parse(text: &str) -> Result<Vec<Column>, TextError> {
    let mut reader = file::csv(text)?;
    let header = reader.first().number;
    let mut columns = header_columns(&reader).map_err(|problem| TextError::line(header, problem))?;
    let most = MAX_SEGMENTS.min(MAX_SIZES / columns.len());
    let (mut segments, mut cells) = (0, Vec::new());
    while let Some(line) = reader.next(&mut cells) {
        let wrong = |problem: String| TextError::line(line.number, problem);
        if segments == most {
            return Err(wrong(format!("more than {most} segments")));
        }
        if cells.len() != reader.count() {
            return Err(wrong(format!("{} values for {} columns", cells.len(), reader.count())));
        }
        for column in &mut columns {
            let value = cells[column.place];
            let bytes = file::bytes(&mut reader, value).ok_or_else(|| {
                let (name, value) = (file::quoted(&column.name), file::quoted(value));
                wrong(format!("{name} is {value}; expected the bytes of a segment, as 86250"))
            })?;
            column.sizes.push(bytes);
        }
        segments += 1;
    }
    if segments == 0 {
        return Err(TextError::whole("no segment; expected a line for each below the names of the columns"));
    }
    Ok(columns)
}

fn header_columns(reader: &Reader<'_>) -> Result<Vec<Column>, String> {
    // A file without names would lose its first segment.
    if reader.names().is_empty() {
        let first = reader.first().quoted();
        return Err(format!(
            "found {first}; expected the names of representations, each with a letter in it"
        ));
    }
    let mut columns: Vec<Column> = Vec::new();
    for (place, name) in reader.names().iter().enumerate().filter(|(_, name)| !is_counter(name)) {
        if columns.len() == MAX_REPRESENTATIONS {
            return Err(format!("more than {MAX_REPRESENTATIONS} columns"));
        }
        if !name.contains(char::is_alphabetic) {
            let name = file::quoted(name);
            return Err(format!("column {name}; expected the name of a representation, with a letter in it"));
        }
        if columns.iter().any(|column| column.name == *name) {
            return Err(format!("column {} twice", file::quoted(name)));
        }
        columns.push(Column { name: (*name).to_owned(), place, sizes: Vec::new() });
    }
    if columns.is_empty() {
        Err("no column of a representation; expected one at least".to_owned())
    } else {
        Ok(columns)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{arguments, built};
    use super::*;

    const FILE: &str = "# bytes\n low, high \n\n40000,120000\r\n50000, 150000\n30000,90000\n";

    #[test]
    fn a_column_is_a_representation() {
        let set = [("file", FILE), ("segment", "2 s"), ("initialization", "800 B")];
        let presentation = built(&ROW, &set, 1).unwrap();
        let track = &presentation.periods[0].tracks[0];
        assert_eq!((track.kind, &track.durations[..]), (Kind::Video, &[Duration::from_secs(2); 3][..]));
        let [low, high] = &track.representations[..] else { panic!("two columns") };
        assert_eq!(
            (low.id.as_str(), &low.sizes[..], low.initialization),
            ("low", &[40_000, 50_000, 30_000][..], 800)
        );
        // 120,000 bytes in 6 s.
        assert_eq!(
            (low.bitrate, high.bitrate),
            ("160 kbit/s".parse().unwrap(), "480 kbit/s".parse().unwrap())
        );
    }

    #[test]
    fn the_same_sizes_are_read_from_every_form() {
        for text in [
            "\u{feff}low;high\r\n40000;120000\r\n50000;150000\r\n30000;90000\r\n",
            "low\thigh\n40000\t120000\n50000\t150000\n30000\t90000",
            "\"low\",\"high\"\n\"40000\",\"120000\"\n50000,150000,\n30000,90000\n",
            "# low high\n4.0e+04 1.2e+05\n50000 150000.0\n30000 90000\n",
        ] {
            assert_eq!(parse(text), parse(FILE), "{text}");
        }
    }

    #[test]
    fn columns_that_count_the_lines_are_skipped() {
        let text = "index,low,Segment,high\n1,40000,1,120000\n2,50000,2,150000\n3,30000,3,90000\n";
        let sizes =
            |text| -> Vec<Vec<u64>> { parse(text).unwrap().into_iter().map(|one| one.sizes).collect() };
        assert_eq!(sizes(text), sizes(FILE));
        let notes = |text| (ROW.build.notes)(&arguments(&ROW, &[("file", text)]));
        assert_eq!(notes(text), ["the-file, skipped columns that are not needed: \"index\", \"Segment\""]);
        assert_eq!(notes(",low\n0,5\n"), ["the-file, skipped a column that is not needed: 1"]);
        assert_eq!(notes(FILE), [""; 0]);
        assert!(parse("segment\n1\n").unwrap_err().to_string().contains("no column of a representation"));
    }

    #[test]
    fn bitrates_and_the_duration_can_be_declared() {
        let set = [("file", FILE), ("duration", "7.5 s"), ("bitrates", "[\"200 kbit/s\", \"600 kbit/s\"]")];
        let presentation = built(&ROW, &set, 1).unwrap();
        let track = &presentation.periods[0].tracks[0];
        assert_eq!(
            track.durations.iter().map(|one| one.as_millis()).collect::<Vec<_>>(),
            [3_000, 3_000, 1_500]
        );
        assert_eq!(track.representations[1].bitrate, "600 kbit/s".parse().unwrap());
    }

    #[test]
    fn the_first_error_is_reported_with_its_line() {
        for (text, told) in [
            ("", "the-file, no line; expected a line with the names"),
            ("a,b\n", "the-file, no segment; expected a line for each"),
            ("86250,124125\n1,2\n", "line 1: found \"86250,124125\"; expected the names"),
            ("a,7x9,8\n1,2,3\n", "line 1: column \"8\"; expected the name"),
            ("a,\n1,2\n", "line 2: 2 values for 1 columns"),
            ("a,a\n1,2\n", "line 1: column \"a\" twice"),
            ("a,b\n1,2\n3\n", "line 3: 1 values for 2 columns"),
            ("a\n\n#\n12 kB\n", "line 4: \"a\" is \"12 kB\"; expected the bytes"),
            ("a\n0\n", "line 2: \"a\" is \"0\""),
            ("a\n-1\n", "line 2: \"a\" is \"-1\""),
            ("a\n1.5\n", "line 2: \"a\" is \"1.5\""),
            ("a\nNaN\n", "line 2: \"a\" is \"NaN\""),
            ("a\n1e999\n", "line 2: \"a\" is \"1e999\""),
            ("a\n1000000000001\n", "line 2: \"a\" is"),
            ("a\n99999999999999999999\n", "line 2: \"a\" is"),
            ("a,b\n2,1\n", "the mean of column 2 is not above that of column 1"),
            ("a,b\n1,1\n", "the mean of column 2 is not above that of column 1"),
        ] {
            let (option, problem) = built(&ROW, &[("file", text)], 1).unwrap_err();
            assert!(option == "file" && problem.contains(told), "{text:?}: {problem}");
        }
    }

    #[test]
    fn options_that_do_not_fit_are_refused() {
        for (option, value, told) in [
            ("segment", "0 s", "above zero"),
            ("segment", "400 h", "longer than 2592000 s"),
            (
                "duration",
                "6 s",
                "3 segments of 3 s last longer than 6 s, and at most 9 s; the duration is 6 s",
            ),
            ("duration", "9.1 s", "at most 9 s"),
            ("bitrates", "[\"1 Mbit/s\"]", "1 bitrates for 2 columns"),
            ("bitrates", "[\"1 Mbit/s\", \"1 Mbit/s\"]", "expected a bitrate above"),
            ("bitrates", "[\"0 bit/s\", \"1 Mbit/s\"]", "expected a bitrate of 1 bit/s"),
            ("initialization", "2 TB", "initialization segment"),
        ] {
            let (found, problem) = built(&ROW, &[("file", FILE), (option, value)], 1).unwrap_err();
            assert!(found == option && problem.contains(told), "{option}: {found}: {problem}");
        }
    }

    #[test]
    fn a_file_has_a_limit() {
        let text = |count| format!("a\n{}", "1\n".repeat(count));
        assert_eq!(parse(&text(MAX_SEGMENTS)).unwrap()[0].sizes.len(), MAX_SEGMENTS);
        let error = parse(&text(MAX_SEGMENTS + 1)).unwrap_err();
        assert_eq!(error.to_string(), "line 100002: more than 100000 segments");
        let wide = (0..=MAX_REPRESENTATIONS).map(|at| format!("a{at}")).collect::<Vec<_>>().join(",");
        assert_eq!(parse(&wide).unwrap_err().to_string(), "line 1: more than 100 columns");
    }
}
