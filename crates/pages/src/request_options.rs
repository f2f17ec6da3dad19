//! The request and response options of drawn pages, which the models of sizes do not cover.

use super::{After, Kind, Object};
use http::Priority;
use units::Duration;
use units::parameter::{Arguments, Default, Kind as OptionKind, Parameter};

pub(super) const REQUEST: Parameter = Parameter {
    name: "request",
    kind: OptionKind::Size,
    default: Default::Is("\"350 B\""),
    about: "bytes of each request with its fields, before compression; at least what it needs",
};
pub(super) const THINK: Parameter = Parameter {
    name: "think",
    kind: OptionKind::Duration,
    default: Default::Is("\"0 s\""),
    about: "time from a complete request at the server to the start of its response",
};
pub(super) const MAIN_URGENCY: Parameter = Parameter {
    name: "main_urgency",
    kind: OptionKind::Integer(0, 7),
    default: Default::Is("3"),
    about: "urgency of main objects (RFC 9218), 0 the most urgent",
};
pub(super) const EMBEDDED_URGENCY: Parameter = Parameter {
    name: "embedded_urgency",
    kind: OptionKind::Integer(0, 7),
    default: Default::Is("3"),
    about: "urgency of embedded objects (RFC 9218), 0 the most urgent",
};

/// The values of these options.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestOptions {
    request_bytes: u64,
    think: Duration,
    main: Priority,
    embedded: Priority,
}

impl RequestOptions {
    pub(super) fn of(arguments: &Arguments) -> RequestOptions {
        let urgency = |name| Priority { urgency: arguments.integer(name) as u8, ..Priority::default() };
        RequestOptions {
            request_bytes: arguments.size("request").as_bytes(),
            think: arguments.duration("think"),
            main: urgency("main_urgency"),
            embedded: urgency("embedded_urgency"),
        }
    }

    /// An object of `bytes` bytes that waits for the objects `after` to be complete.
    pub(super) fn object(&self, kind: Kind, bytes: u64, after: &[u32], parsing: Duration) -> Object {
        Object {
            request_bytes: self.request_bytes,
            think: self.think,
            priority: if kind == Kind::Main { self.main } else { self.embedded },
            after: after.iter().copied().map(After::complete).collect(),
            parsing,
            ..Object::new(kind, bytes)
        }
    }
}
