//! Values of a sweep as numbers with units, for ranges and for columns of tables.

use super::files;
use super::tree::{Item, Node};
use std::path::Path;
use units::parameter::Limit;
use units::{Duration, Rate, Size};

/// A number with its unit, in the smallest unit of a scenario.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Quantity {
    /// A whole number without a unit.
    Whole(i128),
    /// A number with a point, or a percentage as a fraction of one.
    Number(f64),
    /// Nanoseconds.
    Duration(u64),
    /// Bits per second.
    Rate(u64),
    /// Bytes.
    Size(u64),
    /// Packets of a queue.
    Packets(u64),
    /// Thousandths of a bandwidth-delay product.
    Bdp(u64),
}

/// The unit of a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Whole numbers without a unit.
    Whole,
    /// Numbers without a unit.
    Number,
    /// Durations.
    Milliseconds,
    /// Rates, 10^6 bit/s.
    Mbps,
    /// Sizes.
    Bytes,
    /// Capacities of queues in packets.
    Packets,
    /// Capacities of queues in bandwidth-delay products.
    Bdp,
}

impl Unit {
    /// The end of a column's name: `_ms`; empty for numbers without a unit.
    pub const fn suffix(self) -> &'static str {
        match self {
            Unit::Whole | Unit::Number => "",
            Unit::Milliseconds => "_ms",
            Unit::Mbps => "_mbps",
            Unit::Bytes => "_bytes",
            Unit::Packets => "_packets",
            Unit::Bdp => "_bdp",
        }
    }
}

/// Reads a text as a number with its unit: seconds (`s`), bits per second (`bit/s`), bytes (`B`), `packets` or
/// bandwidth-delay products (`BDP`). A percentage is a fraction of one without a unit. `None` if it is none of these.
pub fn quantity(text: &str) -> Option<(f64, &'static str)> {
    let quantity = Quantity::of_text(text)?;
    let count = quantity.count();
    Some(match quantity {
        Quantity::Whole(_) | Quantity::Number(_) => (count, ""),
        Quantity::Duration(_) => (count / 1e9, "s"),
        Quantity::Rate(_) => (count, "bit/s"),
        Quantity::Size(_) => (count, "B"),
        Quantity::Packets(_) => (count, "packets"),
        Quantity::Bdp(_) => (count / 1e3, "BDP"),
    })
}

impl Quantity {
    /// Reads a value; `None` if it is no quantity.
    pub(super) fn read(item: &Item) -> Option<Quantity> {
        match &item.node {
            Node::Integer(value) => Some(Quantity::Whole(*value)),
            Node::Float(value) if value.is_finite() => Some(Quantity::Number(*value)),
            Node::Text(text) => Quantity::of_text(text),
            _ => None,
        }
    }

    fn of_text(text: &str) -> Option<Quantity> {
        if let Some(percent) = text.trim().strip_suffix('%') {
            let percent: f64 = percent.trim().parse().ok()?;
            return percent.is_finite().then(|| Quantity::Number(short(percent / 100.0, FRACTION_DIGITS)));
        }
        if let Ok(rate) = text.parse::<Rate>() {
            return Some(Quantity::Rate(rate.as_bits_per_sec()));
        }
        match text.parse::<Limit>().ok()? {
            Limit::Time(span) => Some(Quantity::Duration(span.as_nanos())),
            Limit::Bytes(size) => Some(Quantity::Size(size.as_bytes())),
            Limit::Packets(count) => Some(Quantity::Packets(count)),
            Limit::BdpThousandths(thousandths) => Some(Quantity::Bdp(thousandths)),
            Limit::Unlimited => None,
        }
    }

    /// Its unit.
    pub(super) fn unit(self) -> Unit {
        match self {
            Quantity::Whole(_) => Unit::Whole,
            Quantity::Number(_) => Unit::Number,
            Quantity::Duration(_) => Unit::Milliseconds,
            Quantity::Rate(_) => Unit::Mbps,
            Quantity::Size(_) => Unit::Bytes,
            Quantity::Packets(_) => Unit::Packets,
            Quantity::Bdp(_) => Unit::Bdp,
        }
    }

    /// Its value in the smallest unit.
    pub(super) fn count(self) -> f64 {
        match self {
            Quantity::Whole(value) => value as f64,
            Quantity::Number(value) => value,
            Quantity::Duration(n)
            | Quantity::Rate(n)
            | Quantity::Size(n)
            | Quantity::Packets(n)
            | Quantity::Bdp(n) => n as f64,
        }
    }

    /// Its value in its [`Unit`].
    pub(super) fn value(self) -> f64 {
        match self {
            Quantity::Duration(n) | Quantity::Rate(n) => n as f64 / 1e6,
            Quantity::Bdp(n) => n as f64 / 1e3,
            other => other.count(),
        }
    }

    /// The quantity with this value in the same smallest unit.
    pub(super) fn with_count(self, count: f64) -> Quantity {
        // The conversion to an integer saturates; the reader of the option refuses values that are too large.
        let whole = count.round();
        match self {
            Quantity::Whole(_) => Quantity::Whole(whole as i128),
            Quantity::Number(_) => Quantity::Number(count),
            Quantity::Duration(_) => Quantity::Duration(whole as u64),
            Quantity::Rate(_) => Quantity::Rate(whole as u64),
            Quantity::Size(_) => Quantity::Size(whole as u64),
            Quantity::Packets(_) => Quantity::Packets(whole as u64),
            Quantity::Bdp(_) => Quantity::Bdp(whole as u64),
        }
    }

    /// The quantity as a value of a scenario.
    pub(super) fn node(self) -> Node {
        match self {
            Quantity::Whole(value) => Node::Integer(value),
            Quantity::Number(value) => Node::Float(value),
            Quantity::Duration(n) => Node::Text(Duration::from_nanos(n).to_string()),
            Quantity::Rate(n) => Node::Text(Rate::from_bits_per_sec(n).to_string()),
            Quantity::Size(n) => Node::Text(Size::from_bytes(n).to_string()),
            Quantity::Packets(n) => Node::Text(Limit::Packets(n).to_string()),
            Quantity::Bdp(n) => Node::Text(Limit::BdpThousandths(n).to_string()),
        }
    }
}

/// The number of digits of fractions, so that 3 % is 0.03 and not 0.030000000000000002.
pub(super) const FRACTION_DIGITS: usize = 12;

/// The value rounded to this many significant digits.
pub(super) fn short(value: f64, digits: usize) -> f64 {
    let text = format!("{value:.*e}", digits.saturating_sub(1));
    text.parse().expect("a number that was written can be read")
}

/// The text of a value, which is the same for equal values like `10ms` and `10 ms`.
pub(super) fn label(node: &Item) -> String {
    match Quantity::read(node) {
        Some(quantity) => plain(&quantity.node()),
        None => plain(&node.node),
    }
}

fn plain(node: &Node) -> String {
    match node {
        // Where somebody's home is decides neither a name nor, by it, a seed.
        Node::Text(text) if text.starts_with('/') => files::anywhere(Path::new(text), &files::homes()),
        Node::Text(text) | Node::Date(text) => text.clone(),
        Node::Integer(value) => value.to_string(),
        Node::Float(value) => format!("{value:?}"),
        Node::Flag(value) => value.to_string(),
        Node::List(items) => format!("[{}]", items.iter().map(inner).collect::<Vec<_>>().join(", ")),
        Node::Table(entries) => {
            let entries = entries.iter().map(|entry| format!("{} = {}", entry.key, inner(&entry.item)));
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

/// The text of a value in a list or table, with quotation marks, so that different lists have different labels.
fn inner(item: &Item) -> String {
    match &item.node {
        Node::Text(_) => format!("{:?}", label(item)),
        _ => label(item),
    }
}

#[cfg(test)]
mod tests {
    use super::super::source::Place;
    use super::super::tree::parse_value;
    use super::*;

    fn item(toml: &str) -> Item {
        parse_value(toml, Place::Default).unwrap_or_else(|error| panic!("{toml}: {}", error.problem))
    }

    #[test]
    fn quantities_have_units_values_and_one_label() {
        for (toml, unit, value, text) in [
            ("3", Unit::Whole, 3.0, "3"),
            ("0.5", Unit::Number, 0.5, "0.5"),
            ("'3 %'", Unit::Number, 0.03, "0.03"),
            ("'0.01s'", Unit::Milliseconds, 10.0, "10 ms"),
            ("'10000 kbit/s'", Unit::Mbps, 10.0, "10 Mbit/s"),
            ("'64000 B'", Unit::Bytes, 64_000.0, "64 kB"),
            ("'7 packets'", Unit::Packets, 7.0, "7 packets"),
            ("'0.25 BDP'", Unit::Bdp, 0.25, "0.25 BDP"),
        ] {
            let item = item(toml);
            let quantity = Quantity::read(&item).unwrap_or_else(|| panic!("{toml}"));
            assert_eq!((quantity.unit(), quantity.value()), (unit, value), "{toml}");
            assert_eq!(label(&item), text);
            // The written value is read as the same quantity.
            let again = Item { place: Place::Default, node: quantity.node() };
            assert_eq!(Quantity::read(&again), Some(quantity), "{toml}");
        }
    }

    #[test]
    fn a_text_is_read_in_the_base_unit_of_its_kind() {
        for (text, value) in [
            ("45 ms", Some((0.045, "s"))),
            ("1.5 h", Some((5400.0, "s"))),
            ("2 Mbit/s", Some((2e6, "bit/s"))),
            ("360 kB", Some((360_000.0, "B"))),
            ("7 packets", Some((7.0, "packets"))),
            ("0.25 BDP", Some((0.25, "BDP"))),
            ("3 %", Some((0.03, ""))),
            ("3", None),
            ("unlimited", None),
            ("3 lightyears", None),
        ] {
            assert_eq!(quantity(text), value, "{text}");
        }
    }

    #[test]
    fn other_values_have_distinct_labels() {
        for (toml, text) in [
            ("'cubic'", "cubic"),
            ("true", "true"),
            ("'unlimited'", "unlimited"),
            ("['a, b']", r#"["a, b"]"#),
            ("['a', 'b']", r#"["a", "b"]"#),
            ("{ type = 'cubic', beta = 0.7 }", r#"{ type = "cubic", beta = 0.7 }"#),
        ] {
            assert_eq!(Quantity::read(&item(toml)), None, "{toml}");
            assert_eq!(label(&item(toml)), text);
        }
    }
}
