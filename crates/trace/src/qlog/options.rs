//! What is written, and in which schema.

/// The schema that a file follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Schema {
    /// draft-ietf-quic-qlog-main-schema-14, draft-ietf-quic-qlog-quic-events-13.
    #[default]
    Current,
    /// `qlog_version` 0.3, for viewers such as qvis.
    V03,
}

/// What is written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// The schema. Default: the current one.
    pub schema: Schema,
    /// Whether UDP datagrams are written as events of their own, beside the packets in them. Default: no.
    pub datagrams: bool,
    /// Whether fields that no schema knows are added to recovery metrics: `delivery_rate` in bit/s and the controller's
    /// own gauges. The drafts permit it, but a strict reader of the current schema may not know them. Default: no.
    pub own_fields: bool,
    /// The title of the file, for people. Default: none.
    pub title: String,
}
