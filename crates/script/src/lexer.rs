//! Splits a line of a script into tokens.

use crate::error::Problem;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name: `STREAM`, `transport.initial_rtt`.
    Word,
    /// Anything that begins with a digit: `5000`, `12_000`, `40ms`, `1rtt`, `0x0a`.
    Number,
    /// `$name`; the text excludes the `$`.
    Variable,
    /// A quoted text; the text excludes the quotation marks.
    Text,
    /// A symbol: `+`, `..`, `>=`.
    Sign,
}

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) text: String,
    /// The column in characters, counted from 1.
    pub(crate) column: usize,
}

impl Token {
    /// The token as quoted by an error.
    pub(crate) fn shown(&self) -> String {
        match self.kind {
            Kind::Variable => format!("\"${}\"", self.text),
            _ => format!("{:?}", self.text),
        }
    }
}

/// Symbols, longer ones first.
const SIGNS: &[&str] =
    &["..", ">=", "<=", "!=", "+", "-", "~", "@", ">", "<", "&", "(", ")", "[", "]", ",", "=", "#", "?", "*"];

/// The maximum length of a token in characters.
const MAX_TOKEN: usize = 500;

/// Splits a line up to its comment, which begins with `//`.
pub(crate) fn tokens(line: &str) -> Result<Vec<Token>, Problem> {
    let characters: Vec<char> = line.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&first) = characters.get(at) {
        let rest = &characters[at..];
        if first.is_whitespace() {
            at += 1;
            continue;
        }
        if rest.starts_with(&['/', '/']) {
            break;
        }
        let (kind, text, length) = token(rest, at + 1)?;
        if length > MAX_TOKEN {
            // Limits the text that an error quotes.
            let problem = format!("a word of {length} characters; expected at most {MAX_TOKEN}");
            return Err(Problem::new(at + 1, problem));
        }
        found.push(Token { kind, text, column: at + 1 });
        at += length;
    }
    Ok(found)
}

/// The token at the start of `rest`, and its length in characters.
fn token(rest: &[char], column: usize) -> Result<(Kind, String, usize), Problem> {
    let first = rest[0];
    if first == '"' {
        let end = rest[1..].iter().position(|c| *c == '"');
        let end = end.ok_or_else(|| Problem::new(column, "the text is not closed: a \" is missing"))?;
        return Ok((Kind::Text, rest[1..=end].iter().collect(), end + 2));
    }
    if first.is_ascii_digit() {
        let length = number_length(rest);
        return Ok((Kind::Number, rest[..length].iter().collect(), length));
    }
    if first.is_alphabetic() || first == '_' {
        let length = word_length(rest, true);
        return Ok((Kind::Word, rest[..length].iter().collect(), length));
    }
    if first == '$' {
        let length = word_length(&rest[1..], false);
        if length == 0 {
            return Err(Problem::new(column, "a name is missing after $"));
        }
        return Ok((Kind::Variable, rest[1..=length].iter().collect(), length + 1));
    }
    for sign in SIGNS {
        let characters: Vec<char> = sign.chars().collect();
        if rest.starts_with(&characters) {
            return Ok((Kind::Sign, (*sign).to_owned(), characters.len()));
        }
    }
    Err(Problem::new(column, format!("unknown character {first:?}")))
}

/// Letters, digits, `_`, and inner dots where allowed.
fn word_length(rest: &[char], dots: bool) -> usize {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut length = 0;
    while let Some(&c) = rest.get(length) {
        let joins = dots && c == '.' && rest.get(length + 1).is_some_and(|next| is_part(*next));
        if !is_part(c) && !joins {
            break;
        }
        length += 1;
    }
    length
}

/// Digits, at most one inner dot, and the unit.
fn number_length(rest: &[char]) -> usize {
    let mut length = 0;
    let mut has_dot = false;
    while let Some(&c) = rest.get(length) {
        let decimal = c == '.' && !has_dot && rest.get(length + 1).is_some_and(char::is_ascii_digit);
        if !c.is_alphanumeric() && c != '_' && !decimal {
            break;
        }
        has_dot |= decimal;
        length += 1;
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<String> {
        tokens(line).unwrap().into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn a_line_falls_into_tokens() {
        assert_eq!(
            texts("+25.5ms~1ms > 1rtt #$n ACK(0..3, 5) // why"),
            ["+", "25.5ms", "~", "1ms", ">", "1rtt", "#", "n", "ACK", "(", "0", "..", "3", ",", "5", ")"]
        );
        assert_eq!(
            texts("option transport.initial_rtt = \"100 ms\""),
            ["option", "transport.initial_rtt", "=", "100 ms"]
        );
        assert_eq!(texts("$a..$b"), ["a", "..", "b"]);
    }

    #[test]
    fn columns_count_characters_from_one() {
        let found = tokens("é  PING").unwrap();
        assert_eq!((found[0].column, found[1].column), (1, 4));
    }

    #[test]
    fn what_is_no_token_is_told_with_its_column() {
        assert_eq!(tokens("  %").unwrap_err(), Problem::new(3, "unknown character '%'"));
        assert_eq!(tokens("x \"a").unwrap_err().column, 3);
        assert_eq!(tokens("$ ").unwrap_err().column, 1);
    }
}
