//! The options of a qlog file.

use units::parameter::Choice;

/// The schema of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Choice)]
pub enum Schema {
    /// draft-ietf-quic-qlog-main-schema-14, draft-ietf-quic-qlog-quic-events-13.
    #[default]
    Current,
    /// `qlog_version` 0.3, for viewers such as qvis.
    #[word("0.3")]
    V03,
}

/// The options.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// The schema. Default: the current one.
    pub schema: Schema,
    /// Whether to write UDP datagrams as separate events beside their packets. Default: no.
    pub datagrams: bool,
    /// Whether to add fields beyond the schema to the recovery metrics: `delivery_rate` in bit/s and the controller's
    /// own gauges. The drafts permit it, but a strict reader may reject them. Default: no.
    pub own_fields: bool,
    /// The title of the file, for humans. Default: none.
    pub title: String,
}
