//! Datagrams that come over other paths than the one in use, and the moves of the peer that they are (RFC 9000 sections 9.2,
//! 9.3 and 9.6).

use super::{Arrival, Paths, Role, Situation, UnusedPath, Validation, same_local};
use std::net::SocketAddr;
use units::Time;
use wire::{ConnectionId, Frames, Side};

/// A path that is only tried, or left, and of which nothing is heard, is forgotten after so many probe timeouts.
const MEMORY: u64 = 3;

impl Paths {
    /// A datagram of this length came: whether it may be processed. `open`: the connection is neither closing nor closed.
    #[inline]
    pub(crate) fn on_datagram(
        &mut self,
        local: SocketAddr,
        remote: SocketAddr,
        length: usize,
        open: bool,
    ) -> bool {
        if self.current.route.is_between(local, remote) {
            self.current.route.on_received(length as u64);
            return true;
        }
        self.expect_elsewhere(local, remote, length, open)
    }
    /// The datagram has been processed. Gives whether it came on another path than the one in use.
    #[inline]
    pub(crate) fn end_datagram(&mut self) -> bool {
        self.unused.arrival.take().is_some()
    }
    /// Whether the datagram that is being processed came on another path than the one in use.
    #[inline]
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.unused.arrival.is_some()
    }

    /// A datagram came that is not of the path in use: whether it may be processed.
    #[cold]
    fn expect_elsewhere(&mut self, local: SocketAddr, remote: SocketAddr, length: usize, open: bool) -> bool {
        let known = match self.side {
            // RFC 9000-9-5: a client drops what comes from addresses that it does not know.
            Side::Client => {
                self.current.route.remote == remote
                    || self.unused.iter().any(|known| known.route.remote == remote)
            }
            // Section 9: addresses stay the same during the handshake; and a server has one address, unless it has given
            // out another. RFC 9000-9-3: a peer that moves in spite of disable_active_migration is validated like any.
            Side::Server => {
                let here = same_local(self.current.route.local, local);
                self.confirmed && open && (here || self.is_moveable)
            }
        };
        if known {
            let challenges = Vec::new();
            self.unused.arrival = Some(Arrival { local, remote, length: length as u64, challenges });
        }
        known
    }

    /// A packet of a datagram from elsewhere opened and was processed. `newest`: no higher number has come.
    #[cold]
    pub(crate) fn on_packet_elsewhere(
        &mut self,
        at: &mut Situation<'_>,
        to: ConnectionId,
        newest: bool,
        probing: bool,
    ) {
        let now = at.now;
        let Some(arrival) = &mut self.unused.arrival else { return };
        let (local, remote) = (arrival.local, arrival.remote);
        // It counts once for the amplification limit, and only because something in it was the peer's.
        let length = std::mem::take(&mut arrival.length);
        let challenges = std::mem::take(&mut arrival.challenges);
        if !at.open {
            return;
        }
        if self.current.route.is_between(local, remote) {
            // Something in the datagram has moved the connection there.
            self.current.route.on_received(length);
            self.responses.extend(challenges);
            return;
        }
        let Some(index) = self.unused.find(local, remote).or_else(|| self.meet_path(now, local, remote, to))
        else {
            return;
        };
        let until = now + self.patience() * MEMORY;
        let timeout = self.patience();
        let side = self.side;
        let Some(other) = self.unused.get_mut(index) else { return };
        other.route.on_received(length);
        for data in challenges {
            other.answer(data);
        }
        if side == Side::Client {
            return;
        }
        if let Role::Candidate { .. } = other.role {
            other.until = until;
        }
        let moves = newest && !probing && self.path_may_change_to(index);
        let Some(other) = self.unused.get_mut(index) else { return };
        let elsewhere_here = !same_local(self.current.route.local, other.route.local);
        if moves && elsewhere_here && !other.route.is_proven() {
            // RFC 9000-9.6.2-2: the original address goes on sending until the path from the preferred one is proven.
            // RFC 9000-9.6.3-2: and that one is under the limit of an address that is not, wherever the client is now.
            other.role = Role::Candidate { moves: true };
        } else if moves {
            return self.move_to(at, index);
        }
        if !other.route.is_proven() && other.route.validation.is_none() {
            // RFC 9000-9.6.2-3: a server probes too. And the peer may move to what it probes: then it is proven already.
            other.route.validation = Some(Box::new(Validation::new(now, timeout)));
        }
    }

    /// Whether a non-probing packet on that path moves a server there: not back from a preferred address.
    fn path_may_change_to(&mut self, index: usize) -> bool {
        let (current, origin) = (self.current.route.local, self.first.0);
        let Some(other) = self.unused.get_mut(index) else { return false };
        // 9.6.2: what still comes to the old address of a server is late.
        current == origin || !same_local(other.route.local, origin)
    }

    /// A server meets a path of its peer's that it does not know. `None`: there is no connection id for it.
    fn meet_path(
        &mut self,
        now: Time,
        local: SocketAddr,
        remote: SocketAddr,
        to: ConnectionId,
    ) -> Option<usize> {
        if self.side == Side::Client {
            return None;
        }
        let mut route = self.current.route.beside(local, remote, false);
        // RFC 9000 section 9.5: if the peer did not change the id, it does not know of the change, and this side may go on
        // with the same id too, from the same address.
        let kept = to == self.current.route.addressed_to && same_local(local, self.current.route.local);
        route.addressed_to = to;
        let id = match kept || self.ids.current().is_empty() {
            true => self.ids.current_numbered(),
            // RFC 9000-9.5-2.
            false => match self.ids.take_unused() {
                Some(id) => id,
                None => {
                    let proven = self.current.route.is_proven();
                    if let Some(gone) =
                        self.unused.remove_unless(|known| known.role == Role::Fallback && !proven)
                    {
                        // The peer gives another id for the one that this frees. Its packets go on asking.
                        self.let_go(&gone);
                    }
                    return None;
                }
            },
        };
        let until = now + self.patience() * MEMORY;
        Some(self.add_unused(UnusedPath::new(route, id, Role::Candidate { moves: false }, until)))
    }
}

/// Whether a packet has probing frames only (RFC 9000 section 9.1).
pub(crate) fn is_probing(payload: &[u8], virtual_tail: usize) -> bool {
    Frames::new(payload, virtual_tail).all(|frame| frame.is_ok_and(|frame| frame.is_probing()))
}
