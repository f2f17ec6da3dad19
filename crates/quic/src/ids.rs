//! Connection ids: those issued by this endpoint, and those issued by the peer (RFC 9000 section 5.1).

use crate::error::TransportError;
use crate::ranges::RangeSet;
use random::Generator;
use std::sync::Arc;
use tls::{EndpointKey, SipKey};
use units::cache::ask_for;
use wire::{Code, ConnectionId};

/// The length of the ids that this endpoint chooses.
pub(crate) const LOCAL_ID_LENGTH: usize = 8;
/// The minimum length of the destination id of a client's first packet (RFC 9000 section 7.2).
pub(crate) const MIN_INITIAL_ID: usize = 8;
/// The maximum number of active ids issued to the peer, whatever its limit.
const MAX_ISSUED: u64 = 8;
/// RFC 9000 section 5.1.2: the maximum number of unacknowledged retirements.
const MAX_RETIRING: usize = 32;

/// The maximum number of connections, whose slot takes three bytes of an id.
pub(crate) const MAX_SLOTS: usize = 1 << 24;
/// The number of random bytes in an id.
const NONCE_LENGTH: usize = 5;

/// Creates ids from which only the endpoint can derive the connection (RFC 9000 section 5.1): five random bytes, and
/// the connection's slot masked with their SipHash under the endpoint's secret.
///
/// The reset token of an id is derived from the id and the endpoint's secret (RFC 9000 section 10.3.2).
#[derive(Debug, Clone)]
pub(crate) struct IdMaker {
    pub(crate) key: Arc<EndpointKey>,
    pub(crate) slot: u32,
}

/// The id of a nonce and a slot, as an integer: the nonce in the high bytes.
#[inline]
fn masked(key: SipKey, id: u64) -> u64 {
    id ^ key.hash_seven(id >> (64 - 8 * NONCE_LENGTH)) & (MAX_SLOTS as u64 - 1)
}

impl IdMaker {
    fn make(&self, random: &mut Generator) -> ConnectionId {
        // RFC 9000-5.1-1: no "information that can be used by an external observer": both the nonce and the
        // masked slot differ.
        let nonce = random.bits() & !(MAX_SLOTS as u64 - 1);
        let id = masked(self.key.ids(), nonce | u64::from(self.slot));
        ConnectionId::new(&id.to_be_bytes()).expect("a connection ID may have 8 bytes")
    }

    /// The slot in an id, if this endpoint issued the id.
    #[inline]
    pub(crate) fn slot_of(key: SipKey, id: [u8; LOCAL_ID_LENGTH]) -> u32 {
        (masked(key, u64::from_be_bytes(id)) & (MAX_SLOTS as u64 - 1)) as u32
    }
}

/// An id with its number and its stateless reset token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NumberedId {
    pub(crate) sequence: u64,
    pub(crate) id: ConnectionId,
    pub(crate) token: [u8; 16],
}

impl NumberedId {
    /// Whether a datagram that ends in this token is a stateless reset of the peer (RFC 9000 section 10.3.1). All
    /// zeros stand for no token. An integer comparison takes constant time.
    pub(crate) fn has_token(&self, token: [u8; 16]) -> bool {
        let wanted = u128::from_ne_bytes(token);
        wanted != 0 && u128::from_ne_bytes(self.token) == wanted
    }
}

/// The ids issued by this endpoint.
#[derive(Debug)]
pub(crate) struct LocalIds {
    maker: IdMaker,
    random: Generator,
    active: Vec<NumberedId>,
    next_sequence: u64,
    /// The number of ids sent to the peer.
    sent: u64,
}

impl LocalIds {
    pub(crate) fn new(maker: IdMaker, random: Generator) -> LocalIds {
        let mut ids = LocalIds { maker, random, active: Vec::with_capacity(2), next_sequence: 0, sent: 1 };
        ids.issue();
        ids
    }

    fn issue(&mut self) -> NumberedId {
        // RFC 9000-10.3.2-3, 9000-10.3.2-4: "MUST NOT be used for another connection": five random bytes per
        // slot make a repeated id improbable.
        let mut id = self.maker.make(&mut self.random);
        // RFC 9000-5.1-2: not "more than once on the same connection", not even by chance.
        while self.active.iter().any(|known| known.id == id) {
            id = self.maker.make(&mut self.random);
        }
        // RFC 9000-10.3.2-1, 9000-10.3.2-5: derived from the id, which requires the secret. RFC 9000-10.3.2-2: all
        // ids have the same length.
        let token = self.maker.key.reset_token(id.as_bytes());
        let new = NumberedId { sequence: self.next_sequence, id, token };
        // RFC 9000-5.1.1-1: "The sequence number on each newly issued connection ID MUST increase by 1."
        self.next_sequence += 1;
        self.active.push(new);
        new
    }

    /// Stops if the ids contradict their numbers.
    pub(crate) fn check(&self) {
        assert!(
            self.active.is_sorted_by(|one, other| one.sequence < other.sequence),
            "IDs are issued in order"
        );
        let newest = self.active.last();
        assert!(
            newest.is_none_or(|id| id.sequence < self.next_sequence),
            "the next number was not issued yet"
        );
        assert!(self.sent <= self.next_sequence, "an ID is issued before it is sent");
    }

    /// Issues the id for a preferred address, with sequence number 1 (RFC 9000 section 5.1.1).
    pub(crate) fn issue_preferred(&mut self) -> NumberedId {
        let preferred = self.issue();
        self.sent = self.next_sequence;
        preferred
    }
    /// The id of the handshake.
    pub(crate) fn first(&self) -> ConnectionId {
        self.active.first().expect("the first ID is issued with the list").id
    }
    /// The stateless reset token of the first id, for a server's transport parameters.
    pub(crate) fn first_token(&self) -> [u8; 16] {
        self.active.first().expect("the first ID is issued with the list").token
    }
    /// Prefetches the list of active ids.
    #[inline]
    pub(crate) fn prefetch(&self) {
        ask_for(&self.active[..]);
    }
    /// Whether this id is active.
    #[inline]
    pub(crate) fn owns(&self, id: &[u8]) -> bool {
        let Ok(id) = <&[u8; LOCAL_ID_LENGTH]>::try_from(id) else { return false };
        // RFC 9000-5.1.1-2: "for the duration of the connection or until its peer invalidates the connection
        // ID".
        self.active.iter().any(|known| known.id.as_bytes().first_chunk() == Some(id))
    }
    /// Issues as many ids as the peer accepts; calls `announce` with the sequence number of each.
    pub(crate) fn top_up(&mut self, peer_limit: u64, mut announce: impl FnMut(u64)) {
        // RFC 9000-5.1.1-3: "An endpoint MUST NOT provide more connection IDs than the peer's limit."
        while (self.active.len() as u64) < peer_limit.min(MAX_ISSUED) {
            announce(self.issue().sequence);
        }
    }
    /// The id with this sequence number, if it is active.
    pub(crate) fn get(&self, sequence: u64) -> Option<NumberedId> {
        self.active.iter().copied().find(|known| known.sequence == sequence)
    }
    /// Notes that NEW_CONNECTION_ID with this sequence number was sent.
    pub(crate) fn note_sent(&mut self, sequence: u64) {
        debug_assert!(sequence < self.next_sequence, "only an ID that was issued is sent");
        self.sent = self.sent.max(sequence + 1);
    }
    /// Handles RETIRE_CONNECTION_ID (RFC 9000 section 19.16) in a packet sent to `used`. Only ids that were sent can
    /// be retired, so the peer cannot make the queue of new ids grow. Returns the id, if it was active.
    pub(crate) fn on_retire(
        &mut self,
        sequence: u64,
        used: &ConnectionId,
    ) -> Result<Option<ConnectionId>, TransportError> {
        // RFC 9000-19.16-1: "greater than any previously sent to the peer".
        if sequence >= self.sent {
            return Err(TransportError::new(
                Code::PROTOCOL_VIOLATION,
                "RETIRE_CONNECTION_ID for an ID that was not issued",
            ));
        }
        let retired = self.get(sequence).map(|known| known.id);
        if retired == Some(*used) {
            return Err(TransportError::new(
                Code::PROTOCOL_VIOLATION,
                "RETIRE_CONNECTION_ID for the destination ID of its packet",
            ));
        }
        self.active.retain(|known| known.sequence != sequence);
        Ok(retired)
    }
}

/// An id of the peer.
#[derive(Debug, Clone, Copy)]
struct RemoteId {
    known: NumberedId,
    /// Whether it is or was in use on a path, to which it then belongs (RFC 9000 section 9.5).
    used: bool,
}

/// The ids issued by the peer.
#[derive(Debug)]
pub(crate) struct RemoteIds {
    active: Vec<RemoteId>,
    /// The id used on the path in use.
    current: NumberedId,
    retire_prior_to: u64,
    limit: u64,
    retiring: Vec<u64>,
    token_changes: u32,
    /// Sequence numbers that this endpoint retired on its own: a copy of their NEW_CONNECTION_ID may still arrive.
    given_up: RangeSet,
}

impl RemoteIds {
    pub(crate) fn new(id: ConnectionId, limit: u64) -> RemoteIds {
        let first = first_remote_id(id);
        RemoteIds {
            active: vec![first],
            current: first.known,
            retire_prior_to: 0,
            limit,
            retiring: Vec::new(),
            given_up: RangeSet::new(),
            token_changes: 0,
        }
    }
    /// The destination id of packets on the path in use.
    #[inline]
    pub(crate) fn current(&self) -> ConnectionId {
        self.current.id
    }
    /// The same id with its sequence number.
    pub(crate) fn current_numbered(&self) -> NumberedId {
        self.current
    }
    /// Sets the id that the peer has chosen (RFC 9000 section 7.2).
    pub(crate) fn set_first(&mut self, id: ConnectionId) {
        let changes = self.token_changes;
        *self = RemoteIds::new(id, self.limit);
        self.token_changes = changes + 1;
    }

    /// Sets the stateless reset token of the peer's first id, from its transport parameters.
    pub(crate) fn set_first_token(&mut self, token: [u8; 16]) {
        let first = self.active.iter_mut().find(|held| held.known.sequence == 0);
        let first = first.expect("the first ID is in use until the handshake is complete");
        first.known.token = token;
        self.current = first.known;
        self.token_changes += 1;
    }
    /// The tokens with which the peer can reset the connection: those of ids in use.
    pub(crate) fn tokens_in_use(&self) -> impl Iterator<Item = [u8; 16]> + '_ {
        // RFC 9000-10.3.1-2: not those "it has not used" or that "have been retired". All zeros stand for no
        // token.
        let used = self.active.iter().filter(|held| held.used && held.known.token != [0; 16]);
        used.map(|held| held.known.token)
    }
    /// A counter that increases whenever the tokens in use may have changed.
    #[inline]
    pub(crate) fn token_changes(&self) -> u32 {
        self.token_changes
    }
    /// Adds the id of the server's preferred address, with sequence number 1 (RFC 9000 section 5.1.1).
    pub(crate) fn add_preferred(&mut self, id: ConnectionId, token: [u8; 16]) {
        self.active.push(RemoteId { known: NumberedId { sequence: 1, id, token }, used: false });
    }
    /// Stops if an id is used that the peer has not issued, or that was given back.
    pub(crate) fn check(&self) {
        self.given_up.check();
        assert!(self.holds(self.current.sequence), "packets go to an ID that is not retired");
        assert!(self.retiring.len() <= MAX_RETIRING, "the number of IDs to retire is limited");
        for (at, held) in self.active.iter().enumerate() {
            let NumberedId { sequence, id, .. } = held.known;
            let twice = self.active[..at]
                .iter()
                .any(|other| other.known.sequence == sequence || other.known.id == id);
            assert!(!twice, "the IDs of the peer differ from each other: {sequence}");
            assert!(
                sequence >= self.retire_prior_to,
                "an ID that the peer retires is given back: {sequence}"
            );
            assert!(
                !self.given_up.contains(sequence),
                "an ID that was given up is not used again: {sequence}"
            );
        }
    }
    /// Takes an unused id for a new path (RFC 9000 section 9.5).
    pub(crate) fn take_unused(&mut self) -> Option<NumberedId> {
        let unused = self.active.iter_mut().filter(|held| !held.used);
        let first = unused.min_by_key(|held| held.known.sequence)?;
        first.used = true;
        self.token_changes += 1;
        Some(first.known)
    }
    /// Selects the id of the path in use.
    pub(crate) fn select(&mut self, id: NumberedId) {
        debug_assert!(self.holds(id.sequence), "a path that comes into use has an ID that is not retired");
        self.current = id;
    }
    /// Whether this id is still active.
    pub(crate) fn holds(&self, sequence: u64) -> bool {
        self.active.iter().any(|held| held.known.sequence == sequence)
    }
    /// Retires an id that no path uses any more; calls `retire` with its sequence number. An empty id is never
    /// retired.
    pub(crate) fn retire_id(
        &mut self,
        sequence: u64,
        mut retire: impl FnMut(u64),
    ) -> Result<(), TransportError> {
        let Some(at) = self.active.iter().position(|held| held.known.sequence == sequence) else {
            return Ok(());
        };
        if self.active[at].known.id.is_empty() {
            return Ok(());
        }
        self.active.remove(at);
        self.token_changes += 1;
        self.given_up.insert(sequence..sequence + 1);
        if self.given_up.len() > MAX_RETIRING {
            return Err(TransportError::new(
                Code::CONNECTION_ID_LIMIT_ERROR,
                "too many gaps in the sequence numbers of connection IDs",
            ));
        }
        self.retire(sequence, &mut retire)
    }

    /// Handles NEW_CONNECTION_ID (RFC 9000 section 19.15). Calls `retire` with each sequence number to retire.
    pub(crate) fn on_new(
        &mut self,
        new: NumberedId,
        retire_prior_to: u64,
        mut retire: impl FnMut(u64),
    ) -> Result<(), TransportError> {
        // RFC 9000-19.15-3: "sending packets with a zero-length Destination Connection ID".
        if self.current().is_empty() {
            return Err(TransportError::new(
                Code::PROTOCOL_VIOLATION,
                "NEW_CONNECTION_ID from a peer with an empty connection ID",
            ));
        }
        let same_number = self.active.iter().find(|held| held.known.sequence == new.sequence);
        let same_id = self.active.iter().find(|held| held.known.id == new.id);
        let clash = |held: &RemoteId| held.known.id != new.id || held.known.sequence != new.sequence;
        if same_number.is_some_and(clash) || same_id.is_some_and(clash) {
            return Err(TransportError::new(
                Code::PROTOCOL_VIOLATION,
                "NEW_CONNECTION_ID contradicts an earlier one",
            ));
        }
        // RFC 9000-19.15-4: "Receipt of the same frame multiple times MUST NOT be treated as a connection
        // error."
        if same_number.is_none() {
            // RFC 9000-19.15-8: "unless it has already done so for that sequence number".
            if self.given_up.contains(new.sequence) {
                return Ok(());
            }
            if new.sequence < self.retire_prior_to {
                self.retire(new.sequence, &mut retire)?;
            } else {
                self.active.push(RemoteId { known: new, used: false });
            }
        }
        // RFC 9000-5.1.2-1, 9000-19.15-7: "that do not increase the largest received Retire Prior To value".
        if retire_prior_to > self.retire_prior_to {
            self.retire_prior_to = retire_prior_to;
            self.given_up.remove_below(retire_prior_to);
            let gone: Vec<u64> =
                self.active.iter().map(|held| held.known.sequence).filter(|s| *s < retire_prior_to).collect();
            self.active.retain(|held| held.known.sequence >= retire_prior_to);
            self.token_changes += 1;
            // RFC 9000-5.1.2-2: each of them is reported to the peer; 9000-19.16-2: and no packets are sent to them
            // any more.
            for sequence in gone {
                self.retire(sequence, &mut retire)?;
            }
        }
        // RFC 9000-5.1.1-4: "if the number of active connection IDs exceeds the value advertised".
        if self.active.len() as u64 > self.limit {
            return Err(TransportError::new(
                Code::CONNECTION_ID_LIMIT_ERROR,
                "more connection IDs than active_connection_id_limit",
            ));
        }
        if !self.holds(self.current.sequence) {
            // RFC 9000-9.5-2: not "when sending to more than one destination address".
            self.current = self.take_unused().ok_or_else(|| {
                TransportError::new(Code::PROTOCOL_VIOLATION, "all connection IDs were retired")
            })?;
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
                "too many connection IDs to retire",
            ));
        }
        self.retiring.push(sequence);
        retire(sequence);
        Ok(())
    }
    /// Notes that the peer has acknowledged RETIRE_CONNECTION_ID.
    pub(crate) fn on_retire_acked(&mut self, sequence: u64) {
        self.retiring.retain(|known| *known != sequence);
    }
}

/// The id of a handshake, before its token is known.
fn first_remote_id(id: ConnectionId) -> RemoteId {
    RemoteId { known: NumberedId { sequence: 0, id, token: [0; 16] }, used: true }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn id(n: u8) -> ConnectionId {
        ConnectionId::new(&[n; 8]).unwrap()
    }
    fn numbered(sequence: u64) -> NumberedId {
        NumberedId { sequence, id: id(sequence as u8), token: [0; 16] }
    }

    /// RFC 9000-19.15-8: a copy of the frame does not add an id.
    #[test]
    fn a_copy_of_a_retired_id_is_not_accepted() {
        let mut ids = RemoteIds::new(id(0), 4);
        ids.on_new(numbered(1), 0, |_| ()).unwrap();
        assert_eq!(ids.take_unused(), Some(numbered(1)));
        let mut retired = Vec::new();
        ids.retire_id(1, |sequence| retired.push(sequence)).unwrap();
        ids.on_retire_acked(1);
        ids.on_new(numbered(1), 0, |sequence| retired.push(sequence)).unwrap();
        assert_eq!((ids.take_unused(), retired), (None, vec![1]));
    }

    #[test]
    fn only_the_endpoint_can_derive_the_slot_of_an_id() {
        let key = Arc::new(EndpointKey::new(&[42; 32]));
        let maker = IdMaker { key: key.clone(), slot: 77 };
        let mut local = LocalIds::new(maker, Generator::new(1, "ids"));
        let first: [u8; 8] = local.first().as_bytes().try_into().unwrap();
        assert_eq!(IdMaker::slot_of(key.ids(), first), 77);
        assert_ne!(IdMaker::slot_of(EndpointKey::new(&[43; 32]).ids(), first), 77);
        assert_eq!(local.first_token(), key.reset_token(&first));
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

    /// RFC 9000-5.1-1, 9000-10.3.2-1, 9000-10.3.2-2, 9000-10.3.2-3, 9000-10.3.2-4, 9000-10.3.2-5: successive
    /// connections in the same slot.
    #[test]
    fn ids_and_their_tokens_are_unique() {
        let key = Arc::new(EndpointKey::new(&[42; 32]));
        let (mut ids, mut tokens, mut tails) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for connection in 0..500 {
            let maker = IdMaker { key: key.clone(), slot: 5 };
            let mut local = LocalIds::new(maker, Generator::new(connection, "ids"));
            local.top_up(8, |_| ());
            for sequence in 0..8 {
                let known = local.get(sequence).unwrap();
                assert_eq!(known.id.len(), LOCAL_ID_LENGTH);
                assert_ne!(EndpointKey::new(&[43; 32]).reset_token(known.id.as_bytes()), known.token);
                ids.insert(*known.id.as_bytes().first_chunk::<LOCAL_ID_LENGTH>().unwrap());
                tokens.insert(known.token);
                // The masked slot, which is the same for all ids before masking.
                tails.insert(known.id.as_bytes()[NONCE_LENGTH..].to_vec());
            }
        }
        assert_eq!((ids.len(), tokens.len()), (4000, 4000));
        assert!(tails.len() > 3990, "as many as 4000 drawn out of 2^24: {}", tails.len());
    }

    /// RFC 9000-19.15-3.
    #[test]
    fn a_peer_with_an_empty_id_cannot_issue_others() {
        let mut remote = RemoteIds::new(ConnectionId::EMPTY, 8);
        assert_eq!(remote.on_new(numbered(1), 0, |_| ()).unwrap_err().code, Code::PROTOCOL_VIOLATION);
    }

    /// RFC 9000-19.15-7.
    #[test]
    fn an_outdated_request_to_retire_changes_nothing() {
        let mut remote = RemoteIds::new(id(0), 4);
        let mut retired = Vec::new();
        remote.on_new(numbered(3), 2, |s| retired.push(s)).unwrap();
        assert_eq!(retired, [0]);
        for late in [0, 1, 2] {
            remote.on_new(numbered(4 + late), late, |s| retired.push(s)).unwrap();
        }
        // RFC 9000 section 19.15: an id below the earlier limit is retired at once, whatever its own frame says.
        remote.on_new(numbered(1), 0, |s| retired.push(s)).unwrap();
        assert_eq!((retired.as_slice(), remote.current()), (&[0, 1][..], id(3)));
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
    fn endless_retirements_are_refused() {
        let mut remote = RemoteIds::new(id(0), 2);
        let refused = (1..100).find(|n| remote.on_new(numbered(*n), *n, |_| ()).is_err());
        assert_eq!(refused, Some(MAX_RETIRING as u64 + 1));
    }
}
