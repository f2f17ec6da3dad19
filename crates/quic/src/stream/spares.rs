//! Spare buffers: the memory of data that was read is reused for new data of any stream of the connection.

/// The maximum number of spare buffers.
const MAX_SPARES: usize = 8;

/// Empty buffers for reuse.
#[derive(Debug, Default)]
pub(crate) struct SpareBuffers(Vec<Vec<u8>>);

impl SpareBuffers {
    /// An empty buffer.
    pub(super) fn take(&mut self) -> Vec<u8> {
        self.0.pop().unwrap_or_default()
    }
    /// Returns a buffer that is not needed any more.
    pub(super) fn give(&mut self, mut buffer: Vec<u8>) {
        if self.0.len() < MAX_SPARES {
            buffer.clear();
            self.0.push(buffer);
        }
    }
}
