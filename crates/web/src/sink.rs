//! Where the responses of a web client go.

use super::Fetched;
use std::io;

/// What is known of a response before its body.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Head {
    /// The status code; none under hq-interop.
    pub status: Option<u16>,
    /// The value of Content-Length.
    pub content_length: Option<u64>,
    /// The value of Content-Type.
    pub content_type: Option<String>,
}

/// What a sink wants of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    /// Its bytes.
    Bytes,
    /// Only how many they are: they are counted and not looked at.
    Length,
    /// Nothing: the request is cancelled.
    Nothing,
}

/// Where responses go. Requests are named by their place in the list that the client was given.
///
/// For each request that gets a response: [`begin`](Sink::begin) once, [`bytes`](Sink::bytes) in order and without gaps,
/// [`end`](Sink::end) once. For one that gets none, `end` alone. A request that is repeated after a failure begins anew.
pub trait Sink {
    /// A response has begun.
    ///
    /// # Errors
    /// Any: the request fails with [`Failure::Sink`](super::Failure::Sink).
    fn begin(&mut self, request: usize, head: &Head) -> io::Result<Take>;
    /// Bytes of the body, the first of which is the one at `offset`.
    ///
    /// # Errors
    /// As [`begin`](Sink::begin).
    fn bytes(&mut self, request: usize, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// The request is over.
    ///
    /// # Errors
    /// As [`begin`](Sink::begin), if it was complete.
    fn end(&mut self, request: usize, fetched: &Fetched) -> io::Result<()>;
}

/// Counts the bytes of bodies, and keeps nothing.
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
