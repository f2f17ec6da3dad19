//! One end of a flow: an endpoint of either protocol, and the application on it.

mod ports;
mod quic;
mod tcp;

pub(crate) use ports::Ports;
pub(crate) use quic::{QuicEnd, QuicPort, Stage};
pub(crate) use tcp::{TcpEnd, connection_name};

use crate::counters::Counters;
use crate::shared::Shared;
use ::quic::{MigrateError, Migration};
use network::{Exits, NodeId, Packet, Port, Protocol};
use std::net::SocketAddr;
use transport::{Application, Load, Part, Progress, Report, Tally};
use units::{Duration, Time, Timers};
use wire::Side;

/// What became of one end of a flow.
#[derive(Debug, Clone)]
pub(crate) struct EndReport {
    pub flow: usize,
    pub side: Side,
    /// At a client: when its connection was opened, if it was.
    pub opened_at: Option<Time>,
    pub progress: Progress,
    pub tally: Option<Tally>,
    pub parts: Vec<Part>,
    pub stats: Counters,
    pub window: u64,
    pub close: Option<(String, bool)>,
    /// The objects that its application has loaded, if it loads any.
    pub load: Option<Load>,
    /// The subject of its records.
    pub subject: u32,
}

/// What a connection has counted, its window, and why it ended, if it did, with whether that was clean.
pub(crate) type Snapshot = (Counters, u64, Option<(String, bool)>);

/// What carries one end.
pub(crate) enum Stack {
    Quic(QuicEnd),
    Tcp(Box<TcpEnd>),
}

/// A side as records know it.
pub(crate) fn traced(side: Side) -> trace::Side {
    match side {
        Side::Client => trace::Side::Client,
        Side::Server => trace::Side::Server,
    }
}

/// One end of a flow: an endpoint with its connection, or those of TCP, and the application on it.
pub(crate) struct End {
    pub flow: usize,
    pub side: Side,
    pub local: SocketAddr,
    pub stack: Stack,
    pub application: Box<dyn Application>,
    /// At a client: when it opens the connection, if that is known.
    pub opens_at: Option<Time>,
    /// At a client: when it closes the connection at the latest.
    pub stop: Option<Time>,
    /// The subject of its records.
    pub subject: u32,
    /// Whether its packets are captured.
    pub captured: bool,
    pub armed: Option<Time>,
    pub done: bool,
    /// Whether it sends, or has sent, from the address of a port.
    pub moved: bool,
}

impl End {
    #[inline]
    pub(crate) fn wake_at(&self) -> Option<Time> {
        let time = |at: Option<Time>| at.unwrap_or(Time::NEVER);
        let stack = match &self.stack {
            Stack::Quic(end) => end.wake_at(),
            Stack::Tcp(end) => end.wake_at(),
        };
        let at = stack.min(time(self.stop)).min(time(self.application.wake_at()));
        (at != Time::NEVER).then_some(at)
    }

    /// Sets its timer, which has this number: to a later time than this one, so that the clock always goes on.
    #[inline]
    pub(crate) fn arm(&mut self, now: Time, number: usize, timers: &mut Timers) {
        let at = self.wake_at().map(|at| at.max(now + Duration::from_nanos(1)));
        if at != self.armed {
            timers.set(number, at);
            self.armed = at;
        }
    }

    /// The ports at which it takes packets.
    pub(crate) fn ports(&self) -> Ports {
        match &self.stack {
            Stack::Tcp(end) if self.side == Side::Client => end.ports(),
            _ => Ports::one(self.local.port()),
        }
    }

    #[inline]
    pub(crate) fn quic(&self) -> Option<&QuicEnd> {
        match &self.stack {
            Stack::Quic(end) => Some(end),
            Stack::Tcp(_) => None,
        }
    }
    #[inline]
    fn quic_mut(&mut self) -> Option<&mut QuicEnd> {
        match &mut self.stack {
            Stack::Quic(end) => Some(end),
            Stack::Tcp(_) => None,
        }
    }

    pub(crate) fn report(&mut self, now: Time, endpoints: &[QuicPort]) -> EndReport {
        let Report { progress, tally, load, parts } = self.application.report(now);
        let no_error = self.application.no_error();
        let (stats, window, close) = match &self.stack {
            Stack::Quic(end) => end.report(endpoints, no_error),
            Stack::Tcp(end) => end.report(no_error),
        };
        EndReport {
            flow: self.flow,
            side: self.side,
            opened_at: self.opens_at,
            progress,
            tally,
            parts,
            stats,
            window,
            close,
            load,
            subject: self.subject,
        }
    }

    /// Opens its connection at this time.
    pub(crate) fn open(&mut self, at: Time) {
        self.opens_at = Some(at);
        match &mut self.stack {
            Stack::Quic(end) => end.open(at),
            Stack::Tcp(end) => end.open(at),
        }
    }

    /// Sends from the address of a port from now on; nothing happens unless it has an open QUIC connection.
    pub(crate) fn migrate(
        &mut self,
        now: Time,
        endpoints: &mut [QuicPort],
        to: (NodeId, Port),
        how: Migration,
    ) -> Result<(), MigrateError> {
        let Stack::Quic(end) = &self.stack else { return Ok(()) };
        self.moved |= end.migrate(now, &mut endpoints[end.endpoint].endpoint, to, how)?;
        Ok(())
    }

    /// Takes a TCP segment, and lets everybody do what there is to do.
    pub(crate) fn receive_tcp(&mut self, now: Time, packet: Packet, shared: &Shared<'_>, exits: &mut Exits) {
        if let Stack::Tcp(end) = &mut self.stack {
            end.receive(now, (packet, self.side), exits);
        }
        self.drain_tcp(now, shared, exits);
    }

    /// Does what is due; what follows from it at an endpoint of QUIC is still to be done. `index`: the end's place.
    pub(crate) fn wake(&mut self, now: Time, index: usize, endpoints: &mut [QuicPort], shared: &Shared<'_>) {
        let stop = self.stop.is_some_and(|at| at <= now);
        if stop {
            self.stop = None;
        }
        let application = &mut *self.application;
        match &mut self.stack {
            Stack::Quic(end) => {
                let port = &mut endpoints[end.endpoint];
                end.wake(now, (stop, self.flow), (port, index), application, shared);
            }
            Stack::Tcp(end) => end.wake(now, (stop, self.flow), application, shared),
        }
    }

    /// The client's connection is over.
    fn ended(&mut self, shared: &Shared<'_>) {
        if self.side == Side::Client && !self.done {
            self.done = true;
            shared.unfinished.set(shared.unfinished.get() - 1);
            shared.order.borrow_mut().on_end(self.flow);
        }
    }

    pub(crate) fn capture(&self, now: Time, packet: &Packet, shared: &Shared<'_>) {
        let Some(capture) = &shared.capture else { return };
        let mut whole = packet.clone();
        whole.write_out();
        let (ends, ecn) = ((whole.source, whole.destination), whole.ecn.bits());
        if let Some(capture) = &mut *capture.borrow_mut() {
            shared.note_capture(match (whole.protocol(), whole.damage()) {
                (Protocol::Tcp, damage) => capture.segment(now, ends, ecn, &whole.bytes, damage),
                (Protocol::Udp, None) => capture.packet(now, ends.0, ends.1, ecn, &whole.bytes),
                (Protocol::Udp, Some(damage)) => capture.altered_packet(now, ends, ecn, &whole.bytes, damage),
            });
        }
    }
}
