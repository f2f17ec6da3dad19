//! Links with addresses: clients with several addresses, a NAT, unreachable addresses.

use super::{DatagramInFlight, Link, ms};
use random::Generator;
use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;

pub(crate) fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

/// The handling of addresses by a link; tests change it during use.
#[derive(Debug)]
pub(crate) struct Roads {
    /// The client's address after translation; `None`: there is no NAT.
    pub(crate) outside: Option<SocketAddr>,
    /// The client's address behind the NAT.
    inside: SocketAddr,
    /// Datagrams to these addresses are lost.
    pub(crate) lost_to: Vec<SocketAddr>,
    /// Datagrams from these addresses are lost.
    pub(crate) lost_from: Vec<SocketAddr>,
    /// The longest datagram that the link carries.
    pub(crate) mtu: usize,
    pub(crate) loss: f64,
    pub(crate) delay_ms: u64,
    random: Generator,
    /// Bytes sent by the server, by destination, in order of first use.
    pub(crate) to_client: Vec<(SocketAddr, u64)>,
    /// Bytes that reached the server, by source.
    pub(crate) to_server: Vec<(SocketAddr, u64)>,
}

fn count(bytes: &mut Vec<(SocketAddr, u64)>, address: SocketAddr, length: u64) {
    match bytes.iter_mut().find(|(known, _)| *known == address) {
        Some((_, sum)) => *sum += length,
        None => bytes.push((address, length)),
    }
}

impl Roads {
    /// Addresses with a delay of 10 ms in each direction, and a link that uses them.
    pub(crate) fn new(seed: u64) -> (Rc<RefCell<Roads>>, Link) {
        let roads = Rc::new(RefCell::new(Roads {
            outside: None,
            inside: address(super::CLIENT),
            lost_to: Vec::new(),
            lost_from: Vec::new(),
            mtu: 65_535,
            loss: 0.0,
            delay_ms: 10,
            random: Generator::new(seed, "roads"),
            to_client: Vec::new(),
            to_server: Vec::new(),
        }));
        let shared = roads.clone();
        let link = move |to_server: bool, _, flying: &mut DatagramInFlight| {
            let mut roads = shared.borrow_mut();
            match roads.pass(to_server, flying) {
                true => vec![ms(roads.delay_ms)],
                false => Vec::new(),
            }
        };
        (roads, Box::new(link))
    }

    fn pass(&mut self, to_server: bool, flying: &mut DatagramInFlight) -> bool {
        let length = flying.length() as u64;
        let lost = self.random.chance(self.loss) || flying.length() > self.mtu;
        if to_server {
            if let Some(outside) = self.outside.filter(|_| flying.from == self.inside) {
                flying.from = outside;
            }
        } else {
            count(&mut self.to_client, flying.to, length);
        }
        if lost || self.lost_to.contains(&flying.to) || self.lost_from.contains(&flying.from) {
            return false;
        }
        if to_server {
            count(&mut self.to_server, flying.from, length);
        } else if let Some(outside) = self.outside {
            // A NAT only knows its newest binding.
            if flying.to == self.inside {
                return false;
            }
            if flying.to == outside {
                flying.to = self.inside;
            }
        }
        true
    }

    /// Bytes that the server sent to this address.
    pub(crate) fn sent_to(&self, address: SocketAddr) -> u64 {
        self.to_client.iter().find(|(known, _)| *known == address).map_or(0, |(_, sum)| *sum)
    }
    /// Bytes that reached the server from this address.
    pub(crate) fn came_from(&self, address: SocketAddr) -> u64 {
        self.to_server.iter().find(|(known, _)| *known == address).map_or(0, |(_, sum)| *sum)
    }
}
