//! The TLS secrets recorded by the clients of a world, for an attacker with the keys.

use crate::allocator::inside;
use crate::world::ObservedIds;
use quic::Connection;
use std::collections::BTreeMap;
use tls::{Cipher, Protection, Sealer, Secret, Side, initial_keys};
use trace::PacketKind;

/// The secrets of the newest connection of each client, by their labels.
pub(crate) struct Wiretap {
    cipher: Cipher,
    secrets: BTreeMap<(usize, String), Secret>,
}

impl Wiretap {
    /// The negotiated cipher suite.
    pub(crate) fn new(cipher: Cipher) -> Wiretap {
        Wiretap { cipher, secrets: BTreeMap::new() }
    }

    /// Collects the secrets recorded by a client.
    pub(crate) fn listen(&mut self, client: usize, connection: &mut Connection) {
        let taken = inside(|| connection.take_secrets());
        for secret in &taken {
            self.secrets.insert((client, secret.label.clone()), secret.clone());
        }
        inside(|| drop(taken));
    }

    /// The protection of packets from one end after this number of key updates; `None` if there is no secret for it
    /// yet.
    pub(crate) fn sealer(&self, known: &ObservedIds, kind: PacketKind, updates: u32) -> Option<Sealer> {
        let version = if known.version == wire::Version::V2 { wire::Version::V2.0 } else { 1 };
        if kind == PacketKind::Initial {
            // They are derived from the first packet (RFC 9001 section 5.2).
            let side = if known.to_server { Side::Client } else { Side::Server };
            return Some(initial_keys(Protection::Tls, version, known.original.as_bytes(), side).local);
        }
        let side = if known.to_server { "CLIENT" } else { "SERVER" };
        let label = match kind {
            PacketKind::ZeroRtt => "CLIENT_EARLY_TRAFFIC_SECRET".to_owned(),
            PacketKind::Handshake => format!("{side}_HANDSHAKE_TRAFFIC_SECRET"),
            _ => format!("{side}_TRAFFIC_SECRET_0"),
        };
        let secret = self.secrets.get(&(known.client, label))?;
        secret.sealer(self.cipher, version, if kind == PacketKind::OneRtt { updates } else { 0 })
    }
}
