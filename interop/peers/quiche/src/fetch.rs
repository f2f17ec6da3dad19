//! The client: one connection after the other, each driven by one loop over its sockets.

use crate::Failure;
use crate::ask::Questions;
use crate::settings::{self, MAX_PAYLOAD};
use command_line::{Connections, Fetch, MIDWAY, Url};
use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token};
use quiche::{Connection, PathEvent, RecvInfo};
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

/// H3_NO_ERROR (RFC 9114 section 8.1).
const H3_NO_ERROR: u64 = 0x100;

/// Fetches all, within the time given.
pub fn fetch(options: &Fetch) -> Result<(), Failure> {
    let deadline = Instant::now() + options.timeout;
    let mut config = settings::client(options)?;
    let mut session = None;
    for (index, batch) in options.batches().into_iter().enumerate() {
        let wants_ticket = index == 0 && options.connections != Connections::One;
        if index > 0 && session.is_none() && options.connections != Connections::Each {
            return Err("no ticket came".into());
        }
        let mut client = Client::connect(options, &mut config, batch, session.as_deref(), deadline)?;
        client.run(wants_ticket && options.connections != Connections::Each)?;
        session = match options.connections {
            Connections::Resume | Connections::EarlyData => client.connection.session().map(<[u8]>::to_vec),
            Connections::One | Connections::Each => None,
        };
    }
    Ok(())
}

struct Client<'a> {
    options: &'a Fetch,
    connection: Connection,
    questions: Questions,
    poll: Poll,
    sockets: Vec<UdpSocket>,
    /// When to migrate.
    migration: Option<Instant>,
    deadline: Instant,
}

impl<'a> Client<'a> {
    fn connect(
        options: &'a Fetch,
        config: &mut quiche::Config,
        urls: Vec<Url>,
        session: Option<&[u8]>,
        deadline: Instant,
    ) -> Result<Client<'a>, Failure> {
        let url = urls.first().ok_or("no URL")?.clone();
        let poll = Poll::new()?;
        let socket = socket(&poll, url.address, 0)?;
        let local = socket.local_addr()?;
        let id = settings::connection_id()?;
        // It would look for an address among the names of the certificate.
        let name = if url.host.parse::<IpAddr>().is_ok() { "localhost" } else { &url.host };
        let mut connection = quiche::connect(Some(name), &id, local, url.address, config)?;
        settings::log_keys(&mut connection)?;
        if let Some(session) = session {
            connection.set_session(session)?;
        }
        let questions = Questions::new(urls, &options.out, &options.shared.alpn)?;
        let sockets = vec![socket];
        Ok(Client { options, connection, questions, poll, sockets, migration: None, deadline })
    }

    /// Until all files have come and the connection is closed.
    fn run(&mut self, wants_ticket: bool) -> Result<(), Failure> {
        let early = self.options.connections == Connections::EarlyData;
        let mut events = Events::with_capacity(64);
        let mut closing = false;
        let mut established = false;
        self.send()?;
        loop {
            if early || self.connection.is_established() {
                self.questions.go_on(&mut self.connection)?;
            }
            if self.connection.is_established() && !established {
                established = true;
                self.migration = self.options.migrate.then(|| Instant::now() + MIDWAY);
            }
            self.paths()?;
            if self.questions.done() && !closing && (!wants_ticket || self.connection.session().is_some()) {
                closing = true;
                let code = if self.options.shared.alpn == "h3" { H3_NO_ERROR } else { 0 };
                self.connection.close(true, code, b"").ok();
            }
            self.send()?;
            if self.connection.is_closed() || (closing && self.connection.is_draining()) {
                break;
            }
            let now = Instant::now();
            if now >= self.deadline {
                return Err(format!("not done after {:?}", self.options.timeout).into());
            }
            let mut wait = self.deadline - now;
            for until in
                [self.migration.map(|at| at.saturating_duration_since(now)), self.connection.timeout()]
            {
                wait = wait.min(until.unwrap_or(wait));
            }
            self.poll.poll(&mut events, Some(wait)).or_else(interrupted)?;
            if self.connection.timeout().is_some_and(|left| left == Duration::ZERO) {
                self.connection.on_timeout();
            }
            self.receive()?;
        }
        match (self.questions.done(), self.connection.peer_error(), self.connection.local_error()) {
            (true, _, _) => Ok(()),
            (_, Some(error), _) => Err(format!("the server closed: {error:?}").into()),
            (_, _, error) => Err(format!("closed: {error:?}").into()),
        }
    }

    fn receive(&mut self) -> Result<(), Failure> {
        let mut buffer = [0; 65_536];
        for socket in &self.sockets {
            let to = socket.local_addr()?;
            loop {
                match socket.recv_from(&mut buffer) {
                    Ok((length, from)) => {
                        if let Err(error) = self.connection.recv(&mut buffer[..length], RecvInfo { from, to })
                        {
                            eprintln!("received: {error}");
                        }
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(())
    }

    fn send(&mut self) -> Result<(), Failure> {
        let mut out = [0; MAX_PAYLOAD];
        loop {
            let (length, info) = match self.connection.send(&mut out) {
                Ok(sent) => sent,
                Err(quiche::Error::Done) => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            let from = |socket: &&UdpSocket| socket.local_addr().is_ok_and(|at| at == info.from);
            if let Some(socket) = self.sockets.iter().find(from) {
                match socket.send_to(&out[..length], info.to) {
                    // A full socket drops, as any hop may.
                    Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error.into()),
                    _ => {}
                }
            }
        }
    }

    /// Connection ids for the other side, and the migration: probe another local port, and move when it is validated.
    fn paths(&mut self) -> Result<(), Failure> {
        if self.connection.is_established() {
            settings::issue_ids(&mut self.connection, |_| {})?;
        }
        let due = self.migration.is_some_and(|at| at <= Instant::now());
        if due && self.connection.available_dcids() > 0 {
            self.migration = None;
            let peer = self.options.urls.first().ok_or("no URL")?.address;
            let socket = socket(&self.poll, peer, self.sockets.len())?;
            self.connection.probe_path(socket.local_addr()?, peer)?;
            self.sockets.push(socket);
        } else if due {
            self.migration = Some(Instant::now() + Duration::from_millis(10));
        }
        while let Some(event) = self.connection.path_event_next() {
            match event {
                PathEvent::Validated(local, peer) if self.sockets.len() > 1 => {
                    self.connection.migrate(local, peer)?;
                }
                PathEvent::FailedValidation(local, _) => eprintln!("{local} was not validated"),
                _ => {}
            }
        }
        Ok(())
    }
}

/// A socket of its own port on the address that reaches the server.
fn socket(poll: &Poll, server: SocketAddr, token: usize) -> Result<UdpSocket, Failure> {
    let any = match server.ip() {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    // quiche tells paths apart by both addresses, and wants to know the local one.
    let probe = std::net::UdpSocket::bind((any, 0))?;
    probe.connect(server)?;
    let mut socket = UdpSocket::bind((probe.local_addr()?.ip(), 0).into())?;
    poll.registry().register(&mut socket, Token(token), Interest::READABLE)?;
    Ok(socket)
}

/// A wait that a signal cut short is no failure.
pub fn interrupted(error: std::io::Error) -> Result<(), std::io::Error> {
    if error.kind() == ErrorKind::Interrupted { Ok(()) } else { Err(error) }
}
