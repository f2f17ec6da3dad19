//! Address tokens: what a server gives a client to come back with, and how it reads it again (RFC 9000 section 8.1).
//!
//! The first byte tells the two kinds apart; the rest is sealed under the endpoint's secret:
//!
//! * of a Retry packet: the time and the client's first destination id, bound to the client's address and port, to the
//!   source id of the Retry and to the version;
//! * of a NEW_TOKEN frame: the time, bound to the client's IP address and to the version (RFC 9369 section 5).

use random::Stream;
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use tls::EndpointKey;
use units::Duration;
use wire::{ConnectionId, Version};

/// The first byte of a token of a Retry packet.
const RETRY: u8 = 0x52;
/// The first byte of a token of a NEW_TOKEN frame.
const NEW: u8 = 0x4e;
/// Bytes of the time in milliseconds.
const TIME_LENGTH: usize = 8;
/// Bytes of a token of a Retry packet: kind, time, length of the id, the id and zeros behind it, seal.
const RETRY_LENGTH: usize = 1 + TIME_LENGTH + 1 + ConnectionId::MAX_LENGTH + EndpointKey::OVERHEAD;
/// How many used tokens are remembered.
pub(crate) const MAX_SPENT: usize = 4096;

/// Where and in what a token is presented.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Visit {
    pub(crate) remote: SocketAddr,
    pub(crate) version: Version,
    /// The destination id of the client's Initial packet.
    pub(crate) destination: ConnectionId,
    /// The date in milliseconds since 1970.
    pub(crate) date_ms: u64,
}

/// What a token is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Credential {
    /// There is no token, or one that proves nothing: the address is not validated.
    None,
    /// It is not ours, or no longer good: as if there were none (RFC 9000 section 8.1.3).
    Ignored,
    /// It came with a NEW_TOKEN frame to this address.
    Known,
    /// It came with a Retry packet to this address, which answered a packet to this destination id.
    Retried(ConnectionId),
    /// It claims to be of a Retry packet and is not good for it: the client must start anew (RFC 9000 section 8.1.2).
    Invalid,
}

/// The token of a Retry packet with this source id, which answers a packet to `visit.destination`.
pub(crate) fn retry_token(
    key: &EndpointKey,
    random: &mut Stream,
    visit: &Visit,
    source: ConnectionId,
) -> Vec<u8> {
    let mut text = Vec::with_capacity(RETRY_LENGTH);
    text.extend_from_slice(&visit.date_ms.to_be_bytes());
    text.push(visit.destination.len() as u8);
    text.extend_from_slice(visit.destination.as_bytes());
    text.resize(TIME_LENGTH + 1 + ConnectionId::MAX_LENGTH, 0);
    seal(key, random, RETRY, &retry_context(visit, source), &text)
}

/// A token for a NEW_TOKEN frame to this address.
pub(crate) fn new_token(
    key: &EndpointKey,
    random: &mut Stream,
    to: IpAddr,
    version: Version,
    date_ms: u64,
) -> Vec<u8> {
    seal(key, random, NEW, &new_context(to, version), &date_ms.to_be_bytes())
}

fn seal(key: &EndpointKey, random: &mut Stream, kind: u8, context: &[u8], text: &[u8]) -> Vec<u8> {
    // RFC 9000-8.1.4-1, 9000-8.1.3-4: 128 random bits make each token another.
    let mut salt = [0; 16];
    random.fill(&mut salt);
    // RFC 9000-8.1.1-1: the two kinds can be told apart.
    let mut token = vec![kind];
    // RFC 9000-8.1.4-2, 9000-8.1.3-3: sealed, it can be neither made up nor read.
    token.extend(key.seal(salt, context, text));
    token
}

fn retry_context(visit: &Visit, source: ConnectionId) -> Vec<u8> {
    let mut context = new_context(visit.remote.ip(), visit.version);
    context[0] = RETRY;
    context.extend_from_slice(&visit.remote.port().to_be_bytes());
    context.extend_from_slice(source.as_bytes());
    context
}

fn new_context(ip: IpAddr, version: Version) -> Vec<u8> {
    let ip = match ip {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    let mut context = vec![NEW];
    context.extend_from_slice(&version.0.to_be_bytes());
    context.extend_from_slice(&ip.octets());
    context
}

/// How long tokens are good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TokenLifetimes {
    /// Those of Retry packets.
    pub(crate) retry: Duration,
    /// Those of NEW_TOKEN frames.
    pub(crate) new: Duration,
}

/// Tokens of NEW_TOKEN frames that were used, so that none is good twice (RFC 9000 section 8.1.4).
///
/// The memory is bounded: where it forgets the token that was issued first, it refuses from then on all that are as old.
#[derive(Debug, Default)]
pub(crate) struct SpentTokens {
    /// (the date it was issued, what makes it different).
    spent: BTreeSet<(u64, u64)>,
    /// Tokens issued up to here are not taken.
    floor: Option<u64>,
}

impl SpentTokens {
    /// How many are remembered.
    pub(crate) fn len(&self) -> usize {
        self.spent.len()
    }

    /// Forgets which tokens were used, and accepts none that was issued up to this date.
    pub(crate) fn clear(&mut self, date_ms: u64) {
        self.spent.clear();
        self.floor = self.floor.max(Some(date_ms));
    }

    /// Whether the token was not used before; from now on it is.
    fn spend(&mut self, date_ms: u64, hash: u64) -> bool {
        if self.floor.is_some_and(|floor| date_ms <= floor) || !self.spent.insert((date_ms, hash)) {
            return false;
        }
        if self.spent.len() > MAX_SPENT
            && let Some((oldest, _)) = self.spent.pop_first()
        {
            self.floor = Some(oldest);
        }
        true
    }

    /// What the token of a client's first packet is worth.
    pub(crate) fn judge(
        &mut self,
        key: &EndpointKey,
        token: &[u8],
        visit: &Visit,
        lifetimes: TokenLifetimes,
    ) -> Credential {
        // RFC 9000-8.1.3-7.
        match token.split_first() {
            None => Credential::None,
            Some((&RETRY, sealed)) if token.len() == RETRY_LENGTH => {
                let original = retried(key, sealed, visit, lifetimes.retry);
                original.map_or(Credential::Invalid, Credential::Retried)
            }
            Some((&NEW, sealed)) => {
                // RFC 9000-8.1.4-3, 9000-8.1.4-4: from another address it does not open, and proves nothing.
                let text = key.open(&new_context(visit.remote.ip(), visit.version), sealed);
                let issued = text.and_then(|text| Some(u64::from_be_bytes(text.try_into().ok()?)));
                let fresh = issued.filter(|issued| is_fresh(*issued, visit.date_ms, lifetimes.new));
                // RFC 9000-8.1.4-5: and it is good once.
                match fresh.is_some_and(|issued| self.spend(issued, key.ids().hash(sealed))) {
                    true => Credential::Known,
                    false => Credential::Ignored,
                }
            }
            Some(_) => Credential::Ignored,
        }
    }
}

/// The client's first destination id, out of a token of a Retry packet that is good.
fn retried(key: &EndpointKey, sealed: &[u8], visit: &Visit, lifetime: Duration) -> Option<ConnectionId> {
    let text = key.open(&retry_context(visit, visit.destination), sealed)?;
    let (issued, id) = text.split_first_chunk::<TIME_LENGTH>()?;
    let (length, id) = id.split_first()?;
    let original = ConnectionId::new(id.get(..usize::from(*length))?)?;
    is_fresh(u64::from_be_bytes(*issued), visit.date_ms, lifetime).then_some(original)
}

/// Whether what was issued then is good now. What was issued later than now was issued by another clock.
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
    fn visit() -> Visit {
        let remote = "10.0.0.1:50000".parse().unwrap();
        Visit { remote, version: Version::V1, destination: id(1), date_ms: 1_000_000 }
    }
    fn judge(token: &[u8], visit: &Visit) -> Credential {
        SpentTokens::default().judge(&key(), token, visit, LIFETIMES)
    }

    /// RFC 9000-8.1.4-1, 9000-8.1.4-2: and bound to address, port, id, version and time.
    #[test]
    fn the_token_of_a_retry_is_good_where_it_was_issued() {
        let token = retry_token(&key(), &mut Stream::new(1, "tokens"), &visit(), id(2));
        assert_eq!(token.len(), RETRY_LENGTH);
        let back = Visit { destination: id(2), ..visit() };
        assert_eq!(judge(&token, &back), Credential::Retried(id(1)));
        assert_eq!(judge(&token, &Visit { date_ms: 1_010_000, ..back }), Credential::Retried(id(1)));
        for wrong in [
            Visit { date_ms: 1_010_001, ..back },
            Visit { date_ms: 999_999, ..back },
            Visit { destination: id(3), ..back },
            Visit { version: Version::V2, ..back },
            Visit { remote: "10.0.0.1:50001".parse().unwrap(), ..back },
            Visit { remote: "10.0.0.2:50000".parse().unwrap(), ..back },
        ] {
            assert_eq!(judge(&token, &wrong), Credential::Invalid, "{wrong:?}");
        }
        let other = SpentTokens::default().judge(&EndpointKey::new(&[2; 32]), &token, &back, LIFETIMES);
        assert_eq!(other, Credential::Invalid);
        for at in 1..token.len() {
            let mut changed = token.clone();
            changed[at] ^= 1;
            assert_eq!(judge(&changed, &back), Credential::Invalid, "{at}");
        }
    }

    /// RFC 9000-8.1.1-1, 9000-8.1.3-4, 9000-8.1.4-3.
    #[test]
    fn a_new_token_is_good_at_its_address_whatever_the_port() {
        let mut random = Stream::new(1, "tokens");
        let ip = visit().remote.ip();
        let mut issue = || new_token(&key(), &mut random, ip, Version::V1, 1_000_000);
        let (token, another) = (issue(), issue());
        assert_ne!(token[1..], another[1..]);
        let later = Visit { remote: "10.0.0.1:9".parse().unwrap(), date_ms: 2_000_000, ..visit() };
        assert_eq!(judge(&token, &later), Credential::Known);
        for wrong in [
            Visit { date_ms: 2_000_001, ..later },
            Visit { date_ms: 999_999, ..later },
            Visit { version: Version::V2, ..later },
            Visit { remote: "10.0.0.2:9".parse().unwrap(), ..later },
            Visit { remote: "[2001:db8::1]:9".parse().unwrap(), ..later },
        ] {
            assert_eq!(judge(&token, &wrong), Credential::Ignored, "{wrong:?}");
        }
        // RFC 9000-8.1.3-3: nothing of the time or the address can be seen.
        assert!(!token.windows(4).any(|part| part == [10, 0, 0, 1] || part == [0, 0x0f, 0x42, 0x40]));
    }

    #[test]
    fn what_is_no_token_of_ours_is_ignored() {
        for token in [&[0x17; 50][..], b"N", b"R", &[RETRY; RETRY_LENGTH - 1], &[NEW; 41]] {
            assert_eq!(judge(token, &visit()), Credential::Ignored, "{token:?}");
        }
        assert_eq!(judge(&[], &visit()), Credential::None);
        assert_eq!(judge(&[RETRY; RETRY_LENGTH], &visit()), Credential::Invalid);
    }

    /// RFC 9000-8.1.4-5.
    #[test]
    fn no_token_is_good_twice_however_many_there_are() {
        let mut spent = SpentTokens::default();
        let mut random = Stream::new(1, "tokens");
        let ip = visit().remote.ip();
        let mut judge = |token: &[u8]| spent.judge(&key(), token, &visit(), LIFETIMES);
        let tokens: Vec<_> = (0..MAX_SPENT as u64 + 100)
            .map(|n| new_token(&key(), &mut random, ip, Version::V1, 900_000 + n))
            .collect();
        for token in &tokens {
            assert_eq!(judge(token), Credential::Known);
        }
        assert!(tokens.iter().all(|token| judge(token) == Credential::Ignored));
        // As old as one that was forgotten: it cannot be told whether it was used.
        let old = new_token(&key(), &mut random, ip, Version::V1, 900_050);
        assert_eq!(judge(&old), Credential::Ignored);
        assert!(spent.spent.len() <= MAX_SPENT);
    }
}
