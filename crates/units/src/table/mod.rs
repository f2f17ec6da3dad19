//! Tables in text files: CSV as people, tools and spreadsheets write it. The only reader of such files.
//!
//! The first line names the columns, in any order; a file of numbers alone may have the names in the comment above them, or
//! none. Cells are separated by semicolons (then a comma is a decimal point), by commas, by tabs or by blanks, whichever
//! the first line has. Quotes around cells, empty lines, comments (`#`), a byte order mark, and the line ends of any
//! system are allowed. What the columns mean, and which of them somebody needs, is the matter of the caller.

mod cells;
mod comments;
mod heading;
mod number;
mod unit;

use crate::Duration;
use cells::{Cells, Lines, Separator, unquoted};
pub use comments::{unit_in_comment, unit_of_times_in_comment};
pub use heading::{bytes_of, common, is_in_db, is_other_unit, is_unit, plain, size_unit, usual_size};
use number::Sign;

/// The text without the byte order mark that some programs write before it.
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
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

/// The name of a column that has no unit.
const SHARE: &str = "loss";

/// Reads the lines of a table in turn.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    text: &'a str,
    lines: Lines<'a>,
    first: Line<'a>,
    /// The first line, if it is the next one.
    again: Option<Line<'a>>,
    separator: Separator,
    names: Vec<&'a str>,
    /// The number of columns of the first line.
    count: usize,
    sign: Sign,
    /// Whether the names are those that the caller assumed.
    is_assumed: bool,
    /// Whether the numbers of a file without names stand behind a tab.
    is_indented: bool,
    /// The places of the columns that are read; all of them if there are none.
    kept: Vec<usize>,
}

impl<'a> Reader<'a> {
    /// Begins to read. A file without a line has no names and no columns.
    pub fn new(text: &'a str) -> Reader<'a> {
        let text = without_mark(text);
        let mut reader = Reader {
            text,
            lines: Lines::new(text),
            first: Line { number: 1, text: "", whole: "" },
            again: None,
            separator: Separator::None,
            names: Vec::new(),
            count: 0,
            sign: Sign::default(),
            is_assumed: false,
            is_indented: false,
            kept: Vec::new(),
        };
        let mut given = None;
        while let Some(line) = reader.line(given) {
            if given.is_none()
                && let Some(sign) = excel_separator(line.whole)
            {
                given = Some(Separator::Sign(sign));
                continue;
            }
            reader.begin(line, given);
            break;
        }
        reader
    }

    fn begin(&mut self, first: Line<'a>, given: Option<Separator>) {
        self.first = first;
        self.separator = given.unwrap_or_else(|| Separator::of(first.text));
        if given.is_none()
            && !Cells::new(first.text, self.separator).all(|cell| self.is_number(unquoted(cell)))
        {
            self.separator = self.separator_of_names(first.text);
        }
        let mut cells = Vec::new();
        self.split(first, &mut cells);
        let is_tab = self.separator == Separator::Sign('\t');
        if is_tab
            && cells[0].is_empty()
            && cells.len() > 1
            && cells[1..].iter().all(|cell| self.is_number(cell))
        {
            self.is_indented = true;
            cells.remove(0);
        }
        let numbers = cells.iter().all(|cell| self.is_number(cell));
        if !numbers {
            self.name_columns(first, cells);
        } else {
            self.count = cells.len();
            self.again = Some(first);
        }
    }

    /// What separates the names in a header, of which one may have another separator in it: `time_s,rate_mbps,cell;band`. The
    /// sign with most cells, if the line below has as many.
    fn separator_of_names(&self, header: &str) -> Separator {
        let count = |line: &str, separator| Cells::new(line, separator).count();
        let signs = [';', ',', '\t'].map(Separator::Sign).into_iter().map(|one| (one, count(header, one)));
        let below = |one| self.clone().line(Some(one)).map_or("", |below| below.whole);
        let has_comma = |cell: &str| cell.contains(',') && self.is_number(unquoted(cell));
        if Cells::new(below(self.separator), self.separator).any(has_comma) {
            // Decimal commas separate no cells.
            return self.separator;
        }
        let mut fitting = signs.filter(|(one, cells)| *cells > 1 && count(below(*one), *one) == *cells);
        let first = fitting.next();
        let most = fitting.fold(first, |most, one| most.filter(|most| most.1 >= one.1).or(Some(one)));
        most.map_or(self.separator, |(one, _)| one)
    }

    /// Takes the names of the columns from a header.
    fn name_columns(&mut self, header: Line<'a>, mut cells: Vec<&'a str>) {
        if self.separator == Separator::Blanks {
            cells = names_of(header.text, self.separator);
        }
        let below = self.clone().line(Some(self.separator));
        let cells_below = below.map_or(0, |below| Cells::new(below.whole, self.separator).count());
        if self.separator == Separator::Blanks
            && (cells.len() == 1 || (cells_below == 1 && size_unit(header.text).is_some()))
        {
            // The only column has a name of several words.
            (self.separator, cells) = (Separator::None, vec![unquoted(header.text)]);
        }
        if cells_below == cells.len() + 1 && below.is_some_and(|below| self.is_row_name(below)) {
            // R's write.table gives no name to the names of rows.
            cells.insert(0, "");
        }
        while cells.len() > 1 && cells.last() == Some(&"") {
            cells.pop();
        }
        self.count = cells.len();
        self.names = cells;
    }

    /// Whether a line begins with the name of a row: the only cell in quotes, or with a letter, before numbers.
    fn is_row_name(&self, line: Line<'a>) -> bool {
        let mut cells = Cells::new(line.whole, self.separator);
        let first = cells.next().unwrap_or("").trim();
        let is_name = first.starts_with('"') || first.starts_with(char::is_alphabetic);
        let mut numbers = cells.map(str::trim).peekable();
        is_name && numbers.peek().is_some() && numbers.all(|cell| self.is_number(cell))
    }

    /// The next line that is neither empty nor a comment.
    fn line(&mut self, separator: Option<Separator>) -> Option<Line<'a>> {
        loop {
            let (number, whole) = self.lines.next(separator)?;
            let text = whole.trim();
            if !text.is_empty() && !is_comment(text) {
                return Some(Line { number, text, whole });
            }
        }
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

    /// The names of the columns as the file has them: those of the header, or those that [`Reader::settle`] took; none if
    /// it has neither.
    pub fn names(&self) -> &[&'a str] {
        &self.names
    }

    /// Gives names to the columns of a file that has no header: those of the comment that names `known` ones, wherever it
    /// stands; or else `unnamed` ones, if they are as many as the columns. Without `known` any names will do.
    ///
    /// # Errors
    /// If comments name the columns differently, or state a name or a unit that is not used.
    pub fn settle(&mut self, known: &[&str], unnamed: &[&'a str]) -> Result<(), String> {
        if self.count == 0 {
            return Ok(());
        }
        if self.has_header() {
            self.check_shares(known)?;
            return self.check_comments(known);
        }
        let of_known = |names: &Vec<&str>| {
            let found =
                names.iter().filter(|name| known.contains(&common(name).as_str())).map(|name| plain(name));
            // One word alone may be one of a sentence; with a unit it is a name.
            found.map(|name| if name.contains('_') { self.count } else { 1 }).sum::<usize>()
        };
        let mut found: Option<(usize, Vec<&'a str>)> = None;
        for comment in comments::of(self.text) {
            let namings = comment.namings(self.count);
            let is_naming = |names: &&Vec<&str>| known.is_empty() || of_known(names) >= self.count.min(2);
            let namings = namings.iter().filter(is_naming);
            let Some(naming) = namings.max_by_key(|names| of_known(names)).cloned() else { continue };
            match &found {
                Some((line, before))
                    if before.iter().map(|name| plain(name)).ne(naming.iter().map(|name| plain(name))) =>
                {
                    return Err(format!(
                        "the columns have other names in the comment in line {line} than in that in line {}; expected a first \
                         line with their names",
                        comment.line
                    ));
                }
                Some(_) => {}
                None => found = Some((comment.line, naming)),
            }
        }
        let assumed = found.as_ref().map_or(unnamed, |(_, names)| names.as_slice());
        let told = comments::of(self.text).filter(|_| !known.is_empty()).find_map(|comment| {
            let strange = || comment.strange(assumed).filter(|_| found.is_none());
            Some((comment.line, comment.contradicts(known, assumed).or_else(strange)?))
        });
        if let (Some((line, told)), Some((naming, _))) = (&told, &found) {
            return Err(format!(
                "the comment in line {line} has {told}, which the names of the columns in line {naming} do not say; expected a first \
                 line with their names and units"
            ));
        }
        if let Some((_, names)) = found {
            self.names = names;
            return Ok(());
        }
        if let Some((line, told)) = told {
            let example =
                if unnamed.is_empty() { String::new() } else { format!(", like {}", unnamed.join(",")) };
            return Err(format!(
                "the comment in line {line} has {told}, but the columns have no names; expected a first line with their \
                 names and units{example}"
            ));
        }
        if self.are_numbered() {
            return Err(format!(
                "found {}, as pandas numbers columns without names; expected their names and units instead",
                self.first.quoted()
            ));
        }
        self.is_assumed = !unnamed.is_empty();
        if self.count == unnamed.len() {
            self.names = unnamed.to_vec();
        }
        Ok(())
    }

    /// Whether the first line counts the columns from zero on, and has no data: the second line begins at zero again.
    fn are_numbered(&self) -> bool {
        let mut reader = self.clone();
        let (mut cells, mut below) = (Vec::new(), Vec::new());
        let is_header = |cells: &[&str]| cells.iter().enumerate().all(|(at, cell)| *cell == at.to_string());
        let is_csv = self.separator == Separator::Sign(',');
        if !is_csv || reader.next(&mut cells).is_none() || cells.len() < 2 || !is_header(&cells) {
            return false;
        }
        reader.next(&mut below).is_some() && below[0].parse::<f64>().is_ok_and(|first| first == 0.0)
    }

    /// That nothing in the file states the names and units of its columns, and which are assumed, as a note.
    pub fn assumed(&self, as_what: &str) -> Option<String> {
        self.is_assumed.then(|| format!("the columns have no names: read as {as_what}"))
    }

    /// Takes no other columns into account than those at these places, such as for the decimal sign of the file.
    pub fn keep(&mut self, places: impl Iterator<Item = usize>) {
        self.kept = places.collect();
        self.sign = Sign::default();
    }

    /// Checks that no comment gives a column without a unit, `loss`, another one.
    fn check_shares(&self, known: &[&str]) -> Result<(), String> {
        if !known.contains(&SHARE) || !self.names.iter().any(|name| plain(name) == SHARE) {
            return Ok(());
        }
        let told = unit_in_comment(self.text, &[SHARE]);
        told.map_or(Ok(()), |(line, told)| {
            Err(format!("the comment in line {line} has {told}; expected the unit in the name of the column: {SHARE}_percent"))
        })
    }

    /// Checks that no comment states another unit of the columns than their names.
    fn check_comments(&self, known: &[&str]) -> Result<(), String> {
        let has_levels = known.contains(&"sinr_db");
        let told = comments::of(self.text)
            .find_map(|comment| Some((comment.line, comment.denies(known, &self.names, has_levels)?)));
        told.map_or(Ok(()), |(line, told)| {
            Err(format!(
                "the comment in line {line} has {told}, which the names of the columns do not say; expected the unit in the name of \
                 the column, and no other in a comment"
            ))
        })
    }

    /// A unit of sizes other than bytes that a comment states: its line, and the unit.
    pub fn size_unit_in_comment(&self) -> Option<(usize, &'a str)> {
        comments::of(self.text).find_map(|comment| Some((comment.line, comment.size_unit()?)))
    }

    /// How long something with one of these names lasts by the comments, with their lines.
    pub fn durations_in_comments(&self, of: &[&str]) -> Vec<(usize, Duration)> {
        comments::of(self.text).filter_map(|comment| Some((comment.line, comment.duration(of)?))).collect()
    }

    /// The place of each of these columns. Case, blanks and signs between words do not matter: see [`plain`]. Where none of a
    /// quantity is named so, other common names of it are those too: see [`common`].
    ///
    /// # Errors
    /// If there are two of the same name.
    pub fn columns(&self, known: &[&str]) -> Result<Vec<Option<usize>>, String> {
        let quantity = |name: &str| name.split('_').next().unwrap_or("").to_owned();
        let mut places = vec![None; known.len()];
        for (place, name) in self.names.iter().enumerate() {
            let name = plain(name);
            let Some(at) = known.iter().position(|known| *known == name) else { continue };
            if let Some(before) = places[at].replace(place) {
                return Err(format!("column {name:?} twice: columns {} and {}", before + 1, place + 1));
            }
            if let Some(other) = self.other_direction(place) {
                let (one, other) = (self.column(place.min(other)), self.column(place.max(other)));
                return Err(format!(
                    "{one}, and {other}, both have {}s; expected one: leave the other out",
                    quantity(&name)
                ));
            }
        }
        let named: Vec<String> = known
            .iter()
            .zip(&places)
            .filter(|(_, place)| place.is_some())
            .map(|(name, _)| quantity(name))
            .collect();
        for (place, name) in self.names.iter().enumerate() {
            let common = common(name);
            let Some(at) = known.iter().position(|known| *known == common) else { continue };
            if named.contains(&quantity(&common)) {
                continue;
            }
            if let Some(before) = places[at].replace(place) {
                let (before, name) = (self.column(before), self.column(place));
                return Err(format!(
                    "{before}, and {name}, both have {}s in the same unit; expected one: name that which is meant {common}, or leave the other out",
                    quantity(&common)
                ));
            }
        }
        Ok(places)
    }

    /// The column that has out where the name of this one has in: `rate_in_mbps` is the rate in Mbit/s unless there is one.
    fn other_direction(&self, place: usize) -> Option<usize> {
        let words = |name: &str| -> Vec<String> {
            unit::Words::of(name).list.iter().map(unit::Word::small).collect()
        };
        let own = words(self.names[place]);
        let turned: Vec<String> =
            own.iter().map(|word| if word == "in" { "out".to_owned() } else { word.clone() }).collect();
        let is_it = |name: &&str| turned != own && words(name) == turned;
        self.names.iter().position(is_it)
    }

    /// The column at this place, for errors: its number and its name.
    pub fn column(&self, place: usize) -> String {
        let name = self.names.get(place).map_or(String::new(), |name| format!(", {}", quoted(name)));
        format!("column {}{name}", place + 1)
    }

    /// The columns that are none of these and are skipped, as a note; `None` if there are none.
    pub fn skipped(&self, known: &[&str]) -> Option<String> {
        let kept: Vec<usize> = self.columns(known).unwrap_or_default().into_iter().flatten().collect();
        self.skipped_at((0..self.names.len()).filter(|at| !kept.contains(at)))
    }

    /// A note that the columns at these places are skipped; `None` if there are none.
    pub fn skipped_at(&self, places: impl Iterator<Item = usize>) -> Option<String> {
        let name = |at: usize| match self.names.get(at) {
            Some(name) if !plain(name).is_empty() => quoted(name),
            _ => (at + 1).to_string(),
        };
        let mut others: Vec<String> = places.map(name).collect();
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
            None => self.line(Some(self.separator))?,
        };
        self.split(line, cells);
        // Spreadsheets end lines with empty cells.
        while cells.len() > self.count && cells.last() == Some(&"") {
            cells.pop();
        }
        Some(line)
    }

    /// What is wrong with the number of a line's cells; `None` if each column has one. In a line with fewer, the names of a
    /// header with a separator in one of them would stand over other columns, and a line that was cut would be one.
    pub fn miscounted(&self, cells: usize) -> Option<String> {
        if cells == self.count {
            return None;
        }
        let values = if cells == 1 { "1 value".to_owned() } else { format!("{cells} values") };
        let columns = if self.count == 1 { "1 column".to_owned() } else { format!("{} columns", self.count) };
        let (first, word) = (self.first.number, self.separator.word());
        let is_named = self.has_header();
        let hint = match () {
            () if is_named && self.names.iter().any(|name| is_open(name)) => {
                "; expected quotes around a name that has such a separator in it"
            }
            () if is_named && cells == self.count + 1 => {
                "; expected a name for each column, also for one of row names (R: write.csv)"
            }
            () if cells < self.count => "; expected a value, which may be empty, for each",
            () => "",
        };
        Some(format!(
            "{values} for the {columns} of line {first}{}, separated by {word}{hint}",
            self.listed()
        ))
    }

    /// The names of the first columns of a header, for errors.
    fn listed(&self) -> String {
        const SHOWN: usize = 6;
        if !self.has_header() {
            return String::new();
        }
        let names: Vec<String> = self.names.iter().take(SHOWN).map(|name| quoted(name)).collect();
        format!(" ({}{})", names.join(", "), if self.names.len() > SHOWN { ", ..." } else { "" })
    }

    /// The cells of a line. A cell at an end may be empty.
    fn split(&self, line: Line<'a>, cells: &mut Vec<&'a str>) {
        cells.clear();
        cells.extend(Cells::new(line.whole, self.separator).map(unquoted));
        if self.is_indented && cells.len() > 1 && cells[0].is_empty() {
            cells.remove(0);
        }
    }
}

/// Whether a line is a comment, and not an error of a spreadsheet in its first cell, such as `#REF!`.
pub fn is_comment(line: &str) -> bool {
    const ERRORS: [&str; 7] = ["#REF!", "#N/A", "#VALUE!", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!"];
    line.starts_with('#') && !ERRORS.iter().any(|error| line.starts_with(error))
}

/// The sign of `sep=;`, the line by which Excel tells the separator.
fn excel_separator(line: &str) -> Option<char> {
    let line = line.trim_matches(['"', '\r', ' ']);
    let sign = line.strip_prefix("sep=")?;
    [';', ',', '\t'].into_iter().find(|known| sign.chars().eq([*known]))
}

/// Names in a line. What is in brackets belongs to the word before it.
fn names_of(line: &str, separator: Separator) -> Vec<&str> {
    let words: Vec<&str> = Cells::new(line, separator).collect();
    if separator != Separator::Blanks {
        return words.into_iter().map(unquoted).collect();
    }
    let mut names: Vec<&str> = Vec::with_capacity(words.len());
    let mut from = 0;
    for word in words {
        // Words are pieces of the line in turn.
        let at = from + line[from..].find(word).unwrap_or(0);
        let end = at + word.len();
        match names.last_mut() {
            Some(last) if word.starts_with(['(', '[']) || is_open(last) => {
                let begin = last.as_ptr() as usize - line.as_ptr() as usize;
                *last = &line[begin..end];
            }
            _ => names.push(&line[at..end]),
        }
        from = end;
    }
    names.into_iter().map(unquoted).collect()
}

/// Whether a bracket in a name is not closed.
fn is_open(name: &str) -> bool {
    name.matches(['(', '[']).count() > name.matches([')', ']']).count()
}

#[cfg(test)]
mod tests;
