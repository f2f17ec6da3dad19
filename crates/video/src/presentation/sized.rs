//! Files of the sizes of segments: what their columns are, and the sizes in them.

use super::file::{self, TextError, quoted};
use super::{MAX_REPRESENTATIONS, MAX_SEGMENT_BYTES, MAX_SEGMENTS, MAX_SIZES};
use units::table::{Reader, bytes_of, plain, size_unit};
use units::{Duration, Rate, Size};

/// What such a file says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sized {
    /// At least one, with at least one size each.
    pub(super) columns: Vec<Column>,
    pub(super) clocks: Vec<Clock>,
    /// A note about the other columns.
    pub(super) skipped: Option<String>,
}

/// The sizes of a representation.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    /// Its place in a line.
    place: usize,
    /// The bytes of its unit.
    unit: u64,
    /// Whether its name has a unit.
    has_unit: bool,
    /// Whether its name tells that it has sizes.
    is_named: bool,
    pub(super) sizes: Vec<u64>,
}

impl Column {
    /// The mean bitrate of segments that last so long together.
    pub(super) fn mean(&self, whole: Duration) -> Rate {
        // At most MAX_SEGMENTS times MAX_SEGMENT_BYTES: 10^17.
        let bitrate = Rate::of(Size::from_bytes(self.sizes.iter().sum()), whole);
        bitrate.max(Rate::from_bits_per_sec(1))
    }
}

/// A column of times, which must be those of the segments.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Clock {
    name: String,
    place: usize,
    /// The power of ten that makes nanoseconds of its unit.
    power: u32,
    /// Whether it has durations, not starts.
    is_duration: bool,
    /// The lines, and their times.
    times: Vec<(usize, Duration)>,
}

impl Clock {
    /// Compares it with the durations of the segments.
    ///
    /// # Errors
    /// The first segment that lasts another time, by more than rounding to a millisecond.
    pub(super) fn check(&self, durations: &[Duration]) -> Result<(), TextError> {
        let mut start = Duration::ZERO;
        let first = self.times.first().map_or(Duration::ZERO, |(_, time)| *time);
        for ((line, time), duration) in self.times.iter().zip(durations) {
            let (found, expected) =
                if self.is_duration { (*time, *duration) } else { (*time - first, start) };
            if (found - expected).max(expected - found) > Duration::from_millis(1) {
                let (name, what) = (quoted(&self.name), if self.is_duration { "lasts" } else { "starts at" });
                let problem = format!(
                    "the segment {what} {found} in column {name}, and {expected} by the option segment; expected the same"
                );
                return Err(TextError::line(*line, problem));
            }
            start += *duration;
        }
        Ok(())
    }
}

/// Words of columns that are not sizes: they count the segments, or say something else of them.
const OTHERS: [&str; 59] = [
    "segment",
    "segments",
    "seg",
    "chunk",
    "chunks",
    "fragment",
    "frag",
    "number",
    "no",
    "nr",
    "num",
    "n",
    "index",
    "idx",
    "id",
    "i",
    "sequence",
    "seq",
    "count",
    "row",
    "frame",
    "frames",
    "pos",
    "position",
    "period",
    "bitrate",
    "bandwidth",
    "rate",
    "mean",
    "quality",
    "level",
    "fps",
    "width",
    "height",
    "resolution",
    "throughput",
    "buffer",
    "representation",
    "rep",
    "rendition",
    "variant",
    "track",
    "end",
    "ends",
    "stop",
    "until",
    "scene",
    "scenes",
    "keyframe",
    "keyframes",
    "si",
    "ti",
    "complexity",
    "url",
    "name",
    "file",
    "codec",
    "type",
    "buffering",
];
/// Words that make something else than a size of whatever is in a column.
const MEASURES: [&str; 15] = [
    "psnr",
    "ssim",
    "vmaf",
    "qp",
    "crf",
    "mos",
    "total",
    "sum",
    "cumulative",
    "overall",
    "delay",
    "latency",
    "qoe",
    "psnrs",
    "score",
];
/// Words of columns that tell which representation a line is about.
const REPRESENTATIONS: [&str; 9] =
    ["representation", "rep", "rendition", "variant", "quality", "level", "track", "bitrate", "resolution"];
/// Words of columns of sizes.
const SIZES: [&str; 6] = ["size", "sizes", "bytes", "bits", "byte", "filesize"];
/// Names that people give to the representations of a ladder, beside numbers and [`REPRESENTATIONS`].
const LADDER: [&str; 30] = [
    "low", "lowest", "lower", "lo", "medium", "med", "mid", "middle", "high", "highest", "higher", "hi",
    "best", "worst", "ld", "sd", "hd", "fhd", "qhd", "uhd", "mobile", "base", "top", "main", "very", "ultra",
    "full", "extra", "v", "q",
];

/// Words of columns that say when segments start.
const STARTS: [&str; 8] = ["time", "start", "starts", "t", "pts", "timestamp", "begin", "at"];
/// Words of columns that say how long segments last.
const DURATIONS: [&str; 4] = ["duration", "dur", "length", "durations"];
/// Units of time, and the power of ten that makes nanoseconds of them.
const TIMES: [(&str, u32); 4] = [("s", 9), ("ms", 6), ("us", 3), ("ns", 0)];

/// What a column is.
#[derive(Debug, PartialEq, Eq)]
enum Role {
    Column(Column),
    Clock(Clock),
    Skipped,
}

/// What a column is by its name.
fn role(name: &str, place: usize) -> Result<Role, String> {
    let words = plain(name);
    let mut words: Vec<&str> = words.split('_').collect();
    let is_time = |word: &&str| STARTS.contains(word) || DURATIONS.contains(word);
    let unit = words.last().and_then(|last| TIMES.iter().find(|(unit, _)| unit == last));
    if unit.is_some() && words.iter().any(&is_time) {
        words.pop();
    }
    if words.len() > 1 && words.last().is_some_and(|last| ["bps", "kbps", "mbps", "gbps"].contains(last)) {
        words.pop();
    }
    let are_known = words.iter().all(|word| word.is_empty() || OTHERS.contains(word) || is_time(word));
    if words.iter().any(|word| MEASURES.contains(word)) {
        return Ok(Role::Skipped);
    }
    if are_known {
        let clock = |power| Clock {
            name: name.to_owned(),
            place,
            power,
            is_duration: words.iter().any(|word| DURATIONS.contains(word)),
            times: Vec::new(),
        };
        let power = unit.filter(|_| words.iter().any(&is_time)).map(|(_, power)| *power);
        return Ok(power.map_or(Role::Skipped, |power| Role::Clock(clock(power))));
    }
    if !name.contains(char::is_alphabetic) {
        let name = quoted(name);
        return Err(format!("column {name}; expected the name of a representation, with a letter in it"));
    }
    let alone = format!("x ({name})");
    let unit = size_unit(name).or_else(|| {
        size_unit(&alone)
            .filter(|unit| unit.len() > 1 && *unit == name && unit.starts_with(char::is_alphabetic))
    });
    let Some(bytes) = unit.map_or(Some(1), bytes_of) else {
        let (name, unit) = (quoted(name), unit.unwrap_or_default());
        return Err(format!("column {name} is in {unit}; expected B, kB, KiB, MB or MiB"));
    };
    if words.len() > 1 && words.iter().any(|word| ["bitrate", "bitrates", "bandwidth"].contains(word)) {
        return Err(format!("column {} is of bitrates; expected the sizes of segments", quoted(name)));
    }
    let own = unit.and_then(|unit| name.trim_end_matches([')', ']']).strip_suffix(unit));
    let own =
        own.map(|own| own.trim_end_matches(['(', '[', '_', ' ', '-', '/'])).filter(|own| !own.is_empty());
    let is_size = unit.is_some() || words.iter().any(|word| SIZES.contains(word));
    Ok(Role::Column(Column {
        name: own.unwrap_or(name).to_owned(),
        place,
        unit: bytes,
        has_unit: unit.is_some(),
        is_named: is_size || is_representation(&words),
        sizes: Vec::new(),
    }))
}

/// Whether words name a representation: by a number and a letter as of a resolution or a bitrate (`240p`, `300k`, `640x360`), or
/// with names of a ladder and numbers alone (`low`, `quality_2`).
fn is_representation(words: &[&str]) -> bool {
    let is_number = |word: &str| word.starts_with(|sign: char| sign.is_ascii_digit());
    let is_rung = |pair: &[&str]| {
        is_number(pair[0])
            && ["p", "i", "k", "m", "x", "kbps", "mbps", "bps", "kbit", "mbit", "kb", "mb"].contains(&pair[1])
    };
    words.windows(2).any(is_rung)
        || words.iter().all(|word| is_number(word) || LADDER.contains(word) || REPRESENTATIONS.contains(word))
}

/// Reads a file: at least one column, and at least one segment.
///
/// # Errors
/// The first invalid line, with a description.
pub(super) fn parse(text: &str) -> Result<Sized, TextError> {
    let mut reader = file::csv(text)?;
    let header = reader.first().number;
    let in_header = |problem| TextError::line(header, problem);
    let (mut columns, mut clocks) = roles(&mut reader).map_err(in_header)?;
    if columns.len() + clocks.len() > 1 {
        leave_out_others(&mut columns, &reader);
    }
    check_names(&columns, &reader).map_err(in_header)?;
    let kept: Vec<usize> =
        columns.iter().map(|column| column.place).chain(clocks.iter().map(|clock| clock.place)).collect();
    let skipped = reader.skipped_at((0..reader.names().len()).filter(|place| !kept.contains(place)));
    reader.keep(kept.into_iter());
    let most = MAX_SEGMENTS.min(MAX_SIZES / columns.len());
    let (mut segments, mut cells) = (0, Vec::new());
    while let Some(line) = reader.next(&mut cells) {
        let wrong = |problem: String| TextError::line(line.number, problem);
        if segments == most {
            return Err(wrong(format!("more than {most} segments")));
        }
        if let Some(problem) = reader.miscounted(cells.len(), reader.count()) {
            return Err(wrong(problem));
        }
        for column in &mut columns {
            let bytes = size(column, &mut reader, cells[column.place]).map_err(wrong)?;
            column.sizes.push(bytes);
        }
        for clock in &mut clocks {
            let cell = cells[clock.place];
            let Some((time, _)) = reader.scaled(cell, clock.power) else {
                let why = reader.fault(cell).unwrap_or_else(|| format!("{} is too large", quoted(cell)));
                return Err(wrong(format!("{}: {why}; expected a time", quoted(&clock.name))));
            };
            clock.times.push((line.number, Duration::from_nanos(time)));
        }
        segments += 1;
    }
    if segments == 0 {
        return Err(TextError::whole("no segment; expected a line for each below the names of the columns"));
    }
    check_alike(&columns).map_err(in_header)?;
    Ok(Sized { columns, clocks, skipped })
}

/// Checks that no column is taken for a representation beside others whose names say that they are, and that there is a
/// column for each representation.
fn check_names(columns: &[Column], reader: &Reader<'_>) -> Result<(), String> {
    let other = columns.iter().find(|column| !column.is_named);
    if let Some(other) = other.filter(|_| columns.iter().any(|column| column.is_named)) {
        return Err(not_a_size(&other.name));
    }
    let [column] = columns else { return Ok(()) };
    let words = |name: &str| plain(name).split('_').map(str::to_owned).collect::<Vec<_>>();
    let is_size_alone = words(&column.name).iter().all(|word| {
        SIZES.contains(&word.as_str()) || ["segment", "chunk", "length", "in"].contains(&word.as_str())
    });
    let is_representation =
        |name: &&&str| words(name).iter().any(|word| REPRESENTATIONS.contains(&word.as_str()));
    match reader.names().iter().find(is_representation).filter(|_| is_size_alone) {
        Some(name) => Err(format!(
            "column {} and one column of sizes: a line for each segment of each representation; expected a line for each segment, \
             with a column for each representation, like low,high",
            quoted(name)
        )),
        None => Ok(()),
    }
}

/// Neighbours of a ladder have at most this ratio, many times that of any real one.
const MOST_RATIO: f64 = 16.0;

/// Checks that columns whose names tell nothing have sizes that are like each other.
fn check_alike(columns: &[Column]) -> Result<(), String> {
    if columns.iter().all(|column| column.is_named) {
        return Ok(());
    }
    let sum = |column: &Column| column.sizes.iter().sum::<u64>() as f64;
    let mut sorted: Vec<&Column> = columns.iter().collect();
    sorted.sort_by(|one, other| sum(one).total_cmp(&sum(other)));
    match sorted.windows(2).find(|pair| sum(pair[1]) > MOST_RATIO * sum(pair[0])) {
        Some(pair) => Err(not_a_size(&pair[0].name)),
        None => Ok(()),
    }
}

fn not_a_size(name: &str) -> String {
    format!(
        "nothing tells that column {} has sizes of segments, and it is not like the others; expected names of representations, \
         like \"240p\", \"low\" or \"size_1\", or no such column",
        quoted(name)
    )
}

/// The columns of a file by their names.
fn roles(reader: &mut Reader<'_>) -> Result<(Vec<Column>, Vec<Clock>), String> {
    reader.settle(&[], &[])?;
    // A file without names would lose its first segment.
    if reader.names().is_empty() {
        let first = reader.first().quoted();
        return Err(format!(
            "found {first}; expected the names of representations, each with a letter in it"
        ));
    }
    let (mut columns, mut clocks): (Vec<Column>, Vec<Clock>) = (Vec::new(), Vec::new());
    for (place, name) in reader.names().iter().enumerate() {
        match role(name, place)? {
            Role::Skipped => {}
            Role::Clock(clock) => clocks.push(clock),
            Role::Column(column) => {
                if columns.len() == MAX_REPRESENTATIONS {
                    return Err(format!("more than {MAX_REPRESENTATIONS} columns"));
                }
                if columns.iter().any(|known| known.name == column.name) {
                    return Err(format!("column {} twice", quoted(&column.name)));
                }
                columns.push(column);
            }
        }
    }
    if columns.is_empty() {
        return Err("no column of a representation; expected one at least".to_owned());
    }
    let is_bare = |column: &Column| !column.has_unit;
    if let Some((line, unit)) = reader.size_unit_in_comment().filter(|_| columns.iter().any(is_bare)) {
        return Err(format!(
            "the comment in line {line} has {}; expected the unit behind the name of each column, like \"low (kB)\"",
            quoted(unit)
        ));
    }
    Ok((columns, clocks))
}

/// Leaves out columns that cannot be sizes, whatever their names: whole numbers that rise by one from line to line, and
/// words.
fn leave_out_others(columns: &mut Vec<Column>, reader: &Reader<'_>) {
    let mut reader = reader.clone();
    let (mut lines, mut cells) = (0u64, Vec::new());
    // The first number of each column that has only risen by one, and whether it only has words.
    let mut states: Vec<(Option<u64>, bool)> = vec![(None, true); columns.len()];
    while reader.next(&mut cells).is_some() {
        for (column, (first, are_words)) in columns.iter().zip(&mut states) {
            let cell = cells.get(column.place).copied().unwrap_or("");
            let number =
                reader.scaled(cell, 0).filter(|(_, is_rounded)| !is_rounded).map(|(number, _)| number);
            *first =
                if lines == 0 { number } else { first.filter(|first| number == first.checked_add(lines)) };
            let is_missing =
                ["na", "n/a", "nan", "null", "none", "inf"].contains(&cell.to_lowercase().as_str());
            *are_words &= cell.starts_with(char::is_alphabetic) && !is_missing;
        }
        lines += 1;
    }
    let is_other = |(first, are_words): (Option<u64>, bool)| {
        let counts = first.is_some_and(|first| lines > 2 || (lines > 1 && first < 2));
        lines > 0 && (counts || are_words)
    };
    if states.iter().all(|state| is_other(*state)) {
        return;
    }
    let mut states = states.into_iter();
    columns.retain(|_| !states.next().is_some_and(is_other));
}

/// The bytes in a cell of a column.
fn size<'a>(column: &Column, reader: &mut Reader<'a>, cell: &'a str) -> Result<u64, String> {
    let bytes = match column.unit {
        1 => file::bytes(reader, cell),
        unit => reader
            .real(cell)
            .map(|value| (value * unit as f64).round())
            .and_then(|bytes| (1.0..=MAX_SEGMENT_BYTES as f64).contains(&bytes).then_some(bytes as u64)),
    };
    bytes.ok_or_else(|| {
        let fault = if column.unit == 1 { reader.whole_fault(cell) } else { reader.fault(cell) };
        let why = fault.map_or(String::new(), |fault| format!(": {fault}"));
        let (name, value) = (quoted(&column.name), quoted(cell));
        format!("{name} is {value}{why}; expected the bytes of a segment, as 86250")
    })
}

#[cfg(test)]
mod tests {
    use super::super::sizes::ROW;
    use super::super::testing::{arguments, built};
    use super::*;

    const FILE: &str = "# bytes\n low, high \n\n40000,120000\r\n50000, 150000\n30000,90000\n";

    fn sizes(text: &str) -> Vec<Vec<u64>> {
        let sized = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        sized.columns.into_iter().map(|one| one.sizes).collect()
    }

    #[test]
    fn the_same_sizes_are_read_from_every_form() {
        for text in [
            "\u{feff}low;high\r\n40000;120000\r\n50000;150000\r\n30000;90000\r\n",
            "low\thigh\n40000\t120000\n50000\t150000\n30000\t90000",
            "\"low\",\"high\"\n\"40000\",\"120000\"\n50000,150000,\n30000,90000\n",
            "# low high\n4.0e+04 1.2e+05\n50000 150000.0\n30000 90000\n",
        ] {
            assert_eq!(sizes(text), sizes(FILE), "{text}");
        }
    }

    #[test]
    fn columns_that_count_the_lines_are_skipped() {
        let text = "index,low,Segment,high\n1,40000,1,120000\n2,50000,2,150000\n3,30000,3,90000\n";
        assert_eq!(sizes(text), sizes(FILE));
        let notes = |text| (ROW.build.notes)(&arguments(&ROW, &[("file", text)]));
        assert_eq!(notes(text), ["the-file, skipped columns that are not needed: \"index\", \"Segment\""]);
        assert_eq!(notes(",low\n0,5\n"), ["the-file, skipped a column that is not needed: 1"]);
        assert_eq!(notes(FILE), [""; 0]);
        assert!(parse("segment\n1\n").unwrap_err().to_string().contains("no column of a representation"));
    }

    /// A column of numbers or times was the lowest representation.
    #[test]
    fn columns_that_are_not_sizes_are_skipped_whatever_their_names() {
        for name in [
            "Segment No",
            "seg",
            "chunk",
            "segment_number",
            "Chunk #",
            "#",
            "Seg. nr",
            "Chunk Index",
            "SegmentNumber",
            "segmento",
            "foo",
            "time",
            "t",
            "n",
            "id",
            "Seq",
        ] {
            let text = format!("{name};low;high\n1;40000;120000\n2;50000;150000\n3;30000;90000\n");
            assert_eq!(sizes(&text), sizes(FILE), "{name}");
            let notes = (ROW.build.notes)(&arguments(&ROW, &[("file", &text)]));
            assert!(notes.len() == 1 && notes[0].contains("skipped a column"), "{name}: {notes:?}");
        }
        assert_eq!(sizes("bitrate (kbps),Mean_Quality,low\n7,9,4\n5,8,5\n"), [[4, 5]]);
        assert_eq!(sizes("low,seg,url\n4,1,a.m4s\n5,2,b.m4s\n"), [[4, 5]]);
        assert_eq!(sizes("x,low\n17,4\n18,9\n19,6\n"), [[4, 9, 6]], "not all of a film");
        assert_eq!(sizes("low,high\n4,17\n5,18\n"), [[4, 5], [17, 18]], "two lines are none");
        assert_eq!(sizes("low\n1\n2\n3\n"), [[1, 2, 3]], "the only column");
    }

    #[test]
    fn columns_of_times_must_be_those_of_the_segments() {
        let told = |head: &str, cells: [&str; 3]| {
            let text = format!("{head},low\n{},4000\n{},5000\n{},4000\n", cells[0], cells[1], cells[2]);
            built(&ROW, &[("file", &text), ("segment", "2 s")], 1).err().map(|(_, problem)| problem)
        };
        for (head, cells) in [
            ("time (s)", ["0", "2", "4"]),
            ("start_ms", ["10000", "12000", "14000"]),
            ("Time (s)", ["0.0", "2.0", "4.0004"]),
            ("duration_s", ["2", "2.000", "2"]),
            ("Segment duration (ms)", ["2000", "2000", "2000"]),
        ] {
            assert_eq!(told(head, cells), None, "{head}");
        }
        for (head, cells, problem) in [
            (
                "time (s)",
                ["0", "4", "8"],
                "line 3: the segment starts at 4 s in column \"time (s)\", and 2 s by the option",
            ),
            (
                "duration_s",
                ["2", "2", "3"],
                "line 4: the segment lasts 3 s in column \"duration_s\", and 2 s by the option",
            ),
            ("duration_ms", ["2", "2", "2"], "line 2: the segment lasts 2 ms"),
            ("time_s", ["0", "x", "4"], "line 3: \"time_s\": \"x\" is not a number; expected a time"),
        ] {
            let found = told(head, cells).unwrap_or_default();
            assert!(found.contains(problem), "{head}: {found}");
        }
    }

    #[test]
    fn units_of_columns_are_used_or_refused() {
        for text in [
            "low (kB);high [kB]\n40;120\n50,0;150\n30;90\n",
            "low_kB,high_bytes\n40,120000\n50,150000\n30,90000\n",
            "low (B),high (MB)\n40000,0.12\n50000,0.15\n30000,9e-2\n",
            "# sizes in kB\nlow (kB),high kB\n40,120\n50,150\n30,90\n",
        ] {
            assert_eq!(sizes(text), sizes(FILE), "{text}");
        }
        assert_eq!(sizes("size (kB)\n10\n20.5\n"), [[10_000, 20_500]], "the only column");
        assert_eq!(sizes("size kB\n10\n20.5\n"), [[10_000, 20_500]]);
        assert_eq!(sizes("kB\n10\n"), [[10_000]]);
        assert_eq!(sizes("low (KiB),b_size\n1,2000\n"), [[1_024], [2_000]]);
        for head in [
            "low (kilobytes)",
            "low_kBytes",
            "kB_low",
            "low..kB.",
            "low/kB",
            "size_in_kB_low",
            "low [ko]",
            "sizekB low",
        ] {
            assert_eq!(sizes(&format!("{head},high (kB)\n10,20\n")), [[10_000], [20_000]], "{head}");
        }
        assert_eq!(sizes("300kbps,750 kbps\n1000,2000\n"), [[1_000], [2_000]], "names of representations");
        let error = |text: &str| parse(text).unwrap_err().to_string();
        for unit in [
            "kbit", "Mbps", "KB", "kb", "Mb", "bits", "kB/s", "kilobits", "Kbits", "KBytes", "Kbytes", "10 B",
        ] {
            let found = error(&format!("low ({unit}),high\n10,20\n"));
            assert!(
                found.starts_with(&format!("line 1: column \"low ({unit})\" is in {unit}; expected B, kB")),
                "{found}"
            );
        }
        let found = error("# sizes in kB\nlow,high\n10,20\n");
        assert!(
            found.starts_with("line 2: the comment in line 1 has \"kB\"; expected the unit behind"),
            "{found}"
        );
        for head in [
            "kbits_240p,kbits_360p",
            "240p_kbps,360p_kbps",
            "240p bitrate,360p bitrate",
            "bitrate_240p,bitrate_360p",
        ] {
            let found = error(&format!("{head}\n800,1600\n"));
            assert!(found.contains(" is in ") || found.contains("is of bitrates"), "{head}: {found}");
        }
        for comment in [
            "sizes in kilobytes",
            "thousands of bytes",
            "all values: Kbytes",
            "in KBytes.",
            "sizes are in kilobits",
            "Kb",
        ] {
            let found = error(&format!("# {comment}\nlow,high\n10,20\n"));
            assert!(found.starts_with("line 2: the comment in line 1 has "), "{comment}: {found}");
        }
        let found = error("# segment low\n# of me\n1 1000\n2 1100\n");
        assert!(
            found.starts_with("line 3: the columns have other names in the comment in line 1"),
            "{found}"
        );
    }

    /// Counts, scenes and qualities were the lowest representation, and lines of several representations one.
    #[test]
    fn columns_of_something_else_are_skipped_or_refused() {
        for other in [
            "end",
            "end_time",
            "scene",
            "crf",
            "keyframes",
            "total",
            "Total Size",
            "SI",
            "QP",
            "240p_ssim",
            "vmaf_low",
            "bitrate",
            "SSIM low",
            "complexity",
        ] {
            let text = format!("{other},low,high\n7,40000,120000\n3,50000,150000\n9,30000,90000\n");
            assert_eq!(sizes(&text), sizes(FILE), "{other}");
        }
        let error = |text: &str| parse(text).unwrap_err().to_string();
        for head in [
            "viewers,low,high",
            "video_id,low,high",
            "audio,low,high",
            "x1,240p,360p",
            "temperature,size_1,size_2",
            "foo,300k,750k",
            "foo,a,b",
        ] {
            let found = error(&format!("{head}\n7,40000,120000\n3,50000,150000\n9,30000,90000\n"));
            assert!(found.starts_with("line 1: nothing tells that column "), "{head}: {found}");
        }
        for head in ["representation,segment,bytes", "quality,chunk,size", "Bitrate (kbps),segment,Size (kB)"]
        {
            let found = error(&format!("{head}\n1,1,86250\n1,2,90112\n2,1,258000\n2,2,301442\n"));
            assert!(
                found.contains("a line for each segment of each representation; expected"),
                "{head}: {found}"
            );
        }
        let found = error("representation,size\n240p,100000\n360p,200000\n");
        assert!(found.contains("a line for each segment of each representation; expected"), "{found}");
        for head in [
            "240p,360p",
            "300_kbps,750_kbps",
            "300k,750k",
            "640x360,1280x720",
            "q0,q1",
            "track_1,track_2",
            "a,b",
        ] {
            let text = format!("{head}\n40000,120000\n50000,150000\n30000,90000\n");
            assert_eq!(sizes(&text), sizes(FILE), "{head}");
        }
    }

    #[test]
    fn thousands_are_not_decimals() {
        let error = |text: &str| parse(text).unwrap_err().to_string();
        for text in [
            "segment;low;high\n1;1.000;2.000\n",
            "low\thigh\n1.000\t2.000\n",
            "low,high\n1.000,2.000\n",
            "low;high\n1,000;2,000\n",
        ] {
            assert!(
                error(text).contains("can have three decimals or a separator of thousands;"),
                "{text}: {}",
                error(text)
            );
        }
        assert!(
            error("low,high\n\"1,000\",\"2,000\"\n")
                .contains("has a separator of thousands; write it without")
        );
        assert!(error("low high\n1'000 2'000\n").contains("has a separator of thousands; write it without"));
        assert_eq!(
            sizes("low,high\n900.000,86250.000\n"),
            [[900], [86_250]],
            "others have more digits before the point"
        );
    }

    #[test]
    fn a_file_has_a_limit() {
        let text = |count| format!("a\n{}", "1\n".repeat(count));
        assert_eq!(parse(&text(MAX_SEGMENTS)).unwrap().columns[0].sizes.len(), MAX_SEGMENTS);
        let error = parse(&text(MAX_SEGMENTS + 1)).unwrap_err();
        assert_eq!(error.to_string(), "line 100002: more than 100000 segments");
        let wide = (0..=MAX_REPRESENTATIONS).map(|at| format!("a{at}")).collect::<Vec<_>>().join(",");
        assert_eq!(parse(&wide).unwrap_err().to_string(), "line 1: more than 100 columns");
    }
}
