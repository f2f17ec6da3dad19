//! What a sender remembers of paths: the capacities that earlier connections observed, and which of them are in use.

use super::careful::Saved;
use super::spent::Spent;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use units::Duration;

/// The length of a prefix in bits: of an IPv4 address, and of an IPv6 address.
const PREFIX_BITS: (u32, u32) = (24, 56);

/// A random number that a sender's session tickets have in common.
pub type TicketKey = [u8; 16];

/// What identifies a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathKey {
    /// The peer's address, or its prefix with zeros after it.
    Address(IpAddr),
    /// The session ticket that the peer resumes: a number that only the sender knows.
    Ticket(TicketKey),
}

impl PathKey {
    /// The key of a peer's address, by its prefix if asked for.
    pub fn of(ip: IpAddr, by_prefix: bool) -> PathKey {
        let (v4, v6) = if by_prefix { PREFIX_BITS } else { (32, 128) };
        PathKey::Address(match ip.to_canonical() {
            IpAddr::V4(ip) => Ipv4Addr::from_bits(ip.to_bits() & (u32::MAX << (32 - v4))).into(),
            IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() & (u128::MAX << (128 - v6))).into(),
        })
    }
}

/// A saved capacity: of what, for whom, when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Learned {
    /// The capacity and the RTT.
    pub saved: Saved,
    /// The peer's address.
    pub ip: IpAddr,
    /// The date of the observation in milliseconds since 1970.
    pub date_ms: u64,
}

impl Learned {
    /// Whether it may be used at this date. A date in the future comes from another clock and is refused.
    pub fn is_fresh(&self, date_ms: u64, lifetime: Duration) -> bool {
        date_ms.checked_sub(self.date_ms).is_some_and(|age| age <= lifetime.as_millis())
    }
}

/// Why a saved capacity is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Its lifetime has ended.
    Expired,
    /// It is of another path.
    OtherPath,
    /// Another connection is using it.
    InUse,
    /// This sender did not issue it, or it was altered.
    Forged,
    /// It was used before.
    Replayed,
    /// Its format is unknown.
    Unknown,
}

impl Refusal {
    /// Its name in traces.
    pub const fn name(self) -> &'static str {
        match self {
            Refusal::Expired => "expired",
            Refusal::OtherPath => "other_path",
            Refusal::InUse => "in_use",
            Refusal::Forged => "forged",
            Refusal::Replayed => "replayed",
            Refusal::Unknown => "unknown_format",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::Expired => "its lifetime has ended",
            Refusal::OtherPath => "it is of another path",
            Refusal::InUse => "another connection is using it",
            Refusal::Forged => "it was not issued here, or it was altered",
            Refusal::Replayed => "it was used before",
            Refusal::Unknown => "its format is unknown",
        })
    }
}

/// What a sender remembers of paths. The memory is bounded: the path that was updated least recently is forgotten first.
///
/// This is a handle: clones share one memory, which lives as long as any of them.
#[derive(Debug, Clone)]
pub struct PathStore(Arc<Mutex<Paths>>);

#[derive(Debug)]
struct Paths {
    /// With the number of the update.
    known: BTreeMap<PathKey, (u64, Learned)>,
    order: BTreeMap<u64, PathKey>,
    /// The paths whose capacity a connection is using.
    used: BTreeSet<PathKey>,
    /// What peers have presented.
    spent: Spent,
    updates: u64,
    /// The number of changes, deletions included.
    changes: u64,
    limit: usize,
}

impl Default for PathStore {
    fn default() -> PathStore {
        PathStore::with_limit(PathStore::DEFAULT_LIMIT)
    }
}

impl PathStore {
    /// The default number of paths: less than 1 MB.
    pub const DEFAULT_LIMIT: usize = 4096;

    /// An empty memory for at most this many paths.
    pub fn with_limit(paths: usize) -> PathStore {
        PathStore(Arc::new(Mutex::new(Paths {
            known: BTreeMap::new(),
            order: BTreeMap::new(),
            used: BTreeSet::new(),
            spent: Spent::default(),
            updates: 0,
            changes: 0,
            limit: paths,
        })))
    }

    /// Keeps what was learned of a path, in place of what was known. RFC 9959-3.1-1: "A sender MUST NOT retain more than one set of CC
    /// parameters for a Remote Endpoint".
    pub fn remember(&self, path: PathKey, learned: Learned) {
        let mut paths = self.lock();
        paths.forget(path);
        paths.updates += 1;
        paths.changes += 1;
        let number = paths.updates;
        paths.known.insert(path, (number, learned));
        paths.order.insert(number, path);
        if paths.known.len() > paths.limit
            && let Some((_, oldest)) = paths.order.pop_first()
        {
            paths.known.remove(&oldest);
        }
    }

    /// What is known of a path.
    pub fn get(&self, path: PathKey) -> Option<Learned> {
        self.lock().known.get(&path).map(|(_, learned)| *learned)
    }

    /// Forgets a path.
    pub fn forget(&self, path: PathKey) {
        self.lock().forget(path);
    }

    /// Marks a capacity as used that a peer presents: its date of issue in milliseconds since 1970, and a hash. Returns whether
    /// it was unused. If it was used under the hash `barred`, it counts as used.
    pub fn spend(&self, date_ms: u64, hash: u64, barred: u64) -> bool {
        let spent = &mut self.lock().spent;
        !spent.is_spent(date_ms, barred) && spent.spend(date_ms, hash)
    }

    /// Forgets all paths. Those in use remain in use.
    pub fn clear(&self) {
        let mut paths = self.lock();
        paths.changes += 1;
        paths.known.clear();
        paths.order.clear();
    }

    /// All paths, the least recently updated one first.
    pub fn entries(&self) -> Vec<(PathKey, Learned)> {
        let paths = self.lock();
        paths
            .order
            .values()
            .filter_map(|path| paths.known.get(path).map(|(_, learned)| (*path, *learned)))
            .collect()
    }

    /// A number that grows whenever what is known of paths changes: a copy that was made at the same number is still good.
    pub fn changes(&self) -> u64 {
        self.lock().changes
    }

    /// The number of paths.
    pub fn len(&self) -> usize {
        self.lock().known.len()
    }
    /// Whether no path is known.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Begins to use the capacity of a path; `None` while another connection does. It is free again when the result is
    /// dropped.
    pub fn begin_use(&self, path: PathKey) -> Option<InUse> {
        self.lock().used.insert(path).then(|| InUse { store: self.clone(), path })
    }

    fn lock(&self) -> MutexGuard<'_, Paths> {
        // No operation leaves an inconsistent state, so the data of a panicked thread is valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Paths {
    fn forget(&mut self, path: PathKey) {
        if let Some((number, _)) = self.known.remove(&path) {
            self.order.remove(&number);
            self.changes += 1;
        }
    }
}

/// The use of a path's capacity by one connection.
#[derive(Debug)]
pub struct InUse {
    store: PathStore,
    path: PathKey,
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.store.lock().used.remove(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(last: u8) -> PathKey {
        PathKey::of(IpAddr::from([10, 0, 0, last]), false)
    }
    fn learned(window: u64) -> Learned {
        let saved = Saved { window, rtt: Duration::from_millis(600) };
        Learned { saved, ip: IpAddr::from([10, 0, 0, 9]), date_ms: 1_000 }
    }

    /// RFC 9959-3.1-1: what is learned of a path replaces what was known of it.
    #[test]
    fn the_least_recently_updated_path_is_forgotten_first() {
        let store = PathStore::with_limit(2);
        store.remember(key(1), learned(1));
        store.remember(key(2), learned(2));
        store.clone().remember(key(1), learned(10));
        store.remember(key(3), learned(3));
        assert_eq!(store.entries(), [(key(1), learned(10)), (key(3), learned(3))]);
        assert_eq!((store.get(key(1)), store.get(key(2)), store.len()), (Some(learned(10)), None, 2));
        store.forget(key(1));
        store.forget(key(1));
        assert_eq!(store.entries(), [(key(3), learned(3))]);
        store.clear();
        assert!(store.is_empty() && store.entries().is_empty());
        let none = PathStore::with_limit(0);
        none.remember(key(1), learned(1));
        assert!(none.is_empty());
    }

    /// Using a path, and spending what a peer presents, change nothing that is known.
    #[test]
    fn changes_are_counted() {
        let store = PathStore::default();
        let mut last = store.changes();
        let mut changed = || std::mem::replace(&mut last, store.changes()) != store.changes();
        store.remember(key(1), learned(1));
        assert!(changed() && !changed());
        drop(store.begin_use(key(1)));
        assert!(
            store.spend(1, 2, 3) && !store.spend(1, 2, 3) && store.spend(1, 3, 3) && !store.spend(1, 4, 3)
        );
        store.forget(key(2));
        assert!(store.get(key(1)).is_some() && !changed());
        store.remember(key(1), learned(1));
        assert!(changed());
        store.forget(key(1));
        assert!(changed());
        store.clear();
        assert!(changed());
    }

    /// RFC 9959-3.2-2: "Only one connection can use a specific set of saved CC parameters."
    #[test]
    fn a_path_has_one_user_at_a_time() {
        let store = PathStore::default();
        let user = store.begin_use(key(1));
        assert!(user.is_some() && store.begin_use(key(1)).is_none() && store.begin_use(key(2)).is_some());
        store.clear();
        assert!(store.begin_use(key(1)).is_none());
        drop(user);
        assert!(store.begin_use(key(1)).is_some());
    }

    #[test]
    fn a_capacity_expires_after_its_lifetime() {
        let hour = Duration::from_secs(3600);
        for (date, fresh) in [(999, false), (1_000, true), (3_601_000, true), (3_601_001, false)] {
            assert_eq!(learned(1).is_fresh(date, hour), fresh, "{date}");
        }
    }

    #[test]
    fn a_prefix_is_one_path() {
        let of = |ip: &str, by_prefix| PathKey::of(ip.parse().unwrap(), by_prefix);
        assert_eq!(of("192.0.2.1", true), of("192.0.2.254", true));
        assert_ne!(of("192.0.2.1", true), of("192.0.3.1", true));
        assert_ne!(of("192.0.2.1", false), of("192.0.2.2", false));
        assert_eq!(of("2001:db8:1:ff01::1", true), of("2001:db8:1:ff02::2", true));
        assert_ne!(of("2001:db8:1:fe00::1", true), of("2001:db8:1:ff00::1", true));
        assert_eq!(of("::ffff:192.0.2.1", false), of("192.0.2.1", false));
    }
}
