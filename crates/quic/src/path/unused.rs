//! The paths of a connection that are not in use: the one to go back to, those being tried, those being left.

use super::Route;
use crate::ids::NumberedId;
use crate::recovery::Recovery;
use std::collections::VecDeque;
use std::net::SocketAddr;
use units::Time;

/// Paths beside the one in use. Beyond, the oldest that nobody needs gives way.
const MAX_UNUSED: usize = 4;
/// PATH_RESPONSE frames that wait on one path: a flood of challenges is answered no further.
pub(crate) const MAX_RESPONSES: usize = 4;

/// What a path that is not in use is kept for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The last path that was proven: packets go there again if the one in use proves bad (RFC 9000 section 9.3.2).
    Fallback,
    /// It may become the path in use. `moves`: as soon as it is proven.
    Candidate {
        /// Whether the connection goes there by itself.
        moves: bool,
    },
    /// A client's old path, kept for a while to answer the server's challenges there (RFC 9000 section 9.3.3).
    Leaving,
}

/// A path that is not in use.
pub(crate) struct UnusedPath {
    pub(crate) route: Route,
    /// The id of the peer that packets on it go to.
    pub(crate) id: NumberedId,
    pub(crate) role: Role,
    /// RTT, window and pacer that it had when it was in use; `None`: those of the path in use.
    pub(crate) recovery: Option<Box<Recovery>>,
    /// Answers to challenges that came on it.
    pub(crate) responses: VecDeque<[u8; 8]>,
    /// When it is let go, unless something keeps it.
    pub(crate) until: Time,
}

impl UnusedPath {
    pub(crate) fn new(route: Route, id: NumberedId, role: Role, until: Time) -> UnusedPath {
        UnusedPath { route, id, role, recovery: None, responses: VecDeque::new(), until }
    }
    /// A challenge that came on it is to be answered there.
    pub(crate) fn answer(&mut self, data: [u8; 8]) {
        if self.responses.len() < MAX_RESPONSES {
            self.responses.push_back(data);
        }
    }
    /// When there is something to do.
    fn wake_at(&self) -> Time {
        self.route
            .validation
            .as_deref()
            .map_or(Time::NEVER, |validation| validation.wake_at())
            .min(self.until)
    }
}

/// A datagram that did not come on the path in use, while it is processed.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    /// Its bytes, until they are counted.
    pub(crate) length: u64,
    /// The challenges that were in it.
    pub(crate) challenges: Vec<[u8; 8]>,
}

/// All that a connection with one path need not have.
#[derive(Default)]
pub(crate) struct UnusedPaths {
    list: Vec<UnusedPath>,
    /// The datagram that is being processed, if it came on another path than the one in use.
    pub(crate) arrival: Option<Arrival>,
    /// Validations that failed since the last that did not.
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
    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut UnusedPath> {
        self.list.get_mut(index)
    }
    pub(crate) fn find(&self, local: SocketAddr, remote: SocketAddr) -> Option<usize> {
        self.list.iter().position(|other| other.route.is_between(local, remote))
    }
    pub(crate) fn find_role(&self, role: Role) -> Option<usize> {
        self.list.iter().position(|other| other.role == role)
    }
    pub(crate) fn remove(&mut self, index: usize) -> UnusedPath {
        self.list.remove(index)
    }
    /// Takes out the first that is not to be kept.
    pub(crate) fn remove_unless(&mut self, keep: impl Fn(&UnusedPath) -> bool) -> Option<UnusedPath> {
        let at = self.list.iter().position(|other| !keep(other))?;
        Some(self.list.remove(at))
    }
    /// Adds a path; gives its index, and the path that had to give way.
    pub(crate) fn add(&mut self, other: UnusedPath) -> (usize, Option<UnusedPath>) {
        let full = self.list.len() >= MAX_UNUSED;
        let gives_way = self.list.iter().position(|known| full && known.role != Role::Fallback);
        let gone = gives_way.map(|at| self.list.remove(at));
        self.list.push(other);
        (self.list.len() - 1, gone)
    }
    /// When there is something to do for one of them.
    pub(crate) fn wake_at(&self) -> Time {
        self.list.iter().map(UnusedPath::wake_at).min().unwrap_or(Time::NEVER)
    }
}
