//! The versions of a connection: packets of other versions (see [`crate::version`]), and what depends on the version:
//! long headers and Initial keys.

use super::Connection;
use crate::error::{CloseReason, TransportError};
use crate::ids::MIN_INITIAL_ID;
use crate::space::SpaceKind;
use crate::version::{Reaction, Restart};
use tls::Change;
use trace::PacketKind;
use trace::event::DropReason;
use units::Time;
use wire::header::{LongHeader, WrittenLong};
use wire::{ConnectionId, Header, Side, Truncated, Version};

impl Connection {
    /// The version of QUIC in use.
    pub fn version(&self) -> Version {
        self.versions.in_use()
    }

    /// Whether packets of this type and version may belong to this connection.
    pub(super) fn admits_version(&self, header: &Header) -> bool {
        let undecided = self.crypto.level() == SpaceKind::Initial;
        self.versions.admits(header.kind, header.version, undecided)
    }

    /// Switches a server to the version that it has chosen, once TLS has read the ClientHello.
    #[cold]
    pub(super) fn adopt_choice(&mut self) {
        let version = Version(self.session.version());
        let former = self.keys.set_handshake_keys(SpaceKind::Initial, self.initial_keys(version));
        debug_assert!(former.is_some(), "a server chooses the version with the client's Initial keys in use");
        self.versions.adopt(version, former);
        self.local_parameters.version_information = self.versions.information();
    }

    /// Handles an Initial packet of another version at a client. If it is authentic, its version is the negotiated
    /// one (RFC 9369 section 4.1). Returns whether it is.
    #[cold]
    pub(super) fn follow(
        &mut self,
        header: &Header,
        packet: &[u8],
        largest: Option<u64>,
        damaged: bool,
    ) -> bool {
        let keys = self.initial_keys(header.version);
        let follows = super::can_decrypt(&keys, header, &mut packet.to_vec(), largest, damaged)
            && self.session.follow(header.version.0);
        if follows {
            self.keys.set_handshake_keys(SpaceKind::Initial, keys);
            self.versions.follow(header.version);
        }
        follows
    }

    /// RFC 9368 sections 2.1 and 4: valid only before any other packet of the server, and only if it does not list
    /// the version of the attempt.
    pub(super) fn on_version_negotiation(&mut self, now: Time, header: &Header, packet: &[u8]) {
        let expected = self.origin.side == Side::Client
            // RFC 9000-6.2-2: "if it has received and successfully processed any other packet", a Retry
            // included.
            && self.is_blank()
            && header.source == self.origin.original_destination
            && header.destination == self.origin.source;
        let reaction =
            if expected { self.versions.on_list(header.versions(packet)) } else { Reaction::Ignore };
        if reaction == Reaction::Ignore {
            return self.drop_packet(now, PacketKind::VersionNegotiation, packet.len(), DropReason::Invalid);
        }
        self.trace_versions(now, header.versions(packet).collect(), None);
        match reaction {
            Reaction::RestartIn(version) => {
                if let Err(error) = self.restart_in(now, version) {
                    self.fail(now, error);
                }
            }
            _ => self.end_silently(now, CloseReason::VersionMismatch),
        }
    }

    /// Restarts a client's handshake in another version. Data that the application has written is sent in that
    /// version.
    fn restart_in(&mut self, now: Time, version: Version) -> Result<(), TransportError> {
        let restart = self.versions.restart(version);
        let restart = restart.expect("a client that reacts to a list of versions can restart");
        let Restart { tls, server_name, random } = restart;
        // RFC 9000-7.2-1: "at least 8 bytes in length": a new random id for a new attempt.
        let mut id = [0; MIN_INITIAL_ID];
        random.fill(&mut id);
        let id = ConnectionId::new(&id).expect("a connection ID may have 8 bytes");
        let (random, tls) = (random.fork("tls"), tls.clone());
        let server_name = server_name.clone();
        self.local_parameters.version_information = self.versions.information();
        let mut parameters = Vec::with_capacity(128);
        self.local_parameters.encode(&mut parameters, None);
        let start = tls::Start { random, now, version: version.0, parameters, change: Change::Follow };
        let request = tls::Request { server_name: server_name.as_deref(), ..tls::Request::default() };
        self.session = tls.client(start, request).map_err(super::establish::no_session)?;
        (self.origin.original_destination, self.origin.initial_destination) = (id, id);
        self.set_peer_id(id);
        self.tokens.recall(version);
        self.give_up_early_data(now);
        self.restart(now);
        self.renew_initial_keys();
        self.crypto.restart();
        self.drive_handshake(now)
    }

    /// The Initial keys for a version.
    fn initial_keys(&self, version: Version) -> tls::Keys {
        let id = self.origin.initial_destination;
        tls::initial_keys(self.protection, version.0, id.as_bytes(), self.origin.side)
    }
    /// Derives new Initial keys after a change of the destination id or the version.
    pub(super) fn renew_initial_keys(&mut self) {
        self.keys.set_handshake_keys(SpaceKind::Initial, self.initial_keys(self.versions.in_use()));
    }

    /// Writes a long header.
    #[cold]
    pub(super) fn write_long_header(
        &self,
        kind: PacketKind,
        destination: ConnectionId,
        number: Truncated,
        buffer: &mut Vec<u8>,
    ) -> WrittenLong {
        let header = LongHeader {
            kind,
            version: self.versions.of_packets(kind),
            destination,
            // RFC 9000-17.2.5.2-5: "The client MUST NOT change the Source Connection ID".
            source: self.origin.source,
            // RFC 9000-8.1.2-1, 9000-8.1.3-1: written in all Initial packets, and only there. RFC 9000-17.2.2-1: a
            // server has no token.
            token: self.tokens.initial(),
            number,
        };
        header.write(buffer)
    }
}
