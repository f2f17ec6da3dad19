//! Proxies: middleboxes that are put together from endpoints.

mod options;
mod pep;
mod splice;

pub(crate) use options::{side_config, sides};
pub(crate) use splice::Side;

use crate::capture::Tap;
use network::BuildError;
use network::middlebox::{Middlebox, MiddleboxOptions};
use std::rc::Rc;
use units::parameter::{Arguments, Component, Row};

/// The minimum segment size of TCP: that of an IPv4 packet of 576 bytes (RFC 9293 section 3.7.1).
pub(crate) const MIN_MSS: u64 = 536;

/// The values that only a run has. By default there are none, which is enough to check the options.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunInputs {
    /// The seed of the run.
    pub seed: u64,
    /// The keys of the servers' Fast Open cookies, by flow.
    pub cookie_keys: Rc<[u64]>,
    /// The capture of the run, if there is one.
    pub tap: Option<Tap>,
}

/// The inputs for building a proxy.
pub(crate) struct ProxyOptions<'a> {
    /// Those of any middlebox.
    pub middlebox: MiddleboxOptions<'a>,
    /// The MTU of the carrier at each port; `u64::MAX` without a limit.
    pub mtus: &'a [u64],
    /// The values of the run.
    pub run: &'a RunInputs,
}

/// The properties of a proxy that are known before it is built.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Profile {
    /// The congestion controllers of its endpoints.
    pub controllers: fn(&Arguments) -> Vec<Component>,
    /// Builds it.
    pub build: fn(&ProxyOptions<'_>) -> Result<Box<dyn Middlebox>, BuildError>,
}

/// The proxies.
pub(crate) static PROXIES: &[Row<Profile>] = &[pep::ROW];

/// The row with this name.
pub(crate) fn row(name: &str) -> Option<&'static Row<Profile>> {
    PROXIES.iter().find(|row| row.name == name)
}

#[cfg(test)]
mod tests;
