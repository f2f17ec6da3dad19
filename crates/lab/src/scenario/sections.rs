//! The tables of a scenario file, and their options as rows.

use units::parameter::{Default, Kind, Parameter, Room, Row};

/// The options at the top of a scenario.
pub(super) static TOP: &[Parameter] = &[
    Parameter {
        name: "name",
        kind: Kind::Text,
        default: Default::Absent,
        about: "name of the run's folder: letters, digits, - _ . (default: the name of the file)",
    },
    Parameter {
        name: "seed",
        kind: Kind::Integer(0, i64::MAX as u64),
        default: Default::Is("1"),
        about: "seed of all random streams: equal seeds give equal bytes",
    },
    Parameter {
        name: "duration",
        kind: Kind::Duration,
        default: Default::Is("\"60 s\""),
        about: "the run ends then at the latest, in virtual time; above zero",
    },
];

/// The names of tables, except that of all packets.
const TABLES: &[&str] =
    &["connection", "loss", "event", "gauge", "stream", "message", "object", "queue", "drop", "rate", "node"];

/// The options of `[record]`.
pub static RECORD: &[Parameter] = &[
    Parameter {
        name: "tables",
        kind: Kind::List(&Kind::Choice(TABLES)),
        default: Default::Is(
            r#"["connection", "loss", "event", "stream", "message", "object", "queue", "drop", "rate", "node"]"#,
        ),
        about: "tables that are kept",
    },
    Parameter {
        name: "packets",
        kind: Kind::Flag,
        default: Default::Is("false"),
        about: "whether the table of all packets is kept too",
    },
    Parameter {
        name: "queue_delay",
        kind: Kind::Flag,
        default: Default::Is("false"),
        about: "whether the summary has mean and quantiles of the delay in each queue",
    },
    Parameter {
        name: "bin",
        kind: Kind::Duration,
        default: Default::Is("\"100 ms\""),
        about: "width of the bins of table rate; above zero",
    },
    Parameter {
        name: "rows",
        kind: Kind::Integer(1, 1 << 31),
        default: Default::Is("20000000"),
        about: "most rows of a table: beyond, series are thinned and lists end",
    },
    Parameter {
        name: "qlog_schema",
        kind: Kind::Choice(&["current", "0.3"]),
        default: Default::Is("\"current\""),
        about: "schema of qlog files: the current drafts, or 0.3 for viewers that read no other",
    },
];

/// The keys of the table of a sweep, and of the array of tables in it.
pub(super) const SWEEP_TABLE: &str = "sweep";
pub(super) const ZIP: &str = "zip";

/// The options of `[sweep]`, beside the paths that it varies.
pub(super) static SWEEP: &[Parameter] = &[
    Parameter {
        name: "repetitions",
        kind: Kind::Integer(1, 1_000_000),
        default: Default::Is("1"),
        about: "how often each combination of values is run, with seeds of its own",
    },
    Parameter {
        name: "seeds",
        kind: Kind::Choice(&["independent", "paired"]),
        default: Default::Is("\"independent\""),
        about: "seeds of each combination, or the same ones for all (common random numbers)",
    },
    Parameter {
        name: "series",
        kind: Kind::List(&Kind::Choice(&["connection", "gauge", "queue", "rate"])),
        default: Default::Is("[]"),
        about: "tables of each run whose time series are kept",
    },
    Parameter {
        name: "keep",
        kind: Kind::List(&Kind::Choice(TABLES)),
        default: Default::Is("[]"),
        about: "tables of each run that are kept whole, of those that record.tables names",
    },
];

/// The name of the room of kinds of nodes.
pub(super) const KINDS: &str = "kinds";

/// The options of `[[node]]`.
pub(super) static NODE: &[Parameter] = &[
    Parameter { name: "name", kind: Kind::Text, default: Default::Required, about: "name of the node" },
    Parameter {
        name: "kind",
        kind: Kind::Component(KINDS),
        default: Default::Absent,
        about: "host, router or a middlebox (default: host where a flow begins or ends, router elsewhere)",
    },
    Parameter {
        name: "stack",
        kind: Kind::Choice(&["quiclab", "quinn"]),
        default: Default::Absent,
        about: "of a host: whose QUIC endpoints it has; quinn: those of quinn-proto, in builds with the feature `quinn` (default: quiclab)",
    },
];

/// The options of `[[link]]`, beside those of its directions.
pub(super) static LINK: &[Parameter] = &[
    Parameter { name: "name", kind: Kind::Text, default: Default::Required, about: "name of the link" },
    Parameter {
        name: "from",
        kind: Kind::Text,
        default: Default::Required,
        about: "node where the forward direction begins",
    },
    Parameter {
        name: "to",
        kind: Kind::Text,
        default: Default::Required,
        about: "node where the forward direction ends",
    },
];
/// The keys of tables in `[[link]]` with options of one direction, or of both.
pub(super) const FORWARD: &str = "forward";
pub(super) const BACKWARD: &str = "backward";
pub(super) const BOTH: &str = "both";

/// The options of `[[medium]]`, beside those of its type and of attachments.
pub(super) static MEDIUM: &[Parameter] = &[
    Parameter { name: "name", kind: Kind::Text, default: Default::Required, about: "name of the medium" },
    Parameter {
        name: "type",
        kind: Kind::Text,
        default: Default::Required,
        about: "which medium it is: see `quiclab list media`; its options stand here too",
    },
    Parameter {
        name: "station",
        kind: Kind::Text,
        default: Default::Absent,
        about: "node that all terminals talk to; without one each talks to each",
    },
    Parameter {
        name: "terminals",
        kind: Kind::List(&Kind::Text),
        default: Default::Required,
        about: "nodes that are attached; [medium.at.NODE] has options of one of them",
    },
];
/// The key of the table in `[[medium]]` with tables of options of single attachments.
pub(super) const AT: &str = "at";

/// The options of `[[flow]]`, beside its `transport` or `tcp`.
pub(super) static FLOW: &[Parameter] = &[
    Parameter { name: "name", kind: Kind::Text, default: Default::Required, about: "name of the flow" },
    Parameter {
        name: "client",
        kind: Kind::Text,
        default: Default::Required,
        about: "node that opens the connection",
    },
    Parameter {
        name: "server",
        kind: Kind::Text,
        default: Default::Required,
        about: "node that accepts the connection",
    },
    Parameter {
        name: "protocol",
        kind: Kind::Choice(&["quic", "tcp"]),
        default: Default::Is("\"quic\""),
        about: "what it goes over; tcp: a connection for each stream, with the options of [tcp] and [flow.tcp]",
    },
    Parameter {
        name: "application",
        kind: Kind::Component("applications"),
        default: Default::Required,
        about: "what is transferred",
    },
    Parameter {
        name: "port",
        kind: Kind::Integer(1, 65_535),
        default: Default::Absent,
        about: "server's port; flows over QUIC to one port of a node share its endpoint (default: a port of its own)",
    },
    Parameter {
        name: "early_data",
        kind: Kind::Flag,
        default: Default::Is("false"),
        about: "whether the client sends in 0-RTT packets where it resumes a session (RFC 9001 section 4.6)",
    },
    Parameter {
        name: "after",
        kind: Kind::Text,
        default: Default::Absent,
        about: "flow that must be over, with all its visits, before this one starts; `start` counts from then",
    },
    Parameter {
        name: "visits",
        kind: Kind::List(&Kind::Component("visits")),
        default: Default::Is("[]"),
        about: "when the client comes back, with a new connection to the same port",
    },
    Parameter {
        name: "start",
        kind: Kind::Duration,
        default: Default::Is("\"0 s\""),
        about: "when the connection is opened; before the end of the run",
    },
    Parameter {
        name: "stop",
        kind: Kind::Duration,
        default: Default::Absent,
        about: "when the client closes the connection, if it is not over before; after start",
    },
    IP,
];
/// A visit of a flow: the only row of its room.
pub(super) static VISITS: &[Row<()>] = &[Row {
    name: "visit",
    about: "a connection of a flow behind its first one, with what the client has learned before",
    parameters: &[
        Parameter {
            name: "at",
            kind: Kind::Duration,
            default: Default::Required,
            about: "when the connection is opened; after the visit before it, before the end of the run",
        },
        Parameter {
            name: "application",
            kind: Kind::Component("applications"),
            default: Default::Absent,
            about: "what is transferred (default: what the flow transfers)",
        },
    ],
    build: (),
}];

/// The room of visits.
pub(super) fn visits() -> Room {
    Room::of("visits", "when the client of a flow comes back", VISITS, None)
}

const IP: Parameter = Parameter {
    name: "ip",
    kind: Kind::Choice(&["4", "6"]),
    default: Default::Is("4"),
    about: "version of IP",
};

/// The key of the array of tables of cross traffic.
pub(super) const CROSS_TRAFFIC_TABLE: &str = "cross_traffic";

/// The options of `[[cross_traffic]]`.
pub(super) static CROSS_TRAFFIC: &[Parameter] = &[
    Parameter {
        name: "name",
        kind: Kind::Text,
        default: Default::Required,
        about: "name of the cross traffic",
    },
    Parameter { name: "from", kind: Kind::Text, default: Default::Required, about: "node that sends" },
    Parameter {
        name: "to",
        kind: Kind::Text,
        default: Default::Required,
        about: "node that the datagrams go to, which takes no notice of them",
    },
    Parameter {
        name: "source",
        kind: Kind::Component("sources"),
        default: Default::Required,
        about: "when datagrams leave and how large they are",
    },
    Parameter {
        name: "start",
        kind: Kind::Duration,
        default: Default::Is("\"0 s\""),
        about: "when it begins; before the end of the run",
    },
    Parameter {
        name: "stop",
        kind: Kind::Duration,
        default: Default::Absent,
        about: "when it ends; after start (default: with the run)",
    },
    IP,
];
/// The options of `[[event]]`, beside those of its type.
pub(super) static EVENT: &[Parameter] = &[
    Parameter {
        name: "at",
        kind: Kind::Duration,
        default: Default::Required,
        about: "when it happens; before the end of the run",
    },
    Parameter {
        name: "type",
        kind: Kind::Text,
        default: Default::Required,
        about: "what happens: see `quiclab list events`; its options stand here too",
    },
];

pub(super) const RECORD_TABLE: &str = "record";
pub(super) const TLS: &str = "tls";
pub(super) const TRANSPORT: &str = "transport";
pub(super) const TCP: &str = "tcp";
pub(super) const NODE_TABLE: &str = "node";
pub(super) const LINK_TABLE: &str = "link";
pub(super) const MEDIUM_TABLE: &str = "medium";
pub(super) const FLOW_TABLE: &str = "flow";
pub(super) const EVENT_TABLE: &str = "event";

/// A table of a scenario file, or an array of tables.
#[derive(Debug)]
pub(super) struct Section {
    /// Its key, and its name in the room `sections`.
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// Its options.
    pub(super) parameters: &'static [Parameter],
    /// Whether it is at the top of the file, under its name.
    pub(super) top: bool,
}

/// All tables of a scenario file. The reader takes the keys at the top from here, and lists of options the rest. The writer
/// uses [`super::resolved`], as do the key of a run in a sweep and the files that go with a run.
pub(super) static SECTIONS: &[Section] = &[
    Section { name: "scenario", about: "the top of the file", parameters: TOP, top: false },
    Section { name: RECORD_TABLE, about: "[record]: which tables are kept", parameters: RECORD, top: true },
    Section {
        name: TLS,
        about: "[tls]: the TLS exchange and packet protection",
        parameters: tls::PARAMETERS,
        top: true,
    },
    Section {
        name: TRANSPORT,
        about: "[transport], [flow.transport]: the endpoints of all flows, of one",
        parameters: quic::PARAMETERS,
        top: true,
    },
    Section {
        name: TCP,
        about: "[tcp], [flow.tcp]: the same for flows over TCP",
        parameters: tcp::PARAMETERS,
        top: true,
    },
    Section {
        name: NODE_TABLE,
        about: "[[node]]: nodes, where links alone do not say enough",
        parameters: NODE,
        top: true,
    },
    Section {
        name: LINK_TABLE,
        about: "[[link]]: a link; options of both directions stand here too, or in `both`",
        parameters: LINK,
        top: true,
    },
    Section {
        name: "direction",
        about: "[link.forward], [link.backward]: one direction of a link",
        parameters: network::LINK,
        top: false,
    },
    Section {
        name: MEDIUM_TABLE,
        about: "[[medium]]: a carrier that any number of nodes are attached to",
        parameters: MEDIUM,
        top: true,
    },
    Section {
        name: FLOW_TABLE,
        about: "[[flow]]: an application over one connection",
        parameters: FLOW,
        top: true,
    },
    Section {
        name: CROSS_TRAFFIC_TABLE,
        about: "[[cross_traffic]]: UDP datagrams that nobody answers and nothing slows down",
        parameters: CROSS_TRAFFIC,
        top: true,
    },
    Section {
        name: EVENT_TABLE,
        about: "[[event]]: what happens at a given time",
        parameters: EVENT,
        top: true,
    },
    Section {
        name: SWEEP_TABLE,
        about: "[sweep]: which paths are varied, as lists or ranges; how often all is run",
        parameters: SWEEP,
        top: true,
    },
];

/// The keys of tables at the top of a scenario file.
pub(super) fn tables() -> impl Iterator<Item = &'static str> {
    SECTIONS.iter().filter(|section| section.top).map(|section| section.name)
}

/// The tables of a scenario as a room, for lists of options.
pub(super) fn room() -> Room {
    let row = |&Section { name, about, parameters, .. }: &Section| Row { name, about, parameters, build: () };
    let rows = SECTIONS.iter().map(row).collect();
    Room { rows, ..Room::of::<()>("sections", "the tables of a scenario file", &[], None) }
}
