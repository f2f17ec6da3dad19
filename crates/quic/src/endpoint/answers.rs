//! Datagrams of an endpoint that belong to no connection: Version Negotiation, Retry, refusals, stateless resets.

use crate::connection::{Datagram, Transmit};
use std::collections::VecDeque;
use std::net::SocketAddr;
use wire::Ecn;

/// The maximum number of queued answers. Further ones are dropped; clients repeat their packets.
const MAX_WAITING: usize = 64;
/// The same for Retry packets, so that other answers, which need no valid first packet, do not crowd them out.
const MAX_WITH_RETRIES: usize = 1024;

/// A datagram that belongs to no connection.
#[derive(Debug)]
struct Answer {
    local: SocketAddr,
    remote: SocketAddr,
    bytes: Vec<u8>,
}

/// The answers that wait to be sent.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    waiting: VecDeque<Answer>,
}

impl Answers {
    /// Whether the queue has room for another answer.
    pub(crate) fn has_room(&self) -> bool {
        self.waiting.len() < MAX_WAITING
    }

    /// Whether the queue has room for another Retry packet.
    pub(crate) fn has_room_for_retry(&self) -> bool {
        self.waiting.len() < MAX_WITH_RETRIES
    }

    /// Queues an answer to a datagram, from the address at which it arrived.
    pub(crate) fn push(&mut self, to: &Datagram<'_>, bytes: Vec<u8>) {
        if self.has_room_for_retry() {
            self.waiting.push_back(Answer { local: to.local, remote: to.remote, bytes });
        }
    }

    /// Writes the next answer into the buffer.
    #[inline]
    pub(crate) fn transmit(&mut self, buffer: &mut Vec<u8>) -> Option<Transmit> {
        let Answer { local, remote, bytes } = self.waiting.pop_front()?;
        buffer.extend_from_slice(&bytes);
        let (ecn, hole, carries_data, length) = (Ecn::NotEct, None, false, bytes.len());
        Some(Transmit { local, remote, ecn, hole, carries_data, length, last: false })
    }
}
