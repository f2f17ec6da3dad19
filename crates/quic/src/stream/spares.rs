//! Memory of pieces that were read, for those that come next on any stream of the connection.

/// So many pieces are kept, each no longer than the pieces of a stream become.
const MAX_SPARES: usize = 8;

/// Empty buffers that were used already.
#[derive(Debug, Default)]
pub(crate) struct Spares(Vec<Vec<u8>>);

impl Spares {
    /// An empty buffer.
    pub(super) fn take(&mut self) -> Vec<u8> {
        self.0.pop().unwrap_or_default()
    }
    /// This one is not needed any more.
    pub(super) fn give(&mut self, mut buffer: Vec<u8>) {
        if self.0.len() < MAX_SPARES {
            buffer.clear();
            self.0.push(buffer);
        }
    }
}
