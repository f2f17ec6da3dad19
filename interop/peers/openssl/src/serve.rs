//! The server: all connections on one socket, driven by one loop.

use crate::Failure;
use crate::ssl::{Context, Read, Ssl};
use command_line::{MIDWAY, Serve, file_below};
use std::net::UdpSocket;
use std::path::Path;
use std::time::{Duration, Instant};

/// The longest request line.
const MAX_REQUEST: usize = 4096;

/// How long the loop waits, if nothing comes and nothing is due.
const REST: Duration = Duration::from_secs(1);

/// Serves until the process is ended.
pub fn serve(options: &Serve) -> Result<(), Failure> {
    let socket = UdpSocket::bind(options.listen)?;
    let shared = &options.shared;
    let context = Context::server(&shared.alpn, shared.chacha20, &options.cert, &options.key)?;
    let listener = context.listen(&socket, options.retry)?;
    println!("listening on {}", socket.local_addr()?);
    let mut clients = Vec::new();
    loop {
        listener.handle_events();
        while let Some(connection) = listener.accept_connection()? {
            clients.push(Client::new(connection));
        }
        clients.retain_mut(|client| match client.go_on(options) {
            Ok(goes_on) => goes_on,
            Err(error) => {
                eprintln!("connection: {error}");
                client.connection.close();
                false
            }
        });
        listener.handle_events();
        let due = clients.iter().filter_map(|client| client.key_update).min();
        listener
            .wait(&socket, due.map_or(REST, |at| at.saturating_duration_since(Instant::now()).min(REST)))?;
    }
}

struct Client {
    /// Requests that have not come as a whole.
    asking: Vec<(Ssl, Vec<u8>)>,
    /// Files that are on their way, and how much of each has gone.
    sending: Vec<(Ssl, Vec<u8>, usize)>,
    is_ready: bool,
    /// When to update the keys.
    key_update: Option<Instant>,
    connection: Ssl,
}

impl Client {
    fn new(connection: Ssl) -> Client {
        Client { asking: Vec::new(), sending: Vec::new(), is_ready: false, key_update: None, connection }
    }

    /// Reads what has come, and writes what can go; gives whether the connection lasts.
    fn go_on(&mut self, options: &Serve) -> Result<bool, Failure> {
        if self.connection.end().is_some() {
            return Ok(false);
        }
        if !self.is_ready {
            self.is_ready = self.connection.accepted()?;
            if !self.is_ready {
                return Ok(true);
            }
            self.key_update = options.shared.key_update.then(|| Instant::now() + MIDWAY);
        }
        if self.key_update.is_some_and(|at| at <= Instant::now()) {
            self.key_update = None;
            self.connection.update_keys()?;
        }
        while let Some(stream) = self.connection.accept_stream() {
            self.asking.push((stream, Vec::new()));
        }
        for (stream, mut line) in std::mem::take(&mut self.asking) {
            match read_line(&stream, &mut line) {
                Ok(false) => self.asking.push((stream, line)),
                Ok(true) => match answer(&line, &options.root)? {
                    Some(file) => self.sending.push((stream, file, 0)),
                    // A stream that is dropped is reset.
                    None => eprintln!("request: no such file"),
                },
                Err(error) => eprintln!("request: {error}"),
            }
        }
        self.sending.retain_mut(|(stream, file, sent)| match stream.write_last(&file[*sent..]) {
            Ok(length) => {
                *sent += length;
                *sent < file.len()
            }
            Err(error) => {
                eprintln!("answer: {error}");
                false
            }
        });
        Ok(true)
    }
}

/// Gives whether all of the line, and its end, have come.
fn read_line(stream: &Ssl, line: &mut Vec<u8>) -> Result<bool, Failure> {
    let mut buffer = [0; MAX_REQUEST];
    loop {
        match stream.read(&mut buffer)? {
            Read::Bytes(length) => line.extend_from_slice(&buffer[..length]),
            Read::Later => return Ok(false),
            Read::End => return Ok(true),
        }
        if line.len() > MAX_REQUEST {
            return Err("the line is too long".into());
        }
    }
}

/// The file that a request is about, if there is one.
fn answer(line: &[u8], root: &Path) -> Result<Option<Vec<u8>>, Failure> {
    let path = std::str::from_utf8(line).ok().and_then(|line| line.strip_prefix("GET "));
    let file = path.and_then(|path| file_below(root, path.trim_end()));
    Ok(file.map(std::fs::read).transpose()?)
}
