//! The clients of a relay, each with its own address towards the server, as behind a NAT.

use super::{Pair, Rebind};
use crate::socket::Socket;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use units::Time;

/// The maximum number of clients; the one that was silent for the longest time makes room for the next.
pub(super) const MAX_SESSIONS: usize = 512;
/// The maximum number of former addresses of a client at which late packets are still received.
const MAX_LEFT: usize = 32;

/// A client: one of its addresses, and the address of the relay that it sends to.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) client: SocketAddr,
    /// The number of the relay's pair.
    pub(super) pair: usize,
    /// The address of the relay as the client sees it.
    pub(super) facing: SocketAddr,
    /// The socket towards the server.
    pub(super) outside: Socket,
    /// The former sockets towards the server. Packets there are lost, but the system does not answer that the
    /// port is closed.
    pub(super) left: Vec<Socket>,
    /// The number of moves.
    moves: u32,
    last_used: Time,
}

/// All clients, by number.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    numbers: BTreeMap<(SocketAddr, usize), u32>,
    sessions: BTreeMap<u32, Session>,
    next: u32,
}

impl Sessions {
    /// The number of this client, which is added if it is new.
    pub(super) fn of(
        &mut self,
        client: SocketAddr,
        pair: (usize, &Pair),
        facing: SocketAddr,
        now: Time,
    ) -> io::Result<u32> {
        let (index, pair) = pair;
        if let Some(number) = self.numbers.get(&(client, index)) {
            if let Some(session) = self.sessions.get_mut(number) {
                session.last_used = now;
            }
            return Ok(*number);
        }
        if self.sessions.len() >= MAX_SESSIONS {
            self.drop_quietest();
        }
        let outside = Socket::bind_with_times(SocketAddr::new(source_to(pair.to)?, 0))?;
        let number = self.next;
        self.next += 1;
        self.numbers.insert((client, index), number);
        let session =
            Session { client, pair: index, facing, outside, left: Vec::new(), moves: 0, last_used: now };
        self.sessions.insert(number, session);
        Ok(number)
    }

    pub(super) fn get(&self, number: u32) -> Option<&Session> {
        self.sessions.get(&number)
    }
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Session)> {
        self.sessions.iter().map(|(number, session)| (*number, session))
    }

    /// Moves all clients, as the server sees them.
    pub(super) fn rebind(&mut self, rebind: Rebind) -> io::Result<()> {
        for session in self.sessions.values_mut() {
            session.moves += 1;
            let ip = match (rebind, session.outside.local().ip()) {
                (Rebind::Port, ip) => ip,
                (Rebind::Address, ip) => another(ip, session.moves)?,
            };
            let new = Socket::bind_with_times(SocketAddr::new(ip, 0))?;
            session.left.push(std::mem::replace(&mut session.outside, new));
            if session.left.len() > MAX_LEFT {
                session.left.remove(0);
            }
        }
        Ok(())
    }

    fn drop_quietest(&mut self) {
        let quietest = self.sessions.iter().min_by_key(|(_, session)| session.last_used);
        let Some((&number, session)) = quietest else { return };
        self.numbers.remove(&(session.client, session.pair));
        self.sessions.remove(&number);
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
            let problem =
                format!("a client at {ip} can get another port but no other address: use 127.0.0.1");
            Err(io::Error::new(io::ErrorKind::AddrNotAvailable, problem))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> Pair {
        let listen = (Ipv4Addr::LOCALHOST, 1).into();
        Pair { listen, to: (Ipv4Addr::LOCALHOST, 9).into() }
    }

    #[test]
    fn each_client_has_an_address_of_its_own_and_keeps_it_until_it_is_moved() {
        let (mut sessions, pair) = (Sessions::default(), pair());
        let clients = [(Ipv4Addr::LOCALHOST, 7000).into(), (Ipv4Addr::LOCALHOST, 7001).into()];
        let of = |sessions: &mut Sessions, client| {
            let number = sessions.of(client, (0, &pair), pair.listen, Time::ZERO).unwrap();
            (number, sessions.get(number).unwrap().outside.local())
        };
        let (first, second) = (of(&mut sessions, clients[0]), of(&mut sessions, clients[1]));
        assert!(first.0 != second.0 && first.1 != second.1);
        assert_eq!(of(&mut sessions, clients[0]), first);
        sessions.rebind(Rebind::Port).unwrap();
        let moved = of(&mut sessions, clients[0]);
        assert!(moved.0 == first.0 && moved.1.ip() == first.1.ip() && moved.1.port() != first.1.port());
        sessions.rebind(Rebind::Address).unwrap();
        let away = of(&mut sessions, clients[0]);
        assert!(away.0 == first.0 && away.1.ip() != moved.1.ip() && away.1.ip().is_loopback());
    }

    #[test]
    fn the_quietest_client_goes_when_there_are_too_many() {
        let (mut sessions, pair) = (Sessions::default(), pair());
        for n in 0..=MAX_SESSIONS as u64 {
            let client = (Ipv4Addr::LOCALHOST, 10_000 + n as u16).into();
            sessions.of(client, (0, &pair), pair.listen, Time::from_nanos(n)).unwrap();
            // The first one is never quiet.
            let first = (Ipv4Addr::LOCALHOST, 10_000).into();
            sessions.of(first, (0, &pair), pair.listen, Time::from_nanos(n)).unwrap();
        }
        assert_eq!(sessions.iter().count(), MAX_SESSIONS);
        assert!(sessions.get(0).is_some() && sessions.get(1).is_none());
    }

    #[test]
    fn an_address_that_has_no_other_is_an_error_that_says_what_to_use() {
        let error = another("::1".parse().unwrap(), 1).unwrap_err();
        assert!(error.to_string().contains("use 127.0.0.1"), "{error}");
    }
}
