//! The output of a session in order: handshake bytes and key changes.

use crate::keys::KeyChange;
use std::collections::VecDeque;

/// Output that was not taken yet.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    queue: VecDeque<(Vec<u8>, Option<KeyChange>)>,
    handshake_keys: bool,
}

impl Outbox {
    /// Adds handshake bytes for the current level and, optionally, the keys of the next level, which apply after
    /// them.
    pub(crate) fn push(&mut self, bytes: Vec<u8>, change: Option<KeyChange>) {
        self.handshake_keys |= matches!(change, Some(KeyChange::Handshake(_)));
        self.queue.push_back((bytes, change));
    }

    /// Takes the first entry. Frees the memory along with the last one, because a handshake sends only once.
    pub(crate) fn pop(&mut self, out: &mut Vec<u8>) -> Option<KeyChange> {
        let (bytes, change) = self.queue.pop_front()?;
        out.extend_from_slice(&bytes);
        if self.queue.is_empty() {
            self.queue = VecDeque::new();
        }
        change
    }

    /// Whether there have been Handshake keys.
    pub(crate) fn had_handshake_keys(&self) -> bool {
        self.handshake_keys
    }
}
