//! The tables of a scenario file, and their options as rows.

use units::parameter::{Default, Kind, Parameter, Room, Row};

/// What stands at the top of a scenario.
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

/// What `[record]` admits: which tables a run keeps.
pub static RECORD: &[Parameter] = &[
    Parameter {
        name: "tables",
        kind: Kind::List(&Kind::Choice(&[
            "connection",
            "loss",
            "event",
            "gauge",
            "stream",
            "message",
            "object",
            "queue",
            "drop",
            "rate",
        ])),
        default: Default::Is(
            r#"["connection", "loss", "event", "stream", "message", "object", "queue", "drop", "rate"]"#,
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

/// The table of a sweep, and the array of tables in it.
pub(super) const SWEEP_TABLE: &str = "sweep";
pub(super) const ZIP: &str = "zip";

/// What `[sweep]` admits beside the paths that it varies.
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
        kind: Kind::List(&Kind::Choice(&[
            "connection",
            "loss",
            "event",
            "gauge",
            "stream",
            "message",
            "object",
            "queue",
            "drop",
            "rate",
        ])),
        default: Default::Is("[]"),
        about: "tables of each run that are kept whole, of those that record.tables names",
    },
];

/// What `[[node]]` admits.
pub(super) static NODE: &[Parameter] = &[
    Parameter { name: "name", kind: Kind::Text, default: Default::Required, about: "name of the node" },
    Parameter {
        name: "kind",
        kind: Kind::Choice(&["host", "router"]),
        default: Default::Absent,
        about: "flows begin and end at hosts (default: host where a flow does, router elsewhere)",
    },
];

/// What `[[link]]` admits beside the options of its directions.
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
/// The tables in `[[link]]` with options of one direction, or of both.
pub(super) const FORWARD: &str = "forward";
pub(super) const BACKWARD: &str = "backward";
pub(super) const BOTH: &str = "both";

/// What `[[flow]]` admits beside its `transport` or `tcp`.
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
const IP: Parameter = Parameter {
    name: "ip",
    kind: Kind::Choice(&["4", "6"]),
    default: Default::Is("4"),
    about: "version of IP",
};

/// The array of tables of cross traffic.
pub(super) const CROSS_TRAFFIC_TABLE: &str = "cross_traffic";

/// What `[[cross_traffic]]` admits.
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
pub(super) const TRANSPORT: &str = "transport";
pub(super) const TCP: &str = "tcp";

/// The tables of a scenario as a room, so that they are listed like all others.
pub(super) fn room() -> Room {
    let row = |name, about, parameters| Row { name, about, parameters, build: () };
    Room {
        name: "sections",
        about: "the tables of a scenario file",
        rows: vec![
            row("scenario", "the top of the file", TOP),
            row("record", "[record]: which tables are kept", RECORD),
            row("tls", "[tls]: the TLS exchange and packet protection", tls::PARAMETERS),
            row(
                "transport",
                "[transport], [flow.transport]: the endpoints of all flows, of one",
                quic::PARAMETERS,
            ),
            row(TCP, "[tcp], [flow.tcp]: the same for flows over TCP", tcp::PARAMETERS),
            row("node", "[[node]]: nodes, where links alone do not say enough", NODE),
            row("link", "[[link]]: a link; options of both directions stand here too, or in `both`", LINK),
            row("direction", "[link.forward], [link.backward]: one direction of a link", network::LINK),
            row("flow", "[[flow]]: an application over one connection", FLOW),
            row(
                CROSS_TRAFFIC_TABLE,
                "[[cross_traffic]]: UDP datagrams that nobody answers and nothing slows down",
                CROSS_TRAFFIC,
            ),
            row(
                SWEEP_TABLE,
                "[sweep]: which paths are varied, as lists or ranges; how often all is run",
                SWEEP,
            ),
        ],
        shorthand: None,
    }
}
