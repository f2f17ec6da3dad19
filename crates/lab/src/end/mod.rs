//! One end of a flow: an endpoint of either protocol, and the application on it.

mod ports;
mod quic;
mod tcp;

pub(crate) use ports::Ports;
pub(crate) use quic::QuicEnd;
pub(crate) use tcp::{TcpEnd, connection_name};

use crate::counters::Counters;
use crate::shared::Shared;
use ::quic::{MigrateError, Migration};
use network::{Exits, NodeId, Packet, Port, Protocol, port_address};
use std::net::SocketAddr;
use transport::{Application, Load, Part, Progress, Report, Tally};
use units::Time;
use wire::Side;

/// What became of one end of a flow.
#[derive(Debug, Clone)]
pub(crate) struct EndReport {
    pub flow: usize,
    pub side: Side,
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

/// The endpoint of one end.
#[expect(
    clippy::large_enum_variant,
    reason = "most ends are the large one, which is reached without a detour"
)]
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

    /// The ports at which it takes packets.
    pub(crate) fn ports(&self) -> Ports {
        match &self.stack {
            Stack::Tcp(end) if self.side == Side::Client => end.ports(),
            _ => Ports::one(self.local.port()),
        }
    }

    pub(crate) fn report(&mut self, now: Time) -> EndReport {
        let Report { progress, tally, load, parts } = self.application.report(now);
        let no_error = self.application.no_error();
        let (stats, window, close) = match &self.stack {
            Stack::Quic(end) => end.report(no_error),
            Stack::Tcp(end) => end.report(no_error),
        };
        EndReport {
            flow: self.flow,
            side: self.side,
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

    /// Asks the processor's cache for what the end needs at its turn, which comes soon; the end itself is there.
    #[inline]
    pub(crate) fn prefetch(&self) {
        if let Stack::Quic(end) = &self.stack {
            end.endpoint.prefetch();
        }
    }
    /// The same for what lies one step further, some time after that.
    #[inline]
    pub(crate) fn prefetch_parts(&self) {
        units::cache::ask_for(&*self.application);
        if let Stack::Quic(end) = &self.stack {
            end.endpoint.prefetch_parts();
        }
    }

    /// Takes a packet, and lets everybody do what there is to do.
    #[inline]
    pub(crate) fn receive(&mut self, now: Time, packet: Packet, shared: &Shared<'_>, exits: &mut Exits) {
        match &mut self.stack {
            Stack::Quic(end) => end.receive(now, packet, exits),
            Stack::Tcp(end) => end.receive(now, (packet, self.side), exits),
        }
        self.drain(now, shared, exits);
    }

    /// Sends from the address of a port from now on; nothing happens unless it has an open QUIC connection.
    pub(crate) fn migrate(
        &mut self,
        now: Time,
        node: NodeId,
        (port, how): (Port, Migration),
        (shared, exits): (&Shared<'_>, &mut Exits),
    ) -> Result<(), MigrateError> {
        let Stack::Quic(end) = &mut self.stack else { return Ok(()) };
        let Some(connection) = end.connection() else { return Ok(()) };
        let address = port_address(node, port, self.local.is_ipv6());
        let local = SocketAddr::new(address.unwrap_or(self.local.ip()), self.local.port());
        match connection.migrate(now, local, how) {
            Err(MigrateError::Closed) => return Ok(()),
            result => result?,
        }
        self.moved = true;
        self.drain(now, shared, exits);
        Ok(())
    }

    /// Does what is due.
    pub(crate) fn wake(&mut self, now: Time, shared: &Shared<'_>, exits: &mut Exits) {
        let stop = self.stop.is_some_and(|at| at <= now);
        if stop {
            self.stop = None;
        }
        let application = &mut *self.application;
        match &mut self.stack {
            Stack::Quic(end) => end.wake(now, (stop, self.flow), application, shared),
            Stack::Tcp(end) => end.wake(now, (stop, self.flow), application, shared),
        }
        self.drain(now, shared, exits);
    }

    /// Lets application and endpoint do all that they have to do now.
    #[inline]
    fn drain(&mut self, now: Time, shared: &Shared<'_>, exits: &mut Exits) {
        match self.stack {
            Stack::Quic(_) => self.drain_quic(now, shared, exits),
            Stack::Tcp(_) => self.drain_tcp(now, shared, exits),
        }
    }

    /// The client's connection is over.
    fn ended(&mut self, shared: &Shared<'_>) {
        if self.side == Side::Client && !self.done {
            self.done = true;
            shared.unfinished.set(shared.unfinished.get() - 1);
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
