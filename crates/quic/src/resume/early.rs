//! The 0-RTT state of a connection: its keys, and the parameters it relies on.

use tls::{EarlyData, Opener, Sealer};
use units::Time;
use wire::TransportParameters;

/// The 0-RTT state of a connection that offers or accepts it, kept until the connection ends.
#[derive(Debug)]
pub(crate) struct ZeroRtt {
    /// The state of the offer.
    pub(crate) status: EarlyData,
    /// At a client: the keys, until the server has decided.
    pub(crate) sealer: Option<Sealer>,
    /// At a server: the keys, until they are discarded.
    pub(crate) opener: Option<Opener>,
    /// At a server: the time at which the keys are discarded.
    pub(crate) discard_at: Option<Time>,
    /// At a client: the remembered limits.
    pub(crate) remembered: TransportParameters,
    /// At a client: the application protocol of the remembered session; empty: none.
    pub(crate) alpn: Vec<u8>,
    /// At a client: the number of the first 1-RTT packet; the maximum while there is none.
    pub(crate) first_one_rtt: u64,
}

impl ZeroRtt {
    /// The state at a client that offers 0-RTT.
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

    /// The state at a server that accepts 0-RTT.
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
