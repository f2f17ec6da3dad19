//! Checks RFC 9000 section 8.1 for arbitrary sequences of issued and presented address tokens, with and without a capacity.

use super::{address, keep};
use crate::address_token::{
    Credential, Presentation, SpentTokens, TokenLifetimes, capacity_token, new_token, retry_token,
};
use congestion::{Learned, Refusal, Saved, Spent};
use random::Generator;
use std::net::SocketAddr;
use tls::EndpointKey;
use units::Duration;
use wire::{ConnectionId, Version};

const LIFETIMES: TokenLifetimes =
    TokenLifetimes { retry: Duration::from_secs(10), new: Duration::from_secs(1000) };

/// An issued token.
struct IssuedToken {
    token: Vec<u8>,
    presentation: Presentation,
    /// The source id of the Retry, if it came with one.
    retry: Option<ConnectionId>,
    /// The capacity in it, if there is one.
    capacity: Option<Learned>,
    spent: bool,
}

/// Reads events of eight bytes each: the action, its token or address, and the alteration.
///
/// # Panics
/// If a token is accepted although it was altered, used, too old, or issued to another client; if any other token is
/// refused; if a capacity is not the one that was issued; or if more tokens are remembered than the limit allows.
pub fn tokens(data: &[u8]) {
    let key = EndpointKey::new(&[7; 32]);
    let mut random = Generator::new(1, "tokens");
    let mut spent = SpentTokens::default();
    let mut given: Vec<IssuedToken> = Vec::new();
    // The date never goes back, so no token is issued before the oldest one that was dropped from memory.
    let mut date_ms = 1_000_000_000u64;
    for event in data.chunks_exact(8) {
        let [what, which, at, bit, port, id, version, time] = event.try_into().expect("eight bytes");
        date_ms += u64::from(time) * u64::from(time);
        let presentation = Presentation {
            remote: address(at, port),
            version: [Version::V1, Version::V2, Version(u32::from(version))][usize::from(version % 3)],
            destination: self::id(id),
            date_ms,
        };
        match what % 5 {
            0 => {
                let source = self::id(bit);
                let token = retry_token(&key, &mut random, &presentation, source);
                keep(
                    &mut given,
                    IssuedToken { token, presentation, retry: Some(source), capacity: None, spent: false },
                );
            }
            1 => {
                let token =
                    new_token(&key, &mut random, presentation.remote.ip(), presentation.version, date_ms);
                keep(
                    &mut given,
                    IssuedToken { token, presentation, retry: None, capacity: None, spent: false },
                );
            }
            2 => {
                let saved = Saved {
                    window: u64::from(which) << (bit % 56),
                    rtt: Duration::from_millis(u64::from(bit)),
                };
                let ip = presentation.remote.ip().to_canonical();
                let learned = Learned { saved, ip, date_ms: date_ms - u64::from(bit) };
                let token = capacity_token(&key, &mut random, presentation.version, date_ms, learned);
                keep(
                    &mut given,
                    IssuedToken { token, presentation, retry: None, capacity: Some(learned), spent: false },
                );
            }
            // Arbitrary bytes.
            3 => {
                assert!(!matches!(spent.presented(&key, event, &presentation), Some(Ok(_))), "{event:?}");
                let verdict = spent.check(&key, event, &presentation, LIFETIMES);
                assert!(!matches!(verdict, Credential::Known | Credential::Retried(_)), "{event:?}");
            }
            _ => {
                let count = given.len();
                let Some(known) = given.get_mut(usize::from(which) % count.max(1)) else { continue };
                present(&key, &mut spent, known, &presentation, Alteration { at, bit, how: port });
            }
        }
        assert!(spent.len() <= Spent::LIMIT);
    }
}

/// How a token is altered.
struct Alteration {
    at: u8,
    bit: u8,
    how: u8,
}

/// Presents a token from its own address or another one, intact or altered.
fn present(
    key: &EndpointKey,
    spent: &mut SpentTokens,
    known: &mut IssuedToken,
    presentation: &Presentation,
    Alteration { at, bit, how }: Alteration,
) {
    let home = how % 2 == 0;
    let presentation = match (home, known.retry) {
        (true, Some(source)) => {
            Presentation { destination: source, date_ms: presentation.date_ms, ..known.presentation }
        }
        (true, None) => Presentation { date_ms: presentation.date_ms, ..known.presentation },
        (false, _) => *presentation,
    };
    let mut token = known.token.clone();
    match how / 2 % 4 {
        0 => token.truncate(usize::from(at) % token.len()),
        1 => {
            let at = usize::from(at) % token.len();
            token[at] ^= 1 << (bit % 8);
        }
        2 => token.push(bit),
        _ => {}
    }
    let presented = spent.presented(key, &token, &presentation);
    let verdict = spent.check(key, &token, &presentation, LIFETIMES);
    let age_ms = presentation.date_ms - known.presentation.date_ms;
    let whole = token == known.token;
    let authentic = whole && presentation.version == known.presentation.version;
    match known.capacity {
        Some(learned) if authentic => {
            let expected = if known.spent { Err(Refusal::Replayed) } else { Ok(learned) };
            assert_eq!(presented, Some(expected), "{presentation:?}");
        }
        // The first byte says whether there is a capacity, and is not sealed.
        _ => assert!(matches!(presented, None | Some(Err(Refusal::Forged))), "{presented:?}"),
    }
    match known.retry {
        Some(source) => {
            let same = canonical(presentation.remote) == canonical(known.presentation.remote)
                && presentation.remote.port() == known.presentation.remote.port()
                && presentation.version == known.presentation.version
                && presentation.destination == source;
            let good = whole && same && age_ms <= LIFETIMES.retry.as_millis();
            let expected = Credential::Retried(known.presentation.destination);
            assert_eq!(verdict == expected, good, "{verdict:?} for {presentation:?}");
            assert!(good || matches!(verdict, Credential::None | Credential::Ignored | Credential::Invalid));
        }
        None => {
            let same = canonical(presentation.remote) == canonical(known.presentation.remote)
                && presentation.version == known.presentation.version;
            let good = whole && same && !known.spent && age_ms <= LIFETIMES.new.as_millis();
            assert_eq!(verdict == Credential::Known, good, "{verdict:?} for {presentation:?}");
            // A capacity is used up by whoever presents it.
            known.spent |= good || known.capacity.is_some() && authentic;
            assert!(good || matches!(verdict, Credential::None | Credential::Ignored | Credential::Invalid));
        }
    }
}

/// Makes an IPv4 address and its IPv4-mapped IPv6 address equal (RFC 4291 section 2.5.5.2).
fn canonical(address: SocketAddr) -> std::net::IpAddr {
    address.ip().to_canonical()
}

/// An id of any valid length.
fn id(byte: u8) -> ConnectionId {
    let length = usize::from(byte) % (ConnectionId::MAX_LENGTH + 1);
    ConnectionId::new(&[byte; ConnectionId::MAX_LENGTH][..length]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// RFC 9000-8.1.4-1, 9000-8.1.4-2, 9000-8.1.4-5: for any sequence of tokens.
        #[test]
        fn tokens_are_valid_once_and_where_they_were_issued(data in vec(any::<u8>(), 0..2000)) {
            super::tokens(&data);
        }
    }
}
