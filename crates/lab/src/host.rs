//! A host: the only place where an endpoint meets the network.

use crate::cross_traffic::CrossSender;
use crate::end::{End, EndReport};
use crate::shared::Shared;
use network::{Exits, Node, NodeId, Packet, Port};
use quic::{MigrateError, Migration};
use std::rc::Rc;
use units::cache::ask_for;
use units::{Duration, Time, Timers};
use wire::Side;

/// The port of the first flow's server; the n-th flow has the n-th port after it.
pub(crate) const SERVER_PORT: u16 = 4433;
/// The port of the first flow's client; the n-th flow has the n-th port after it. Behind the last flow's come the ports of
/// further TCP connections.
pub(crate) const CLIENT_PORT: u16 = 34_433;

/// With so many ends and more, what an end needs is asked for before its turn: they do not stay in the processor's cache.
const MANY: usize = 16;
/// A timer that goes off within this time is one of the next things that happen.
const SOON: Duration = Duration::from_micros(20);
/// So many packets ahead: one for the end, one for the connection in it, one for what that leads to.
const FORESIGHT: usize = 3;

/// A node with endpoints, or with senders of cross traffic.
pub(crate) struct Host<'a> {
    node: NodeId,
    ends: Vec<End>,
    crossing: Vec<CrossSender>,
    /// From port to end.
    ports: Vec<(u16, u32)>,
    /// Of the ends by their number, of the senders of cross traffic behind them.
    timers: Timers,
    shared: Rc<Shared<'a>>,
}

impl<'a> Host<'a> {
    pub(crate) fn new(
        node: NodeId,
        mut ends: Vec<End>,
        crossing: Vec<CrossSender>,
        shared: Rc<Shared<'a>>,
    ) -> Host<'a> {
        let mut ports: Vec<(u16, u32)> = (0..)
            .zip(&ends)
            .flat_map(|(index, end)| end.ports().all().map(move |port| (port, index)))
            .collect();
        ports.sort_unstable();
        let mut timers = Timers::new(ends.len() + crossing.len());
        for (i, end) in ends.iter_mut().enumerate() {
            end.armed = end.wake_at();
            timers.set(i, end.armed);
        }
        for (sender, number) in crossing.iter().zip(ends.len()..) {
            timers.set(number, sender.wake_at());
        }
        Host { node, ends, crossing, ports, timers, shared }
    }

    pub(crate) fn crossing(&self) -> &[CrossSender] {
        &self.crossing
    }

    /// The timer of a sender of cross traffic.
    fn wake_sender(&mut self, now: Time, number: usize, exits: &mut Exits) {
        if let Some(sender) = self.crossing.get_mut(number - self.ends.len()) {
            sender.wake(now, exits);
            self.timers.set(number, sender.wake_at());
        }
    }

    pub(crate) fn ends(&self) -> &[End] {
        &self.ends
    }

    /// What has become of its ends, of which the run is over at this time.
    pub(crate) fn reports(&mut self, now: Time) -> impl Iterator<Item = EndReport> {
        self.ends.iter_mut().map(move |end| end.report(now))
    }

    /// Has the client of a flow send from the address of a port; nothing happens unless its connection is open.
    pub(crate) fn migrate(
        &mut self,
        now: Time,
        flow: usize,
        to: (Port, Migration),
        exits: &mut Exits,
    ) -> Result<(), MigrateError> {
        let is_client = |end: &End| end.flow == flow && end.side == Side::Client;
        let Some(index) = self.ends.iter().position(is_client) else { return Ok(()) };
        let result = self.ends[index].migrate(now, self.node, to, (&self.shared, exits));
        self.arm(index, now);
        result
    }

    /// Sets the timer of an end: to a later time than this one, so that the clock always goes on.
    #[inline]
    fn arm(&mut self, index: usize, now: Time) {
        let end = &mut self.ends[index];
        let at = end.wake_at().map(|at| at.max(now + Duration::from_nanos(1)));
        if at != end.armed {
            self.timers.set(index, at);
            end.armed = at;
        }
    }

    #[inline]
    fn end_of(&self, port: u16) -> Option<usize> {
        match self.ports.as_slice() {
            [(only, index)] => (*only == port).then_some(*index as usize),
            ports => {
                // They mostly follow one another.
                let guess = usize::from(port.wrapping_sub(ports.first()?.0));
                if let Some((known, index)) = ports.get(guess)
                    && *known == port
                {
                    return Some(*index as usize);
                }
                let at = ports.binary_search_by_key(&port, |(known, _)| *known).ok()?;
                Some(ports[at].1 as usize)
            }
        }
    }
}

impl Host<'_> {
    /// Asks for what the ends need whose timers go off next.
    #[inline]
    fn foresee_timers(&self) {
        let (next, second) = self.timers.next_two();
        if let Some(end) = next.and_then(|next| self.ends.get(next)) {
            end.prefetch();
        }
        second.and_then(|second| self.ends.get(second)).into_iter().for_each(ask_for);
    }
}

impl Node for Host<'_> {
    #[inline]
    fn accept(&mut self, now: Time, _: Port, packet: Packet, exits: &mut Exits) {
        let Some(index) = self.end_of(packet.destination.port()) else { return exits.recycle(packet.bytes) };
        let end = &mut self.ends[index];
        if end.captured {
            end.capture(now, &packet, &self.shared);
        }
        end.receive(now, packet, &self.shared, exits);
        self.arm(index, now);
        if self.ends.len() >= MANY
            && self.timers.at().is_some_and(|at| at < now + SOON)
            && let Some(end) = self.timers.next().and_then(|(_, next)| self.ends.get(next))
        {
            end.prefetch_parts();
        }
    }

    fn wake(&mut self, now: Time, exits: &mut Exits) {
        let many = self.ends.len() >= MANY;
        while self.timers.at().is_some_and(|at| at <= now) {
            let Some((_, index)) = self.timers.next() else { break };
            let Some(end) = self.ends.get_mut(index) else {
                self.wake_sender(now, index, exits);
                continue;
            };
            if many {
                end.prefetch_parts();
            }
            // Its timer stands until it is set again below, to a later time.
            end.wake(now, &self.shared, exits);
            self.arm(index, now);
        }
        if many {
            self.foresee_timers();
        }
    }

    fn foresight(&self) -> usize {
        if self.ends.len() >= MANY { FORESIGHT } else { 0 }
    }

    #[inline]
    fn foresee(&self, packet: &Packet, ahead: usize) {
        let Some(end) = self.end_of(packet.destination.port()).and_then(|index| self.ends.get(index)) else {
            return;
        };
        match ahead {
            0 => end.prefetch_parts(),
            1 => end.prefetch(),
            _ => ask_for(end),
        }
    }

    #[inline]
    fn wake_at(&self) -> Option<Time> {
        self.timers.at()
    }
}
