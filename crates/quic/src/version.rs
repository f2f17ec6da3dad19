//! Version negotiation: compatible negotiation and Version Negotiation packets (RFC 9368) for versions 1 and 2 (RFC
//! 9369), whose handshake messages are the same.

use crate::config::Config;
use crate::error::TransportError;
use crate::opening::Opening;
use random::Generator;
use tls::{Change, Choice, Choose, Keys};
use trace::PacketKind;
use wire::{Code, Side, TransportParameters, Version, VersionInformation, VersionList};

/// What a client needs to restart its handshake.
pub(crate) struct Restart {
    pub(crate) tls: tls::Context,
    pub(crate) server_name: Option<String>,
    pub(crate) random: Generator,
}

/// The state of a connection that may change its version.
struct Negotiation {
    /// At a server that has changed the version: the Initial keys of the client's first version, until a packet shows
    /// that the client has changed, too.
    former: Option<Keys>,
    /// At a client: what it needs to restart.
    restart: Option<Restart>,
    /// At a client: whether it has restarted because of a Version Negotiation packet.
    reacted: bool,
}

/// The versions of a connection.
pub(crate) struct Versions {
    side: Side,
    /// The version of the client's first packet; after a restart, of the first packet of the last attempt.
    first: Version,
    /// The version in use.
    in_use: Version,
    /// The versions in the options, the preferred one first.
    supported: VersionList,
    /// Present if there is more than one.
    negotiation: Option<Box<Negotiation>>,
}

/// The reaction to a Version Negotiation packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reaction {
    /// Drop it.
    Ignore,
    /// Restart the handshake in this version.
    RestartIn(Version),
    /// End the connection: there is no common version.
    NoCommonVersion,
}

impl Versions {
    /// The state of a connection that starts with version `first`.
    pub(crate) fn new(
        side: Side,
        first: Version,
        config: &Config,
        tls: &tls::Context,
        opening: Option<&Opening>,
        fork: &mut impl FnMut(&'static str) -> Generator,
    ) -> Versions {
        let negotiation = (config.versions.iter().count() > 1).then(|| {
            let restart = opening.map(|opening| Restart {
                tls: tls.clone(),
                server_name: opening.server_name.clone(),
                random: fork("versions"),
            });
            Box::new(Negotiation { former: None, restart, reacted: false })
        });
        Versions { side, first, in_use: first, supported: config.versions, negotiation }
    }

    /// The version of the client's first packet.
    pub(crate) fn first(&self) -> Version {
        self.first
    }
    /// The version in use.
    #[inline]
    pub(crate) fn in_use(&self) -> Version {
        self.in_use
    }
    /// The version of sent packets of this type.
    pub(crate) fn of_packets(&self, kind: PacketKind) -> Version {
        // RFC 9369 section 4.1: 0-RTT packets use the version of the client's first packet.
        if kind == PacketKind::ZeroRtt { self.first } else { self.in_use }
    }
    /// The version_information parameter of this endpoint.
    pub(crate) fn information(&self) -> Option<VersionInformation> {
        information(&self.supported, self.in_use, false)
    }

    /// Whether packets of this type and version may belong to this connection. `undecided`: TLS has not read a
    /// message of the peer that decides the version.
    pub(crate) fn admits(&self, kind: PacketKind, version: Version, undecided: bool) -> bool {
        let first = version == self.first;
        match kind {
            PacketKind::VersionNegotiation => true,
            // The integrity tag authenticates a Retry packet.
            PacketKind::Retry | PacketKind::ZeroRtt => first,
            _ if version == self.in_use => true,
            // RFC 9369 section 4.1: until a packet shows that the client has changed, too.
            PacketKind::Initial if first => self.former_keys().is_some(),
            // At a client: the server may still change to this version; the ServerHello decides.
            PacketKind::Initial | PacketKind::Handshake => {
                self.side == Side::Client
                    && self.negotiation.is_some()
                    && self.in_use == self.first
                    && undecided
                    && self.supported.contains(version)
            }
            _ => false,
        }
    }

    /// At a server that has changed the version: the Initial keys of the client's first version.
    pub(crate) fn former_keys(&self) -> Option<&Keys> {
        self.negotiation.as_ref()?.former.as_ref()
    }
    /// Notes that the peer has sent a packet in this version.
    pub(crate) fn on_seen(&mut self, version: Version) {
        if let Some(negotiation) = &mut self.negotiation
            && version == self.in_use
        {
            negotiation.former = None;
        }
    }
    /// Switches a server to the version that TLS has chosen. `former`: the previous Initial keys.
    pub(crate) fn adopt(&mut self, version: Version, former: Option<Keys>) {
        if let Some(negotiation) = &mut self.negotiation {
            negotiation.former = former;
        }
        self.in_use = version;
    }
    /// Switches a client to the version that the server has chosen.
    pub(crate) fn follow(&mut self, version: Version) {
        self.in_use = version;
    }

    /// The reaction of a client to a Version Negotiation packet with this list, received before any other packet (RFC
    /// 9368 sections 2.1 and 4).
    pub(crate) fn on_list(&self, listed: impl Iterator<Item = Version> + Clone) -> Reaction {
        let reacted = self.negotiation.as_ref().is_some_and(|negotiation| negotiation.reacted);
        // RFC 9000-6.2-3: "that lists the QUIC version selected by the client".
        if reacted || listed.clone().any(|version| version == self.first) {
            return Reaction::Ignore;
        }
        let listed: VersionList = listed.collect();
        let common = self.supported.iter().find(|version| listed.contains(*version));
        // RFC 9000-6.2-1: "MUST abandon the current connection attempt", without a common version.
        common.map_or(Reaction::NoCommonVersion, Reaction::RestartIn)
    }
    /// Restarts a client in another version; returns what it needs.
    pub(crate) fn restart(&mut self, version: Version) -> Option<&mut Restart> {
        let negotiation = self.negotiation.as_deref_mut()?;
        let restart = negotiation.restart.as_mut()?;
        negotiation.reacted = true;
        (self.first, self.in_use) = (version, version);
        Some(restart)
    }

    /// Checks the peer's version_information, which reveals a downgrade attack (RFC 9368 section 4).
    pub(crate) fn check(&self, theirs: Option<VersionInformation>) -> Result<(), TransportError> {
        let error = |reason| Err(TransportError::new(Code::VERSION_NEGOTIATION_ERROR, reason));
        let client = self.side == Side::Client;
        let reacted = self.negotiation.as_ref().is_some_and(|negotiation| negotiation.reacted);
        let Some(theirs) = theirs else {
            // RFC 9368 section 8: a server that supports only version 1 may omit it.
            let needed = self.in_use != self.first || reacted && self.in_use != Version::V1;
            return if client && needed { error("version_information is missing") } else { Ok(()) };
        };
        let expected = if client { self.in_use } else { self.first };
        if theirs.chosen != expected {
            return error("the peer's chosen version is not the version in use");
        }
        // Without a forged list, the client would have chosen this version.
        let best = self.supported.iter().find(|version| theirs.available.contains(*version));
        if reacted && best != Some(self.in_use) {
            return error("version downgrade: both ends support a preferred version");
        }
        Ok(())
    }
}

/// The version_information parameter of an endpoint that has chosen this version; `None` if it supports only version
/// 1 (RFC 9368 section 8). `resumes`: a client keeps the version of its ticket (RFC 9369 section 5).
pub(crate) fn information(
    supported: &VersionList,
    chosen: Version,
    resumes: bool,
) -> Option<VersionInformation> {
    let silent = supported.iter().eq([Version::V1]);
    let available = if resumes { [chosen].into_iter().collect() } else { *supported };
    (!silent).then_some(VersionInformation { chosen, available })
}

/// A server's choice for a client that starts with `first`: its preferred one of the client's versions (RFC 9368
/// section 2.3). A client that sends 0-RTT packets keeps its version, because their keys depend on it.
pub(crate) fn choice(supported: VersionList, first: Version, own: &TransportParameters) -> Change {
    let mut own = *own;
    if supported.iter().count() < 2 {
        return Change::Never;
    }
    Change::Choose(Choose::new(move |offer| {
        let theirs = TransportParameters::decode(offer.parameters, Side::Client).ok()?;
        let theirs = theirs.version_information.filter(|_| !offer.early_data)?;
        let best = supported.iter().find(|version| theirs.available.contains(*version));
        let version = best.filter(|best| *best != first && theirs.chosen == first)?;
        own.version_information = Some(VersionInformation { chosen: version, available: supported });
        let mut parameters = Vec::with_capacity(128);
        own.encode(&mut parameters, None);
        Some(Choice { version: version.0, parameters })
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHER: Version = Version(0x1a2a_3a4a);

    fn versions(side: Side, supported: &[Version]) -> Versions {
        let supported: VersionList = supported.iter().copied().collect();
        let negotiation = Negotiation { former: None, restart: None, reacted: false };
        let negotiation = (supported.iter().count() > 1).then(|| Box::new(negotiation));
        Versions { side, first: Version::V1, in_use: Version::V1, supported, negotiation }
    }

    /// RFC 9000-6.2-1, 9000-6.2-3; RFC 9368 section 2.1: a client reacts to only one packet.
    #[test]
    fn a_client_chooses_its_preferred_version_in_the_list() {
        let mut client = versions(Side::Client, &[Version::V2, Version::V1]);
        let react = |client: &Versions, list: &[Version]| client.on_list(list.iter().copied());
        assert_eq!(react(&client, &[OTHER, Version::V1]), Reaction::Ignore);
        assert_eq!(react(&client, &[OTHER, Version::V2]), Reaction::RestartIn(Version::V2));
        assert_eq!(react(&client, &[OTHER]), Reaction::NoCommonVersion);
        assert!(client.restart(Version::V2).is_none(), "there is nothing to begin anew with");
        client.negotiation.as_mut().unwrap().reacted = true;
        assert_eq!(react(&client, &[OTHER, Version::V2]), Reaction::Ignore);
    }

    /// RFC 9369 section 4.1.
    #[test]
    fn a_client_follows_the_server_until_its_hello_has_decided() {
        let mut client = versions(Side::Client, &[Version::V2, Version::V1]);
        assert!(client.admits(PacketKind::Initial, Version::V2, true));
        assert!(!client.admits(PacketKind::Initial, Version::V2, false));
        assert!(!client.admits(PacketKind::Initial, OTHER, true));
        client.follow(Version::V2);
        assert!(!client.admits(PacketKind::Initial, Version::V1, true), "and not back");
        assert_eq!(client.of_packets(PacketKind::ZeroRtt), Version::V1);
        assert_eq!(client.of_packets(PacketKind::Handshake), Version::V2);
        assert!(!versions(Side::Client, &[Version::V1]).admits(PacketKind::Initial, Version::V2, true));
    }

    /// RFC 9368 section 4: a downgrade is detected.
    #[test]
    fn the_peers_version_information_is_checked() {
        let mut client = versions(Side::Client, &[Version::V2, Version::V1]);
        let available: VersionList = [Version::V2, Version::V1].into_iter().collect();
        let says = |chosen| Some(VersionInformation { chosen, available });
        assert!(client.check(says(Version::V1)).is_ok() && client.check(None).is_ok());
        assert!(client.check(says(Version::V2)).is_err());
        client.negotiation.as_mut().unwrap().reacted = true;
        assert!(client.check(says(Version::V1)).is_err(), "version 2 was kept from the two");
        client.follow(Version::V2);
        assert!(client.check(says(Version::V2)).is_ok() && client.check(None).is_err());
    }
}
