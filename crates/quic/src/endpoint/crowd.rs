//! Connections by network and age, so that the oldest of the network with the most of them can be found.
//!
//! Networks are nested: an IPv4 /24, the smallest routed block, of addresses; an IPv6 /48, the usual block of a site, of /56,
//! the usual block of a home (RFC 6177). The owner of one address may own all of its block.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use units::Time;

/// An IPv4 /24 or an IPv6 /48.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Network {
    V4([u8; 3]),
    V6([u8; 6]),
}

/// The network of an address, and the block in it: the last byte of an IPv4 address, the seventh of an IPv6 address.
fn place(remote: SocketAddr) -> (Network, u8) {
    match remote.ip().to_canonical() {
        IpAddr::V4(address) => {
            let [a, b, c, block] = address.octets();
            (Network::V4([a, b, c]), block)
        }
        IpAddr::V6(address) => {
            let [a, b, c, d, e, f, block, ..] = address.octets();
            (Network::V6([a, b, c, d, e, f]), block)
        }
    }
}

/// The connections of a block, the oldest first.
type Block = BTreeSet<(Time, u32)>;

/// The connections of a network.
#[derive(Debug, Default)]
struct Group {
    blocks: BTreeMap<u8, Block>,
    count: usize,
}

impl Group {
    fn oldest(&self) -> Option<(Time, u32)> {
        self.blocks.values().filter_map(|block| block.first().copied()).min()
    }
    /// The oldest connection of the block with the most; of several such blocks, the oldest of all.
    fn first_out(&self) -> Option<u32> {
        let first = |block: &Block| (block.len(), Reverse(block.first().copied()));
        let block = self.blocks.values().max_by_key(|block| first(block))?;
        block.first().map(|(_, slot)| *slot)
    }
}

/// The number of connections of a client's network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Share {
    /// Those of its IPv4 /24 or IPv6 /48.
    pub(super) network: usize,
    /// Those of its IPv4 /24 or IPv6 /56: of the block that a limit for one customer concerns.
    pub(super) customer: usize,
}

impl Share {
    /// Whether it has used up what one customer may have; a network of many customers may have twice as much.
    pub(super) fn reaches(self, limit: usize) -> bool {
        self.customer >= limit || self.network >= limit.saturating_mul(2)
    }
}

/// The number of connections of a network, its oldest connection, and the network.
type Rank = (usize, Reverse<(Time, u32)>, Network);

/// Connections by network and age.
#[derive(Debug, Default)]
pub(super) struct Crowd {
    networks: BTreeMap<Network, Group>,
    /// The networks by the number of their connections; of equally large ones the last has the oldest connection.
    ranks: BTreeSet<Rank>,
    ages: BTreeSet<(Time, u32)>,
}

impl Crowd {
    pub(super) fn len(&self) -> usize {
        self.ages.len()
    }

    pub(super) fn share(&self, remote: SocketAddr) -> Share {
        let (network, block) = place(remote);
        let Some(group) = self.networks.get(&network) else { return Share::default() };
        let customer = match network {
            Network::V4(_) => group.count,
            Network::V6(_) => group.blocks.get(&block).map_or(0, BTreeSet::len),
        };
        Share { network: group.count, customer }
    }

    /// Adds the connection in a slot, which is that old.
    pub(super) fn add(&mut self, remote: SocketAddr, at: Time, slot: u32) {
        let member = (at, slot);
        self.change(remote, |group, block| {
            group.count += 1;
            group.blocks.entry(block).or_default().insert(member);
        });
        self.ages.insert(member);
    }
    /// Removes a connection that was added like this.
    pub(super) fn remove(&mut self, remote: SocketAddr, at: Time, slot: u32) {
        let member = (at, slot);
        if !self.ages.remove(&member) {
            return;
        }
        self.change(remote, |group, number| {
            group.count -= 1;
            let block = group.blocks.get_mut(&number).expect("a member of a crowd is in a block");
            assert!(block.remove(&member), "a member of a crowd is in the block of its address");
            if block.is_empty() {
                group.blocks.remove(&number);
            }
        });
    }

    /// Changes a network, and its rank. What is new comes before what is old goes: a set of one never gets empty, and so
    /// keeps its memory.
    fn change(&mut self, remote: SocketAddr, change: impl FnOnce(&mut Group, u8)) {
        let (network, block) = place(remote);
        let group = self.networks.entry(network).or_default();
        let rank = |group: &Group| group.oldest().map(|oldest| (group.count, Reverse(oldest), network));
        let before = rank(group);
        change(group, block);
        let after = rank(group);
        if before == after {
            return;
        }
        match after {
            Some(rank) => drop(self.ranks.insert(rank)),
            None => drop(self.networks.remove(&network)),
        }
        if let Some(rank) = before {
            assert!(self.ranks.remove(&rank), "a network with members has a rank");
        }
    }

    /// The oldest connection of the network with the most; and how many that has.
    pub(super) fn first_out(&self) -> Option<(u32, usize)> {
        let (count, _, network) = self.ranks.last()?;
        let group = self.networks.get(network).expect("a network with a rank has members");
        debug_assert_eq!(group.count, *count, "a rank follows the number of members");
        Some((group.first_out().expect("a network with a rank has a member that is the first out"), *count))
    }
    /// The connection of a client's own network that gives way to it: of its /56 if that has reached the limit, else
    /// of the block with the most.
    pub(super) fn first_out_near(&self, remote: SocketAddr, limit: usize) -> Option<u32> {
        let (network, block) = place(remote);
        let group = self.networks.get(&network)?;
        match network {
            Network::V6(_) if self.share(remote).customer >= limit => {
                group.blocks.get(&block)?.first().map(|(_, slot)| *slot)
            }
            _ => group.first_out(),
        }
    }
    /// The oldest connection of all.
    pub(super) fn oldest(&self) -> Option<(Time, u32)> {
        self.ages.first().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }
    fn ms(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn addresses_of_one_network_share() {
        let mut crowd = Crowd::default();
        for (one, same, site, other) in [
            ("192.0.2.1:1", "192.0.2.255:2", "192.0.2.7:1", "192.0.3.1:1"),
            ("[::ffff:198.51.100.1]:1", "198.51.100.2:1", "198.51.100.3:1", "198.51.101.2:1"),
            (
                "[2001:db8:0:100::1]:1",
                "[2001:db8:0:1ff:ffff::]:7",
                "[2001:db8:0:200::1]:1",
                "[2001:db8:1:100::1]:1",
            ),
        ] {
            crowd.add(at(one), ms(1), 1);
            crowd.add(at(same), ms(2), 2);
            assert_eq!(crowd.share(at(one)), Share { network: 2, customer: 2 });
            assert_eq!(crowd.share(at(site)).network, 2);
            assert_eq!(crowd.share(at(site)).customer, if one.contains("db8") { 0 } else { 2 });
            assert_eq!(crowd.share(at(other)), Share::default());
            crowd.remove(at(one), ms(1), 1);
            crowd.remove(at(one), ms(1), 1);
            crowd.remove(at(same), ms(2), 2);
        }
        assert!(crowd.networks.is_empty() && crowd.ranks.is_empty() && crowd.len() == 0);
        assert!(
            Share { network: 20, customer: 1 }.reaches(10) && !Share { network: 19, customer: 9 }.reaches(10)
        );
    }

    #[test]
    fn the_oldest_of_the_greediest_network_goes_first() {
        let mut crowd = Crowd::default();
        // One of 192.0.2.0/24, which is the oldest of all; three of 198.51.100.0/24; four homes of a site.
        crowd.add(at("192.0.2.1:1"), ms(0), 0);
        for (slot, host) in [(1, 5), (2, 6), (3, 6)] {
            crowd.add(at(&format!("198.51.100.{host}:1")), ms(u64::from(slot)), slot);
        }
        assert_eq!(crowd.first_out(), Some((2, 3)), "the address with two");
        for (slot, home) in [(4, 1), (5, 2), (6, 2), (7, 3)] {
            crowd.add(at(&format!("[2001:db8:0:{home}00::1]:1")), ms(u64::from(slot)), slot);
        }
        assert_eq!(crowd.first_out(), Some((5, 4)), "the home with two");
        crowd.remove(at("[2001:db8:0:200::1]:1"), ms(5), 5);
        // Two networks with three each: the one with the older connection.
        assert_eq!(crowd.first_out(), Some((2, 3)));
        assert_eq!(crowd.first_out_near(at("[2001:db8:0:300::9]:1"), 1), Some(7));
        assert_eq!(crowd.first_out_near(at("[2001:db8:0:300::9]:1"), 9), Some(4));
        assert_eq!(crowd.first_out_near(at("203.0.113.1:1"), 9), None);
        assert_eq!(crowd.oldest(), Some((ms(0), 0)));
    }
}
