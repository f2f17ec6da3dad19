//! The parts of the way of a flow: proxies end a connection over TCP, and each part has a control loop of its own.

use super::warnings::{Route, uploads};
use super::{Surveyed, base_rtt};
use crate::proxy::{self, Side};
use crate::scenario::model::{Flow, NodeKind, Protocol};
use network::NodeId;
use units::Duration;
use units::parameter::{Component, Options};

/// Where a part begins or ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum End<'a> {
    /// At a host of the flow.
    Host,
    /// At a proxy: its node, its options, and its side.
    Proxy { node: &'a str, kind: &'a Component, side: Side },
}

impl End<'_> {
    /// The options of the connection at this end of a flow over TCP.
    pub(super) fn config(&self, flow: &Flow) -> tcp::Config {
        match self {
            End::Host => tcp::Config::of(&flow.tcp),
            End::Proxy { kind, side, .. } => proxy::side_config(&kind.arguments, *side),
        }
    }

    /// What an option of this end is called in a warning about a flow.
    pub(super) fn option(&self, name: &str) -> String {
        match self {
            End::Host => name.to_owned(),
            End::Proxy { node, .. } => format!("node {node}, {name}"),
        }
    }
}

/// A part of the way of the data.
#[derive(Debug)]
pub(super) struct Part<'a> {
    /// The hops of the data.
    pub(super) data: &'a [usize],
    /// The base RTT.
    pub(super) rtt: Duration,
    pub(super) sender: End<'a>,
    pub(super) receiver: End<'a>,
}

/// The parts of the way of the data of a flow, from its sender on: one, unless proxies on the ways there and back end its
/// connection.
pub(super) fn parts<'a>(network: Surveyed<'a>, flow: &Flow, route: &Route<'a>) -> Vec<Part<'a>> {
    let (data, back) = if uploads(flow) { (route.there, route.back) } else { (route.back, route.there) };
    // The sides of a proxy that the data arrive at, and leave from.
    let (arrive, leave) =
        if uploads(flow) { (Side::Client, Side::Server) } else { (Side::Server, Side::Client) };
    let node_after = |hop: usize| network.topology.end_of(hop);
    let mut found = Vec::new();
    let (mut begin, mut end, mut sender) = (0, back.len(), End::Host);
    for (at, hop) in data.iter().enumerate() {
        let Some((node, kind)) =
            proxy_at(network, node_after(*hop)).filter(|_| flow.protocol == Protocol::Tcp)
        else {
            continue;
        };
        let Some(before) = back[..end].iter().rposition(|back| node_after(*back) == node_after(*hop)) else {
            continue;
        };
        let rtt = base_rtt(network, data[begin..=at].iter().chain(&back[before + 1..end])).least;
        let proxy = |side| End::Proxy { node, kind, side };
        found.push(Part { data: &data[begin..=at], rtt, sender, receiver: proxy(arrive) });
        (begin, end, sender) = (at + 1, before + 1, proxy(leave));
    }
    let rtt = base_rtt(network, data[begin..].iter().chain(&back[..end])).least;
    found.push(Part { data: &data[begin..], rtt, sender, receiver: End::Host });
    found
}

/// The proxy at a node: the name of the node, and its options.
fn proxy_at(Surveyed { scenario, .. }: Surveyed<'_>, node: NodeId) -> Option<(&str, &Component)> {
    let node = &scenario.nodes[node.0 as usize];
    match &node.kind {
        NodeKind::Middlebox(kind) if proxy::row(kind.name).is_some() => Some((&node.name, kind)),
        _ => None,
    }
}
