//! The end that reads the messages.

use super::frame::{HEADER, Header};
use super::{MALFORMED, Over, Plan, between, traced};
use std::collections::BTreeMap;
use transport::{Application, Event, Progress, Report, StreamError, Tally, Transport};
use units::Time;
use wire::{Direction, Side, StreamId};

/// The most messages of several datagrams that are waited for at a time.
const MOST_IN_PIECES: usize = 1000;

/// How far the message is that a stream is at.
#[derive(Debug, Clone, Copy, Default)]
struct Incoming {
    header: [u8; HEADER],
    /// How many bytes of the header are here.
    have: usize,
    message: Option<Header>,
    /// How many bytes of the message are still to come.
    rest: u64,
}

/// What has come from a stream.
enum Step {
    More,
    Nothing,
    End,
    Malformed,
}

/// The end that reads.
pub(super) struct Reader {
    plan: Plan,
    side: Side,
    incoming: BTreeMap<StreamId, Incoming>,
    /// How many there are, once that was told.
    total: Option<u64>,
    datagram: Vec<u8>,
    /// Messages of several datagrams, by number: what the first to come said, and how many bytes are still to come.
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
            progress: Progress::default(),
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
                Step::End => return self.ended(now, stream, transport),
                Step::Malformed => return transport.close(MALFORMED, "not a message"),
            }
        }
    }

    /// Takes what is there of the header, or of the rest.
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
        self.note(now, read.bytes);
        match incoming.message {
            None => {
                incoming.have += read.bytes as usize;
                if incoming.have == HEADER {
                    let Some(header) = Header::parse(incoming.header) else { return Step::Malformed };
                    let rest = u64::from(header.length).saturating_sub(HEADER as u64);
                    *incoming = Incoming { message: Some(header), rest, ..Incoming::default() };
                }
            }
            Some(_) => incoming.rest -= read.bytes,
        }
        if let Some(header) = incoming.message.filter(|_| incoming.rest == 0) {
            self.came(now, &header, Some(stream), transport);
            *incoming = Incoming::default();
        }
        match (read.finished, read.bytes) {
            // A stream that ends within a message was cut off by its writer.
            (true, _) => Step::End,
            (false, 0) => Step::Nothing,
            (false, _) => Step::More,
        }
    }

    fn came(&mut self, now: Time, header: &Header, stream: Option<StreamId>, transport: &mut dyn Transport) {
        if header.length == 0 {
            self.total = Some(u64::from(header.number));
            return;
        }
        self.tally.add(between(header.written, now), self.plan.deadline);
        transport.tell(trace::Event::MessageDelivered(traced(&self.plan, header, stream)));
    }

    fn read_datagrams(&mut self, now: Time, transport: &mut dyn Transport) {
        loop {
            self.datagram.clear();
            if transport.read_datagram(Some(&mut self.datagram)).is_none() {
                return;
            }
            self.note(now, self.datagram.len() as u64);
            let header = self.datagram.first_chunk().and_then(|bytes| Header::parse(*bytes));
            let content = self.datagram.len().saturating_sub(HEADER) as u64;
            match header.and_then(|header| Some((header, self.is_whole(header, content)?))) {
                Some((header, true)) => self.came(now, &header, None, transport),
                Some((_, false)) => {}
                None => return transport.close(MALFORMED, "not a message"),
            }
        }
    }

    /// Whether with so many bytes behind this header a message is whole. Nothing is said of the place of a piece: each comes
    /// once, and means nothing. `None`: it is no piece of a message.
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
        if self.pieces.len() > MOST_IN_PIECES {
            // The oldest has lost what has not come by now.
            self.pieces.pop_first();
        }
        Some(whole)
    }

    /// A stream is at its end.
    fn ended(&mut self, now: Time, stream: StreamId, transport: &mut dyn Transport) {
        if stream.direction() == Direction::Bidirectional {
            // Nothing goes back.
            let _ = transport.finish(stream);
        }
        let all = match self.plan.over {
            Over::Stream => true,
            Over::Streams => self.total.is_some_and(|total| self.tally.done >= total),
            Over::Datagrams => self.total.is_some(),
        };
        if all && self.progress.finished_at.is_none() {
            self.progress.finished_at = Some(now);
            if self.side == Side::Client {
                transport.close(0, "done");
            }
        }
    }

    fn note(&mut self, now: Time, bytes: u64) {
        if bytes > 0 {
            self.progress.bytes += bytes;
            self.progress.first_at.get_or_insert(now);
            self.progress.last_at = Some(now);
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

    /// The first bytes of a message.
    fn header(length: u32, number: u32) -> [u8; HEADER] {
        Header { length, number, written: at(5) }.to_bytes()
    }

    /// A datagram with a header and so many bytes behind it.
    fn datagram(length: u32, number: u32, content: usize) -> Vec<u8> {
        [&header(length, number)[..], &vec![0; content]].concat()
    }

    #[test]
    fn a_stream_is_read_in_any_pieces_and_what_comes_late_is_told() {
        let mut bytes = [&header(20, 0)[..], &[0; 4], &header(16, 1)].concat();
        bytes.extend(header(30, 2));
        let id = stream(0, Direction::Unidirectional);
        for step in [1, 3, 16, 100] {
            let (mut reader, mut fake) = (reader(Over::Stream), Fake::default());
            for (number, piece) in bytes.chunks(step).enumerate() {
                fake.put(id, piece, false);
                // The first message 10 ms after it was written at the latest, the second one later.
                let now = if number * step < 20 { at(15) } else { at(16) };
                reader.on_event(now, &Event::Readable(id), &mut fake);
            }
            let tally = reader.report(at(20)).tally.unwrap();
            let late = if step == 100 { 0 } else { 1 };
            assert_eq!((tally.done, tally.late), (2, late), "{step}");
            assert_eq!((reader.progress().bytes, reader.progress().finished_at), (52, None));
            // The third one is cut off.
            fake.put(id, &[], true);
            reader.on_event(at(20), &Event::Readable(id), &mut fake);
            assert_eq!(
                (reader.report(at(20)).tally.unwrap().done, reader.progress().finished_at),
                (2, Some(at(20)))
            );
            assert_eq!(fake.closed, None);
        }
    }

    #[test]
    fn what_is_no_message_ends_the_connection() {
        let id = stream(0, Direction::Unidirectional);
        for length in [1, 15] {
            let (mut reader, mut fake) = (reader(Over::Stream), Fake::default());
            fake.put(id, &header(length, 0), false);
            reader.on_event(at(6), &Event::Readable(id), &mut fake);
            assert_eq!(fake.closed, Some((MALFORMED, "not a message".to_owned())), "{length}");
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
            assert_eq!(fake.closed, Some((MALFORMED, "not a message".to_owned())), "{datagrams:?}");
            assert_eq!(reader.report(at(20)).tally.unwrap().done, 0);
        }
    }

    #[test]
    fn messages_in_pieces_come_whole_in_any_order_and_are_not_kept_for_ever() {
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
            (10..10 + MOST_IN_PIECES as u32 + 1).map(|number| datagram(18, number, 1)).collect();
        assert_eq!(come(&many), (3, MOST_IN_PIECES));
        // The oldest was given up: its second piece alone is not all of it.
        assert_eq!(come(&[datagram(18, 11, 1)]), (4, MOST_IN_PIECES - 1));
        assert_eq!(come(&[datagram(18, 10, 1)]), (4, MOST_IN_PIECES));
    }
}
