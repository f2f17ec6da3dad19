//! A server's record of the tickets it has issued, for stateful resumption (RFC 8446 section 2.2), which can limit
//! each ticket to one connection.

use crate::options::Options;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The maximum number of tickets in a store. Any more displace the oldest.
pub const MAX_TICKETS: usize = 16_384;

/// The valid tickets of a server. Bounded: [`MAX_TICKETS`].
///
/// A ticket is a name of 32 random bytes; the session it stands for never leaves the server. So a server that has
/// lost its store, for example by a restart, knows no tickets, and its clients perform full handshakes.
///
/// This is a handle: clones share one store. Servers that share a store accept each other's tickets.
#[derive(Debug, Clone)]
pub struct TicketStore(Arc<Mutex<Store>>);

#[derive(Debug)]
struct Store {
    tickets: BTreeMap<Vec<u8>, Entry>,
    /// The names in order of issue, including those of used tickets.
    order: VecDeque<Vec<u8>>,
    /// How long a ticket is valid.
    lifetime: Duration,
    /// Whether a ticket is valid for one connection only.
    single_use: bool,
}

/// The record of a ticket.
#[derive(Debug, Clone)]
struct Entry {
    /// The session, encoded by the handshake engine.
    session: Vec<u8>,
    /// The server's promises on the connection that issued the ticket: see [`Admission::terms`].
    terms: Arc<[u8]>,
    /// The date of issue.
    issued: Duration,
}

/// How a server issues and accepts tickets on one connection.
#[derive(Debug, Clone)]
pub struct Admission {
    /// The store of tickets.
    pub store: TicketStore,
    /// The server's promises on this connection that a client may rely on in 0-RTT data of a later one (for QUIC, the
    /// transport parameters of RFC 9000 section 7.4.1), in any encoding.
    pub terms: Arc<[u8]>,
    /// Decides whether 0-RTT is possible, given the terms of the ticket's connection and those of this one.
    pub admits: fn(&[u8], &[u8]) -> bool,
    /// The terms of the ticket that the client has resumed, if any yet.
    resumed: Option<Arc<[u8]>>,
}

impl TicketStore {
    /// An empty store.
    pub(crate) fn new(options: &Options) -> TicketStore {
        TicketStore(Arc::new(Mutex::new(Store {
            tickets: BTreeMap::new(),
            order: VecDeque::new(),
            lifetime: Duration::from_nanos(options.ticket_lifetime.as_nanos()),
            single_use: options.replay_protection,
        })))
    }

    /// The number of tickets.
    pub fn len(&self) -> usize {
        self.lock().tickets.len()
    }
    /// Whether there are no tickets.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets all tickets: none of them is accepted any more.
    pub fn clear(&self) {
        let mut store = self.lock();
        store.tickets.clear();
        store.order.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Store> {
        // Every change below is atomic, so the store is valid even after a panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a session under a new ticket's name.
    pub(crate) fn put(&self, name: Vec<u8>, session: Vec<u8>, terms: &Arc<[u8]>, date: Duration) {
        let mut store = self.lock();
        store.expire(date);
        if store.order.len() >= MAX_TICKETS
            && let Some(oldest) = store.order.pop_front()
        {
            store.tickets.remove(&oldest);
        }
        store.order.push_back(name.clone());
        store.tickets.insert(name, Entry { session, terms: terms.clone(), issued: date });
    }

    /// Returns the record of a ticket. With replay protection the ticket is invalid afterwards (RFC 8446 section
    /// 8.1).
    fn take(&self, name: &[u8], date: Duration) -> Option<Entry> {
        let mut store = self.lock();
        store.expire(date);
        match store.single_use {
            true => store.tickets.remove(name),
            false => store.tickets.get(name).cloned(),
        }
    }

    /// The terms under which a ticket was issued, if it is valid.
    pub(crate) fn terms(&self, name: &[u8], date: Duration) -> Option<Arc<[u8]>> {
        let mut store = self.lock();
        store.expire(date);
        store.tickets.get(name).map(|entry| entry.terms.clone())
    }
}

impl Store {
    /// Removes expired tickets (RFC 8446 section 4.6.1).
    fn expire(&mut self, date: Duration) {
        while let Some(oldest) = self.order.front() {
            let entry = self.tickets.get(oldest);
            if entry.is_some_and(|entry| date.saturating_sub(entry.issued) <= self.lifetime) {
                return;
            }
            self.tickets.remove(oldest);
            self.order.pop_front();
        }
    }
}

impl Admission {
    /// Tickets of this store with these terms.
    pub fn new(store: TicketStore, terms: Arc<[u8]>, admits: fn(&[u8], &[u8]) -> bool) -> Admission {
        Admission { store, terms, admits, resumed: None }
    }

    /// Returns the session of a ticket, and keeps its terms. With replay protection the ticket is invalid afterwards (RFC 8446
    /// section 8.1).
    pub(crate) fn take(&mut self, name: &[u8], date: Duration) -> Option<Vec<u8>> {
        let Entry { session, terms, .. } = self.store.take(name, date)?;
        self.resumed = Some(terms);
        Some(session)
    }

    /// The terms of the ticket that was taken.
    pub(crate) fn resumed(&self) -> Option<&[u8]> {
        self.resumed.as_deref()
    }

    /// Whether 0-RTT with this ticket honours everything promised on the ticket's connection.
    pub(crate) fn holds(&self, name: &[u8], date: Duration) -> bool {
        self.store.terms(name, date).is_some_and(|then| (self.admits)(&then, &self.terms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration as Span;

    fn store(replay_protection: bool) -> TicketStore {
        let ticket_lifetime = Span::from_secs(100);
        TicketStore::new(&Options { replay_protection, ticket_lifetime, ..Options::default() })
    }
    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }
    fn put(store: &TicketStore, name: u32, date: Duration) {
        store.put(name.to_be_bytes().to_vec(), vec![name as u8], &[1].into(), date);
    }

    #[test]
    fn a_ticket_is_good_once_with_replay_protection_and_often_without() {
        for protected in [true, false] {
            let store = store(protected);
            put(&store, 7, at(0));
            assert_eq!(store.take(&7u32.to_be_bytes(), at(1)).map(|entry| entry.session), Some(vec![7]));
            assert_eq!(store.take(&7u32.to_be_bytes(), at(1)).is_none(), protected);
            assert!(store.take(b"other", at(1)).is_none());
        }
    }

    #[test]
    fn a_ticket_is_good_for_its_lifetime() {
        let store = store(false);
        put(&store, 1, at(0));
        put(&store, 2, at(50));
        assert!(store.take(&1u32.to_be_bytes(), at(100)).is_some());
        assert!(store.take(&1u32.to_be_bytes(), at(101)).is_none());
        assert!(store.terms(&2u32.to_be_bytes(), at(150)).is_some());
        assert!(store.terms(&2u32.to_be_bytes(), at(151)).is_none() && store.is_empty());
    }

    #[test]
    fn a_flood_of_tickets_displaces_the_oldest() {
        let store = store(true);
        for name in 0..MAX_TICKETS as u32 + 10 {
            put(&store, name, at(0));
        }
        assert_eq!(store.len(), MAX_TICKETS);
        assert!(store.take(&9u32.to_be_bytes(), at(0)).is_none());
        assert!(store.take(&10u32.to_be_bytes(), at(0)).is_some());
        for name in 0..3 * MAX_TICKETS as u32 {
            put(&store, name, at(0));
            store.take(&name.to_be_bytes(), at(0));
        }
        assert!(store.0.lock().unwrap().order.len() <= MAX_TICKETS);
    }

    #[test]
    fn terms_are_compared_with_current_ones() {
        let store = store(true);
        put(&store, 1, at(0));
        let admission = |now: u8| Admission::new(store.clone(), [now].into(), |then, now| now[0] >= then[0]);
        assert!(
            admission(1).holds(&1u32.to_be_bytes(), at(0)) && admission(2).holds(&1u32.to_be_bytes(), at(0))
        );
        assert!(!admission(0).holds(&1u32.to_be_bytes(), at(0)));
        let mut taking = admission(9);
        assert_eq!(taking.resumed(), None);
        assert_eq!(taking.take(&1u32.to_be_bytes(), at(0)), Some(vec![1]));
        assert_eq!(taking.resumed(), Some(&[1][..]));
        assert!(!admission(1).holds(&1u32.to_be_bytes(), at(200)));
    }
}
