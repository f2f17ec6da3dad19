//! Parses fields in parentheses and brackets, and their values.

use super::ReaderState;
use super::cursor::Cursor;
use crate::error::Problem;
use crate::lexer::{Kind, Token};
use crate::syntax::{FieldValue, Item};
use crate::value::{Comparison, Expression, Pattern, Term, Value};
use crate::words::{Absent, ERRORS, Entry, Field, FieldKind};
use units::Duration;
use wire::Code;

/// Whether values are expected of the endpoint, or given to it and so must be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Expected,
    Given,
}

/// The maximum integer on the wire: 2^62 - 1 (RFC 9000 section 16).
const MOST: u64 = wire::varint::MAX;

/// A word of a table and its fields.
pub(super) fn item(
    cursor: &mut Cursor<'_>,
    known: &mut ReaderState,
    what: &str,
    table: &'static [Entry],
    usage: Use,
) -> Result<Item, Problem> {
    let token = cursor.of(Kind::Word, what)?;
    let column = token.column;
    let entry = crate::words::find(table, &token.text)
        .ok_or_else(|| Problem::unknown(column, what, &token.text, table.iter().map(|entry| entry.name)))?;
    let (fields, open) = if cursor.take_sign("(") {
        list(cursor, known, entry, ")", usage)?
    } else {
        (Vec::new(), usage == Use::Expected)
    };
    if !open {
        complete(entry, &fields, column, usage)?;
    }
    Ok(Item { column, entry, fields, open })
}

/// Checks that all required fields are present.
fn complete(entry: &Entry, fields: &[FieldValue], column: usize, usage: Use) -> Result<(), Problem> {
    let has = |name: &str| fields.iter().any(|given| given.field.name == name);
    let missing = entry.fields.iter().find(|field| field.absent == Absent::Required && !has(field.name));
    let Some(field) = missing else { return Ok(()) };
    let way = if usage == Use::Expected { ": name it, or write .. for the rest" } else { "" };
    Err(Problem::new(column, format!("{} lacks its field {:?}{way}", entry.name, field.name)))
}

/// Fields up to and including the closing symbol, and whether `..` was among them.
pub(super) fn list(
    cursor: &mut Cursor<'_>,
    known: &mut ReaderState,
    entry: &'static Entry,
    closing: &str,
    usage: Use,
) -> Result<(Vec<FieldValue>, bool), Problem> {
    let mut given: Vec<FieldValue> = Vec::new();
    let mut open = false;
    while !cursor.take_sign(closing) {
        if (!given.is_empty() || open) && !cursor.take_sign(",") {
            return Err(cursor.expected(&format!("\",\" or {closing:?}")));
        }
        if usage == Use::Expected && cursor.take_sign("..") {
            open = true;
            continue;
        }
        one(cursor, known, entry, &mut given, usage)?;
    }
    for given in &mut given {
        if let Pattern::Ranges(_, others) = &mut given.pattern {
            *others = open;
        }
    }
    Ok((given, open))
}

/// One field: a name and a value, or a value by position.
pub(super) fn one(
    cursor: &mut Cursor<'_>,
    known: &mut ReaderState,
    entry: &'static Entry,
    given: &mut Vec<FieldValue>,
    usage: Use,
) -> Result<(), Problem> {
    let column = cursor.column();
    let named = cursor.peek().filter(|token| token.kind == Kind::Word);
    let named = named.and_then(|token| entry.field(&token.text));
    let field = match named {
        Some(field) => {
            cursor.next();
            cursor.take_sign("=");
            field
        }
        None => match next_unnamed(entry, given) {
            Some(field) if cursor.peek().is_some_and(|token| may_begin(token, field)) => field,
            _ => return Err(no_field(cursor, entry)),
        },
    };
    if let Some(before) = given.iter_mut().find(|given| given.field.name == field.name) {
        if let (Pattern::Ranges(ranges, _), FieldKind::Ranges) = (&mut before.pattern, field.kind) {
            ranges.push(range(cursor, known, usage)?);
            return Ok(());
        }
        return Err(Problem::new(column, format!("{:?} is given twice", field.name)));
    }
    let pattern = match field.kind {
        FieldKind::Ranges => Pattern::Ranges(vec![range(cursor, known, usage)?], false),
        FieldKind::Flag => Pattern::Flag,
        kind => pattern(cursor, known, kind, usage)?,
    };
    given.push(FieldValue { field, pattern, column });
    Ok(())
}

/// The field for a value without a name.
fn next_unnamed(entry: &'static Entry, given: &[FieldValue]) -> Option<&'static Field> {
    if let Some(last) = given.last().filter(|last| last.field.kind == FieldKind::Ranges) {
        return Some(last.field);
    }
    let last =
        given.last().and_then(|last| entry.fields.iter().position(|field| field.name == last.field.name));
    entry.fields.get(last.map_or(0, |last| last + 1))
}

/// Whether a token can begin a value of this field, rather than name an unknown field.
fn may_begin(token: &Token, field: &Field) -> bool {
    match (token.kind, field.kind) {
        (Kind::Word, FieldKind::Choice(_) | FieldKind::Code | FieldKind::Outcome) => true,
        (Kind::Word, _) | (_, FieldKind::Flag) => false,
        (Kind::Sign, _) => ["?", ">", "<", ">=", "<=", "!="].contains(&token.text.as_str()),
        _ => true,
    }
}

fn no_field(cursor: &Cursor<'_>, entry: &'static Entry) -> Problem {
    let names = entry.fields.iter().map(|field| field.name);
    match cursor.peek() {
        Some(token) if token.kind == Kind::Word => {
            Problem::unknown(token.column, &format!("field of {}", entry.name), &token.text, names)
        }
        _ if entry.fields.is_empty() => cursor.expected(&format!("nothing: {} has no fields", entry.name)),
        _ => cursor.expected(&format!("a field of {}: {}", entry.name, names.collect::<Vec<_>>().join(", "))),
    }
}

/// A packet number or a range.
fn range(
    cursor: &mut Cursor<'_>,
    known: &mut ReaderState,
    usage: Use,
) -> Result<(Pattern, Pattern), Problem> {
    let low = bound(cursor, known, usage)?;
    let high = if cursor.take_sign("..") { bound(cursor, known, usage)? } else { low.clone() };
    Ok((low, high))
}

/// An end of a range.
fn bound(cursor: &mut Cursor<'_>, known: &mut ReaderState, usage: Use) -> Result<Pattern, Problem> {
    if usage == Use::Expected && cursor.take_sign("?") {
        return Ok(Pattern::Any);
    }
    if let Some(name) = binding(cursor, known, usage) {
        return Ok(Pattern::Bind(name));
    }
    Ok(Pattern::Is(expression(cursor, known, FieldKind::Int)?))
}

/// A pattern for an expected value, or a given value.
pub(super) fn pattern(
    cursor: &mut Cursor<'_>,
    known: &mut ReaderState,
    kind: FieldKind,
    usage: Use,
) -> Result<Pattern, Problem> {
    if usage == Use::Given {
        return Ok(Pattern::Is(expression(cursor, known, kind)?));
    }
    if cursor.take_sign("?") {
        return Ok(Pattern::Any);
    }
    let comparisons = [
        (">=", Comparison::AtLeast),
        ("<=", Comparison::AtMost),
        (">", Comparison::Greater),
        ("<", Comparison::Less),
        ("!=", Comparison::Not),
    ];
    for (sign, comparison) in comparisons {
        if cursor.take_sign(sign) {
            return Ok(Pattern::Compare(comparison, expression(cursor, known, kind)?));
        }
    }
    if let Some(name) = binding(cursor, known, usage) {
        return Ok(Pattern::Bind(name));
    }
    let first = expression(cursor, known, kind)?;
    let ordered = matches!(kind, FieldKind::Int | FieldKind::Code | FieldKind::Span | FieldKind::Outcome);
    if ordered && cursor.take_sign("..") {
        return Ok(Pattern::Between(first, expression(cursor, known, kind)?));
    }
    Ok(Pattern::Is(first))
}

/// A variable without a value, to be bound here.
fn binding(cursor: &mut Cursor<'_>, known: &mut ReaderState, usage: Use) -> Option<String> {
    let token = cursor.peek().filter(|token| token.kind == Kind::Variable && usage == Use::Expected)?;
    let is_new = known.variables.insert(token.text.clone());
    is_new.then(|| {
        cursor.next();
        token.text.clone()
    })
}

/// A sum of values and variables.
pub(super) fn expression(
    cursor: &mut Cursor<'_>,
    known: &ReaderState,
    kind: FieldKind,
) -> Result<Expression, Problem> {
    let first = term(cursor, known, kind)?;
    let mut rest = Vec::new();
    loop {
        let adds = cursor.take_sign("+");
        if !adds && !cursor.take_sign("-") {
            return Ok(Expression { first, rest });
        }
        rest.push((adds, term(cursor, known, kind)?));
    }
}

fn term(cursor: &mut Cursor<'_>, known: &ReaderState, kind: FieldKind) -> Result<Term, Problem> {
    let Some(token) = cursor.peek() else { return Err(cursor.expected(name_of(kind))) };
    if token.kind == Kind::Variable {
        if !known.variables.contains(&token.text) {
            let names = known.variables.iter().map(String::as_str);
            return Err(Problem::unknown(token.column, "variable", &token.text, names));
        }
        cursor.next();
        return Ok(Term::Variable(token.text.clone()));
    }
    let value = match (kind, token.kind) {
        (FieldKind::Int | FieldKind::Code | FieldKind::Outcome, Kind::Number) => {
            integer(token)?.map(Value::Int)
        }
        (FieldKind::Code, Kind::Word) => Some(Value::Int(code(token)?)),
        (FieldKind::Outcome, Kind::Word) => Some(Value::Word(choice(token, ERRORS, "error")?)),
        (FieldKind::Choice(words), Kind::Word) => Some(Value::Word(choice(token, words, "word")?)),
        (FieldKind::Span, Kind::Number) => Some(Value::Span(span(token)?)),
        (FieldKind::Bytes, Kind::Number) => bytes(&token.text).map(Value::Bytes),
        (FieldKind::Text, Kind::Text) => Some(Value::Text(token.text.clone())),
        _ => None,
    };
    let value = value.ok_or_else(|| cursor.expected(name_of(kind)))?;
    cursor.next();
    Ok(Term::Is(value))
}

/// The expectation quoted by errors.
fn name_of(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::Int | FieldKind::Ranges => "a whole number or a variable",
        FieldKind::Code => "a whole number, the name of an error code, or a variable",
        FieldKind::Span => "a time with its unit, like 25ms",
        FieldKind::Bytes => "bytes, like 0x0123, or a variable",
        FieldKind::Text => "a text in quotation marks, or a variable",
        FieldKind::Flag => "nothing",
        FieldKind::Choice(_) => "a word",
        FieldKind::Outcome => "a whole number or the word of an error",
    }
}

fn choice(token: &Token, words: &'static [&'static str], what: &str) -> Result<&'static str, Problem> {
    let found = words.iter().find(|word| **word == token.text);
    found.copied().ok_or_else(|| Problem::unknown(token.column, what, &token.text, words.iter().copied()))
}

/// The named error codes.
fn code(token: &Token) -> Result<u64, Problem> {
    let named =
        || (0..=Code::VERSION_NEGOTIATION_ERROR.0).filter_map(|code| Some((code, Code(code).name()?)));
    let found = named().find(|(_, name)| *name == token.text);
    found.map(|(code, _)| code).ok_or_else(|| {
        Problem::unknown(token.column, "error code", &token.text, named().map(|(_, name)| name))
    })
}

/// A whole number, decimal or hexadecimal, optionally with `_` between digits; `None` if invalid.
fn integer(token: &Token) -> Result<Option<u64>, Problem> {
    let digits = token.text.replace('_', "");
    let (digits, radix) = match digits.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (digits.as_str(), 10),
    };
    if !digits.chars().all(|c| c.is_digit(radix)) {
        return Ok(None);
    }
    let value = u64::from_str_radix(digits, radix).ok().filter(|value| *value <= MOST);
    match value {
        Some(value) => Ok(Some(value)),
        None => {
            Err(Problem::new(token.column, format!("{} is above the greatest number, 2^62 - 1", token.text)))
        }
    }
}

/// A duration. 0 needs no unit.
pub(super) fn span(token: &Token) -> Result<Duration, Problem> {
    if token.text == "0" {
        return Ok(Duration::ZERO);
    }
    token.text.parse().map_err(|error: units::ParseError| {
        let text =
            format!("{}, found {:?}; expected a time with its unit, like 25ms", error.problem, token.text);
        Problem::new(token.column, text)
    })
}

/// The bytes of `0x0123`.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x")?;
    if !digits.len().is_multiple_of(2) || !digits.is_ascii() {
        return None;
    }
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).ok()).collect()
}
