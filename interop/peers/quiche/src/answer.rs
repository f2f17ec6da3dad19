//! What the server says on one connection: files, over hq-interop or HTTP/3.

use crate::Failure;
use command_line::file_below;
use quiche::Connection;
use quiche::h3::{self, NameValue};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The longest request line of hq-interop.
const MAX_REQUEST: usize = 4096;

/// The requests of one connection that are not answered yet.
pub struct Answers {
    root: PathBuf,
    http: Option<(h3::Config, Option<h3::Connection>)>,
    /// Request lines that have not come as a whole.
    asking: BTreeMap<u64, Vec<u8>>,
    /// What is being sent.
    sending: BTreeMap<u64, Body>,
}

struct Body {
    bytes: Vec<u8>,
    sent: usize,
    /// The status, as long as it has not gone. HTTP/3 only.
    head: Option<&'static [u8]>,
}

impl Answers {
    /// For a connection of this application protocol.
    pub fn new(root: &Path, alpn: &str) -> Result<Answers, Failure> {
        let http = if alpn == "h3" { Some((h3::Config::new()?, None)) } else { None };
        Ok(Answers { root: root.to_owned(), http, asking: BTreeMap::new(), sending: BTreeMap::new() })
    }

    /// Reads what has come, and writes what can go.
    pub fn go_on(&mut self, connection: &mut Connection) -> Result<(), Failure> {
        if !connection.is_established() && !connection.is_in_early_data() {
            return Ok(());
        }
        if self.http.is_some() {
            self.read_http(connection)?
        } else {
            self.read_hq(connection)?
        }
        let open: Vec<u64> = self.sending.keys().copied().collect();
        for stream in open {
            let Some(body) = self.sending.get_mut(&stream) else { continue };
            let done = match &mut self.http {
                Some((_, Some(http))) => body.write_http(http, connection, stream),
                _ => body.write_hq(connection, stream),
            };
            if done? {
                self.sending.remove(&stream);
            }
        }
        Ok(())
    }

    fn read_hq(&mut self, connection: &mut Connection) -> Result<(), Failure> {
        let mut buffer = [0; MAX_REQUEST];
        for stream in connection.readable() {
            loop {
                let (length, end) = match connection.stream_recv(stream, &mut buffer) {
                    Ok(read) => read,
                    Err(_) => break,
                };
                let line = self.asking.entry(stream).or_default();
                line.extend_from_slice(&buffer[..length]);
                if !end && line.len() <= MAX_REQUEST {
                    continue;
                }
                let line = self.asking.remove(&stream).unwrap_or_default();
                let path = std::str::from_utf8(&line).ok().and_then(|line| line.strip_prefix("GET "));
                match path.and_then(|path| file_below(&self.root, path.trim_end())) {
                    Some(file) => {
                        let bytes = std::fs::read(file)?;
                        self.sending.insert(stream, Body { bytes, sent: 0, head: None });
                    }
                    None => connection.stream_shutdown(stream, quiche::Shutdown::Write, 1)?,
                }
                break;
            }
        }
        Ok(())
    }

    fn read_http(&mut self, connection: &mut Connection) -> Result<(), Failure> {
        let Some((config, http)) = &mut self.http else { return Ok(()) };
        if http.is_none() {
            *http = Some(h3::Connection::with_transport(connection, config)?);
        }
        let Some(http) = http else { return Ok(()) };
        loop {
            match http.poll(connection) {
                Ok((stream, h3::Event::Headers { list, .. })) => {
                    let path = list.iter().find(|header| header.name() == b":path");
                    let path = path.and_then(|header| std::str::from_utf8(header.value()).ok());
                    let file = path.and_then(|path| file_below(&self.root, path));
                    let (head, bytes): (&[u8], _) = match file {
                        Some(file) => (b"200", std::fs::read(file)?),
                        None => (b"404", Vec::new()),
                    };
                    self.sending.insert(stream, Body { bytes, sent: 0, head: Some(head) });
                }
                Ok(_) => {}
                Err(h3::Error::Done) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Body {
    /// Gives whether all was taken.
    fn write_hq(&mut self, connection: &mut Connection, stream: u64) -> Result<bool, Failure> {
        match connection.stream_send(stream, &self.bytes[self.sent..], true) {
            Ok(length) => self.sent += length,
            Err(quiche::Error::Done) => {}
            Err(quiche::Error::StreamStopped(_) | quiche::Error::InvalidStreamState(_)) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
        Ok(self.sent == self.bytes.len())
    }

    fn write_http(
        &mut self,
        http: &mut h3::Connection,
        connection: &mut Connection,
        stream: u64,
    ) -> Result<bool, Failure> {
        if let Some(status) = self.head {
            let head = [h3::Header::new(b":status", status)];
            match http.send_response(connection, stream, &head, self.bytes.is_empty()) {
                Ok(()) => self.head = None,
                Err(h3::Error::StreamBlocked) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
        if self.sent < self.bytes.len() {
            match http.send_body(connection, stream, &self.bytes[self.sent..], true) {
                Ok(length) => self.sent += length,
                Err(h3::Error::Done) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(self.sent == self.bytes.len())
    }
}
