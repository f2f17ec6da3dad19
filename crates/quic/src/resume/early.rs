//! 0-RTT on one connection: its keys, and what it relies on.

use tls::{EarlyData, Opener, Sealer};
use units::Time;
use wire::TransportParameters;

/// What a connection has that offers or takes 0-RTT, and keeps to its end.
#[derive(Debug)]
pub(crate) struct ZeroRtt {
    /// What becomes of it, as far as it is known.
    pub(crate) status: EarlyData,
    /// At a client, until the server has decided.
    pub(crate) sealer: Option<Sealer>,
    /// At a server that takes it, until the keys are discarded.
    pub(crate) opener: Option<Opener>,
    /// At a server: when the keys are discarded.
    pub(crate) discard_at: Option<Time>,
    /// At a client: the limits that it goes by.
    pub(crate) remembered: TransportParameters,
    /// At a client: the application protocol of the remembered session; empty: none.
    pub(crate) alpn: Vec<u8>,
    /// At a client: packets from this number on are 1-RTT packets; the greatest while there are none.
    pub(crate) first_one_rtt: u64,
}

impl ZeroRtt {
    /// At a client that offers it.
    pub(crate) fn offered(sealer: Sealer, remembered: TransportParameters, alpn: Vec<u8>) -> ZeroRtt {
        ZeroRtt {
            status: EarlyData::Offered,
            sealer: Some(sealer),
            opener: None,
            discard_at: None,
            remembered,
            alpn,
            first_one_rtt: u64::MAX,
        }
    }

    /// At a server that takes it.
    pub(crate) fn accepted(opener: Opener) -> ZeroRtt {
        ZeroRtt {
            status: EarlyData::Accepted,
            sealer: None,
            opener: Some(opener),
            discard_at: None,
            remembered: TransportParameters::default(),
            alpn: Vec::new(),
            first_one_rtt: 0,
        }
    }
}
