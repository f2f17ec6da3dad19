//! Which keys protect 1-RTT packets: key phases and their update (RFC 9001 section 6), and how long a key may be used
//! (section 6.6).

use tls::{PacketKey, PacketKeys};
use units::{Duration, Time};

/// Keys of the phase before are kept for so many probe timeouts after the update (RFC 9001 section 6.5).
const KEPT_FOR: u64 = 3;

/// How often keys may be used: what RFC 9001 section 6.6 admits, or less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AeadLimits {
    /// Packets that are sealed with one key.
    pub confidentiality: u64,
    /// Packets that fail to open, over all keys of the connection.
    pub integrity: u64,
}

/// What is to be done about a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// Nothing.
    Fine,
    /// The keys are to be updated now.
    Update,
    /// Nothing may be sealed any more: the connection is over.
    Exhausted,
}

/// What a packet whose key phase is not the present one may have been sealed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Other {
    /// The keys of the phase before: the packet was overtaken.
    Previous,
    /// The keys of the phase to come: the peer updates.
    Next,
}

/// The key phases of a connection. One for the two directions: the update of one is answered by that of the other.
#[derive(Debug)]
pub(crate) struct KeyPhases {
    /// The bit that packets carry (RFC 9000 section 17.3.1).
    pub(crate) bit: bool,
    /// Updates so far.
    pub(crate) updates: u64,
    /// Whether the packet that is being processed was opened with keys of the phase before.
    pub(crate) opened_previous: bool,
    /// Made ahead of time, so that the time that it takes tells nobody of an update (section 6.3).
    pub(crate) next: Option<Box<PacketKeys>>,
    previous: Option<(Box<PacketKey>, Time)>,
    /// The first packet of this phase that was sent, and when one was first known to have arrived.
    first_sent: u64,
    acked_at: Option<Time>,
    /// The lowest number of a packet of this phase that was received.
    first_received: Option<u64>,
    /// Whether the peer's update, if this phase began with one, was answered by an acknowledgement.
    answered: bool,
    sealed: u64,
    /// From so many sealed packets on an update is due.
    due_at: u64,
    failed: u64,
    limits: AeadLimits,
    update_after: u64,
}

impl KeyPhases {
    /// Before there are keys. `update_after`: packets after which an update is due, if not before by the limit.
    pub(crate) fn new(update_after: Option<u64>) -> KeyPhases {
        let none = AeadLimits { confidentiality: u64::MAX, integrity: u64::MAX };
        KeyPhases {
            bit: false,
            updates: 0,
            opened_previous: false,
            next: None,
            previous: None,
            first_sent: 0,
            acked_at: None,
            first_received: None,
            answered: true,
            sealed: 0,
            due_at: u64::MAX,
            failed: 0,
            limits: none,
            update_after: update_after.unwrap_or(u64::MAX),
        }
    }

    /// The first keys are there, with these limits.
    pub(crate) fn begin(&mut self, limits: AeadLimits) {
        self.limits = limits;
        // A request may have been made already.
        self.due_at = self.due_at.min(self.planned());
    }

    /// RFC 9001 section 6.6: before the limit, with time to spare for the acknowledgement that an update waits for.
    fn planned(&self) -> u64 {
        (self.limits.confidentiality / 8 * 7).min(self.update_after).max(1)
    }

    /// An update is wanted as soon as one may be.
    pub(crate) fn request(&mut self) {
        self.due_at = 0;
    }

    /// Whether the next packet needs a thought.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.sealed >= self.due_at
    }

    /// A packet was sealed; `acknowledges`: whether it carries an acknowledgement.
    #[inline]
    pub(crate) fn on_sealed(&mut self, acknowledges: bool) {
        self.sealed += 1;
        self.answered |= acknowledges;
    }

    /// What is to be done before the next packet is sealed, given whether the handshake is confirmed.
    pub(crate) fn before_sealing(&self, now: Time, confirmed: bool, pto: Duration) -> Use {
        if self.sealed >= self.limits.confidentiality {
            return Use::Exhausted;
        }
        // RFC 9001 section 6.1: not before the handshake is confirmed, nor before a packet of this phase was acknowledged;
        // section 6.5: nor, if there is time, until the keys before these are gone at both ends.
        let urgent = self.sealed >= self.limits.confidentiality / 16 * 15;
        let settled = self.updates == 0 || urgent;
        let acked = self.acked_at.is_some_and(|at| settled || at + pto * KEPT_FOR <= now);
        if self.is_due() && confirmed && acked && self.next.is_some() { Use::Update } else { Use::Fine }
    }

    /// An acknowledgement of this number came. Gives whether it breaks a rule: it stood in a packet of the phase before
    /// and acknowledges one of this (RFC 9001 section 6.2).
    #[inline]
    pub(crate) fn on_acked(&mut self, now: Time, largest: u64) -> bool {
        if largest < self.first_sent {
            return false;
        }
        if self.acked_at.is_none() {
            self.acked_at = Some(now);
        }
        self.opened_previous
    }

    /// What a packet of the other phase bit is most likely of (RFC 9001 sections 6.3 and 6.5): a number below those of this
    /// phase is of the one before.
    pub(crate) fn other(&self, number: u64) -> Other {
        let before = self.first_received.is_none_or(|first| number < first);
        if before && self.updates > 0 { Other::Previous } else { Other::Next }
    }

    /// The keys of the phase before, as long as they are kept.
    pub(crate) fn previous(&mut self, now: Time) -> Option<&PacketKey> {
        if self.previous.as_ref().is_some_and(|(_, until)| *until < now) {
            self.previous = None;
        }
        self.previous.as_ref().map(|(key, _)| &**key)
    }

    /// A packet of this phase was opened.
    #[inline]
    pub(crate) fn on_received(&mut self, number: u64) {
        if self.first_received.is_none_or(|first| number < first) {
            self.first_received = Some(number);
        }
    }

    /// The peer updates: whether it may. It must have had an acknowledgement of its last update, which it only has if one
    /// was sent (RFC 9001 section 6.2).
    pub(crate) fn may_follow(&self) -> bool {
        self.answered
    }

    /// The next phase begins. `old`: the key that opened packets until now; `next_number`: of the next packet that is
    /// sent; `received`: the packet with which the peer began it, if it did.
    pub(crate) fn advance(
        &mut self,
        now: Time,
        old: PacketKey,
        pto: Duration,
        (next_number, received): (u64, Option<u64>),
    ) {
        self.bit = !self.bit;
        self.updates += 1;
        self.previous = Some((Box::new(old), now + pto * KEPT_FOR));
        self.first_sent = next_number;
        self.acked_at = None;
        self.first_received = received;
        self.answered = received.is_none();
        self.sealed = 0;
        self.due_at = self.planned();
    }

    /// A packet did not open. Gives whether there were too many (RFC 9001 section 6.6).
    pub(crate) fn on_failure(&mut self) -> bool {
        self.failed += 1;
        self.failed >= self.limits.integrity
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTO: Duration = Duration::from_millis(100);

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }
    fn keys() -> PacketKeys {
        let context = tls::Context::new(&tls::Options::default(), &[b"test"], 1).unwrap();
        let start = |name| tls::Start {
            random: random::Stream::new(1, name),
            now: Time::ZERO,
            version: 1,
            change: tls::Change::Never,
            parameters: vec![1; 30],
        };
        let mut client = context.client(start("client"), tls::Request::default()).unwrap();
        let mut server = context.server(start("server"), None).unwrap();
        let mut hello = Vec::new();
        client.write(&mut hello);
        server.read(Time::ZERO, tls::Level::Initial, &hello).unwrap();
        server.next_keys().unwrap()
    }
    fn phases(confidentiality: u64, update_after: Option<u64>) -> KeyPhases {
        let mut phases = KeyPhases::new(update_after);
        phases.begin(AeadLimits { confidentiality, integrity: 3 });
        phases.next = Some(Box::new(keys()));
        phases
    }

    /// RFC 9001 section 6.1.
    #[test]
    fn an_update_waits_for_confirmation_and_an_acknowledgement() {
        let mut phases = phases(1 << 23, Some(10));
        (0..10).for_each(|_| phases.on_sealed(false));
        assert!(phases.is_due());
        assert_eq!(phases.before_sealing(at(0), true, PTO), Use::Fine, "nothing is acknowledged");
        assert!(!phases.on_acked(at(0), 0));
        assert_eq!(phases.before_sealing(at(0), false, PTO), Use::Fine, "not confirmed");
        assert_eq!(phases.before_sealing(at(0), true, PTO), Use::Update);
        phases.advance(at(0), keys().remote, PTO, (10, None));
        phases.next = Some(Box::new(keys()));
        assert!(phases.bit && !phases.is_due());
        phases.request();
        assert!(!phases.on_acked(at(50), 9), "of the phase before");
        assert_eq!(phases.before_sealing(at(500), true, PTO), Use::Fine);
        phases.on_acked(at(60), 10);
        assert_eq!(phases.before_sealing(at(359), true, PTO), Use::Fine, "section 6.5");
        assert_eq!(phases.before_sealing(at(360), true, PTO), Use::Update);
    }

    /// RFC 9001 section 6.6.
    #[test]
    fn a_key_is_never_used_beyond_its_limit() {
        let mut phases = phases(1000, None);
        (0..874).for_each(|_| phases.on_sealed(false));
        assert!(!phases.is_due());
        phases.on_sealed(false);
        assert!(phases.is_due());
        assert_eq!(phases.before_sealing(at(0), true, PTO), Use::Fine);
        (0..125).for_each(|_| phases.on_sealed(false));
        assert_eq!(phases.before_sealing(at(0), true, PTO), Use::Exhausted);
        assert!(!phases.on_failure() && !phases.on_failure() && phases.on_failure());
    }

    /// RFC 9001 sections 6.3 and 6.5.
    #[test]
    fn overtaken_packets_are_of_the_phase_before_and_new_ones_of_the_next() {
        let mut phases = phases(1 << 23, None);
        assert_eq!(phases.other(0), Other::Next, "there is none before");
        phases.on_received(5);
        assert_eq!(phases.other(4), Other::Next);
        phases.advance(at(0), keys().remote, PTO, (7, None));
        assert_eq!(phases.other(100), Other::Previous, "the peer has not answered yet");
        phases.on_received(20);
        phases.on_received(18);
        assert_eq!((phases.other(17), phases.other(19)), (Other::Previous, Other::Next));
        assert!(phases.previous(at(300)).is_some());
        assert!(phases.previous(at(301)).is_none());
    }

    /// RFC 9001 section 6.2.
    #[test]
    fn two_updates_of_the_peer_need_an_acknowledgement_between_them() {
        let mut phases = phases(1 << 23, None);
        assert!(phases.may_follow());
        phases.advance(at(0), keys().remote, PTO, (7, Some(12)));
        assert!(!phases.may_follow());
        phases.on_sealed(true);
        assert!(phases.may_follow());
    }

    /// RFC 9001 section 6.2.
    #[test]
    fn an_acknowledgement_of_this_phase_in_a_packet_of_the_one_before_is_told() {
        let mut phases = phases(1 << 23, None);
        phases.advance(at(0), keys().remote, PTO, (7, None));
        phases.opened_previous = true;
        assert!(!phases.on_acked(at(1), 6));
        assert!(phases.on_acked(at(1), 7));
    }
}
