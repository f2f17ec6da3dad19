//! The options negotiated by the SYNs: segment size, window scale, timestamps, SACK (RFC 9293 section 3.7.1, RFC 7323,
//! RFC 2018); and the retransmission of SYNs.

use crate::config::Config;
use crate::ecn::EcnState;
use std::net::SocketAddr;
use units::{Duration, Time};
use wire::tcp::{Flags, Options, Timestamps};

/// The bytes of padded timestamps in every header (RFC 7323 appendix A).
const TIMESTAMPS_SIZE: u16 = 12;
/// RFC 7323 section 2.3: the maximum shift; larger values are reduced to it.
const MAX_SHIFT: u8 = 14;

/// The options that both ends support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Negotiated {
    /// The payload of a full-sized segment.
    pub(crate) mss: u16,
    pub(crate) timestamps: bool,
    pub(crate) sack: bool,
    /// The shift of the peer's window fields, if both ends scale.
    pub(crate) peer_shift: Option<u8>,
}

impl Negotiated {
    /// The values before the peer's SYN arrives.
    pub(crate) fn unknown(config: &Config) -> Negotiated {
        Negotiated { mss: config.mss, timestamps: false, sack: false, peer_shift: None }
    }

    /// The values for a peer whose SYN had these options.
    pub(crate) fn with(config: &Config, peer: &Options, remote: SocketAddr) -> Negotiated {
        // RFC 9293 section 3.7.1: without the option 536 bytes, or 1220 over IPv6.
        let assumed = if remote.is_ipv4() { 536 } else { 1220 };
        let timestamps = config.timestamps && peer.timestamps.is_some();
        let size = if timestamps { TIMESTAMPS_SIZE } else { 0 };
        Negotiated {
            // RFC 6691: the sender subtracts the size of the options. Absurdly small values are raised.
            mss: peer.mss.unwrap_or(assumed).max(88).min(config.mss) - size,
            timestamps,
            sack: config.sack && peer.sack_permitted,
            peer_shift: peer.window_scale.filter(|_| config.window_scaling).map(|shift| shift.min(MAX_SHIFT)),
        }
    }

    /// The options of a SYN-ACK: only what the peer has offered.
    pub(crate) fn answer(&self, config: &Config, shift: u8, timestamps: Timestamps) -> Options {
        Options {
            mss: Some(config.mss),
            window_scale: self.peer_shift.map(|_| shift),
            sack_permitted: self.sack,
            timestamps: self.timestamps.then_some(timestamps),
            ..Options::default()
        }
    }
}

/// The options of the first SYN.
pub(crate) fn offer(config: &Config, shift: u8, timestamps: Timestamps) -> Options {
    Options {
        mss: Some(config.mss),
        window_scale: config.window_scaling.then_some(shift),
        sack_permitted: config.sack,
        timestamps: config.timestamps.then_some(timestamps),
        ..Options::default()
    }
}

/// A SYN or SYN-ACK and its retransmissions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Syn {
    /// Whether to send it now.
    pub(crate) due: bool,
    /// The time of the last transmission.
    pub(crate) sent_at: Time,
    /// The time of the next retransmission.
    pub(crate) again_at: Option<Time>,
    /// The number of transmissions.
    pub(crate) attempts: u32,
    /// Its sequence number was used before, by another segment.
    pub(crate) ambiguous: bool,
}

impl Syn {
    /// The SYN was sent, with this retransmission timeout (RFC 6298).
    pub(crate) fn on_sent(&mut self, now: Time, timeout: Duration, most: Duration) {
        self.due = false;
        self.sent_at = now;
        self.again_at = Some(now + (timeout * (1 << self.attempts.min(16))).min(most));
        self.attempts += 1;
    }
    /// The peer has sent a SYN too. The SYN-ACK has the same number as this SYN, so its acknowledgement gives no RTT
    /// sample.
    pub(crate) fn cross(&mut self) {
        *self = Syn { due: true, ambiguous: true, ..Syn::default() };
    }
    /// The SYN was acknowledged. Returns the RTT if it was sent once (RFC 6298 section 3).
    pub(crate) fn on_answered(&mut self, now: Time) -> Option<Duration> {
        self.again_at = None;
        self.due = false;
        (self.attempts == 1 && !self.ambiguous).then(|| now.since(self.sent_at))
    }
    /// RFC 3168 section 6.1.1.1: without a reply to an ECN-setup SYN, a host "MAY resend the SYN and any subsequent SYN
    /// retransmissions with CWR and ECE cleared".
    pub(crate) fn flags(&self, ecn: bool) -> Flags {
        Flags::SYN.with_if(ecn && self.attempts < 3, EcnState::SYN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_need_both_ends() {
        let config = Config::default();
        let remote: SocketAddr = ([10, 0, 0, 1], 1).into();
        let peer = offer(&config, 8, Timestamps::default());
        let negotiated = Negotiated::with(&config, &peer, remote);
        assert_eq!(negotiated, Negotiated { mss: 1448, timestamps: true, sack: true, peer_shift: Some(8) });
        let plain = Config { sack: false, timestamps: false, window_scaling: false, ..config.clone() };
        let none = Negotiated { mss: 1460, timestamps: false, sack: false, peer_shift: None };
        assert_eq!(Negotiated::with(&plain, &peer, remote), none);
        assert_eq!(Negotiated::with(&config, &offer(&plain, 8, Timestamps::default()), remote), none);
        assert_eq!(
            none.answer(&config, 8, Timestamps::default()),
            Options { mss: Some(1460), ..Options::default() }
        );
        // RFC 9293 section 3.7.1, RFC 7323 section 2.3.
        assert_eq!(Negotiated::with(&config, &Options::default(), remote).mss, 536);
        assert_eq!(Negotiated::with(&config, &Options::default(), ([0; 8], 1).into()).mss, 1220);
        let steep = Options { window_scale: Some(200), mss: Some(0), ..Options::default() };
        let negotiated = Negotiated::with(&config, &steep, remote);
        assert_eq!((negotiated.peer_shift, negotiated.mss), (Some(14), 88));
    }

    /// RFC 6298 section 5.5.
    #[test]
    fn a_syn_is_sent_again_at_growing_distances() {
        let (mut syn, second) = (Syn::default(), Duration::from_secs(1));
        let mut now = Time::ZERO;
        for seconds in [1, 2, 4, 8, 8] {
            syn.on_sent(now, second, second * 8);
            assert_eq!(syn.again_at, Some(now + second * seconds));
            now += second * seconds;
        }
        assert_eq!(syn.on_answered(now), None, "Karn");
    }
}
