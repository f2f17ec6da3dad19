//! The log of an endpoint or an element, which its host drains.

use crate::{Event, Packet};
use units::Time;

/// The events that the sinks need. Other events are not even built.
///
/// [`Interest::covers`] is the table of the events in each category. Two kinds of events belong to both packets and
/// metrics: check [`Interest::datagrams`] and [`Interest::losses`] before building them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Interest {
    /// Single packets with their frames: sent, received, dropped, lost (for qlog and the table `packet`); and the times
    /// at which their data was written.
    pub packets: bool,
    /// The metrics of recovery and queues, at every change (for the series tables and the figure).
    pub metrics: bool,
    /// Events that occur a few times per connection: start, keys, states, parameters, streams, close (for qlog and the
    /// table `event`); and application messages.
    pub lifecycle: bool,
}

impl Interest {
    /// No events.
    pub const NONE: Interest = Interest { packets: false, metrics: false, lifecycle: false };
    /// All events.
    pub const ALL: Interest = Interest { packets: true, metrics: true, lifecycle: true };

    /// The union of both.
    pub const fn or(self, other: Interest) -> Interest {
        Interest {
            packets: self.packets || other.packets,
            metrics: self.metrics || other.metrics,
            lifecycle: self.lifecycle || other.lifecycle,
        }
    }
    /// Whether [`Event::DatagramSent`] and [`Event::Delivered`] are needed: they are cheap, and the rates are computed
    /// from them.
    pub const fn datagrams(self) -> bool {
        self.packets || self.metrics
    }
    /// Whether [`Event::PacketLost`] and [`Event::NetworkDrop`] are needed: the tables of losses and drops consist of
    /// them.
    pub const fn losses(self) -> bool {
        self.packets || self.metrics
    }
    /// Whether an event is needed.
    pub const fn covers(self, event: &Event) -> bool {
        match event {
            Event::PacketSent(_)
            | Event::PacketReceived(_)
            | Event::PacketDropped { .. }
            | Event::DatagramReceived { .. }
            | Event::StreamWritten { .. } => self.packets,
            Event::PacketLost { .. } | Event::NetworkDrop { .. } => self.losses(),
            Event::DatagramSent { .. } | Event::Delivered { .. } | Event::Capacity { .. } => self.datagrams(),
            Event::Metrics(_)
            | Event::Waits(_)
            | Event::Gauge { .. }
            | Event::Queue { .. }
            | Event::Block(_)
            | Event::HandedOver(_)
            | Event::Handover { .. } => self.metrics,
            // Changes of state explain a series and are rare, so they belong to both.
            Event::CongestionState { .. } | Event::ResumePhase(_) => self.metrics || self.lifecycle,
            Event::ConnectionStarted { .. }
            | Event::ConnectionState { .. }
            | Event::ConnectionClosed { .. }
            | Event::VersionInformation { .. }
            | Event::ParametersSet { .. }
            | Event::ParametersRestored { .. }
            | Event::KeyUpdated { .. }
            | Event::KeyDiscarded { .. }
            | Event::MigrationState { .. }
            | Event::EcnState { .. }
            | Event::MtuUpdated { .. }
            | Event::SavedPath { .. }
            | Event::ObjectLoaded(_)
            | Event::VideoSegment(_)
            | Event::PlaybackChanged(_)
            | Event::StreamOpened { .. }
            | Event::StreamClosed { .. }
            | Event::MessageWritten(_)
            | Event::MessageDelivered(_) => self.lifecycle,
        }
    }
}

/// An event and its time.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The time.
    pub time: Time,
    /// The event.
    pub event: Event,
}

/// The most packets whose memory a log keeps for later ones.
const SPARE_PACKETS: usize = 8;
/// The most records that are passed on at once.
const BATCH: usize = 64;

/// An event as a log stores it: one of which there are many, in a fraction of the size of an [`Event`], or the place of
/// another event.
#[derive(Debug, Clone, Copy)]
enum Short {
    Queue {
        packets: u32,
        bytes: u64,
    },
    Delivered {
        length: u32,
    },
    DatagramSent {
        number: u64,
        length: u32,
    },
    DatagramReceived {
        number: u64,
        length: u32,
    },
    /// The next of the other events.
    Other,
}

/// An event in a log, which is read without being copied.
#[derive(Debug, Clone, Copy)]
pub enum Logged<'a> {
    /// [`Event::Queue`].
    Queue {
        /// The packets that wait.
        packets: u32,
        /// The bytes that wait.
        bytes: u64,
    },
    /// [`Event::Delivered`] with its length.
    Delivered(u32),
    /// [`Event::DatagramSent`] with its length.
    DatagramSent(u32),
    /// [`Event::DatagramReceived`] with its length.
    DatagramReceived(u32),
    /// Another event.
    Other(&'a Event),
}

/// Events that wait for the host.
#[derive(Debug, Clone, Default)]
pub struct Log {
    interest: Interest,
    /// Made with the first record: most logs of most runs stay empty.
    kept: Option<Box<Kept>>,
}

/// The records of a log.
#[derive(Debug, Clone, Default)]
struct Kept {
    records: Vec<(Time, Short)>,
    /// The events that are not short, in order.
    others: Vec<Event>,
    /// Records that are passed on now.
    passing: Vec<Record>,
    /// Packets of events that were passed on.
    #[expect(clippy::vec_box, reason = "events take and give the boxes")]
    spare: Vec<Box<Packet>>,
}

impl Log {
    /// Creates a log that keeps the events of `interest`.
    pub fn new(interest: Interest) -> Log {
        Log { interest, ..Log::default() }
    }
    /// The events to keep: check it before building an event.
    #[inline]
    pub fn interest(&self) -> Interest {
        self.interest
    }
    /// Adds an event. The caller must have checked [`Log::interest`].
    // Not inlined, so that the code of runs without a sink stays small.
    #[inline(never)]
    pub fn push(&mut self, time: Time, event: Event) {
        let kept = self.kept.get_or_insert_default();
        let short = match event {
            Event::Queue { packets, bytes } => Short::Queue { packets, bytes },
            Event::Delivered { length } => Short::Delivered { length },
            Event::DatagramSent { number, length } => Short::DatagramSent { number, length },
            Event::DatagramReceived { number, length } => Short::DatagramReceived { number, length },
            other => {
                kept.others.push(other);
                Short::Other
            }
        };
        kept.records.push((time, short));
    }
    /// Adds [`Event::Queue`], as [`Log::push`] does.
    pub fn push_queue(&mut self, time: Time, packets: u32, bytes: u64) {
        self.push_short(time, Short::Queue { packets, bytes });
    }
    /// Adds [`Event::Delivered`], as [`Log::push`] does.
    pub fn push_delivered(&mut self, time: Time, length: u32) {
        self.push_short(time, Short::Delivered { length });
    }
    /// Adds [`Event::DatagramSent`], as [`Log::push`] does.
    pub fn push_datagram_sent(&mut self, time: Time, number: u64, length: u32) {
        self.push_short(time, Short::DatagramSent { number, length });
    }
    #[inline(never)]
    fn push_short(&mut self, time: Time, short: Short) {
        self.kept.get_or_insert_default().records.push((time, short));
    }
    /// Adds an event if it is of interest.
    pub fn push_if_covered(&mut self, time: Time, event: Event) {
        if self.interest.covers(&event) {
            self.push(time, event);
        }
    }
    /// Whether the log is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.kept.as_ref().is_none_or(|kept| kept.records.is_empty())
    }
    /// Whether a host that reads the log after each step may not leave it for later: there is more in it than sent or received
    /// datagrams, whose order among the records of others nobody sees, or too many of these.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.kept.as_ref().is_some_and(|kept| !kept.others.is_empty() || kept.records.len() >= BATCH)
    }
    /// The number of records.
    #[inline]
    pub fn len(&self) -> usize {
        self.kept.as_ref().map_or(0, |kept| kept.records.len())
    }
    /// A packet to fill in for an event: that of an earlier event, for the sake of its memory, or a new one.
    pub fn packet(&mut self) -> Box<Packet> {
        self.kept.as_mut().and_then(|kept| kept.spare.pop()).unwrap_or_default()
    }
    /// Passes all records on, in order and some at a time, and removes them. The log keeps its memory and that of a few
    /// packets.
    ///
    /// # Errors
    /// The first error of `take`. The remaining records are lost.
    pub fn pass_on<E>(&mut self, mut take: impl FnMut(&[Record]) -> Result<(), E>) -> Result<(), E> {
        let mut result = Ok(());
        let Some(kept) = &mut self.kept else { return result };
        let Kept { records, others, passing, spare } = &mut **kept;
        let mut others = others.drain(..);
        for batch in records.chunks(BATCH) {
            restore(batch, &mut others, passing);
            if result.is_ok() {
                result = take(passing);
            }
            if self.interest.packets {
                passing.drain(..).for_each(|record| reclaim(record.event, spare));
            } else {
                passing.clear();
            }
        }
        records.clear();
        result
    }
    /// Passes all records on, in order and where they are, and removes them. The log keeps its memory and that of a few
    /// packets.
    pub fn read(&mut self, mut take: impl FnMut(Time, Logged<'_>)) {
        let Some(kept) = &mut self.kept else { return };
        let Kept { records, others: events, spare, .. } = &mut **kept;
        let mut others = events.iter();
        for (time, short) in &*records {
            let logged = match *short {
                Short::Queue { packets, bytes } => Logged::Queue { packets, bytes },
                Short::Delivered { length } => Logged::Delivered(length),
                Short::DatagramSent { length, .. } => Logged::DatagramSent(length),
                Short::DatagramReceived { length, .. } => Logged::DatagramReceived(length),
                Short::Other => match others.next() {
                    Some(event) => Logged::Other(event),
                    None => break,
                },
            };
            take(*time, logged);
        }
        records.clear();
        if self.interest.packets {
            events.drain(..).for_each(|event| reclaim(event, spare));
        } else {
            events.clear();
        }
    }
    /// Removes and returns all records in order.
    pub fn drain(&mut self) -> std::vec::IntoIter<Record> {
        let mut records = Vec::new();
        if let Some(kept) = &mut self.kept {
            restore(&kept.records, &mut kept.others.drain(..), &mut records);
            kept.records.clear();
        }
        records.into_iter()
    }
}

/// Appends records as sinks read them. There is an event in `others` for each [`Short::Other`].
#[inline]
fn restore(from: &[(Time, Short)], others: &mut impl Iterator<Item = Event>, to: &mut Vec<Record>) {
    to.reserve(from.len());
    // A push in each arm, so that only the values of the event are written, not the size of the largest.
    for (time, short) in from {
        let time = *time;
        match *short {
            Short::Queue { packets, bytes } => {
                to.push(Record { time, event: Event::Queue { packets, bytes } });
            }
            Short::Delivered { length } => to.push(Record { time, event: Event::Delivered { length } }),
            Short::DatagramSent { number, length } => {
                to.push(Record { time, event: Event::DatagramSent { number, length } });
            }
            Short::DatagramReceived { number, length } => {
                to.push(Record { time, event: Event::DatagramReceived { number, length } });
            }
            Short::Other => to.extend(others.next().map(|event| Record { time, event })),
        }
    }
}

/// Takes the packet of an event that was passed on, for the sake of its memory.
#[expect(clippy::vec_box, reason = "events take and give the boxes")]
fn reclaim(event: Event, spare: &mut Vec<Box<Packet>>) {
    if let Event::PacketSent(packet) | Event::PacketReceived(packet) = event
        && spare.len() < SPARE_PACKETS
    {
        spare.push(packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Contents;

    #[test]
    fn losses_and_datagrams_belong_to_packets_and_to_metrics() {
        let packets = Interest { packets: true, ..Interest::NONE };
        let metrics = Interest { metrics: true, ..Interest::NONE };
        let lifecycle = Interest { lifecycle: true, ..Interest::NONE };
        let sent = Event::DatagramSent { number: 0, length: 1200 };
        let drop = Event::NetworkDrop { length: 1228, reason: "queue" };
        let received = Event::DatagramReceived { number: 0, length: 1200 };
        assert!(packets.covers(&received) && !metrics.covers(&received));
        for event in [sent, drop] {
            assert!(packets.covers(&event) && metrics.covers(&event) && !lifecycle.covers(&event));
            assert!(Interest::ALL.covers(&event) && !Interest::NONE.covers(&event));
        }
        let queue = Event::Queue { packets: 1, bytes: 1228 };
        assert!(metrics.covers(&queue) && !packets.covers(&queue));
        let opened = Event::StreamOpened { stream: 0, local: true };
        assert!(lifecycle.covers(&opened) && !metrics.covers(&opened));
    }

    #[test]
    fn packets_that_were_passed_on_are_filled_in_again() {
        let mut log = Log::new(Interest::ALL);
        let mut packet = log.packet();
        packet.set_frames(&[1; 100], 7, 3);
        packet.destination.extend_from_slice(&[9; 8]);
        log.push(Time::ZERO, Event::PacketSent(packet));
        let passed = log.pass_on(|records| if records.len() == 1 { Ok(()) } else { Err(records.len()) });
        assert_eq!(passed, Ok(()));
        assert!(log.is_empty());
        let mut packet = log.packet();
        packet.set_ids(&[1, 2], &[]);
        packet.set_frames(&[2], 0, 3);
        let contents = Contents::Frames { payload: vec![2], virtual_tail: 0, ack_delay_exponent: 3 };
        assert_eq!((&packet.contents, &packet.destination[..]), (&contents, &[1, 2][..]));
        let Contents::Frames { payload, .. } = packet.contents else { panic!("no frames") };
        assert!(payload.capacity() >= 100);
        assert!(log.packet().destination.is_empty());
    }

    /// Short events, others, and more than a batch of them, by both ways out.
    #[test]
    fn records_come_out_as_they_went_in() {
        let events = |at: u32| {
            let number = u64::from(at);
            [
                Event::Queue { packets: at, bytes: number << 40 },
                Event::Metrics(crate::Metrics { cwnd: number, ..crate::Metrics::default() }),
                Event::Delivered { length: at },
                Event::DatagramSent { number: number << 33, length: at },
                Event::ConnectionState { state: "closing" },
                Event::DatagramReceived { number: number << 34, length: at },
            ]
        };
        let all: Vec<Record> = (0..50)
            .flat_map(|at| events(at).map(|event| Record { time: Time::from_nanos(u64::from(at)), event }))
            .collect();
        let mut log = Log::new(Interest::ALL);
        let fill = |log: &mut Log| all.iter().for_each(|record| log.push(record.time, record.event.clone()));
        fill(&mut log);
        let mut passed = Vec::new();
        log.pass_on(|records| {
            passed.extend_from_slice(records);
            Ok::<(), ()>(())
        })
        .unwrap();
        assert_eq!(passed, all);
        assert!(log.is_empty());
        fill(&mut log);
        let mut read = Vec::new();
        log.read(|time, logged| {
            let short = |event: &Event| match (logged, event) {
                (Logged::Queue { packets, bytes }, Event::Queue { packets: p, bytes: b }) => {
                    (packets, bytes) == (*p, *b)
                }
                (Logged::Delivered(length), Event::Delivered { length: l })
                | (Logged::DatagramSent(length), Event::DatagramSent { length: l, .. })
                | (Logged::DatagramReceived(length), Event::DatagramReceived { length: l, .. }) => {
                    length == *l
                }
                (Logged::Other(other), event) => other == event,
                _ => false,
            };
            let expected = &all[read.len()];
            read.push(time == expected.time && short(&expected.event));
        });
        assert_eq!(read, vec![true; all.len()]);
        assert!(log.is_empty());
        for record in &all {
            match record.event {
                Event::Queue { packets, bytes } => log.push_queue(record.time, packets, bytes),
                Event::Delivered { length } => log.push_delivered(record.time, length),
                Event::DatagramSent { number, length } => log.push_datagram_sent(record.time, number, length),
                _ => log.push(record.time, record.event.clone()),
            }
        }
        assert_eq!(log.drain().collect::<Vec<_>>(), all);
        // After an error nothing is passed on, and nothing is left.
        fill(&mut log);
        let mut calls = 0;
        let failed = log.pass_on(|_| {
            calls += 1;
            Err(calls)
        });
        assert_eq!((failed, log.is_empty(), log.drain().count()), (Err(1), true, 0));
    }
}
