//! 0-RTT packets that arrive before the Initial packet of their connection.

use crate::connection::Datagram;
use std::collections::VecDeque;
use std::net::SocketAddr;
use units::{Duration, Time};
use wire::{ConnectionId, Damage, Ecn, Hole};

/// The maximum number of waiting datagrams of all connections; a new one replaces the oldest.
const MAX_WAITING: usize = 32;
/// The maximum for one connection, so that one cannot use all the room.
const MAX_OF_ONE: usize = 10;
/// The maximum waiting time; a later Initial packet was probably lost.
const PATIENCE: Duration = Duration::from_secs(3);

/// A waiting datagram, as it arrived.
#[derive(Debug)]
pub(crate) struct WaitingDatagram {
    since: Time,
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    destination: ConnectionId,
    pub(crate) bytes: Vec<u8>,
    pub(crate) hole: Option<Hole>,
    pub(crate) damage: Option<Damage>,
    pub(crate) ecn: Ecn,
}

/// The datagrams of 0-RTT packets whose connection does not exist yet. RFC 9000 section 5.2.2: "the server MAY buffer
/// a limited number of these packets in anticipation of a late-arriving Initial packet".
#[derive(Debug, Default)]
pub(crate) struct WaitingRoom {
    waiting: VecDeque<WaitingDatagram>,
}

impl WaitingRoom {
    /// Keeps a datagram for the connection with this id; returns `false` if there are too many.
    pub(crate) fn keep(&mut self, now: Time, destination: ConnectionId, datagram: &Datagram<'_>) -> bool {
        self.forget_old(now);
        let own = (datagram.remote, destination);
        if self.waiting.iter().filter(|known| (known.remote, known.destination) == own).count() >= MAX_OF_ONE
        {
            return false;
        }
        if self.waiting.len() >= MAX_WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back(WaitingDatagram {
            since: now,
            local: datagram.local,
            remote: datagram.remote,
            destination,
            bytes: datagram.bytes.to_vec(),
            hole: datagram.hole,
            damage: datagram.damage,
            ecn: datagram.ecn,
        });
        true
    }

    /// Takes the datagrams for the connection with this id, whose Initial packet has arrived.
    pub(crate) fn take(
        &mut self,
        now: Time,
        remote: SocketAddr,
        destination: ConnectionId,
    ) -> VecDeque<WaitingDatagram> {
        if self.waiting.is_empty() {
            return VecDeque::new();
        }
        self.forget_old(now);
        let all = std::mem::take(&mut self.waiting);
        let (own, others) =
            all.into_iter().partition(|known| (known.remote, known.destination) == (remote, destination));
        self.waiting = others;
        own
    }

    fn forget_old(&mut self, now: Time) {
        while self.waiting.front().is_some_and(|oldest| now.since(oldest.since) > PATIENCE) {
            self.waiting.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(room: &mut WaitingRoom, now: Time, port: u16, id: u8) -> bool {
        let datagram = Datagram {
            local: ([10, 0, 0, 2], 443).into(),
            remote: ([10, 0, 0, 1], port).into(),
            ecn: Ecn::NotEct,
            bytes: &mut [id; 50],
            hole: None,
            damage: None,
        };
        room.keep(now, ConnectionId::new(&[id; 8]).unwrap(), &datagram)
    }
    fn take(room: &mut WaitingRoom, now: Time, port: u16, id: u8) -> usize {
        room.take(now, ([10, 0, 0, 1], port).into(), ConnectionId::new(&[id; 8]).unwrap()).len()
    }

    #[test]
    fn packets_wait_for_their_own_connection_and_not_forever() {
        let (mut room, now) = (WaitingRoom::default(), Time::ZERO);
        assert!(keep(&mut room, now, 1, 1) && keep(&mut room, now, 2, 1) && keep(&mut room, now, 1, 2));
        assert!(keep(&mut room, now, 1, 1));
        assert_eq!((take(&mut room, now, 1, 1), take(&mut room, now, 1, 1)), (2, 0));
        assert_eq!(take(&mut room, now + PATIENCE, 2, 1), 1);
        assert_eq!(take(&mut room, now + PATIENCE + Duration::from_nanos(1), 1, 2), 0);
    }

    #[test]
    fn a_flood_does_not_fill_the_memory() {
        let (mut room, now) = (WaitingRoom::default(), Time::ZERO);
        for n in 0..100 {
            assert_eq!(keep(&mut room, now, 1, 1), n < MAX_OF_ONE);
        }
        for port in 2..100 {
            assert!(keep(&mut room, now, port, 1));
        }
        assert_eq!(room.waiting.len(), MAX_WAITING);
        assert_eq!((take(&mut room, now, 1, 1), take(&mut room, now, 99, 1)), (0, 1));
    }
}
