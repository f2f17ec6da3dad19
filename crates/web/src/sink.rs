//! The destination of a web client's responses.

use super::Fetched;
use std::io;

/// The properties of a response before its body.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Head {
    /// The status code; none for hq-interop.
    pub status: Option<u16>,
    /// The value of Content-Length.
    pub content_length: Option<u64>,
    /// The value of Content-Type.
    pub content_type: Option<String>,
}

/// What a sink needs of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    /// Its bytes.
    Bytes,
    /// Only its length: the bytes are counted but not read.
    Length,
    /// Nothing: the request is cancelled.
    Nothing,
}

/// The destination of responses. Requests are identified by their index in the list given to the client.
///
/// For each request with a response: [`begin`](Sink::begin) once, [`bytes`](Sink::bytes) in order and without gaps,
/// [`end`](Sink::end) once. For a request without a response only `end`. A request that is retried after a failure
/// starts over.
pub trait Sink {
    /// A response has started.
    ///
    /// # Errors
    /// Any error: the request fails with [`Failure::Sink`](super::Failure::Sink).
    fn begin(&mut self, request: usize, head: &Head) -> io::Result<Take>;
    /// Bytes of the body, starting at `offset`.
    ///
    /// # Errors
    /// See [`begin`](Sink::begin).
    fn bytes(&mut self, request: usize, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// The request is over.
    ///
    /// # Errors
    /// See [`begin`](Sink::begin), if it was complete.
    fn end(&mut self, request: usize, fetched: &Fetched) -> io::Result<()>;
}

/// Counts the bytes of bodies and discards them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Discard;

impl Sink for Discard {
    fn begin(&mut self, _request: usize, _head: &Head) -> io::Result<Take> {
        Ok(Take::Length)
    }
    fn bytes(&mut self, _request: usize, _offset: u64, _bytes: &[u8]) -> io::Result<()> {
        Ok(())
    }
    fn end(&mut self, _request: usize, _fetched: &Fetched) -> io::Result<()> {
        Ok(())
    }
}
