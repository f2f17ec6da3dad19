//! A ring of ready streams that take turns.

use super::{StreamKey, entry};
use wire::StreamId;

const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Node {
    id: StreamId,
    /// `NONE` if the stream is not in the ring.
    next: u32,
    previous: u32,
}

impl Default for Node {
    fn default() -> Node {
        Node { id: StreamId::from_value(0), next: NONE, previous: NONE }
    }
}

/// A ring. A stream joins at the end and can leave from any position, both in constant time.
#[derive(Debug)]
pub(super) struct Ring {
    /// By slot.
    nodes: Vec<Node>,
    front: u32,
}

impl Default for Ring {
    fn default() -> Ring {
        Ring { nodes: Vec::new(), front: NONE }
    }
}

impl Ring {
    /// The stream whose turn it is.
    #[inline]
    pub(super) fn front(&self) -> Option<StreamKey> {
        let node = self.nodes.get(self.front as usize)?;
        Some(StreamKey { id: node.id, slot: self.front })
    }

    /// Whether it is this stream's turn.
    #[inline]
    pub(super) fn is_front(&self, stream: StreamKey) -> bool {
        self.front == stream.slot
    }

    /// Ends the turn.
    #[inline]
    pub(super) fn rotate(&mut self) {
        if let Some(node) = self.nodes.get(self.front as usize) {
            self.front = node.next;
        }
    }

    /// Adds a stream at the end unless it is in the ring.
    pub(super) fn join(&mut self, stream: StreamKey) {
        let slot = stream.slot;
        let node = entry(&mut self.nodes, slot);
        if node.next != NONE {
            return;
        }
        *node = Node { id: stream.id, next: slot, previous: slot };
        if self.front == NONE {
            self.front = slot;
            return;
        }
        let (first, last) = (self.front, self.nodes[self.front as usize].previous);
        self.nodes[slot as usize] = Node { id: stream.id, next: first, previous: last };
        self.nodes[last as usize].next = slot;
        self.nodes[first as usize].previous = slot;
    }

    /// Removes a stream if it is in the ring.
    pub(super) fn leave(&mut self, stream: StreamKey) {
        let Some(node) = self.nodes.get_mut(stream.slot as usize).filter(|node| node.next != NONE) else {
            return;
        };
        let Node { next, previous, .. } = std::mem::take(node);
        if next == stream.slot {
            self.front = NONE;
            return;
        }
        self.nodes[previous as usize].next = next;
        self.nodes[next as usize].previous = previous;
        if self.front == stream.slot {
            self.front = next;
        }
    }
}
