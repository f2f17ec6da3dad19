//! The counters of an endpoint.

/// The counters of an endpoint since its start, beside those of its connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EndpointStats {
    /// Accepted connections.
    pub accepted: u64,
    /// Retry packets sent (RFC 9000 section 8.1.2).
    pub retries_sent: u64,
    /// Clients whose address a token of a Retry packet validated.
    pub retry_tokens_accepted: u64,
    /// Clients whose address a token of a NEW_TOKEN frame validated (RFC 9000 section 8.1.3).
    pub new_tokens_accepted: u64,
    /// Ignored tokens: unknown ones, and those of NEW_TOKEN frames that were too old, used before or from another
    /// address.
    pub tokens_ignored: u64,
    /// Clients refused with INVALID_TOKEN (RFC 9000 section 8.1.2).
    pub invalid_tokens: u64,
    /// Clients refused with CONNECTION_REFUSED (RFC 9000 section 5.2.2).
    pub refused: u64,
    /// Handshakes in progress that gave way to new ones.
    pub handshakes_gave_way: u64,
    /// Handshakes that took longer than [`EndpointOptions::handshake_timeout`](crate::EndpointOptions::handshake_timeout).
    pub handshakes_timed_out: u64,
    /// Clients that gave way to new ones.
    pub clients_gave_way: u64,
    /// Version Negotiation packets sent (RFC 9000 section 6.1).
    pub version_negotiations_sent: u64,
    /// Stateless resets sent (RFC 9000 section 10.3).
    pub resets_sent: u64,
    /// Stateless resets received with an unknown id that ended a connection.
    pub resets_received: u64,
    /// Answers not sent, because the queue was full or the rate limit reached.
    pub answers_withheld: u64,
    /// Dropped datagrams, except those with an answer counted above.
    pub dropped: u64,
}
