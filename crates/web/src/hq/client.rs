//! The client of hq-interop.

use super::{ABORTED, NO_ERROR};
use crate::{Failure, Fetches, Head, Method, OpenBody, Take};
use std::collections::BTreeMap;
use transport::{Data, Event, StreamError, Transport};
use units::Time;
use wire::{Direction, StreamId};

/// A request in flight.
#[derive(Debug)]
struct Exchange {
    index: usize,
    /// What the sink wants; set when the first byte or the end arrives.
    take: Option<Take>,
}

/// The client end of a connection.
#[derive(Debug, Default)]
pub(crate) struct HqClient {
    exchanges: BTreeMap<StreamId, Exchange>,
}

impl HqClient {
    pub(crate) fn on_event(
        &mut self,
        now: Time,
        event: &Event,
        fetches: &mut Fetches,
        transport: &mut dyn Transport,
    ) {
        match *event {
            Event::Connected | Event::EarlyDataReady | Event::StreamsAvailable(Direction::Bidirectional) => {
                self.send_requests(now, fetches, transport);
            }
            Event::EarlyDataRejected { resent: false } => {
                let lost = std::mem::take(&mut self.exchanges);
                fetches.restart(lost.into_values().map(|exchange| exchange.index));
            }
            Event::Readable(stream) => self.read(now, stream, fetches, transport),
            Event::Reset { stream, code } => {
                let _ = transport.stop(stream, NO_ERROR);
                self.conclude(now, stream, Some(Failure::Reset(code)), fetches, transport);
            }
            Event::Ended => {
                for exchange in std::mem::take(&mut self.exchanges).into_values() {
                    fetches.finish(now, exchange.index, Some(Failure::ConnectionLost));
                }
                fetches.fail_waiting(now);
            }
            _ => {}
        }
    }

    /// Cancels a request in flight.
    pub(crate) fn cancel(
        &mut self,
        now: Time,
        index: usize,
        fetches: &mut Fetches,
        transport: &mut dyn Transport,
    ) {
        let found = self.exchanges.iter().find(|(_, exchange)| exchange.index == index);
        if let Some(stream) = found.map(|(stream, _)| *stream) {
            self.abort(now, stream, Failure::Cancelled, fetches, transport);
        }
    }

    /// Sends as many requests as the client and the peer permit.
    pub(crate) fn send_requests(&mut self, now: Time, fetches: &mut Fetches, transport: &mut dyn Transport) {
        while let Some(index) = fetches.next() {
            let request = fetches.request(index);
            if request.method != Method::Get || request.path.bytes().any(|byte| byte <= b' ') {
                fetches.note_sent(now, None);
                fetches.finish(now, index, Some(Failure::Unsupported));
                continue;
            }
            let Ok(stream) = transport.open(Direction::Bidirectional) else { break };
            let line = format!("GET {}\r\n", request.path);
            let written = transport.write(stream, Data::Bytes(line.as_bytes()));
            fetches.note_sent(now, Some(stream.value()));
            self.exchanges.insert(stream, Exchange { index, take: None });
            // A new stream has room for a line, unless the configured send buffer is smaller.
            if written != Ok(line.len() as u64) || transport.finish(stream).is_err() {
                self.abort(now, stream, Failure::Unsupported, fetches, transport);
            }
        }
        if fetches.are_over() {
            transport.close(NO_ERROR, "done");
        }
    }

    fn read(&mut self, now: Time, stream: StreamId, fetches: &mut Fetches, transport: &mut dyn Transport) {
        let Some(exchange) = self.exchanges.get_mut(&stream) else { return };
        let take = match exchange.take {
            Some(take) => take,
            None => match fetches.begin(now, exchange.index, &Head::default()) {
                Ok(take) => *exchange.take.insert(take),
                Err(failure) => return self.abort(now, stream, failure, fetches, transport),
            },
        };
        loop {
            match fetches.read_body(
                now,
                OpenBody { stream, index: exchange.index, take },
                u64::MAX,
                transport,
            ) {
                Ok(Ok(read)) if read.finished => {
                    return self.conclude(now, stream, None, fetches, transport);
                }
                Ok(Ok(read)) if read.bytes > 0 => {}
                Ok(Ok(_)) => return,
                Ok(Err(StreamError::Reset(code))) => {
                    return self.conclude(now, stream, Some(Failure::Reset(code)), fetches, transport);
                }
                Ok(Err(_)) => return,
                Err((_, failure)) => return self.abort(now, stream, failure, fetches, transport),
            }
        }
    }

    /// Aborts a request from this side.
    fn abort(
        &mut self,
        now: Time,
        stream: StreamId,
        failure: Failure,
        fetches: &mut Fetches,
        transport: &mut dyn Transport,
    ) {
        let _ = transport.reset(stream, ABORTED);
        let _ = transport.stop(stream, ABORTED);
        self.conclude(now, stream, Some(failure), fetches, transport);
    }

    fn conclude(
        &mut self,
        now: Time,
        stream: StreamId,
        failure: Option<Failure>,
        fetches: &mut Fetches,
        transport: &mut dyn Transport,
    ) {
        if let Some(exchange) = self.exchanges.remove(&stream) {
            fetches.finish(now, exchange.index, failure);
            self.send_requests(now, fetches, transport);
        }
    }
}
