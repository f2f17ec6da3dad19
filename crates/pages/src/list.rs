//! A page from a list of objects in a file: CSV with a header line and a line per object.

use super::file::{self, ReadingOptions, Replay, TextError};
use super::{After, Built, Fault, Kind, Laws, Model, Object, Page};
use std::sync::Arc;
use units::parameter::{Arguments, File, Options, Row};
use units::table::{Reader, is_other_unit, plain, size_unit, usual_size};
use units::{Duration, Size};

/// The options of lists.
#[derive(Debug, Clone, Options)]
struct ListOptions {
    /// the list: a header line, then one line per object, with the column size and any of the others
    #[option(example = "size\n20 kB\n5 kB\n")]
    file: File,
    #[options]
    pages: ReadingOptions,
}

pub(super) const ROW: Row<Model> = Row {
    name: "list",
    about: "a page from a list of objects in a file (CSV)",
    parameters: ListOptions::PARAMETERS,
    build: Model { laws: |_| Ok(Laws::new()), pages, notes },
};

/// The maximum length of the name of a host (RFC 1035 section 2.3.4).
const MAX_HOST: usize = 253;
/// The possible columns.
const COLUMNS: [&str; 10] =
    ["size", "kind", "request", "headers", "think", "urgency", "incremental", "after", "parsing", "host"];

fn pages(arguments: &Arguments, _: &mut random::Generator) -> Built {
    let ListOptions { file, pages } = ListOptions::of(arguments);
    let (page, _) = parse(&file.text, pages.reading)
        .map_err(|error| -> Fault { ("file", format!("{}, {error}", file.path)) })?;
    Ok(Box::new(Replay::new(vec![page])))
}

fn notes(arguments: &Arguments) -> Vec<String> {
    let ListOptions { file, .. } = ListOptions::of(arguments);
    let skipped = parse(&file.text, Duration::ZERO).ok().and_then(|(_, skipped)| skipped);
    skipped.map(|skipped| format!("{}, {skipped}", file.path)).into_iter().collect()
}

/// Reads a list: the page, and which columns were skipped.
///
/// # Errors
/// The first invalid line, with a description.
fn parse(text: &str, reading: Duration) -> Result<(Page, Option<String>), TextError> {
    let mut reader = Reader::new(text);
    let header = reader.first().number;
    if reader.count() == 0 {
        return Err(TextError::whole("no line"));
    }
    let columns = columns(&mut reader).map_err(|problem| TextError::line(header, problem))?;
    let kept: Vec<usize> = columns.iter().flatten().map(|(place, _)| *place).collect();
    let skipped = reader.skipped_at((0..reader.names().len()).filter(|place| !kept.contains(place)));
    reader.keep(kept.into_iter());
    let mut objects = Vec::new();
    let mut cells = Vec::new();
    let mut numbered = Numbered::of(&reader, &columns);
    while let Some(line) = reader.next(&mut cells) {
        let wrong = |problem| TextError::line(line.number, problem);
        if objects.len() == super::MAX_OBJECTS {
            return Err(wrong(format!("more than {} objects", super::MAX_OBJECTS)));
        }
        objects.push(object(&columns, &mut reader, &cells, objects.len()).map_err(wrong)?);
        numbered.add(&cells);
    }
    if objects.iter().any(|object| !object.after.is_empty())
        && let Some(place) = numbered.otherwise()
    {
        let column = reader.column(place);
        return Err(TextError::whole(format!(
            "{column}, numbers the objects in another way than `after`, which counts the lines from 1; expected the same numbers"
        )));
    }
    let page = Page { objects, reading };
    page.check().map_err(|error| TextError::whole(error.to_string()))?;
    Ok((page, skipped))
}

/// The place of each column of [`COLUMNS`], and the unit in its name.
type Places = Vec<Option<(usize, Option<&'static str>)>>;

/// The places of the columns.
fn columns(reader: &mut Reader<'_>) -> Result<Places, String> {
    reader.settle(&COLUMNS, &[])?;
    if reader.names().is_empty() {
        let (first, columns) = (reader.first().quoted(), COLUMNS.join(", "));
        return Err(format!("found {first}; expected the names of columns: size, and any of {columns}"));
    }
    let mut places: Places = vec![None; COLUMNS.len()];
    for (place, name) in reader.names().iter().enumerate() {
        let words = plain(name);
        let (word, behind) = words.split_once('_').unwrap_or((&words, ""));
        let Some(at) = COLUMNS.iter().position(|column| *column == word) else { continue };
        let unit = match unit(COLUMNS[at], name) {
            _ if behind.is_empty() => None,
            Some(unit) => Some(unit),
            // What the values are is not known.
            None if size_unit(name).is_some() || is_other_unit(name, word) => {
                let sizes = SIZES.contains(&COLUMNS[at]);
                let expected = if sizes { "B, kB, KiB, MB or MiB" } else { "s, ms, us or ns" };
                let name = file::quoted(name);
                return Err(format!("column {}, {name}, is in another unit; expected {expected}", place + 1));
            }
            None => continue,
        };
        if let Some((before, _)) = places[at].replace((place, unit)) {
            return Err(format!("column {word:?} twice: columns {} and {}", before + 1, place + 1));
        }
    }
    match (places[0], reader.size_unit_in_comment()) {
        (None, _) => Err("no column size; expected it, as bytes or with a unit: size (kB)".to_owned()),
        (Some((_, None)), Some((line, unit))) => Err(format!(
            "the comment in line {line} has {}; expected the unit in the name of the column, \"size (kB)\", or behind each size",
            file::quoted(unit)
        )),
        _ => Ok(places),
    }
}

/// The numbers of objects by columns that are not read: each number up to that of the objects, from 0 or from 1 on, once.
struct Numbered {
    /// The places of the columns with names, and their numbers so far.
    columns: Vec<(usize, Vec<usize>)>,
}

impl Numbered {
    fn of(reader: &Reader<'_>, columns: &Places) -> Numbered {
        let is_read = |place: usize| columns.iter().flatten().any(|(read, _)| *read == place);
        let places = (0..reader.names().len()).filter(|place| !is_read(*place));
        // pandas gives no name to the numbers of rows.
        let named = places.filter(|place| !plain(reader.names()[*place]).is_empty());
        Numbered { columns: named.map(|place| (place, Vec::new())).collect() }
    }

    fn add(&mut self, cells: &[&str]) {
        self.columns.retain_mut(|(place, numbers)| {
            let number = cells[*place].parse().ok().filter(|number: &usize| *number <= super::MAX_OBJECTS);
            numbers.extend(number);
            number.is_some()
        });
    }

    /// The first column whose numbers are not 1, 2, 3 and so on.
    fn otherwise(self) -> Option<usize> {
        let of_objects = |numbers: &Vec<usize>| {
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            let is_each = |first: usize| sorted.iter().enumerate().all(|(at, number)| *number == first + at);
            sorted.len() > 1 && (is_each(0) || is_each(1) && sorted != *numbers)
        };
        self.columns.into_iter().find(|(_, numbers)| of_objects(numbers)).map(|(place, _)| place)
    }
}

/// The columns of sizes, and those of times.
const SIZES: [&str; 3] = ["size", "request", "headers"];
const TIMES: [&str; 2] = ["think", "parsing"];

fn is_measured(column: &str) -> bool {
    SIZES.contains(&column) || TIMES.contains(&column)
}

/// The unit in the name of a column, as sizes and durations have it.
fn unit(column: &str, name: &str) -> Option<&'static str> {
    if SIZES.contains(&column) {
        return usual_size(size_unit(name)?);
    }
    let words = plain(name);
    let unit = words.strip_prefix(column)?.strip_prefix('_')?;
    ["s", "ms", "us", "ns"].into_iter().find(|known| *known == unit)
}

/// The object in a line; `place` is its index in the page.
fn object<'a>(
    columns: &Places,
    reader: &mut Reader<'a>,
    cells: &[&'a str],
    place: usize,
) -> Result<Object, String> {
    if let Some(problem) = reader.miscounted(cells.len()) {
        return Err(problem);
    }
    let mut object = Object::new(if place == 0 { Kind::Main } else { Kind::Embedded }, 0);
    for (column, at) in COLUMNS.iter().zip(columns) {
        let Some((value, unit)) = at.map(|(at, unit)| (cells[at], unit)) else { continue };
        // Sizes and times may have a decimal comma.
        let pointed = if *column == "after" { Some(value.into()) } else { reader.pointed(value) };
        let number = pointed.as_deref().unwrap_or(value);
        let is_bare = number.ends_with(|sign: char| sign.is_ascii_digit());
        if pointed.is_none() && is_measured(column) && (unit.is_some() || !is_bare) {
            // 1.500 kB may be 1500 kB.
            let digits = value.split(|sign: char| sign.is_alphabetic() || sign.is_whitespace()).next();
            let why = digits.and_then(|digits| reader.fault(digits));
            let why = why.map_or(String::new(), |why| format!(": {why}"));
            let found = file::quoted(value);
            return Err(format!(
                "{column} is {found}{why}; expected a number without a separator of thousands"
            ));
        }
        let text = match unit.filter(|_| is_bare) {
            Some(unit) => format!("{number} {unit}"),
            None => number.to_owned(),
        };
        set(&mut object, column, &text, place).map_err(|expected| {
            // That a unit is missing, or wrong, is said by what is expected.
            let why = if is_measured(column) && is_bare { reader.whole_fault(value) } else { None };
            let why = why.map_or(String::new(), |why| format!(": {why}"));
            format!("{column} is {}{why}; expected {expected}", file::quoted(value))
        })?;
        if is_bare && SIZES.contains(column) && unit.is_none() && reader.whole(value).is_none() {
            let why = reader.whole_fault(value).unwrap_or_default();
            return Err(format!("{column} is {}: {why}; expected bytes, as 12000", file::quoted(value)));
        }
    }
    Ok(object)
}

/// Sets the property of a column. An empty value keeps the default.
fn set(object: &mut Object, column: &str, value: &str, place: usize) -> Result<(), String> {
    if value.is_empty() && column != "size" {
        return Ok(());
    }
    let whole = || units::scaled(value, 0).filter(|(_, is_rounded)| !is_rounded).map(|(value, _)| value);
    let bytes = || {
        let size = value.parse::<Size>().map(Size::as_bytes).ok().or_else(whole);
        size.filter(|bytes| *bytes <= super::MAX_BYTES)
            .ok_or("a size up to 1 TB, as 12 kB or 12000".to_owned())
    };
    let time = || value.parse::<Duration>().map_err(|_| "a duration, as 20 ms".to_owned());
    match column {
        "size" => object.bytes = bytes()?,
        "request" => object.request_bytes = bytes()?,
        "headers" => object.header_bytes = bytes()?,
        "think" => object.think = time()?,
        "parsing" => object.parsing = time()?,
        "host" => object.host = Some(host(value)?),
        "kind" => {
            object.kind = match value.to_ascii_lowercase().as_str() {
                "main" => Kind::Main,
                "embedded" => Kind::Embedded,
                _ => return Err("main or embedded".to_owned()),
            }
        }
        "urgency" => {
            let urgency = whole().filter(|urgency| *urgency <= 7);
            object.priority.urgency = urgency.ok_or("0 to 7".to_owned())? as u8;
        }
        "incremental" => {
            let value = value.to_ascii_lowercase();
            object.priority.incremental = value.parse().map_err(|_| "true or false".to_owned())?
        }
        _ => object.after = after(value, place)?,
    }
    Ok(())
}

/// A name of a host, in lower case (RFC 9110 section 4.2.3).
fn host(value: &str) -> Result<Arc<str>, String> {
    let is_named = |sign: char| sign.is_ascii_alphanumeric() || "-._".contains(sign);
    match value.len() <= MAX_HOST && value.chars().all(is_named) {
        true => Ok(value.to_ascii_lowercase().into()),
        false => Err("the name of a host, as cdn.example".to_owned()),
    }
}

/// Parses dependencies: `1 3*` means object 1 (complete) and object 3 (its first byte), counted from 1.
fn after(value: &str, place: usize) -> Result<Vec<After>, String> {
    let expected = || {
        "numbers of objects before this one, rising, with spaces between; a * behind one if its first byte suffices".to_owned()
    };
    let mut found: Vec<After> = Vec::new();
    for word in value.split_whitespace() {
        let (number, on_first_byte) = word.strip_suffix('*').map_or((word, false), |number| (number, true));
        let number: usize = number.parse().map_err(|_| expected())?;
        if number == 0
            || number > place
            || found.last().is_some_and(|last| last.object as usize + 1 >= number)
        {
            return Err(expected());
        }
        found.push(After { object: (number - 1) as u32, on_first_byte });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{arguments, pages_of};
    use super::*;

    fn read(text: &str) -> Result<Page, String> {
        parse(text, Duration::ZERO).map(|(page, _)| page).map_err(|error| error.to_string())
    }

    #[test]
    fn a_list_is_read() {
        let text = "# my page\nsize, after, urgency, incremental, think, parsing, request, headers, kind\n\
                    12 kB,, 0,, 5 ms,, 400, 300 B, main\n\n 5000, 1*, 2, true,,,,,\n1 MB, 1 2, , , , 10 ms,,,\n";
        let page = read(text).unwrap();
        let (first, second, third) = (&page.objects[0], &page.objects[1], &page.objects[2]);
        assert_eq!(
            (first.kind, first.bytes, first.request_bytes, first.header_bytes),
            (Kind::Main, 12_000, 400, 300)
        );
        assert_eq!((first.think, first.priority.urgency), (Duration::from_millis(5), 0));
        assert_eq!((second.kind, second.bytes), (Kind::Embedded, 5_000));
        assert_eq!((second.priority.urgency, second.priority.incremental), (2, true));
        assert_eq!(second.after, [After { object: 0, on_first_byte: true }]);
        assert_eq!((third.priority.urgency, third.bytes), (3, 1_000_000));
        assert_eq!(third.after, [After::complete(0), After::complete(1)]);
        assert_eq!(third.parsing, Duration::from_millis(10));
    }

    #[test]
    fn the_first_error_is_reported_with_its_line() {
        for (text, told) in [
            ("", "no line"),
            ("# only this\n", "no line"),
            ("size\n", "a page without objects"),
            ("urgency\n3\n", "line 1: no column size; expected it"),
            ("3,7\n", "line 1: found \"3,7\"; expected the names of columns: size, and any of size, kind, "),
            ("size,size\n", "line 1: column \"size\" twice"),
            ("size,think\n1 kB\n", "line 2: 1 value for the 2 columns"),
            ("size\n\n#\nbig\n", "line 4: size is \"big\"; expected a size up to 1 TB"),
            ("size\n\"\"\n", "line 2: size is \"\""),
            ("size\n2000 GB\n", "line 2: size is \"2000 GB\""),
            ("size,urgency\n1 B,8\n", "line 2: urgency is \"8\"; expected 0 to 7"),
            ("size,incremental\n1 B,yes\n", "line 2: incremental is \"yes\"; expected true or false"),
            ("size,kind\n1 B,image\n", "line 2: kind is \"image\"; expected main or embedded"),
            ("size,think\n1 B,5\n", "line 2: think is \"5\"; expected a duration"),
            ("size,after\n1 B,1\n", "line 2: after is \"1\"; expected numbers of objects before this one"),
            ("size,after\n1 B,\n1 B,0\n", "line 3: after is \"0\""),
            ("size,after\n1 B,\n1 B,\n1 B,2 1\n", "line 4: after is \"2 1\""),
            ("size,after\n1 B,\n1 B,1 1\n", "line 3: after is \"1 1\""),
        ] {
            let found = read(text).unwrap_err();
            assert!(found.contains(told), "{text:?}: {found}");
        }
    }

    #[test]
    fn numbers_of_objects_are_those_of_after() {
        for text in [
            "object,size,after\n0,1000,\n1,2000,\n2,5000,1\n",
            "size,id,after\n1000,2,\n2000,1,1\n",
            "id;size;after\n0;1 kB;\n1;2 kB;1*\n",
        ] {
            let found = read(text).unwrap_err();
            assert!(found.contains("numbers the objects in another way than `after`"), "{text}: {found}");
        }
        for text in [
            "object,size,after\n1,1000,\n2,2000,1\n",
            "object,size\n0,1000\n1,2000\n",
            "status,size,after\n200,1000,\n304,2000,1\n",
            ",size,after\n0,1000,\n1,2000,1\n",
        ] {
            assert!(read(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn byte_order_marks_and_crlf_are_accepted() {
        let page = read("\u{feff}size,after\r\n12 kB,\r\n5,1\r\n").unwrap();
        assert_eq!(page.objects.iter().map(|object| object.bytes).collect::<Vec<_>>(), [12_000, 5]);
    }

    #[test]
    fn the_same_list_is_read_from_every_form() {
        let expected = read("size,think,after\n1.5 kB,20 ms,\n5,,1*\n").unwrap();
        for text in [
            "\u{feff}Size;THINK;After\r\n1,5 kB;20 ms;\r\n5;;1*\r\n",
            "size\tthink\tafter\n1.5 kB\t20 ms\t\n5\t\t1*\n",
            "\"size\",\"think\",\"after\"\n\"1.5 kB\",\"20 ms\",\"\"\n\"5\",\"\",\"1*\"\n",
            "url,after,size,think\n\"https://a/?b,c\",,1500.0,20 ms\n\"d\",1*,5,\n",
            ",size,think,after\r0,1.5e3,20 ms,\r1,5,,1*\r",
        ] {
            assert_eq!(read(text).as_ref(), Ok(&expected), "{text}");
        }
        let skipped = parse("url,size\na,5\n", Duration::ZERO).unwrap().1;
        assert_eq!(skipped.unwrap(), "skipped a column that is not needed: \"url\"");
    }

    #[test]
    fn units_in_names_and_comments_are_used_or_refused() {
        let expected = read("size,think\n1.5 kB,20 ms\n5 kB,\n").unwrap();
        for text in [
            "size (kB),think (ms)\n1.5,20\n5,\n",
            "Size [bytes];Think [s]\n1500;0,02\n5 kB;\n",
            "# sizes in kB\nsize_kB,think\n1.5,20 ms\n5,\n",
            "size (kB),think in msec,size of it\n1500 B,0.02 s,\n5,,\n",
            "size (kilobytes),think (milliseconds)\n1.5,20\n5,\n",
            "size..kB.,think..ms.\n1.5,20\n5,\n",
            "size_kB_,thinkMs\n1.5,20\n5,\n",
        ] {
            assert_eq!(read(text).as_ref(), Ok(&expected), "{text}");
        }
        assert_eq!(read("size (kB)\n10\n").unwrap().objects[0].bytes, 10_000, "the only column");
        for (text, told) in [
            ("size (kbit)\n10\n", "line 1: column 1, \"size (kbit)\", is in another unit; expected B, kB,"),
            ("size (KB)\n10\n", "line 1: column 1, \"size (KB)\", is in another unit"),
            (
                "size,think (Ms)\n10,1\n",
                "line 1: column 2, \"think (Ms)\", is in another unit; expected s, ms",
            ),
            ("size (Kbytes)\n10\n", "line 1: column 1, \"size (Kbytes)\", is in another unit"),
            (
                "# sizes in kilobytes\nsize\n10\n",
                "line 2: the comment in line 1 has \"kilobytes\"; expected the unit in the name",
            ),
            (
                "# in kB\nsize\n10\n",
                "line 2: the comment in line 1 has \"kB\"; expected the unit in the name",
            ),
            (
                "size;after\n1.000;\n",
                "line 2: size is \"1.000\": \"1.000\" can have three decimals or a separator of thousands;",
            ),
            (
                "size;urgency\n1.500 kB;0\n",
                "line 2: size is \"1.500 kB\": \"1.500\" can have three decimals or a separator of thousands;",
            ),
            (
                "size (kB);urgency\n1.500;0\n",
                "line 2: size is \"1.500\": \"1.500\" can have three decimals or a separator of thousands;",
            ),
            (
                "size;think\n2,5 kB;1.500 ms\n",
                "line 2: think is \"1.500 ms\": \"1.500\" can have three decimals or a separator of thousands;",
            ),
            (
                "size,after\n\"1,000\",\n",
                "line 2: size is \"1,000\": \"1,000\" has a separator of thousands; write it without;",
            ),
        ] {
            let found = read(text).unwrap_err();
            assert!(found.contains(told), "{text:?}: {found}");
        }
    }

    #[test]
    fn a_list_has_a_limit() {
        let text = |count| format!("size\n{}", "1 B\n".repeat(count));
        assert_eq!(read(&text(super::super::MAX_OBJECTS)).unwrap().objects.len(), super::super::MAX_OBJECTS);
        assert_eq!(
            read(&text(super::super::MAX_OBJECTS + 1)).unwrap_err(),
            "line 10002: more than 10000 objects"
        );
    }

    #[test]
    fn the_page_repeats() {
        let pages = pages_of(&ROW, &[("file", "size\n7 B\n"), ("reading", "\"3 s\"")], 1, 2);
        assert_eq!((pages[0].bytes(), pages[0].reading), (7, Duration::from_secs(3)));
        assert_eq!(pages[0], pages[1]);
    }

    #[test]
    fn the_fault_names_option_and_file() {
        let wrong = arguments(&ROW, &[("file", "size\nx\n")]);
        let Err((option, problem)) = pages(&wrong, &mut random::Generator::new(1, "")) else {
            panic!("it was read")
        };
        assert_eq!(option, "file");
        assert!(problem.starts_with("the-file, line 2: size is \"x\""), "{problem}");
    }
}
