//! The graph of a scenario, and the options along its routes.

use super::model::{Flow, Link, Medium, Node, NodeKind, Protocol, Scenario};
use crate::event::{TargetFlow, TargetNode, Targets};
use crate::middlebox;
use crate::proxy::{ProxyOptions, RunInputs};
use network::middlebox::{Middlebox, MiddleboxOptions};
use network::{BuildError, DirectionOptions, Hop, NodeId, Port, Topology};
use random::Generator;
use trace::{Direction, Interest};
use units::Duration;
use units::parameter::{Arguments, Component, Key};

/// The words for the two directions of a link.
pub(crate) const DIRECTIONS: [(&str, Direction); 2] =
    [("forward", Direction::Forward), ("backward", Direction::Backward)];

/// The options of a hop of a route.
pub(crate) struct HopView<'a> {
    /// The label of the sender: `"cell forward"`, `"air phone"`.
    pub label: String,
    /// The options of the direction of the link, or of the sending attachment.
    pub arguments: &'a Arguments,
    /// The options that include the rate.
    pub shared: &'a Arguments,
    /// The option among them that is a rate, if there is one.
    pub rate: Option<Key<Component>>,
}

/// Whether a node remembers something of this flow: over TCP, what it has learned of the path.
fn remembers(flow: &Flow, node: usize) -> bool {
    let kept = flow.protocol == Protocol::Quic || flow.tcp.value(tcp::Config::RESUME).is_on();
    kept && [flow.client, flow.server].contains(&node)
}

impl Scenario {
    /// The graph of its network.
    ///
    /// # Errors
    /// If the graph is invalid, which is impossible for a scenario that was read.
    pub fn topology(&self) -> Result<Topology, network::TopologyError> {
        let mut topology = Topology::default();
        for node in &self.nodes {
            topology.add_node(&node.name)?;
        }
        let name = |node: usize| self.nodes[node].name.as_str();
        for link in &self.links {
            topology.add_link(&link.name, name(link.from), name(link.to))?;
        }
        for medium in &self.media {
            let attached: Vec<&str> = medium.attachments.iter().map(|at| name(at.node)).collect();
            topology.add_medium(&medium.name, &attached, medium.station)?;
        }
        Ok(topology)
    }

    /// Whether traffic begins or ends at a node, so that it is a host.
    pub(crate) fn is_host(&self, node: usize) -> bool {
        self.flows.iter().any(|flow| [flow.client, flow.server].contains(&node))
            || self.cross_traffic.iter().any(|cross| [cross.from, cross.to].contains(&node))
    }

    /// The port of a middlebox at a host to the host: after those of its links and media.
    pub(crate) fn port_to_host(&self, node: usize) -> Port {
        Port(carriers_of(node, &self.links, &self.media).len() as _)
    }

    /// The middleboxes, with their places among the nodes.
    pub(crate) fn middleboxes(&self) -> impl Iterator<Item = (usize, &Node)> {
        self.nodes.iter().enumerate().filter(|(_, node)| matches!(node.kind, NodeKind::Middlebox(_)))
    }

    /// The options of the nodes that take time for packets, with their places among the nodes.
    pub(crate) fn processing(&self) -> impl Iterator<Item = (usize, &Component)> {
        self.nodes.iter().enumerate().filter_map(|(index, node)| Some((index, node.processing.as_ref()?)))
    }

    /// The gates, with their places among the nodes.
    pub(crate) fn gates(&self) -> impl Iterator<Item = (usize, &Node)> {
        self.nodes.iter().enumerate().filter(|(_, node)| node.kind == NodeKind::Gate)
    }

    /// The largest packet that all carriers of a node take.
    pub(crate) fn mtu_at(&self, node: usize) -> u64 {
        let mtus = mtus_of(node, &self.links, &self.media);
        mtus.into_iter().min().expect("the reader refuses nodes without a link or medium")
    }

    /// The nodes, interfaces and flows that events name.
    pub(crate) fn event_targets(&self) -> Targets {
        let node = |(index, node): (usize, &Node)| {
            let (kind, own) = (node.kind.component(), node.stack.is_none());
            TargetNode {
                name: node.name.clone(),
                kind: kind.name,
                remembers: middlebox::remembers(kind.name)
                    || own && self.flows.iter().any(|flow| remembers(flow, index)),
                has_clients: own
                    && self.flows.iter().any(|flow| flow.protocol == Protocol::Quic && flow.client == index),
                interfaces: carriers_of(index, &self.links, &self.media),
            }
        };
        let flow = |flow: &Flow| TargetFlow {
            name: flow.name.clone(),
            client: flow.client,
            stays: match flow.protocol {
                Protocol::Tcp => Some("goes over TCP; expected a flow over QUIC"),
                Protocol::Quic if self.nodes[flow.client].stack.is_some() => {
                    Some("has a client of another stack; expected one with stack = \"quiclab\"")
                }
                Protocol::Quic => None,
            },
        };
        Targets {
            nodes: self.nodes.iter().enumerate().map(node).collect(),
            flows: self.unfolded().flows.iter().map(flow).collect(),
        }
    }

    /// The node at the end of a hop: a place among the nodes.
    pub(crate) fn end_of(&self, hop: Hop) -> usize {
        match hop {
            Hop::Link { link, forward: true } => self.links[link].to,
            Hop::Link { link, forward: false } => self.links[link].from,
            Hop::Medium { medium, to, .. } => self.media[medium].attachments[to].node,
        }
    }

    /// The options of a hop of a route.
    pub(crate) fn hop(&self, hop: Hop) -> HopView<'_> {
        match hop {
            Hop::Link { link, forward } => {
                let link = &self.links[link];
                let (arguments, (name, _)) =
                    if forward { (&link.forward, DIRECTIONS[0]) } else { (&link.backward, DIRECTIONS[1]) };
                HopView {
                    label: format!("{} {name}", link.name),
                    arguments,
                    shared: arguments,
                    rate: Some(DirectionOptions::RATE),
                }
            }
            Hop::Medium { medium, from, to } => {
                let medium = &self.media[medium];
                let name = |at: usize| &self.nodes[medium.attachments[at].node].name;
                let sender = &medium.attachments[from];
                // As the subject of its lane: a lane for one receiver is named after both nodes.
                let own = from == 0 && network::medium::has_lanes_by_receiver(medium.kind.name);
                let to = if own { format!(" {}", name(to)) } else { String::new() };
                HopView {
                    label: format!("{} {}{to}", medium.name, name(from)),
                    arguments: &sender.arguments,
                    shared: &medium.kind.arguments,
                    rate: network::medium::rate_option(medium.kind.name),
                }
            }
        }
    }
}

impl HopView<'_> {
    /// The propagation delay.
    pub(crate) fn delay(&self) -> Duration {
        network::series::base_delay(self.shared)
    }

    /// The maximum size of a packet.
    pub(crate) fn mtu(&self) -> u64 {
        mtu_of(self.arguments)
    }
}

fn mtu_of(arguments: &Arguments) -> u64 {
    arguments.value(DirectionOptions::MTU).into()
}

/// The MTUs of the carriers of a node, in the order of its ports: of each the least, in any direction.
fn mtus_of(node: usize, links: &[Link], media: &[Medium]) -> Vec<u64> {
    let linked = links.iter().filter(|link| link.from == node || link.to == node);
    let linked = linked.map(|link| mtu_of(&link.forward).min(mtu_of(&link.backward)));
    let attached = media.iter().filter(|medium| medium.attachments.iter().any(|at| at.node == node));
    let attached = attached.map(|medium| {
        let mtus = medium.attachments.iter().map(|at| mtu_of(&at.arguments));
        mtus.min().expect("a medium of a node has attachments")
    });
    linked.chain(attached).collect()
}

/// The names of the carriers of a node, in the order of its ports.
pub(crate) fn carriers_of(node: usize, links: &[Link], media: &[Medium]) -> Vec<String> {
    let linked = links.iter().filter(|link| link.from == node || link.to == node).map(|link| &link.name);
    let attached = media
        .iter()
        .filter(|medium| medium.attachments.iter().any(|at| at.node == node))
        .map(|medium| &medium.name);
    linked.chain(attached).cloned().collect()
}

/// The surroundings of a middlebox that is being built.
pub(crate) struct Surroundings<'a> {
    /// The links and the media of the scenario.
    pub carriers: (&'a [Link], &'a [Medium]),
    /// The name of the host, if the middlebox stands at one.
    pub host: Option<&'a str>,
    /// The name for errors and random streams.
    pub name: &'a str,
    /// The random stream of a name.
    pub stream: &'a dyn Fn(&str) -> Generator,
    /// The interest of its log.
    pub interest: Interest,
    /// The values that only a run has.
    pub run: &'a RunInputs,
}

/// Builds the middlebox of a kind at a node.
pub(crate) fn build_middlebox(
    kind: &Component,
    node: usize,
    surroundings: &Surroundings<'_>,
) -> Result<Box<dyn Middlebox>, BuildError> {
    let Surroundings { carriers: (links, media), host, name, stream, interest, run } = *surroundings;
    let mut carriers = carriers_of(node, links, media);
    let mut linked = carriers_of(node, links, &[]).len();
    if let Some(host) = host {
        linked += usize::from(linked == carriers.len());
        carriers.push(host.to_owned());
    }
    let options = MiddleboxOptions {
        arguments: &kind.arguments,
        node: NodeId(node as u32),
        carriers: &carriers,
        links: linked,
        name,
        stream,
        interest,
    };
    let mtus = mtus_of(node, links, media);
    middlebox::build(kind.name, &ProxyOptions { middlebox: options, mtus: &mtus, run })
}
