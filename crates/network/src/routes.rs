//! The next hops of all routes of a network.
//!
//! A node that a single link or a single station of a star leads to has one way out, and there is one way to it. So
//! what hangs at a network in the form of trees needs no table: it is cut off leaf by leaf, and a walk through each tree
//! numbers its nodes so that everything behind a node is a range. What is left, the core, has a table of next hops for
//! each of its nodes that is a destination, or has one behind it. A star with a thousand hosts, or a chain of a thousand
//! routers, has a core of a single node.

use crate::address::NodeId;
use crate::topology::{NO_ROUTE, Topology};
use std::cell::OnceCell;

/// The parent of a node of the core.
const NONE: u32 = u32::MAX;

/// The place of a node.
#[derive(Debug, Clone, Copy)]
struct Position {
    /// Its number on the walk through its tree.
    enter: u32,
    /// The number after those of all nodes behind it.
    leave: u32,
    /// The next node on the way to the core; [`NONE`] in the core.
    parent: u32,
    /// The hop to the parent.
    up: u32,
    /// The hop from the parent.
    down: u32,
    /// The number of the node of the core where its tree hangs.
    root: u32,
    /// Whether there are routes to it.
    is_destination: bool,
}

/// The routes of a network: those with the fewest hops, and among equal ones those of [`Topology::route`].
#[derive(Debug)]
pub struct Routes {
    topology: Topology,
    positions: Vec<Position>,
    /// The children of each node are those from its number here to that of the next node.
    first_child: Vec<u32>,
    /// The children, by the number of the walk, with the hops to them.
    children: Vec<(u32, u32)>,
    /// The nodes of the core.
    core: Vec<NodeId>,
    /// The next hops between nodes of the core, by destination, found when they are first needed.
    tables: Vec<OnceCell<Vec<u32>>>,
}

impl Routes {
    /// The routes of a network.
    pub fn new(topology: Topology) -> Routes {
        let count = topology.nodes().len();
        let mut positions = vec![
            Position {
                enter: 0,
                leave: 1,
                parent: NONE,
                up: NO_ROUTE,
                down: NO_ROUTE,
                root: 0,
                is_destination: true
            };
            count
        ];
        let cut = cut_off(&topology, &mut positions);
        let mut first_child = vec![0; count + 1];
        for node in &cut {
            // The number of nodes behind each, in `leave`, since children are cut off before their parents.
            let Position { parent, leave, .. } = positions[node.0 as usize];
            positions[parent as usize].leave += leave;
            first_child[parent as usize + 1] += 1;
        }
        for node in 0..count {
            first_child[node + 1] += first_child[node];
        }
        let mut core = Vec::new();
        let (mut entered, mut free) = (0, vec![0; count]);
        for (node, position) in positions.iter_mut().enumerate().filter(|(_, it)| it.parent == NONE) {
            (position.root, position.enter) = (core.len() as u32, entered);
            entered += position.leave;
            position.leave = entered;
            free[node] = position.enter + 1;
            core.push(NodeId(node as u32));
        }
        let (mut children, mut filled) = (vec![(0, NO_ROUTE); cut.len()], first_child.clone());
        for node in cut.iter().rev().map(|node| node.0 as usize) {
            let parent = positions[node].parent as usize;
            let (enter, size) = (free[parent], positions[node].leave);
            free[parent] += size;
            free[node] = enter + 1;
            let root = positions[parent].root;
            let position = &mut positions[node];
            (position.enter, position.leave, position.root) = (enter, enter + size, root);
            children[filled[parent] as usize] = (enter, position.down);
            filled[parent] += 1;
        }
        let tables = core.iter().map(|_| OnceCell::new()).collect();
        assert_eq!(entered as usize, count, "the walks through all trees visit each node once");
        check(&positions);
        Routes { topology, positions, first_child, children, core, tables }
    }

    /// The network.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Leaves routes to these nodes alone.
    pub(crate) fn keep(&mut self, is_destination: impl Fn(NodeId) -> bool) {
        for (node, position) in self.positions.iter_mut().enumerate() {
            position.is_destination = is_destination(NodeId(node as u32));
        }
    }

    /// The hops of a packet, by their numbers.
    pub fn route(&self, from: NodeId, to: NodeId) -> Option<Vec<usize>> {
        let (mut at, mut hops) = (from, Vec::new());
        while at != to {
            let hop = self.next(at, to);
            if hop == NO_ROUTE {
                return None;
            }
            hops.push(hop as usize);
            at = self.topology.end_of(hop as usize);
        }
        Some(hops)
    }

    /// The next hop from one node to another. [`NO_ROUTE`] if no route exists, or if both are the same node.
    #[inline]
    pub(crate) fn next(&self, at: NodeId, to: NodeId) -> u32 {
        let position = |node: NodeId| self.positions.get(node.0 as usize);
        let (Some(here), Some(there)) = (position(at), position(to)) else { return NO_ROUTE };
        if !there.is_destination {
            return NO_ROUTE;
        }
        if there.parent == at.0 {
            return there.down;
        }
        if (here.enter..here.leave).contains(&there.enter) {
            return self.next_behind(at, there.enter);
        }
        let next = if here.root == there.root { here.up } else { self.next_in_core(here.root, there.root) };
        if here.parent == NONE || next == NO_ROUTE { next } else { here.up }
    }

    /// The next hop from a node to one that is behind it.
    fn next_behind(&self, at: NodeId, enter: u32) -> u32 {
        let [first, end] = [0, 1].map(|next| self.first_child[at.0 as usize + next] as usize);
        let children = &self.children[first..end];
        match children.partition_point(|(child, _)| *child <= enter) {
            0 => NO_ROUTE,
            after => children[after - 1].1,
        }
    }

    /// The next hop from a node of the core to another.
    fn next_in_core(&self, at: u32, to: u32) -> u32 {
        let table = self.tables[to as usize].get_or_init(|| {
            let hops = self.topology.routes_to(self.core[to as usize], None);
            self.core.iter().map(|node| hops[node.0 as usize]).collect()
        });
        table[at as usize]
    }
}

/// Stops unless the nodes behind each node have their numbers within those of that node.
fn check(positions: &[Position]) {
    for here in positions {
        assert!(here.enter < here.leave, "a walk leaves a node after it has entered it");
        if here.parent == NONE {
            continue;
        }
        let parent = &positions[here.parent as usize];
        assert!(parent.enter < here.enter && here.leave <= parent.leave, "a node is behind its parent");
        assert_eq!(here.root, parent.root, "a node hangs where its parent does");
        assert!(here.up != NO_ROUTE && here.down != NO_ROUTE, "hops lead to a parent and back");
    }
}

/// Cuts off leaf by leaf: sets `parent`, `up` and `down` of nodes outside the core, and returns them, the outermost first.
fn cut_off(topology: &Topology, positions: &mut [Position]) -> Vec<NodeId> {
    let nodes = (0..positions.len() as u32).map(NodeId);
    let mut degrees: Vec<usize> = nodes.clone().map(|node| topology.degree(node)).collect();
    let mut leaves: Vec<NodeId> = nodes.filter(|node| degrees[node.0 as usize] == 1).collect();
    let mut cut = Vec::new();
    while let Some(leaf) = leaves.pop() {
        let left = |other: NodeId| positions[other.0 as usize].parent == NONE;
        // The other of the last two nodes of a tree has no neighbour left.
        let Some((up, down, parent)) = topology.neighbours(leaf).find(|(_, _, other)| left(*other)) else {
            continue;
        };
        let position = &mut positions[leaf.0 as usize];
        (position.up, position.down, position.parent) = (up, down, parent.0);
        cut.push(leaf);
        let degree = &mut degrees[parent.0 as usize];
        *degree -= 1;
        if *degree == 1 {
            leaves.push(parent);
        }
    }
    cut
}
