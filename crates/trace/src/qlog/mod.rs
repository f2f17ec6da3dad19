//! qlog files as JSON text sequences: one `.sqlog` per connection end.
//!
//! There are two schemas. [`Schema::Current`] is draft-ietf-quic-qlog-main-schema-14 with
//! draft-ietf-quic-qlog-quic-events-13; every record strictly validates against it. [`Schema::V03`] is for viewers of
//! `qlog_version` 0.3 such as qvis: draft-ietf-quic-qlog-main-schema-02 with draft-ietf-quic-qlog-quic-events-02.
//!
//! Times are milliseconds since the start of the run, exact to the nanosecond. Stateless reset tokens are omitted: a
//! reader of the trace must not be able to end the connection (RFC 9000 section 21.11).
//!
//! Records are written to a buffer that is flushed when it is full, so memory does not grow with the length of a run.

mod current;
mod errors;
mod frames;
mod json;
mod legacy;
mod options;
mod resume;
mod sink;
mod state;
mod writer;

pub use options::{Options, Schema};
pub use sink::Qlog;
pub use writer::Writer;
