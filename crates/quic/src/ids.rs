//! Connection ids: those that the peer may use for us, and those that we may use for the peer (RFC 9000 section 5.1).

use crate::error::TransportError;
use random::Stream;
use wire::{Code, ConnectionId};

/// The length of the ids that this endpoint chooses.
pub(crate) const LOCAL_ID_LENGTH: usize = 8;
/// No more than so many ids of ours are active at the peer, whatever it would take.
const MAX_ISSUED: u64 = 8;
/// RFC 9000 section 5.1.2: retirements that the peer has not acknowledged are bounded.
const MAX_RETIRING: usize = 32;

/// Makes ids that tell the endpoint which connection they belong to, and nobody else: four random bytes, and the
/// connection's slot under a mask that only the endpoint can derive from them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IdMaker {
    pub(crate) secret: u64,
    pub(crate) slot: u32,
}

/// Two rounds of multiplying and folding: every bit of nonce and secret reaches every bit of the mask.
#[inline]
fn mask(secret: u64, nonce: u32) -> u32 {
    let fold = |x: u64, y: u64| {
        let product = u128::from(x) * u128::from(y | 1);
        (product >> 64) as u64 ^ product as u64
    };
    let first = fold(u64::from(nonce) ^ 0x9e37_79b9_7f4a_7c15, secret);
    fold(first ^ secret.rotate_left(32), 0xd6e8_feb8_6659_fd93) as u32
}

impl IdMaker {
    fn make(self, random: &mut Stream) -> ConnectionId {
        let nonce = random.bits() as u32;
        let mut bytes = [0; LOCAL_ID_LENGTH];
        bytes[..4].copy_from_slice(&nonce.to_be_bytes());
        bytes[4..].copy_from_slice(&(self.slot ^ mask(self.secret, nonce)).to_be_bytes());
        ConnectionId::new(&bytes).unwrap_or(ConnectionId::EMPTY)
    }

    /// The slot that an id names, if it is one of ours.
    #[inline]
    pub(crate) fn slot_of(secret: u64, id: &[u8]) -> Option<u32> {
        let (nonce, masked) = id.split_first_chunk::<4>()?;
        let masked: [u8; 4] = masked.try_into().ok()?;
        Some(u32::from_be_bytes(masked) ^ mask(secret, u32::from_be_bytes(*nonce)))
    }
}

/// An id with its number and its stateless reset token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NumberedId {
    pub(crate) sequence: u64,
    pub(crate) id: ConnectionId,
    pub(crate) token: [u8; 16],
}

/// The ids that this side gave out.
#[derive(Debug)]
pub(crate) struct LocalIds {
    maker: IdMaker,
    random: Stream,
    active: Vec<NumberedId>,
    next_sequence: u64,
    /// How many of the numbers have been sent to the peer.
    sent: u64,
}

impl LocalIds {
    pub(crate) fn new(maker: IdMaker, random: Stream) -> LocalIds {
        let mut ids = LocalIds { maker, random, active: Vec::with_capacity(2), next_sequence: 0, sent: 1 };
        ids.issue();
        ids
    }

    fn issue(&mut self) -> NumberedId {
        let mut token = [0; 16];
        self.random.fill(&mut token);
        let new = NumberedId { sequence: self.next_sequence, id: self.maker.make(&mut self.random), token };
        // RFC 9000-5.1.1-1.
        self.next_sequence += 1;
        self.active.push(new);
        new
    }

    /// The id of the handshake.
    pub(crate) fn first(&self) -> ConnectionId {
        self.active.first().map_or(ConnectionId::EMPTY, |first| first.id)
    }
    /// The stateless reset token of the first id, which goes into a server's transport parameters.
    pub(crate) fn first_token(&self) -> [u8; 16] {
        self.active.first().map_or([0; 16], |first| first.token)
    }
    /// Whether the peer may use this id.
    #[inline]
    pub(crate) fn owns(&self, id: &[u8]) -> bool {
        let Ok(id) = <&[u8; LOCAL_ID_LENGTH]>::try_from(id) else { return false };
        // RFC 9000-5.1.1-2: until it is retired.
        self.active.iter().any(|known| known.id.as_bytes().first_chunk() == Some(id))
    }
    /// Issues ids until the peer has as many as it takes; each goes to `announce` by its number.
    pub(crate) fn top_up(&mut self, peer_limit: u64, mut announce: impl FnMut(u64)) {
        // RFC 9000-5.1.1-3.
        while (self.active.len() as u64) < peer_limit.min(MAX_ISSUED) {
            announce(self.issue().sequence);
        }
    }
    /// The id of this number, while it is active.
    pub(crate) fn get(&self, sequence: u64) -> Option<NumberedId> {
        self.active.iter().copied().find(|known| known.sequence == sequence)
    }
    /// NEW_CONNECTION_ID with this number was sent.
    pub(crate) fn note_sent(&mut self, sequence: u64) {
        self.sent = self.sent.max(sequence + 1);
    }
    /// RETIRE_CONNECTION_ID (19.16), in a packet that was sent to `used`. Because only what was sent can be retired, a
    /// peer cannot make more and more ids wait to be sent.
    pub(crate) fn on_retire(&mut self, sequence: u64, used: &ConnectionId) -> Result<(), TransportError> {
        // RFC 9000-19.16-1.
        if sequence >= self.sent {
            return Err(TransportError::new(
                Code::PROTOCOL_VIOLATION,
                "retires a connection id that was not issued",
            ));
        }
        if self.get(sequence).is_some_and(|known| known.id == *used) {
            return Err(TransportError::new(
                Code::PROTOCOL_VIOLATION,
                "retires the connection id it was sent to",
            ));
        }
        self.active.retain(|known| known.sequence != sequence);
        Ok(())
    }
}

/// The ids that the peer gave out.
#[derive(Debug)]
pub(crate) struct RemoteIds {
    /// The one in use comes first.
    active: Vec<NumberedId>,
    retire_prior_to: u64,
    limit: u64,
    retiring: Vec<u64>,
}

impl RemoteIds {
    pub(crate) fn new(id: ConnectionId, limit: u64) -> RemoteIds {
        let first = NumberedId { sequence: 0, id, token: [0; 16] };
        RemoteIds { active: vec![first], retire_prior_to: 0, limit, retiring: Vec::new() }
    }
    /// The id that packets are sent to.
    #[inline]
    pub(crate) fn current(&self) -> ConnectionId {
        self.active.first().map_or(ConnectionId::EMPTY, |id| id.id)
    }
    /// The peer has chosen its first id (RFC 9000 section 7.2).
    pub(crate) fn set_first(&mut self, id: ConnectionId) {
        self.active = vec![NumberedId { sequence: 0, id, token: [0; 16] }];
    }

    /// The stateless reset token of the peer's first id, from its transport parameters.
    pub(crate) fn set_first_token(&mut self, token: [u8; 16]) {
        if let Some(first) = self.active.iter_mut().find(|known| known.sequence == 0) {
            first.token = token;
        }
    }
    /// Whether a datagram that ends in this token is a stateless reset of the peer (RFC 9000 section 10.3.1). All zeros
    /// stand for no token. Compared as integers: the time that takes tells nothing.
    pub(crate) fn has_token(&self, token: [u8; 16]) -> bool {
        // RFC 9000-10.3.1-3.
        let wanted = u128::from_ne_bytes(token);
        wanted != 0 && self.active.iter().any(|known| u128::from_ne_bytes(known.token) == wanted)
    }

    /// NEW_CONNECTION_ID (19.15). Each number that is to be retired goes to `retire`.
    pub(crate) fn on_new(
        &mut self,
        new: NumberedId,
        retire_prior_to: u64,
        mut retire: impl FnMut(u64),
    ) -> Result<(), TransportError> {
        // RFC 9000-19.15-3.
        if self.current().is_empty() {
            return Err(TransportError::new(
                Code::PROTOCOL_VIOLATION,
                "new id for a peer that uses empty ones",
            ));
        }
        let same_number = self.active.iter().find(|known| known.sequence == new.sequence);
        let same_id = self.active.iter().find(|known| known.id == new.id);
        let clash = |known: &NumberedId| known.id != new.id || known.sequence != new.sequence;
        if same_number.is_some_and(clash) || same_id.is_some_and(clash) {
            return Err(TransportError::new(
                Code::PROTOCOL_VIOLATION,
                "connection id issued twice with a difference",
            ));
        }
        // RFC 9000-19.15-4: what is known already is no error.
        if same_number.is_none() {
            // RFC 9000-19.15-8.
            if new.sequence < self.retire_prior_to {
                self.retire(new.sequence, &mut retire)?;
            } else {
                self.active.push(new);
            }
        }
        // RFC 9000-5.1.2-1, 9000-19.15-7.
        if retire_prior_to > self.retire_prior_to {
            self.retire_prior_to = retire_prior_to;
            let gone: Vec<u64> =
                self.active.iter().map(|known| known.sequence).filter(|s| *s < retire_prior_to).collect();
            self.active.retain(|known| known.sequence >= retire_prior_to);
            // RFC 9000-5.1.2-2: none is forgotten without a word; 9000-19.16-2: and none that is still sent to.
            for sequence in gone {
                self.retire(sequence, &mut retire)?;
            }
        }
        // RFC 9000-5.1.1-4.
        if self.active.len() as u64 > self.limit {
            return Err(TransportError::new(
                Code::CONNECTION_ID_LIMIT_ERROR,
                "more connection ids than were allowed",
            ));
        }
        if self.active.is_empty() {
            return Err(TransportError::new(Code::PROTOCOL_VIOLATION, "all connection ids were retired"));
        }
        Ok(())
    }

    fn retire(&mut self, sequence: u64, retire: &mut impl FnMut(u64)) -> Result<(), TransportError> {
        if self.retiring.contains(&sequence) {
            return Ok(());
        }
        if self.retiring.len() >= MAX_RETIRING {
            return Err(TransportError::new(
                Code::CONNECTION_ID_LIMIT_ERROR,
                "too many connection ids to retire",
            ));
        }
        self.retiring.push(sequence);
        retire(sequence);
        Ok(())
    }
    /// The peer has our RETIRE_CONNECTION_ID.
    pub(crate) fn on_retire_acked(&mut self, sequence: u64) {
        self.retiring.retain(|known| *known != sequence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: u8) -> ConnectionId {
        ConnectionId::new(&[n; 8]).unwrap()
    }
    fn numbered(sequence: u64) -> NumberedId {
        NumberedId { sequence, id: id(sequence as u8), token: [0; 16] }
    }

    #[test]
    fn ids_tell_their_slot_to_the_endpoint_only() {
        let maker = IdMaker { secret: 42, slot: 77 };
        let mut local = LocalIds::new(maker, Stream::new(1, "ids"));
        assert_eq!(IdMaker::slot_of(42, local.first().as_bytes()), Some(77));
        assert_ne!(IdMaker::slot_of(43, local.first().as_bytes()), Some(77));
        let mut announced = Vec::new();
        local.top_up(4, |sequence| announced.push(sequence));
        assert_eq!(announced, [1, 2, 3]);
        let second = local.get(1).unwrap().id;
        assert!(local.owns(second.as_bytes()));
        let first = local.first();
        assert_eq!(local.on_retire(0, &first).unwrap_err().code, Code::PROTOCOL_VIOLATION);
        assert_eq!(local.on_retire(9, &first).unwrap_err().code, Code::PROTOCOL_VIOLATION);
        assert_eq!(local.on_retire(1, &first).unwrap_err().code, Code::PROTOCOL_VIOLATION, "not sent yet");
        local.note_sent(1);
        local.on_retire(1, &first).unwrap();
        assert!(!local.owns(second.as_bytes()));
    }

    /// RFC 9000-19.15-4.
    #[test]
    fn the_peers_ids_are_limited_and_retired_in_order() {
        let mut remote = RemoteIds::new(id(0), 2);
        let mut retired = Vec::new();
        remote.on_new(numbered(1), 0, |s| retired.push(s)).unwrap();
        remote.on_new(numbered(1), 0, |s| retired.push(s)).unwrap();
        assert_eq!(remote.on_new(numbered(2), 0, |_| ()).unwrap_err().code, Code::CONNECTION_ID_LIMIT_ERROR);
        let mut remote = RemoteIds::new(id(0), 2);
        remote.on_new(numbered(1), 1, |s| retired.push(s)).unwrap();
        assert_eq!((retired.as_slice(), remote.current()), (&[0][..], id(1)));
        let twice = NumberedId { id: id(9), ..numbered(1) };
        assert_eq!(remote.on_new(twice, 0, |_| ()).unwrap_err().code, Code::PROTOCOL_VIOLATION);
    }

    #[test]
    fn retirements_without_end_are_refused() {
        let mut remote = RemoteIds::new(id(0), 2);
        let refused = (1..100).find(|n| remote.on_new(numbered(*n), *n, |_| ()).is_err());
        assert_eq!(refused, Some(MAX_RETIRING as u64 + 1));
    }
}
