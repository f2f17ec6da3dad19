//! What a session has to say and the keys that come with it, in order.

use crate::keys::KeyChange;
use std::collections::VecDeque;

/// Output that nobody has taken yet.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    queue: VecDeque<(Vec<u8>, Option<KeyChange>)>,
    handshake_keys: bool,
}

impl Outbox {
    /// Handshake bytes for the present level, and the keys of the next one that apply behind them.
    pub(crate) fn push(&mut self, bytes: Vec<u8>, change: Option<KeyChange>) {
        self.handshake_keys |= matches!(change, Some(KeyChange::Handshake(_)));
        self.queue.push_back((bytes, change));
    }

    /// Takes the first entry; the memory goes with the last one, because a handshake speaks once.
    pub(crate) fn pop(&mut self, out: &mut Vec<u8>) -> Option<KeyChange> {
        let (bytes, change) = self.queue.pop_front()?;
        out.extend_from_slice(&bytes);
        if self.queue.is_empty() {
            self.queue = VecDeque::new();
        }
        change
    }

    /// Whether Handshake keys have ever come up.
    pub(crate) fn had_handshake_keys(&self) -> bool {
        self.handshake_keys
    }
}
