//! Sent frames: the heads of responses, and their content as scheduled.

use super::{Http2Server, Stage};
use crate::http2::turns;
use crate::{Answer, Body, Delayed};
use http::http2::{Code, Flags, FrameHead, Kind, MAX_FRAME};
use http::qpack::Field;
use std::io;
use transport::{Data, PathView, Transport};
use units::{Duration, Time};
use wire::StreamId;

impl Http2Server {
    pub(super) fn answer(&mut self, now: Time, stream: u32, answer: Answer) {
        let Some(exchange) = self.exchanges.get_mut(&stream) else { return };
        let (rest, has_content) = answer.fields();
        let mut fields = vec![Field::new(":status", answer.status.to_string())];
        fields.extend(rest);
        let ends = exchange.head_only || !has_content;
        self.session.fields(stream, &fields, ends);
        if ends {
            self.session.note_completed();
            self.remove(stream);
        } else {
            exchange.stage = Stage::Responding(answer.body);
            self.turns.start(now, &exchange.turn);
            let is_ready = exchange.is_ready();
            self.turns.set_ready(now, &mut exchange.turn, is_ready);
        }
    }

    /// Writes frames as long as the connection accepts them.
    pub(super) fn pump(&mut self, now: Time, transport: &mut dyn Transport) {
        let Some(connection) = self.stream.filter(|_| !self.broken) else { return };
        while self.write_partial_frame(connection, transport) && self.session.flush(connection, transport) {
            // Section 6.9.1: the window of the connection.
            if self.session.window <= 0 {
                return;
            }
            let unknown = PathView { now, window: 0, smoothed_rtt: Duration::ZERO };
            let path = transport.path(connection).unwrap_or(unknown);
            let Some(stream) = self.turns.next(&path) else { return };
            self.begin_frame(now, stream);
        }
    }

    /// Whether the current frame is not completely written.
    pub(super) fn has_partial_frame(&self) -> bool {
        !self.partial_frame.0.is_empty() || self.partial_frame.1 > 0
    }

    /// Continues the current frame. Returns whether it is complete.
    pub(super) fn write_partial_frame(
        &mut self,
        connection: StreamId,
        transport: &mut dyn Transport,
    ) -> bool {
        let (bytes, length) = &mut self.partial_frame;
        while !bytes.is_empty() {
            match transport.write(connection, Data::Bytes(bytes)) {
                Ok(taken) => drop(bytes.drain(..taken as usize)),
                Err(_) => return false,
            }
        }
        while *length > 0 {
            match transport.write(connection, Data::Virtual(*length)) {
                Ok(taken) if taken > 0 => *length -= taken,
                _ => return false,
            }
        }
        true
    }

    /// Prepares a DATA frame of a stream.
    fn begin_frame(&mut self, now: Time, stream: u32) {
        let Some(exchange) = self.exchanges.get_mut(&stream) else { return };
        let Stage::Responding(body) = &mut exchange.stage else { return };
        let left = body.len() - exchange.taken;
        let room = exchange.window.min(self.session.window).max(0) as u64;
        let length = left.min(room).min(MAX_FRAME.into());
        let mut payload = Vec::new();
        let virtually = match body {
            Body::Virtual(_) => length,
            Body::Released { length: all, release } => match release.by(now, *all) {
                (released, Some(next)) if released == exchange.taken => {
                    self.turns.set_ready(now, &mut exchange.turn, false);
                    self.delayed.add(now, turns::id(stream), next.since(now));
                    return;
                }
                (released, _) => length.min(released - exchange.taken),
            },
            Body::Bytes(bytes) => {
                payload
                    .extend_from_slice(&bytes[exchange.taken as usize..(exchange.taken + length) as usize]);
                0
            }
            Body::Source { source, .. } => {
                payload.resize(length as usize, 0);
                let read = source.read_at(exchange.taken, &mut payload);
                if read.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
                    self.turns.set_ready(now, &mut exchange.turn, false);
                    self.delayed.add(now, turns::id(stream), Delayed::RETRY_AFTER);
                    return;
                }
                payload.truncate(read.unwrap_or(0));
                0
            }
        };
        let length = virtually.max(payload.len() as u64);
        if length == 0 {
            // The source has failed after the length was announced.
            self.session.reset(stream, Code::INTERNAL_ERROR);
            self.remove(stream);
            return;
        }
        exchange.taken += length;
        exchange.window -= length as i64;
        self.session.window -= length as i64;
        let ends = exchange.taken == body.len();
        self.session.note_progress();
        self.turns.note_sent(&exchange.turn, length);
        let is_ready = !ends && exchange.window > 0;
        self.turns.set_ready(now, &mut exchange.turn, is_ready);
        let flags = if ends { Flags::END_STREAM } else { Flags::NONE };
        let mut bytes = Vec::with_capacity(9 + payload.len());
        FrameHead { length: length as u32, kind: Kind::DATA, flags, stream }.encode(&mut bytes);
        bytes.extend(payload);
        self.partial_frame = (bytes, virtually);
        if ends {
            self.session.note_completed();
            self.remove(stream);
        }
    }
}
