//! Packets in the order of arrival: the basis of most queues.

use super::{Bound, Full, Report};
use crate::count::Count;
use crate::packet::Packet;
use std::collections::VecDeque;
use units::{Duration, Time};

/// The length up to which the bytes of a queue are counted in each check; of longer ones only at multiples of it, since
/// the checks of a queue that grows would take the square of its length.
const COUNTED: u64 = 64;

/// Stops unless these are the sizes of the counted packets.
pub(super) fn check_count(counted: Count, sizes: impl ExactSizeIterator<Item = u32>) {
    assert_eq!(counted.packets, sizes.len() as u64, "each waiting packet is counted");
    if counted.packets <= COUNTED || counted.packets.is_multiple_of(COUNTED) {
        let bytes: u64 = sizes.map(u64::from).sum();
        assert_eq!(counted.bytes, bytes, "the waiting bytes are those of the waiting packets");
    }
}

/// Waiting packets, first in, first out, with their count. Their arrival times are in [`Packet::entered`].
#[derive(Debug, Default)]
pub(super) struct Fifo {
    packets: VecDeque<Box<Packet>>,
    waiting: Count,
}

impl Fifo {
    /// Appends a packet.
    #[inline]
    pub(super) fn push(&mut self, packet: Box<Packet>) {
        self.waiting.add(packet.size);
        self.packets.push_back(packet);
    }
    /// Appends a packet if it fits below the bound, and drops it otherwise. Returns whether it was appended.
    #[inline]
    pub(super) fn offer(&mut self, bound: Bound, packet: Box<Packet>, report: &mut Report) -> bool {
        let admitted = bound.admits(self.waiting, packet.size);
        match admitted {
            Ok(()) => self.push(packet),
            Err(full) => {
                report.overflow |= full == Full::Memory;
                report.drop(packet);
            }
        }
        admitted.is_ok()
    }
    /// Takes the oldest packet.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Box<Packet>> {
        let packet = self.packets.pop_front()?;
        self.waiting.remove(packet.size);
        Some(packet)
    }
    /// The waiting time of the oldest packet at `at`; zero if there is none.
    #[inline]
    pub(super) fn delay(&self, at: Time) -> Duration {
        self.packets.front().map_or(Duration::ZERO, |packet| at.since(packet.entered))
    }
    /// The oldest packet.
    #[inline]
    pub(super) fn head(&self) -> Option<&Packet> {
        self.packets.front().map(|packet| &**packet)
    }
    /// Whether no packet waits.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }
    /// The waiting packets.
    #[inline]
    pub(super) fn waiting(&self) -> Count {
        self.waiting
    }
    /// Shows every waiting packet.
    pub(super) fn each(&self, show: &mut dyn FnMut(&Packet)) {
        self.packets.iter().for_each(|packet| show(packet));
    }
    /// Stops unless the packets are those that are counted, in the order of their arrival.
    pub(super) fn check(&self) {
        check_count(self.waiting, self.packets.iter().map(|packet| packet.size));
        let [first, last] = [self.packets.front(), self.packets.back()];
        let order = first.map(|packet| packet.entered) <= last.map(|packet| packet.entered);
        assert!(order, "who has waited longest is first");
    }
}
