//! The client: one connection after the other, each over a socket of its own and driven by one loop.

use crate::Failure;
use crate::ssl::{Context, Read, Session, Ssl};
use command_line::{Connections, Fetch, MIDWAY, Url};
use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::time::{Duration, Instant};

/// The idle timeout that the client offers.
const IDLE: Duration = Duration::from_secs(60);

/// Fetches all, within the time given.
pub fn fetch(options: &Fetch) -> Result<(), Failure> {
    let deadline = Instant::now() + options.timeout;
    let context = Context::client(&options.shared.alpn, options.shared.chacha20, &options.ca)?;
    let mut session = None;
    for (index, batch) in options.batches().into_iter().enumerate() {
        let wants_ticket = index == 0 && options.connections == Connections::Resume;
        let mut client = Client::connect(&context, batch, session.as_ref())?;
        client.run(options, wants_ticket, deadline)?;
        session = wants_ticket.then(|| client.connection.session()).flatten();
    }
    Ok(())
}

struct Client {
    waiting: VecDeque<Url>,
    /// Streams with what has not gone of their requests, and the files that come.
    coming: Vec<(Ssl, Vec<u8>, File)>,
    connection: Ssl,
    socket: UdpSocket,
}

impl Client {
    fn connect(context: &Context, urls: Vec<Url>, session: Option<&Session>) -> Result<Client, Failure> {
        let url = urls.first().ok_or("no URL")?;
        let socket = UdpSocket::bind(any(url.address))?;
        // It would look for an address among the names of the certificate.
        let name = if url.host.parse::<IpAddr>().is_ok() { "localhost" } else { &url.host };
        let connection = context.connect(&socket, url.address, name, session, IDLE)?;
        Ok(Client { waiting: urls.into(), coming: Vec::new(), connection, socket })
    }

    /// Until all files have come, and a ticket if one is wanted; then it closes the connection.
    fn run(&mut self, options: &Fetch, wants_ticket: bool, deadline: Instant) -> Result<(), Failure> {
        let mut is_ready = false;
        let mut key_update = None;
        loop {
            if !is_ready {
                is_ready = self.connection.connected()?;
                key_update = (is_ready && options.shared.key_update).then(|| Instant::now() + MIDWAY);
            }
            if is_ready {
                self.ask(&options.out)?;
                self.receive()?;
            }
            let done = self.waiting.is_empty() && self.coming.is_empty();
            if done && (!wants_ticket || self.connection.session().is_some()) {
                self.connection.close();
                return Ok(());
            }
            if let Some(end) = self.connection.end() {
                return Err(end.into());
            }
            let now = Instant::now();
            if now >= deadline {
                return Err(format!("not done after {:?}", options.timeout).into());
            }
            if key_update.is_some_and(|at| at <= now) {
                key_update = None;
                self.connection.update_keys()?;
            }
            self.connection.handle_events();
            let next = key_update.map_or(deadline, |at| at.min(deadline));
            self.connection.wait(&self.socket, next.saturating_duration_since(now))?;
            self.connection.handle_events();
        }
    }

    /// Asks for as many files as the server admits streams.
    fn ask(&mut self, out: &Path) -> Result<(), Failure> {
        while let Some(url) = self.waiting.front() {
            let Some(stream) = self.connection.open_stream()? else { break };
            let request = format!("GET {}\r\n", url.path).into_bytes();
            self.coming.push((stream, request, File::create(out.join(url.file()))?));
            self.waiting.pop_front();
        }
        for (stream, request, _) in self.coming.iter_mut().filter(|(_, request, _)| !request.is_empty()) {
            let length = stream.write_last(request)?;
            request.drain(..length);
        }
        Ok(())
    }

    /// Writes to files what has come.
    fn receive(&mut self) -> Result<(), Failure> {
        let mut buffer = [0; 65_536];
        for (stream, request, mut file) in std::mem::take(&mut self.coming) {
            loop {
                match stream.read(&mut buffer)? {
                    Read::Bytes(length) => file.write_all(&buffer[..length])?,
                    Read::End => break,
                    Read::Later => {
                        self.coming.push((stream, request, file));
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

fn any(server: SocketAddr) -> SocketAddr {
    match server {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}
