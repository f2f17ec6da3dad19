//! The ends that a relay keeps apart: clients on one side, and on the other the addresses at which the server sees them.

use super::{Pair, Rebind};
use crate::socket::Socket;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use units::Time;

/// The maximum number of ends of one side; the one that was silent for the longest time makes room for the next.
pub(super) const MAX_SESSIONS: usize = 512;
/// The numbers of ends: a number is used again only after all others.
pub(super) const NUMBERS: u16 = 16_384;
/// The maximum number of former addresses of a client at which late packets are still received.
const MAX_LEFT: usize = 32;

/// The ends of one side by number, and by address and pair of the relay.
#[derive(Debug)]
pub(super) struct Sessions<E> {
    numbers: BTreeMap<(SocketAddr, usize), u16>,
    sessions: BTreeMap<u16, RelayedEnd<E>>,
    next: u16,
    /// How many there have been.
    pub(super) opened: u64,
}

/// An end.
#[derive(Debug)]
pub(super) struct RelayedEnd<E> {
    /// Its address.
    pub(super) address: SocketAddr,
    /// The number of the relay's pair.
    pub(super) pair: usize,
    pub(super) end: E,
    last_used: Time,
}

impl<E> Default for Sessions<E> {
    fn default() -> Sessions<E> {
        Sessions { numbers: BTreeMap::new(), sessions: BTreeMap::new(), next: 0, opened: 0 }
    }
}

impl<E> Sessions<E> {
    /// The number of the end with this address at this pair, which `open` makes if it is new.
    pub(super) fn of(
        &mut self,
        address: SocketAddr,
        pair: usize,
        now: Time,
        open: impl FnOnce() -> io::Result<E>,
    ) -> io::Result<u16> {
        if let Some(number) = self.numbers.get(&(address, pair)) {
            if let Some(session) = self.sessions.get_mut(number) {
                session.last_used = now;
            }
            return Ok(*number);
        }
        if self.sessions.len() >= MAX_SESSIONS {
            self.drop_quietest();
        }
        let end = open()?;
        while self.sessions.contains_key(&self.next) {
            self.next = (self.next + 1) % NUMBERS;
        }
        let number = self.next;
        self.next = (number + 1) % NUMBERS;
        self.opened += 1;
        self.numbers.insert((address, pair), number);
        self.sessions.insert(number, RelayedEnd { address, pair, end, last_used: now });
        Ok(number)
    }

    pub(super) fn get(&self, number: u16) -> Option<&RelayedEnd<E>> {
        self.sessions.get(&number)
    }
    pub(super) fn iter(&self) -> impl Iterator<Item = (u16, &RelayedEnd<E>)> {
        self.sessions.iter().map(|(number, session)| (*number, session))
    }

    fn drop_quietest(&mut self) {
        let quietest = self.sessions.iter().min_by_key(|(_, session)| session.last_used);
        let Some((&number, session)) = quietest else { return };
        self.numbers.remove(&(session.address, session.pair));
        self.sessions.remove(&number);
    }
}

/// The sockets towards the server of a client as it is seen behind the network.
#[derive(Debug)]
pub(super) struct Outside {
    pub(super) socket: Socket,
    /// The former sockets. Packets there are lost, but the system does not answer that the port is closed.
    pub(super) left: Vec<Socket>,
    /// The number of moves.
    moves: u32,
}

impl Outside {
    pub(super) fn open(pair: &Pair) -> io::Result<Outside> {
        let socket = Socket::bind_with_times(SocketAddr::new(source_to(pair.to)?, 0))?;
        Ok(Outside { socket, left: Vec::new(), moves: 0 })
    }

    fn rebind(&mut self, rebind: Rebind) -> io::Result<()> {
        self.moves += 1;
        let ip = match (rebind, self.socket.local().ip()) {
            (Rebind::Port, ip) => ip,
            (Rebind::Address, ip) => another(ip, self.moves)?,
        };
        let new = Socket::bind_with_times(SocketAddr::new(ip, 0))?;
        self.left.push(std::mem::replace(&mut self.socket, new));
        if self.left.len() > MAX_LEFT {
            self.left.remove(0);
        }
        Ok(())
    }
}

impl Sessions<Outside> {
    /// Moves all clients, as the server sees them.
    pub(super) fn rebind(&mut self, rebind: Rebind) -> io::Result<()> {
        self.sessions.values_mut().try_for_each(|session| session.end.rebind(rebind))
    }
}

/// The address of this machine from which packets to `server` are sent.
fn source_to(server: SocketAddr) -> io::Result<IpAddr> {
    let any: IpAddr = match server {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let probe = std::net::UdpSocket::bind((any, 0))?;
    probe.connect(server)?;
    Ok(probe.local_addr()?.ip())
}

/// Another address of this machine: 127.0.0.2, 127.0.0.3, ... Addresses outside of the loopback interface have
/// no alternative.
fn another(ip: IpAddr, moves: u32) -> io::Result<IpAddr> {
    match ip {
        IpAddr::V4(v4) if v4.is_loopback() => {
            Ok(Ipv4Addr::from(u32::from(Ipv4Addr::LOCALHOST) + 1 + (moves - 1) % 250).into())
        }
        _ => {
            let problem = format!(
                "a client at {ip} can move to another port, but not to another address: use 127.0.0.1"
            );
            Err(io::Error::new(io::ErrorKind::AddrNotAvailable, problem))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(port: u16) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, port).into()
    }

    #[test]
    fn each_client_has_an_address_of_its_own_and_keeps_it_until_it_is_moved() {
        let pair = Pair { listen: client(1), to: client(9) };
        let mut sessions = Sessions::default();
        let of = |sessions: &mut Sessions<Outside>, port| {
            let number = sessions.of(client(port), 0, Time::ZERO, || Outside::open(&pair)).unwrap();
            (number, sessions.get(number).unwrap().end.socket.local())
        };
        let (first, second) = (of(&mut sessions, 7000), of(&mut sessions, 7001));
        assert!(first.0 != second.0 && first.1 != second.1);
        assert_eq!(of(&mut sessions, 7000), first);
        sessions.rebind(Rebind::Port).unwrap();
        let moved = of(&mut sessions, 7000);
        assert!(moved.0 == first.0 && moved.1.ip() == first.1.ip() && moved.1.port() != first.1.port());
        sessions.rebind(Rebind::Address).unwrap();
        let away = of(&mut sessions, 7000);
        assert!(away.0 == first.0 && away.1.ip() != moved.1.ip() && away.1.ip().is_loopback());
    }

    #[test]
    fn the_quietest_client_goes_when_there_are_too_many() {
        let mut sessions = Sessions::default();
        for n in 0..=MAX_SESSIONS as u64 {
            // The first one is never quiet.
            for port in [10_000 + n as u16, 10_000] {
                sessions.of(client(port), 0, Time::from_nanos(n), || Ok(())).unwrap();
            }
        }
        assert_eq!((sessions.iter().count(), sessions.opened), (MAX_SESSIONS, MAX_SESSIONS as u64 + 1));
        assert!(sessions.get(0).is_some() && sessions.get(1).is_none());
    }

    #[test]
    fn a_number_in_use_is_not_given_away() {
        let mut sessions = Sessions::default();
        for n in 0..=u64::from(NUMBERS) {
            for port in [1, 10_000 + n as u16] {
                sessions.of(client(port), 0, Time::from_nanos(n), || Ok(())).unwrap();
            }
        }
        assert_eq!(sessions.get(0).unwrap().address, client(1));
        assert_eq!(sessions.iter().filter(|(_, session)| session.address == client(1)).count(), 1);
    }

    #[test]
    fn an_address_that_has_no_other_is_an_error_that_says_what_to_use() {
        let error = another("::1".parse().unwrap(), 1).unwrap_err();
        assert!(error.to_string().contains("use 127.0.0.1"), "{error}");
    }
}
