//! The books of a world, from what its nodes and carriers have counted and hold.

use super::World;
use crate::address::NodeId;
use crate::books::{Books, NodeBooks, PacketBooks};
use crate::count::Count;
use crate::node::Node;

impl<H: Node> World<H> {
    /// The books up to the current time: what came of each packet. Looks at every packet that is still there.
    pub fn books(&mut self) -> Books {
        self.catch_up();
        let mut books = Books::default();
        let crossings = self.crossings();
        for (node, (arrived, handed_on)) in (0..).map(NodeId).zip(crossings) {
            let own = self.books_at(node);
            let [sent, taken, dropped, held] =
                [&own.sent, &own.taken, &own.dropped, &own.held].map(|ledger| ledger.total());
            books.nodes.push(NodeBooks { arrived, sent, handed_on, taken, dropped, held });
            books.flows.merge(&own);
        }
        self.links.iter().for_each(|link| link.account(&mut books.flows));
        self.media.iter().for_each(|medium| medium.account(&mut books.flows));
        books
    }

    /// What came of packets at a node, its processing included.
    fn books_at(&self, node: NodeId) -> PacketBooks {
        let mut books = PacketBooks::default();
        let index = node.0 as usize;
        self.nodes[index].node().into_iter().for_each(|itself| itself.account(&mut books));
        self.between.get(&node).into_iter().for_each(|between| books.merge(between));
        if let Some(Some(processor)) = self.processor_of.get(index) {
            self.processors[*processor].1.account(&mut books);
        }
        books
    }

    /// The packets that carriers have delivered to each node, and those that they have accepted from it.
    fn crossings(&self) -> Vec<(Count, Count)> {
        let mut crossings = vec![(Count::default(), Count::default()); self.nodes.len()];
        for (direction, link) in self.links.iter().enumerate() {
            let stats = link.stats();
            // The other direction of the link ends where this one begins.
            let [to, from] = [direction, direction ^ 1].map(|end| self.ends[end].0.0 as usize);
            crossings[to].0 = crossings[to].0 + stats.delivered;
            crossings[from].1 = crossings[from].1 + stats.accepted;
        }
        for (medium, attached) in self.media.iter().zip(&self.attached) {
            for (attachment, (node, _)) in attached.iter().enumerate() {
                let arrived = &mut crossings[node.0 as usize].0;
                *arrived = *arrived + medium.received(attachment);
            }
            for (number, lane) in medium.lanes().iter().enumerate() {
                let handed_on = &mut crossings[attached[usize::from(lane.from)].0.0 as usize].1;
                *handed_on = *handed_on + medium.lane(number).stats.accepted;
            }
        }
        crossings
    }
}
