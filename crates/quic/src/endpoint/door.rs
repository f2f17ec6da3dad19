//! The places of a server, for clients and for handshakes in progress, and who gives way when they are taken.
//!
//! * A handshake gives way to a new one: the oldest of the network with the most handshakes.
//! * A client gives way to one that has completed its handshake: one without a request, or one whose requests have made no
//!   progress for a while, or one of the network with the most clients, if that still has as many as the new one's, or one
//!   whose first response could have been acknowledged by now.

use super::EndpointOptions;
use super::crowd::Crowd;
use crate::ids::MAX_SLOTS;
use crate::stats::Work;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use units::{Duration, Time};

/// A client's requests have made no progress if fewer than [`STEP`] bytes of stream data were delivered in this time:
/// more than the round trip of a path by satellite, so that the first response can have arrived.
pub(super) const STALL: Duration = Duration::from_secs(1);
/// The least time for the first progress of a client whose round trips are short.
const LEAST_PATIENCE: Duration = Duration::from_millis(100);
/// The number of bytes that count as progress: 33 kbit/s.
const STEP: u64 = 4096;
/// A client's age is renewed at most this often.
const RENEWAL: Duration = Duration::from_millis(20);
/// While half of the places for handshakes are free, a handshake may take this many times its timeout.
const LENIENCE: u64 = 3;

/// A client, or a handshake in progress.
#[derive(Debug)]
struct Member {
    remote: SocketAddr,
    /// The start of its handshake; of a client, when it last made progress.
    at: Time,
    /// When its handshake is next examined; `None`: never.
    due: Option<Time>,
    work: Work,
    /// Whether the requests in progress have made any progress.
    has_moved: bool,
}

impl Member {
    /// Whether its requests make no progress: since they began for a few round trips, or after some for [`STALL`].
    fn is_stalled(&self, now: Time) -> bool {
        let first = self.work.patience.clamp(LEAST_PATIENCE, STALL);
        self.at + if self.has_moved { STALL } else { first } <= now
    }
    /// Whether a response could have been acknowledged since its requests began.
    fn could_have_moved(&self, now: Time) -> bool {
        self.at + self.work.round_trip * 2 <= now
    }
    /// Whether its requests have not moved yet.
    fn waits(&self) -> bool {
        self.work.requests > 0 && !self.has_moved
    }
}

/// The places of a server.
#[derive(Debug)]
pub(super) struct Door {
    /// Whether the options limit anything: otherwise nothing is recorded.
    limited: bool,
    max_clients: usize,
    max_half_open: usize,
    max_clients_of_source: usize,
    max_half_open_of_source: usize,
    handshake_timeout: Option<Duration>,
    members: BTreeMap<u32, Member>,
    half_open: Crowd,
    /// Clients without and with requests in progress.
    idle: Crowd,
    busy: Crowd,
    /// The clients whose requests have not moved yet, by age: `busy` can have an older one, which moves slowly. The last
    /// entry is [`NOBODY`]: a set that is never empty keeps its memory.
    asked: BTreeSet<(Time, u32)>,
}

/// The last entry of [`Door::asked`].
const NOBODY: (Time, u32) = (Time::NEVER, u32::MAX);

impl Door {
    pub(super) fn new(options: &EndpointOptions) -> Door {
        let limits = [options.max_connections_of_source, options.max_half_open_of_source];
        Door {
            limited: options.max_connections < MAX_SLOTS
                || options.max_half_open < EndpointOptions::MAX_HALF_OPEN
                || options.handshake_timeout.is_some()
                || limits.iter().any(|limit| *limit < usize::MAX),
            max_clients: options.max_connections,
            max_half_open: options.max_half_open.max(1),
            max_clients_of_source: options.max_connections_of_source,
            max_half_open_of_source: options.max_half_open_of_source.max(1),
            handshake_timeout: options.handshake_timeout,
            members: BTreeMap::new(),
            half_open: Crowd::default(),
            idle: Crowd::default(),
            busy: Crowd::default(),
            asked: BTreeSet::from([NOBODY]),
        }
    }

    /// Whether it records who comes in.
    #[inline]
    pub(super) fn is_limited(&self) -> bool {
        self.limited
    }

    /// Whether the network of a client has used half of the handshakes that it may have in progress.
    pub(super) fn is_crowded(&self, remote: SocketAddr) -> bool {
        self.half_open.share(remote).reaches(self.max_half_open_of_source.div_ceil(2))
    }

    /// Whether half of the places for handshakes are taken, in all or of a client's network.
    fn is_half_full(&self, remote: SocketAddr) -> bool {
        self.half_open.len() >= self.max_half_open.div_ceil(2) || self.is_crowded(remote)
    }

    /// Whether there is a place for a client, or somebody would give way to it.
    pub(super) fn has_place(&self, now: Time, remote: SocketAddr) -> bool {
        self.has_free_place(remote) || self.who_gives_way(now, remote).is_some()
    }

    fn has_free_place(&self, remote: SocketAddr) -> bool {
        self.idle.len() + self.busy.len() < self.max_clients && !self.is_at_limit(remote)
    }
    /// Whether the network of a client has all the places that it may have.
    fn is_at_limit(&self, remote: SocketAddr) -> bool {
        let (idle, busy) = (self.idle.share(remote), self.busy.share(remote));
        let limit = self.max_clients_of_source;
        idle.customer + busy.customer >= limit || idle.network + busy.network >= limit.saturating_mul(2)
    }

    /// The client that gives way to a new one from this address.
    fn who_gives_way(&self, now: Time, remote: SocketAddr) -> Option<u32> {
        let is = |slot: u32, matches: fn(&Member, Time) -> bool| {
            self.members.get(&slot).is_some_and(|member| matches(member, now)).then_some(slot)
        };
        let stalled = |slot| is(slot, Member::is_stalled);
        if self.is_at_limit(remote) {
            let limit = self.max_clients_of_source;
            let idle = self.idle.first_out_near(remote, limit);
            return idle.or_else(|| stalled(self.busy.first_out_near(remote, limit)?));
        }
        // Ten networks with a tenth each would keep everybody else out, whatever share one may keep.
        let greedy = || {
            let (slot, most) = self.busy.first_out()?;
            (most > self.busy.share(remote).network + 1).then_some(slot)
        };
        let asked = || self.asked.first().map(|(_, slot)| *slot);
        let idle = self.idle.first_out().map(|(slot, _)| slot);
        idle.or_else(|| stalled(self.busy.oldest()?.1))
            .or_else(|| stalled(asked()?))
            .or_else(greedy)
            .or_else(|| is(asked()?, Member::could_have_moved))
    }

    /// A handshake begins. Returns another one that gives way to it.
    pub(super) fn begin(&mut self, now: Time, remote: SocketAddr, slot: u32) -> Option<u32> {
        let limit = self.max_half_open_of_source;
        let near = self.half_open.share(remote).reaches(limit);
        let out = match () {
            () if near => self.half_open.first_out_near(remote, limit),
            () if self.half_open.len() >= self.max_half_open => {
                // Its own network may have the most, with it.
                self.half_open.add(remote, now, slot);
                let out = self.half_open.first_out().map(|(slot, _)| slot).filter(|out| *out != slot);
                self.half_open.remove(remote, now, slot);
                out.or_else(|| self.half_open.oldest().map(|(_, slot)| slot))
            }
            () => None,
        };
        self.half_open.add(remote, now, slot);
        let due = self.handshake_timeout.map(|timeout| now + timeout);
        self.members.insert(slot, Member { remote, at: now, due, work: Work::default(), has_moved: false });
        out
    }

    /// A handshake is complete. Returns the client that gives way: the new one itself if there is no free place and no other
    /// client gives way.
    pub(super) fn establish(&mut self, now: Time, slot: u32, work: Work) -> Option<u32> {
        let member = self.members.get_mut(&slot).expect("a handshake that completes came in by the door");
        let remote = member.remote;
        self.half_open.remove(remote, member.at, slot);
        (member.at, member.work) = (now, work);
        let out = match self.has_free_place(remote) {
            true => None,
            false => Some(self.who_gives_way(now, remote).unwrap_or(slot)),
        };
        self.crowd(work).add(remote, now, slot);
        if work.requests > 0 {
            self.asked.insert((now, slot));
        }
        out
    }

    /// Clients with or without requests.
    fn crowd(&mut self, work: Work) -> &mut Crowd {
        if work.requests > 0 { &mut self.busy } else { &mut self.idle }
    }

    /// Notes what a client does.
    pub(super) fn note(&mut self, now: Time, slot: u32, work: Work) {
        let member = self.members.get_mut(&slot).expect("a client with a place came in by the door");
        let turns = (work.requests > 0) != (member.work.requests > 0);
        let progress = work.bytes >= member.work.bytes + STEP;
        if !turns && (!progress || member.at + RENEWAL > now) {
            return;
        }
        let (remote, before, waited) = (member.remote, (member.at, member.work), member.waits());
        (member.at, member.work, member.has_moved) = (now, work, !turns);
        if member.waits() {
            self.asked.insert((now, slot));
        } else if waited {
            self.asked.remove(&(before.0, slot));
        }
        // First the new place, then the old one: in a crowd of one nothing is allocated.
        if before.0 != now || turns {
            self.crowd(work).add(remote, now, slot);
            self.crowd(before.1).remove(remote, before.0, slot);
        }
    }

    /// When [`Door::takes_too_long`] is due for a handshake in progress.
    pub(super) fn due(&self, slot: u32) -> Option<Time> {
        self.members.get(&slot)?.due
    }

    /// Whether a handshake in progress has taken too long: the timeout, or [`LENIENCE`] times as long while half of the
    /// places are free, since each flight may be lost several times. If not, it is due again later.
    pub(super) fn takes_too_long(&mut self, now: Time, slot: u32) -> bool {
        let (Some(timeout), Some(member)) = (self.handshake_timeout, self.members.get(&slot)) else {
            return false;
        };
        if member.due.is_none_or(|due| due > now) {
            return false;
        }
        if member.at + timeout * LENIENCE <= now || self.is_half_full(member.remote) {
            return true;
        }
        let due = Some(now + timeout);
        self.members.entry(slot).and_modify(|member| member.due = due);
        false
    }

    /// A connection leaves.
    pub(super) fn leave(&mut self, slot: u32) {
        if let Some(Member { remote, at, .. }) = self.members.remove(&slot) {
            for crowd in [&mut self.half_open, &mut self.idle, &mut self.busy] {
                crowd.remove(remote, at, slot);
            }
            self.asked.remove(&(at, slot));
        }
    }
}
