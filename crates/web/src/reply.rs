//! A response on its way out: as much at a time as its stream takes.

use super::Body;
use std::io;
use transport::{Data, StreamError, Transport};
use wire::StreamId;

/// Bytes of a source that are read at a time.
const CHUNK: usize = 16_384;

/// How far a response is after a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pumped {
    /// All of it was written, and the stream ended behind it, unless it is to stay.
    Done,
    /// The stream takes no more for now: to be continued when it is writable.
    Blocked,
    /// The source gives nothing for now: to be continued in [`Delayed::AGAIN`](super::Delayed::AGAIN).
    Waits,
    /// The stream is over for this side, by a reset say.
    Over,
    /// The source has failed: the stream is to be reset.
    Broken,
}

/// A response that is being written.
#[derive(Debug)]
pub(crate) struct Reply {
    /// What is to be written next, from `at` on: first the head, then what was read of a source and not taken by the stream.
    chunk: Vec<u8>,
    at: usize,
    body: Option<Body>,
    /// How much of the body was taken out of it.
    taken: u64,
    /// Whether the stream goes on behind it.
    stays: bool,
}

impl Reply {
    /// A response of these bytes, and behind them the body.
    pub(crate) fn new(head: Vec<u8>, body: Option<Body>) -> Reply {
        Reply { chunk: head, at: 0, body, taken: 0, stays: false }
    }

    /// The same behind another one that has no body, and of which some may have been written.
    pub(crate) fn behind(self, before: Option<Reply>) -> Reply {
        let Some(Reply { mut chunk, at, .. }) = before else { return self };
        chunk.extend_from_slice(&self.chunk);
        Reply { chunk, at, ..self }
    }

    /// The same on a stream that does not end behind it, as a connection of HTTP/1.1.
    pub(crate) fn staying(self) -> Reply {
        Reply { stays: true, ..self }
    }

    /// Writes what the stream takes.
    pub(crate) fn pump(&mut self, stream: StreamId, transport: &mut dyn Transport) -> Pumped {
        loop {
            while self.at < self.chunk.len() {
                match transport.write(stream, Data::Bytes(&self.chunk[self.at..])) {
                    Ok(taken) => self.at += taken as usize,
                    Err(StreamError::Blocked) => return Pumped::Blocked,
                    Err(_) => return Pumped::Over,
                }
            }
            match self.body.take() {
                None if self.stays => return Pumped::Done,
                None => {
                    return if transport.finish(stream).is_ok() { Pumped::Done } else { Pumped::Over };
                }
                Some(Body::Virtual(length)) => {
                    let taken =
                        if length == 0 { Ok(0) } else { transport.write(stream, Data::Virtual(length)) };
                    match taken {
                        Ok(taken) if taken == length => {}
                        Ok(taken) => self.body = Some(Body::Virtual(length - taken)),
                        Err(StreamError::Blocked) => {
                            self.body = Some(Body::Virtual(length));
                            return Pumped::Blocked;
                        }
                        Err(_) => return Pumped::Over,
                    }
                }
                Some(Body::Bytes(bytes)) => (self.chunk, self.at) = (bytes, 0),
                Some(Body::Source { length, mut source }) => {
                    if self.taken == length {
                        continue;
                    }
                    // Nothing is read that cannot be sent: what a client does not take stays where it lies.
                    let room = match transport.room(stream) {
                        Ok(room) => room.min(length - self.taken).min(CHUNK as u64) as usize,
                        Err(_) => return Pumped::Over,
                    };
                    if room == 0 {
                        self.body = Some(Body::Source { length, source });
                        return Pumped::Blocked;
                    }
                    let mut bytes = [0; CHUNK];
                    let read = match source.read_at(self.taken, &mut bytes[..room]) {
                        Ok(read @ 1..) => read.min(room),
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                            self.body = Some(Body::Source { length, source });
                            return Pumped::Waits;
                        }
                        Ok(0) | Err(_) => return Pumped::Broken,
                    };
                    self.taken += read as u64;
                    self.body = Some(Body::Source { length, source });
                    let written = match transport.write(stream, Data::Bytes(&bytes[..read])) {
                        Ok(written) => written as usize,
                        Err(StreamError::Blocked) => 0,
                        Err(_) => return Pumped::Over,
                    };
                    (self.chunk, self.at) = (bytes[written..read].to_vec(), 0);
                }
            }
        }
    }
}
