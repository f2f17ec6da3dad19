//! Reads options from text, as scenarios and the defaults of tables spell them, for callers without a scenario.

use super::{Arguments, Component, Default, Kind, Parameter, Room, Value};
use std::fmt;

/// Why options cannot be completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfilled {
    /// The option.
    pub option: String,
    /// What is wrong with it.
    pub problem: &'static str,
}

impl fmt::Display for Unfilled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "option {:?}: {}", self.option, self.problem)
    }
}

impl std::error::Error for Unfilled {}

impl Kind {
    /// Reads a value of this kind from its TOML text; quotation marks may be omitted. Components are looked up in
    /// `rooms` and get their default options. Returns `None` if the text is not such a value. Ranges of numbers and
    /// the words of a choice or a preference are not checked; a [`Kind::File`] is never read, nor a text with escapes.
    pub fn read(&self, text: &str, rooms: &[Room]) -> Option<Value> {
        let bare = text.trim().trim_matches('"');
        match self {
            Kind::Duration => bare.parse().ok().map(Value::Duration),
            Kind::Rate => bare.parse().ok().map(Value::Rate),
            Kind::Size => bare.parse().ok().map(Value::Size),
            Kind::Limit => bare.parse().ok().map(Value::Limit),
            Kind::Integer(..) => bare.parse().ok().map(Value::Integer),
            // The sum turns -0 into 0, so that equal scenarios are written alike.
            Kind::Number(..) => bare.parse().ok().map(|number: f64| Value::Number(number + 0.0)),
            Kind::Probability => match bare.strip_suffix('%') {
                Some(percent) => percent.trim().parse::<f64>().ok().map(|n| Value::Number(n / 100.0)),
                None => bare.parse().ok().map(Value::Number),
            },
            Kind::Flag => bare.parse().ok().map(Value::Flag),
            Kind::Text if bare.contains('\\') => None,
            Kind::Text | Kind::Choice(_) => Some(Value::Text(bare.to_owned())),
            Kind::Preference(_) => {
                let words = items(text).unwrap_or_else(|| bare.split_whitespace().collect());
                let word = |word: &str| Value::Text(word.trim_matches('"').to_owned());
                Some(Value::List(words.into_iter().map(word).collect()))
            }
            Kind::List(kind) => items(text)?
                .into_iter()
                .map(|item| kind.read(item, rooms))
                .collect::<Option<_>>()
                .map(Value::List),
            Kind::Pairs(first, second) => {
                let pair = |item| match items(item)?[..] {
                    [a, b] => Some(Value::List(vec![first.read(a, rooms)?, second.read(b, rooms)?])),
                    _ => None,
                };
                items(text)?.into_iter().map(pair).collect::<Option<_>>().map(Value::List)
            }
            Kind::Component(room) => {
                let room = rooms.iter().find(|known| known.name == *room)?;
                let row = room.rows.iter().find(|row| row.name == bare)?;
                let arguments = Arguments::filled(row.parameters, &[], rooms).ok()?;
                Some(Value::Component(Component { room: room.name, name: row.name, arguments }))
            }
            Kind::File(_) => None,
        }
    }
}

/// The items of a list, each as written.
fn items(text: &str) -> Option<Vec<&str>> {
    let inner = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    let (mut depth, mut quoted) = (0, false);
    let items = inner.split(|c| {
        quoted ^= c == '"';
        depth += i32::from(c == '[' && !quoted) - i32::from(c == ']' && !quoted);
        c == ',' && depth == 0 && !quoted
    });
    Some(items.map(str::trim).filter(|item| !item.is_empty()).collect())
}

impl Parameter {
    /// The default value; `None` if the option is required or absent by default. Components are looked up in `rooms`.
    pub fn default_value(&self, rooms: &[Room]) -> Option<Value> {
        match self.default {
            Default::Is(text) => self.kind.read(text, rooms),
            Default::Required | Default::Absent => None,
        }
    }
}

impl Arguments {
    /// The options of a table in its order: the given values, and defaults for the rest. Components are looked up in
    /// `rooms`.
    ///
    /// # Errors
    /// If a name is not an option of the table, or an option has neither a value nor a default.
    pub fn filled(
        parameters: &[Parameter],
        given: &[(&str, Value)],
        rooms: &[Room],
    ) -> Result<Arguments, Unfilled> {
        let unknown = given.iter().find(|(name, _)| parameters.iter().all(|row| row.name != *name));
        if let Some((name, _)) = unknown {
            return Err(Unfilled { option: (*name).to_owned(), problem: "there is none of this name" });
        }
        let mut arguments = Arguments::default();
        for row in parameters {
            let chosen = given.iter().find(|(name, _)| *name == row.name).map(|(_, value)| value.clone());
            match chosen.or_else(|| row.default_value(rooms)) {
                Some(value) => arguments.0.push((row.name, value)),
                None if row.default == Default::Absent => {}
                None => return Err(Unfilled { option: row.name.to_owned(), problem: "it has no value" }),
            }
        }
        Ok(arguments)
    }

    /// Like [`Arguments::filled`], with the values given as text.
    ///
    /// # Errors
    /// Those of [`Arguments::filled`], or if a text is not a value of its option.
    pub fn written(
        parameters: &[Parameter],
        given: &[(&str, &str)],
        rooms: &[Room],
    ) -> Result<Arguments, Unfilled> {
        let read = |(name, text): &(&'_ str, &str)| {
            let error = |problem| Unfilled { option: (*name).to_owned(), problem };
            let row = parameters.iter().find(|row| row.name == *name);
            let row = row.ok_or_else(|| error("there is none of this name"))?;
            Ok((row.name, row.kind.read(text, rooms).ok_or_else(|| error("this is no value of it"))?))
        };
        let values = given.iter().map(read).collect::<Result<Vec<_>, Unfilled>>()?;
        Arguments::filled(parameters, &values, rooms)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Limit, Row};
    use super::*;
    use crate::{Duration, Rate, Size};

    static ROWS: &[Row<()>] = &[Row {
        name: "slow",
        about: "",
        parameters: &[Parameter {
            name: "wait",
            kind: Kind::Duration,
            default: Default::Is("\"20 ms\""),
            about: "",
        }],
        build: (),
    }];

    fn rooms() -> Vec<Room> {
        vec![Room::of("speeds", "", ROWS, None)]
    }
    fn row(name: &'static str, kind: Kind, default: Default) -> Parameter {
        Parameter { name, kind, default, about: "" }
    }
    fn slow() -> Value {
        let wait = Value::Duration(Duration::from_millis(20));
        Value::Component(Component {
            room: "speeds",
            name: "slow",
            arguments: Arguments(vec![("wait", wait)]),
        })
    }

    #[test]
    fn a_value_of_each_kind() {
        let ms = |ms| Value::Duration(Duration::from_millis(ms));
        let words =
            |words: &[&str]| Value::List(words.iter().map(|word| Value::Text((*word).to_owned())).collect());
        let rate = |mbit: u64| Value::Rate(Rate::from_bits_per_sec(mbit * 1_000_000));
        for (kind, text, value) in [
            (Kind::Duration, "\"20 ms\"", ms(20)),
            (Kind::Rate, "\"2 Mbit/s\"", rate(2)),
            (Kind::Size, "64 kB", Value::Size(Size::from_bytes(64_000))),
            (Kind::Limit, "\"7 packets\"", Value::Limit(Limit::Packets(7))),
            (Kind::Integer(0, 9), "3", Value::Integer(3)),
            (Kind::Number(0.0, 1.0), "0.5", Value::Number(0.5)),
            (Kind::Probability, "\"1 %\"", Value::Number(0.01)),
            (Kind::Probability, "0.25", Value::Number(0.25)),
            (Kind::Flag, "true", Value::Flag(true)),
            (Kind::Text, "\"a, b\"", Value::Text("a, b".to_owned())),
            (Kind::Choice(&["x"]), "x", Value::Text("x".to_owned())),
            (Kind::List(&Kind::Duration), "[\"1 ms\", \"2 ms\"]", Value::List(vec![ms(1), ms(2)])),
            (Kind::List(&Kind::Text), "[]", Value::List(vec![])),
            (Kind::Preference(&["x", "y"]), "[\"y\", \"x\"]", words(&["y", "x"])),
            (Kind::Preference(&["x", "y"]), "\"y x\"", words(&["y", "x"])),
            (Kind::Number(-1.0, 1.0), "-0.0", Value::Number(0.0)),
            (
                Kind::List(&Kind::List(&Kind::Text)),
                "[[\"a,]\"], []]",
                Value::List(vec![Value::List(vec![Value::Text("a,]".to_owned())]), Value::List(vec![])]),
            ),
            (
                Kind::Pairs(&Kind::Duration, &Kind::Rate),
                "[[\"0 s\", \"2 Mbit/s\"]]",
                Value::List(vec![Value::List(vec![ms(0), rate(2)])]),
            ),
            (Kind::Component("speeds"), "\"slow\"", slow()),
        ] {
            assert_eq!(kind.read(text, &rooms()), Some(value), "{kind:?} {text}");
        }
        for (kind, text) in [
            (Kind::Duration, "20"),
            (Kind::Integer(0, 9), "-1"),
            (Kind::Flag, "yes"),
            (Kind::Text, "\"a\\\"b\""),
            (Kind::List(&Kind::Duration), "1 ms"),
            (Kind::List(&Kind::Duration), "[1]"),
            (Kind::Pairs(&Kind::Duration, &Kind::Rate), "[[\"0 s\"]]"),
            (Kind::Component("speeds"), "fast"),
            (Kind::Component("colours"), "slow"),
            (Kind::File(""), "\"trace\""),
        ] {
            assert_eq!(kind.read(text, &rooms()), None, "{kind:?} {text}");
        }
    }

    #[test]
    fn given_values_override_defaults() {
        let table = [
            row("speed", Kind::Component("speeds"), Default::Is("\"slow\"")),
            row("count", Kind::Integer(0, 9), Default::Is("3")),
            row("extra", Kind::Flag, Default::Absent),
        ];
        let filled = |given: &[(&str, Value)]| Arguments::filled(&table, given, &rooms());
        assert_eq!(filled(&[]).unwrap().0, [("speed", slow()), ("count", Value::Integer(3))]);
        let given = [("extra", Value::Flag(true)), ("count", Value::Integer(5))];
        let all = [("speed", slow()), ("count", Value::Integer(5)), ("extra", Value::Flag(true))];
        assert_eq!(filled(&given).unwrap().0, all);
        let written = Arguments::written(&table, &[("extra", "true"), ("count", "5")], &rooms());
        assert_eq!(written.unwrap().0, all);
    }

    #[test]
    fn errors_name_the_option() {
        let table = [row("count", Kind::Integer(0, 9), Default::Required)];
        let message = |result: Result<Arguments, Unfilled>| result.unwrap_err().to_string();
        assert_eq!(message(Arguments::filled(&table, &[], &[])), "option \"count\": it has no value");
        let other = ("colour", Value::Flag(true));
        assert_eq!(
            message(Arguments::filled(&table, &[other], &[])),
            "option \"colour\": there is none of this name"
        );
        for (given, problem) in [
            (("count", "many"), "option \"count\": this is no value of it"),
            (("colour", "1"), "option \"colour\": there is none of this name"),
        ] {
            assert_eq!(message(Arguments::written(&table, &[given], &[])), problem);
        }
        // A default is useless without its room.
        let table = [row("speed", Kind::Component("speeds"), Default::Is("\"slow\""))];
        assert_eq!(message(Arguments::filled(&table, &[], &[])), "option \"speed\": it has no value");
    }
}
