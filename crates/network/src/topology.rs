//! Nodes, links between them, and the shortest routes.

use std::collections::VecDeque;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A node, by its place in the order of definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// The most nodes that a network may have: what the address plan holds.
const MAX_NODES: usize = 65_000;
const NO_ROUTE: u32 = u32::MAX;

/// The address of a node: 10.0.x.y or fd00::n, by its index.
pub fn node_address(node: NodeId, ipv6: bool) -> IpAddr {
    let n = node.0 + 1;
    if ipv6 {
        IpAddr::V6(Ipv6Addr::from((0xfd00u128 << 112) | u128::from(n)))
    } else {
        IpAddr::V4(Ipv4Addr::from(0x0a00_0000 | n))
    }
}

/// The node of an address of this plan.
#[inline]
pub fn node_of(address: IpAddr) -> Option<NodeId> {
    let n = match address {
        IpAddr::V4(v4) => u32::from(v4).checked_sub(0x0a00_0000)?,
        IpAddr::V6(v6) => u32::try_from(u128::from(v6).checked_sub(0xfd00u128 << 112)?).ok()?,
    };
    n.checked_sub(1).map(NodeId)
}

/// What is wrong with a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TopologyError {
    /// Two nodes of one name.
    DuplicateNode(String),
    /// Two links of one name.
    DuplicateLink(String),
    /// A link to a node that is not there.
    UnknownNode {
        /// The link.
        link: String,
        /// The node's name.
        node: String,
    },
    /// A link from a node to itself.
    Loop(String),
    /// A node without a link.
    Unconnected(String),
    /// No way from one node to another.
    NoRoute {
        /// From here.
        from: String,
        /// To there.
        to: String,
    },
    /// More nodes than addresses.
    TooLarge,
}

impl fmt::Display for TopologyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TopologyError::DuplicateNode(name) => write!(f, "two nodes are called {name:?}"),
            TopologyError::DuplicateLink(name) => write!(f, "two links are called {name:?}"),
            TopologyError::UnknownNode { link, node } => write!(f, "link {link:?} ends at {node:?}, which is no node"),
            TopologyError::Loop(name) => write!(f, "link {name:?} goes from a node to itself"),
            TopologyError::Unconnected(name) => write!(f, "node {name:?} has no link"),
            TopologyError::NoRoute { from, to } => write!(f, "no route from {from:?} to {to:?}"),
            TopologyError::TooLarge => write!(f, "more than {MAX_NODES} nodes"),
        }
    }
}
impl std::error::Error for TopologyError {}

/// The graph: nodes and links by name.
#[derive(Debug, Clone, Default)]
pub struct Topology {
    nodes: Vec<String>,
    links: Vec<(String, NodeId, NodeId)>,
}

impl Topology {
    /// Adds a node.
    ///
    /// # Errors
    /// If the name is taken, or there is no address left.
    pub fn add_node(&mut self, name: &str) -> Result<NodeId, TopologyError> {
        if self.nodes.len() >= MAX_NODES {
            return Err(TopologyError::TooLarge);
        }
        if self.node(name).is_some() {
            return Err(TopologyError::DuplicateNode(name.to_owned()));
        }
        self.nodes.push(name.to_owned());
        Ok(NodeId(self.nodes.len() as u32 - 1))
    }
    /// Adds a link, both directions of it.
    ///
    /// # Errors
    /// If the name is taken or an end is not there.
    pub fn add_link(&mut self, name: &str, from: &str, to: &str) -> Result<(), TopologyError> {
        if self.links.iter().any(|(known, ..)| known == name) {
            return Err(TopologyError::DuplicateLink(name.to_owned()));
        }
        let end = |node: &str| {
            self.node(node)
                .ok_or_else(|| TopologyError::UnknownNode { link: name.to_owned(), node: node.to_owned() })
        };
        let (from, to) = (end(from)?, end(to)?);
        if from == to {
            return Err(TopologyError::Loop(name.to_owned()));
        }
        self.links.push((name.to_owned(), from, to));
        Ok(())
    }

    /// The node of this name.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        self.nodes.iter().position(|known| known == name).map(|at| NodeId(at as u32))
    }
    /// The names of the nodes, by index.
    pub fn nodes(&self) -> &[String] {
        &self.nodes
    }
    /// The links: name and the ends of the forward direction.
    pub fn links(&self) -> &[(String, NodeId, NodeId)] {
        &self.links
    }

    /// A node without a link, if there is one.
    ///
    /// # Errors
    /// [`TopologyError::Unconnected`].
    pub fn check_connected(&self) -> Result<(), TopologyError> {
        for (i, name) in self.nodes.iter().enumerate() {
            let id = NodeId(i as u32);
            if !self.links.iter().any(|(_, from, to)| *from == id || *to == id) {
                return Err(TopologyError::Unconnected(name.clone()));
            }
        }
        Ok(())
    }
    /// Whether there is a way.
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
    /// The directions of links that a packet takes: 2 x link for forward, 2 x link + 1 for backward.
    pub fn route(&self, from: NodeId, to: NodeId) -> Option<Vec<usize>> {
        let routes = self.routes_to(to);
        let (mut at, mut path) = (from, Vec::new());
        while at != to {
            let direction = routes[at.0 as usize];
            if direction == NO_ROUTE {
                return None;
            }
            path.push(direction as usize);
            at = self.end_of(direction as usize);
        }
        Some(path)
    }
    /// Where a direction of a link leads.
    pub fn end_of(&self, direction: usize) -> NodeId {
        let (_, from, to) = &self.links[direction / 2];
        if direction.is_multiple_of(2) { *to } else { *from }
    }
    /// Where a direction of a link starts.
    pub fn start_of(&self, direction: usize) -> NodeId {
        self.end_of(direction ^ 1)
    }

    /// For each node the direction by which it reaches `to` in the fewest hops; among equals the link that was defined
    /// first.
    fn routes_to(&self, to: NodeId) -> Vec<u32> {
        let mut next = vec![NO_ROUTE; self.nodes.len()];
        let mut reached = vec![false; self.nodes.len()];
        reached[to.0 as usize] = true;
        let mut queue = VecDeque::from([to]);
        while let Some(node) = queue.pop_front() {
            for direction in 0..2 * self.links.len() {
                let from = self.start_of(direction);
                if self.end_of(direction) == node && !reached[from.0 as usize] {
                    reached[from.0 as usize] = true;
                    next[from.0 as usize] = direction as u32;
                    queue.push_back(from);
                }
            }
        }
        next
    }

    /// The next direction for each (node, destination), row by destination.
    pub(crate) fn routes(&self) -> Vec<Vec<u32>> {
        (0..self.nodes.len()).map(|to| self.routes_to(NodeId(to as u32))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let graph = graph(&["a", "b", "c", "d"], &[
            ("ab", "a", "b"),
            ("cb", "c", "b"),
            ("ad", "a", "d"),
            ("dc", "d", "c"),
            ("ac", "a", "c"),
        ]);
        let node = |name| graph.node(name).unwrap();
        assert_eq!(graph.route(node("a"), node("c")), Some(vec![8]));
        assert_eq!(graph.route(node("b"), node("d")), Some(vec![1, 4]));
        assert_eq!(graph.route(node("c"), node("c")), Some(vec![]));
    }

    #[test]
    fn mistakes_are_told() {
        let mut graph = graph(&["a", "b", "c", "d"], &[("ab", "a", "b"), ("cd", "c", "d")]);
        assert_eq!(graph.check_connected(), Ok(()));
        let no_route = TopologyError::NoRoute { from: "a".into(), to: "d".into() };
        assert_eq!(graph.check_route(NodeId(0), NodeId(3)), Err(no_route));
        assert_eq!(graph.add_node("a"), Err(TopologyError::DuplicateNode("a".into())));
        assert_eq!(graph.add_link("ab", "a", "b"), Err(TopologyError::DuplicateLink("ab".into())));
        assert_eq!(graph.add_link("aa", "a", "a"), Err(TopologyError::Loop("aa".into())));
        assert!(matches!(graph.add_link("x", "a", "z"), Err(TopologyError::UnknownNode { .. })));
        graph.add_node("e").unwrap();
        assert_eq!(graph.check_connected(), Err(TopologyError::Unconnected("e".into())));
    }

    #[test]
    fn addresses_and_nodes_are_one_to_one() {
        for n in [0, 1, 255, 64_999] {
            for ipv6 in [false, true] {
                assert_eq!(node_of(node_address(NodeId(n), ipv6)), Some(NodeId(n)));
            }
        }
        assert_eq!(node_address(NodeId(0), false).to_string(), "10.0.0.1");
        assert_eq!(node_address(NodeId(0), true).to_string(), "fd00::1");
        assert_eq!(node_of("9.0.0.1".parse().unwrap()), None);
    }
}
