//! Prefetching: a host hears of the packets that a link will deliver to it next.

use super::{Occupant, World};
use crate::address::NodeId;
use crate::link::Link;
use crate::packet::Packet;
use units::cache::ask_for;

/// What a host prefetches into the processor's cache before its packets arrive, where a thousand connections take turns.
#[derive(Debug)]
pub struct Prefetch<H> {
    /// The number of packets ahead of time at which a host hears of them: 0 for none.
    pub depth: fn(&H) -> usize,
    /// A packet will arrive at a host behind this many others of its link. Not every packet is announced, and the results must
    /// not depend on it.
    pub announce: fn(&H, &Packet, usize),
}

/// The hosts that prefetch, and how.
#[derive(Debug)]
pub(super) struct Prefetching<H> {
    /// By node; empty if none does.
    depths: Vec<usize>,
    announce: fn(&H, &Packet, usize),
}

impl<H> Default for Prefetching<H> {
    fn default() -> Prefetching<H> {
        Prefetching { depths: Vec::new(), announce: |_, _, _| {} }
    }
}

impl<H> Prefetching<H> {
    /// Announces the packets that will arrive from a link to its host, and prefetches the packet that is announced next.
    #[inline]
    pub(super) fn announce(&self, nodes: &[Occupant<H>], link: &Link, node: NodeId) {
        let node = node.0 as usize;
        let Some(depth @ 1..) = self.depths.get(node).copied() else { return };
        let Occupant::Host(host) = &nodes[node] else { unreachable!("only a host has a depth above 0") };
        for ahead in 0..depth {
            let Some(packet) = link.upcoming(ahead) else { return };
            (self.announce)(host, packet, ahead);
        }
        link.upcoming(depth).into_iter().for_each(ask_for);
    }
}

impl<H> World<H> {
    /// Lets hosts prefetch. The results are the same.
    pub fn prefetch(&mut self, prefetch: Prefetch<H>) {
        let depths = self.nodes.iter().map(|node| match node {
            Occupant::Host(host) => (prefetch.depth)(host),
            _ => 0,
        });
        let depths: Vec<usize> = depths.collect();
        let none = depths.iter().all(|depth| *depth == 0);
        self.prefetching =
            Prefetching { depths: if none { Vec::new() } else { depths }, announce: prefetch.announce };
    }
}
