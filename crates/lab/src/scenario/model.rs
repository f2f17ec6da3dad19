//! The scenario as it is simulated, after all checks.

use crate::event::Event;
use std::net::IpAddr;
use std::sync::Arc;
use units::parameter::{Arguments, Choice, Component};
use units::{Duration, Size};

/// A network and its traffic. All options are checked, and all defaults are set.
///
/// A scenario has a duration above zero, at least one flow, and at least one link or medium. Each flow has a route, each
/// node has a link or a medium, and names of one kind are unique.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Its name: letters, digits, `-`, `_` and `.`; default: the name of its file.
    pub name: String,
    /// The seed of its random streams, from 0 to 2^63 - 1; default: 1.
    pub seed: u64,
    /// The latest end of the run, in virtual time; above zero; default: 60 s.
    pub duration: Duration,
    /// The recorded tables: the options of `[record]`.
    pub record: Arguments,
    /// The TLS exchange: the values of [`tls::PARAMETERS`].
    pub tls: Arguments,
    /// The default options of endpoints: the values of [`quic::Config`].
    pub transport: Arc<Arguments>,
    /// The default options of flows over TCP: the values of [`tcp::Config`].
    pub tcp: Arc<Arguments>,
    /// The nodes, in the order of their declarations, or else in the order in which links name them.
    pub nodes: Vec<Node>,
    /// The links, in the order of the document.
    pub links: Vec<Link>,
    /// The media, in the order of the document.
    pub media: Vec<Medium>,
    /// The flows, in the order of the document.
    pub flows: Vec<Flow>,
    /// The senders of datagrams without a connection, in the order of the document.
    pub cross_traffic: Vec<CrossTraffic>,
    /// What hosts know of paths, in the order of the document.
    pub memory: Vec<Remembered>,
    /// The events, in the order of the document.
    pub events: Vec<Event>,
}

/// A node of the network.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its kind; default: a host if traffic begins or ends there, otherwise a router.
    pub kind: NodeKind,
    /// Whose QUIC endpoints it has, if it is a host: a component of the room `stacks`; `None`: those of this project.
    pub stack: Option<Component>,
    /// The time that it takes for packets: a component of the room `processing`.
    pub processing: Option<Component>,
}

/// The kind of a node.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    /// A node where traffic may begin and end.
    Host,
    /// A node that only forwards packets.
    Router,
    /// A node through which packets come from outside and leave.
    Gate,
    /// A node that acts on packets: a component of the room `middleboxes`.
    Middlebox(Component),
}

/// A link between two nodes, with both directions.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Its name.
    pub name: String,
    /// The first node of its forward direction: a place in [`Scenario::nodes`].
    pub from: usize,
    /// The last node of its forward direction: a place in [`Scenario::nodes`].
    pub to: usize,
    /// The direction from `from` to `to`: the values of [`network::LINK`].
    pub forward: Arguments,
    /// The direction from `to` to `from`: the values of [`network::LINK`].
    pub backward: Arguments,
}

impl Link {
    /// The base RTT: propagation in both directions.
    pub(crate) fn round_trip(&self) -> Duration {
        network::series::base_delay(&self.forward) + network::series::base_delay(&self.backward)
    }
}

/// A carrier with any number of attached nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Medium {
    /// Its name, which is unique among links and media.
    pub name: String,
    /// Its kind: a component of the room `media`.
    pub kind: Component,
    /// Whether the first attachment is a station, the only one that the others reach.
    pub station: bool,
    /// The attachments, at least two, starting with the station.
    pub attachments: Vec<Attachment>,
}

/// A node's place on a medium.
#[derive(Debug, Clone, PartialEq)]
pub struct Attachment {
    /// The node: a place in [`Scenario::nodes`].
    pub node: usize,
    /// The options of the attachment.
    pub arguments: Arguments,
}

/// The traffic of one application over one connection.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// Its name.
    pub name: String,
    /// The node that opens the connection: a place in [`Scenario::nodes`].
    pub client: usize,
    /// The node that accepts it: a place in [`Scenario::nodes`].
    pub server: usize,
    /// The time of its start, before the end of the run; default: 0 s.
    pub start: Duration,
    /// The latest time at which its client closes the connection, after the start; default: none.
    pub stop: Option<Duration>,
    /// The server's port; default: one of its own.
    pub port: Option<u16>,
    /// The flow that must end before this one starts; `start` counts from then. Default: none, `start` counts from zero.
    pub after: Option<usize>,
    /// The flow whose application owns its connections; default: none, its own does.
    pub branch_of: Option<usize>,
    /// Its place among the connections of that application, when a run has unfolded the flows.
    pub(crate) seat: Seat,
    /// Whether its client sends 0-RTT packets when it resumes a session; default: no.
    pub early_data: bool,
    /// The connections after the first one, in the order of time.
    pub visits: Vec<Visit>,
    /// The version of IP; default: 4.
    pub ip: IpVersion,
    /// The application: a component of the room `applications`.
    pub application: Component,
    /// The protocol; default: QUIC.
    pub protocol: Protocol,
    /// The options of both endpoints over QUIC: the values of [`quic::Config`]. Flows with equal options mostly share
    /// them.
    pub transport: Arc<Arguments>,
    /// The options of both endpoints over TCP: the values of [`tcp::Config`]. Shared in the same way.
    pub tcp: Arc<Arguments>,
}

/// The place of a connection among those of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Seat {
    /// Its number; 0 for the flow of the application itself.
    pub connection: usize,
    /// The number of its branch.
    pub branch: usize,
}

/// What a host knows of a path from earlier connections.
#[derive(Debug, Clone, PartialEq)]
pub struct Remembered {
    /// The name of the entry.
    pub name: String,
    /// The host that remembers: a place in [`Scenario::nodes`].
    pub node: usize,
    /// The node at the other end: a place in [`Scenario::nodes`].
    pub peer: usize,
    /// The protocol whose connections use it; default: QUIC.
    pub protocol: Protocol,
    /// The capacity in bytes, above zero.
    pub capacity: Size,
    /// The least RTT, above zero.
    pub rtt: Duration,
    /// How long before the run it was found; default: 0 s.
    pub age: Duration,
    /// The version of IP; default: 4.
    pub ip: IpVersion,
    /// The address that the peer is known by; default: that of its node.
    pub address: Option<IpAddr>,
}

/// A connection of a flow after its first one.
#[derive(Debug, Clone, PartialEq)]
pub struct Visit {
    /// The time at which it is opened, before the end of the run.
    pub at: Duration,
    /// The application; default: that of the flow.
    pub application: Option<Component>,
}

impl Flow {
    /// The application protocol that its ends agree on (ALPN, RFC 7301).
    pub(crate) fn alpn(&self) -> &'static [u8] {
        traffic::alpn(self.application.name, &self.application.arguments)
    }

    /// The maximum number of connections: one, except for applications with several streams over TCP.
    pub(crate) fn connections(&self) -> usize {
        self.protocol.connections(&self.application)
    }
}

/// The protocol of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
pub enum Protocol {
    /// RFC 9000.
    Quic,
    /// RFC 9293.
    Tcp,
}

impl Protocol {
    /// Whether it carries this application; if not, the option that it does not fit, and why.
    pub(crate) fn carries(self, application: &Component) -> Result<(), traffic::OptionError> {
        match self {
            Protocol::Quic => traffic::goes_over_quic(application.name, &application.arguments),
            Protocol::Tcp => traffic::tcp_connections(application.name, &application.arguments).map(drop),
        }
    }

    /// The maximum number of connections of this application: one, except with several streams over TCP.
    pub(crate) fn connections(self, application: &Component) -> usize {
        match self {
            Protocol::Quic => 1,
            Protocol::Tcp => traffic::tcp_connections(application.name, &application.arguments)
                .expect("the reader refuses applications that TCP does not carry"),
        }
    }
}

/// UDP datagrams from one node to another, without responses.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossTraffic {
    /// Its name.
    pub name: String,
    /// The node that sends: a place in [`Scenario::nodes`].
    pub from: usize,
    /// The node that receives them: a place in [`Scenario::nodes`].
    pub to: usize,
    /// The time of its start, before the end of the run; default: 0 s.
    pub start: Duration,
    /// The time of its end, after the start; default: the end of the run.
    pub stop: Option<Duration>,
    /// The version of IP; default: 4.
    pub ip: IpVersion,
    /// The times and sizes of datagrams: a component of the room `sources`.
    pub source: Component,
}

/// A version of IP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
pub enum IpVersion {
    /// RFC 791.
    #[word("4")]
    V4,
    /// RFC 8200.
    #[word("6")]
    V6,
}

impl IpVersion {
    /// Its number.
    pub const fn number(self) -> u64 {
        match self {
            IpVersion::V4 => 4,
            IpVersion::V6 => 6,
        }
    }
}
