//! A presentation from the sizes of its segments: CSV with a line per segment and a column per representation.

use super::sized::{self, Column, Sized};
use super::{
    Fault, Kind, MAX_DURATION, Period, Presentation, PresentationError, Representation, Source, Track,
    TrackError,
};
use random::Generator;
use units::parameter::{Arguments, File, Options, Row};
use units::{Duration, Rate, Size};

/// The options of files of sizes.
#[derive(Debug, Clone, Options)]
struct SizesOptions {
    /// the sizes: a line with the names of the representations, then a line with the bytes of each segment
    #[option(example = "low,high\n40000,120000\n50000,150000\n30000,90000\n")]
    file: File,
    /// duration of a segment
    #[option(default = "3 s")]
    segment: Duration,
    /// duration of the presentation, if the last segment is shorter than the others
    duration: Option<Duration>,
    /// declared bitrate of each column, rising; without it the means of the columns
    bitrates: Option<Vec<Rate>>,
    /// bytes of the initialization segment of each representation; 0 for none
    #[option(default = "0 B")]
    initialization: Size,
}

pub(super) const ROW: Row<Source> = Row {
    name: "sizes",
    about: "the sizes of segments in a file (CSV): a line per segment, a column per representation",
    parameters: SizesOptions::PARAMETERS,
    build: Source { build, notes: |_| Vec::new() },
};

/// The least mean bitrate of a column of sizes. Sizes in another unit than bytes that nothing states are below it.
const LEAST_RATE: Rate = Rate::from_bits_per_sec(5_000);

fn build(arguments: &Arguments, _: &mut Generator) -> Result<Presentation, Fault> {
    let options = SizesOptions::of(arguments);
    let file = &options.file;
    let in_file = |problem: String| -> Fault { ("file", format!("{}, {problem}", file.path)) };
    let representations = options.bitrates.as_ref().map(Vec::len);
    let Sized { columns, clocks, stated } =
        sized::parse(&file.text, representations).map_err(|error| in_file(error.to_string()))?;
    let durations = durations(&options, columns[0].sizes.len())?;
    for clock in &clocks {
        clock.check(&durations).map_err(|error| in_file(error.to_string()))?;
    }
    if let Some((line, stated)) = stated.iter().find(|(_, stated)| *stated != durations[0]) {
        return Err(in_file(format!(
            "line {line}: the comment says that segments last {stated}, and by the option segment it is {}; expected the same",
            durations[0]
        )));
    }
    let whole = durations.iter().fold(Duration::ZERO, |sum, duration| sum + *duration);
    if let Some(column) = columns.iter().find(|column| column.mean(whole) < LEAST_RATE) {
        return Err(in_file(format!(
            "column {}, {}, makes {}, less than any video; expected bytes, or another unit in the name of the column, like \"low (kB)\"",
            column.place + 1,
            units::table::quoted(&column.name),
            column.mean(whole)
        )));
    }
    let bitrates = match declared(&options, columns.len())? {
        Some(bitrates) => bitrates.to_vec(),
        None => columns.iter().map(|column| column.mean(whole)).collect(),
    };
    let initialization = options.initialization.as_bytes();
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
            if options.bitrates.is_some() =>
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

/// The duration of each of this many segments.
fn durations(options: &SizesOptions, segments: usize) -> Result<Vec<Duration>, Fault> {
    let segment = options.segment;
    if segment.is_zero() {
        return Err(("segment", "expected a duration above zero".to_owned()));
    }
    if segment * segments as u64 > MAX_DURATION {
        return Err(("segment", PresentationError::Duration.to_string()));
    }
    let mut durations = vec![segment; segments];
    if let Some(whole) = options.duration {
        let before = segment * (segments as u64 - 1);
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
fn declared(options: &SizesOptions, columns: usize) -> Result<Option<&[Rate]>, Fault> {
    let Some(bitrates) = &options.bitrates else { return Ok(None) };
    if bitrates.len() != columns {
        return Err(("bitrates", format!("{} bitrates for {columns} columns", bitrates.len())));
    }
    Ok(Some(bitrates))
}

#[cfg(test)]
mod tests {
    use super::super::testing::built;
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
            ("low,high\n", "the-file, no segment; expected a line for each"),
            ("86250,124125\n1,2\n", "line 1: found \"86250,124125\"; expected the names"),
            ("low,7x9,8\n3,2,3\n", "line 2: column 3, \"8\", is neither a name"),
            ("low,\n1,2\n", "line 2: 2 values for the 1 column"),
            ("low,low\n1,2\n", "line 1: column 2, \"low\" twice"),
            ("low,high\n1,2\n3\n", "line 3: 1 value for the 2 columns"),
            (
                "low\n\n#\n12 kB\n",
                "line 4: column 1, \"low\", is \"12 kB\": \"12 kB\" has a unit; write the number alone; expected the bytes",
            ),
            ("low\n0\n", "line 2: column 1, \"low\", is \"0\""),
            ("low\n-1\n", "line 2: column 1, \"low\", is \"-1\""),
            ("low\n1.5\n", "line 2: column 1, \"low\", is \"1.5\""),
            ("low\nNaN\n", "line 2: column 1, \"low\", is \"NaN\""),
            ("low\n1e999\n", "line 2: column 1, \"low\", is \"1e999\""),
            ("low\n1000000000001\n", "line 2: column 1, \"low\", is"),
            ("low\n99999999999999999999\n", "line 2: column 1, \"low\", is"),
            ("low,high\n20000,10000\n", "the mean of column 2 is not above that of column 1"),
            ("low,high\n20000,20000\n", "the mean of column 2 is not above that of column 1"),
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
}
