//! The counters of quinn-proto under the names of the results.

use quinn_proto::{ConnectionStats, FrameStats};

/// The counters of sent datagrams that its statistics lack.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sent {
    /// Datagrams with stream data.
    pub(crate) data: u64,
    /// Datagrams with nothing but acknowledgements.
    pub(crate) ack_only: u64,
    last: (u64, u64, u64),
}

impl Sent {
    /// Counts a sent datagram; returns whether it carries stream data.
    pub(crate) fn note(&mut self, stats: &ConnectionStats) -> bool {
        let frames = &stats.frame_tx;
        let now = (frames.stream, frames.acks, others(frames));
        let (data, acks, rest) = (now.0 > self.last.0, now.1 > self.last.1, now.2 > self.last.2);
        self.last = now;
        self.data += u64::from(data);
        self.ack_only += u64::from(acks && !data && !rest);
        data
    }
}

/// The number of frames other than ACK and STREAM.
fn others(frames: &FrameStats) -> u64 {
    let more = [
        frames.ack_frequency,
        frames.crypto,
        frames.connection_close,
        frames.data_blocked,
        frames.datagram,
        u64::from(frames.handshake_done),
        frames.immediate_ack,
        frames.max_data,
        frames.max_stream_data,
        frames.max_streams_bidi,
        frames.max_streams_uni,
        frames.new_connection_id,
        frames.new_token,
        frames.path_challenge,
        frames.path_response,
        frames.ping,
        frames.reset_stream,
        frames.retire_connection_id,
        frames.stream_data_blocked,
        frames.streams_blocked_bidi,
        frames.streams_blocked_uni,
        frames.stop_sending,
    ];
    more.iter().sum()
}
