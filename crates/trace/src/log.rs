//! The list of events that an endpoint or an element keeps until its host drains it.

use crate::Event;
use units::Time;

/// What somebody listens to. Events outside of the interest are not even built.
///
/// [`Interest::covers`] is the table of which event belongs where. Two kinds of event are wanted by packets and by
/// metrics alike; who writes them asks [`Interest::datagrams`] and [`Interest::losses`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Interest {
    /// Single packets with their frames: sent, received, dropped, lost (qlog, the packets table); and when the data in them
    /// was written.
    pub packets: bool,
    /// Gauges of recovery and queues at every change (the series tables, the figure).
    pub metrics: bool,
    /// What happens a few times per connection: start, keys, states, parameters, streams, close (qlog, the events table);
    /// and messages of applications.
    pub lifecycle: bool,
}

impl Interest {
    /// Nobody listens.
    pub const NONE: Interest = Interest { packets: false, metrics: false, lifecycle: false };
    /// Everything.
    pub const ALL: Interest = Interest { packets: true, metrics: true, lifecycle: true };

    /// What either of the two wants.
    pub const fn or(self, other: Interest) -> Interest {
        Interest {
            packets: self.packets || other.packets,
            metrics: self.metrics || other.metrics,
            lifecycle: self.lifecycle || other.lifecycle,
        }
    }
    /// Whether [`Event::DatagramSent`], [`Event::DatagramReceived`] and [`Event::Delivered`] are wanted: they are cheap,
    /// and the rates come from them.
    pub const fn datagrams(self) -> bool {
        self.packets || self.metrics
    }
    /// Whether [`Event::PacketLost`] and [`Event::NetworkDrop`] are wanted: the loss and drop tables come from them.
    pub const fn losses(self) -> bool {
        self.packets || self.metrics
    }
    /// Whether an event is wanted.
    pub const fn covers(self, event: &Event) -> bool {
        match event {
            Event::PacketSent(_)
            | Event::PacketReceived(_)
            | Event::PacketDropped { .. }
            | Event::StreamWritten { .. } => self.packets,
            Event::PacketLost { .. } | Event::NetworkDrop { .. } => self.losses(),
            Event::DatagramSent { .. }
            | Event::DatagramReceived { .. }
            | Event::Delivered { .. }
            | Event::Capacity { .. } => self.datagrams(),
            Event::Metrics(_) | Event::Gauge { .. } | Event::Queue { .. } => self.metrics,
            // A change of state explains a series and is rare enough for everybody.
            Event::CongestionState { .. } => self.metrics || self.lifecycle,
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
            | Event::ObjectLoaded(_)
            | Event::StreamOpened { .. }
            | Event::StreamClosed { .. }
            | Event::MessageWritten(_)
            | Event::MessageDelivered(_) => self.lifecycle,
        }
    }
}

/// One event and when it happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// When.
    pub time: Time,
    /// What.
    pub event: Event,
}

/// Events that wait for the host.
#[derive(Debug, Clone, Default)]
pub struct Log {
    interest: Interest,
    records: Vec<Record>,
}

impl Log {
    /// A log that keeps what `interest` names.
    pub fn new(interest: Interest) -> Log {
        Log { interest, records: Vec::new() }
    }
    /// What is listened to: ask before building an event.
    #[inline]
    pub fn interest(&self) -> Interest {
        self.interest
    }
    /// Adds an event. The caller has asked [`Log::interest`].
    pub fn push(&mut self, time: Time, event: Event) {
        self.records.push(Record { time, event });
    }
    /// Adds an event if anybody listens to its kind.
    pub fn tell(&mut self, time: Time, event: Event) {
        if self.interest.covers(&event) {
            self.push(time, event);
        }
    }
    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }
    /// Takes all that waits, in order. The log keeps its memory.
    pub fn drain(&mut self) -> std::vec::Drain<'_, Record> {
        self.records.drain(..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_and_datagrams_belong_to_packets_and_to_metrics() {
        let packets = Interest { packets: true, ..Interest::NONE };
        let metrics = Interest { metrics: true, ..Interest::NONE };
        let lifecycle = Interest { lifecycle: true, ..Interest::NONE };
        let sent = Event::DatagramSent { number: 0, length: 1200 };
        let drop = Event::NetworkDrop { length: 1228, reason: "queue" };
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
    fn a_drained_log_keeps_its_memory() {
        let mut log = Log::new(Interest::ALL);
        log.push(Time::ZERO, Event::Delivered { length: 1 });
        assert_eq!(log.drain().count(), 1);
        assert!(log.is_empty());
        assert!(log.records.capacity() > 0);
    }
}
