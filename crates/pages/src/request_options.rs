//! The request and response options of drawn pages, which the models of sizes do not cover.

use super::{After, Kind, Object};
use http::Priority;
use units::parameter::Options;
use units::{Duration, Size};

/// How the objects of drawn pages are requested and answered.
#[derive(Debug, Clone, Copy, Options)]
pub(super) struct RequestOptions {
    /// bytes of each request with its fields, before compression; at least what it needs
    #[option(default = "350 B")]
    request: Size,
    /// time from a complete request at the server to the start of its response
    #[option(default = "0 s")]
    think: Duration,
    /// urgency of main objects (RFC 9218), 0 the most urgent
    #[option(default = 3, within = 0..=7)]
    main_urgency: u8,
    /// urgency of embedded objects (RFC 9218), 0 the most urgent
    #[option(default = 3, within = 0..=7)]
    embedded_urgency: u8,
}

impl RequestOptions {
    /// An object of `bytes` bytes that waits for the objects `after` to be complete.
    pub(super) fn object(&self, kind: Kind, bytes: u64, after: &[u32], parsing: Duration) -> Object {
        let urgency = match kind {
            Kind::Main => self.main_urgency,
            Kind::Embedded => self.embedded_urgency,
        };
        Object {
            request_bytes: self.request.as_bytes(),
            think: self.think,
            priority: Priority { urgency, ..Priority::default() },
            after: after.iter().copied().map(After::complete).collect(),
            parsing,
            ..Object::new(kind, bytes)
        }
    }
}
