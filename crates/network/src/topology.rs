//! Nodes, carriers, and the shortest routes between nodes.
//!
//! A route is a list of hops. A hop is one direction of a link (`2 n` for link `n` forward, `2 n + 1`
//! backward), or a step from one attachment of a medium to another; the numbers of these follow those of all
//! links.

use crate::address::{MAX_NODES, NodeId, Port};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::ops::Range;

/// The maximum number of links of a network.
pub const MAX_LINKS: usize = 100_000;
/// The maximum number of media of a network.
pub const MAX_MEDIA: usize = 1_000;
/// The maximum number of nodes attached to a medium.
pub const MAX_ATTACHMENTS: usize = 1_001;
/// The maximum number of ports of a node.
pub(crate) const MAX_PORTS: usize = u16::MAX as usize - 1;
/// The maximum number of steps from one attachment of a medium to another, over all media.
const MAX_WAYS: u32 = 1 << 30;
/// The entry of a table of next hops without a route.
pub(crate) const NO_ROUTE: u32 = u32::MAX;

/// An error in a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TopologyError {
    /// Two nodes have the same name.
    DuplicateNode(String),
    /// Two links, two media, or a link and a medium have the same name.
    DuplicateCarrier(String),
    /// A link or a medium names an unknown node.
    UnknownNode {
        /// The link or the medium.
        carrier: String,
        /// The name of the node.
        node: String,
    },
    /// A link connects a node to itself, or a node is attached to a medium twice.
    Loop(String),
    /// A node has neither a link nor a medium.
    Unconnected(String),
    /// There is no route from one node to another.
    NoRoute {
        /// The first node.
        from: String,
        /// The second node.
        to: String,
    },
    /// There are more than [`MAX_NODES`] nodes.
    TooManyNodes,
    /// There are more than [`MAX_LINKS`] links.
    TooManyLinks,
    /// There are more than [`MAX_MEDIA`] media, or they are too large together.
    TooManyMedia,
    /// A medium has fewer than two attachments, or more than [`MAX_ATTACHMENTS`].
    Attachments(String),
    /// A node has more than 65,534 ports.
    TooManyPorts(String),
}

impl fmt::Display for TopologyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TopologyError::DuplicateNode(name) => write!(f, "two nodes are called {name:?}"),
            TopologyError::DuplicateCarrier(name) => write!(f, "two links or media are called {name:?}"),
            TopologyError::UnknownNode { carrier, node } => {
                write!(f, "{carrier:?} leads to {node:?}, which is not a node")
            }
            TopologyError::Loop(name) => write!(f, "{name:?} goes from a node to itself"),
            TopologyError::Unconnected(name) => write!(f, "node {name:?} has no link and no medium"),
            TopologyError::NoRoute { from, to } => write!(f, "no route from {from:?} to {to:?}"),
            TopologyError::TooManyNodes => write!(f, "more than {MAX_NODES} nodes"),
            TopologyError::TooManyLinks => write!(f, "more than {MAX_LINKS} links"),
            TopologyError::TooManyMedia => {
                write!(
                    f,
                    "more than {MAX_MEDIA} media, or more than {MAX_WAYS} ways between their attachments"
                )
            }
            TopologyError::Attachments(name) => {
                write!(f, "{name:?} has fewer than 2 or more than {MAX_ATTACHMENTS} attachments")
            }
            TopologyError::TooManyPorts(name) => write!(f, "node {name:?} has more than {MAX_PORTS} ports"),
        }
    }
}
impl std::error::Error for TopologyError {}

/// A step of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hop {
    /// A direction of a link.
    Link {
        /// The link, in the order of definition.
        link: usize,
        /// Whether it is the forward direction.
        forward: bool,
    },
    /// A step from one attachment of a medium to another.
    Medium {
        /// The medium, in the order of definition.
        medium: usize,
        /// The sending attachment.
        from: usize,
        /// The receiving attachment.
        to: usize,
    },
}

/// A medium in the graph.
#[derive(Debug, Clone)]
struct Shared {
    attachments: Vec<NodeId>,
    /// Whether all attachments but the first, the station, only reach the station.
    star: bool,
    /// The number of its first hop.
    first: u32,
}

/// The carrier at a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Carrier {
    /// The direction of a link that leads away from the node.
    Away(u32),
    /// A medium, and the attachment of the node.
    Attached(u32, u16),
}

/// The graph: nodes, links and media by name.
#[derive(Debug, Clone, Default)]
pub struct Topology {
    nodes: Vec<String>,
    links: Vec<(String, NodeId, NodeId)>,
    media: Vec<Shared>,
    /// The carriers at the ports of each node, links before media.
    ports: Vec<Vec<Carrier>>,
    node_names: BTreeMap<String, NodeId>,
    carrier_names: BTreeSet<String>,
}

impl Topology {
    /// Adds a node.
    ///
    /// # Errors
    /// If the name is in use, or there are already [`MAX_NODES`].
    pub fn add_node(&mut self, name: &str) -> Result<NodeId, TopologyError> {
        if self.nodes.len() >= MAX_NODES {
            return Err(TopologyError::TooManyNodes);
        }
        let id = NodeId(self.nodes.len() as u32);
        if self.node(name).is_some() {
            return Err(TopologyError::DuplicateNode(name.to_owned()));
        }
        self.nodes.push(name.to_owned());
        self.ports.push(Vec::new());
        self.node_names.insert(name.to_owned(), id);
        Ok(id)
    }
    /// Adds both directions of a link. There may be several links between two nodes. All links precede all
    /// media.
    ///
    /// # Errors
    /// If the name is in use, an end is unknown, both ends are the same node, or there are too many links.
    ///
    /// # Panics
    /// If there already is a medium.
    pub fn add_link(&mut self, name: &str, from: &str, to: &str) -> Result<(), TopologyError> {
        assert!(self.media.is_empty(), "links come before media");
        if self.links.len() >= MAX_LINKS {
            return Err(TopologyError::TooManyLinks);
        }
        let (from, to) = (self.end(name, from)?, self.end(name, to)?);
        if from == to {
            return Err(TopologyError::Loop(name.to_owned()));
        }
        self.take_name(name)?;
        let forward = 2 * self.links.len() as u32;
        self.add_port(from, Carrier::Away(forward))?;
        self.add_port(to, Carrier::Away(forward + 1))?;
        self.links.push((name.to_owned(), from, to));
        Ok(())
    }
    /// Adds a medium with its attached nodes. In a `star` the first is a station, and all others only reach the
    /// station; otherwise each reaches every other.
    ///
    /// # Errors
    /// If the name is in use, a node is unknown or attached twice, or there are too many.
    pub fn add_medium(&mut self, name: &str, attachments: &[&str], star: bool) -> Result<(), TopologyError> {
        let first = self.hops();
        let ways = u32::try_from(attachments.len().pow(2)).ok().and_then(|ways| ways.checked_add(first));
        if self.media.len() >= MAX_MEDIA || ways.is_none_or(|ways| ways > MAX_WAYS) {
            return Err(TopologyError::TooManyMedia);
        }
        if !(2..=MAX_ATTACHMENTS).contains(&attachments.len()) {
            return Err(TopologyError::Attachments(name.to_owned()));
        }
        let nodes = attachments.iter().map(|node| self.end(name, node));
        let nodes = nodes.collect::<Result<Vec<_>, _>>()?;
        if nodes.iter().collect::<BTreeSet<_>>().len() < nodes.len() {
            return Err(TopologyError::Loop(name.to_owned()));
        }
        self.take_name(name)?;
        let medium = self.media.len() as u32;
        for (number, node) in nodes.iter().enumerate() {
            self.add_port(*node, Carrier::Attached(medium, number as u16))?;
        }
        self.media.push(Shared { attachments: nodes, star, first });
        Ok(())
    }

    fn end(&self, carrier: &str, node: &str) -> Result<NodeId, TopologyError> {
        let unknown = || TopologyError::UnknownNode { carrier: carrier.to_owned(), node: node.to_owned() };
        self.node(node).ok_or_else(unknown)
    }
    fn take_name(&mut self, name: &str) -> Result<(), TopologyError> {
        if self.carrier_names.insert(name.to_owned()) {
            Ok(())
        } else {
            Err(TopologyError::DuplicateCarrier(name.to_owned()))
        }
    }
    fn add_port(&mut self, node: NodeId, carrier: Carrier) -> Result<(), TopologyError> {
        let ports = &mut self.ports[node.0 as usize];
        if ports.len() >= MAX_PORTS {
            return Err(TopologyError::TooManyPorts(self.nodes[node.0 as usize].clone()));
        }
        ports.push(carrier);
        Ok(())
    }
    /// The number of hops so far.
    fn hops(&self) -> u32 {
        let links = 2 * self.links.len() as u32;
        self.media.last().map_or(links, |medium| medium.first + medium.attachments.len().pow(2) as u32)
    }

    /// The node with this name.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        self.node_names.get(name).copied()
    }
    /// The names of the nodes, by index.
    pub fn nodes(&self) -> &[String] {
        &self.nodes
    }
    /// The links: the name and the ends of the forward direction.
    pub fn links(&self) -> &[(String, NodeId, NodeId)] {
        &self.links
    }

    /// The nodes attached to a medium, in the order of its attachments.
    ///
    /// # Panics
    /// If there is no such medium.
    pub fn attachments(&self, medium: usize) -> &[NodeId] {
        &self.media[medium].attachments
    }
    /// The number of media.
    pub fn media(&self) -> usize {
        self.media.len()
    }
    /// The number of ports of a node.
    pub fn ports(&self, node: NodeId) -> usize {
        self.ports[node.0 as usize].len()
    }

    /// Checks that every node has a port.
    ///
    /// # Errors
    /// [`TopologyError::Unconnected`] with the first node without one.
    pub fn check_connected(&self) -> Result<(), TopologyError> {
        match self.ports.iter().position(Vec::is_empty) {
            Some(node) => Err(TopologyError::Unconnected(self.nodes[node].clone())),
            None => Ok(()),
        }
    }
    /// Checks that there is a route from one node to another.
    ///
    /// # Errors
    /// [`TopologyError::NoRoute`].
    pub fn check_route(&self, from: NodeId, to: NodeId) -> Result<(), TopologyError> {
        match self.route(from, to) {
            Some(_) => Ok(()),
            None => {
                let name = |node: NodeId| self.nodes[node.0 as usize].clone();
                Err(TopologyError::NoRoute { from: name(from), to: name(to) })
            }
        }
    }
    /// The hops of a packet, by their numbers.
    pub fn route(&self, from: NodeId, to: NodeId) -> Option<Vec<usize>> {
        self.route_to(from, to, None)
    }
    /// The hops of a packet to the address of a port.
    pub fn route_to_port(&self, from: NodeId, to: NodeId, port: Port) -> Option<Vec<usize>> {
        self.route_to(from, to, Some(port))
    }
    /// The hops of a packet that leaves by a port.
    pub fn route_from_port(&self, from: NodeId, port: Port, to: NodeId) -> Option<Vec<usize>> {
        let ways = self.hops_by(from, port).into_iter().filter_map(|hop| {
            let rest = self.route(self.end_of(hop as usize), to)?;
            Some([vec![hop as usize], rest].concat())
        });
        ways.min_by_key(Vec::len)
    }

    fn route_to(&self, from: NodeId, to: NodeId, port: Option<Port>) -> Option<Vec<usize>> {
        let routes = self.routes_to(to, port);
        let (mut at, mut path) = (from, Vec::new());
        while at != to {
            let hop = routes[at.0 as usize];
            if hop == NO_ROUTE {
                return None;
            }
            path.push(hop as usize);
            at = self.end_of(hop as usize);
        }
        Some(path)
    }
    /// The hop with this number.
    ///
    /// # Panics
    /// If there is no such hop.
    pub fn hop(&self, number: usize) -> Hop {
        if number < 2 * self.links.len() {
            return Hop::Link { link: number / 2, forward: number.is_multiple_of(2) };
        }
        let medium = self.media.partition_point(|medium| medium.first as usize <= number) - 1;
        let shared = &self.media[medium];
        let (within, count) = (number - shared.first as usize, shared.attachments.len());
        assert!(within < count * count, "a hop is one of a carrier that exists");
        Hop::Medium { medium, from: within / count, to: within % count }
    }
    /// The node at the end of a hop.
    ///
    /// # Panics
    /// If there is no such hop.
    pub fn end_of(&self, hop: usize) -> NodeId {
        match self.hop(hop) {
            Hop::Link { link, forward: true } => self.links[link].2,
            Hop::Link { link, forward: false } => self.links[link].1,
            Hop::Medium { medium, to, .. } => self.media[medium].attachments[to],
        }
    }
    /// The arrival ports: of each direction of a link, and of the attachments of each medium.
    pub(crate) fn arrival_ports(&self) -> (Vec<Port>, Vec<Vec<Port>>) {
        let mut links = vec![Port(0); 2 * self.links.len()];
        let mut media: Vec<Vec<Port>> =
            self.media.iter().map(|medium| vec![Port(0); medium.attachments.len()]).collect();
        for ports in &self.ports {
            for (number, carrier) in ports.iter().enumerate() {
                let port = Port(number as u16);
                match carrier {
                    Carrier::Away(away) => links[*away as usize ^ 1] = port,
                    Carrier::Attached(medium, at) => media[*medium as usize][usize::from(*at)] = port,
                }
            }
        }
        (links, media)
    }
    /// The port of a node that leads to a carrier, by its place in the order of definition: media follow all
    /// links. `None` if the node is not attached to it.
    pub fn port_to(&self, node: NodeId, carrier: usize) -> Option<Port> {
        let leads_there = |known: &Carrier| match known {
            Carrier::Away(hop) => *hop as usize / 2 == carrier,
            Carrier::Attached(medium, _) => self.links.len() + *medium as usize == carrier,
        };
        let at = self.ports[node.0 as usize].iter().position(leads_there)?;
        Some(Port(at as u16))
    }

    /// The hops from a node by one of its ports.
    pub(crate) fn hops_by(&self, node: NodeId, port: Port) -> Vec<u32> {
        match self.ports[node.0 as usize].get(usize::from(port.0)) {
            Some(Carrier::Away(hop)) => vec![*hop],
            Some(Carrier::Attached(medium, from)) => {
                let shared = &self.media[*medium as usize];
                let others = 0..shared.attachments.len();
                others.filter_map(|to| shared.hop(usize::from(*from), to)).collect()
            }
            None => Vec::new(),
        }
    }

    /// For each node the next hop on the route to `to` with the fewest hops; among equal routes the one with
    /// the lowest number: the carrier that was defined first, links before media, forward before backward. With
    /// a port, packets arrive by that port.
    pub(crate) fn routes_to(&self, to: NodeId, port: Option<Port>) -> Vec<u32> {
        let mut distance = vec![u32::MAX; self.nodes.len()];
        distance[to.0 as usize] = 0;
        let mut queue = VecDeque::from([to]);
        let mut next = vec![NO_ROUTE; self.nodes.len()];
        // A medium reaches all others from its nearest attachments; farther ones add nothing.
        let mut nearest = vec![u32::MAX; self.media.len()];
        while let Some(node) = queue.pop_front() {
            let here = distance[node.0 as usize];
            for (number, carrier) in self.ports[node.0 as usize].iter().enumerate() {
                if node == to && port.is_some_and(|port| usize::from(port.0) != number) {
                    continue;
                }
                if let Carrier::Attached(medium, _) = carrier
                    && !self.media[*medium as usize].star
                {
                    let nearest = &mut nearest[*medium as usize];
                    *nearest = (*nearest).min(here);
                    if here > *nearest {
                        continue;
                    }
                }
                self.each_hop_to(*carrier, |hop, from| {
                    let known = &mut distance[from.0 as usize];
                    if *known == u32::MAX {
                        *known = here + 1;
                        queue.push_back(from);
                    }
                    if *known == here + 1 {
                        next[from.0 as usize] = next[from.0 as usize].min(hop);
                    }
                });
            }
        }
        next
    }

    /// The number of neighbours of a node, where a medium on which more than two hear one another counts as two.
    pub(crate) fn degree(&self, node: NodeId) -> usize {
        let of = |carrier: &Carrier| match carrier {
            Carrier::Away(_) => 1,
            Carrier::Attached(medium, at) => {
                let shared = &self.media[*medium as usize];
                match shared.is_between_pairs() {
                    true => {
                        shared.heard_by(usize::from(*at)).filter(|other| *other != usize::from(*at)).count()
                    }
                    false => 2,
                }
            }
        };
        self.ports[node.0 as usize].iter().map(of).sum()
    }
    /// The neighbours of a node by links, and by media that only two, or only pairs with a station, hear: with the hops
    /// to them and back.
    pub(crate) fn neighbours(&self, node: NodeId) -> impl Iterator<Item = (u32, u32, NodeId)> {
        self.ports[node.0 as usize].iter().flat_map(|carrier| {
            let (link, shared) = match *carrier {
                Carrier::Away(away) => (Some((away, away ^ 1, self.end_of(away as usize))), None),
                Carrier::Attached(medium, at) => {
                    (None, Some((&self.media[medium as usize], usize::from(at))))
                }
            };
            let on_medium = shared.into_iter().filter(|(shared, _)| shared.is_between_pairs());
            link.into_iter().chain(on_medium.flat_map(|(shared, at)| {
                shared.heard_by(at).filter_map(move |other| {
                    Some((shared.hop(at, other)?, shared.hop(other, at)?, shared.attachments[other]))
                })
            }))
        })
    }

    /// Calls `each` with the hops that arrive by a carrier, and their first nodes.
    fn each_hop_to(&self, carrier: Carrier, mut each: impl FnMut(u32, NodeId)) {
        match carrier {
            Carrier::Away(away) => each(away ^ 1, self.end_of(away as usize)),
            Carrier::Attached(medium, to) => {
                let shared = &self.media[medium as usize];
                for from in shared.heard_by(usize::from(to)) {
                    if let Some(hop) = shared.hop(from, usize::from(to)) {
                        each(hop, shared.attachments[from]);
                    }
                }
            }
        }
    }
}

impl Shared {
    /// Whether each hop is one of a pair that does not hear the others, apart from a station.
    fn is_between_pairs(&self) -> bool {
        self.star || self.attachments.len() == 2
    }
    /// The attachments that one attachment hears, and possibly itself.
    fn heard_by(&self, at: usize) -> Range<usize> {
        // A terminal of a star only receives from the station.
        0..if self.star && at > 0 { 1 } else { self.attachments.len() }
    }
    /// The number of the hop from one attachment to another, if the other is reachable.
    fn hop(&self, from: usize, to: usize) -> Option<u32> {
        let reaches = from != to && (!self.star || from == 0 || to == 0);
        reaches.then(|| self.first + (from * self.attachments.len() + to) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::Routes;

    fn graph(nodes: &[&str], links: &[(&str, &str, &str)]) -> Topology {
        let mut graph = Topology::default();
        for name in nodes {
            graph.add_node(name).unwrap();
        }
        links.iter().for_each(|(name, from, to)| graph.add_link(name, from, to).unwrap());
        graph
    }

    #[test]
    fn routes_are_the_shortest_and_ties_go_to_the_first_link() {
        let graph = graph(
            &["a", "b", "c", "d"],
            &[("ab", "a", "b"), ("cb", "c", "b"), ("ad", "a", "d"), ("dc", "d", "c"), ("ac", "a", "c")],
        );
        let node = |name| graph.node(name).unwrap();
        assert_eq!(graph.route(node("a"), node("c")), Some(vec![8]));
        assert_eq!(graph.route(node("b"), node("d")), Some(vec![1, 4]));
        assert_eq!(graph.route(node("c"), node("c")), Some(vec![]));
    }

    #[test]
    fn among_equally_short_ways_the_first_link_wins_wherever_it_leads() {
        // From a to d by b or by c; b is found first, but the link to c was defined first.
        let graph = graph(
            &["a", "b", "c", "d"],
            &[("ac", "a", "c"), ("ab", "a", "b"), ("bd", "b", "d"), ("cd", "c", "d"), ("second", "a", "c")],
        );
        let node = |name| graph.node(name).unwrap();
        assert_eq!(graph.route(node("a"), node("d")), Some(vec![0, 6]));
        assert_eq!(graph.route(node("d"), node("a")), Some(vec![5, 3]));
        assert_eq!((graph.end_of(4), graph.end_of(5)), (node("d"), node("b")));
    }

    #[test]
    fn the_largest_networks_are_routed_in_time() {
        let mut graph = Topology::default();
        for n in 0..MAX_NODES {
            graph.add_node(&n.to_string()).unwrap();
        }
        assert_eq!(graph.add_node("more"), Err(TopologyError::TooManyNodes));
        (1..MAX_NODES)
            .for_each(|n| graph.add_link(&n.to_string(), &(n - 1).to_string(), &n.to_string()).unwrap());
        let route = graph.route(NodeId(0), NodeId(MAX_NODES as u32 - 1)).unwrap();
        assert_eq!(route, (0..MAX_NODES - 1).map(|link| 2 * link).collect::<Vec<_>>());
    }

    #[test]
    fn mistakes_are_told() {
        let mut graph = graph(&["a", "b", "c", "d"], &[("ab", "a", "b"), ("cd", "c", "d")]);
        assert_eq!(graph.check_connected(), Ok(()));
        let no_route = TopologyError::NoRoute { from: "a".into(), to: "d".into() };
        assert_eq!(graph.check_route(NodeId(0), NodeId(3)), Err(no_route));
        assert_eq!(graph.add_node("a"), Err(TopologyError::DuplicateNode("a".into())));
        assert_eq!(graph.add_link("ab", "a", "b"), Err(TopologyError::DuplicateCarrier("ab".into())));
        assert_eq!(graph.add_link("aa", "a", "a"), Err(TopologyError::Loop("aa".into())));
        assert!(matches!(graph.add_link("x", "a", "z"), Err(TopologyError::UnknownNode { .. })));
        graph.add_node("e").unwrap();
        assert_eq!(graph.check_connected(), Err(TopologyError::Unconnected("e".into())));
    }

    #[test]
    fn a_medium_connects_all_that_are_attached_or_all_with_its_station() {
        for star in [false, true] {
            let mut graph = graph(&["ap", "phone", "tablet", "server"], &[("uplink", "ap", "server")]);
            graph.add_medium("air", &["ap", "phone", "tablet"], star).unwrap();
            let node = |name| graph.node(name).unwrap();
            let hops = |from, to| -> Vec<Hop> {
                let route = graph.route(node(from), node(to)).unwrap();
                route.into_iter().map(|hop| graph.hop(hop)).collect()
            };
            let air = |from, to| Hop::Medium { medium: 0, from, to };
            assert_eq!(hops("phone", "server"), [air(1, 0), Hop::Link { link: 0, forward: true }]);
            assert_eq!(hops("server", "tablet"), [Hop::Link { link: 0, forward: false }, air(0, 2)]);
            let between = if star { vec![air(1, 0), air(0, 2)] } else { vec![air(1, 2)] };
            assert_eq!(hops("phone", "tablet"), between);
            assert_eq!((graph.ports(node("ap")), graph.ports(node("phone"))), (2, 1));
            assert_eq!(
                graph.arrival_ports(),
                (vec![Port(0), Port(0)], vec![vec![Port(1), Port(0), Port(0)]]),
            );
            assert_eq!(graph.port_to(node("ap"), 1), Some(Port(1)));
            assert_eq!(graph.hops_by(node("ap"), Port(1)).len(), 2);
        }
    }

    #[test]
    fn packets_to_the_address_of_a_port_arrive_by_that_port() {
        // a reaches c directly, or by b.
        let graph = graph(&["a", "b", "c"], &[("ac", "a", "c"), ("ab", "a", "b"), ("bc", "b", "c")]);
        let by = |port| graph.routes_to(NodeId(2), port)[0];
        assert_eq!((by(None), by(Some(Port(0))), by(Some(Port(1)))), (0, 0, 2));
        assert_eq!(graph.routes_to(NodeId(2), Some(Port(2)))[0], NO_ROUTE);
    }

    #[test]
    fn mistakes_of_media_are_told() {
        let mut graph = graph(&["a", "b", "c"], &[("ab", "a", "b")]);
        let taken = TopologyError::DuplicateCarrier("ab".into());
        assert_eq!(graph.add_medium("ab", &["a", "b"], false), Err(taken));
        assert_eq!(graph.add_medium("m", &["a"], false), Err(TopologyError::Attachments("m".into())));
        assert_eq!(graph.add_medium("m", &["a", "b", "a"], false), Err(TopologyError::Loop("m".into())));
        assert!(matches!(graph.add_medium("m", &["a", "z"], true), Err(TopologyError::UnknownNode { .. })));
        assert!(graph.check_connected().is_err());
        assert_eq!(graph.add_medium("m", &["a", "c"], true), Ok(()));
        assert_eq!(graph.check_connected(), Ok(()));
    }

    /// Among all hops, each node takes one of those that bring it nearer, the one of the lowest number.
    #[test]
    fn routes_are_those_of_a_search_through_all_hops() {
        for seed in 0..200 {
            let mut random = random::Generator::new(seed, "topology");
            let mut below = |limit: u64| (random.bits() % limit) as usize;
            let names: Vec<String> = (0..2 + below(7)).map(|node| node.to_string()).collect();
            let count = names.len();
            let mut topology = Topology::default();
            for name in &names {
                topology.add_node(name).unwrap();
            }
            for link in 0..below(6) {
                let from = below(count as u64);
                let to = (from + 1 + below(count as u64 - 1)) % count;
                topology.add_link(&format!("link {link}"), &names[from], &names[to]).unwrap();
            }
            for medium in 0..below(4) {
                let first = below(count as u64);
                let attached: Vec<&str> =
                    (0..2 + below(count as u64 - 1)).map(|at| names[(first + at) % count].as_str()).collect();
                topology.add_medium(&format!("medium {medium}"), &attached, below(2) == 0).unwrap();
            }
            let mut hops: Vec<(u32, NodeId, NodeId)> = Vec::new();
            for from in (0..count as u32).map(NodeId) {
                let ports = (0..topology.ports(from) as u16).map(Port);
                let all = ports.flat_map(|port| topology.hops_by(from, port)).collect::<Vec<u32>>();
                hops.extend(all.into_iter().map(|hop| (hop, from, topology.end_of(hop as usize))));
            }
            let routes = Routes::new(topology.clone());
            for to in (0..count as u32).map(NodeId) {
                let mut distance = vec![usize::MAX; count];
                distance[to.0 as usize] = 0;
                for _ in 0..count {
                    for (_, from, end) in &hops {
                        let there = distance[end.0 as usize].saturating_add(1);
                        let here = &mut distance[from.0 as usize];
                        *here = (*here).min(there);
                    }
                }
                let expected = (0..count as u32).map(|node| {
                    let nearer = hops.iter().filter(|(_, from, end)| {
                        from.0 == node
                            && distance[node as usize] < usize::MAX
                            && distance[end.0 as usize].checked_add(1) == Some(distance[node as usize])
                    });
                    nearer.map(|(hop, ..)| *hop).min().unwrap_or(NO_ROUTE)
                });
                let expected = expected.collect::<Vec<u32>>();
                assert_eq!(topology.routes_to(to, None), expected, "{seed}: {topology:?}");
                let next = (0..count as u32).map(|node| routes.next(NodeId(node), to));
                assert_eq!(next.collect::<Vec<u32>>(), expected, "{seed}: {topology:?}");
            }
        }
    }
}
