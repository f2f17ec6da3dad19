//! What a scenario is, once it was read and found right.

use crate::event::Event;
use units::Duration;
use units::parameter::{Arguments, Component};

/// A network and its traffic. Every option is checked and every default filled in.
///
/// What a scenario cannot have: a flow without a route, a node without a link or a medium, two things of one kind with one
/// name, a duration of zero, no flow, neither link nor medium.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Its name: letters, digits, `-`, `_` and `.`; default: the name of its file.
    pub name: String,
    /// The seed of its random streams, from 0 to 2^63 - 1; default: 1.
    pub seed: u64,
    /// When the run ends at the latest, in virtual time; above zero; default: 60 s.
    pub duration: Duration,
    /// Which tables are kept: the values of [`super::RECORD`].
    pub record: Arguments,
    /// The TLS exchange: the values of [`tls::PARAMETERS`].
    pub tls: Arguments,
    /// The endpoints' options for flows that do not say otherwise: the values of [`quic::PARAMETERS`].
    pub transport: Arguments,
    /// The same for flows over TCP: the values of [`tcp::PARAMETERS`].
    pub tcp: Arguments,
    /// The nodes: those that were declared, then the others in the order in which links name them.
    pub nodes: Vec<Node>,
    /// The links, in the order of the document.
    pub links: Vec<Link>,
    /// The media, in the order of the document.
    pub media: Vec<Medium>,
    /// The flows, in the order of the document.
    pub flows: Vec<Flow>,
    /// Datagrams that leave without a connection, in the order of the document.
    pub cross_traffic: Vec<CrossTraffic>,
    /// What happens at given times, in the order of the document.
    pub events: Vec<Event>,
}

/// A node of the network.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// What it is. Default: a host if a flow begins or ends there, a router otherwise.
    pub kind: NodeKind,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    /// Flows may begin and end here.
    Host,
    /// Packets only pass.
    Router,
    /// Something happens to packets that pass: a component of the room `middleboxes`.
    Middlebox(Component),
}

/// A link between two nodes, both directions of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Its name.
    pub name: String,
    /// Where its forward direction begins: a place in [`Scenario::nodes`].
    pub from: usize,
    /// Where its forward direction ends: a place in [`Scenario::nodes`].
    pub to: usize,
    /// The direction from `from` to `to`: the values of [`network::LINK`].
    pub forward: Arguments,
    /// The direction from `to` to `from`: the values of [`network::LINK`].
    pub backward: Arguments,
}

/// A carrier that any number of nodes are attached to.
#[derive(Debug, Clone, PartialEq)]
pub struct Medium {
    /// Its name: no link and no other medium has it.
    pub name: String,
    /// What it is: a component of the room `media`.
    pub kind: Component,
    /// Whether the first attachment is a station, which all others reach, and no one else.
    pub station: bool,
    /// What is attached to it, the station first: at least two.
    pub attachments: Vec<Attachment>,
}

/// A node's place on a medium.
#[derive(Debug, Clone, PartialEq)]
pub struct Attachment {
    /// The node: a place in [`Scenario::nodes`].
    pub node: usize,
    /// The options of the medium that may be given for one attachment.
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
    /// When it begins, before the end of the run; default: 0 s.
    pub start: Duration,
    /// When its client closes the connection at the latest, after the start; default: it does not.
    pub stop: Option<Duration>,
    /// The server's port; default: one of its own.
    pub port: Option<u16>,
    /// The flow that must be over before it starts; `start` counts from then. Default: none, it counts from the start of the run.
    pub after: Option<usize>,
    /// Whether its client sends 0-RTT packets where it resumes a session; default: no.
    pub early_data: bool,
    /// The connections behind the first one, in the order of time.
    pub visits: Vec<Visit>,
    /// The version of IP that it goes over; default: 4.
    pub ip: IpVersion,
    /// What is transferred: a component of the room `applications`.
    pub application: Component,
    /// The protocol that it goes over; default: QUIC.
    pub protocol: Protocol,
    /// The options of both its endpoints if it goes over QUIC: the values of [`quic::PARAMETERS`].
    pub transport: Arguments,
    /// The options of both its endpoints if it goes over TCP: the values of [`tcp::PARAMETERS`].
    pub tcp: Arguments,
}

/// A connection of a flow behind its first one.
#[derive(Debug, Clone, PartialEq)]
pub struct Visit {
    /// When it is opened, before the end of the run.
    pub at: Duration,
    /// What is transferred; default: what the flow transfers.
    pub application: Option<Component>,
}

impl Flow {
    /// The application protocol that its ends agree on (ALPN, RFC 7301).
    pub(crate) fn alpn(&self) -> &'static [u8] {
        traffic::alpn(self.application.name, &self.application.arguments)
    }

    /// How many connections it may have: one, but for applications that open several streams over TCP.
    pub(crate) fn connections(&self) -> usize {
        match self.protocol {
            Protocol::Quic => 1,
            Protocol::Tcp => {
                traffic::tcp_connections(self.application.name, &self.application.arguments).unwrap_or(1)
            }
        }
    }
}

/// What a flow goes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// RFC 9000.
    Quic,
    /// RFC 9293.
    Tcp,
}

impl Protocol {
    /// The word for it in a scenario.
    pub const fn name(self) -> &'static str {
        match self {
            Protocol::Quic => "quic",
            Protocol::Tcp => "tcp",
        }
    }
}

/// UDP datagrams from one node to another, which nobody answers.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossTraffic {
    /// Its name.
    pub name: String,
    /// The node that sends: a place in [`Scenario::nodes`].
    pub from: usize,
    /// The node that they go to: a place in [`Scenario::nodes`].
    pub to: usize,
    /// When it begins, before the end of the run; default: 0 s.
    pub start: Duration,
    /// When it ends, after the start; default: with the run.
    pub stop: Option<Duration>,
    /// The version of IP that it goes over; default: 4.
    pub ip: IpVersion,
    /// When datagrams leave and how large they are: a component of the room `sources`.
    pub source: Component,
}

/// A version of IP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IpVersion {
    /// RFC 791.
    V4,
    /// RFC 8200.
    V6,
}

impl IpVersion {
    /// The word for it in a scenario.
    pub const fn name(self) -> &'static str {
        match self {
            IpVersion::V4 => "4",
            IpVersion::V6 => "6",
        }
    }

    /// Its number.
    pub const fn number(self) -> u64 {
        match self {
            IpVersion::V4 => 4,
            IpVersion::V6 => 6,
        }
    }
}
