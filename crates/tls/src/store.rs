//! What a server keeps of the tickets that it gave out: stateful resumption (RFC 8446 section 2.2), with which each
//! ticket can be good for one connection only.

use crate::options::Options;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How many tickets a store keeps: more than that, and the oldest is good no more.
pub const MAX_TICKETS: usize = 16_384;

/// The tickets that a server gave out and that are still good. Bounded: [`MAX_TICKETS`].
///
/// A ticket is a name of 32 random bytes; what it stands for never leaves the server. So a server that has lost its
/// store (it was started anew, perhaps) knows no ticket, and its clients shake hands in full.
///
/// This is a handle: clones share one store. Servers that share one know one another's tickets.
#[derive(Debug, Clone)]
pub struct TicketStore(Arc<Mutex<Store>>);

#[derive(Debug)]
struct Store {
    tickets: BTreeMap<Vec<u8>, Entry>,
    /// The names in the order in which they were given out; those of tickets that were used are here as well.
    order: VecDeque<Vec<u8>>,
    /// A ticket is good for so long.
    lifetime: Duration,
    /// Whether a ticket is good for one connection only.
    single_use: bool,
}

/// What a ticket stands for.
#[derive(Debug, Clone)]
struct Entry {
    /// The session, as the handshake's engine writes it.
    session: Vec<u8>,
    /// What the server promised on the connection that gave the ticket: see [`Admission::terms`].
    terms: Arc<[u8]>,
    /// The date of its issue.
    issued: Duration,
}

/// What a server gives tickets by and takes them by, on one connection.
#[derive(Debug, Clone)]
pub struct Admission {
    /// Where tickets are kept.
    pub store: TicketStore,
    /// What the server promises on this connection, and a client may rely on in 0-RTT data of a later one (for QUIC:
    /// the transport parameters of RFC 9000 section 7.4.1), in any encoding.
    pub terms: Arc<[u8]>,
    /// Whether 0-RTT is possible, given the terms of the ticket's connection and those of this one.
    pub admits: fn(&[u8], &[u8]) -> bool,
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

    /// How many tickets are kept.
    pub fn len(&self) -> usize {
        self.lock().tickets.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, Store> {
        // Each change below is whole: what a thread that panicked has left is good.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a session under a new ticket's name.
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

    /// The session of a ticket. With replay protection the ticket is good no more afterwards: RFC 8446 section 8.1.
    pub(crate) fn take(&self, name: &[u8], date: Duration) -> Option<Vec<u8>> {
        let mut store = self.lock();
        store.expire(date);
        match store.single_use {
            true => store.tickets.remove(name).map(|entry| entry.session),
            false => store.tickets.get(name).map(|entry| entry.session.clone()),
        }
    }

    /// The terms under which a ticket was given, if it is good.
    pub(crate) fn terms(&self, name: &[u8], date: Duration) -> Option<Arc<[u8]>> {
        let mut store = self.lock();
        store.expire(date);
        store.tickets.get(name).map(|entry| entry.terms.clone())
    }
}

impl Store {
    /// Lets go of tickets that are too old: RFC 8446 section 4.6.1.
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
    /// Whether 0-RTT with this ticket keeps all that the ticket's connection promised.
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
            assert_eq!(store.take(&7u32.to_be_bytes(), at(1)), Some(vec![7]));
            assert_eq!(store.take(&7u32.to_be_bytes(), at(1)).is_none(), protected);
            assert_eq!(store.take(b"other", at(1)), None);
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
    fn a_flood_of_tickets_costs_the_oldest_and_no_memory() {
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
    fn terms_are_compared_with_those_of_today() {
        let store = store(true);
        put(&store, 1, at(0));
        let admission = |now: u8| Admission {
            store: store.clone(),
            terms: [now].into(),
            admits: |then, now| now[0] >= then[0],
        };
        assert!(
            admission(1).holds(&1u32.to_be_bytes(), at(0)) && admission(2).holds(&1u32.to_be_bytes(), at(0))
        );
        assert!(!admission(0).holds(&1u32.to_be_bytes(), at(0)));
        assert!(!admission(1).holds(&1u32.to_be_bytes(), at(200)));
    }
}
