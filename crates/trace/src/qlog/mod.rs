//! qlog files as JSON text sequences: one `.sqlog` per connection end.
//!
//! Two schemas can be written. [`Schema::Current`] is draft-ietf-quic-qlog-main-schema-14 with
//! draft-ietf-quic-qlog-quic-events-13, and every record validates against it strictly. [`Schema::V03`] is what viewers
//! that know `qlog_version` 0.3 read, qvis for one: draft-ietf-quic-qlog-main-schema-02 with
//! draft-ietf-quic-qlog-quic-events-02.
//!
//! Times are milliseconds since the start of the run, exact to the nanosecond. A stateless reset token is not written:
//! who reads a trace must not be able to end the connection (RFC 9000 section 21.11).
//!
//! Records are put together in a buffer that is given to the writer when it is full, and so memory does not grow with
//! the length of a run.

mod current;
mod errors;
mod frames;
mod json;
mod legacy;
mod options;
mod sink;
mod state;
mod writer;

pub use options::{Options, Schema};
pub use sink::Qlog;
pub use writer::Writer;
