//! Drop-tail: first in, first out; what does not fit is dropped.

use super::{Drop, MAX_PACKETS, Queue, Setup, Thrown};
use crate::Packet;
use crate::link::resolve;
use std::collections::VecDeque;
use units::Time;
use units::parameter::{Default, Kind, Parameter, Row};

pub(crate) const ROW: Row<super::Build> = Row {
    name: "drop-tail",
    about: "first in, first out, up to a limit; what does not fit is dropped",
    parameters: &[Parameter {
        name: "limit",
        kind: Kind::Limit,
        default: Default::Is("\"1 BDP\""),
        about: "in packets, bytes, time or BDP; time and BDP count at the link's mean rate and its own round trip",
    }],
    build: |arguments, setup| Box::new(DropTail::new(arguments.limit("limit"), setup)),
};

/// A first-in first-out queue with a limit.
#[derive(Debug)]
pub struct DropTail {
    packets: VecDeque<Packet>,
    bytes: u64,
    max_packets: u64,
    max_bytes: u64,
}

impl DropTail {
    /// An empty queue. A limit in bytes admits a packet only if it fits as a whole.
    pub fn new(limit: units::parameter::Limit, setup: Setup) -> DropTail {
        let (max_packets, max_bytes) = resolve(limit, setup.rate, setup.round_trip);
        DropTail { packets: VecDeque::new(), bytes: 0, max_packets: max_packets.min(MAX_PACKETS), max_bytes }
    }
}

impl Queue for DropTail {
    #[inline]
    fn enqueue(&mut self, _now: Time, packet: Packet) -> Result<(), Drop> {
        let bytes = self.bytes + u64::from(packet.size);
        if bytes > self.max_bytes || self.packets.len() as u64 >= self.max_packets {
            return Err(Drop { packet });
        }
        self.bytes = bytes;
        self.packets.push_back(packet);
        Ok(())
    }
    #[inline]
    fn dequeue(&mut self, _now: Time, _thrown: &mut Vec<Thrown>) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.size);
        Some(packet)
    }
    #[inline]
    fn packets(&self) -> u64 {
        self.packets.len() as u64
    }
    #[inline]
    fn bytes(&self) -> u64 {
        self.bytes
    }
}
