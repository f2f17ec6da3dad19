//! A host: the only place where an endpoint meets the network.

use crate::capture::Capture;
use crate::cross_traffic::CrossSender;
use crate::error::RunError;
use crate::recorder::Recorder;
use network::{Element, Exits, Packet};
use quic::{Config, Connection, Datagram, Endpoint, Handle, Opening, Stats};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use traffic::{Application, Progress, QuicTransport};
use units::{Duration, Time};
use wire::Side;

/// The port of the first flow's server; the n-th flow has the n-th port after it.
pub(crate) const SERVER_PORT: u16 = 4433;
/// The port of the first flow's client.
pub(crate) const CLIENT_PORT: u16 = 34_433;

/// A capture into a file.
pub(crate) type Captured = Capture<Box<dyn std::io::Write>>;

/// What the hosts of a run share.
pub(crate) struct Shared<'a> {
    pub recorder: RefCell<Recorder<'a>>,
    /// Where clients' packets are captured; taken out at the end.
    pub capture: Option<RefCell<Option<Captured>>>,
    /// Flows that are not finished.
    pub unfinished: Cell<usize>,
    /// Where the records and where the captured packets go, for errors.
    pub paths: [PathBuf; 2],
    /// The first error: the run is over.
    pub error: RefCell<Option<RunError>>,
}

impl Shared<'_> {
    /// Keeps an error of the sinks of records.
    pub(crate) fn note_records(&self, result: std::io::Result<()>) {
        self.note(result.map_err(|error| RunError::Output { path: self.paths[0].clone(), error }));
    }
    /// Keeps an error of the capture.
    pub(crate) fn note_capture(&self, result: std::io::Result<()>) {
        self.note(result.map_err(|error| RunError::Output { path: self.paths[1].clone(), error }));
    }
    fn note(&self, result: Result<(), RunError>) {
        if let Err(error) = result {
            self.error.borrow_mut().get_or_insert(error);
        }
    }
    /// Whether there is no use in going on.
    pub(crate) fn is_over(&self) -> bool {
        self.unfinished.get() == 0 || self.error.borrow().is_some()
    }
}

/// What became of one end of a flow.
#[derive(Debug, Clone)]
pub(crate) struct EndReport {
    pub flow: usize,
    pub side: Side,
    pub progress: Progress,
    pub stats: Stats,
    pub window: u64,
    pub close: Option<(String, bool)>,
}

/// What a connection has counted, its window, and why it ended, if it did, with whether that was clean.
pub(crate) type Snapshot = (Stats, u64, Option<(String, bool)>);

/// One end of a flow: an endpoint with one connection, and the application on it.
pub(crate) struct End {
    pub flow: usize,
    pub side: Side,
    pub local: SocketAddr,
    pub endpoint: Endpoint,
    pub application: Box<dyn Application>,
    /// At a client: where to, when, and how.
    pub opening: Option<(SocketAddr, Time, Arc<Config>)>,
    /// At a client: when it closes the connection at the latest.
    pub stop: Option<Time>,
    /// The subject of its records.
    pub subject: u32,
    /// Whether its packets are captured.
    pub captured: bool,
    pub handle: Option<Handle>,
    pub armed: Option<Time>,
    pub done: bool,
    /// What the connection had counted when it was last seen near its end.
    pub last: Option<Snapshot>,
}

impl End {
    /// The number by which the network knows its packets.
    pub(crate) fn number(flow: usize, side: Side) -> u32 {
        2 * flow as u32 + u32::from(side == Side::Server)
    }

    fn wake_at(&self) -> Option<Time> {
        let opening = self.opening.as_ref().map(|(_, at, _)| *at);
        let time = |at: Option<Time>| at.unwrap_or(Time::NEVER);
        let own = time(opening).min(time(self.stop));
        let at = own.min(time(self.endpoint.wake_at())).min(time(self.application.wake_at()));
        (at != Time::NEVER).then_some(at)
    }

    fn snapshot(connection: &Connection, application: &dyn Application) -> Snapshot {
        let clean = (true, application.no_error());
        let close = connection.close_reason().map(|reason| (reason.to_string(), reason.code() == clean));
        (connection.stats(), connection.flight().0, close)
    }

    pub(crate) fn report(&self) -> EndReport {
        let live = self.handle.and_then(|handle| self.endpoint.get(handle));
        let live = live.map(|connection| End::snapshot(connection, &*self.application));
        let (stats, window, close) = live.or_else(|| self.last.clone()).unwrap_or_default();
        EndReport {
            flow: self.flow,
            side: self.side,
            progress: self.application.progress(),
            stats,
            window,
            close,
        }
    }

    /// Lets application and endpoint do all that they have to do now.
    fn drain(&mut self, now: Time, shared: &Shared<'_>, exits: &mut Exits) {
        loop {
            if let Some(handle) = self.endpoint.next_active() {
                self.handle = Some(handle);
                self.attend(now, handle, shared);
            }
            let mut bytes = exits.buffer();
            // By reference: to move what was just written costs more than to read it where it is.
            let made = self.endpoint.transmit(now, &mut bytes);
            let Some(transmit) = &made else {
                exits.recycle(bytes);
                return;
            };
            let packet = exits.send_new(transmit.local, transmit.remote, bytes, transmit.hole);
            packet.ecn = transmit.ecn;
            packet.flow = End::number(self.flow, self.side);
            packet.data = transmit.carries_data;
            if self.captured {
                self.capture(now, packet, shared);
            }
        }
    }

    /// Brings a connection's events to the application and its records to the sinks.
    #[inline]
    fn attend(&mut self, now: Time, handle: Handle, shared: &Shared<'_>) {
        let Some(connection) = self.endpoint.get_mut(handle) else { return };
        while let Some(event) = connection.poll_event() {
            self.application.on_event(now, &event, &mut QuicTransport { connection, now });
            if self.side == Side::Client && event == quic::Event::Ended && !self.done {
                self.done = true;
                shared.unfinished.set(shared.unfinished.get() - 1);
            }
        }
        if !connection.log().is_empty() {
            let mut recorder = shared.recorder.borrow_mut();
            shared.note_records(recorder.take(self.subject, connection.log()));
        }
        if let Some(capture) = &shared.capture {
            for secret in connection
                .take_secrets()
                .iter()
                .filter(|secret| crate::capture::is_first_at(self.side, secret))
            {
                if let Some(capture) = &mut *capture.borrow_mut() {
                    shared.note_capture(capture.secrets(&secret.to_string()));
                }
            }
        }
        if connection.is_over() {
            self.last = Some(End::snapshot(connection, &*self.application));
        }
    }

    fn capture(&self, now: Time, packet: &Packet, shared: &Shared<'_>) {
        let Some(capture) = &shared.capture else { return };
        let mut whole = packet.clone();
        whole.write_out();
        let ecn = whole.ecn.bits();
        if let Some(capture) = &mut *capture.borrow_mut() {
            shared.note_capture(match whole.damage() {
                None => capture.packet(now, whole.source, whole.destination, ecn, &whole.bytes),
                Some(damage) => {
                    capture.altered_packet(now, (whole.source, whole.destination), ecn, &whole.bytes, damage)
                }
            });
        }
    }
}

/// A node with endpoints, or with senders of cross traffic.
pub(crate) struct Host<'a> {
    ends: Vec<End>,
    crossing: Vec<CrossSender>,
    /// From port to end.
    ports: Vec<(u16, u32)>,
    timers: BTreeSet<(Time, u32)>,
    shared: Rc<Shared<'a>>,
}

impl<'a> Host<'a> {
    pub(crate) fn new(mut ends: Vec<End>, crossing: Vec<CrossSender>, shared: Rc<Shared<'a>>) -> Host<'a> {
        let mut ports: Vec<(u16, u32)> =
            ends.iter().enumerate().map(|(i, end)| (end.local.port(), i as u32)).collect();
        ports.sort_unstable();
        let mut timers = BTreeSet::new();
        for (i, end) in ends.iter_mut().enumerate() {
            end.armed = end.wake_at();
            timers.extend(end.armed.map(|at| (at, i as u32)));
        }
        // Their timers have the numbers after those of the ends.
        let senders = crossing.iter().zip(ends.len() as u32..);
        timers.extend(senders.filter_map(|(sender, index)| Some((sender.wake_at()?, index))));
        Host { ends, crossing, ports, timers, shared }
    }

    pub(crate) fn crossing(&self) -> &[CrossSender] {
        &self.crossing
    }

    /// The timer of a sender of cross traffic.
    fn wake_sender(&mut self, now: Time, number: u32, exits: &mut Exits) {
        if let Some(sender) = self.crossing.get_mut(number as usize - self.ends.len()) {
            sender.wake(now, exits);
            self.timers.extend(sender.wake_at().map(|at| (at, number)));
        }
    }

    pub(crate) fn ends(&self) -> &[End] {
        &self.ends
    }

    /// Sets the timer of an end: to a later time than this one, so that the clock always goes on.
    #[inline]
    fn arm(&mut self, index: usize, now: Time) {
        let end = &mut self.ends[index];
        let at = end.wake_at().map(|at| at.max(now + Duration::from_nanos(1)));
        if at != end.armed {
            if let Some(old) = end.armed {
                self.timers.remove(&(old, index as u32));
            }
            self.timers.extend(at.map(|at| (at, index as u32)));
            end.armed = at;
        }
    }

    #[inline]
    fn end_of(&self, port: u16) -> Option<usize> {
        match self.ports.as_slice() {
            [(only, index)] => (*only == port).then_some(*index as usize),
            ports => {
                let at = ports.binary_search_by_key(&port, |(known, _)| *known).ok()?;
                Some(ports[at].1 as usize)
            }
        }
    }
}

impl Element for Host<'_> {
    #[inline]
    fn accept(&mut self, now: Time, mut packet: Packet, exits: &mut Exits) {
        let Some(index) = self.end_of(packet.destination.port()) else { return exits.recycle(packet.bytes) };
        let end = &mut self.ends[index];
        if end.captured {
            end.capture(now, &packet, &self.shared);
        }
        let (hole, damage) = (packet.hole(), packet.damage());
        let datagram = Datagram {
            local: packet.destination,
            remote: packet.source,
            ecn: packet.ecn,
            bytes: &mut packet.bytes,
            hole,
            damage,
        };
        end.endpoint.receive(now, datagram);
        exits.recycle(packet.bytes);
        end.drain(now, &self.shared, exits);
        self.arm(index, now);
    }

    fn wake(&mut self, now: Time, exits: &mut Exits) {
        while let Some(&(at, index)) = self.timers.first() {
            if at > now {
                break;
            }
            self.timers.pop_first();
            let Some(end) = self.ends.get_mut(index as usize) else {
                self.wake_sender(now, index, exits);
                continue;
            };
            end.armed = None;
            if end.opening.as_ref().is_some_and(|(_, at, _)| *at <= now)
                && let Some((remote, _, config)) = end.opening.take()
            {
                match end.endpoint.connect(now, Opening::new(remote, config)) {
                    Ok(handle) => end.handle = Some(handle),
                    Err(error) => {
                        let (place, problem) = (format!("flow {}", end.flow), error.to_string());
                        self.shared.note(Err(RunError::Component { place, problem }));
                    }
                }
            }
            end.endpoint.wake(now);
            if end.stop.is_some_and(|at| at <= now) {
                end.stop = None;
                if let Some(connection) = end.handle.and_then(|handle| end.endpoint.get_mut(handle)) {
                    connection.close(now, end.application.no_error(), "stopped");
                }
            }
            if end.application.wake_at().is_some_and(|at| at <= now)
                && let Some(connection) = end.handle.and_then(|handle| end.endpoint.get_mut(handle))
            {
                end.application.on_wake(now, &mut QuicTransport { connection, now });
            }
            end.drain(now, &self.shared, exits);
            self.arm(index as usize, now);
        }
    }

    #[inline]
    fn wake_at(&self) -> Option<Time> {
        self.timers.first().map(|(at, _)| *at)
    }
}
