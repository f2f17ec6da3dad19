//! The end that writes the messages.

use super::frame::{HEADER, Header};
use super::{NO_DATAGRAMS, Over, Plan, traced};
use crate::priorities::Priorities;
use crate::sources::Source;
use std::collections::BTreeSet;
use transport::{Application, Data, DatagramError, Event, Progress, Report, StreamError, Tally, Transport};
use units::Time;
use wire::{Direction, Side, StreamId};

/// A message that is being handed over.
#[derive(Debug, Clone, Copy)]
struct Underway {
    /// The stream that it goes into; `None`: as datagrams.
    stream: Option<StreamId>,
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
    priorities: Priorities,
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
    /// `source`: what says when messages are written, and how many of them there are, if that is said.
    pub(super) fn new(
        plan: Plan,
        priorities: Priorities,
        (source, count): (Option<Box<dyn Source>>, Option<u64>),
        side: Side,
    ) -> Writer {
        Writer {
            plan,
            priorities,
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
                (None, Some((at, size))) if at <= now => self.begin(now, (at, size), transport),
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

    /// The message that was due at a time, of a size.
    fn begin(
        &mut self,
        now: Time,
        (at, size): (Time, u64),
        transport: &mut dyn Transport,
    ) -> Result<(), Wait> {
        let header = Header { length: size as u32, number: self.tally.begun as u32, written: at };
        let stream = match self.plan.over {
            Over::Datagrams => None,
            Over::Streams => Some(self.open(now, transport)?),
            Over::Stream => match self.stream {
                Some(stream) => Some(stream),
                None => {
                    self.stream = Some(self.open(now, transport)?);
                    self.stream
                }
            },
        };
        self.tally.begun += 1;
        transport.tell(trace::Event::MessageWritten(traced(&self.plan, &header, stream)));
        self.underway = Some(Underway { stream, header, taken: 0 });
        self.draw(at);
        Ok(())
    }

    fn open(&mut self, now: Time, transport: &mut dyn Transport) -> Result<StreamId, Wait> {
        let stream = match self.offered.take() {
            Some(offered) => offered,
            None => transport.open(Direction::Unidirectional).map_err(|_| Wait::Room)?,
        };
        self.priorities.tell(now, stream, transport);
        Ok(stream)
    }

    /// Hands over what is left of a message.
    fn pour(&mut self, underway: Underway, transport: &mut dyn Transport) -> Result<(), Wait> {
        match underway.stream {
            Some(stream) => self.pour_into(stream, underway, transport),
            None => self.send_datagrams(underway, transport),
        }
    }

    fn pour_into(
        &mut self,
        stream: StreamId,
        mut underway: Underway,
        transport: &mut dyn Transport,
    ) -> Result<(), Wait> {
        let (header, length) =
            (underway.header.to_bytes(), u64::from(underway.header.length).max(HEADER as u64));
        while underway.taken < length {
            let data = match header.get(underway.taken as usize..) {
                Some(rest) if !rest.is_empty() => Data::Bytes(rest),
                _ => Data::Virtual(length - underway.taken),
            };
            match transport.write(stream, data) {
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
            self.finish(stream, transport);
        }
        Ok(())
    }

    fn finish(&mut self, stream: StreamId, transport: &mut dyn Transport) {
        if transport.finish(stream).is_ok() {
            self.undelivered.insert(stream);
        }
    }

    /// Sends what is left of a message as datagrams: as many as it needs, each with the header before it.
    fn send_datagrams(&mut self, mut underway: Underway, transport: &mut dyn Transport) -> Result<(), Wait> {
        let header = underway.header;
        underway.taken = underway.taken.max(HEADER as u64);
        loop {
            let rest = u64::from(header.length).saturating_sub(underway.taken);
            // Where there are none, sending says so.
            let limit = transport.max_datagram_size().unwrap_or(usize::MAX);
            let piece = rest.min(limit.saturating_sub(HEADER) as u64);
            self.datagram.clear();
            self.datagram.extend_from_slice(&header.to_bytes());
            self.datagram.resize(HEADER + piece as usize, 0);
            let sent = match piece {
                // Nothing but headers would go.
                0 if rest > 0 => Err(DatagramError::TooLarge { maximum: limit }),
                _ => transport.send_datagram(Data::Bytes(&self.datagram)),
            };
            match sent {
                Ok(number) => {
                    self.unknown.insert(number);
                    underway.taken += piece;
                    if piece == rest {
                        self.progress.bytes += u64::from(header.length);
                        self.underway = None;
                        return Ok(());
                    }
                }
                Err(DatagramError::Blocked | DatagramError::Closed) => {
                    self.underway = Some(underway);
                    return Err(Wait::Room);
                }
                Err(error) => {
                    transport.close(NO_DATAGRAMS, &format!("a message of {} bytes: {error}", header.length));
                    return Err(Wait::Room);
                }
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
            let stream = self.open(now, transport)?;
            self.underway = Some(Underway { stream: Some(stream), header, taken: 0 });
        }
        self.told = true;
        Ok(())
    }

    /// Counts what waits in the source for room, which is due too, and late: those that were written alone would look better
    /// than all.
    fn count_what_is_due(&mut self, now: Time) {
        while let Some((at, _)) = self.next.filter(|(at, _)| *at <= now) {
            self.tally.begun += 1;
            self.draw(at);
        }
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
                self.priorities.begin(now);
                self.draw(now);
            }
            Event::Opened(stream) if stream.direction() == Direction::Bidirectional => {
                self.offered = Some(stream);
            }
            Event::Writable(_) | Event::StreamsAvailable(_) | Event::DatagramWritable => {}
            Event::Delivered(stream) | Event::Stopped { stream, .. } => {
                self.undelivered.remove(&stream);
                self.priorities.forget(stream);
            }
            Event::DatagramAcked(number) | Event::DatagramLost(number) => {
                // One that is declared lost may be acknowledged later.
                self.unknown.remove(&number);
            }
            Event::Ended => {
                self.count_what_is_due(now);
                // Nothing is due any more.
                (self.next, self.source, self.underway) = (None, None, None);
                self.priorities = Priorities::default();
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
        self.priorities.on_wake(now, transport);
        self.go_on(now, transport);
        self.end(now, transport);
    }

    fn wake_at(&self) -> Option<Time> {
        let due = self.next.filter(|_| !self.waiting).map(|(at, _)| at);
        due.into_iter().chain(self.priorities.wake_at()).min()
    }

    /// Bytes are those of an upload once all is there: until then its reader knows better.
    fn progress(&self) -> Progress {
        let bytes = if self.progress.finished_at.is_some() { self.progress.bytes } else { 0 };
        Progress { bytes, ..self.progress }
    }

    fn report(&mut self, now: Time) -> Report {
        self.count_what_is_due(now);
        Report { progress: self.progress(), tally: Some(self.tally.clone()), ..Report::default() }
    }
}
