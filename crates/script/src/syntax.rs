//! A script that was read: its options and statements.

use crate::value::{Expression, Pattern};
use crate::words::{Entry, Field};
use units::Duration;

/// A script.
#[derive(Debug, Clone)]
pub struct Script {
    /// The file, as it was named by whoever asked.
    pub origin: String,
    pub(crate) options: Vec<Setting>,
    pub(crate) statements: Vec<Statement>,
    /// All lines, for reports.
    pub(crate) lines: Vec<String>,
}

/// An option at the top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) line: usize,
    /// Where the value stands.
    pub(crate) column: usize,
    pub(crate) name: String,
    /// As it was written, without quotation marks.
    pub(crate) value: String,
    /// Whether it stood in quotation marks.
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

/// When something happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct When {
    /// Counted from the start, or the end of the last `handshake`; otherwise from the statement before.
    pub(crate) absolute: bool,
    pub(crate) from: Duration,
    pub(crate) to: Duration,
    /// Whether a tolerance or a range was given.
    pub(crate) has_range: bool,
}

impl When {
    /// At the time of the statement before.
    pub(crate) const NOW: When =
        When { absolute: false, from: Duration::ZERO, to: Duration::ZERO, has_range: false };
}

/// What happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    /// The built-in peer completes the handshake.
    Handshake { rtt: Duration },
    /// The endpoint sends a datagram of these packets.
    Expect(Vec<Packet>),
    /// A datagram of these packets arrives at the endpoint.
    Inject(Vec<Packet>),
    /// The application calls the endpoint.
    Call { entry: &'static Entry, arguments: Vec<Given>, result: Option<Pattern> },
    /// The connection has told this.
    Event(Item),
    /// The state of the connection.
    Check(Vec<Given>),
    /// A variable gets a value.
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
    pub(crate) header: Vec<Given>,
    pub(crate) frames: Vec<Item>,
    /// Whether other frames may be there: `*`.
    pub(crate) others: bool,
}

/// A frame or an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) column: usize,
    pub(crate) entry: &'static Entry,
    pub(crate) fields: Vec<Given>,
    /// Whether fields that are not named may be anything: no parentheses, or `..` in them.
    pub(crate) open: bool,
}

/// A field and what stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) field: &'static Field,
    pub(crate) pattern: Pattern,
    pub(crate) column: usize,
}
