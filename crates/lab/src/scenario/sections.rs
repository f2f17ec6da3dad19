//! The tables of a scenario file, and their options as rows.

use units::parameter::{Kind, Options, Parameter, Room, Row};

/// The options at the top of a scenario.
pub(super) static TOP: &[Parameter] = &[
    Parameter::optional(
        "name",
        Kind::Text,
        "name of the run's folder: letters, digits, - _ . (default: the name of the file)",
    ),
    Parameter::with_default(
        "seed",
        Kind::Integer(0, i64::MAX as u64),
        "1",
        "seed of all random streams: equal seeds give equal bytes",
    ),
    Parameter::with_default(
        "duration",
        Kind::Duration,
        "\"60 s\"",
        "when the run ends at the latest, in virtual time; above zero",
    ),
];

/// The names of tables, except those of all packets and of all blocks.
const TABLES: &[&str] = &[
    "connection",
    "loss",
    "event",
    "gauge",
    "wait",
    "stream",
    "message",
    "object",
    "segment",
    "playback",
    "queue",
    "drop",
    "rate",
    "node",
    "air",
];

/// The options of `[record]`.
pub static RECORD: &[Parameter] = &[
    Parameter::with_default(
        "tables",
        Kind::List(&Kind::Choice(TABLES)),
        r#"["connection", "loss", "event", "wait", "stream", "message", "object", "segment", "playback", "queue", "drop", "rate", "node", "air"]"#,
        "tables that the run keeps",
    ),
    Parameter::with_default("packets", Kind::Flag, "false", "whether the table of all packets is kept too"),
    Parameter::with_default(
        "blocks",
        Kind::Flag,
        "false",
        "whether the table of all blocks that link layers sent is kept too",
    ),
    Parameter::with_default(
        "queue_delay",
        Kind::Flag,
        "false",
        "whether the summary has mean and quantiles of the delay in each queue",
    ),
    Parameter::with_default(
        "bin",
        Kind::Duration,
        "\"100 ms\"",
        "width of the bins of the tables rate and air; above zero",
    ),
    Parameter::with_default(
        "rows",
        Kind::Integer(1, 1 << 31),
        "20000000",
        "maximum rows of a table; beyond it, series are thinned and lists are cut",
    ),
    Parameter::with_default(
        "qlog_schema",
        Kind::Choice(&["current", "0.3"]),
        "\"current\"",
        "schema of qlog files: the current drafts, or 0.3 for viewers that read no other",
    ),
];

/// The keys of the table of a sweep, and of the array of tables in it.
pub(super) const SWEEP_TABLE: &str = "sweep";
pub(super) const ZIP: &str = "zip";

/// The options of `[sweep]`, beside the paths that it varies.
pub(super) static SWEEP: &[Parameter] = &[
    Parameter::with_default(
        "repetitions",
        Kind::Integer(1, 1_000_000),
        "1",
        "runs of each combination of values, with different seeds",
    ),
    Parameter::with_default(
        "seeds",
        Kind::Choice(&["independent", "paired"]),
        "\"independent\"",
        "whether each combination has its own seeds, or all have the same (common random numbers)",
    ),
    Parameter::with_default(
        "series",
        Kind::List(&Kind::Choice(&["connection", "gauge", "queue", "rate"])),
        "[]",
        "tables of each run whose time series are kept",
    ),
    Parameter::with_default(
        "keep",
        Kind::List(&Kind::Choice(TABLES)),
        "[]",
        "tables of each run that are kept whole, of those that record.tables names",
    ),
];

/// The name of the room of kinds of nodes.
pub(super) const KINDS: &str = "kinds";

/// The options of `[[node]]`.
pub(super) static NODE: &[Parameter] = &[
    Parameter::required("name", Kind::Text, "name of the node"),
    Parameter::optional(
        "kind",
        Kind::Component(KINDS),
        "host, router, gate or a middlebox; where a flow begins or ends: host, or ack-pacer or ldad before a host \
         (default: host where a flow begins or ends, router elsewhere)",
    ),
    Parameter::optional(
        "stack",
        Kind::Component(foreign::ROOM),
        "of a host: whose QUIC endpoints it has (default: quiclab)",
    ),
    Parameter::optional(
        "processing",
        Kind::Component(network::processing::ROOM),
        "time that the node takes for each packet that arrives, in one server with a queue (default: none)",
    ),
];

/// The options of `[[link]]`, beside those of its directions.
pub(super) static LINK: &[Parameter] = &[
    Parameter::required("name", Kind::Text, "name of the link"),
    Parameter::required("from", Kind::Text, "node where the forward direction begins"),
    Parameter::required("to", Kind::Text, "node where the forward direction ends"),
    Parameter::optional(
        "preset",
        Kind::Component(super::presets::ROOM),
        "a name for options of both directions; an option given beside it wins",
    ),
];
/// The keys of tables in `[[link]]` with options of one direction, or of both.
pub(super) const FORWARD: &str = "forward";
pub(super) const BACKWARD: &str = "backward";
pub(super) const BOTH: &str = "both";

/// The options of `[[medium]]`, beside those of its type and of attachments.
pub(super) static MEDIUM: &[Parameter] = &[
    Parameter::required("name", Kind::Text, "name of the medium"),
    Parameter::required(
        "type",
        Kind::Text,
        "kind of the medium: see `quiclab list media`; its options are given here too",
    ),
    Parameter::optional(
        "station",
        Kind::Text,
        "node that all terminals talk to; without one, all nodes talk to each other",
    ),
    Parameter::required(
        "terminals",
        Kind::List(&Kind::Text),
        "nodes that are attached; [medium.at.NODE] has options of one of them",
    ),
];
/// The key of the table in `[[medium]]` with tables of options of single attachments.
pub(super) const AT: &str = "at";

/// The options of `[[flow]]`, beside its `transport` or `tcp`.
pub(super) static FLOW: &[Parameter] = &[
    Parameter::required("name", Kind::Text, "name of the flow"),
    Parameter::required("client", Kind::Text, "node that opens the connection"),
    Parameter::required("server", Kind::Text, "node that accepts the connection"),
    Parameter::with_default(
        "protocol",
        Kind::Choice(&["quic", "tcp"]),
        "\"quic\"",
        "transport protocol; tcp: a connection for each stream, with the options of [tcp] and [flow.tcp]",
    ),
    Parameter::required("application", Kind::Component("applications"), "what is transferred"),
    Parameter::optional(
        "port",
        Kind::Integer(1, 65_535),
        "server's port; flows over QUIC to one port of a node share its endpoint (default: a port of its own)",
    ),
    Parameter::with_default(
        "early_data",
        Kind::Flag,
        "false",
        "whether the client sends in 0-RTT packets where it resumes a session (RFC 9001 section 4.6)",
    ),
    Parameter::optional(
        "after",
        Kind::Text,
        "flow that must be over, with all its visits, before this one starts; `start` counts from then",
    ),
    Parameter::with_default(
        "visits",
        Kind::List(&Kind::Component("visits")),
        "[]",
        "when the client comes back, with a new connection to the same port",
    ),
    Parameter::with_default(
        "start",
        Kind::Duration,
        "\"0 s\"",
        "when the connection is opened; before the end of the run",
    ),
    Parameter::optional(
        "stop",
        Kind::Duration,
        "when the client closes the connection, if it is not over before; after start",
    ),
    IP,
];
/// A visit of a flow: the only row of its room.
pub(super) static VISITS: &[Row<()>] = &[Row {
    name: "visit",
    about: "a later connection of a flow, with what the client learned before",
    parameters: &[
        Parameter::required(
            "at",
            Kind::Duration,
            "when the connection is opened; after the visit before it, before the end of the run",
        ),
        Parameter::optional(
            "application",
            Kind::Component("applications"),
            "what is transferred (default: what the flow transfers)",
        ),
    ],
    build: (),
}];

/// The room of visits.
pub(super) fn visits() -> Room {
    Room::of("visits", "when the client of a flow comes back", VISITS, None)
}

const IP: Parameter = Parameter::with_default("ip", Kind::Choice(&["4", "6"]), "4", "version of IP");

/// The key of the array of tables of cross traffic.
pub(super) const CROSS_TRAFFIC_TABLE: &str = "cross_traffic";

/// The options of `[[cross_traffic]]`.
pub(super) static CROSS_TRAFFIC: &[Parameter] = &[
    Parameter::required("name", Kind::Text, "name of the cross traffic"),
    Parameter::required("from", Kind::Text, "node that sends"),
    Parameter::required("to", Kind::Text, "node that the datagrams go to, which ignores them"),
    Parameter::required("source", Kind::Component("sources"), "when datagrams leave and how large they are"),
    Parameter::with_default("start", Kind::Duration, "\"0 s\"", "when it begins; before the end of the run"),
    Parameter::optional("stop", Kind::Duration, "when it ends; after start (default: with the run)"),
    IP,
];
/// The options of `[[memory]]`.
pub(super) static MEMORY: &[Parameter] = &[
    Parameter::required("name", Kind::Text, "name of the entry"),
    Parameter::required("node", Kind::Text, "host that remembers the path"),
    Parameter::required("peer", Kind::Text, "node at the other end of the path"),
    Parameter::with_default(
        "protocol",
        Kind::Choice(&["quic", "tcp"]),
        "\"quic\"",
        "whose connections use it, where their option `resume` says so",
    ),
    Parameter::required("capacity", Kind::Size, "what an earlier connection found; above zero"),
    Parameter::required("rtt", Kind::Duration, "least RTT of that connection; above zero"),
    Parameter::with_default(
        "age",
        Kind::Duration,
        "\"0 s\"",
        "how long before the run it was found; at most 50 years",
    ),
    IP,
    Parameter::optional(
        "address",
        Kind::Text,
        "address that the peer is known by (default: that of its node)",
    ),
];
/// The options of `[[event]]`, beside those of its type.
pub(super) static EVENT: &[Parameter] = &[
    Parameter::required("at", Kind::Duration, "when it happens; before the end of the run"),
    Parameter::required(
        "type",
        Kind::Text,
        "what happens: see `quiclab list events`; its options are given here too",
    ),
];

pub(super) const RECORD_TABLE: &str = "record";
pub(super) const TLS: &str = "tls";
pub(super) const TRANSPORT: &str = "transport";
pub(super) const TCP: &str = "tcp";
pub(super) const NODE_TABLE: &str = "node";
pub(super) const LINK_TABLE: &str = "link";
pub(super) const MEDIUM_TABLE: &str = "medium";
pub(super) const FLOW_TABLE: &str = "flow";
pub(super) const MEMORY_TABLE: &str = "memory";
pub(super) const EVENT_TABLE: &str = "event";

/// A table of a scenario file, or an array of tables.
#[derive(Debug)]
pub(super) struct Section {
    /// Its key, and its name in the room `sections`.
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// Its options.
    pub(super) parameters: &'static [Parameter],
    /// Where it stands.
    pub(super) form: Form,
}

/// Where a table stands in a scenario file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Its keys are those of the file itself.
    Top,
    /// A table at the top of the file, under its name.
    Table,
    /// An array of tables at the top of the file, under its name.
    Array,
    /// In other tables only.
    Inner,
}

/// All tables of a scenario file. The reader takes the keys at the top from here, and lists of options the rest. The writer
/// uses [`super::resolved`], as do the key of a run in a sweep and the files that go with a run.
pub(super) static SECTIONS: &[Section] = &[
    Section { name: "scenario", about: "the top of the file", parameters: TOP, form: Form::Top },
    Section {
        name: RECORD_TABLE,
        about: "[record]: which tables are kept",
        parameters: RECORD,
        form: Form::Table,
    },
    Section {
        name: TLS,
        about: "[tls]: the TLS exchange and packet protection",
        parameters: tls::PARAMETERS,
        form: Form::Table,
    },
    Section {
        name: TRANSPORT,
        about: "[transport], [flow.transport]: the endpoints of all flows, or of one flow",
        parameters: quic::Config::PARAMETERS,
        form: Form::Table,
    },
    Section {
        name: TCP,
        about: "[tcp], [flow.tcp]: the same for flows over TCP",
        parameters: tcp::Config::PARAMETERS,
        form: Form::Table,
    },
    Section {
        name: NODE_TABLE,
        about: "[[node]]: nodes that links alone do not define",
        parameters: NODE,
        form: Form::Array,
    },
    Section {
        name: LINK_TABLE,
        about: "[[link]]: a link; options of both directions are given here, or in `both`",
        parameters: LINK,
        form: Form::Array,
    },
    Section {
        name: "direction",
        about: "[link.forward], [link.backward]: one direction of a link",
        parameters: network::LINK,
        form: Form::Inner,
    },
    Section {
        name: MEDIUM_TABLE,
        about: "[[medium]]: a shared carrier, to which any number of nodes are attached",
        parameters: MEDIUM,
        form: Form::Array,
    },
    Section {
        name: FLOW_TABLE,
        about: "[[flow]]: an application over one connection",
        parameters: FLOW,
        form: Form::Array,
    },
    Section {
        name: CROSS_TRAFFIC_TABLE,
        about: "[[cross_traffic]]: UDP datagrams without answers and without congestion control",
        parameters: CROSS_TRAFFIC,
        form: Form::Array,
    },
    Section {
        name: MEMORY_TABLE,
        about: "[[memory]]: what a host knows of a path from earlier connections",
        parameters: MEMORY,
        form: Form::Array,
    },
    Section {
        name: EVENT_TABLE,
        about: "[[event]]: what happens at a given time",
        parameters: EVENT,
        form: Form::Array,
    },
    Section {
        name: SWEEP_TABLE,
        about: "[sweep]: the keys to vary, as lists or ranges, and how often to repeat each combination",
        parameters: SWEEP,
        form: Form::Table,
    },
];

/// The keys of tables at the top of a scenario file.
pub(super) fn tables() -> impl Iterator<Item = &'static str> {
    let at_top = |section: &&Section| matches!(section.form, Form::Table | Form::Array);
    SECTIONS.iter().filter(at_top).map(|section| section.name)
}

/// The tables of a scenario as a room, for lists of options.
pub(super) fn room() -> Room {
    let row = |&Section { name, about, parameters, .. }: &Section| Row { name, about, parameters, build: () };
    let rows = SECTIONS.iter().map(row).collect();
    Room { rows, ..Room::of::<()>("sections", "the tables of a scenario file", &[], None) }
}
