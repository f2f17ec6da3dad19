//! What can be asked of a connection.

use super::{Connection, Phase, Progress};
use crate::error::CloseReason;
use crate::stats::Stats;
use crate::stream::StreamStats;
use std::net::SocketAddr;
use trace::Log;
use wire::{ConnectionId, Direction, Side, TransportParameters, Version};

impl Connection {
    /// Which end this is.
    pub fn side(&self) -> Side {
        self.origin.side
    }
    /// Whether the handshake is complete.
    pub fn is_established(&self) -> bool {
        self.progress >= Progress::Complete
    }
    /// Whether the connection takes no more from the application: closing, draining or gone.
    pub fn is_over(&self) -> bool {
        self.phase != Phase::Open
    }
    /// Whether nothing is left to do: the endpoint can forget it (RFC 9000 section 10.2).
    pub fn is_gone(&self) -> bool {
        self.phase == Phase::Gone
    }
    /// Why it is over.
    pub fn close_reason(&self) -> Option<&CloseReason> {
        self.close_reason.as_ref()
    }
    /// The counters.
    pub fn stats(&self) -> Stats {
        let datagram_frames = self.datagrams.as_ref().map(|datagrams| datagrams.stats).unwrap_or_default();
        let paths = &self.paths.stats;
        Stats {
            streams: self.streams.stats,
            datagram_frames,
            ect_packets_sent: paths.ect_packets_sent,
            ce_packets_reported: paths.ce_packets_reported,
            ecn_failures: paths.ecn_failures,
            mtu_probes_sent: paths.mtu_probes_sent,
            mtu_probes_lost: paths.mtu_probes_lost,
            mtu_black_holes: paths.mtu_black_holes,
            path_changes: paths.changes,
            path_validations_failed: paths.validations_failed,
            path_challenges_sent: paths.challenges_sent,
            ..self.stats.clone()
        }
    }
    /// How many streams of a direction the peer may open so far, those that are over among them: MAX_STREAMS as it was told
    /// last (RFC 9000 section 4.6).
    pub fn peer_stream_limit(&self, direction: Direction) -> u64 {
        self.streams.peer_limit(direction)
    }
    /// The counters of the streams alone.
    #[inline]
    pub fn stream_stats(&self) -> &StreamStats {
        &self.streams.stats
    }
    /// Real bytes that the streams keep until they are acknowledged; 0 without [`Connection::set_send_allowance`].
    pub fn kept_bytes(&self) -> u64 {
        self.streams.kept()
    }
    /// Whether a stream has room for nothing because of [`Connection::set_send_allowance`], and its application is to be told when
    /// it has.
    pub fn waits_for_allowance(&mut self) -> bool {
        self.streams.wait_for_allowance()
    }
    /// The number of streams that are not over.
    pub fn open_streams(&self) -> usize {
        self.streams.open_count()
    }
    /// The transport parameters of the peer, once they are known.
    pub fn peer_parameters(&self) -> Option<&TransportParameters> {
        self.peer.as_ref()
    }
    /// The events that wait for a sink.
    pub fn log(&mut self) -> &mut Log {
        &mut self.log
    }
    /// TLS secrets that have come up since the last call, for captures.
    pub fn take_secrets(&mut self) -> Vec<tls::Secret> {
        self.session.take_secrets()
    }
    /// Whether packets to this id are for this connection.
    #[inline]
    pub(crate) fn owns(&self, id: &[u8]) -> bool {
        self.local_ids.owns(id)
    }
    /// Whether no packet has opened yet.
    pub(crate) fn is_blank(&self) -> bool {
        self.stats.packets_received == 0
    }
    /// The version of QUIC that is spoken.
    pub fn version(&self) -> Version {
        self.version
    }
    /// At a server: where the client's first packet came from and went to.
    pub(crate) fn initial_key(&self) -> (SocketAddr, ConnectionId) {
        (self.origin.remote, self.origin.initial_destination)
    }
}
