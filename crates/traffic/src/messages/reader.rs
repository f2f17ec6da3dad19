//! The reader of messages.

use super::frame::{HEADER, Header};
use super::{MALFORMED, Over, Plan, between, traced};
use std::collections::BTreeMap;
use transport::{Application, Event, Progress, Report, StreamError, Tally, Transport};
use units::Time;
use wire::{Direction, Side, StreamId};

/// The maximum number of incomplete messages of several datagrams.
const MAX_INCOMPLETE: usize = 1000;

/// The progress of the current message of a stream.
#[derive(Debug, Clone, Copy, Default)]
struct Incoming {
    header: [u8; HEADER],
    /// The number of received bytes of the header.
    have: usize,
    message: Option<Header>,
    /// The number of missing bytes of the message.
    rest: u64,
}

/// The result of a read from a stream.
enum Step {
    More,
    Nothing,
    End,
    Malformed,
}

/// The reader.
pub(super) struct Reader {
    plan: Plan,
    side: Side,
    incoming: BTreeMap<StreamId, Incoming>,
    /// The total number of messages, once known.
    total: Option<u64>,
    datagram: Vec<u8>,
    /// Incomplete messages of several datagrams, by number: the header, and the number of missing bytes.
    pieces: BTreeMap<u32, (Header, u64)>,
    tally: Tally,
    progress: Progress,
}

impl Reader {
    pub(super) fn new(plan: Plan, side: Side) -> Reader {
        Reader {
            plan,
            side,
            incoming: BTreeMap::new(),
            total: None,
            datagram: Vec::new(),
            pieces: BTreeMap::new(),
            tally: Tally::of("messages", plan.deadline.is_some()),
            progress: Progress { receives: true, ..Progress::default() },
        }
    }

    fn read(&mut self, now: Time, stream: StreamId, transport: &mut dyn Transport) {
        let mut incoming = self.incoming.remove(&stream).unwrap_or_default();
        loop {
            match self.step(now, stream, &mut incoming, transport) {
                Step::More => {}
                Step::Nothing => {
                    self.incoming.insert(stream, incoming);
                    return;
                }
                Step::End => return self.on_end(now, stream, transport),
                Step::Malformed => return transport.close(MALFORMED, "a malformed message"),
            }
        }
    }

    /// Reads available bytes of the header or of the message.
    fn step(
        &mut self,
        now: Time,
        stream: StreamId,
        incoming: &mut Incoming,
        transport: &mut dyn Transport,
    ) -> Step {
        let read = match incoming.message {
            None => transport.read(stream, &mut incoming.header[incoming.have..]),
            Some(_) => transport.skip(stream, incoming.rest),
        };
        let read = match read {
            Ok(read) => read,
            Err(StreamError::Reset(_)) => return Step::End,
            Err(_) => return Step::Nothing,
        };
        match incoming.message {
            None => {
                incoming.have += read.bytes as usize;
                if incoming.have == HEADER {
                    let Some(header) = Header::parse(incoming.header) else { return Step::Malformed };
                    self.note(now, &header, HEADER as u64);
                    let rest = u64::from(header.length).saturating_sub(HEADER as u64);
                    *incoming = Incoming { message: Some(header), rest, ..Incoming::default() };
                }
            }
            Some(header) => {
                self.note(now, &header, read.bytes);
                incoming.rest -= read.bytes;
            }
        }
        if let Some(header) = incoming.message.filter(|_| incoming.rest == 0) {
            self.on_message(now, &header, Some(stream), transport);
            *incoming = Incoming::default();
        }
        match (read.finished, read.bytes) {
            // A stream that ends within a message was cut off by its writer.
            (true, _) => Step::End,
            (false, 0) => Step::Nothing,
            (false, _) => Step::More,
        }
    }

    fn on_message(
        &mut self,
        now: Time,
        header: &Header,
        stream: Option<StreamId>,
        transport: &mut dyn Transport,
    ) {
        if header.length == 0 {
            self.total = Some(u64::from(header.number));
            return;
        }
        self.tally.add(between(header.written, now), self.plan.deadline);
        transport.record(trace::Event::MessageDelivered(traced(&self.plan, header, stream)));
    }

    fn read_datagrams(&mut self, now: Time, transport: &mut dyn Transport) {
        loop {
            self.datagram.clear();
            if transport.read_datagram(Some(&mut self.datagram)).is_none() {
                return;
            }
            let header = self.datagram.first_chunk().and_then(|bytes| Header::parse(*bytes));
            if let Some(header) = &header {
                self.note(now, header, self.datagram.len() as u64);
            }
            let content = self.datagram.len().saturating_sub(HEADER) as u64;
            match header.and_then(|header| Some((header, self.is_whole(header, content)?))) {
                Some((header, true)) => self.on_message(now, &header, None, transport),
                Some((_, false)) => {}
                None => return transport.close(MALFORMED, "a malformed message"),
            }
        }
    }

    /// Whether a message is complete with `content` more bytes of it. The position of a piece does not matter: each
    /// arrives once, and its content is arbitrary. Returns `None` for a piece that does not belong to a message.
    fn is_whole(&mut self, header: Header, content: u64) -> Option<bool> {
        let all = u64::from(header.length).checked_sub(HEADER as u64)?;
        if content == all {
            return (!self.pieces.contains_key(&header.number)).then_some(true);
        }
        let (known, rest) = self.pieces.entry(header.number).or_insert((header, all));
        if *known != header || content == 0 || content > *rest {
            return None;
        }
        *rest -= content;
        let whole = *rest == 0;
        if whole {
            self.pieces.remove(&header.number);
        }
        if self.pieces.len() > MAX_INCOMPLETE {
            // The oldest message has probably lost a piece.
            self.pieces.pop_first();
        }
        Some(whole)
    }

    /// Handles the end of a stream.
    fn on_end(&mut self, now: Time, stream: StreamId, transport: &mut dyn Transport) {
        if stream.direction() == Direction::Bidirectional {
            // There is no response.
            let _ = transport.finish(stream);
        }
        let all = match self.plan.over {
            Over::Stream => true,
            Over::Streams => self.total.is_some_and(|total| self.tally.done >= total),
            Over::Datagrams => self.total.is_some(),
        };
        if all && self.progress.finished_at.is_none() {
            self.progress.finished_at = self.progress.last_at.or(Some(now));
            if self.side == Side::Client {
                transport.close(0, "done");
            }
        }
    }

    /// Notes this many bytes of the message with a header. The number of all messages, at the end, is not a message.
    fn note(&mut self, now: Time, header: &Header, bytes: u64) {
        if header.length > 0 {
            self.progress.note(now, bytes);
            // A datagram that was declared lost may come after the number of all.
            self.progress.finished_at = self.progress.finished_at.and(Some(now));
        }
    }
}

impl Application for Reader {
    fn on_event(&mut self, now: Time, event: &Event, transport: &mut dyn Transport) {
        match *event {
            Event::Readable(stream) => self.read(now, stream, transport),
            Event::DatagramReadable => self.read_datagrams(now, transport),
            Event::Reset { stream, .. } => {
                let _ = transport.stop(stream, 0);
                self.incoming.remove(&stream);
            }
            _ => {}
        }
    }

    fn progress(&self) -> Progress {
        self.progress
    }

    fn report(&mut self, _: Time) -> Report {
        Report { progress: self.progress, tally: Some(self.tally.clone()), ..Report::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Fake, stream};
    use units::Duration;

    fn reader(over: Over) -> Reader {
        let deadline = Some(Duration::from_millis(10));
        Reader::new(Plan { over, deadline }, Side::Server)
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    /// The header of a message.
    fn header(length: u32, number: u32) -> [u8; HEADER] {
        Header { length, number, written: at(5) }.to_bytes()
    }

    /// A datagram with a header and `content` bytes.
    fn datagram(length: u32, number: u32, content: usize) -> Vec<u8> {
        [&header(length, number)[..], &vec![0; content]].concat()
    }

    #[test]
    fn a_stream_is_read_in_any_pieces_and_late_messages_are_counted() {
        let mut bytes = [&header(20, 0)[..], &[0; 4], &header(16, 1)].concat();
        bytes.extend(header(30, 2));
        let id = stream(0, Direction::Unidirectional);
        for step in [1, 3, 16, 100] {
            let (mut reader, mut fake) = (reader(Over::Stream), Fake::default());
            for (number, piece) in bytes.chunks(step).enumerate() {
                fake.put(id, piece, false);
                // The first message within 10 ms of its writing, the second one later.
                let now = if number * step < 20 { at(15) } else { at(16) };
                reader.on_event(now, &Event::Readable(id), &mut fake);
            }
            let tally = reader.report(at(20)).tally.unwrap();
            let late = if step == 100 { 0 } else { 1 };
            assert_eq!((tally.done, tally.late), (2, late), "{step}");
            assert_eq!((reader.progress().bytes, reader.progress().finished_at), (52, None));
            // The third one is cut off. Its last byte came before the end of the stream.
            let last = if step == 100 { at(15) } else { at(16) };
            fake.put(id, &[], true);
            reader.on_event(at(20), &Event::Readable(id), &mut fake);
            assert_eq!(
                (reader.report(at(20)).tally.unwrap().done, reader.progress().finished_at),
                (2, Some(last))
            );
            assert_eq!(fake.closed, None);
        }
    }

    #[test]
    fn a_malformed_message_ends_the_connection() {
        let id = stream(0, Direction::Unidirectional);
        for length in [1, 15] {
            let (mut reader, mut fake) = (reader(Over::Stream), Fake::default());
            fake.put(id, &header(length, 0), false);
            reader.on_event(at(6), &Event::Readable(id), &mut fake);
            assert_eq!(fake.closed, Some((MALFORMED, "a malformed message".to_owned())), "{length}");
        }
        let wrong: [&[Vec<u8>]; 9] = [
            &[vec![]],
            &[vec![0; HEADER - 1]],
            &[datagram(0, 0, 0)],
            &[datagram(15, 0, 4)],
            &[datagram(40, 0, 25)],
            &[datagram(40, 0, 0)],
            &[datagram(40, 0, 10), datagram(40, 0, 15)],
            &[datagram(40, 0, 10), datagram(41, 0, 10)],
            &[datagram(40, 0, 10), datagram(40, 0, 24)],
        ];
        for datagrams in wrong {
            let (mut reader, mut fake) = (reader(Over::Datagrams), Fake::default());
            fake.datagrams.extend(datagrams.iter().cloned());
            reader.on_event(at(6), &Event::DatagramReadable, &mut fake);
            assert_eq!(fake.closed, Some((MALFORMED, "a malformed message".to_owned())), "{datagrams:?}");
            assert_eq!(reader.report(at(20)).tally.unwrap().done, 0);
        }
    }

    #[test]
    fn messages_in_pieces_are_reassembled_within_a_limit() {
        let (mut reader, mut fake) = (reader(Over::Datagrams), Fake::default());
        let mut come = |datagrams: &[Vec<u8>]| {
            fake.datagrams.extend(datagrams.iter().cloned());
            reader.on_event(at(6), &Event::DatagramReadable, &mut fake);
            assert_eq!(fake.closed, None);
            (reader.report(at(20)).tally.unwrap().done, reader.pieces.len())
        };
        assert_eq!(come(&[datagram(46, 1, 20), datagram(26, 0, 10), datagram(36, 2, 1)]), (1, 2));
        assert_eq!(come(&[datagram(36, 2, 19), datagram(46, 1, 4)]), (2, 1));
        assert_eq!(come(&[datagram(46, 1, 6)]), (3, 0));
        let many: Vec<_> =
            (10..10 + MAX_INCOMPLETE as u32 + 1).map(|number| datagram(18, number, 1)).collect();
        assert_eq!(come(&many), (3, MAX_INCOMPLETE));
        // The oldest was discarded: its second piece alone does not complete it.
        assert_eq!(come(&[datagram(18, 11, 1)]), (4, MAX_INCOMPLETE - 1));
        assert_eq!(come(&[datagram(18, 10, 1)]), (4, MAX_INCOMPLETE));
    }
}
