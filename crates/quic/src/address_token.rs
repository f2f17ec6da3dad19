//! Address validation tokens: how a server issues and checks them (RFC 9000 section 8.1).
//!
//! The first byte distinguishes three kinds; the rest is sealed with the endpoint's secret:
//!
//! * a token of a Retry packet holds the time and the client's first destination id; it is bound to the client's
//!   address and port, the source id of the Retry and the version;
//! * a token of a NEW_TOKEN frame holds the time; it is bound to the client's IP address and the version (RFC 9369
//!   section 5);
//! * a token with a capacity (RFC 9959) is one of these that also holds the address, the capacity of the path and the date
//!   of that, so that the server needs no memory of it.

use congestion::{Learned, Refusal, Saved, Spent};
use random::Generator;
use std::net::{IpAddr, SocketAddr};
use tls::EndpointKey;
use units::Duration;
use wire::{ConnectionId, Version};

/// The first byte of a token of a Retry packet.
const RETRY: u8 = 0x52;
/// The first byte of a token of a NEW_TOKEN frame.
const NEW: u8 = 0x4e;
/// The first byte of a token of a NEW_TOKEN frame with a capacity.
const CAPACITY: u8 = 0x43;
/// The length of what a token with a capacity seals: time, address, window, RTT in nanoseconds, date of the observation.
const CAPACITY_LENGTH: usize = TIME_LENGTH + 16 + 3 * 8;
/// The length of the time in milliseconds.
const TIME_LENGTH: usize = 8;
/// The length of a token of a Retry packet: kind, time, length of the id, the id padded with zeros, seal.
const RETRY_LENGTH: usize = 1 + TIME_LENGTH + 1 + ConnectionId::MAX_LENGTH + EndpointKey::OVERHEAD;

/// The packet in which a client presents a token.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Presentation {
    pub(crate) remote: SocketAddr,
    pub(crate) version: Version,
    /// The destination id of the client's Initial packet.
    pub(crate) destination: ConnectionId,
    /// The date in milliseconds since 1970.
    pub(crate) date_ms: u64,
}

/// The result of checking a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Credential {
    /// No token: the address is not validated.
    None,
    /// Not a token of this server, or not valid any more: treated as if it were absent (RFC 9000 section 8.1.3).
    Ignored,
    /// A valid token of a NEW_TOKEN frame sent to this address.
    Known,
    /// A valid token of a Retry packet sent to this address. The Retry answered a packet with this destination id.
    Retried(ConnectionId),
    /// An invalid token of a Retry packet: the handshake is refused (RFC 9000 section 8.1.2).
    Invalid,
}

/// The token of a Retry packet with this source id, which answers a packet to `presentation.destination`.
pub(crate) fn retry_token(
    key: &EndpointKey,
    random: &mut Generator,
    presentation: &Presentation,
    source: ConnectionId,
) -> Vec<u8> {
    let mut text = Vec::with_capacity(RETRY_LENGTH);
    text.extend_from_slice(&presentation.date_ms.to_be_bytes());
    text.push(presentation.destination.len() as u8);
    text.extend_from_slice(presentation.destination.as_bytes());
    text.resize(TIME_LENGTH + 1 + ConnectionId::MAX_LENGTH, 0);
    seal(key, random, RETRY, &retry_context(presentation, source), &text)
}

/// A token for a NEW_TOKEN frame to this address.
pub(crate) fn new_token(
    key: &EndpointKey,
    random: &mut Generator,
    to: IpAddr,
    version: Version,
    date_ms: u64,
) -> Vec<u8> {
    seal(key, random, NEW, &new_context(to, version), &date_ms.to_be_bytes())
}

/// The same with the capacity of the path.
pub(crate) fn capacity_token(
    key: &EndpointKey,
    random: &mut Generator,
    version: Version,
    date_ms: u64,
    learned: Learned,
) -> Vec<u8> {
    let mut text = Vec::with_capacity(CAPACITY_LENGTH);
    text.extend_from_slice(&date_ms.to_be_bytes());
    text.extend_from_slice(&octets(learned.ip));
    for value in [learned.saved.window, learned.saved.rtt.as_nanos(), learned.date_ms] {
        text.extend_from_slice(&value.to_be_bytes());
    }
    seal(key, random, CAPACITY, &capacity_context(version), &text)
}

/// The contents of a token with a capacity.
struct CapacityText {
    date_ms: u64,
    learned: Learned,
}

impl CapacityText {
    /// `None` if the length is that of another format.
    fn parse(text: &[u8]) -> Option<CapacityText> {
        let (date, rest) = text.split_first_chunk::<TIME_LENGTH>()?;
        let (ip, rest) = rest.split_first_chunk::<16>()?;
        let mut values = rest.chunks_exact(8).map(|value| value.try_into().map(u64::from_be_bytes));
        let mut next = || values.next()?.ok();
        let saved = Saved { window: next()?, rtt: Duration::from_nanos(next()?) };
        let learned = Learned { saved, ip: IpAddr::from(*ip).to_canonical(), date_ms: next()? };
        let date_ms = u64::from_be_bytes(*date);
        (text.len() == CAPACITY_LENGTH).then_some(CapacityText { date_ms, learned })
    }
}

/// The capacity that a client presents, or why it cannot be used.
pub(crate) type Presented = Result<Learned, Refusal>;

fn seal(key: &EndpointKey, random: &mut Generator, kind: u8, context: &[u8], text: &[u8]) -> Vec<u8> {
    // RFC 9000-8.1.4-1, 9000-8.1.3-4: "unique across all clients". 128 random bits.
    let mut salt = [0; 16];
    random.fill(&mut salt);
    // RFC 9000-8.1.1-1: "in a way that allows the server to identify how it was provided to a client": by the
    // first byte.
    let mut token = vec![kind];
    // RFC 9000-8.1.4-2, 9000-8.1.3-3: "covered by integrity protection", and sealed, so that no observer can
    // link it.
    token.extend(key.seal(salt, context, text));
    token
}

fn retry_context(presentation: &Presentation, source: ConnectionId) -> Vec<u8> {
    let mut context = new_context(presentation.remote.ip(), presentation.version);
    context[0] = RETRY;
    context.extend_from_slice(&presentation.remote.port().to_be_bytes());
    context.extend_from_slice(source.as_bytes());
    context
}

fn new_context(ip: IpAddr, version: Version) -> Vec<u8> {
    let mut context = vec![NEW];
    context.extend_from_slice(&version.0.to_be_bytes());
    context.extend_from_slice(&octets(ip));
    context
}

fn capacity_context(version: Version) -> Vec<u8> {
    let mut context = vec![CAPACITY];
    context.extend_from_slice(&version.0.to_be_bytes());
    context
}

/// An address as one of IPv6.
fn octets(ip: IpAddr) -> [u8; 16] {
    match ip {
        IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
        IpAddr::V6(ip) => ip.octets(),
    }
}

/// How long tokens are valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TokenLifetimes {
    /// For tokens of Retry packets.
    pub(crate) retry: Duration,
    /// For tokens of NEW_TOKEN frames.
    pub(crate) new: Duration,
}

/// The used tokens of NEW_TOKEN frames, so that none is accepted twice (RFC 9000 section 8.1.4).
#[derive(Debug, Default)]
pub(crate) struct SpentTokens(Spent);

impl SpentTokens {
    /// The number of remembered tokens.
    #[cfg(feature = "fuzz")]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Forgets which tokens were used, and accepts none that was issued up to this date.
    pub(crate) fn clear(&mut self, date_ms: u64) {
        self.0.clear(date_ms);
    }

    /// Checks the token of a client's first packet.
    pub(crate) fn check(
        &mut self,
        key: &EndpointKey,
        token: &[u8],
        presentation: &Presentation,
        lifetimes: TokenLifetimes,
    ) -> Credential {
        // RFC 9000-8.1.3-7: "it MUST attempt to validate the token".
        match token.split_first() {
            None => Credential::None,
            Some((&RETRY, sealed)) if token.len() == RETRY_LENGTH => {
                let original = retried(key, sealed, presentation, lifetimes.retry);
                original.map_or(Credential::Invalid, Credential::Retried)
            }
            Some((&NEW, sealed)) => {
                // RFC 9000-8.1.4-3, 9000-8.1.4-4: "that the client IP address has not changed".
                let text = key.open(&new_context(presentation.remote.ip(), presentation.version), sealed);
                let issued = text.and_then(|text| Some(u64::from_be_bytes(text.try_into().ok()?)));
                let fresh = issued.filter(|issued| is_fresh(*issued, presentation.date_ms, lifetimes.new));
                // RFC 9000-8.1.4-5: "that replay of tokens is prevented or limited".
                match fresh.is_some_and(|issued| self.0.spend(issued, key.ids().hash(sealed))) {
                    true => Credential::Known,
                    false => Credential::Ignored,
                }
            }
            Some((&CAPACITY, sealed)) => match self.open_capacity(key, sealed, presentation, lifetimes) {
                Ok(learned) if learned.ip == presentation.remote.ip().to_canonical() => Credential::Known,
                _ => Credential::Ignored,
            },
            Some(_) => Credential::Ignored,
        }
    }

    /// The capacity in the token of a client's first packet, if there is one. It is checked before the token itself, which
    /// is used by that.
    pub(crate) fn presented(
        &self,
        key: &EndpointKey,
        token: &[u8],
        presentation: &Presentation,
    ) -> Option<Presented> {
        let (kind, sealed) = token.split_first()?;
        (*kind == CAPACITY).then(|| {
            let text = key.open(&capacity_context(presentation.version), sealed).ok_or(Refusal::Forged)?;
            let text = CapacityText::parse(&text).ok_or(Refusal::Unknown)?;
            if self.0.is_spent(text.date_ms, key.ids().hash(sealed)) {
                return Err(Refusal::Replayed);
            }
            Ok(text.learned)
        })
    }

    /// Opens and uses a token with a capacity.
    fn open_capacity(
        &mut self,
        key: &EndpointKey,
        sealed: &[u8],
        presentation: &Presentation,
        lifetimes: TokenLifetimes,
    ) -> Presented {
        let text = key.open(&capacity_context(presentation.version), sealed).ok_or(Refusal::Forged)?;
        let text = CapacityText::parse(&text).ok_or(Refusal::Unknown)?;
        let fresh = is_fresh(text.date_ms, presentation.date_ms, lifetimes.new);
        if !self.0.spend(text.date_ms, key.ids().hash(sealed)) {
            return Err(Refusal::Replayed);
        }
        if fresh { Ok(text.learned) } else { Err(Refusal::Expired) }
    }
}

/// The client's first destination id from the token of a Retry packet, if that is valid.
fn retried(
    key: &EndpointKey,
    sealed: &[u8],
    presentation: &Presentation,
    lifetime: Duration,
) -> Option<ConnectionId> {
    let text = key.open(&retry_context(presentation, presentation.destination), sealed)?;
    let (issued, id) = text.split_first_chunk::<TIME_LENGTH>()?;
    let (length, id) = id.split_first()?;
    let original = ConnectionId::new(id.get(..usize::from(*length))?)?;
    is_fresh(u64::from_be_bytes(*issued), presentation.date_ms, lifetime).then_some(original)
}

/// Whether a token is within its lifetime. A date of issue in the future comes from another clock and is refused.
fn is_fresh(issued_ms: u64, now_ms: u64, lifetime: Duration) -> bool {
    now_ms.checked_sub(issued_ms).is_some_and(|age| age <= lifetime.as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIFETIMES: TokenLifetimes =
        TokenLifetimes { retry: Duration::from_secs(10), new: Duration::from_secs(1000) };

    fn key() -> EndpointKey {
        EndpointKey::new(&[1; 32])
    }
    fn id(byte: u8) -> ConnectionId {
        ConnectionId::new(&[byte; 8]).unwrap()
    }
    fn presentation() -> Presentation {
        let remote = "10.0.0.1:50000".parse().unwrap();
        Presentation { remote, version: Version::V1, destination: id(1), date_ms: 1_000_000 }
    }
    fn check(token: &[u8], presentation: &Presentation) -> Credential {
        SpentTokens::default().check(&key(), token, presentation, LIFETIMES)
    }

    /// RFC 9000-8.1.4-1, 9000-8.1.4-2: a token is bound to address, port, id, version and time.
    #[test]
    fn the_token_of_a_retry_is_valid_only_where_it_was_issued() {
        let token = retry_token(&key(), &mut Generator::new(1, "tokens"), &presentation(), id(2));
        assert_eq!(token.len(), RETRY_LENGTH);
        let back = Presentation { destination: id(2), ..presentation() };
        assert_eq!(check(&token, &back), Credential::Retried(id(1)));
        assert_eq!(check(&token, &Presentation { date_ms: 1_010_000, ..back }), Credential::Retried(id(1)));
        for wrong in [
            Presentation { date_ms: 1_010_001, ..back },
            Presentation { date_ms: 999_999, ..back },
            Presentation { destination: id(3), ..back },
            Presentation { version: Version::V2, ..back },
            Presentation { remote: "10.0.0.1:50001".parse().unwrap(), ..back },
            Presentation { remote: "10.0.0.2:50000".parse().unwrap(), ..back },
        ] {
            assert_eq!(check(&token, &wrong), Credential::Invalid, "{wrong:?}");
        }
        let other = SpentTokens::default().check(&EndpointKey::new(&[2; 32]), &token, &back, LIFETIMES);
        assert_eq!(other, Credential::Invalid);
        for at in 1..token.len() {
            let mut changed = token.clone();
            changed[at] ^= 1;
            assert_eq!(check(&changed, &back), Credential::Invalid, "{at}");
        }
    }

    /// RFC 9000-8.1.1-1, 9000-8.1.3-4, 9000-8.1.4-3.
    #[test]
    fn a_new_token_is_valid_at_its_address_with_any_port() {
        let mut random = Generator::new(1, "tokens");
        let ip = presentation().remote.ip();
        let mut issue = || new_token(&key(), &mut random, ip, Version::V1, 1_000_000);
        let (token, another) = (issue(), issue());
        assert_ne!(token[1..], another[1..]);
        let later =
            Presentation { remote: "10.0.0.1:9".parse().unwrap(), date_ms: 2_000_000, ..presentation() };
        assert_eq!(check(&token, &later), Credential::Known);
        for wrong in [
            Presentation { date_ms: 2_000_001, ..later },
            Presentation { date_ms: 999_999, ..later },
            Presentation { version: Version::V2, ..later },
            Presentation { remote: "10.0.0.2:9".parse().unwrap(), ..later },
            Presentation { remote: "[2001:db8::1]:9".parse().unwrap(), ..later },
        ] {
            assert_eq!(check(&token, &wrong), Credential::Ignored, "{wrong:?}");
        }
        // RFC 9000-8.1.3-3: neither the time nor the address is visible.
        assert!(!token.windows(4).any(|part| part == [10, 0, 0, 1] || part == [0, 0x0f, 0x42, 0x40]));
    }

    /// A token with a capacity is one of NEW_TOKEN, bound to its address, and nobody but the server reads or makes it.
    #[test]
    fn a_token_carries_a_capacity() {
        let mut random = Generator::new(1, "tokens");
        let remote = presentation().remote;
        let saved = Saved { window: 3_750_000, rtt: Duration::from_millis(600) };
        let learned = Learned { saved, ip: remote.ip(), date_ms: 999_000 };
        let token = capacity_token(&key(), &mut random, Version::V1, 1_000_000, learned);
        let of = |spent: &SpentTokens, token: &[u8], presentation: &Presentation| {
            spent.presented(&key(), token, presentation)
        };
        let mut spent = SpentTokens::default();
        assert_eq!(of(&spent, &token, &presentation()), Some(Ok(learned)));
        assert_eq!(spent.check(&key(), &token, &presentation(), LIFETIMES), Credential::Known);
        assert_eq!(of(&spent, &token, &presentation()), Some(Err(Refusal::Replayed)));
        assert_eq!(spent.check(&key(), &token, &presentation(), LIFETIMES), Credential::Ignored);
        // At another address it says where it comes from, and validates nothing.
        let elsewhere = Presentation { remote: "10.0.0.2:9".parse().unwrap(), ..presentation() };
        assert_eq!(of(&SpentTokens::default(), &token, &elsewhere), Some(Ok(learned)));
        assert_eq!(check(&token, &elsewhere), Credential::Ignored);
        let late = Presentation { date_ms: 2_000_001, ..presentation() };
        assert_eq!(check(&token, &late), Credential::Ignored);
        for at in 1..token.len() {
            let mut changed = token.clone();
            changed[at] ^= 1;
            assert_eq!(of(&SpentTokens::default(), &changed, &presentation()), Some(Err(Refusal::Forged)));
            assert_eq!(check(&changed, &presentation()), Credential::Ignored);
        }
        let other = Presentation { version: Version::V2, ..presentation() };
        assert_eq!(of(&SpentTokens::default(), &token, &other), Some(Err(Refusal::Forged)));
        // A format of the future.
        let longer =
            seal(&key(), &mut random, CAPACITY, &capacity_context(Version::V1), &[0; CAPACITY_LENGTH + 8]);
        assert_eq!(of(&SpentTokens::default(), &longer, &presentation()), Some(Err(Refusal::Unknown)));
        let plain = new_token(&key(), &mut random, remote.ip(), Version::V1, 1_000_000);
        assert_eq!(of(&SpentTokens::default(), &plain, &presentation()), None);
        assert!(!token.windows(4).any(|part| part == [10, 0, 0, 1]));
    }

    #[test]
    fn foreign_tokens_are_ignored() {
        for token in [&[0x17; 50][..], b"N", b"R", &[RETRY; RETRY_LENGTH - 1], &[NEW; 41]] {
            assert_eq!(check(token, &presentation()), Credential::Ignored, "{token:?}");
        }
        assert_eq!(check(&[], &presentation()), Credential::None);
        assert_eq!(check(&[RETRY; RETRY_LENGTH], &presentation()), Credential::Invalid);
    }

    /// RFC 9000-8.1.4-5.
    #[test]
    fn no_token_is_accepted_twice_however_many_there_are() {
        let mut spent = SpentTokens::default();
        let mut random = Generator::new(1, "tokens");
        let ip = presentation().remote.ip();
        let mut check = |token: &[u8]| spent.check(&key(), token, &presentation(), LIFETIMES);
        let tokens: Vec<_> = (0..Spent::LIMIT as u64 + 100)
            .map(|n| new_token(&key(), &mut random, ip, Version::V1, 900_000 + n))
            .collect();
        for token in &tokens {
            assert_eq!(check(token), Credential::Known);
        }
        assert!(tokens.iter().all(|token| check(token) == Credential::Ignored));
        // As old as a dropped one: nothing shows whether it was used.
        let old = new_token(&key(), &mut random, ip, Version::V1, 900_050);
        assert_eq!(check(&old), Credential::Ignored);
        assert!(spent.len() <= Spent::LIMIT);
    }
}
