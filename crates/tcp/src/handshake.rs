//! What the ends agree on with their SYNs: segment size, window scale, timestamps, SACK (RFC 9293 section 3.7.1, RFC 7323,
//! RFC 2018), and when a SYN is sent again.

use crate::config::Config;
use crate::ecn::EcnState;
use std::net::SocketAddr;
use units::{Duration, Time};
use wire::tcp::{Flags, Options, Timestamps};

/// The bytes of padded timestamps in every header (RFC 7323 appendix A).
const TIMESTAMPS_SIZE: u16 = 12;
/// RFC 7323 section 2.3: a larger shift is taken for this one.
const MAX_SHIFT: u8 = 14;

/// What both ends want.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Agreed {
    /// The payload of a full-sized segment.
    pub(crate) mss: u16,
    pub(crate) timestamps: bool,
    pub(crate) sack: bool,
    /// The shift of the peer's window fields, if both scale.
    pub(crate) peer_shift: Option<u8>,
}

impl Agreed {
    /// Before the peer was heard.
    pub(crate) fn unknown(config: &Config) -> Agreed {
        Agreed { mss: config.mss, timestamps: false, sack: false, peer_shift: None }
    }

    /// What is agreed on with a peer that has sent these options with its SYN.
    pub(crate) fn with(config: &Config, peer: &Options, remote: SocketAddr) -> Agreed {
        // RFC 9293 section 3.7.1: without the option 536, or 1220 over IPv6.
        let assumed = if remote.is_ipv4() { 536 } else { 1220 };
        let timestamps = config.timestamps && peer.timestamps.is_some();
        let size = if timestamps { TIMESTAMPS_SIZE } else { 0 };
        Agreed {
            // RFC 6691: options are taken off by the sender. A peer that can take next to nothing is not believed.
            mss: peer.mss.unwrap_or(assumed).max(88).min(config.mss) - size,
            timestamps,
            sack: config.sack && peer.sack_permitted,
            peer_shift: peer.window_scale.filter(|_| config.window_scaling).map(|shift| shift.min(MAX_SHIFT)),
        }
    }

    /// The options of the SYN that answers: only what was offered.
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

/// A SYN or SYN-ACK on its way.
#[derive(Debug, Clone, Default)]
pub(crate) struct Syn {
    /// Whether it is to be sent now.
    pub(crate) due: bool,
    /// When it was sent last.
    pub(crate) sent_at: Time,
    /// When it is sent again.
    pub(crate) again_at: Option<Time>,
    /// How often it was sent.
    pub(crate) attempts: u32,
    /// Its number was sent before, in another segment.
    pub(crate) ambiguous: bool,
}

impl Syn {
    /// It leaves, with this retransmission timeout (RFC 6298).
    pub(crate) fn on_sent(&mut self, now: Time, timeout: Duration, most: Duration) {
        self.due = false;
        self.sent_at = now;
        self.again_at = Some(now + (timeout * (1 << self.attempts.min(16))).min(most));
        self.attempts += 1;
    }
    /// The peer has sent a SYN too: the SYN-ACK goes with the number of this one, so that what acknowledges it tells no RTT.
    pub(crate) fn cross(&mut self) {
        *self = Syn { due: true, ambiguous: true, ..Syn::default() };
    }
    /// It was answered; the RTT, if it was sent once (RFC 6298 section 3).
    pub(crate) fn on_answered(&mut self, now: Time) -> Option<Duration> {
        self.again_at = None;
        self.due = false;
        (self.attempts == 1 && !self.ambiguous).then(|| now.since(self.sent_at))
    }
    /// RFC 3168 section 6.1.1.1: a host that gets no answer to an ECN-setup SYN MAY try one without.
    pub(crate) fn flags(&self, ecn: bool) -> Flags {
        Flags::SYN.with_if(ecn && self.attempts < 3, EcnState::SYN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_must_want_it() {
        let config = Config::default();
        let remote: SocketAddr = ([10, 0, 0, 1], 1).into();
        let peer = offer(&config, 8, Timestamps::default());
        let agreed = Agreed::with(&config, &peer, remote);
        assert_eq!(agreed, Agreed { mss: 1448, timestamps: true, sack: true, peer_shift: Some(8) });
        let plain = Config { sack: false, timestamps: false, window_scaling: false, ..config.clone() };
        let none = Agreed { mss: 1460, timestamps: false, sack: false, peer_shift: None };
        assert_eq!(Agreed::with(&plain, &peer, remote), none);
        assert_eq!(Agreed::with(&config, &offer(&plain, 8, Timestamps::default()), remote), none);
        assert_eq!(
            none.answer(&config, 8, Timestamps::default()),
            Options { mss: Some(1460), ..Options::default() }
        );
        // RFC 9293 section 3.7.1, RFC 7323 section 2.3.
        assert_eq!(Agreed::with(&config, &Options::default(), remote).mss, 536);
        assert_eq!(Agreed::with(&config, &Options::default(), ([0; 8], 1).into()).mss, 1220);
        let steep = Options { window_scale: Some(200), mss: Some(0), ..Options::default() };
        let agreed = Agreed::with(&config, &steep, remote);
        assert_eq!((agreed.peer_shift, agreed.mss), (Some(14), 88));
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
