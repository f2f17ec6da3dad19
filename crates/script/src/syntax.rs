//! The parsed script: options and statements.

use crate::value::{Expression, Pattern};
use crate::words::{Entry, Field};
use units::Duration;

/// A script.
#[derive(Debug, Clone)]
pub struct Script {
    /// The name of the file, as passed by the caller.
    pub origin: String,
    pub(crate) options: Vec<Setting>,
    pub(crate) statements: Vec<Statement>,
    /// All lines, for reports.
    pub(crate) lines: Vec<String>,
}

/// An option at the top of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) line: usize,
    /// The column of the value.
    pub(crate) column: usize,
    pub(crate) name: String,
    /// The value as written, without quotation marks.
    pub(crate) value: String,
    /// Whether the value was quoted.
    pub(crate) quoted: bool,
}

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) when: When,
    pub(crate) action: Action,
}

/// The time of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct When {
    /// Whether it is relative to the start or the end of the last `handshake`, rather than the previous statement.
    pub(crate) absolute: bool,
    pub(crate) from: Duration,
    pub(crate) to: Duration,
    /// Whether a tolerance or range was given.
    pub(crate) has_range: bool,
}

impl When {
    /// The time of the previous statement.
    pub(crate) const NOW: When =
        When { absolute: false, from: Duration::ZERO, to: Duration::ZERO, has_range: false };
}

/// The action of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    /// The built-in peer completes the handshake.
    Handshake { rtt: Duration },
    /// The endpoint sends a datagram with these packets.
    Expect(Vec<Packet>),
    /// A datagram with these packets arrives at the endpoint.
    Inject(Vec<Packet>),
    /// The application calls the endpoint.
    Call { entry: &'static Entry, arguments: Vec<FieldValue>, result: Option<Pattern> },
    /// The connection reports this event.
    Event(Item),
    /// The state of the connection.
    Check(Vec<FieldValue>),
    /// Assigns a variable.
    Let { name: String, value: Expression },
    /// Nothing is sent.
    Silence,
}

/// A packet of a datagram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Packet {
    pub(crate) line: usize,
    pub(crate) column: usize,
    /// One of [`crate::words::PACKETS`].
    pub(crate) kind: &'static str,
    pub(crate) number: Pattern,
    pub(crate) header: Vec<FieldValue>,
    pub(crate) frames: Vec<Item>,
    /// Whether other frames are allowed: `*`.
    pub(crate) others: bool,
}

/// A frame or an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) column: usize,
    pub(crate) entry: &'static Entry,
    pub(crate) fields: Vec<FieldValue>,
    /// Whether unnamed fields may have any value: no parentheses, or `..` in them.
    pub(crate) open: bool,
}

/// A field and its value or pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FieldValue {
    pub(crate) field: &'static Field,
    pub(crate) pattern: Pattern,
    pub(crate) column: usize,
}
