//! The ends of flows: connections of endpoints, with their applications.

mod stacked;

use stacked::Woken;
pub(crate) use stacked::{AddressedEnd, EndpointId, Endpoints, NO_FLOW, QuicEnd, StackPort, Stage};

use crate::shared::{Awaited, Shared};
use ::quic::{MigrateError, Migration};
use network::{Count, NodeId, Packet, Port};
use std::rc::Rc;
use tcp::Ports;
use transport::{
    Application, Counters, Load, Opening, Part, Playback, Progress, Report, Snapshot, StreamBooks, Tally,
};
use units::{Duration, Time, Timers};
use wire::Side;

/// The results of one end of a flow.
#[derive(Debug, Clone)]
pub(crate) struct EndReport {
    pub flow: usize,
    pub side: Side,
    /// The time at which a client opened its connection, if it did.
    pub opened_at: Option<Time>,
    pub progress: Progress,
    pub tally: Option<Tally>,
    pub parts: Vec<Part>,
    pub stats: Counters,
    pub window: u64,
    /// The books of the connection's streams, if its stack keeps any.
    pub streams: Option<StreamBooks>,
    pub close: Option<(String, bool)>,
    /// The objects that its application loaded, if it loads any.
    pub load: Option<Load>,
    /// The playback of a video, if its application plays one.
    pub playback: Option<Box<Playback>>,
    /// The subject of its records.
    pub subject: u32,
}

impl EndReport {
    /// Stops unless the counters of the connection agree with each other.
    pub(crate) fn check(&self) {
        let Counters { packets_sent, packets_declared_lost, data_packets_sent, .. } = self.stats;
        assert!(packets_declared_lost <= packets_sent, "only what was sent is declared lost");
        assert!(data_packets_sent <= packets_sent, "packets with data are some of all packets");
        let Progress { first_at, last_at, bytes, .. } = self.progress;
        assert!(first_at <= last_at, "the first byte comes before the last");
        assert_eq!(first_at.is_some(), bytes > 0, "an application that has read has a first byte");
    }
}

/// The connection of an end, by the kind of its endpoint.
pub(crate) enum EndConnection {
    Quic(QuicEnd),
    Tcp(AddressedEnd),
    /// A connection of a foreign stack.
    Foreign(AddressedEnd),
}

impl EndConnection {
    /// The place of its endpoint.
    #[inline]
    pub(crate) fn place(&self) -> EndpointId {
        match self {
            EndConnection::Quic(end) => EndpointId::Quic(end.endpoint),
            EndConnection::Tcp(end) => EndpointId::Tcp(end.endpoint),
            EndConnection::Foreign(end) => EndpointId::Foreign(end.endpoint),
        }
    }

    /// Cancels the opening of the connection. Returns `false` if the connection was opened already, or if this is a server.
    fn cancel(&mut self) -> bool {
        match self {
            EndConnection::Quic(end) => end.cancel(),
            EndConnection::Tcp(end) | EndConnection::Foreign(end) => end.cancel(),
        }
    }
}

/// Follows what a program has decided about its connections, one of which has been told something.
#[cold]
pub(crate) fn follow(
    now: Time,
    ends: &mut [End],
    family: &[usize],
    timers: &mut Timers,
    shared: &Shared<'_>,
) {
    for index in family {
        let end = &mut ends[*index];
        end.follow(shared);
        end.arm(now, *index, timers);
    }
}

/// The side as a value of records.
pub(crate) fn traced(side: Side) -> trace::Side {
    match side {
        Side::Client => trace::Side::Client,
        Side::Server => trace::Side::Server,
    }
}

/// One end of a flow: a connection of one of the host's endpoints, with its application.
pub(crate) struct End {
    pub flow: usize,
    pub side: Side,
    /// The ports at which its packets arrive.
    pub ports: Ports,
    pub stack: EndConnection,
    pub application: Box<dyn Application>,
    /// The time at which a client opens the connection, if it is known.
    pub opens_at: Option<Time>,
    /// The latest time at which a client closes the connection.
    pub stop: Option<Time>,
    /// The subject of its records.
    pub subject: u32,
    /// Whether its packets are captured.
    pub captured: bool,
    /// The time of its timer.
    pub armed: Option<Time>,
    /// Whether the connection of a client has ended.
    pub done: bool,
    /// Whether the flow waits for what the application of a server is to receive.
    pub receives: bool,
    /// Whether it has ever migrated to the address of a port.
    pub moved: bool,
    /// The numbers of the ends whose connections belong to the same program, if its own does.
    pub family: Option<Rc<[usize]>>,
    /// The packets that it has handed to the network.
    pub sent: Count,
}

impl End {
    #[inline]
    pub(crate) fn wake_at(&self) -> Option<Time> {
        let time = |at: Option<Time>| at.unwrap_or(Time::NEVER);
        let stack = match &self.stack {
            EndConnection::Quic(end) => end.wake_at(),
            EndConnection::Tcp(end) | EndConnection::Foreign(end) => end.wake_at(),
        };
        let at = stack.min(time(self.stop)).min(time(self.application.wake_at()));
        (at != Time::NEVER).then_some(at)
    }

    /// Sets its timer, which has this number, to a time after `now`, so that the clock always advances.
    #[inline(always)]
    pub(crate) fn arm(&mut self, now: Time, number: usize, timers: &mut Timers) {
        let at = self.wake_at().map(|at| at.max(now + Duration::from_nanos(1)));
        if at != self.armed {
            timers.set(number, at);
            self.armed = at;
        }
        debug_assert_eq!(timers.of(number), self.armed, "an end knows when its timer expires");
    }

    #[inline]
    pub(crate) fn quic(&self) -> Option<&QuicEnd> {
        match &self.stack {
            EndConnection::Quic(end) => Some(end),
            _ => None,
        }
    }
    pub(crate) fn report(&mut self, now: Time, endpoints: &Endpoints) -> EndReport {
        let Report { progress, tally, load, playback, parts } = self.application.report(now);
        let is_in_time = |at: Option<Time>| at.is_none_or(|at| at <= now);
        assert!(is_in_time(progress.first_at) && is_in_time(progress.last_at), "no byte comes after the end");
        assert!(is_in_time(progress.finished_at), "what is finished has finished before the end");
        let no_error = self.application.no_error();
        let Snapshot { counters, window, close, streams } = match &self.stack {
            EndConnection::Quic(end) => end.report(&endpoints.quic, no_error),
            EndConnection::Tcp(end) => end.report(&endpoints.tcp, no_error),
            EndConnection::Foreign(end) => end.report(&endpoints.foreign, no_error),
        };
        EndReport {
            flow: self.flow,
            side: self.side,
            opened_at: self.opens_at,
            progress,
            tally,
            parts,
            stats: counters,
            window,
            streams,
            close,
            load,
            playback,
            subject: self.subject,
        }
    }

    /// Schedules the opening of its connection, or what its application does before that.
    pub(crate) fn open(&mut self, at: Time) {
        self.opens_at = Some(at);
        let at = match self.application.opening() {
            Opening::After(span) => at + span,
            _ => at,
        };
        match &mut self.stack {
            EndConnection::Quic(end) => end.open(at),
            EndConnection::Tcp(end) | EndConnection::Foreign(end) => end.open(at),
        }
    }

    /// Opens the connection of a client when the program that it belongs to says so, or notes that it never will be.
    fn follow(&mut self, shared: &Shared<'_>) {
        if self.side == Side::Server || self.opens_at.is_some() || self.done {
            return;
        }
        match self.application.opening() {
            Opening::At(at) => self.open(at),
            Opening::Never => self.ended(shared),
            Opening::After(_) | Opening::Undecided => {}
        }
    }

    /// Migrates to the address of a port. Without an open QUIC connection nothing happens.
    pub(crate) fn migrate(
        &mut self,
        now: Time,
        endpoints: &mut Endpoints,
        node: NodeId,
        port: Port,
        how: Migration,
    ) -> Result<(), MigrateError> {
        let EndConnection::Quic(end) = &self.stack else {
            unreachable!("the reader refuses events that move other flows than those of our own QUIC")
        };
        self.moved |= end.migrate(now, &mut endpoints.quic[end.endpoint].endpoint, node, port, how)?;
        Ok(())
    }

    /// Opens or stops the connection and wakes the application if that is due. The caller must drain the endpoint afterwards.
    pub(crate) fn wake(&mut self, now: Time, index: usize, endpoints: &mut Endpoints, shared: &Shared<'_>) {
        let stop = self.stop.is_some_and(|at| at <= now);
        if stop {
            self.stop = None;
            if !self.done {
                shared.settle(self.flow, |awaited| awaited.arrival = false);
            }
            if self.stack.cancel() {
                self.ended(shared);
            }
        }
        let (application, woken) = (&mut *self.application, Woken { flow: self.flow, index, stop });
        match &mut self.stack {
            EndConnection::Quic(end) => {
                let port = &mut endpoints.quic[end.endpoint];
                end.wake(now, woken, port, application, shared);
            }
            EndConnection::Tcp(end) => {
                let port = &mut endpoints.tcp[end.endpoint];
                end.wake(now, woken, port, application, shared);
            }
            EndConnection::Foreign(end) => {
                let port = &mut endpoints.foreign[end.endpoint];
                end.wake(now, woken, port, application, shared);
            }
        }
    }

    /// Notes that the connection has ended. What a client could not send is not awaited.
    fn ended(&mut self, shared: &Shared<'_>) {
        if self.side == Side::Client && !self.done {
            self.done = true;
            let is_sent = self.application.progress().finished_at.is_some();
            shared.settle(self.flow, |awaited| {
                *awaited = Awaited { end: false, arrival: awaited.arrival && is_sent };
            });
            shared.order.borrow_mut().on_end(self.flow);
        }
    }

    /// Notes whether the application of a server has received everything, or will receive nothing more.
    #[cold]
    fn note_arrival(&mut self, has_ended: bool, shared: &Shared<'_>) {
        if has_ended || self.application.progress().finished_at.is_some() {
            self.receives = false;
            shared.settle(self.flow, |awaited| awaited.arrival = false);
        }
    }

    pub(crate) fn capture(&self, now: Time, packet: &Packet, shared: &Shared<'_>) {
        if let Some(tap) = &shared.capture {
            shared.note_capture(tap.packet(now, packet));
        }
    }
}
