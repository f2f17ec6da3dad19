//! The end that writes the messages.

use super::frame::{HEADER, Header};
use super::{NO_DATAGRAMS, Over, Plan, traced};
use crate::sources::Source;
use crate::{Application, Progress, Tally, Transport};
use quic::{Data, DatagramError, Event, StreamError};
use std::collections::BTreeSet;
use units::Time;
use wire::{Direction, Side, StreamId};

/// A message that is on its way into a stream.
#[derive(Debug, Clone, Copy)]
struct Underway {
    stream: StreamId,
    header: Header,
    /// How many of its bytes the transport has taken.
    taken: u64,
}

/// Why the next thing is not done now.
enum Wait {
    /// The transport has no room; it will tell.
    Room,
    /// There is nothing to do before the next message is due, or ever.
    Time,
}

/// The end that writes. What waits for room waits in the source: a message that cannot be handed over when it is due is not
/// made before the one ahead of it is gone, and is written, by its clock, when it was due.
pub(super) struct Writer {
    plan: Plan,
    side: Side,
    source: Option<Box<dyn Source>>,
    /// How many more there are.
    left: u64,
    /// The next message: when it is due, and its length.
    next: Option<(Time, u64)>,
    underway: Option<Underway>,
    /// The stream of all messages, where there is one.
    stream: Option<StreamId>,
    /// The stream that the other side has opened for both, where a connection has no other.
    offered: Option<StreamId>,
    /// The end of the messages has been told.
    told: bool,
    waiting: bool,
    /// Streams that are finished and not delivered yet, and datagrams of which nothing is known.
    undelivered: BTreeSet<StreamId>,
    unknown: BTreeSet<u64>,
    datagram: Vec<u8>,
    tally: Tally,
    progress: Progress,
}

impl Writer {
    pub(super) fn new(plan: Plan, source: Option<Box<dyn Source>>, count: Option<u64>, side: Side) -> Writer {
        Writer {
            plan,
            side,
            source,
            left: count.unwrap_or(u64::from(u32::MAX)),
            next: None,
            underway: None,
            stream: None,
            offered: None,
            told: false,
            waiting: false,
            undelivered: BTreeSet::new(),
            unknown: BTreeSet::new(),
            datagram: Vec::new(),
            tally: Tally::of("messages", plan.deadline.is_some()),
            progress: Progress::default(),
        }
    }

    fn draw(&mut self, from: Time) {
        let more = self.left > 0;
        let drawn = self.source.as_mut().filter(|_| more).and_then(|source| source.next());
        self.next = drawn.map(|(gap, size)| (from + gap, size));
        self.left = self.left.saturating_sub(1);
    }

    /// Writes all that is due.
    fn go_on(&mut self, now: Time, transport: &mut dyn Transport) {
        self.waiting = false;
        loop {
            let step = match (self.underway, self.next) {
                (Some(underway), _) => self.pour(underway, transport),
                (None, Some((at, size))) if at <= now => self.begin(at, size, transport),
                (None, Some(_)) => Err(Wait::Time),
                (None, None) => self.tell_the_end(now, transport),
            };
            match step {
                Ok(()) => {}
                Err(Wait::Room) => {
                    self.waiting = true;
                    return;
                }
                Err(Wait::Time) => return,
            }
        }
    }

    /// The message that is due.
    fn begin(&mut self, at: Time, size: u64, transport: &mut dyn Transport) -> Result<(), Wait> {
        let header = Header { length: size as u32, number: self.tally.begun as u32, written: at };
        let stream = match self.plan.over {
            Over::Datagrams => {
                self.send_datagram(&header, transport)?;
                None
            }
            Over::Streams => Some(self.open(transport)?),
            Over::Stream => match self.stream {
                Some(stream) => Some(stream),
                None => {
                    self.stream = Some(self.open(transport)?);
                    self.stream
                }
            },
        };
        self.tally.begun += 1;
        transport.tell(trace::Event::MessageWritten(traced(&self.plan, &header, stream)));
        self.underway = stream.map(|stream| Underway { stream, header, taken: 0 });
        self.draw(at);
        Ok(())
    }

    fn open(&mut self, transport: &mut dyn Transport) -> Result<StreamId, Wait> {
        let stream = match self.offered.take() {
            Some(offered) => offered,
            None => transport.open(Direction::Unidirectional).map_err(|_| Wait::Room)?,
        };
        // A stream that is gone already has no use for it.
        let _ = transport.set_priority(stream, self.plan.priority);
        Ok(stream)
    }

    /// Hands over what is left of a message.
    fn pour(&mut self, mut underway: Underway, transport: &mut dyn Transport) -> Result<(), Wait> {
        let (header, length) =
            (underway.header.to_bytes(), u64::from(underway.header.length).max(HEADER as u64));
        while underway.taken < length {
            let data = match header.get(underway.taken as usize..) {
                Some(rest) if !rest.is_empty() => Data::Bytes(rest),
                _ => Data::Virtual(length - underway.taken),
            };
            match transport.write(underway.stream, data) {
                Ok(taken) if taken > 0 => underway.taken += taken,
                Ok(_) | Err(StreamError::Blocked) => {
                    self.underway = Some(underway);
                    return Err(Wait::Room);
                }
                // What the reader has given up is not missed.
                Err(_) => break,
            }
        }
        self.underway = None;
        self.progress.bytes += underway.taken;
        if self.plan.over != Over::Stream || underway.header.length == 0 {
            self.finish(underway.stream, transport);
        }
        Ok(())
    }

    fn finish(&mut self, stream: StreamId, transport: &mut dyn Transport) {
        if transport.finish(stream).is_ok() {
            self.undelivered.insert(stream);
        }
    }

    fn send_datagram(&mut self, header: &Header, transport: &mut dyn Transport) -> Result<(), Wait> {
        self.datagram.clear();
        self.datagram.extend_from_slice(&header.to_bytes());
        self.datagram.resize(header.length as usize, 0);
        match transport.send_datagram(Data::Bytes(&self.datagram)) {
            Ok(number) => {
                self.unknown.insert(number);
                self.progress.bytes += u64::from(header.length);
                Ok(())
            }
            Err(DatagramError::Blocked | DatagramError::Closed) => Err(Wait::Room),
            Err(error) => {
                transport.close(NO_DATAGRAMS, &format!("a message of {} bytes: {error}", header.length));
                Err(Wait::Room)
            }
        }
    }

    /// The last one is written: the reader is told how many there were.
    fn tell_the_end(&mut self, now: Time, transport: &mut dyn Transport) -> Result<(), Wait> {
        if self.told || self.source.is_none() || !self.unknown.is_empty() {
            return Err(Wait::Time);
        }
        if let (Over::Stream, Some(stream)) = (self.plan.over, self.stream) {
            self.finish(stream, transport);
        } else {
            let header = Header { length: 0, number: self.tally.begun as u32, written: now };
            let stream = self.open(transport)?;
            self.underway = Some(Underway { stream, header, taken: 0 });
        }
        self.told = true;
        Ok(())
    }

    /// All is there.
    fn end(&mut self, now: Time, transport: &mut dyn Transport) {
        if self.told
            && self.underway.is_none()
            && self.undelivered.is_empty()
            && self.progress.finished_at.is_none()
        {
            self.progress.finished_at = Some(now);
            self.progress.last_at = Some(now);
            if self.side == Side::Client {
                transport.close(0, "done");
            }
        }
    }
}

impl Application for Writer {
    fn on_event(&mut self, now: Time, event: &Event, transport: &mut dyn Transport) {
        match *event {
            Event::Connected => {
                self.progress.first_at = Some(now);
                self.draw(now);
            }
            Event::Opened(stream) if stream.direction() == Direction::Bidirectional => {
                self.offered = Some(stream);
            }
            Event::Writable(_) | Event::StreamsAvailable(_) | Event::DatagramWritable => {}
            Event::Delivered(stream) | Event::Stopped { stream, .. } => {
                self.undelivered.remove(&stream);
            }
            Event::DatagramAcked(number) | Event::DatagramLost(number) => {
                // One that is declared lost may be acknowledged later.
                self.unknown.remove(&number);
            }
            Event::Ended => {
                // Nothing is due any more.
                (self.next, self.source, self.underway) = (None, None, None);
                return;
            }
            _ => return,
        }
        if self.progress.first_at.is_some() {
            self.go_on(now, transport);
            self.end(now, transport);
        }
    }

    fn on_wake(&mut self, now: Time, transport: &mut dyn Transport) {
        self.go_on(now, transport);
        self.end(now, transport);
    }

    fn wake_at(&self) -> Option<Time> {
        self.next.filter(|_| !self.waiting).map(|(at, _)| at)
    }

    /// Bytes are those of an upload once all is there: until then its reader knows better.
    fn progress(&self) -> Progress {
        let bytes = if self.progress.finished_at.is_some() { self.progress.bytes } else { 0 };
        Progress { bytes, ..self.progress }
    }

    fn tally(&self) -> Option<Tally> {
        Some(self.tally.clone())
    }
}
