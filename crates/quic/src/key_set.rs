//! The keys of a connection: handshake keys, and 1-RTT keys with their phases (RFC 9001 sections 4.9 and 6).

use crate::config::Config;
use crate::key_phase::{AeadLimits, KeyPhases, KeyUse};
use crate::space::SpaceKind;
use tls::{Keys, PacketKeys};
use units::{Duration, Time};

/// The available keys.
pub(crate) struct KeySet {
    early: [Option<Box<Keys>>; 2],
    data: Option<Keys>,
    pub(crate) phases: KeyPhases,
    /// The limits in the options, if any.
    limits: Option<AeadLimits>,
    /// Whether the handshake is confirmed.
    confirmed: bool,
    /// Whether 1-RTT packets under null protection may stay typed: nothing looks at their bytes here.
    typed: bool,
}

impl KeySet {
    /// A set with only the Initial keys. `typed`: whether 1-RTT packets under null protection may stay typed.
    pub(crate) fn new(initial: Keys, config: &Config, typed: bool) -> KeySet {
        KeySet {
            typed,
            early: [Some(Box::new(initial)), None],
            data: None,
            phases: KeyPhases::new(config.key_update_after),
            limits: config.aead_limits,
            confirmed: false,
        }
    }

    /// The keys of a space, if they are available and not discarded.
    #[inline]
    pub(crate) fn get(&self, kind: SpaceKind) -> Option<&Keys> {
        match kind {
            SpaceKind::Data => self.data.as_ref(),
            early => self.early[early as usize].as_deref(),
        }
    }
    /// Whether 1-RTT packets may stay typed.
    #[inline]
    pub(crate) fn may_stay_typed(&self) -> bool {
        self.typed && self.data.as_ref().is_some_and(|keys| keys.local.is_null())
    }
    /// Sets the keys of a handshake space; returns the previous ones.
    pub(crate) fn set_handshake_keys(&mut self, kind: SpaceKind, keys: Keys) -> Option<Keys> {
        let place = self.early.get_mut(kind as usize)?;
        place.replace(Box::new(keys)).map(|before| *before)
    }
    /// Discards the keys of a handshake space.
    pub(crate) fn discard(&mut self, kind: SpaceKind) {
        if let Some(place) = self.early.get_mut(kind as usize) {
            *place = None;
        }
    }

    /// Installs the 1-RTT keys.
    pub(crate) fn begin_phases(&mut self, keys: Keys) {
        let limits = AeadLimits {
            confidentiality: keys.local.confidentiality_limit(),
            integrity: keys.remote.integrity_limit(),
        };
        let lower = self.limits.unwrap_or(limits);
        debug_assert!(self.data.is_none(), "the first 1-RTT keys come once");
        self.phases.begin(AeadLimits {
            confidentiality: limits.confidentiality.min(lower.confidentiality),
            integrity: limits.integrity.min(lower.integrity),
        });
        self.data = Some(keys);
    }
    /// Notes that the handshake is confirmed, so that keys may be updated (RFC 9001 section 6.1).
    pub(crate) fn on_confirmed(&mut self) {
        self.confirmed = true;
    }
    /// Stores the next keys ahead of time.
    pub(crate) fn prepare(&mut self, next: Option<PacketKeys>) {
        self.phases.next = next.map(Box::new);
    }
    /// The action required before the next 1-RTT packet is sealed.
    pub(crate) fn before_sealing(&self, now: Time, pto: Duration) -> KeyUse {
        self.phases.before_sealing(now, self.confirmed, pto)
    }
    /// Starts the next phase in both directions: see [`KeyPhases::advance`].
    pub(crate) fn advance(&mut self, now: Time, pto: Duration, next_number: u64, received: Option<u64>) {
        let next = self.phases.next.take().expect("the keys of the next phase are derived before an update");
        let keys = self.data.as_mut().expect("an update follows the first 1-RTT keys");
        keys.local.update(next.local);
        let old = keys.remote.update(next.remote);
        self.phases.advance(now, old, pto, next_number, received);
    }

    #[cfg(test)]
    pub(crate) fn data_mut(&mut self) -> Option<&mut Keys> {
        self.data.as_mut()
    }
}
