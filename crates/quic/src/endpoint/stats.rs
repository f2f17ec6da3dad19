//! What an endpoint counts beside its connections.

/// The counters of an endpoint, from its start on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EndpointStats {
    /// Connections of clients that were taken.
    pub accepted: u64,
    /// Retry packets sent (RFC 9000 section 8.1.2).
    pub retries_sent: u64,
    /// Clients whose address a token of a Retry packet validated.
    pub retry_tokens_accepted: u64,
    /// Clients whose address a token of a NEW_TOKEN frame validated (RFC 9000 section 8.1.3).
    pub new_tokens_accepted: u64,
    /// Tokens of NEW_TOKEN frames, or of nobody known, that were ignored: too old, used before, of another address.
    pub tokens_ignored: u64,
    /// Clients that were sent away with INVALID_TOKEN (RFC 9000 section 8.1.2).
    pub invalid_tokens: u64,
    /// Clients that were sent away with CONNECTION_REFUSED (RFC 9000 section 5.2.2).
    pub refused: u64,
    /// Version Negotiation packets sent (RFC 9000 section 6.1).
    pub version_negotiations_sent: u64,
    /// Stateless resets sent (RFC 9000 section 10.3).
    pub resets_sent: u64,
    /// Stateless resets received that ended a connection and came to an id of nobody, as they do.
    pub resets_received: u64,
    /// Answers that were not given, because too many waited to be sent or their rate is limited.
    pub answers_withheld: u64,
    /// Datagrams that nothing could be done with; those that one of the answers above was given to are not among them.
    pub dropped: u64,
}
