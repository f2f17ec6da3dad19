//! Descriptions of kinds of values, for errors and for lists of options.

use super::source::{listed, one_of};
use units::parameter::{Kind, Limit, Room};
use units::{Duration, ParseError, Rate, Size};

/// The kind in an error: `a rate with its unit (bit/s, ...), like "10 Mbit/s"`.
pub(super) fn expected(kind: &Kind, rooms: &[Room]) -> String {
    match kind {
        Kind::Duration => example::<Duration>().to_owned(),
        Kind::Rate => example::<Rate>().to_owned(),
        Kind::Size => example::<Size>().to_owned(),
        Kind::Limit => example::<Limit>().to_owned(),
        Kind::Integer(from, to) => format!("a whole number from {from} to {to}"),
        Kind::Number(from, to) if is_any(*from, *to) => "a number".to_owned(),
        Kind::Number(from, to) => format!("a number from {from} to {to}"),
        Kind::Probability => "a probability from 0 to 1, or from \"0 %\" to \"100 %\"".to_owned(),
        Kind::Flag => "true or false".to_owned(),
        Kind::Text => "a text in quotation marks".to_owned(),
        Kind::Choice(words) => one_of(words.iter().copied()),
        Kind::Preference(words) => {
            format!("a list of some of {}, each once, the preferred one first", listed(words.iter().copied()))
        }
        Kind::File(_) => "the path of a file, relative to the folder of the scenario".to_owned(),
        Kind::List(of) => format!("a list, each item {}", expected(of, rooms)),
        Kind::Pairs(a, b) => {
            format!("a list of pairs [A, B], with A {} and B {}", expected(a, rooms), expected(b, rooms))
        }
        Kind::Component(name) => match rooms.iter().find(|room| room.name == *name) {
            Some(room) => component(room, rooms),
            None => format!("a component of {name}"),
        },
    }
}

/// Whether the range contains all numbers, as that of options of Python classes does.
fn is_any(from: f64, to: f64) -> bool {
    from <= f64::MIN && to >= f64::MAX
}

/// The kind of a component in an error.
fn component(room: &Room, rooms: &[Room]) -> String {
    let known = format!("one of the {} ({})", room.name, listed(room.rows.iter().map(|row| row.name)));
    match shorthand(room) {
        Some((_, kind)) => format!("{}, or {known}", expected(kind, rooms)),
        None => known,
    }
}

/// The row of a room that a bare value stands for, and the kind of the option that it sets.
pub(super) fn shorthand(room: &Room) -> Option<(usize, &'static Kind)> {
    let (row, option) = room.shorthand?;
    let at = room.rows.iter().position(|known| known.name == row)?;
    let parameter = room.rows[at].parameters.iter().find(|parameter| parameter.name == option)?;
    Some((at, &parameter.kind))
}

/// The kind in a list of options: `integer 1 to 100`.
pub(super) fn words(kind: &Kind) -> String {
    match kind {
        Kind::Duration => "duration".to_owned(),
        Kind::Rate => "rate".to_owned(),
        Kind::Size => "size".to_owned(),
        Kind::Limit => "packets, size, duration, BDP or unlimited".to_owned(),
        Kind::Integer(from, to) => format!("integer {from} to {to}"),
        Kind::Number(from, to) if is_any(*from, *to) => "number".to_owned(),
        Kind::Number(from, to) => format!("number {from} to {to}"),
        Kind::Probability => "probability".to_owned(),
        Kind::Flag => "true or false".to_owned(),
        Kind::Text => "text".to_owned(),
        Kind::Choice(of) => of.join(" | "),
        Kind::Preference(of) => format!("list of {}", of.join(" | ")),
        Kind::File(_) => "file".to_owned(),
        Kind::List(of) => format!("list of {}", words(of)),
        Kind::Pairs(a, b) => format!("list of [{}, {}]", words(a), words(b)),
        Kind::Component(room) => format!("one of the {room}"),
    }
}

/// The description of a quantity, from the error of its reader for an empty text.
fn example<T: std::str::FromStr<Err = ParseError>>() -> &'static str {
    "".parse::<T>().err().expect("an empty text is no quantity").expected
}
