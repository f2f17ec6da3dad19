//! Packets forged as by an attacker or a faulty peer; with null protection they can be opened.

use super::{DatagramInFlight, Pair};
use trace::PacketKind;
use wire::header::{LongHeader, ShortHeader};
use wire::{Ecn, Frame, Truncated, Version};

const TAG: usize = 16;
/// The first number of a forged packet, beyond the numbers of real packets.
pub(crate) const FIRST_FORGED: u64 = 1_000_000;

impl Pair {
    /// A packet with this payload and an unused number.
    pub(crate) fn forge(&mut self, to_server: bool, kind: PacketKind, payload: &[u8]) -> Vec<u8> {
        let number = FIRST_FORGED + self.forged;
        self.forged += 1;
        let (destination, source) = self.ids[usize::from(to_server)];
        let number = Truncated::with_length(number, 4);
        let mut bytes = Vec::new();
        if kind == PacketKind::OneRtt {
            ShortHeader { destination, spin: false, key_phase: false, number }.write(&mut bytes);
            bytes.extend_from_slice(payload);
            bytes.resize(bytes.len() + TAG, 0);
        } else {
            let header = LongHeader { kind, version: Version::V1, destination, source, token: &[], number };
            let written = header.write(&mut bytes);
            bytes.extend_from_slice(payload);
            bytes.resize(bytes.len() + TAG, 0);
            written.set_length(&mut bytes, payload.len() + TAG);
        }
        bytes
    }

    /// Delivers a datagram now.
    pub(crate) fn arrive(&mut self, to_server: bool, bytes: Vec<u8>) {
        let (from, to) = super::ends(to_server);
        self.deliver(
            to_server,
            DatagramInFlight { bytes, hole: None, damage: None, ecn: Ecn::NotEct, from, to },
        );
        self.drain();
    }

    /// Delivers a forged packet with this payload now.
    pub(crate) fn inject_raw(&mut self, to_server: bool, kind: PacketKind, payload: &[u8]) {
        let bytes = self.forge(to_server, kind, payload);
        self.arrive(to_server, bytes);
    }

    /// Delivers a forged packet with these frames now.
    pub(crate) fn inject(&mut self, to_server: bool, kind: PacketKind, frames: &[Frame<'_>]) {
        let mut payload = Vec::new();
        frames.iter().for_each(|frame| frame.encode(&mut payload));
        self.inject_raw(to_server, kind, &payload);
    }

    /// Delivers a forged 1-RTT packet with these frames now.
    pub(crate) fn inject_data(&mut self, to_server: bool, frames: &[Frame<'_>]) {
        self.inject(to_server, PacketKind::OneRtt, frames);
    }
}
