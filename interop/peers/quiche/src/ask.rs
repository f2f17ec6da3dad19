//! What the client asks on one connection, and the files that come.

use crate::Failure;
use command_line::Url;
use quiche::Connection;
use quiche::h3::{self, NameValue};
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The requests of one connection.
pub struct Questions {
    out: PathBuf,
    http: Option<(h3::Config, Option<h3::Connection>)>,
    waiting: VecDeque<Url>,
    next_stream: u64,
    coming: BTreeMap<u64, File>,
    /// The rest of a request of which the congestion window, after losses, took a part; and its stream.
    cut: Option<(u64, Vec<u8>)>,
}

impl Questions {
    /// For these files, over this application protocol.
    pub fn new(urls: Vec<Url>, out: &Path, alpn: &str) -> Result<Questions, Failure> {
        let http = if alpn == "h3" { Some((h3::Config::new()?, None)) } else { None };
        let out = out.to_owned();
        Ok(Questions { out, http, waiting: urls.into(), next_stream: 0, coming: BTreeMap::new(), cut: None })
    }

    /// Whether all files have come.
    pub fn done(&self) -> bool {
        self.waiting.is_empty() && self.coming.is_empty()
    }

    /// Asks as much as the server's limits admit, and writes to files what has come.
    pub fn go_on(&mut self, connection: &mut Connection) -> Result<(), Failure> {
        if !connection.is_established() && !connection.is_in_early_data() {
            return Ok(());
        }
        if let Some((config, http @ None)) = &mut self.http {
            *http = Some(h3::Connection::with_transport(connection, config)?);
        }
        if let Some((stream, rest)) = &mut self.cut {
            match connection.stream_send(*stream, rest, true) {
                Ok(length) => drop(rest.drain(..length)),
                Err(quiche::Error::Done) => {}
                Err(error) => return Err(error.into()),
            }
            if rest.is_empty() {
                self.cut = None;
            }
        }
        while let (None, Some(url)) = (&self.cut, self.waiting.front()) {
            match Self::ask((&mut self.http, &mut self.cut), connection, url, self.next_stream)? {
                Some(stream) => {
                    self.coming.insert(stream, File::create(self.out.join(url.file()))?);
                    self.waiting.pop_front();
                    self.next_stream += 4;
                }
                None => break,
            }
        }
        if self.http.is_some() { self.read_http(connection) } else { self.read_hq(connection) }
    }

    /// Gives the stream of the request, or nothing if the server's limits do not admit it yet.
    fn ask(
        (http, cut): (&mut Option<(h3::Config, Option<h3::Connection>)>, &mut Option<(u64, Vec<u8>)>),
        connection: &mut Connection,
        url: &Url,
        stream: u64,
    ) -> Result<Option<u64>, Failure> {
        let request = format!("GET {}\r\n", url.path);
        if connection.peer_streams_left_bidi() == 0 {
            return Ok(None);
        }
        if let Some((_, Some(http))) = http {
            let head = [
                h3::Header::new(b":method", b"GET"),
                h3::Header::new(b":scheme", b"https"),
                h3::Header::new(b":authority", url.authority.as_bytes()),
                h3::Header::new(b":path", url.path.as_bytes()),
            ];
            return match http.send_request(connection, &head, true) {
                Ok(stream) => Ok(Some(stream)),
                Err(h3::Error::StreamBlocked | h3::Error::TransportError(quiche::Error::StreamLimit)) => {
                    Ok(None)
                }
                Err(error) => Err(error.into()),
            };
        }
        match connection.stream_send(stream, request.as_bytes(), true) {
            Ok(length) => {
                let rest = request.as_bytes()[length..].to_vec();
                *cut = Some((stream, rest)).filter(|(_, rest)| !rest.is_empty());
                Ok(Some(stream))
            }
            Err(quiche::Error::StreamLimit | quiche::Error::Done) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn read_hq(&mut self, connection: &mut Connection) -> Result<(), Failure> {
        let mut buffer = [0; 65_536];
        for stream in connection.readable() {
            loop {
                match connection.stream_recv(stream, &mut buffer) {
                    Ok((length, end)) => {
                        let file =
                            self.coming.get_mut(&stream).ok_or("data on a stream that asked nothing")?;
                        file.write_all(&buffer[..length])?;
                        if end {
                            self.coming.remove(&stream);
                            break;
                        }
                    }
                    Err(quiche::Error::Done) => break,
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(())
    }

    fn read_http(&mut self, connection: &mut Connection) -> Result<(), Failure> {
        let Some((_, Some(http))) = &mut self.http else { return Ok(()) };
        let mut buffer = [0; 65_536];
        loop {
            match http.poll(connection) {
                Ok((_, h3::Event::Headers { list, .. })) => {
                    let status = list.iter().find(|header| header.name() == b":status");
                    if status.is_some_and(|status| status.value() != b"200") {
                        return Err("a file was not found".into());
                    }
                }
                Ok((stream, h3::Event::Data)) => {
                    while let Ok(length) = http.recv_body(connection, stream, &mut buffer) {
                        let file =
                            self.coming.get_mut(&stream).ok_or("data on a stream that asked nothing")?;
                        file.write_all(&buffer[..length])?;
                    }
                }
                Ok((stream, h3::Event::Finished)) => {
                    self.coming.remove(&stream);
                }
                Ok((_, h3::Event::Reset(code))) => return Err(format!("a stream was reset: {code}").into()),
                Ok(_) => {}
                Err(h3::Error::Done) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}
