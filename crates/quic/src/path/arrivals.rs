//! Datagrams received on other paths than the one in use, and migrations of the peer that they indicate (RFC 9000
//! sections 9.2, 9.3 and 9.6).

use super::{Arrival, PathContext, Paths, Role, UnusedPath, Validation, same_local};
use std::net::SocketAddr;
use units::Time;
use wire::{ConnectionId, Frames, Side};

/// The number of probe timeouts after which a server forgets a silent candidate path.
const CANDIDATE_TIMEOUTS: u64 = 3;

impl Paths {
    /// Notes the arrival of a datagram of this length; returns whether it may be processed. `open`: the connection is
    /// neither closing nor closed.
    #[inline]
    pub(crate) fn on_datagram(
        &mut self,
        local: SocketAddr,
        remote: SocketAddr,
        length: usize,
        open: bool,
    ) -> bool {
        if self.current.route.is_between(&local, &remote) {
            self.current.route.on_received(length as u64);
            return true;
        }
        self.expect_other_path(local, remote, length, open)
    }
    /// Notes that the datagram is processed; returns whether it arrived on another path than the one in use.
    #[inline]
    pub(crate) fn end_datagram(&mut self) -> bool {
        self.unused.arrival.take().is_some()
    }
    /// Whether the datagram being processed arrived on another path than the one in use.
    #[inline]
    pub(crate) fn is_on_other_path(&self) -> bool {
        self.unused.arrival.is_some()
    }

    /// Notes the arrival of a datagram on another path than the one in use; returns whether it may be processed.
    #[cold]
    fn expect_other_path(
        &mut self,
        local: SocketAddr,
        remote: SocketAddr,
        length: usize,
        open: bool,
    ) -> bool {
        let known = match self.side {
            // RFC 9000-9-5: "from an unknown server address, the client MUST discard these packets".
            Side::Client => {
                self.current.route.remote == remote
                    || self.unused.iter().any(|known| known.route.remote == remote)
            }
            // RFC 9000 section 9: addresses do not change during the handshake, and a server has one address, unless
            // it has sent a preferred one. RFC 9000-9-3: a peer that migrates in spite of disable_active_migration is
            // validated like any other.
            Side::Server => {
                let here = same_local(&self.current.route.local, &local);
                self.confirmed && open && (here || self.has_preferred_address)
            }
        };
        if known {
            let challenges = Vec::new();
            self.unused.arrival = Some(Arrival { local, remote, length: length as u64, challenges });
        }
        known
    }

    /// Handles a processed packet from another path than the one in use. `newest`: it has the highest number so far.
    #[cold]
    pub(crate) fn on_packet_of_other_path(
        &mut self,
        at: &mut PathContext<'_>,
        to: ConnectionId,
        newest: bool,
        probing: bool,
    ) {
        let now = at.now;
        let arrival = self.unused.arrival.as_mut().expect("the datagram of the packet came on another path");
        let (local, remote) = (arrival.local, arrival.remote);
        // The datagram counts once for the anti-amplification limit, and only because it contains an authentic
        // packet.
        let length = std::mem::take(&mut arrival.length);
        let challenges = std::mem::take(&mut arrival.challenges);
        if !at.open {
            return;
        }
        if self.current.route.is_between(&local, &remote) {
            // The datagram has already moved the connection to this path.
            self.current.route.on_received(length);
            self.responses.extend(challenges);
            return;
        }
        let Some(index) =
            self.unused.find(local, remote).or_else(|| self.add_unknown_path(now, local, remote, to))
        else {
            return;
        };
        let until = now + self.validation_timeout() * CANDIDATE_TIMEOUTS;
        let timeout = self.validation_timeout();
        let side = self.side;
        let other = self.unused.at(index);
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
        let other = self.unused.at(index);
        let other_local = !same_local(&self.current.route.local, &other.route.local);
        if moves && other_local && !other.route.is_fully_validated() {
            // RFC 9000-9.6.2-2: the server keeps sending from its original address until the path from the preferred
            // one is validated. RFC 9000-9.6.3-2: until then the anti-amplification limit applies to the new path,
            // wherever the client is.
            other.role = Role::Candidate { moves: true };
        } else if moves {
            return self.move_to(at, index);
        }
        if !other.route.is_fully_validated() && other.route.validation.is_none() {
            // RFC 9000-9.6.2-3: a server validates the path, too. If the peer then migrates to the path it probes,
            // the path is validated already.
            other.route.validation = Some(Box::new(Validation::new(now, timeout)));
        }
    }

    /// Whether a non-probing packet on that path migrates a server to it: not back from the preferred address.
    fn path_may_change_to(&mut self, index: usize) -> bool {
        let (current, origin) = (self.current.route.local, self.first.0);
        let other = self.unused.at(index);
        // RFC 9000 section 9.6.2: packets to the server's old address are late ones.
        current == origin || !same_local(&other.route.local, &origin)
    }

    /// Adds an unknown path of the peer at a server. `None`: there is no unused connection id for it.
    fn add_unknown_path(
        &mut self,
        now: Time,
        local: SocketAddr,
        remote: SocketAddr,
        to: ConnectionId,
    ) -> Option<usize> {
        if self.side == Side::Client {
            return None;
        }
        let mut route = self.current.route.for_addresses(local, remote, false);
        // RFC 9000 section 9.5: if the peer did not change the id, it is not aware of the migration; then this
        // endpoint may keep its id, too, if its own address is the same.
        let kept = to == self.current.route.addressed_to && same_local(&local, &self.current.route.local);
        route.addressed_to = to;
        let id = match kept || self.ids.current().is_empty() {
            true => self.ids.current_numbered(),
            // RFC 9000-9.5-2: not "when sending to more than one destination address".
            false => match self.ids.take_unused() {
                Some(id) => id,
                None => {
                    let proven = self.current.route.is_fully_validated();
                    if let Some(gone) =
                        self.unused.remove_unless(|known| known.role == Role::Fallback && !proven)
                    {
                        // The peer replaces the id that this frees; its later packets try again.
                        self.retire_id_of(&gone);
                    }
                    return None;
                }
            },
        };
        let until = now + self.validation_timeout() * CANDIDATE_TIMEOUTS;
        Some(self.add_unused(UnusedPath::new(route, id, Role::Candidate { moves: false }, until)))
    }
}

/// Whether a packet contains only probing frames (RFC 9000 section 9.1).
pub(crate) fn is_probing(payload: &[u8], virtual_tail: usize) -> bool {
    Frames::new(payload, virtual_tail).all(|frame| frame.is_ok_and(|frame| frame.is_probing()))
}
