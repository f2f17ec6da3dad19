//! Nodes, links between them, and the shortest routes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A node, by its place in the order of definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// The most nodes that a network may have: the tables of next hops grow with their square.
pub const MAX_NODES: usize = 10_000;
/// The most links that a network may have.
pub const MAX_LINKS: usize = 100_000;
/// In a table of next hops: there is no way.
pub(crate) const NO_ROUTE: u32 = u32::MAX;

/// The address of a node: 10.0.x.y (RFC 1918) or fd00::n (RFC 4193), n = 256 x + y being its index plus one.
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
    /// More than [`MAX_NODES`] nodes.
    TooManyNodes,
    /// More than [`MAX_LINKS`] links.
    TooManyLinks,
}

impl fmt::Display for TopologyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TopologyError::DuplicateNode(name) => write!(f, "two nodes are called {name:?}"),
            TopologyError::DuplicateLink(name) => write!(f, "two links are called {name:?}"),
            TopologyError::UnknownNode { link, node } => {
                write!(f, "link {link:?} ends at {node:?}, which is no node")
            }
            TopologyError::Loop(name) => write!(f, "link {name:?} goes from a node to itself"),
            TopologyError::Unconnected(name) => write!(f, "node {name:?} has no link"),
            TopologyError::NoRoute { from, to } => write!(f, "no route from {from:?} to {to:?}"),
            TopologyError::TooManyNodes => write!(f, "more than {MAX_NODES} nodes"),
            TopologyError::TooManyLinks => write!(f, "more than {MAX_LINKS} links"),
        }
    }
}
impl std::error::Error for TopologyError {}

/// The graph: nodes and links by name.
#[derive(Debug, Clone, Default)]
pub struct Topology {
    nodes: Vec<String>,
    links: Vec<(String, NodeId, NodeId)>,
    /// For each node the directions that lead to it, in the order of definition.
    incoming: Vec<Vec<u32>>,
    node_names: BTreeMap<String, NodeId>,
    link_names: BTreeSet<String>,
}

impl Topology {
    /// Adds a node.
    ///
    /// # Errors
    /// If the name is taken, or there are [`MAX_NODES`] already.
    pub fn add_node(&mut self, name: &str) -> Result<NodeId, TopologyError> {
        if self.nodes.len() >= MAX_NODES {
            return Err(TopologyError::TooManyNodes);
        }
        let id = NodeId(self.nodes.len() as u32);
        if self.node(name).is_some() {
            return Err(TopologyError::DuplicateNode(name.to_owned()));
        }
        self.nodes.push(name.to_owned());
        self.incoming.push(Vec::new());
        self.node_names.insert(name.to_owned(), id);
        Ok(id)
    }
    /// Adds a link, both directions of it. Two nodes may have several links between them.
    ///
    /// # Errors
    /// If the name is taken, an end is not there, or both ends are one.
    pub fn add_link(&mut self, name: &str, from: &str, to: &str) -> Result<(), TopologyError> {
        if self.links.len() >= MAX_LINKS {
            return Err(TopologyError::TooManyLinks);
        }
        if self.link_names.contains(name) {
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
        let forward = 2 * self.links.len() as u32;
        self.incoming[to.0 as usize].push(forward);
        self.incoming[from.0 as usize].push(forward + 1);
        self.links.push((name.to_owned(), from, to));
        self.link_names.insert(name.to_owned());
        Ok(())
    }

    /// The node of this name.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        self.node_names.get(name).copied()
    }
    /// The names of the nodes, by index.
    pub fn nodes(&self) -> &[String] {
        &self.nodes
    }
    /// The links: name and the ends of the forward direction.
    pub fn links(&self) -> &[(String, NodeId, NodeId)] {
        &self.links
    }

    /// Whether every node has a link.
    ///
    /// # Errors
    /// [`TopologyError::Unconnected`] with the first that has none.
    pub fn check_connected(&self) -> Result<(), TopologyError> {
        // A node with a link has a direction that leads to it.
        match self.incoming.iter().position(Vec::is_empty) {
            Some(node) => Err(TopologyError::Unconnected(self.nodes[node].clone())),
            None => Ok(()),
        }
    }
    /// Whether there is a way from one node to another.
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

    /// For each node the direction by which it reaches `to` in the fewest hops; among equals the one that was defined
    /// first, forward before backward.
    pub(crate) fn routes_to(&self, to: NodeId) -> Vec<u32> {
        let mut hops = vec![u32::MAX; self.nodes.len()];
        hops[to.0 as usize] = 0;
        let mut queue = VecDeque::from([to]);
        let mut next = vec![NO_ROUTE; self.nodes.len()];
        while let Some(node) = queue.pop_front() {
            let here = hops[node.0 as usize];
            for direction in &self.incoming[node.0 as usize] {
                let from = self.start_of(*direction as usize);
                let known = &mut hops[from.0 as usize];
                if *known == u32::MAX {
                    *known = here + 1;
                    queue.push_back(from);
                }
                if *known == here + 1 {
                    next[from.0 as usize] = next[from.0 as usize].min(*direction);
                }
            }
        }
        next
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
        assert_eq!((graph.start_of(5), graph.end_of(5)), (node("d"), node("b")));
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
