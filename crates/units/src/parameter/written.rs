//! Options out of texts, as they stand in a scenario and in the tables' defaults: for all who have no scenario to read.

use super::{Arguments, Component, Default, Kind, Parameter, Room, Value};
use std::fmt;

/// Why options cannot be filled in.
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
    /// A value of this kind out of its text in TOML; the quotation marks may be missing. Components come from these rooms,
    /// with their options as they are by default. `None` for what is no such value. Whether a number is between the
    /// kind's bounds and a word among its words is not looked at; a [`Kind::File`] is never read.
    pub fn read(&self, text: &str, rooms: &[Room]) -> Option<Value> {
        let bare = text.trim().trim_matches('"');
        match self {
            Kind::Duration => bare.parse().ok().map(Value::Duration),
            Kind::Rate => bare.parse().ok().map(Value::Rate),
            Kind::Size => bare.parse().ok().map(Value::Size),
            Kind::Limit => bare.parse().ok().map(Value::Limit),
            Kind::Integer(..) => bare.parse().ok().map(Value::Integer),
            Kind::Number(..) => bare.parse().ok().map(Value::Number),
            Kind::Probability => match bare.strip_suffix('%') {
                Some(percent) => percent.trim().parse::<f64>().ok().map(|n| Value::Number(n / 100.0)),
                None => bare.parse().ok().map(Value::Number),
            },
            Kind::Flag => bare.parse().ok().map(Value::Flag),
            Kind::Text | Kind::Choice(_) => Some(Value::Text(bare.to_owned())),
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

/// The items of a list, each as it is written.
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
    /// What it is by default; `None` where the scenario must say or the default is nothing. Components come from these
    /// rooms.
    pub fn default_value(&self, rooms: &[Room]) -> Option<Value> {
        match self.default {
            Default::Is(text) => self.kind.read(text, rooms),
            Default::Required | Default::Absent => None,
        }
    }
}

impl Arguments {
    /// The options of a table: those given, and the defaults of all others, in the order of the table. Components come from
    /// these rooms.
    ///
    /// # Errors
    /// For a name that is no option of the table, and an option that has neither a value nor a default.
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

    /// The same, with what is given as text.
    ///
    /// # Errors
    /// Those of [`Arguments::filled`], and for a text that is no value of its option.
    pub fn written(
        parameters: &[Parameter],
        given: &[(&str, &str)],
        rooms: &[Room],
    ) -> Result<Arguments, Unfilled> {
        let read = |(name, text): &(&'_ str, &str)| {
            let unfilled = |problem| Unfilled { option: (*name).to_owned(), problem };
            let row = parameters.iter().find(|row| row.name == *name);
            let row = row.ok_or_else(|| unfilled("there is none of this name"))?;
            Ok((row.name, row.kind.read(text, rooms).ok_or_else(|| unfilled("this is no value of it"))?))
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
    fn what_is_given_stands_in_the_place_of_the_default() {
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
    fn what_cannot_be_filled_in_is_named() {
        let table = [row("count", Kind::Integer(0, 9), Default::Required)];
        let told = |result: Result<Arguments, Unfilled>| result.unwrap_err().to_string();
        assert_eq!(told(Arguments::filled(&table, &[], &[])), "option \"count\": it has no value");
        let other = ("colour", Value::Flag(true));
        assert_eq!(
            told(Arguments::filled(&table, &[other], &[])),
            "option \"colour\": there is none of this name"
        );
        for (given, problem) in [
            (("count", "many"), "option \"count\": this is no value of it"),
            (("colour", "1"), "option \"colour\": there is none of this name"),
        ] {
            assert_eq!(told(Arguments::written(&table, &[given], &[])), problem);
        }
        // A default without its room is no value either.
        let table = [row("speed", Kind::Component("speeds"), Default::Is("\"slow\""))];
        assert_eq!(told(Arguments::filled(&table, &[], &[])), "option \"speed\": it has no value");
    }
}
