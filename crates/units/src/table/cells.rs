//! The lines of a table and their cells: separators, quotes, and line ends within quotes (RFC 4180).

/// What is between two cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    Sign(char),
    Blanks,
    /// There is one column, and a line is a cell.
    None,
}

impl Separator {
    /// That of a line: the first of these signs that it has outside of quotes.
    pub(super) fn of(line: &str) -> Separator {
        let has = |separator| Cells::new(line, separator).nth(1).is_some();
        let signs = [';', ',', '\t'].map(Separator::Sign);
        signs.into_iter().chain([Separator::Blanks]).find(|one| has(*one)).unwrap_or(Separator::None)
    }

    fn separates(self, letter: char) -> bool {
        match self {
            Separator::Sign(sign) => letter == sign,
            Separator::Blanks => letter.is_whitespace(),
            Separator::None => false,
        }
    }

    /// Its name in errors.
    pub(super) fn word(self) -> &'static str {
        match self {
            Separator::Sign(';') => "semicolons",
            Separator::Sign(',') => "commas",
            Separator::Sign(_) => "tabs",
            Separator::Blanks => "blanks",
            Separator::None => "line ends",
        }
    }
}

/// The cells of a line, with the quotes around them. A separator within quotes is part of a cell.
pub(super) struct Cells<'a> {
    rest: Option<&'a str>,
    separator: Separator,
}

impl<'a> Cells<'a> {
    pub(super) fn new(line: &'a str, separator: Separator) -> Cells<'a> {
        let line = if separator == Separator::Blanks { line.trim() } else { line };
        let is_nothing = separator == Separator::Blanks && line.is_empty();
        Cells { rest: (!is_nothing).then_some(line), separator }
    }
}

impl<'a> Iterator for Cells<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let rest = self.rest?;
        let inside =
            rest.trim_start_matches(|sign: char| sign.is_whitespace() && !self.separator.separates(sign));
        let from = rest.len() - inside.len();
        // A quote that is never closed is a letter like others.
        let from = inside.strip_prefix('"').and_then(closed).map_or(from, |end| from + 1 + end);
        let end = rest[from..].find(|sign| self.separator.separates(sign)).map(|end| from + end);
        let Some(end) = end else {
            self.rest = None;
            return Some(rest);
        };
        let after = &rest[end + rest[end..].chars().next().map_or(0, char::len_utf8)..];
        self.rest = Some(if self.separator == Separator::Blanks { after.trim_start() } else { after });
        Some(&rest[..end])
    }
}

/// The place behind the quote that ends a cell whose first quote is before this text; two in a row are a letter.
fn closed(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let end = from + text[from..].find('"')? + 1;
        if !text[end..].starts_with('"') {
            return Some(end);
        }
        from = end + 1;
    }
}

/// A cell without blanks and quotes around it.
pub(super) fn unquoted(cell: &str) -> &str {
    let cell = cell.trim();
    cell.strip_prefix('"').and_then(|inside| inside.strip_suffix('"')).map_or(cell, str::trim)
}

/// The maximum number of line ends within the quotes of one line.
const MOST_ENDS: usize = 1_000;

/// The lines of a text with their numbers, from 1. A cell in quotes may have line ends in it.
#[derive(Debug, Clone)]
pub(super) struct Lines<'a> {
    rest: Option<&'a str>,
    number: usize,
    end: char,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Lines<'a> {
        Lines { rest: Some(text), number: 0, end: if text.contains('\n') { '\n' } else { '\r' } }
    }

    /// The next line; `separator` tells where cells begin.
    pub(super) fn next(&mut self, separator: Option<Separator>) -> Option<(usize, &'a str)> {
        let rest = self.rest?;
        let first = rest.find(self.end).unwrap_or(rest.len());
        let (end, ends) = match &rest[..first] {
            line if !line.contains('"') || line.trim_start().starts_with('#') => (first, 0),
            _ => self.whole(rest, first, separator).unwrap_or((first, 0)),
        };
        let number = self.number + 1;
        self.number = number + ends;
        self.rest = rest.get(end + 1..);
        Some((number, &rest[..end]))
    }

    /// The end of a line of which a cell in quotes goes on behind its first end, and the number of its ends within
    /// quotes. `None` if its quotes are none of RFC 4180, in which a separator or a line end is behind the second one.
    fn whole(&self, text: &str, first: usize, separator: Option<Separator>) -> Option<(usize, usize)> {
        let begins = |sign: char| match separator {
            Some(Separator::Sign(separator)) => sign == separator,
            Some(Separator::Blanks) => sign.is_whitespace(),
            Some(Separator::None) => false,
            None => [';', ',', '\t', ' '].contains(&sign),
        };
        let (mut at, mut end, mut ends) = (0, first, 0);
        let mut is_beginning = true;
        while at < end {
            let sign = text[at..].chars().next()?;
            at += sign.len_utf8();
            if sign != '"' || !is_beginning {
                is_beginning = begins(sign) || (is_beginning && sign.is_whitespace());
                continue;
            }
            let after = at + closed(&text[at..])?;
            let inside = text[at..after].matches(self.end).count();
            ends += inside;
            let behind = text[after..].trim_start_matches([' ', '\r']).chars().next();
            if ends > MOST_ENDS
                || (inside > 0 && behind.is_some_and(|sign| sign != self.end && !begins(sign)))
            {
                return None;
            }
            if inside > 0 {
                end = after + text[after..].find(self.end).unwrap_or(text.len() - after);
            }
            (at, is_beginning) = (after, false);
        }
        Some((end, ends))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, separator: Option<Separator>) -> Vec<(usize, &str)> {
        let mut lines = Lines::new(text);
        std::iter::from_fn(|| lines.next(separator)).collect()
    }

    /// RFC 4180 section 2, rules 6 and 7.
    #[test]
    fn line_ends_within_quotes_do_not_end_a_line() {
        let comma = Some(Separator::Sign(','));
        assert_eq!(lines("a,\"b\nc\"\r\nd", comma), [(1, "a,\"b\nc\"\r"), (3, "d")]);
        assert_eq!(lines("\"a\n\n\"\"b\",\"c\nd\" \ne", None), [(1, "\"a\n\n\"\"b\",\"c\nd\" "), (5, "e")]);
        assert_eq!(lines("a,\"b,c\"\nd,6\" e\n", comma), [(1, "a,\"b,c\""), (2, "d,6\" e"), (3, "")]);
    }

    /// A quote that somebody forgot, or inches, must not swallow lines.
    #[test]
    fn quotes_that_do_not_surround_a_cell_are_letters() {
        let comma = Some(Separator::Sign(','));
        for text in
            ["1,6\"\n2,7\"", "1,6 \" a\n2,7 \"", "1,\"a\n2,\"b", "# say \"a\n1,\"b\"", "1,\"a\n2,b\n3,c"]
        {
            let found = lines(text, comma);
            assert_eq!(found.len(), text.split('\n').count(), "{text:?}: {found:?}");
        }
        let long = format!("\"{}\"", "\n".repeat(MOST_ENDS + 1));
        assert_eq!(lines(&long, None)[0], (1, "\""));
    }

    #[test]
    fn separators_within_quotes_are_letters() {
        let cells = |line, separator| -> Vec<&str> { Cells::new(line, separator).map(unquoted).collect() };
        assert_eq!(cells("\"a,b\", c,,\"d\"\"e,\"", Separator::Sign(',')), ["a,b", "c", "", "d\"\"e,"]);
        assert_eq!(cells("  \"a b\"   c ", Separator::Blanks), ["a b", "c"]);
        assert_eq!(cells("a\"b,c\"d,\"e", Separator::Sign(',')), ["a\"b", "c\"d", "\"e"]);
        assert_eq!(Separator::of("\"a;b\",c"), Separator::Sign(','));
        assert_eq!(Separator::of("\"a b\""), Separator::None);
    }
}
