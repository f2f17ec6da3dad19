//! The paths of a connection that are not in use: the fallback, candidates, and those being left.

use super::Route;
use crate::ids::NumberedId;
use crate::recovery::Recovery;
use std::collections::VecDeque;
use std::net::SocketAddr;
use units::Time;

/// The maximum number of paths beside the one in use. A new path replaces the oldest, except the fallback.
const MAX_UNUSED: usize = 4;
/// The maximum number of pending PATH_RESPONSE frames per path; further challenges are ignored.
pub(crate) const MAX_RESPONSES: usize = 4;

/// The reason for which an unused path is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The last validated path: the connection returns to it if the one in use fails validation (RFC 9000 section
    /// 9.3.2).
    Fallback,
    /// It may become the path in use.
    Candidate {
        /// Whether the connection migrates to it as soon as it is validated.
        moves: bool,
    },
    /// A client's old path, kept for a while to answer the server's challenges there (RFC 9000 section 9.3.3).
    Leaving,
}

/// A path that is not in use.
pub(crate) struct UnusedPath {
    pub(crate) route: Route,
    /// The destination id of packets on it.
    pub(crate) id: NumberedId,
    pub(crate) role: Role,
    /// RTT, window and pacer from the time when it was in use; `None`: those of the path in use.
    pub(crate) recovery: Option<Box<Recovery>>,
    /// Pending responses to challenges received on it.
    pub(crate) responses: VecDeque<[u8; 8]>,
    /// The time at which it is removed.
    pub(crate) until: Time,
}

impl UnusedPath {
    pub(crate) fn new(route: Route, id: NumberedId, role: Role, until: Time) -> UnusedPath {
        UnusedPath { route, id, role, recovery: None, responses: VecDeque::new(), until }
    }
    /// Queues a response to a challenge received on it.
    pub(crate) fn answer(&mut self, data: [u8; 8]) {
        if self.responses.len() < MAX_RESPONSES {
            self.responses.push_back(data);
        }
    }
    /// The time of its next timer.
    fn wake_at(&self) -> Time {
        self.route
            .validation
            .as_deref()
            .map_or(Time::NEVER, |validation| validation.wake_at())
            .min(self.until)
    }
}

/// A datagram being processed that arrived on another path than the one in use.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    /// Its length, until it is counted; then 0.
    pub(crate) length: u64,
    /// The challenges in it.
    pub(crate) challenges: Vec<[u8; 8]>,
}

/// The state that a connection with one path does not need.
#[derive(Default)]
pub(crate) struct UnusedPaths {
    list: Vec<UnusedPath>,
    /// The datagram being processed, if it arrived on another path than the one in use.
    pub(crate) arrival: Option<Arrival>,
    /// The number of failed validations since the last success.
    pub(crate) failures: u32,
}

impl UnusedPaths {
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
    pub(crate) fn iter(&self) -> impl Iterator<Item = &UnusedPath> {
        self.list.iter()
    }
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut UnusedPath> {
        self.list.iter_mut()
    }
    /// The path with this index, which holds until a path is added or removed.
    pub(crate) fn at(&mut self, index: usize) -> &mut UnusedPath {
        self.list.get_mut(index).expect("an index of a path is used before the list changes")
    }
    pub(crate) fn find(&self, local: SocketAddr, remote: SocketAddr) -> Option<usize> {
        self.list.iter().position(|other| other.route.is_between(&local, &remote))
    }
    pub(crate) fn find_role(&self, role: Role) -> Option<usize> {
        self.list.iter().position(|other| other.role == role)
    }
    pub(crate) fn remove(&mut self, index: usize) -> UnusedPath {
        self.list.remove(index)
    }
    /// Removes the first path that `keep` refuses.
    pub(crate) fn remove_unless(&mut self, keep: impl Fn(&UnusedPath) -> bool) -> Option<UnusedPath> {
        let at = self.list.iter().position(|other| !keep(other))?;
        Some(self.list.remove(at))
    }
    /// Adds a path; returns its index, and the path that it replaces, if any.
    pub(crate) fn add(&mut self, other: UnusedPath) -> (usize, Option<UnusedPath>) {
        let full = self.list.len() >= MAX_UNUSED;
        let gives_way = self.list.iter().position(|known| full && known.role != Role::Fallback);
        let gone = gives_way.map(|at| self.list.remove(at));
        let second = other.role == Role::Fallback && self.find_role(Role::Fallback).is_some();
        debug_assert!(!second, "a connection has one path to fall back to");
        self.list.push(other);
        (self.list.len() - 1, gone)
    }
    /// Stops if the list has grown too long, or has two paths to fall back to.
    pub(crate) fn check(&self) {
        // A fallback gives way to nothing.
        assert!(self.list.len() <= MAX_UNUSED + 1, "the number of paths is limited");
        let fallbacks = self.list.iter().filter(|known| known.role == Role::Fallback).count();
        assert!(fallbacks <= 1, "a connection has one path to fall back to");
        assert!(self.arrival.is_none(), "no datagram is being processed between two steps");
        for known in &self.list {
            known.route.check();
            assert!(known.responses.len() <= MAX_RESPONSES, "the number of responses of a path is limited");
        }
    }
    /// The time of the next timer of any of them.
    pub(crate) fn wake_at(&self) -> Time {
        self.list.iter().map(UnusedPath::wake_at).min().unwrap_or(Time::NEVER)
    }
}
