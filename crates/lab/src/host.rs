//! A host: the only place where an endpoint meets the network.

use crate::cross_traffic::CrossSender;
use crate::end::End;
use crate::shared::Shared;
use network::{Element, Exits, Packet};
use std::collections::BTreeSet;
use std::rc::Rc;
use units::{Duration, Time};

/// The port of the first flow's server; the n-th flow has the n-th port after it.
pub(crate) const SERVER_PORT: u16 = 4433;
/// The port of the first flow's client; the n-th flow has the n-th port after it. Behind the last flow's come the ports of
/// further TCP connections.
pub(crate) const CLIENT_PORT: u16 = 34_433;

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
        let mut ports: Vec<(u16, u32)> = (0..)
            .zip(&ends)
            .flat_map(|(index, end)| end.ports().all().map(move |port| (port, index)))
            .collect();
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
    fn accept(&mut self, now: Time, packet: Packet, exits: &mut Exits) {
        let Some(index) = self.end_of(packet.destination.port()) else { return exits.recycle(packet.bytes) };
        let end = &mut self.ends[index];
        if end.captured {
            end.capture(now, &packet, &self.shared);
        }
        end.receive(now, packet, &self.shared, exits);
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
            end.wake(now, &self.shared, exits);
            self.arm(index as usize, now);
        }
    }

    #[inline]
    fn wake_at(&self) -> Option<Time> {
        self.timers.first().map(|(at, _)| *at)
    }
}
