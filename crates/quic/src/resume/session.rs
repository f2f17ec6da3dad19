//! A TLS session as a client remembers it, and the transport parameters that 0-RTT relies on (RFC 9000 section 7.4.1).

use congestion::TicketKey;
use tls::Ticket;
use wire::{TransportParameters, Version};

/// What a client needs to resume a session.
#[derive(Debug)]
pub(crate) struct RememberedSession {
    pub(crate) ticket: Ticket,
    /// The server's transport parameters for 0-RTT.
    pub(crate) parameters: TransportParameters,
    /// The negotiated application protocol; empty: none.
    pub(crate) alpn: Vec<u8>,
    /// The version of the connection that provided the ticket (RFC 9369 section 5).
    pub(crate) version: Version,
}

/// The server's parameters without those that must not be remembered.
pub(crate) fn remembered(parameters: &TransportParameters) -> TransportParameters {
    let none = TransportParameters::default();
    // RFC 9000-7.4.1-2, 9000-7.4.1-3: "A client MUST NOT use remembered values for the following parameters".
    TransportParameters {
        ack_delay_exponent: none.ack_delay_exponent,
        max_ack_delay_ms: none.max_ack_delay_ms,
        initial_source_connection_id: None,
        original_destination_connection_id: None,
        preferred_address: None,
        retry_source_connection_id: None,
        stateless_reset_token: None,
        ..*parameters
    }
}

/// The names and values of the parameters that a server must not lower when it accepts 0-RTT.
fn limits(of: &TransportParameters) -> [(&'static str, u64); 9] {
    [
        ("active_connection_id_limit", of.active_connection_id_limit),
        ("initial_max_data", of.initial_max_data),
        ("initial_max_stream_data_bidi_local", of.initial_max_stream_data_bidi_local),
        ("initial_max_stream_data_bidi_remote", of.initial_max_stream_data_bidi_remote),
        ("initial_max_stream_data_uni", of.initial_max_stream_data_uni),
        ("initial_max_streams_bidi", of.initial_max_streams_bidi),
        ("initial_max_streams_uni", of.initial_max_streams_uni),
        // RFC 9221-3-5, 9221-3-6: "greater than or equal to the value they sent to the client".
        ("max_datagram_frame_size", of.max_datagram_frame_size),
        // draft-ietf-quic-reliable-stream-reset-09 section 3: "MUST NOT disable this extension".
        ("reset_stream_at", u64::from(of.reset_stream_at)),
    ]
}

/// The name of the first parameter that is lower now than the remembered one.
pub(crate) fn lowered(remembered: &TransportParameters, now: &TransportParameters) -> Option<&'static str> {
    let mut pairs = limits(remembered).into_iter().zip(limits(now));
    pairs.find(|((_, then), (_, now))| now < then).map(|((name, _), _)| name)
}

/// The number of values in the terms.
const TERMS: usize = 12;

/// The terms for later 0-RTT, as stored with a server's tickets: its limits, and three parameters that would make 0-RTT
/// packets fail if lowered ("A server MAY store and recover the previously sent values"); and the key of the tickets.
pub(crate) fn terms(parameters: &TransportParameters, ticket: TicketKey) -> Vec<u8> {
    let values = limits(parameters).map(|(_, value)| value);
    // A timeout of 0 means none, which is the longest.
    let timeout = parameters.max_idle_timeout_ms.wrapping_sub(1);
    let further = [parameters.max_udp_payload_size, timeout, parameters.enable_bdp];
    let values = values.into_iter().chain(further);
    values.flat_map(u64::to_be_bytes).chain(ticket).collect()
}

/// Whether the current terms satisfy those of an earlier connection.
pub(crate) fn admits(then: &[u8], now: &[u8]) -> bool {
    let keeps = |(then, now): (&[u8], &[u8])| then <= now;
    then.len() == now.len() && then.chunks(8).zip(now.chunks(8)).take(TERMS).all(keeps)
}

/// The key of the tickets in these terms.
pub(crate) fn ticket_key(terms: &[u8]) -> Option<TicketKey> {
    terms.get(8 * TERMS..)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{ConnectionId, PreferredAddress};

    const KEY: TicketKey = [7; 16];

    fn parameters() -> TransportParameters {
        let id = ConnectionId::new(&[1; 8]);
        TransportParameters {
            original_destination_connection_id: id,
            max_idle_timeout_ms: 30_000,
            stateless_reset_token: Some([2; 16]),
            max_udp_payload_size: 1_500,
            initial_max_data: 1,
            initial_max_stream_data_bidi_local: 2,
            initial_max_stream_data_bidi_remote: 3,
            initial_max_stream_data_uni: 4,
            initial_max_streams_bidi: 5,
            initial_max_streams_uni: 6,
            ack_delay_exponent: 7,
            max_ack_delay_ms: 8,
            disable_active_migration: true,
            preferred_address: Some(PreferredAddress {
                ipv4: None,
                ipv6: None,
                id: id.unwrap(),
                token: [3; 16],
            }),
            active_connection_id_limit: 9,
            initial_source_connection_id: id,
            retry_source_connection_id: id,
            max_datagram_frame_size: 10,
            enable_bdp: 1,
            ..TransportParameters::default()
        }
    }

    /// RFC 9000-7.4.1-2, 9000-7.4.1-3.
    #[test]
    fn some_parameters_are_not_remembered() {
        let kept = remembered(&parameters());
        let expected = TransportParameters {
            max_idle_timeout_ms: 30_000,
            max_udp_payload_size: 1_500,
            initial_max_data: 1,
            initial_max_stream_data_bidi_local: 2,
            initial_max_stream_data_bidi_remote: 3,
            initial_max_stream_data_uni: 4,
            initial_max_streams_bidi: 5,
            initial_max_streams_uni: 6,
            disable_active_migration: true,
            active_connection_id_limit: 9,
            max_datagram_frame_size: 10,
            enable_bdp: 1,
            ..TransportParameters::default()
        };
        assert_eq!(kept, expected);
    }

    /// RFC 9221-3-5, 9221-3-6: the limit of datagrams, too.
    #[test]
    fn each_limit_may_rise_and_none_may_fall() {
        let then = parameters();
        assert_eq!(lowered(&then, &then), None);
        assert!(admits(&terms(&then, KEY), &terms(&then, [8; 16])));
        assert_eq!((ticket_key(&terms(&then, KEY)), ticket_key(&[7; 100])), (Some(KEY), None));
        type Change = fn(&mut TransportParameters) -> &mut u64;
        let limits: [Change; 8] = [
            |p| &mut p.active_connection_id_limit,
            |p| &mut p.initial_max_data,
            |p| &mut p.initial_max_stream_data_bidi_local,
            |p| &mut p.initial_max_stream_data_bidi_remote,
            |p| &mut p.initial_max_stream_data_uni,
            |p| &mut p.initial_max_streams_bidi,
            |p| &mut p.initial_max_streams_uni,
            |p| &mut p.max_datagram_frame_size,
        ];
        let further: [Change; 3] =
            [|p| &mut p.max_udp_payload_size, |p| &mut p.max_idle_timeout_ms, |p| &mut p.enable_bdp];
        for (n, of) in limits.into_iter().chain(further).enumerate() {
            let with = |by: i64| {
                let mut changed = then;
                let value = of(&mut changed);
                *value = value.checked_add_signed(by).unwrap();
                changed
            };
            let terms = |of: &TransportParameters| terms(of, KEY);
            assert!(admits(&terms(&then), &terms(&with(1))) && !admits(&terms(&then), &terms(&with(-1))));
            assert_eq!((lowered(&then, &with(1)), lowered(&then, &with(-1)).is_some()), (None, n < 8));
        }
        let endless = TransportParameters { max_idle_timeout_ms: 0, ..then };
        let terms = |of: &TransportParameters| terms(of, KEY);
        assert!(admits(&terms(&then), &terms(&endless)) && !admits(&terms(&endless), &terms(&then)));
        assert!(!admits(&[], &terms(&then)));
    }
}
