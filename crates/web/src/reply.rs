//! A response being written, as far as its stream accepts it.

use super::{Body, Delayed, Release};
use std::io;
use transport::{Data, StreamError, Transport};
use units::{Duration, Time};
use wire::StreamId;

/// The number of bytes read from a source at a time.
const CHUNK: usize = 16_384;

/// The result of writing a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// All of it was written, and the stream was finished unless it stays open.
    Done,
    /// The stream accepts no more for now; continue when it is writable.
    Blocked,
    /// There is no data for now; continue after this time.
    Waiting(Duration),
    /// The stream was closed, for example by a reset.
    Closed,
    /// The source has failed: the stream must be reset.
    Failed,
    /// The rest comes too late: the stream must be reset, and this many of its bytes delivered.
    Late(u64),
}

/// A response that is being written.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The data to be written next, from `at` on: first the head, then data read from the source.
    chunk: Vec<u8>,
    at: usize,
    body: Option<Body>,
    /// The number of bytes taken from the body.
    taken: u64,
    /// The bytes written before the body.
    before: u64,
    /// When it was first written to, and whether its stream was finished.
    since: Option<Time>,
    finished: bool,
    /// Whether the stream stays open after the response.
    stays: bool,
}

impl Reply {
    /// A response with this head and body.
    pub(crate) fn new(head: Vec<u8>, body: Option<Body>) -> Reply {
        Reply { chunk: head, at: 0, body, taken: 0, before: 0, since: None, finished: false, stays: false }
    }

    /// The same after another response without a body, which may be partially written.
    pub(crate) fn preceded_by(self, before: Option<Reply>) -> Reply {
        let Some(Reply { mut chunk, at, .. }) = before else { return self };
        chunk.extend_from_slice(&self.chunk);
        Reply { chunk, at, ..self }
    }

    /// The same on a stream that stays open, such as a connection of HTTP/1.1.
    pub(crate) fn staying(self) -> Reply {
        Reply { stays: true, ..self }
    }

    /// Writes as much as the stream accepts.
    pub(crate) fn pump(&mut self, now: Time, stream: StreamId, transport: &mut dyn Transport) -> Written {
        self.since.get_or_insert(now);
        loop {
            while self.at < self.chunk.len() {
                match transport.write(stream, Data::Bytes(&self.chunk[self.at..])) {
                    Ok(taken) => {
                        self.at += taken as usize;
                        self.before += taken;
                    }
                    Err(StreamError::Blocked) => return Written::Blocked,
                    Err(_) => return Written::Closed,
                }
            }
            match self.body.take() {
                None if self.stays => return Written::Done,
                None => {
                    return if transport.finish(stream).is_ok() { Written::Done } else { Written::Closed };
                }
                Some(Body::Virtual(length)) => {
                    let taken =
                        if length == 0 { Ok(0) } else { transport.write(stream, Data::Virtual(length)) };
                    match taken {
                        Ok(taken) if taken == length => {}
                        Ok(taken) => self.body = Some(Body::Virtual(length - taken)),
                        Err(StreamError::Blocked) => {
                            self.body = Some(Body::Virtual(length));
                            return Written::Blocked;
                        }
                        Err(_) => return Written::Closed,
                    }
                }
                Some(Body::Released { length, mut release }) => {
                    let (released, next) = release.by(now, length);
                    while self.taken < released {
                        match transport.write(stream, Data::Virtual(released - self.taken)) {
                            Ok(taken) => self.taken += taken,
                            Err(StreamError::Blocked) => {
                                self.body = Some(Body::Released { length, release });
                                return Written::Blocked;
                            }
                            Err(_) => return Written::Closed,
                        }
                    }
                    if next.is_none() && !self.finished && !self.stays {
                        self.finished = true;
                        if transport.finish(stream).is_err() {
                            return Written::Closed;
                        }
                    }
                    let wanted = match self.late_or_due(now, stream, length, &release, transport) {
                        Ok(due) => [next, due].into_iter().flatten().min(),
                        Err(written) => return written,
                    };
                    if let Some(at) = wanted {
                        self.body = Some(Body::Released { length, release });
                        return Written::Waiting(at.since(now));
                    }
                    if self.finished {
                        return Written::Done;
                    }
                }
                Some(Body::Bytes(bytes)) => (self.chunk, self.at) = (bytes, 0),
                Some(Body::Source { length, mut source }) => {
                    if self.taken == length {
                        continue;
                    }
                    // Only read what can be sent: the rest stays in the source.
                    let room = match transport.room(stream) {
                        Ok(room) => {
                            let wanted = (length - self.taken).min(CHUNK as u64);
                            room.map_or(wanted, |room| room.min(wanted)) as usize
                        }
                        Err(_) => return Written::Closed,
                    };
                    if room == 0 {
                        self.body = Some(Body::Source { length, source });
                        return Written::Blocked;
                    }
                    let mut bytes = [0; CHUNK];
                    let read = match source.read_at(self.taken, &mut bytes[..room]) {
                        Ok(read @ 1..) => read.min(room),
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                            self.body = Some(Body::Source { length, source });
                            return Written::Waiting(Delayed::RETRY_AFTER);
                        }
                        Ok(0) | Err(_) => return Written::Failed,
                    };
                    self.taken += read as u64;
                    self.body = Some(Body::Source { length, source });
                    let written = match transport.write(stream, Data::Bytes(&bytes[..read])) {
                        Ok(written) => written as usize,
                        Err(StreamError::Blocked) => 0,
                        Err(_) => return Written::Closed,
                    };
                    (self.chunk, self.at) = (bytes[written..read].to_vec(), 0);
                }
            }
        }
    }

    /// When a body that is dropped if it is late has to be sent further; `None` if all that was written is sent, or lateness
    /// does not matter. The error is what a late body leaves.
    fn late_or_due(
        &self,
        now: Time,
        stream: StreamId,
        length: u64,
        release: &Release,
        transport: &mut dyn Transport,
    ) -> Result<Option<Time>, Written> {
        if release.deadline.is_none() {
            return Ok(None);
        }
        // Where that is not known, what is written counts as sent.
        let unsent = transport.unsent(stream).map_err(|_| Written::Closed)?;
        let Some(unsent @ 1..) = unsent else { return Ok(None) };
        let sent = self.taken.saturating_sub(unsent);
        let due = release.due(sent, length, self.since.unwrap_or(now));
        match due.filter(|(_, at)| *at <= now) {
            Some((begin, _)) => Err(Written::Late(self.before + begin)),
            None => Ok(due.map(|(_, at)| at)),
        }
    }
}
