//! Options as the fields of a struct: the table is derived from it, and so is what reads the values.

use super::{Arguments, Component, Default, File, Kind, Limit, Parameter, Unfilled, Value};
use crate::{Duration, Rate, Size};
use std::marker::PhantomData;

/// Derives the table of options, and its reader, from a struct: see the documentation of the crate `options`.
pub use options::{Choice, Options};

/// A struct whose fields are the options of a component. Implemented by `#[derive(Options)]`.
pub trait Options: Sized {
    /// The table: one option for each field, in their order.
    const PARAMETERS: &'static [Parameter];

    /// The values.
    ///
    /// # Panics
    /// If the arguments were not read by [`Options::PARAMETERS`], or by a table that contains it.
    fn of(arguments: &Arguments) -> Self;

    /// The options with these values, spelled as in a scenario, and defaults for the rest. Components cannot be
    /// given.
    ///
    /// # Errors
    /// If a name is not an option, a text is not a value of it, or a required option is not given.
    fn written(given: &[(&str, &str)]) -> Result<Self, Unfilled> {
        Arguments::written(Self::PARAMETERS, given, &[]).map(|arguments| Self::of(&arguments))
    }
}

/// An enum whose variants are the words of an option. Implemented by `#[derive(Choice)]`.
pub trait Choice: Sized {
    /// The words, in the order of the variants.
    const WORDS: &'static [&'static str];

    /// The variant of a word.
    fn of_word(word: &str) -> Option<Self>;

    /// The word of the variant.
    fn word(&self) -> &'static str;
}

/// A type of the values of options.
pub trait Accepted: Sized {
    /// What a scenario may write.
    const KIND: Kind;

    /// The value; `None` if it is of another kind.
    fn accept(value: &Value) -> Option<Self>;
}

/// The name of an option, with the type of its values. `#[derive(Options)]` makes one for each field: the option `limit` of
/// `FifoOptions` has the key `FifoOptions::LIMIT`.
pub struct Key<T> {
    /// The name.
    pub name: &'static str,
    of: PhantomData<fn() -> T>,
}

impl<T> Key<T> {
    /// The key of an option, for derived code.
    pub const fn new(name: &'static str) -> Key<T> {
        Key { name, of: PhantomData }
    }
}

impl<T> Clone for Key<T> {
    fn clone(&self) -> Key<T> {
        *self
    }
}

impl<T> Copy for Key<T> {}

impl<T> std::fmt::Debug for Key<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.name.fmt(f)
    }
}

macro_rules! accepted {
    ($($of:ty, $kind:expr, $pattern:pat => $value:expr;)*) => {$(
        impl Accepted for $of {
            const KIND: Kind = $kind;
            fn accept(value: &Value) -> Option<$of> {
                match value {
                    $pattern => $value,
                    _ => None,
                }
            }
        }
    )*};
}

accepted! {
    Duration, Kind::Duration, Value::Duration(value) => Some(*value);
    Rate, Kind::Rate, Value::Rate(value) => Some(*value);
    Size, Kind::Size, Value::Size(value) => Some(*value);
    Limit, Kind::Limit, Value::Limit(value) => Some(*value);
    f64, Kind::Number(f64::MIN, f64::MAX), Value::Number(value) => Some(*value);
    bool, Kind::Flag, Value::Flag(value) => Some(*value);
    String, Kind::Text, Value::Text(value) => Some(value.clone());
    // Of a file without an example, and of a component without a room, there is no kind: their attributes state it.
    File, Kind::File(""), Value::File(value) => Some(value.clone());
    Component, Kind::Component(""), Value::Component(value) => Some(value.clone());
    u64, Kind::Integer(0, u64::MAX), Value::Integer(value) => Some(*value);
    u32, Kind::Integer(0, u32::MAX as u64), Value::Integer(value) => (*value).try_into().ok();
    u16, Kind::Integer(0, u16::MAX as u64), Value::Integer(value) => (*value).try_into().ok();
    u8, Kind::Integer(0, u8::MAX as u64), Value::Integer(value) => (*value).try_into().ok();
    usize, Kind::Integer(0, usize::MAX as u64), Value::Integer(value) => (*value).try_into().ok();
}

impl<T: Accepted> Accepted for Vec<T> {
    const KIND: Kind = Kind::List(&T::KIND);
    fn accept(value: &Value) -> Option<Vec<T>> {
        match value {
            Value::List(values) => values.iter().map(T::accept).collect(),
            _ => None,
        }
    }
}

impl<A: Accepted, B: Accepted> Accepted for (A, B) {
    const KIND: Kind = Kind::Pairs(&A::KIND, &B::KIND);
    fn accept(value: &Value) -> Option<(A, B)> {
        match value {
            Value::List(pair) => match &pair[..] {
                [a, b] => Some((A::accept(a)?, B::accept(b)?)),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Arguments {
    /// The value of one option; `None` if it is absent.
    ///
    /// # Panics
    /// If the arguments were read by a table in which the option of this name has another type.
    pub fn given<T: Accepted>(&self, key: Key<T>) -> Option<T> {
        self.accepted(key.name)
    }

    /// The component that one option selects; `None` if it is absent.
    ///
    /// # Panics
    /// Like [`Arguments::given`].
    pub fn chosen(&self, key: Key<Component>) -> Option<&Component> {
        match self.get(key.name)? {
            Value::Component(component) => Some(component),
            other => panic!("option {:?} was read as {other:?}, and is declared as a component", key.name),
        }
    }

    /// The value of one option that is never absent.
    ///
    /// # Panics
    /// Like [`Arguments::given`], and if there is no value.
    pub fn value<T: Accepted>(&self, key: Key<T>) -> T {
        self.required(key.name)
    }

    /// The value of an option, for a reader that was derived; `None` if it is absent.
    ///
    /// # Panics
    /// If the value is not one of the type: it was read by another table than that of the type.
    pub fn accepted<T: Accepted>(&self, name: &str) -> Option<T> {
        let value = self.get(name)?;
        let Some(accepted) = T::accept(value) else {
            panic!("option {name:?} was read as {:?}, and is declared as {:?}", value, T::KIND)
        };
        Some(accepted)
    }

    /// The value of an option that is never absent, for a reader that was derived.
    ///
    /// # Panics
    /// Like [`Arguments::accepted`], and if there is no value: each row is read with all that is required, and with
    /// its defaults.
    pub fn required<T: Accepted>(&self, name: &str) -> T {
        self.accepted(name).unwrap_or_else(|| panic!("option {name:?} was read without a value: {self:?}"))
    }
}

impl Arguments {
    /// The arguments, and fixed values of options that they leave out, for a reader that was derived.
    pub fn with_fixed(&self, table: &[Parameter], fixed: &[(&str, &str)]) -> Arguments {
        let value = |(name, text): &(&str, &str)| {
            let row = table.iter().find(|row| row.name == *name).expect("an option of the group");
            (row.name, row.kind.read(text, &[]).expect("a fixed value is one of its option"))
        };
        Arguments(self.0.iter().cloned().chain(fixed.iter().map(value)).collect())
    }
}

/// The number of options in these tables.
pub const fn count(parts: &[&[Parameter]]) -> usize {
    let (mut sum, mut i) = (0, 0);
    while i < parts.len() {
        sum += parts[i].len();
        i += 1;
    }
    sum
}

/// These tables one after another. Does not compile if two options have one name.
pub const fn join<const N: usize>(parts: &[&[Parameter]]) -> [Parameter; N] {
    let mut all = [Parameter::required("", Kind::Flag, ""); N];
    let (mut filled, mut i) = (0, 0);
    while i < parts.len() {
        let mut k = 0;
        while k < parts[i].len() {
            assert!(position(&all, parts[i][k].name).is_none(), "two options have one name");
            all[filled] = parts[i][k];
            filled += 1;
            k += 1;
        }
        i += 1;
    }
    assert!(filled == N, "N is the sum of the lengths");
    all
}

/// The table with other defaults for some options. Does not compile if it lacks one of them.
pub const fn with_defaults<const N: usize>(
    table: &[Parameter],
    defaults: &[(&'static str, &'static str)],
) -> [Parameter; N] {
    let mut all: [Parameter; N] = join(&[table]);
    let mut i = 0;
    while i < defaults.len() {
        let at = position(&all, defaults[i].0).expect("an option of the group");
        all[at].default = Default::Is(defaults[i].1);
        i += 1;
    }
    all
}

/// The table without the options of these names. Does not compile if it lacks one of them.
pub const fn without<const N: usize>(table: &[Parameter], fixed: &[(&str, &str)]) -> [Parameter; N] {
    let mut left = [Parameter::required("", Kind::Flag, ""); N];
    let (mut filled, mut i) = (0, 0);
    while i < table.len() {
        let (mut k, mut stays) = (0, true);
        while k < fixed.len() {
            stays = stays && !equal(fixed[k].0, table[i].name);
            k += 1;
        }
        if stays {
            left[filled] = table[i];
            filled += 1;
        }
        i += 1;
    }
    assert!(filled == N, "each fixed option is in the table");
    left
}

/// The table with no option that must be given, and no default: what may differ from other values.
pub const fn absent<const N: usize>(table: &[Parameter]) -> [Parameter; N] {
    let mut all: [Parameter; N] = join(&[table]);
    let mut i = 0;
    while i < N {
        all[i].default = Default::Absent;
        i += 1;
    }
    all
}

const fn position(table: &[Parameter], name: &str) -> Option<usize> {
    let mut i = 0;
    while i < table.len() {
        if equal(table[i].name, name) {
            return Some(i);
        }
        i += 1;
    }
    None
}

/// What `a == b` means; operators of traits are not constant yet.
const fn equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Copy, PartialEq, Choice)]
    enum Estimate {
        DepartureRate,
        #[word("by time")]
        Timestamp,
    }

    #[derive(Debug, PartialEq, Options)]
    struct Group {
        /// gain of the pacer
        #[option(default = 2.0, within = 1.0..=100.0)]
        gain: f64,
        /// whether there is one
        #[option(default = true)]
        pacing: bool,
    }

    #[derive(Debug, PartialEq, Options)]
    struct Own {
        /// bytes of a packet
        #[option(within = 1..=LARGEST)]
        size: u16,
        /// target delay,
        /// over two lines
        #[option(default = "15 ms")]
        target: Duration,
        #[options(gain = 1.25)]
        group: Group,
        /// packets per acknowledgement
        #[option(name = "ack_ratio", within = 1..=10)]
        ratio: Option<u64>,
        /// how the delay is estimated
        #[option(default = "departure-rate")]
        estimate: Estimate,
        /// shares over time
        #[option(default = [], probability)]
        shares: Vec<(Duration, f64)>,
        /// where it comes from
        #[option(room = "sources")]
        source: Option<Component>,
        /// a record
        #[option(example = "1\n2\n")]
        file: Option<File>,
        #[option(skip)]
        for_tests: bool,
    }
    const LARGEST: u64 = 1500;

    #[test]
    fn a_struct_is_a_table() {
        let faces: Vec<_> = Own::PARAMETERS.iter().map(|row| (row.name, row.kind, row.default)).collect();
        assert_eq!(
            faces,
            [
                ("size", Kind::Integer(1, 1500), Default::Required),
                ("target", Kind::Duration, Default::Is("\"15 ms\"")),
                ("gain", Kind::Number(1.0, 100.0), Default::Is("1.25")),
                ("pacing", Kind::Flag, Default::Is("true")),
                ("ack_ratio", Kind::Integer(1, 10), Default::Absent),
                ("estimate", Kind::Choice(&["departure-rate", "by time"]), Default::Is("\"departure-rate\"")),
                ("shares", Kind::Pairs(&Kind::Duration, &Kind::Probability), Default::Is("[]")),
                ("source", Kind::Component("sources"), Default::Absent),
                ("file", Kind::File("1\n2\n"), Default::Absent),
            ]
        );
        assert_eq!(Own::PARAMETERS[1].about, "target delay, over two lines");
        assert_eq!(Group::PARAMETERS[0].default, Default::Is("2.0"));
    }

    #[test]
    fn values_are_read_by_the_table() {
        let given =
            [("size", "1200"), ("estimate", "by time"), ("shares", "[[\"1 s\", 0.5]]"), ("ack_ratio", "3")];
        let own = Own::written(&given).unwrap();
        let expected = Own {
            size: 1200,
            target: Duration::from_millis(15),
            group: Group { gain: 1.25, pacing: true },
            ratio: Some(3),
            estimate: Estimate::Timestamp,
            shares: vec![(Duration::from_secs(1), 0.5)],
            source: None,
            file: None,
            for_tests: false,
        };
        assert_eq!(own, expected);
        assert_eq!(own.estimate.word(), "by time");
    }

    #[derive(Debug, PartialEq, Options)]
    struct Fixed {
        #[options(gain = 1.5, fixed(pacing = false))]
        group: Group,
    }

    #[test]
    fn a_fixed_option_is_not_in_the_table() {
        let faces: Vec<_> = Fixed::PARAMETERS.iter().map(|row| (row.name, row.default)).collect();
        assert_eq!(faces, [("gain", Default::Is("1.5"))]);
        let group = Group { gain: 3.0, pacing: false };
        assert_eq!(Fixed::written(&[("gain", "3")]).unwrap(), Fixed { group });
        let absent: [Parameter; 1] = absent(Fixed::PARAMETERS);
        assert_eq!((absent[0].name, absent[0].default), ("gain", Default::Absent));
    }

    #[test]
    fn each_option_has_a_key() {
        let arguments = Arguments(vec![("size", Value::Integer(7)), ("gain", Value::Number(2.5))]);
        assert_eq!((arguments.value(Own::SIZE), arguments.value(Group::GAIN)), (7, 2.5));
        assert_eq!((arguments.given(Own::RATIO), Own::RATIO.name), (None, "ack_ratio"));
    }

    #[test]
    #[should_panic(expected = "option \"gain\" was read as Flag(true), and is declared as")]
    fn values_of_another_table_stop() {
        Group::of(&Arguments(vec![("gain", Value::Flag(true))]));
    }

    #[test]
    #[should_panic(expected = "option \"size\" was read without a value")]
    fn missing_values_stop() {
        Own::of(&Arguments::default());
    }
}
