//! Which version a connection speaks: negotiation between versions that are compatible, and by Version Negotiation
//! packets (RFC 9368), for the versions 1 and 2 (RFC 9369), whose handshake messages are the same.

use super::Connection;
use crate::config::Config;
use crate::error::{CloseReason, TransportError};
use crate::handshake::CryptoStream;
use crate::ids::MIN_INITIAL_ID;
use crate::opening::Opening;
use crate::space::SpaceKind;
use random::Stream;
use tls::{Change, Choice, Choose};
use trace::PacketKind;
use trace::event::DropReason;
use units::Time;
use wire::{Code, ConnectionId, Header, Side, TransportParameters, Version, VersionInformation, VersionList};

/// What a connection keeps that may come to speak another version than it began with.
pub(super) struct Versions {
    /// At a server that has changed the version: the keys of Initial packets in the version that the client began with,
    /// until it is seen to have changed, too.
    former: Option<tls::Keys>,
    /// At a client: what it takes to begin anew.
    anew: Option<Anew>,
    /// At a client: whether it has begun anew because of a Version Negotiation packet.
    reacted: bool,
}

/// What it takes to begin a handshake anew.
struct Anew {
    tls: tls::Context,
    server_name: Option<String>,
    random: Stream,
}

impl Versions {
    /// Something only where more than one version is spoken.
    pub(super) fn of(
        config: &Config,
        tls: &tls::Context,
        opening: Option<&Opening>,
        fork: &mut impl FnMut(&'static str) -> Stream,
    ) -> Option<Box<Versions>> {
        if config.versions.iter().count() < 2 {
            return None;
        }
        let anew = opening.map(|opening| Anew {
            tls: tls.clone(),
            server_name: opening.server_name.clone(),
            random: fork("versions"),
        });
        Some(Box::new(Versions { former: None, anew, reacted: false }))
    }
}

/// What an end that has chosen this version says of versions. An end that speaks version 1 alone says nothing (RFC 9368
/// section 8). `resumes`: a client stays in the version of its ticket (RFC 9369 section 5).
pub(super) fn information(config: &Config, chosen: Version, resumes: bool) -> Option<VersionInformation> {
    let silent = config.versions.iter().eq([Version::V1]);
    let available = if resumes { [chosen].into_iter().collect() } else { config.versions };
    (!silent).then_some(VersionInformation { chosen, available })
}

/// How a server chooses that has been asked in `first`: of the client's versions the one that it likes best (RFC 9368
/// section 2.3). A client that sends 0-RTT packets keeps its version, since these have the keys of that.
pub(super) fn choice(config: &Config, first: Version, own: &TransportParameters) -> Change {
    let (spoken, mut own) = (config.versions, *own);
    if spoken.iter().count() < 2 {
        return Change::Never;
    }
    Change::Choose(Choose::new(move |offer| {
        let theirs = TransportParameters::decode(offer.parameters, Side::Client).ok()?;
        let theirs = theirs.version_information.filter(|_| !offer.early_data)?;
        let best = spoken.iter().find(|version| theirs.available.contains(*version));
        let version = best.filter(|best| *best != first && theirs.chosen == first)?;
        own.version_information = Some(VersionInformation { chosen: version, available: spoken });
        let mut parameters = Vec::with_capacity(128);
        own.encode(&mut parameters, None);
        Some(Choice { version: version.0, parameters })
    }))
}

impl Connection {
    /// The version of the packets of this type that are sent.
    #[inline]
    pub(super) fn version_of(&self, kind: PacketKind) -> Version {
        // RFC 9369 section 4.1: 0-RTT packets have that of the client's first packet.
        if kind == PacketKind::ZeroRtt { self.origin.version } else { self.version }
    }

    /// Whether packets of this type and version may be of this connection.
    pub(super) fn admits_version(&self, header: &Header) -> bool {
        let first = header.version == self.origin.version;
        match header.kind {
            PacketKind::VersionNegotiation => true,
            // Its integrity tag tells.
            PacketKind::Retry | PacketKind::ZeroRtt => first,
            _ if header.version == self.version => true,
            // RFC 9369 section 4.1: until the client is seen to have changed, too.
            PacketKind::Initial if first => self.former_keys().is_some(),
            PacketKind::Initial | PacketKind::Handshake => self.may_follow(header.version),
            _ => false,
        }
    }

    /// At a server: the keys of Initial packets in the version that the client began with, where it has changed it.
    pub(super) fn former_keys(&self) -> Option<&tls::Keys> {
        self.versions.as_ref()?.former.as_ref()
    }

    /// The peer has sent a packet in the version that was agreed on.
    pub(super) fn on_version_seen(&mut self, version: Version) {
        if let Some(versions) = &mut self.versions
            && version == self.version
        {
            versions.former = None;
        }
    }

    /// TLS has read the ClientHello: a server goes on in the version that it has chosen.
    #[cold]
    pub(super) fn adopt_choice(&mut self) {
        let version = Version(self.session.version());
        let keys = self.initial_keys(version);
        let former = self.space_mut(SpaceKind::Initial).and_then(|space| space.keys.replace(keys));
        if let Some(versions) = &mut self.versions {
            versions.former = former;
        }
        self.set_version(version);
    }

    fn set_version(&mut self, version: Version) {
        self.version = version;
        self.local_parameters.version_information = information(&self.config, version, false);
    }

    /// At a client: whether the server may still change to this version.
    fn may_follow(&self, version: Version) -> bool {
        self.origin.side == Side::Client
            && self.versions.is_some()
            && self.version == self.origin.version
            // The ServerHello decides.
            && self.write_level == SpaceKind::Initial
            && self.config.versions.contains(version)
    }

    /// At a client: an Initial packet has come in another version. If it is the server's, it is the version that was
    /// agreed on (RFC 9369 section 4.1).
    #[cold]
    pub(super) fn follow(&mut self, header: &Header, packet: &[u8], damaged: bool) -> bool {
        let keys = self.initial_keys(header.version);
        let largest = self.space(SpaceKind::Initial).and_then(|space| space.received.ranges.max());
        let follows = super::opens(&keys, header, &mut packet.to_vec(), (largest, damaged))
            && self.session.follow(header.version.0);
        if follows {
            if let Some(space) = self.space_mut(SpaceKind::Initial) {
                space.keys = Some(keys);
            }
            self.version = header.version;
        }
        follows
    }

    /// RFC 9368 sections 2.1 and 4: only before anything else came from the server, and only if it does not list the
    /// version that was tried.
    pub(super) fn on_version_negotiation(&mut self, now: Time, header: &Header, packet: &[u8]) {
        let expected = self.origin.side == Side::Client
            // RFC 9000-6.2-2: a Retry counts too.
            && self.stats.packets_received == 0
            && !self.versions.as_ref().is_some_and(|versions| versions.reacted)
            && header.source == self.origin.original_destination
            && header.destination == self.local_ids.first();
        // RFC 9000-6.2-3: a server that speaks the version in use has no reason to list it.
        if !expected || header.versions(packet).any(|version| version == self.origin.version) {
            return self.drop_packet(now, PacketKind::VersionNegotiation, packet.len(), DropReason::Invalid);
        }
        let listed: VersionList = header.versions(packet).collect();
        self.trace_versions(now, listed, None);
        let common = self.config.versions.iter().find(|version| listed.contains(*version));
        match common {
            Some(version) => {
                if let Err(error) = self.begin_in(now, version) {
                    self.fail(now, error);
                }
            }
            None => {
                // RFC 9000-6.2-1: no other version is spoken here.
                self.end_silently(now, CloseReason::VersionMismatch);
            }
        }
    }

    /// At a client: begins the handshake anew in another version. What the application has written goes out in that.
    fn begin_in(&mut self, now: Time, version: Version) -> Result<(), TransportError> {
        let Some(versions) = self.versions.as_deref_mut() else { return Ok(()) };
        let Some(anew) = versions.anew.as_mut() else { return Ok(()) };
        versions.reacted = true;
        // RFC 9000-7.2-1: it is another connection attempt.
        let mut id = [0; MIN_INITIAL_ID];
        anew.random.fill(&mut id);
        let id = ConnectionId::new(&id).unwrap_or(ConnectionId::EMPTY);
        self.local_parameters.version_information = information(&self.config, version, false);
        let mut parameters = Vec::with_capacity(128);
        self.local_parameters.encode(&mut parameters, None);
        let random = anew.random.fork("tls");
        let start = tls::Start { random, now, version: version.0, parameters, change: Change::Follow };
        let request = tls::Request { server_name: anew.server_name.as_deref(), ..tls::Request::default() };
        self.session = anew.tls.client(start, request).map_err(super::establish::no_session)?;
        (self.origin.version, self.version) = (version, version);
        (self.origin.original_destination, self.origin.initial_destination) = (id, id);
        self.set_peer_id(id);
        self.take_remembered_token();
        self.give_up_early_data(now);
        self.begin_again(now);
        let keys = self.initial_keys(version);
        if let Some(space) = self.space_mut(SpaceKind::Initial) {
            space.keys = Some(keys);
            space.crypto = CryptoStream::new();
        }
        self.drive_handshake(now)
    }

    /// The keys of Initial packets in a version.
    pub(super) fn initial_keys(&self, version: Version) -> tls::Keys {
        let id = self.origin.initial_destination;
        tls::initial_keys(self.protection, version.0, id.as_bytes(), self.origin.side)
    }

    /// The peer's transport parameters have come, which tell whether somebody on the way has meddled with the choice of
    /// the version (RFC 9368 section 4).
    pub(super) fn check_versions(&self, peer: &TransportParameters) -> Result<(), TransportError> {
        let error = |reason| Err(TransportError::new(Code::VERSION_NEGOTIATION_ERROR, reason));
        let client = self.origin.side == Side::Client;
        let reacted = self.versions.as_ref().is_some_and(|versions| versions.reacted);
        let Some(theirs) = peer.version_information else {
            // RFC 9368 section 8: a server that speaks version 1 alone need not say so.
            let needed = self.version != self.origin.version || reacted && self.version != Version::V1;
            return if client && needed { error("version_information is missing") } else { Ok(()) };
        };
        let expected = if client { self.version } else { self.origin.version };
        if theirs.chosen != expected {
            return error("the version that the peer has chosen is not the one in use");
        }
        // Without the attacker's list it would have chosen this one.
        let best = self.config.versions.iter().find(|version| theirs.available.contains(*version));
        if reacted && best != Some(self.version) {
            return error("a version that both ends like better was kept from them");
        }
        Ok(())
    }
}
