//! Tables in text files: CSV as people, tools and spreadsheets write it. The only reader of such files.
//!
//! The first line names the columns, in any order; a file of numbers alone may have the names in the comment above them, or
//! none. Cells are separated by semicolons (then a comma is a decimal point), by commas, by tabs or by blanks, whichever
//! the first line has. Quotes around cells, empty lines, comments (`#`), a byte order mark, and the line ends of any
//! system are allowed. What the columns mean, and which of them somebody needs, is the matter of the caller.

use crate::number;
use std::borrow::Cow;
use std::iter::Enumerate;
use std::str::Split;

/// The text without the byte order mark that some programs write before it.
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// What is between two cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Separator {
    Sign(char),
    Blanks,
    /// There is one column, and a line is a cell.
    None,
}

/// A line of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its number in the file, from 1.
    pub number: usize,
    /// Its text without blanks around it.
    pub text: &'a str,
    /// Its text.
    whole: &'a str,
}

impl Line<'_> {
    /// Its beginning, in quotes, for errors.
    pub fn quoted(&self) -> String {
        quoted(self.text)
    }
}

/// A piece of a file in quotes, shortened to fit an error.
pub fn quoted(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    if short.len() < text.len() { format!("{short:?}...") } else { format!("{short:?}") }
}

/// Reads the lines of a table in turn.
#[derive(Debug)]
pub struct Reader<'a> {
    lines: Enumerate<Split<'a, char>>,
    first: Line<'a>,
    /// The first line, if it is the next one.
    again: Option<Line<'a>>,
    separator: Separator,
    names: Vec<&'a str>,
    /// The number of columns of the first line.
    count: usize,
    /// The decimal sign of the numbers so far: a file has one.
    point: Option<char>,
}

impl<'a> Reader<'a> {
    /// Begins to read. A file without a line has no names and no columns.
    pub fn new(text: &'a str) -> Reader<'a> {
        let text = without_mark(text);
        let lines = text.split(if text.contains('\n') { '\n' } else { '\r' }).enumerate();
        let first = Line { number: 1, text: "", whole: "" };
        let mut reader = Reader {
            lines,
            first,
            again: None,
            separator: Separator::None,
            names: Vec::new(),
            count: 0,
            point: None,
        };
        let mut comment = "";
        while let Some(line) = reader.raw() {
            if let Some(words) = line.text.strip_prefix('#') {
                comment = words.trim_matches(|sign: char| sign == '#' || sign.is_whitespace());
                continue;
            }
            reader.begin(line, comment);
            break;
        }
        reader
    }

    fn begin(&mut self, first: Line<'a>, comment: &'a str) {
        self.first = first;
        self.separator = separator(first.text);
        let mut cells = Vec::new();
        self.split(first, &mut cells);
        if cells[0].is_empty() && cells.len() > 1 && cells[1..].iter().all(|cell| self.is_number(cell)) {
            // Numbers behind a tab.
            cells.remove(0);
        }
        let numbers = cells.iter().all(|cell| self.is_number(cell));
        while !numbers && cells.len() > 1 && cells.last() == Some(&"") {
            cells.pop();
        }
        self.count = cells.len();
        if !numbers {
            self.names = cells;
            return;
        }
        self.again = Some(first);
        // numpy and gnuplot write the names as a comment.
        let mut named = Vec::new();
        split(comment, separator(comment), &mut named);
        if named.len() == self.count {
            self.names = named;
        }
    }

    /// The next line that is not empty.
    fn raw(&mut self) -> Option<Line<'a>> {
        self.lines
            .by_ref()
            .map(|(at, whole)| Line { number: at + 1, text: whole.trim(), whole })
            .find(|line| !line.text.is_empty())
    }

    /// The first line with cells. A file without one gives an empty line with the number 1.
    pub fn first(&self) -> Line<'a> {
        self.first
    }

    /// Whether the first line names the columns: it is not of numbers alone.
    pub fn has_header(&self) -> bool {
        self.again.is_none() && self.count > 0
    }

    /// The number of columns.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The names of the columns as the file has them: those of the header, or of the comment before numbers; none if it has
    /// neither.
    pub fn names(&self) -> &[&'a str] {
        &self.names
    }

    /// Uses these names, of a file that has none.
    pub fn name(&mut self, names: &[&'a str]) {
        self.names = names.to_vec();
    }

    /// The place of each of these columns. Case, blanks and signs between words do not matter: `Time (ms)` is `time_ms`.
    ///
    /// # Errors
    /// If there are two of the same name.
    pub fn columns(&self, known: &[&str]) -> Result<Vec<Option<usize>>, String> {
        let mut places = vec![None; known.len()];
        for (place, name) in self.names.iter().enumerate() {
            let name = plain(name);
            let Some(at) = known.iter().position(|known| *known == name) else { continue };
            if places[at].replace(place).is_some() {
                return Err(format!("column {name:?} twice"));
            }
        }
        Ok(places)
    }

    /// The columns that are none of these and are skipped, as a note; `None` if there are none.
    pub fn skipped(&self, known: &[&str]) -> Option<String> {
        let mut others: Vec<String> = Vec::new();
        for (at, name) in self.names.iter().enumerate() {
            match plain(name) {
                name if known.contains(&name.as_str()) => {}
                name if name.is_empty() => others.push((at + 1).to_string()),
                _ => others.push(quoted(name)),
            }
        }
        let (more, count) = (others.len().saturating_sub(3), others.len());
        others.truncate(3);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let words = if count > 1 { "columns that are not needed" } else { "a column that is not needed" };
        (count > 0).then(|| format!("skipped {words}: {}{more}", others.join(", ")))
    }

    /// The next line that is neither empty nor a comment, with its cells.
    pub fn next(&mut self, cells: &mut Vec<&'a str>) -> Option<Line<'a>> {
        let line = match self.again.take() {
            Some(first) => first,
            None => loop {
                let line = self.raw()?;
                if !line.text.starts_with('#') {
                    break line;
                }
            },
        };
        self.split(line, cells);
        // Spreadsheets end lines with empty cells.
        while cells.len() > self.count && cells.last() == Some(&"") {
            cells.pop();
        }
        Some(line)
    }

    fn split(&self, line: Line<'a>, cells: &mut Vec<&'a str>) {
        // A cell at an end may be empty.
        split(line.whole, self.separator, cells);
        // Columns that are aligned by several tabs.
        if self.separator == Separator::Sign('\t') && self.count > 0 && cells.len() != self.count {
            let mut words = Vec::new();
            split(line.whole, Separator::Blanks, &mut words);
            if words.len() == self.count {
                *cells = words;
            }
        }
    }

    /// A cell that begins with a number with a point as its decimal sign, whatever the file's. `None` if the file has
    /// another decimal sign elsewhere: then one of them separates thousands.
    pub fn pointed(&mut self, cell: &'a str) -> Option<Cow<'a, str>> {
        let signs: &[char] = if self.separator == Separator::Sign(';') { &['.', ','] } else { &['.'] };
        let Some(sign) = cell.chars().find(|sign| signs.contains(sign)) else { return Some(cell.into()) };
        if *self.point.get_or_insert(sign) != sign {
            return None;
        }
        Some(if sign == ',' { cell.replacen(',', ".", 1).into() } else { cell.into() })
    }

    /// A number from zero on, times ten to the `power`, rounded to a whole number; and whether it was rounded.
    pub fn scaled(&mut self, cell: &'a str, power: u32) -> Option<(u64, bool)> {
        number::scaled(&self.pointed(cell)?, power)
    }

    /// A whole number from zero on, however it is written: `12`, `12.0`, `1.2e1`.
    pub fn whole(&mut self, cell: &'a str) -> Option<u64> {
        self.scaled(cell, 0).filter(|(_, is_rounded)| !is_rounded).map(|(value, _)| value)
    }

    /// A finite number.
    pub fn real(&mut self, cell: &'a str) -> Option<f64> {
        let text = self.pointed(cell)?;
        let value: f64 = is_decimal(&text).then(|| text.parse().ok()).flatten()?;
        value.is_finite().then_some(value)
    }

    /// Whether a cell of the first line is not the name of a column.
    fn is_number(&self, cell: &str) -> bool {
        let with_comma = self.separator == Separator::Sign(';');
        is_decimal(&if with_comma { cell.replacen(',', ".", 1).into() } else { Cow::from(cell) })
    }
}

/// Whether a text is a number in digits: with a sign, a point and an exponent, or without.
fn is_decimal(text: &str) -> bool {
    number::scaled(text.strip_prefix('-').unwrap_or(text).split(['e', 'E']).next().unwrap_or(""), 0).is_some()
        && text.parse::<f64>().is_ok()
}

fn separator(line: &str) -> Separator {
    let has = |sign: char| outside_quotes(line, move |letter| letter == sign).nth(1).is_some();
    if let Some(sign) = [';', ',', '\t'].into_iter().find(|sign| has(*sign)) {
        return Separator::Sign(sign);
    }
    if outside_quotes(line, char::is_whitespace).nth(1).is_some() {
        Separator::Blanks
    } else {
        Separator::None
    }
}

/// The cells of a line, without blanks and quotes around them. A separator within quotes is part of a cell.
fn split<'a>(line: &'a str, separator: Separator, cells: &mut Vec<&'a str>) {
    cells.clear();
    let sign = match separator {
        Separator::Blanks => {
            let words = outside_quotes(line, char::is_whitespace).filter(|word| !word.is_empty());
            return cells.extend(words.map(unquoted));
        }
        Separator::None => return cells.push(unquoted(line)),
        Separator::Sign(sign) => sign,
    };
    cells.extend(outside_quotes(line, move |letter| letter == sign).map(unquoted));
}

/// The pieces of a line between these signs, as far as they are not within quotes.
fn outside_quotes(line: &str, is_sign: impl Fn(char) -> bool) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    line.split(move |letter: char| {
        is_quoted ^= letter == '"';
        is_sign(letter) && !is_quoted
    })
}

fn unquoted(cell: &str) -> &str {
    let cell = cell.trim();
    cell.strip_prefix('"').and_then(|inside| inside.strip_suffix('"')).map_or(cell, str::trim)
}

/// The words of the name of a column in small letters, joined by `_`. What makes another unit stays another name: percent
/// (`%`, `‰`), and bytes a second (`MBps`) beside bits (`Mbps`).
pub fn plain(name: &str) -> String {
    let name = name.replace('%', " percent ").replace('‰', " permille ").replace("Bps", "bytes_ps");
    let words = name.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places of columns, and the rows of a file.
    fn read<'a>(text: &'a str, known: &[&str]) -> (Vec<Option<usize>>, Vec<Vec<&'a str>>) {
        let mut reader = Reader::new(text);
        let places = reader.columns(known).unwrap();
        let (mut rows, mut cells) = (Vec::new(), Vec::new());
        while reader.next(&mut cells).is_some() {
            rows.push(cells.clone());
        }
        (places, rows)
    }

    #[test]
    fn the_same_cells_are_read_from_every_form() {
        for text in [
            "time_ms,size\n0,12 kB\n2,5\n",
            "\u{feff}time_ms,size\r\n0,12 kB\r\n2,5\r\n",
            "time_ms,size\r0,12 kB\r2,5\r",
            "# c\n\n time_ms , size \n# c\n 0 , 12 kB\n\n2,5,,\n",
            "Time (ms);SIZE\n0;12 kB\n2;5",
            "\"time-ms\",\"Size\"\n\"0\",\"12 kB\"\n\"2\",\"5\"\n",
            "time_ms\tsize\n0\t12 kB\n2\t5\n",
            "time_ms,size,\n0,12 kB,\n2,5,\n",
        ] {
            let (places, rows) = read(text, &["time_ms", "size"]);
            assert_eq!(
                (places, rows),
                (vec![Some(0), Some(1)], vec![vec!["0", "12 kB"], vec!["2", "5"]]),
                "{text}"
            );
        }
        let (places, rows) = read("a b time_ms\n1 2 3\n", &["time_ms", "size"]);
        assert_eq!((places, rows), (vec![Some(2), None], vec![vec!["1", "2", "3"]]));
        assert_eq!(read("time_s\t\trate\n0\t\t5\n", &["rate"]).1, [["0", "", "5"]]);
        assert_eq!(read("time_s\trate\n0\t\t5\n", &["rate"]).1, [["0", "5"]], "aligned by tabs");
        assert_eq!(read("\ta\tb\n0\t1\t\n", &["a", "b"]), (vec![Some(1), Some(2)], vec![vec!["0", "1", ""]]));
        assert_eq!(read("\t1\t2\n\t3\t4\n", &[]).1, [["1", "2"], ["3", "4"]], "indented by tabs");
        assert_eq!(read("a,b\n\"1,5\",2\n", &["b"]).1, [["1,5", "2"]], "a separator in quotes");
        assert_eq!(
            read("\"a b\"  \"c\"\n 1 \"2 3\"\n", &["a_b", "c"]).1,
            [["1", "2 3"]],
            "quotes and blanks"
        );
        assert_eq!(read("\"the size\"\n12 kB\n", &["the_size"]).1, [["12 kB"]]);
        assert_eq!(read("size\n12 kB\n\"5\"\n", &["size"]).1, [["12 kB"], ["5"]], "one column");
    }

    #[test]
    fn names_are_in_the_header_or_in_the_comment_above() {
        let of = |text| {
            let reader = Reader::new(text);
            (reader.has_header(), reader.names().to_vec(), reader.count(), reader.first().number)
        };
        assert_eq!(of("# x\na,b\n1,2\n"), (true, vec!["a", "b"], 2, 2));
        assert_eq!(of("1 2\n"), (false, vec![], 2, 1));
        assert_eq!(of("# time_ms,rate\n1e0,-2.5\n"), (false, vec!["time_ms", "rate"], 2, 2));
        assert_eq!(
            of("# what it is, and when\n## time_ms rate\n1 2\n"),
            (false, vec!["time_ms", "rate"], 2, 3)
        );
        assert_eq!(of("# one\n1 2\n"), (false, vec![], 2, 2));
        assert_eq!(of(" \n\n"), (false, vec![], 0, 1));
        assert_eq!(of("1,inf\n"), (true, vec!["1", "inf"], 2, 1));
    }

    #[test]
    fn another_unit_is_another_name() {
        for (name, words) in [
            ("Loss (%)", "loss_percent"),
            ("loss%", "loss_percent"),
            ("Loss [‰]", "loss_permille"),
            ("Rate (MBps)", "rate_mbytes_ps"),
            ("rate_kBps", "rate_kbytes_ps"),
            ("Rate (Mbps)", "rate_mbps"),
            ("RATE_MBPS", "rate_mbps"),
            ("Time (ms)", "time_ms"),
        ] {
            assert_eq!(plain(name), words);
        }
    }

    #[test]
    fn columns_that_nobody_needs_are_told() {
        let told = |text| Reader::new(text).skipped(&["size"]);
        assert_eq!(told("size\n"), None);
        assert_eq!(told("size,note\n").unwrap(), "skipped a column that is not needed: \"note\"");
        assert_eq!(
            told(",size,a,b,c\n").unwrap(),
            "skipped columns that are not needed: 1, \"a\", \"b\" and 1 more"
        );
        assert_eq!(Reader::new("size,Size\n").columns(&["size"]).unwrap_err(), "column \"size\" twice");
    }

    #[test]
    fn numbers_have_one_decimal_sign() {
        let mut comma = Reader::new("a;b\n");
        assert_eq!(comma.scaled("1,5", 1), Some((15, false)));
        assert_eq!(
            (comma.scaled("1.000,5", 1), comma.scaled("2.5", 1), comma.whole("2")),
            (None, None, Some(2))
        );
        let mut point = Reader::new("a;b\n");
        assert_eq!((point.real("-1.5e1"), point.real("2,5")), (Some(-15.0), None));
        let mut plain = Reader::new("a,b\n");
        assert_eq!((plain.whole("1,5"), plain.whole("1.2e1"), plain.whole("1.5")), (None, Some(12), None));
        for wrong in ["nan", "inf", "1e999", "", "e5", "0x10", "1_0", "1 2", "--1", "\u{661}"] {
            assert_eq!(plain.real(wrong), None, "{wrong}");
        }
    }
}
