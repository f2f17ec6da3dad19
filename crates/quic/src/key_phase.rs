//! The key phases of 1-RTT packets and key updates (RFC 9001 section 6), with the limits on the use of keys (section
//! 6.6).

use tls::{PacketKey, PacketKeys};
use units::{Duration, Time};

/// The number of probe timeouts for which the previous keys are kept after an update (RFC 9001 section 6.5).
const KEPT_FOR: u64 = 3;

/// Limits on the use of keys: those of RFC 9001 section 6.6, or lower ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AeadLimits {
    /// The maximum number of packets sealed with one key.
    pub confidentiality: u64,
    /// The maximum number of packets that fail authentication, over all keys of the connection.
    pub integrity: u64,
}

/// The action required before sealing a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyUse {
    /// None.
    Fine,
    /// Update the keys now.
    Update,
    /// No more packets may be sealed: the connection ends.
    Exhausted,
}

/// The keys that likely sealed a packet whose key-phase bit differs from the current one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OtherPhase {
    /// The previous keys: the packet arrived late.
    Previous,
    /// The next keys: the peer initiates an update.
    Next,
}

/// The key phases of a connection. Both directions share one phase, because an update of one direction causes one of
/// the other.
#[derive(Debug)]
pub(crate) struct KeyPhases {
    /// The current Key Phase bit (RFC 9000 section 17.3.1).
    pub(crate) bit: bool,
    /// The number of updates.
    pub(crate) updates: u64,
    /// Whether the packet being processed was opened with the previous keys.
    pub(crate) opened_previous: bool,
    /// Derived ahead of time, so that timing does not reveal an update (section 6.3).
    pub(crate) next: Option<Box<PacketKeys>>,
    previous: Option<(Box<PacketKey>, Time)>,
    /// The number of the first packet sent in this phase, and the time of the first acknowledgement in this phase.
    first_sent: u64,
    acked_at: Option<Time>,
    /// The lowest packet number received in this phase.
    first_received: Option<u64>,
    /// Whether an acknowledgement has been sent in this phase, or this endpoint initiated it.
    answered: bool,
    sealed: u64,
    /// The number of sealed packets at which an update is due.
    due_at: u64,
    failed: u64,
    limits: AeadLimits,
    update_after: u64,
}

impl KeyPhases {
    /// The state before there are keys. `update_after`: the number of packets after which an update is due, if the
    /// limit does not require it earlier.
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

    /// Starts the first phase with these limits.
    pub(crate) fn begin(&mut self, limits: AeadLimits) {
        self.limits = limits;
        // An update may have been requested already.
        self.due_at = self.due_at.min(self.planned());
    }

    /// RFC 9001 section 6.6: before the limit, leaving time for the acknowledgement that an update must wait for.
    fn planned(&self) -> u64 {
        (self.limits.confidentiality / 8 * 7).min(self.update_after).max(1)
    }

    /// Requests an update as soon as one is permitted.
    pub(crate) fn request(&mut self) {
        self.due_at = 0;
    }

    /// Whether [`KeyPhases::before_sealing`] must be consulted before the next packet.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.sealed >= self.due_at
    }

    /// Notes that a packet was sealed; `acknowledges`: whether it carries an acknowledgement.
    #[inline]
    pub(crate) fn on_sealed(&mut self, acknowledges: bool) {
        debug_assert!(self.sealed < self.limits.confidentiality, "a key that is used up seals nothing more");
        self.sealed += 1;
        self.answered |= acknowledges;
    }

    /// The action required before the next packet is sealed, given whether the handshake is confirmed.
    pub(crate) fn before_sealing(&self, now: Time, confirmed: bool, pto: Duration) -> KeyUse {
        if self.sealed >= self.limits.confidentiality {
            return KeyUse::Exhausted;
        }
        // RFC 9001 section 6.1: not before the handshake is confirmed and a packet of this phase acknowledged.
        // Section 6.5: unless urgent, not before both ends have discarded the previous keys.
        let urgent = self.sealed >= self.limits.confidentiality / 16 * 15;
        let settled = self.updates == 0 || urgent;
        let acked = self.acked_at.is_some_and(|at| settled || at + pto * KEPT_FOR <= now);
        if self.is_due() && confirmed && acked && self.next.is_some() { KeyUse::Update } else { KeyUse::Fine }
    }

    /// Notes an acknowledgement up to `largest`. Returns whether it is a violation: a packet of the previous phase
    /// that acknowledges one of this phase (RFC 9001 section 6.2).
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

    /// The likely phase of a packet with the other Key Phase bit (RFC 9001 sections 6.3 and 6.5): a packet number
    /// below those of this phase belongs to the previous phase.
    pub(crate) fn other(&self, number: u64) -> OtherPhase {
        let before = self.first_received.is_none_or(|first| number < first);
        if before && self.updates > 0 { OtherPhase::Previous } else { OtherPhase::Next }
    }

    /// The previous keys, while they are kept.
    pub(crate) fn previous(&mut self, now: Time) -> Option<&PacketKey> {
        if self.previous.as_ref().is_some_and(|(_, until)| *until < now) {
            self.previous = None;
        }
        self.previous.as_ref().map(|(key, _)| &**key)
    }

    /// Notes that a packet of this phase was opened.
    #[inline]
    pub(crate) fn on_received(&mut self, number: u64) {
        if self.first_received.is_none_or(|first| number < first) {
            self.first_received = Some(number);
        }
    }

    /// Whether the peer may initiate an update. It must have received an acknowledgement of its previous update, so
    /// one must have been sent (RFC 9001 section 6.2).
    pub(crate) fn may_follow(&self) -> bool {
        self.answered
    }

    /// Starts the next phase. `old`: the key that opened packets so far; `next_number`: the number of the next packet
    /// to send; `received`: the number of the packet with which the peer initiated the update, if it did.
    pub(crate) fn advance(
        &mut self,
        now: Time,
        old: PacketKey,
        pto: Duration,
        next_number: u64,
        received: Option<u64>,
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

    /// Counts a packet that failed authentication. Returns whether the limit is reached (RFC 9001 section 6.6).
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
            random: random::Generator::new(1, name),
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
        assert_eq!(phases.before_sealing(at(0), true, PTO), KeyUse::Fine, "nothing is acknowledged");
        assert!(!phases.on_acked(at(0), 0));
        assert_eq!(phases.before_sealing(at(0), false, PTO), KeyUse::Fine, "not confirmed");
        assert_eq!(phases.before_sealing(at(0), true, PTO), KeyUse::Update);
        phases.advance(at(0), keys().remote, PTO, 10, None);
        phases.next = Some(Box::new(keys()));
        assert!(phases.bit && !phases.is_due());
        phases.request();
        assert!(!phases.on_acked(at(50), 9), "of the phase before");
        assert_eq!(phases.before_sealing(at(500), true, PTO), KeyUse::Fine);
        phases.on_acked(at(60), 10);
        assert_eq!(phases.before_sealing(at(359), true, PTO), KeyUse::Fine, "section 6.5");
        assert_eq!(phases.before_sealing(at(360), true, PTO), KeyUse::Update);
    }

    /// RFC 9001 section 6.6.
    #[test]
    fn a_key_is_never_used_beyond_its_limit() {
        let mut phases = phases(1000, None);
        (0..874).for_each(|_| phases.on_sealed(false));
        assert!(!phases.is_due());
        phases.on_sealed(false);
        assert!(phases.is_due());
        assert_eq!(phases.before_sealing(at(0), true, PTO), KeyUse::Fine);
        (0..125).for_each(|_| phases.on_sealed(false));
        assert_eq!(phases.before_sealing(at(0), true, PTO), KeyUse::Exhausted);
        assert!(!phases.on_failure() && !phases.on_failure() && phases.on_failure());
    }

    /// RFC 9001 sections 6.3 and 6.5.
    #[test]
    fn overtaken_packets_belong_to_the_previous_phase_and_new_ones_to_the_next() {
        let mut phases = phases(1 << 23, None);
        assert_eq!(phases.other(0), OtherPhase::Next, "there is none before");
        phases.on_received(5);
        assert_eq!(phases.other(4), OtherPhase::Next);
        phases.advance(at(0), keys().remote, PTO, 7, None);
        assert_eq!(phases.other(100), OtherPhase::Previous, "the peer has not answered yet");
        phases.on_received(20);
        phases.on_received(18);
        assert_eq!((phases.other(17), phases.other(19)), (OtherPhase::Previous, OtherPhase::Next));
        assert!(phases.previous(at(300)).is_some());
        assert!(phases.previous(at(301)).is_none());
    }

    /// RFC 9001 section 6.2.
    #[test]
    fn two_updates_of_the_peer_need_an_acknowledgement_between_them() {
        let mut phases = phases(1 << 23, None);
        assert!(phases.may_follow());
        phases.advance(at(0), keys().remote, PTO, 7, Some(12));
        assert!(!phases.may_follow());
        phases.on_sealed(true);
        assert!(phases.may_follow());
    }

    /// RFC 9001 section 6.2.
    #[test]
    fn an_acknowledgement_of_this_phase_in_a_packet_of_the_previous_phase_is_a_violation() {
        let mut phases = phases(1 << 23, None);
        phases.advance(at(0), keys().remote, PTO, 7, None);
        phases.opened_previous = true;
        assert!(!phases.on_acked(at(1), 6));
        assert!(phases.on_acked(at(1), 7));
    }
}
