//! The writer of messages.

use super::frame::{HEADER, Header};
use super::{NO_DATAGRAMS, Over, Plan, traced};
use crate::priorities::Priorities;
use crate::sources::Source;
use std::collections::BTreeSet;
use transport::{Application, Data, DatagramError, Event, Progress, Report, StreamError, Tally, Transport};
use units::Time;
use wire::{Direction, Side, StreamId};

/// A message that is being written.
#[derive(Debug, Clone, Copy)]
struct OutgoingMessage {
    /// The stream of the message; `None` for datagrams.
    stream: Option<StreamId>,
    header: Header,
    /// The number of bytes accepted by the transport.
    taken: u64,
}

/// Why the next step must wait.
enum Wait {
    /// The transport has no room and will report when it has.
    Room,
    /// No message is due yet, or none will ever be.
    Time,
}

/// The writer. Messages wait in the source for room: a message that is due is not created before the previous one is
/// written, but its time of writing is the time at which it was due.
pub(super) struct Writer {
    plan: Plan,
    priorities: Priorities,
    side: Side,
    source: Option<Box<dyn Source>>,
    /// The number of messages left.
    left: u64,
    /// The next message: its time and its length.
    next: Option<(Time, u64)>,
    outgoing: Option<OutgoingMessage>,
    /// The common stream of all messages, if there is one.
    stream: Option<StreamId>,
    /// The bidirectional stream opened by the peer, if the connection has no other.
    offered: Option<StreamId>,
    /// The end of the messages has been sent.
    end_sent: bool,
    waiting: bool,
    /// Streams that are finished but not delivered yet, and datagrams of unknown fate.
    undelivered: BTreeSet<StreamId>,
    unknown: BTreeSet<u64>,
    datagram: Vec<u8>,
    tally: Tally,
    is_connected: bool,
    progress: Progress,
}

impl Writer {
    /// Creates the writer. `source` generates the messages; `count` limits their number.
    pub(super) fn new(
        plan: Plan,
        priorities: Priorities,
        source: Option<Box<dyn Source>>,
        count: Option<u64>,
        side: Side,
    ) -> Writer {
        Writer {
            plan,
            priorities,
            side,
            source,
            left: count.unwrap_or(u64::from(u32::MAX)),
            next: None,
            outgoing: None,
            stream: None,
            offered: None,
            end_sent: false,
            waiting: false,
            undelivered: BTreeSet::new(),
            unknown: BTreeSet::new(),
            datagram: Vec::new(),
            tally: Tally::of("messages", plan.deadline.is_some()),
            is_connected: false,
            progress: Progress::default(),
        }
    }

    fn draw(&mut self, from: Time) {
        let more = self.left > 0;
        let drawn = self.source.as_mut().filter(|_| more).and_then(|source| source.next());
        self.next = drawn.map(|(gap, size)| (from + gap, size));
        self.left = self.left.saturating_sub(1);
    }

    /// Writes everything that is due.
    fn resume(&mut self, now: Time, transport: &mut dyn Transport) {
        self.waiting = false;
        loop {
            let step = match (self.outgoing, self.next) {
                (Some(outgoing), _) => self.write_message(outgoing, transport),
                (None, Some((at, size))) if at <= now => self.begin(now, at, size, transport),
                (None, Some(_)) => Err(Wait::Time),
                (None, None) => self.send_end(now, transport),
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

    /// Starts the message of a size that was due at a time.
    fn begin(&mut self, now: Time, at: Time, size: u64, transport: &mut dyn Transport) -> Result<(), Wait> {
        let header = Header { length: size as u32, number: self.tally.started as u32, written: at };
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
        self.tally.started += 1;
        transport.record(trace::Event::MessageWritten(traced(&self.plan, &header, stream)));
        self.outgoing = Some(OutgoingMessage { stream, header, taken: 0 });
        self.draw(at);
        Ok(())
    }

    fn open(&mut self, now: Time, transport: &mut dyn Transport) -> Result<StreamId, Wait> {
        let stream = match self.offered.take() {
            Some(offered) => offered,
            None => transport.open(Direction::Unidirectional).map_err(|_| Wait::Room)?,
        };
        self.priorities.on_opened(now, stream, transport);
        Ok(stream)
    }

    /// Writes the rest of a message.
    fn write_message(
        &mut self,
        outgoing: OutgoingMessage,
        transport: &mut dyn Transport,
    ) -> Result<(), Wait> {
        match outgoing.stream {
            Some(stream) => self.write_to_stream(stream, outgoing, transport),
            None => self.send_datagrams(outgoing, transport),
        }
    }

    fn write_to_stream(
        &mut self,
        stream: StreamId,
        mut outgoing: OutgoingMessage,
        transport: &mut dyn Transport,
    ) -> Result<(), Wait> {
        let (header, length) =
            (outgoing.header.to_bytes(), u64::from(outgoing.header.length).max(HEADER as u64));
        while outgoing.taken < length {
            let data = match header.get(outgoing.taken as usize..) {
                Some(rest) if !rest.is_empty() => Data::Bytes(rest),
                _ => Data::Virtual(length - outgoing.taken),
            };
            match transport.write(stream, data) {
                Ok(taken) if taken > 0 => outgoing.taken += taken,
                Ok(_) | Err(StreamError::Blocked) => {
                    self.outgoing = Some(outgoing);
                    return Err(Wait::Room);
                }
                // An error means that the reader has cancelled the stream, which is fine.
                Err(_) => break,
            }
        }
        self.outgoing = None;
        if self.plan.over != Over::Stream || outgoing.header.length == 0 {
            self.finish(stream, transport);
        }
        Ok(())
    }

    fn finish(&mut self, stream: StreamId, transport: &mut dyn Transport) {
        if transport.finish(stream).is_ok() {
            self.undelivered.insert(stream);
        }
    }

    /// Sends the rest of a message as datagrams, each with a copy of the header.
    fn send_datagrams(
        &mut self,
        mut outgoing: OutgoingMessage,
        transport: &mut dyn Transport,
    ) -> Result<(), Wait> {
        let header = outgoing.header;
        outgoing.taken = outgoing.taken.max(HEADER as u64);
        loop {
            let rest = u64::from(header.length).saturating_sub(outgoing.taken);
            // If datagrams are not supported, sending fails.
            let limit = transport.max_datagram_size().unwrap_or(usize::MAX);
            let piece = rest.min(limit.saturating_sub(HEADER) as u64);
            self.datagram.clear();
            self.datagram.extend_from_slice(&header.to_bytes());
            self.datagram.resize(HEADER + piece as usize, 0);
            let sent = match piece {
                // The datagram would only contain a header.
                0 if rest > 0 => Err(DatagramError::TooLarge { maximum: limit }),
                _ => transport.send_datagram(Data::Bytes(&self.datagram)),
            };
            match sent {
                Ok(number) => {
                    self.unknown.insert(number);
                    outgoing.taken += piece;
                    if piece == rest {
                        self.outgoing = None;
                        return Ok(());
                    }
                }
                Err(DatagramError::Blocked | DatagramError::Closed) => {
                    self.outgoing = Some(outgoing);
                    return Err(Wait::Room);
                }
                Err(error) => {
                    transport.close(NO_DATAGRAMS, &format!("a message of {} bytes: {error}", header.length));
                    return Err(Wait::Room);
                }
            }
        }
    }

    /// After the last message: sends the number of messages to the reader.
    fn send_end(&mut self, now: Time, transport: &mut dyn Transport) -> Result<(), Wait> {
        if self.end_sent || self.source.is_none() || !self.unknown.is_empty() {
            return Err(Wait::Time);
        }
        if let (Over::Stream, Some(stream)) = (self.plan.over, self.stream) {
            self.finish(stream, transport);
        } else {
            let header = Header { length: 0, number: self.tally.started as u32, written: now };
            let stream = self.open(now, transport)?;
            self.outgoing = Some(OutgoingMessage { stream: Some(stream), header, taken: 0 });
        }
        self.end_sent = true;
        Ok(())
    }

    /// Counts the messages in the source that are already due, and therefore late. Otherwise the statistics would look
    /// too good.
    fn count_what_is_due(&mut self, now: Time) {
        while let Some((at, _)) = self.next.filter(|(at, _)| *at <= now) {
            self.tally.started += 1;
            self.draw(at);
        }
    }

    /// Ends the transfer once everything is delivered.
    fn end(&mut self, now: Time, transport: &mut dyn Transport) {
        if self.end_sent
            && self.outgoing.is_none()
            && self.undelivered.is_empty()
            && self.progress.finished_at.is_none()
        {
            self.progress.finished_at = Some(now);
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
                self.is_connected = true;
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
                // A datagram declared lost may be acknowledged later.
                self.unknown.remove(&number);
            }
            Event::Ended => {
                self.count_what_is_due(now);
                // No more messages.
                (self.next, self.source, self.outgoing) = (None, None, None);
                self.priorities = Priorities::default();
                return;
            }
            _ => return,
        }
        if self.is_connected {
            self.resume(now, transport);
            self.end(now, transport);
        }
    }

    fn on_wake(&mut self, now: Time, transport: &mut dyn Transport) {
        self.priorities.on_wake(now, transport);
        self.resume(now, transport);
        self.end(now, transport);
    }

    fn wake_at(&self) -> Option<Time> {
        let due = self.next.filter(|_| !self.waiting).map(|(at, _)| at);
        due.into_iter().chain(self.priorities.wake_at()).min()
    }

    fn progress(&self) -> Progress {
        self.progress
    }

    fn report(&mut self, now: Time) -> Report {
        self.count_what_is_due(now);
        Report { progress: self.progress(), tally: Some(self.tally.clone()), ..Report::default() }
    }
}
