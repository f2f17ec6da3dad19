//! The options of the lab's components: one table row per component, one line per option.
//!
//! The scenario reader checks files against these rows, `quiclab list` prints them, the resolved scenario is written
//! from them, and components are built from the values that they accept. So no component can have an option that is
//! undocumented, unchecked, or without a visible default.

mod typed;
mod written;

pub use typed::{Accepted, Choice, Key, Options, absent, count, join, with_defaults, without};
pub use written::Unfilled;

use crate::{Duration, Rate, Size};
use std::sync::Arc;

/// The kind of value that an option accepts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A span of time: `"20 ms"`.
    Duration,
    /// A rate: `"10 Mbit/s"`.
    Rate,
    /// A number of bytes: `"64 kB"`.
    Size,
    /// The capacity of a queue: `"100 packets"`, `"64 kB"`, `"20 ms"`, `"1 BDP"` or `"unlimited"`.
    Limit,
    /// A whole number in this inclusive range.
    Integer(u64, u64),
    /// A number in this inclusive range.
    Number(f64, f64),
    /// A probability: `0.01` or `"1 %"`.
    Probability,
    /// `true` or `false`.
    Flag,
    /// Free text.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// One or more of these words, each at most once, the preferred one first: `["b", "a"]`, or as one text, `"b a"`.
    Preference(&'static [&'static str]),
    /// A file, named by a path relative to the scenario's folder. Its contents are read along with the scenario. The
    /// text is an example of contents that the option accepts.
    File(&'static str),
    /// A list of values of one kind.
    List(&'static Kind),
    /// A list of pairs: `[["0 s", "2 Mbit/s"], ...]`.
    Pairs(&'static Kind, &'static Kind),
    /// A component from the room of this name (`"controllers"`, `"losses"`, ...).
    Component(&'static str),
}

/// The value of an option that the scenario does not set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Default {
    /// The scenario must set it.
    Required,
    /// This value, written as in a scenario file (TOML): `"\"20 ms\""`, `"3"`, `"true"`.
    Is(&'static str),
    /// No value: the feature is off. The resolved scenario omits the key.
    Absent,
}

/// One option of a component.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its key in the scenario.
    pub name: &'static str,
    /// The values it accepts.
    pub kind: Kind,
    /// Its value if the scenario does not set it.
    pub default: Default,
    /// One line: its meaning and its source.
    pub about: &'static str,
}

impl Parameter {
    /// An option that every scenario must set.
    pub const fn required(name: &'static str, kind: Kind, about: &'static str) -> Parameter {
        Parameter { name, kind, default: Default::Required, about }
    }

    /// An option that has no value if the scenario does not set it.
    pub const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Parameter {
        Parameter { name, kind, default: Default::Absent, about }
    }

    /// An option with a default, written as in a scenario file.
    pub const fn with_default(
        name: &'static str,
        kind: Kind,
        default: &'static str,
        about: &'static str,
    ) -> Parameter {
        Parameter { name, kind, default: Default::Is(default), about }
    }
}

/// One component: a row of its room's table. `B` is the type of its constructor.
#[derive(Debug, Clone, Copy)]
pub struct Row<B: 'static> {
    /// Its name in a scenario.
    pub name: &'static str,
    /// One line: what it is.
    pub about: &'static str,
    /// Its options.
    pub parameters: &'static [Parameter],
    /// Its constructor.
    pub build: B,
}

impl<B> Row<B> {
    /// The row without its constructor.
    pub const fn face(&self) -> Row<()> {
        self.built_by(())
    }

    /// The row with another constructor.
    pub const fn built_by<C>(&self, build: C) -> Row<C> {
        Row { name: self.name, about: self.about, parameters: self.parameters, build }
    }
}

/// An invalid option (empty for the component itself) and a description.
pub type OptionError = (&'static str, String);

/// Checks that the options of the component with this name, each of which is valid, are consistent.
pub type Check = fn(&str, &Arguments) -> Result<(), OptionError>;

/// A room as the scenario reader and `quiclab list` see it: its rows without their constructors.
#[derive(Debug, Clone)]
pub struct Room {
    /// The name of the room: `"controllers"`.
    pub name: &'static str,
    /// One line: what its components are.
    pub about: &'static str,
    /// The components.
    pub rows: Vec<Row<()>>,
    /// The row and option that a bare value sets if it is not the name of a row. `loss = "1 %"` means `{ type =
    /// "random", probability = "1 %" }`.
    pub shorthand: Option<(&'static str, &'static str)>,
    /// The check of a component's options.
    pub check: Check,
}

impl Room {
    /// Describes a room by its table. All combinations of valid options are accepted.
    pub fn of<B>(
        name: &'static str,
        about: &'static str,
        rows: &'static [Row<B>],
        shorthand: Option<(&'static str, &'static str)>,
    ) -> Room {
        let rows = rows.iter().map(Row::face).collect();
        Room { name, about, rows, shorthand, check: |_, _| Ok(()) }
    }

    /// The room with a check of the options.
    pub fn checked_by(self, check: Check) -> Room {
        Room { check, ..self }
    }
}

/// How much a queue may hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// Unlimited. (A run that fills the queue ends with an error instead of exhausting the machine's memory.)
    Unlimited,
    /// A number of packets.
    Packets(u64),
    /// A number of bytes on the wire.
    Bytes(Size),
    /// The time the queue takes to drain at the link's rate.
    Time(Duration),
    /// A multiple, in thousandths, of the bandwidth-delay product of the link and its way back.
    BdpThousandths(u64),
}

const COUNTS: &[crate::number::Unit] = &[("packets", 1), ("packet", 1)];
const BDP: &[crate::number::Unit] = &[("BDP", 1000)];

impl Limit {
    /// Regular expressions of which one matches each text that is read as a limit, for JSON schemas.
    pub fn patterns() -> [String; 4] {
        let own = crate::number::pattern(&[COUNTS, BDP].concat());
        [r"^\s*unlimited\s*$".to_owned(), own, Size::pattern(), Duration::pattern()]
    }
}

impl std::str::FromStr for Limit {
    type Err = crate::ParseError;

    fn from_str(text: &str) -> Result<Limit, crate::ParseError> {
        const EXPECTED: &str = "a queue limit (packets, B/kB/MB, ms/s, BDP or \"unlimited\"), like \"1 BDP\"";
        if text.trim() == "unlimited" {
            return Ok(Limit::Unlimited);
        }
        if let Ok(count) = crate::number::parse(text, COUNTS, EXPECTED) {
            return Ok(Limit::Packets(count));
        }
        if let Ok(thousandths) = crate::number::parse(text, BDP, EXPECTED) {
            return Ok(Limit::BdpThousandths(thousandths));
        }
        if let Ok(size) = text.parse() {
            return Ok(Limit::Bytes(size));
        }
        match text.parse::<Duration>() {
            Ok(span) => Ok(Limit::Time(span)),
            Err(error) => Err(crate::ParseError { expected: EXPECTED, ..error }),
        }
    }
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Limit::Unlimited => f.write_str("unlimited"),
            Limit::Packets(1) => f.write_str("1 packet"),
            Limit::Packets(count) => write!(f, "{count} packets"),
            Limit::Bytes(size) => size.fmt(f),
            Limit::Time(span) => span.fmt(f),
            Limit::BdpThousandths(t) => crate::number::print(*t, &[("BDP", 1000), ("BDP", 1000)], f),
        }
    }
}

/// The contents of a file that a scenario names.
#[derive(Debug, Clone, PartialEq)]
pub struct File {
    /// Its absolute path; a scenario states it relative to its own folder.
    pub path: String,
    /// Its contents. Shared between the runs of a sweep.
    pub text: Arc<str>,
}

/// A value that was read and checked against its [`Kind`].
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// See [`Kind::Duration`].
    Duration(Duration),
    /// See [`Kind::Rate`].
    Rate(Rate),
    /// See [`Kind::Size`].
    Size(Size),
    /// See [`Kind::Limit`].
    Limit(Limit),
    /// See [`Kind::Integer`].
    Integer(u64),
    /// See [`Kind::Number`]; also [`Kind::Probability`], as a fraction of one.
    Number(f64),
    /// See [`Kind::Flag`].
    Flag(bool),
    /// See [`Kind::Text`]; also [`Kind::Choice`].
    Text(String),
    /// See [`Kind::File`].
    File(File),
    /// See [`Kind::List`] and [`Kind::Preference`]; a pair is a list of two.
    List(Vec<Value>),
    /// See [`Kind::Component`].
    Component(Component),
}

/// A component as a scenario selects it: the row and the values of its options.
#[derive(Debug, Clone, PartialEq)]
pub struct Component {
    /// The name of the room.
    pub room: &'static str,
    /// The name of the row.
    pub name: &'static str,
    /// The values, one per parameter that is not absent.
    pub arguments: Arguments,
}

/// The name of the row by which a room says that there is none of what it is about: no loss, no jitter.
pub const NONE: &str = "none";

impl Component {
    /// Whether it says that there is none of what its room is about.
    pub fn is_none(&self) -> bool {
        self.name == NONE
    }
}

/// The checked options of one component, with defaults filled in.
///
/// The getters panic on a name that the row does not declare, or declares with another kind. That is a mistake in the
/// row's own file; the test that builds every row of every table with its defaults finds it.
#[derive(Debug, Clone, PartialEq, std::default::Default)]
pub struct Arguments(pub Vec<(&'static str, Value)>);

macro_rules! getters {
    ($($(#[$doc:meta])* $name:ident, $variant:ident, $type:ty;)*) => {$(
        $(#[$doc])*
        pub fn $name(&self, name: &str) -> $type {
            match self.get(name) {
                Some(Value::$variant(value)) => value.clone(),
                other => panic!("option {name:?} is declared otherwise: {other:?}"),
            }
        }
    )*};
}

impl Arguments {
    /// The value of an option; `None` if it is absent.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }
    /// These values, and those of `other` for all options that they lack.
    pub fn over(&self, other: &Arguments) -> Arguments {
        let lacking = other.0.iter().filter(|(name, _)| !self.has(name));
        Arguments(self.0.iter().chain(lacking).cloned().collect())
    }
    /// Whether an option with [`Default::Absent`] was given.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }
    getters! {
        /// A duration.
        duration, Duration, Duration;
        /// A rate.
        rate, Rate, Rate;
        /// A size.
        size, Size, Size;
        /// A queue limit.
        limit, Limit, Limit;
        /// A whole number.
        integer, Integer, u64;
        /// A number or a probability.
        number, Number, f64;
        /// A flag.
        flag, Flag, bool;
        /// A text or a choice.
        text, Text, String;
        /// A file.
        file, File, File;
        /// A list.
        list, List, Vec<Value>;
        /// A component.
        component, Component, Component;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_name_every_unit() {
        assert_eq!(crate::Rate::pattern().matches("bit/s").count(), 5);
        assert!(Duration::pattern().contains("(h|min|s|ms|us|µs|ns)"));
        assert!(Limit::patterns()[1].contains("(packets|packet|BDP)"));
    }

    #[test]
    fn limits_in_every_unit() {
        for (text, limit) in [
            ("23 packets", Limit::Packets(23)),
            ("64 kB", Limit::Bytes(Size::from_bytes(64_000))),
            ("20 ms", Limit::Time(Duration::from_millis(20))),
            ("1.5 BDP", Limit::BdpThousandths(1500)),
            ("0.25 BDP", Limit::BdpThousandths(250)),
            ("unlimited", Limit::Unlimited),
        ] {
            assert_eq!(text.parse::<Limit>().unwrap(), limit);
            assert_eq!(limit.to_string().parse::<Limit>().unwrap(), limit, "{limit}");
        }
        assert_eq!("12".parse::<Limit>().unwrap_err().problem, "the unit is missing");
    }
}
