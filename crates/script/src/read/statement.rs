//! Parses options and statements.

use super::ReaderState;
use super::cursor::Cursor;
use super::fields::{self, Use};
use crate::error::Problem;
use crate::lexer::Kind;
use crate::syntax::{Action, Packet, Setting, Statement, When};
use crate::value::Pattern;
use crate::words::{CALLS, EVENTS, FRAMES, FieldKind, GAUGES, HEADER, PACKETS, RESULT};
use units::Duration;

/// The words that begin a statement, except calls.
const STATEMENTS: &[&str] = &["handshake", "event", "check", "let", "silence"];

/// `NAME = VALUE` after `option`.
pub(super) fn option(cursor: &mut Cursor<'_>, line: usize) -> Result<Setting, Problem> {
    let name = cursor.of(Kind::Word, "the name of an option")?.text.clone();
    cursor.sign("=")?;
    let column = cursor.column();
    match cursor.peek().map(|token| token.kind) {
        Some(kind @ (Kind::Text | Kind::Word | Kind::Number)) => {
            let value = cursor.next().map(|token| token.text.clone()).unwrap_or_default();
            Ok(Setting { line, column, name, value, quoted: kind == Kind::Text })
        }
        _ => Err(cursor.expected("a value: a number, a word, or a text in quotation marks")),
    }
}

/// A statement with its time.
pub(super) fn statement(
    cursor: &mut Cursor<'_>,
    known: &mut ReaderState,
    line: usize,
) -> Result<Statement, Problem> {
    let when_column = cursor.column();
    let when = when(cursor)?;
    let column = cursor.column();
    let action = action(cursor, known, line)?;
    if when.has_range && !matches!(action, Action::Expect(_)) {
        let problem = "only an expected packet can have a range of times; everything else happens at one \
                       time";
        return Err(Problem::new(when_column, problem));
    }
    Ok(Statement { line, column, when, action })
}

fn action(cursor: &mut Cursor<'_>, known: &mut ReaderState, line: usize) -> Result<Action, Problem> {
    if cursor.take_sign(">") {
        return Ok(Action::Expect(vec![packet(cursor, known, line, false)?]));
    }
    if cursor.take_sign("<") {
        return Ok(Action::Inject(vec![packet(cursor, known, line, true)?]));
    }
    let Some(token) = cursor.peek().filter(|token| token.kind == Kind::Word) else {
        return Err(cursor.expected("a statement: > or < and a packet, a call, or a statement word"));
    };
    match token.text.as_str() {
        "handshake" => {
            cursor.next();
            let rtt = if cursor.take_word("rtt") { time(cursor)? } else { Duration::from_millis(40) };
            Ok(Action::Handshake { rtt })
        }
        "silence" => {
            cursor.next();
            Ok(Action::Silence)
        }
        "event" => {
            cursor.next();
            Ok(Action::Event(fields::item(cursor, known, "event", EVENTS, Use::Expected)?))
        }
        "check" => {
            cursor.next();
            let mut given = Vec::new();
            loop {
                fields::one(cursor, known, &GAUGES, &mut given, Use::Expected)?;
                if !cursor.take_sign(",") {
                    return Ok(Action::Check(given));
                }
            }
        }
        "let" => {
            cursor.next();
            let name = cursor.of(Kind::Variable, "a variable, like $n")?.text.clone();
            cursor.sign("=")?;
            let value = fields::expression(cursor, known, FieldKind::Int)?;
            known.variables.insert(name.clone());
            Ok(Action::Let { name, value })
        }
        word if crate::words::find(CALLS, word).is_some() => call(cursor, known),
        word => {
            let words = STATEMENTS.iter().copied().chain(CALLS.iter().map(|entry| entry.name));
            Err(Problem::unknown(token.column, "statement", word, words))
        }
    }
}

fn call(cursor: &mut Cursor<'_>, known: &mut ReaderState) -> Result<Action, Problem> {
    let item = fields::item(cursor, known, "call", CALLS, Use::Given)?;
    let result = match cursor.take_sign("=") {
        true => Some(fields::pattern(cursor, known, RESULT.kind, Use::Expected)?),
        false => None,
    };
    Ok(Action::Call { entry: item.entry, arguments: item.fields, result })
}

/// A packet after its arrow.
pub(super) fn packet(
    cursor: &mut Cursor<'_>,
    known: &mut ReaderState,
    line: usize,
    injected: bool,
) -> Result<Packet, Problem> {
    let usage = if injected { Use::Given } else { Use::Expected };
    let column = cursor.column();
    let found = cursor.peek().filter(|token| matches!(token.kind, Kind::Word | Kind::Number));
    let Some(token) = found else { return Err(cursor.expected("the kind of a packet, like 1rtt")) };
    let kind = PACKETS.iter().find(|kind| **kind == token.text);
    let kind =
        kind.ok_or_else(|| Problem::unknown(column, "packet", &token.text, PACKETS.iter().copied()))?;
    cursor.next();
    let mut number = Pattern::Any;
    if cursor.take_sign("#") {
        number = fields::pattern(cursor, known, FieldKind::Int, usage)?;
    }
    let mut header = Vec::new();
    if cursor.take_sign("[") {
        header = fields::list(cursor, known, &HEADER, "]", usage)?.0;
    }
    let mut packet = Packet { line, column, kind, number, header, frames: Vec::new(), others: false };
    while cursor.peek().is_some() {
        if !packet.frames.is_empty() || packet.others {
            cursor.sign(",")?;
        }
        if !injected && cursor.take_sign("*") {
            packet.others = true;
        } else {
            packet.frames.push(fields::item(cursor, known, "frame", FRAMES, usage)?);
        }
    }
    Ok(packet)
}

/// The time of a statement; by default that of the previous one.
fn when(cursor: &mut Cursor<'_>) -> Result<When, Problem> {
    let absolute = cursor.take_sign("@");
    if !absolute && !cursor.take_sign("+") {
        return Ok(When::NOW);
    }
    let column = cursor.column();
    let first = time(cursor)?;
    if cursor.take_sign("~") {
        let tolerance = time(cursor)?;
        return Ok(When { absolute, from: first - tolerance, to: first + tolerance, has_range: true });
    }
    if cursor.take_sign("..") {
        let to = time(cursor)?;
        if to < first {
            return Err(Problem::new(column, "the end of the range is before its start"));
        }
        return Ok(When { absolute, from: first, to, has_range: true });
    }
    Ok(When { absolute, from: first, to: first, has_range: false })
}

fn time(cursor: &mut Cursor<'_>) -> Result<Duration, Problem> {
    fields::span(cursor.of(Kind::Number, "a time with its unit, like 25ms")?)
}
