//! The tables of a scenario file, and their options.

use super::model::{IpVersion, Protocol};
use trace::qlog;
use units::parameter::{Choice, Component, Key, Options, Parameter, Room, Row};
use units::{Duration, Size};

/// The options at the top of a scenario.
#[derive(Debug, Clone, Options)]
pub(super) struct TopOptions {
    /// name of the run's folder: letters, digits, - _ . (default: the name of the file)
    pub(super) name: Option<String>,
    /// seed of all random streams: equal seeds give equal bytes
    #[option(default = 1, within = 0..=i64::MAX as u64)]
    pub(super) seed: u64,
    /// when the run ends at the latest, in virtual time; above zero
    #[option(default = "60 s")]
    pub(super) duration: Duration,
}

/// The tables that a run keeps if its scenario names them: all but those of packets and of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Choice)]
pub(crate) enum TableName {
    Connection,
    Loss,
    Event,
    Gauge,
    Wait,
    Stream,
    Message,
    Object,
    Segment,
    Playback,
    Queue,
    Drop,
    Rate,
    Node,
    Air,
}

/// The tables with time series that a sweep can keep of each run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
pub(super) enum SeriesName {
    Connection,
    Gauge,
    Queue,
    Rate,
}

/// The options of `[record]`.
#[derive(Debug, Clone, Options)]
pub(crate) struct RecordOptions {
    /// tables that the run keeps
    #[option(default = [
        "connection", "loss", "event", "wait", "stream", "message", "object", "segment", "playback", "queue",
        "drop", "rate", "node", "air"
    ])]
    pub(crate) tables: Vec<TableName>,
    /// whether the table of all packets is kept too
    #[option(default = false)]
    pub(crate) packets: bool,
    /// whether the table of all blocks that link layers sent is kept too
    #[option(default = false)]
    pub(crate) blocks: bool,
    /// whether the summary has mean and quantiles of the delay in each queue
    #[option(default = false)]
    pub(crate) queue_delay: bool,
    /// width of the bins of the tables rate and air; above zero
    #[option(default = "100 ms")]
    pub(crate) bin: Duration,
    /// maximum rows of a table; beyond it, series are thinned and lists are cut
    #[option(default = 20_000_000, within = 1..=1 << 31)]
    pub(crate) rows: usize,
    /// schema of qlog files: the current drafts, or 0.3 for viewers that read no other
    #[option(default = "current")]
    pub(crate) qlog_schema: qlog::Schema,
}

/// The keys of the table of a sweep, and of the array of tables in it.
pub(super) const SWEEP_TABLE: &str = "sweep";
pub(super) const ZIP: &str = "zip";

/// The seeds of repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
pub enum Seeds {
    /// Each combination of values has its own seeds.
    Independent,
    /// All combinations have the same seeds, for comparisons in pairs (common random numbers).
    Paired,
}

/// The options of `[sweep]`, beside the paths that it varies.
#[derive(Debug, Clone, Options)]
pub(super) struct SweepOptions {
    /// runs of each combination of values, with different seeds
    #[option(default = 1, within = 1..=1_000_000)]
    pub(super) repetitions: u32,
    /// whether each combination has its own seeds, or all have the same (common random numbers)
    #[option(default = "independent")]
    pub(super) seeds: Seeds,
    /// tables of each run whose time series are kept
    #[option(default = [])]
    pub(super) series: Vec<SeriesName>,
    /// tables of each run that are kept whole, of those that record.tables names
    #[option(default = [])]
    pub(super) keep: Vec<TableName>,
}

/// The name of the room of kinds of nodes.
pub(super) const KINDS: &str = "kinds";

/// The options of `[[node]]`.
#[expect(dead_code, reason = "names are looked up where they stand in the document")]
#[derive(Debug, Clone, Options)]
pub(super) struct NodeOptions {
    /// name of the node
    pub(super) name: String,
    /// host, router, gate or a middlebox; where a flow begins or ends: host, or ack-pacer or ldad before a host
    /// (default: host where a flow begins or ends, router elsewhere)
    #[option(room = KINDS)]
    pub(super) kind: Option<Component>,
    /// of a host: whose QUIC endpoints it has (default: quiclab)
    #[option(room = foreign::ROOM)]
    pub(super) stack: Option<Component>,
    /// time that the node takes for each packet that arrives, in one server with a queue (default: none)
    #[option(room = network::processing::ROOM)]
    pub(super) processing: Option<Component>,
}

/// The options of `[[link]]`, beside those of its directions.
#[expect(dead_code, reason = "names are looked up where they stand in the document")]
#[derive(Debug, Clone, Options)]
pub(super) struct LinkOptions {
    /// name of the link
    pub(super) name: String,
    /// node where the forward direction begins
    pub(super) from: String,
    /// node where the forward direction ends
    pub(super) to: String,
    /// a name for options of both directions; an option given beside it wins
    #[option(room = super::presets::ROOM)]
    pub(super) preset: Option<Component>,
}

/// The keys of tables in `[[link]]` with options of one direction, or of both.
pub(super) const FORWARD: &str = "forward";
pub(super) const BACKWARD: &str = "backward";
pub(super) const BOTH: &str = "both";

/// The options of `[[medium]]`, beside those of its type and of attachments.
#[expect(dead_code, reason = "names are looked up where they stand in the document")]
#[derive(Debug, Clone, Options)]
pub(super) struct MediumOptions {
    /// name of the medium
    pub(super) name: String,
    /// kind of the medium: see `quiclab list media`; its options are given here too
    #[option(name = "type")]
    pub(super) kind: String,
    /// node that all terminals talk to; without one, all nodes talk to each other
    pub(super) station: Option<String>,
    /// nodes that are attached; [medium.at.NODE] has options of one of them
    pub(super) terminals: Vec<String>,
}

/// The name of an entry of any array of tables.
pub(super) const NAME: Key<String> = NodeOptions::NAME;

/// The key of the table in `[[medium]]` with tables of options of single attachments.
pub(super) const AT: &str = "at";

/// The options of `[[flow]]`, beside its `transport` or `tcp`.
#[expect(dead_code, reason = "names are looked up where they stand in the document")]
#[derive(Debug, Clone, Options)]
pub(super) struct FlowOptions {
    /// name of the flow
    pub(super) name: String,
    /// node that opens the connection
    pub(super) client: String,
    /// node that accepts the connection
    pub(super) server: String,
    /// transport protocol; tcp: a connection for each stream, with the options of [tcp] and [flow.tcp]
    #[option(default = "quic")]
    pub(super) protocol: Protocol,
    /// what is transferred
    #[option(room = "applications")]
    pub(super) application: Component,
    /// server's port; flows over QUIC to one port of a node share its endpoint (default: a port of its own)
    #[option(within = 1..=65_535)]
    pub(super) port: Option<u16>,
    /// whether the client sends in 0-RTT packets where it resumes a session (RFC 9001 section 4.6)
    #[option(default = false)]
    pub(super) early_data: bool,
    /// flow that must be over, with all its visits, before this one starts; `start` counts from then
    pub(super) after: Option<String>,
    /// when the client comes back, with a new connection to the same port
    #[option(default = [], room = VISITS)]
    pub(super) visits: Vec<Component>,
    /// when the connection is opened; before the end of the run
    #[option(default = "0 s")]
    pub(super) start: Duration,
    /// when the client closes the connection, if it is not over before; after start
    pub(super) stop: Option<Duration>,
    #[options]
    pub(super) ip: IpOptions,
}

/// The option of all traffic.
#[derive(Debug, Clone, Copy, Options)]
pub(super) struct IpOptions {
    /// version of IP
    #[option(default = 4)]
    pub(super) ip: IpVersion,
}

/// The name of the room of visits, and of its only row.
pub(super) const VISITS: &str = "visits";
pub(super) const VISIT: &str = "visit";

/// The options of a visit of a flow.
#[derive(Debug, Clone, Options)]
pub(super) struct VisitOptions {
    /// when the connection is opened; after the visit before it, before the end of the run
    pub(super) at: Duration,
    /// what is transferred (default: what the flow transfers)
    #[option(room = "applications")]
    pub(super) application: Option<Component>,
}

/// The room of visits.
pub(super) fn visits() -> Room {
    static ROWS: &[Row<()>] = &[Row {
        name: VISIT,
        about: "a later connection of a flow, with what the client learned before",
        parameters: VisitOptions::PARAMETERS,
        build: (),
    }];
    Room::of(VISITS, "when the client of a flow comes back", ROWS, None)
}

/// The key of the array of tables of cross traffic.
pub(super) const CROSS_TRAFFIC_TABLE: &str = "cross_traffic";

/// The options of `[[cross_traffic]]`.
#[expect(dead_code, reason = "names are looked up where they stand in the document")]
#[derive(Debug, Clone, Options)]
pub(super) struct CrossTrafficOptions {
    /// name of the cross traffic
    pub(super) name: String,
    /// node that sends
    pub(super) from: String,
    /// node that the datagrams go to, which ignores them
    pub(super) to: String,
    /// when datagrams leave and how large they are
    #[option(room = "sources")]
    pub(super) source: Component,
    /// when it begins; before the end of the run
    #[option(default = "0 s")]
    pub(super) start: Duration,
    /// when it ends; after start (default: with the run)
    pub(super) stop: Option<Duration>,
    #[options]
    pub(super) ip: IpOptions,
}

/// The options of `[[memory]]`.
#[expect(dead_code, reason = "names are looked up where they stand in the document")]
#[derive(Debug, Clone, Options)]
pub(super) struct MemoryOptions {
    /// name of the entry
    pub(super) name: String,
    /// host that remembers the path
    pub(super) node: String,
    /// node at the other end of the path
    pub(super) peer: String,
    /// whose connections use it, where their option `resume` says so
    #[option(default = "quic")]
    pub(super) protocol: Protocol,
    /// what an earlier connection found; above zero
    pub(super) capacity: Size,
    /// least RTT of that connection; above zero
    pub(super) rtt: Duration,
    /// how long before the run it was found; at most 50 years
    #[option(default = "0 s")]
    pub(super) age: Duration,
    #[options]
    pub(super) ip: IpOptions,
    /// address that the peer is known by (default: that of its node)
    pub(super) address: Option<String>,
}

/// The options of `[[event]]`, beside those of its type.
#[expect(dead_code, reason = "names are looked up where they stand in the document")]
#[derive(Debug, Clone, Options)]
pub(super) struct EventOptions {
    /// when it happens; before the end of the run
    pub(super) at: Duration,
    /// what happens: see `quiclab list events`; its options are given here too
    #[option(name = "type")]
    pub(super) kind: String,
}

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
    Section {
        name: "scenario",
        about: "the top of the file",
        parameters: TopOptions::PARAMETERS,
        form: Form::Top,
    },
    Section {
        name: RECORD_TABLE,
        about: "[record]: which tables are kept",
        parameters: RecordOptions::PARAMETERS,
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
        parameters: NodeOptions::PARAMETERS,
        form: Form::Array,
    },
    Section {
        name: LINK_TABLE,
        about: "[[link]]: a link; options of both directions are given here, or in `both`",
        parameters: LinkOptions::PARAMETERS,
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
        parameters: MediumOptions::PARAMETERS,
        form: Form::Array,
    },
    Section {
        name: FLOW_TABLE,
        about: "[[flow]]: an application over one connection",
        parameters: FlowOptions::PARAMETERS,
        form: Form::Array,
    },
    Section {
        name: CROSS_TRAFFIC_TABLE,
        about: "[[cross_traffic]]: UDP datagrams without answers and without congestion control",
        parameters: CrossTrafficOptions::PARAMETERS,
        form: Form::Array,
    },
    Section {
        name: MEMORY_TABLE,
        about: "[[memory]]: what a host knows of a path from earlier connections",
        parameters: MemoryOptions::PARAMETERS,
        form: Form::Array,
    },
    Section {
        name: EVENT_TABLE,
        about: "[[event]]: what happens at a given time",
        parameters: EventOptions::PARAMETERS,
        form: Form::Array,
    },
    Section {
        name: SWEEP_TABLE,
        about: "[sweep]: the keys to vary, as lists or ranges, and how often to repeat each combination",
        parameters: SweepOptions::PARAMETERS,
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
