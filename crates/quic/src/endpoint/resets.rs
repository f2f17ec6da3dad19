//! Stateless resets (RFC 9000 section 10.3): recognised among datagrams with unknown ids, and sent in answer to them.

use random::Generator;
use std::collections::BTreeMap;
use tls::{EndpointKey, SipKey};
use units::{Duration, Time};
use wire::header::{RESET_MIN_LENGTH, RESET_TOKEN_LENGTH};

/// The minimum length of the answer to a longer packet: that of a packet with an acknowledgement (RFC 9000 section
/// 10.3). The answer to a packet of at most this length is one byte shorter than the packet.
const SHORT: usize = 43;
/// The maximum number of bytes by which an answer exceeds that.
const SPREAD: u64 = 40;

/// The stateless reset tokens of all peers, with their connections.
///
/// The cost of a look-up hardly grows with the number of connections, so a flood of unknown datagrams stays cheap.
/// The index compares SipHash values under the endpoint's secret, not tokens (RFC 9000 section 10.3.1).
#[derive(Debug)]
pub(crate) struct ResetIndex {
    key: SipKey,
    slots: BTreeMap<u64, u32>,
}

impl ResetIndex {
    pub(crate) fn new(key: &EndpointKey) -> ResetIndex {
        ResetIndex { key: key.ids(), slots: BTreeMap::new() }
    }
    /// Assigns a token to a connection; returns its hash.
    pub(crate) fn insert(&mut self, token: [u8; RESET_TOKEN_LENGTH], slot: u32) -> u64 {
        let hash = self.key.hash(&token);
        self.slots.insert(hash, slot);
        hash
    }
    /// Removes the token with this hash, if it still belongs to this connection.
    pub(crate) fn remove(&mut self, hash: u64, slot: u32) {
        if self.slots.get(&hash) == Some(&slot) {
            self.slots.remove(&hash);
        }
    }
    /// The connection to which this token may belong.
    pub(crate) fn find(&self, token: [u8; RESET_TOKEN_LENGTH]) -> Option<u32> {
        // RFC 9000-10.3.1-3: "without leaking information about the value of the token".
        self.slots.get(&self.key.hash(&token)).copied()
    }
}

/// A rate limit for resets: a number per second, and the same number in a burst.
#[derive(Debug)]
pub(crate) struct ResetRate {
    interval: Duration,
    burst: u32,
    /// The time at which the full burst is available again.
    full_at: Time,
}

impl ResetRate {
    pub(crate) fn new(per_second: u32) -> ResetRate {
        let interval = Duration::from_secs(1) / u64::from(per_second.max(1));
        ResetRate { interval, burst: per_second, full_at: Time::ZERO }
    }
    /// Uses up one reset; returns whether it is allowed.
    pub(crate) fn take(&mut self, now: Time) -> bool {
        let full_at = self.full_at.max(now) + self.interval;
        let allowed = full_at <= now + self.interval * u64::from(self.burst);
        if allowed {
            self.full_at = full_at;
        }
        allowed
    }
}

/// The stateless reset for a packet of `trigger` bytes with this id; `None` if the packet is too short.
pub(crate) fn reset(key: &EndpointKey, random: &mut Generator, id: &[u8], trigger: usize) -> Option<Vec<u8>> {
    // RFC 9000-10.3-2, 9000-10.3.3-1: "smaller than the packet that triggered it", so that two endpoints do not
    // answer each other forever.
    let longest = trigger.checked_sub(1).filter(|longest| *longest >= RESET_MIN_LENGTH)?;
    let length = match trigger {
        0..=SHORT => longest,
        _ => longest.min(SHORT + random.below(SPREAD) as usize),
    };
    let mut unpredictable = vec![0; length - RESET_TOKEN_LENGTH];
    random.fill(&mut unpredictable);
    let mut packet = Vec::with_capacity(length);
    // RFC 9000-10.3-4: "formatted as a packet with a short header".
    wire::header::stateless_reset(&mut packet, &unpredictable, key.reset_token(id));
    Some(packet)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9000-10.3-2, 9000-10.3-4, 9000-10.3.3-1.
    #[test]
    fn a_reset_is_shorter_than_its_trigger_and_looks_like_a_packet() {
        let key = EndpointKey::new(&[1; 32]);
        let mut random = Generator::new(1, "resets");
        for trigger in 0..1500 {
            let reset = reset(&key, &mut random, &[7; 8], trigger);
            assert_eq!(reset.is_some(), trigger >= 22, "{trigger}");
            let Some(reset) = reset else { continue };
            assert!(reset.len() < trigger && reset.len() >= 21 && reset.len() < 90);
            assert!(trigger > 43 || reset.len() == trigger - 1);
            assert_eq!(reset[0] & 0xc0, 0x40);
            assert_eq!(wire::header::reset_token(&reset), Some(key.reset_token(&[7; 8])));
        }
    }

    #[test]
    fn two_endpoints_that_answer_each_other_stop() {
        let keys = [1, 2].map(|byte| EndpointKey::new(&[byte; 32]));
        let mut random = Generator::new(1, "resets");
        let mut length = 1500;
        let answers = (0..100).take_while(|i| {
            let answer = reset(&keys[i % 2], &mut random, &[7; 8], length);
            length = answer.as_ref().map_or(0, Vec::len);
            answer.is_some()
        });
        assert!(answers.count() < 70);
    }

    #[test]
    fn the_rate_is_limited_and_recovers() {
        let mut rate = ResetRate::new(10);
        let at = |ms: u64| Time::ZERO + Duration::from_millis(ms);
        assert_eq!((0..100).filter(|_| rate.take(at(5))).count(), 10);
        assert_eq!((0..100).filter(|_| rate.take(at(105))).count(), 1);
        assert_eq!((0..1000).filter(|i| rate.take(at(105 + 10 * i))).count(), 99);
        assert_eq!((0..100).filter(|_| rate.take(at(60_000))).count(), 10);
        assert!(!ResetRate::new(0).take(at(1_000_000)));
    }

    /// RFC 9000-10.3.1-3: the search uses a hash that others cannot compute, so its duration reveals nothing about a
    /// token.
    #[test]
    fn tokens_are_compared_by_their_hash() {
        let mut hashes = std::collections::BTreeSet::new();
        for key in 0..100 {
            let mut index = ResetIndex::new(&EndpointKey::new(&[key; 32]));
            for token in [[1; 16], [2; 16]] {
                hashes.insert(index.insert(token, 0));
            }
        }
        assert_eq!(hashes.len(), 200);
    }

    #[test]
    fn a_token_belongs_to_the_connection_that_added_it_last() {
        let mut index = ResetIndex::new(&EndpointKey::new(&[1; 32]));
        let first = index.insert([1; 16], 5);
        assert_eq!((index.find([1; 16]), index.find([2; 16])), (Some(5), None));
        index.insert([1; 16], 6);
        index.remove(first, 5);
        assert_eq!(index.find([1; 16]), Some(6));
        index.remove(first, 6);
        assert_eq!(index.find([1; 16]), None);
    }
}
