//! The radio link of a terminal: which modulation and coding scheme it has, and which blocks fail.

use super::errors::BlockErrors;
use super::harq::Block;
use super::standard::Standard;
use radio::channel::Channel;
use random::Stream;
use units::Time;

/// The options of a terminal's radio link.
pub(super) struct RadioLink {
    pub standard: Standard,
    /// The scheme, if it does not follow the channel.
    pub fixed: Option<u8>,
    /// Slots from one measurement to the next, and from a measurement to its use.
    pub period: u64,
    pub processing: u64,
    pub channel: Channel,
    pub errors: BlockErrors,
    /// The streams of the two directions.
    pub streams: [Stream; 2],
    /// The number of the last measurement plus one, and the scheme that it gives.
    measured: (u64, Option<u8>),
}

impl RadioLink {
    pub(super) fn new(
        (standard, fixed): (Standard, Option<u8>),
        (period, processing): (u64, u64),
        channel: Channel,
        errors: BlockErrors,
        streams: [Stream; 2],
    ) -> RadioLink {
        RadioLink { standard, fixed, period, processing, channel, errors, streams, measured: (0, None) }
    }

    /// The scheme that the station uses in a slot: that of the last measurement that it knows.
    pub(super) fn scheme(&mut self, slot: u64) -> Option<u8> {
        if self.fixed.is_some() {
            return self.fixed;
        }
        let number = slot.saturating_sub(self.processing) / self.period + 1;
        if self.measured.0 != number {
            let at = Time::from_nanos((number - 1) * self.period * self.standard.slot().as_nanos());
            self.measured = (number, self.standard.scheme(self.channel.sinr_db(at)));
        }
        self.measured.1
    }

    /// The first slot from `slot` on in which the station may know of a scheme.
    pub(super) fn next_use(&self, slot: u64) -> u64 {
        if self.fixed.is_some() || self.measured.1.is_some() {
            return slot;
        }
        let next = self.measured.0 * self.period + self.processing;
        next.max(slot)
    }

    /// Whether an attempt to send a block at a time fails.
    pub(super) fn fails(&mut self, at: Time, uplink: bool, block: &mut Block) -> bool {
        let stream = &mut self.streams[usize::from(uplink)];
        self.errors.fails(at, self.standard, &mut self.channel, block, stream)
    }
}
