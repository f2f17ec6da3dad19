//! A TOML document as a tree of values with their places.

use super::error::ScenarioError;
use super::source::{Place, Source, one_line};
use std::ops::Range;
use toml::de::{DeTable, DeValue};
use toml_parser::parser::RecursionGuard;

/// The maximum size of a document in bytes. The largest useful ones have a few thousand flows.
pub const MAX_DOCUMENT: usize = 16 << 20;
/// The maximum depth of brackets. A dotted key adds up to 80 levels. Together they must not exhaust a thread's stack.
pub const MAX_BRACKETS: u32 = 8;
/// The maximum depth of tables.
const MAX_DEPTH: usize = 32;

/// A value with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    pub(super) place: Place,
    pub(super) node: Node,
}

/// A value of TOML.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// A text.
    Text(String),
    /// A whole number; larger ones saturate.
    Integer(i128),
    /// A number with a point or an exponent, or none.
    Float(f64),
    /// `true` or `false`.
    Flag(bool),
    /// A date or a time, which scenarios do not use.
    Date(String),
    /// A list, or an array of tables.
    List(Vec<Item>),
    /// A table.
    Table(Vec<Entry>),
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub(super) key: String,
    /// The place of the key.
    pub(super) place: Place,
    pub(super) item: Item,
}

impl From<Node> for Item {
    /// A value whose place in the document is not known: its beginning.
    fn from(node: Node) -> Item {
        Item { place: Place::Document(0), node }
    }
}

impl Entry {
    /// A key and its value, without their places.
    pub fn new(key: String, node: Node) -> Entry {
        Entry { key, place: Place::Document(0), item: node.into() }
    }
}

impl Item {
    /// The value of a key, if this is a table with the key.
    pub(super) fn get(&self, key: &str) -> Option<&Item> {
        match &self.node {
            Node::Table(entries) => entries.iter().find(|entry| entry.key == key).map(|entry| &entry.item),
            _ => None,
        }
    }
}

/// The reason why a text is not TOML.
#[derive(Debug)]
pub(super) struct NotToml {
    /// The byte of the mistake.
    pub(super) at: usize,
    pub(super) problem: String,
}

/// Reads the document of a scenario.
pub(super) fn document(source: &Source<'_>) -> Result<Item, ScenarioError> {
    parse(source.text, &Place::Document).map_err(|error| {
        source.error(Place::Document(error.at), "", format!("not a TOML document: {}", error.problem))
    })
}

/// Reads a document; `place` returns the place of a byte.
pub(super) fn parse(text: &str, place: &dyn Fn(usize) -> Place) -> Result<Item, NotToml> {
    if text.len() > MAX_DOCUMENT {
        let problem = format!("{} bytes; expected at most {MAX_DOCUMENT}", text.len());
        return Err(NotToml { at: 0, problem });
    }
    check_nesting(text)?;
    let table = DeTable::parse(text).map_err(|error| NotToml {
        at: error.span().unwrap_or_default().start,
        problem: problem(error.message(), text, error.span().unwrap_or_default().start),
    })?;
    let entries = entries(table.get_ref(), place, MAX_DEPTH)?;
    Ok(Item { place: place(0), node: Node::Table(entries) })
}

/// The message of the library, or a better one where it is misleading.
fn problem(message: &str, text: &str, at: usize) -> String {
    if !message.starts_with("string values must be quoted") {
        return one_line(message);
    }
    let rest = text.get(at..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    match rest.split('#').next().map(str::trim) {
        Some("") | None => "the value is missing".to_owned(),
        _ => "not a value; put text in quotation marks".to_owned(),
    }
}

/// Reads the text of one value, as after an equals sign.
pub(super) fn parse_value(text: &str, place: Place) -> Result<Item, NotToml> {
    let document = parse(&format!("value = {text}"), &|_| place)?;
    match document.node {
        Node::Table(mut entries) if entries.len() == 1 && entries[0].key == "value" => {
            Ok(entries.remove(0).item)
        }
        _ => Err(NotToml { at: 0, problem: "more than one value".to_owned() }),
    }
}

/// Checks the nesting before anything is built that only recursion can drop.
fn check_nesting(text: &str) -> Result<(), NotToml> {
    let tokens = toml_parser::Source::new(text).lex().into_vec();
    let mut error: Option<toml_parser::ParseError> = None;
    let mut receiver = ();
    let mut guard = RecursionGuard::new(&mut receiver, MAX_BRACKETS);
    toml_parser::parser::parse_document(&tokens, &mut guard, &mut error);
    match error {
        Some(error) if error.description().contains("recurs") => {
            let at = error.unexpected().or(error.context()).map_or(0, |span| span.start());
            Err(NotToml {
                at,
                problem: format!("nested too deeply; expected at most {MAX_BRACKETS} brackets"),
            })
        }
        // The next step reports other errors better.
        _ => Ok(()),
    }
}

fn entries(table: &DeTable<'_>, place: &dyn Fn(usize) -> Place, depth: usize) -> Result<Vec<Entry>, NotToml> {
    let mut entries = Vec::with_capacity(table.len());
    for (key, value) in table {
        let item = item(value.get_ref(), value.span(), place, depth)?;
        entries.push((
            key.span().start,
            Entry { key: key.get_ref().to_string(), place: place(key.span().start), item },
        ));
    }
    // The library sorts by the alphabet, but the first reported mistake must be the first in the file.
    entries.sort_by_key(|(at, _)| *at);
    Ok(entries.into_iter().map(|(_, entry)| entry).collect())
}

fn item(
    value: &DeValue<'_>,
    span: Range<usize>,
    place: &dyn Fn(usize) -> Place,
    depth: usize,
) -> Result<Item, NotToml> {
    let Some(depth) = depth.checked_sub(1) else {
        let problem = format!("nested too deeply; expected at most {MAX_DEPTH} levels");
        return Err(NotToml { at: span.start, problem });
    };
    let node = match value {
        DeValue::String(text) => Node::Text(text.to_string()),
        DeValue::Integer(integer) => Node::Integer(whole(integer.as_str(), integer.radix())),
        DeValue::Float(float) => real(float.as_str()),
        DeValue::Boolean(flag) => Node::Flag(*flag),
        DeValue::Datetime(date) => Node::Date(date.to_string()),
        DeValue::Array(list) => {
            let items = list.iter().map(|value| item(value.get_ref(), value.span(), place, depth));
            Node::List(items.collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => Node::Table(entries(table, place, depth)?),
    };
    Ok(Item { place: place(span.start), node })
}

/// Reads a number of TOML with a point or an exponent. One that is too large for 64 bits is a whole number that saturates.
fn real(digits: &str) -> Node {
    let number: f64 =
        digits.parse().expect("Rust reads each number with a point or an exponent that TOML allows");
    if number.is_infinite() && !digits.contains("inf") {
        return Node::Integer(if number < 0.0 { i128::MIN } else { i128::MAX });
    }
    Node::Float(number)
}

/// Reads a whole number of TOML, and saturates at 128 bits.
fn whole(digits: &str, radix: u32) -> i128 {
    let limit = if digits.starts_with('-') { i128::MIN } else { i128::MAX };
    i128::from_str_radix(digits, radix).unwrap_or(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Item, NotToml> {
        parse(text, &Place::Document)
    }

    #[test]
    fn values_of_every_type_have_their_place() {
        let document = read("a = 0x_ff\n").err().map(|error| error.problem);
        assert!(document.is_some());
        let document =
            read("z = 'x'\na = 0xf_f\n[[t]]\nb.c = -1.5\n[t.u]\nd = [true, 1979-05-27]\n").unwrap();
        let Node::Table(entries) = &document.node else { panic!() };
        let keys: Vec<_> = entries.iter().map(|entry| (entry.key.as_str(), entry.place)).collect();
        assert_eq!(keys, [("z", Place::Document(0)), ("a", Place::Document(8)), ("t", Place::Document(20))]);
        assert_eq!(document.get("z").unwrap().node, Node::Text("x".into()));
        assert_eq!(document.get("a").unwrap().node, Node::Integer(255));
        let Node::List(tables) = &document.get("t").unwrap().node else { panic!() };
        assert_eq!(tables[0].place, Place::Document(18));
        assert_eq!(tables[0].get("b").unwrap().get("c").unwrap().node, Node::Float(-1.5));
        let Node::List(items) = &tables[0].get("u").unwrap().get("d").unwrap().node else { panic!() };
        assert_eq!((&items[0].node, &items[1].node), (&Node::Flag(true), &Node::Date("1979-05-27".into())));
        assert_eq!(items[1].place, Place::Document(52));
    }

    #[test]
    fn numbers_of_any_length_are_read() {
        let document = read(&format!("a = {0}\nb = -{0}\nc = 1e999", "9".repeat(100))).unwrap();
        assert_eq!(document.get("a").unwrap().node, Node::Integer(i128::MAX));
        assert_eq!(document.get("b").unwrap().node, Node::Integer(i128::MIN));
        // Too large for any number: saturated, as a whole number of 100 digits is.
        assert_eq!(document.get("c").unwrap().node, Node::Integer(i128::MAX));
    }

    #[test]
    fn deep_documents_are_refused_without_exhausting_the_stack() {
        let key = |count| vec!["a"; count].join(".");
        let nested = format!("{{{}=", key(79)).repeat(79) + "1" + &"}".repeat(79);
        for text in [
            format!("[{}]\n{}={nested}", key(79), key(79)),
            format!("[{}]", key(100_000)),
            format!("{} = 1", key(60)),
            format!("a = {}", "[".repeat(100_000)),
            format!("a = {}", "{a=".repeat(100_000)),
            format!("a = {}", "{a = [ } ".repeat(10_000)),
            format!("a = {}", "[[{ ] ".repeat(10_000)),
        ] {
            assert!(read(&text).is_err(), "{}", &text[..20]);
        }
        // The worst allowed combination, on the stack of a test's thread.
        let nested = format!("{{{}=", key(79)).repeat(8) + "1" + &"}".repeat(8);
        assert!(read(&format!("[{}]\n{}={nested}", key(79), key(79))).is_err());
    }

    #[test]
    fn one_value_is_one_value() {
        assert_eq!(parse_value("{ a = 1 }", Place::Set(3)).unwrap().get("a").unwrap().place, Place::Set(3));
        for text in ["", "1 Mbit/s", "1\nb = 2", "[1", "\"x", "1]\n[value2]"] {
            assert!(parse_value(text, Place::Set(0)).is_err(), "{text}");
        }
    }
}
