//! The server: all connections on one socket, driven by one loop.

use crate::Failure;
use crate::answer::Answers;
use crate::fetch::interrupted;
use crate::settings::{self, MAX_PAYLOAD};
use command_line::Serve;
use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token};
use quiche::{Connection, ConnectionId, Header, PathEvent, RecvInfo, Type};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

struct Client {
    connection: Connection,
    answers: Answers,
}

struct Server<'a> {
    options: &'a Serve,
    config: quiche::Config,
    socket: UdpSocket,
    local: SocketAddr,
    /// By the number in `ids`.
    clients: BTreeMap<u64, Client>,
    /// Which connection has which of the ids that packets come with.
    ids: BTreeMap<Vec<u8>, u64>,
    next: u64,
    /// Tokens that were given in Retry packets, and what they stand for: the client's address and its first choice of
    /// the server's connection id.
    tokens: BTreeMap<Vec<u8>, (SocketAddr, ConnectionId<'static>)>,
}

/// Serves until the process is ended.
pub fn serve(options: &Serve) -> Result<(), Failure> {
    let mut poll = Poll::new()?;
    let mut socket = UdpSocket::bind(options.listen)?;
    poll.registry().register(&mut socket, Token(0), Interest::READABLE)?;
    let local = socket.local_addr()?;
    println!("listening on {local}");
    let mut server = Server {
        options,
        config: settings::server(options)?,
        socket,
        local,
        clients: BTreeMap::new(),
        ids: BTreeMap::new(),
        next: 0,
        tokens: BTreeMap::new(),
    };
    let mut events = Events::with_capacity(64);
    loop {
        let timeout = server.clients.values().filter_map(|client| client.connection.timeout()).min();
        poll.poll(&mut events, timeout).or_else(interrupted)?;
        server.receive()?;
        server.go_on()?;
    }
}

impl Server<'_> {
    fn receive(&mut self) -> Result<(), Failure> {
        let mut buffer = [0; 65_536];
        loop {
            let (length, from) = match self.socket.recv_from(&mut buffer) {
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            let Ok(header) = Header::from_slice(&mut buffer[..length], 8) else { continue };
            let known = self.ids.get(header.dcid.as_ref()).copied();
            let number = match known {
                Some(number) => number,
                None => match self.accept(&header, from, length)? {
                    Some(number) => number,
                    None => continue,
                },
            };
            if let Some(client) = self.clients.get_mut(&number) {
                let info = RecvInfo { from, to: self.local };
                if let Err(error) = client.connection.recv(&mut buffer[..length], info) {
                    eprintln!("received: {error}");
                }
                // All that is due before the next packet: else answers would lag behind by a whole batch.
                client.answers.go_on(&mut client.connection)?;
            }
        }
    }

    /// Opens a connection for a first Initial, or answers it with a Retry.
    fn accept(
        &mut self,
        header: &Header<'_>,
        from: SocketAddr,
        length: usize,
    ) -> Result<Option<u64>, Failure> {
        // RFC 9000 section 14.1: an Initial in a smaller datagram is not for a connection.
        if header.ty != Type::Initial || length < 1200 {
            return Ok(None);
        }
        let mut out = [0; MAX_PAYLOAD];
        if !quiche::version_is_supported(header.version) {
            let length = quiche::negotiate_version(&header.scid, &header.dcid, &mut out)?;
            self.socket.send_to(&out[..length], from).ok();
            return Ok(None);
        }
        let token = header.token.clone().unwrap_or_default();
        let (id, original) = match self.tokens.get(&token) {
            Some((address, original)) if *address == from => {
                (header.dcid.clone().into_owned(), Some(original.clone()))
            }
            Some(_) => return Ok(None),
            None if self.options.retry => {
                let id = settings::connection_id()?;
                let token = settings::random::<32>()?.to_vec();
                let length =
                    quiche::retry(&header.scid, &header.dcid, &id, &token, header.version, &mut out)?;
                self.socket.send_to(&out[..length], from).ok();
                self.tokens.insert(token, (from, header.dcid.clone().into_owned()));
                return Ok(None);
            }
            None => (settings::connection_id()?, None),
        };
        let mut connection = quiche::accept(&id, original.as_ref(), self.local, from, &mut self.config)?;
        settings::log_keys(&mut connection)?;
        let number = self.next;
        self.next += 1;
        self.ids.insert(id.to_vec(), number);
        self.ids.insert(header.dcid.to_vec(), number);
        let answers = Answers::new(&self.options.root, &self.options.shared.alpn)?;
        self.clients.insert(number, Client { connection, answers });
        Ok(Some(number))
    }

    fn go_on(&mut self) -> Result<(), Failure> {
        let mut closed = Vec::new();
        for (number, client) in &mut self.clients {
            let connection = &mut client.connection;
            if connection.timeout().is_some_and(|left| left == Duration::ZERO) {
                connection.on_timeout();
            }
            if connection.is_established() {
                settings::issue_ids(connection, |id| {
                    self.ids.insert(id.to_vec(), *number);
                })?;
            }
            while let Some(id) = connection.retired_scid_next() {
                self.ids.remove(id.as_ref());
            }
            while let Some(event) = connection.path_event_next() {
                // A client that came from elsewhere is asked whether it is there.
                if let PathEvent::New(local, peer) = event {
                    connection.probe_path(local, peer).ok();
                }
            }
            if let Err(error) = client.answers.go_on(connection) {
                eprintln!("answers: {error}");
                connection.close(true, 1, b"").ok();
            }
            let mut out = [0; MAX_PAYLOAD];
            loop {
                match connection.send(&mut out) {
                    // A full socket drops, as any hop may.
                    Ok((length, info)) => drop(self.socket.send_to(&out[..length], info.to)),
                    Err(quiche::Error::Done) => break,
                    Err(error) => {
                        eprintln!("send: {error}");
                        connection.close(false, 1, b"").ok();
                        break;
                    }
                }
            }
            if connection.is_closed() {
                closed.push(*number);
            }
        }
        for number in closed {
            self.clients.remove(&number);
            self.ids.retain(|_, of| *of != number);
        }
        Ok(())
    }
}
