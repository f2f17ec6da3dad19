//! The radio link of a terminal: which modulation and coding scheme it has, and which blocks fail.

use super::errors::BlockErrors;
use super::harq::Block;
use super::standard::Standard;
use radio::channel::Sites;
use random::Generator;
use units::Time;

/// When a station measures the channel, in slots.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measuring {
    /// From one measurement to the next.
    pub period: u64,
    /// From a measurement to its use.
    pub processing: u64,
}

/// The options of a terminal's radio link.
pub(super) struct RadioLink {
    pub standard: Standard,
    /// The scheme, if it does not follow the channel.
    pub fixed: Option<u8>,
    pub measuring: Measuring,
    pub sites: Sites,
    /// The site that serves the terminal.
    pub serving: usize,
    /// The errors and the streams of the two directions.
    pub errors: [BlockErrors; 2],
    pub streams: [Generator; 2],
    /// The number of the last measurement plus one, and the scheme that it gives.
    measured: (u64, Option<u8>),
}

impl RadioLink {
    pub(super) fn new(
        standard: Standard,
        fixed: Option<u8>,
        measuring: Measuring,
        sites: Sites,
        errors: [BlockErrors; 2],
        streams: [Generator; 2],
    ) -> RadioLink {
        let (serving, measured) = (0, (0, None));
        RadioLink { standard, fixed, measuring, sites, serving, errors, streams, measured }
    }

    /// The scheme that the station uses in a slot: that of the last measurement that it knows.
    pub(super) fn scheme(&mut self, slot: u64) -> Option<u8> {
        if self.fixed.is_some() {
            return self.fixed;
        }
        let Measuring { period, processing } = self.measuring;
        let number = slot.saturating_sub(processing) / period + 1;
        if self.measured.0 != number {
            let at = Time::from_nanos((number - 1) * period * self.standard.slot().as_nanos());
            self.measured = (number, self.standard.scheme(self.sites.sinr_db(self.serving, at)));
        }
        self.measured.1
    }

    /// The slot in which the station knows of the next measurement.
    pub(super) fn holds_until(&self) -> u64 {
        if self.fixed.is_some() {
            return u64::MAX;
        }
        self.measured.0 * self.measuring.period + self.measuring.processing
    }

    /// Another site serves the terminal.
    pub(super) fn move_to(&mut self, site: usize) {
        (self.serving, self.measured) = (site, (0, None));
    }

    /// Whether an attempt to send a block at a time fails.
    pub(super) fn fails(&mut self, at: Time, uplink: bool, block: &mut Block) -> bool {
        let way = usize::from(uplink);
        let sinr_db = || self.sites.sinr_db(self.serving, at);
        self.errors[way].fails(sinr_db, self.standard, block, &mut self.streams[way])
    }
}
