//! Tests of the transport parameters: round trips, defaults, and every error.

use super::*;
use crate::{Code, Side, Version};

fn id(bytes: &[u8]) -> ConnectionId {
    ConnectionId::new(bytes).unwrap()
}

fn full() -> TransportParameters {
    TransportParameters {
        original_destination_connection_id: Some(id(&[1; 8])),
        max_idle_timeout_ms: 30_000,
        stateless_reset_token: Some([7; 16]),
        max_udp_payload_size: 1472,
        initial_max_data: crate::varint::MAX,
        initial_max_stream_data_bidi_local: 1,
        initial_max_stream_data_bidi_remote: 2,
        initial_max_stream_data_uni: 3,
        initial_max_streams_bidi: 1 << 60,
        initial_max_streams_uni: 5,
        ack_delay_exponent: 20,
        max_ack_delay_ms: 16_383,
        disable_active_migration: true,
        preferred_address: Some(PreferredAddress {
            ipv4: Some("192.0.2.1:443".parse().unwrap()),
            ipv6: Some("[2001:db8::1]:8443".parse().unwrap()),
            id: id(&[2; 20]),
            token: [9; 16],
        }),
        active_connection_id_limit: 8,
        max_datagram_frame_size: 65_535,
        grease_quic_bit: true,
        reset_stream_at: true,
        initial_source_connection_id: Some(id(&[3])),
        retry_source_connection_id: Some(ConnectionId::EMPTY),
        min_ack_delay_us: Some(1000),
        immediate_ack_bit: true,
        enable_bdp: 3,
        version_information: Some(VersionInformation {
            chosen: Version::V2,
            available: [Version::V2, Version(0x1a2a_3a4a), Version::V1].into_iter().collect(),
        }),
    }
}

fn encoded(parameters: &TransportParameters) -> Vec<u8> {
    let mut out = Vec::new();
    parameters.encode(&mut out, None);
    out
}

fn decode(bytes: &[u8], from: Side) -> Result<TransportParameters, (u64, ParameterProblem)> {
    TransportParameters::decode(bytes, from).map_err(|error| {
        assert_eq!(error.code(), Code::TRANSPORT_PARAMETER_ERROR);
        assert!(error.to_string().starts_with(error.reason()));
        (error.id, error.problem)
    })
}

/// draft-ietf-quic-ack-frequency section 3.
#[test]
fn min_ack_delay_is_no_more_than_max_ack_delay() {
    let with = |least, most| {
        let parameters = TransportParameters {
            min_ack_delay_us: Some(least),
            max_ack_delay_ms: most,
            ..TransportParameters::default()
        };
        decode(&encoded(&parameters), Side::Client).map(|decoded| decoded.min_ack_delay_us)
    };
    assert_eq!(with(0, 0), Ok(Some(0)));
    assert_eq!(with(25_000, 25), Ok(Some(25_000)));
    assert_eq!(with(25_001, 25), Err((0xff04_de1b, ParameterProblem::Range)));
    let two = [0xc0, 0, 0, 0, 0xff, 0x04, 0xde, 0x1b, 2, 1, 1];
    assert_eq!(decode(&two, Side::Client), Err((0xff04_de1b, ParameterProblem::Length)));
}

/// draft-kuhn-quic-0rtt-bdp-09 section 3.2.
#[test]
fn enable_bdp_is_0_to_3() {
    let with = |value: &[u8]| {
        let bytes = [&[0x80, 0, 0xeb, 0xd9, value.len() as u8][..], value].concat();
        decode(&bytes, Side::Client).map(|decoded| decoded.enable_bdp)
    };
    assert_eq!((with(&[0]), with(&[1]), with(&[3])), (Ok(0), Ok(1), Ok(3)));
    assert_eq!(with(&[4]), Err((0xebd9, ParameterProblem::Range)));
    assert_eq!(with(&[1, 1]), Err((0xebd9, ParameterProblem::Length)));
}

#[test]
fn absent_parameters_have_the_defaults_of_the_rfc() {
    let default = TransportParameters::default();
    assert_eq!(encoded(&default), []);
    assert_eq!(decode(&[], Side::Client), Ok(default));
    assert_eq!(default.max_idle_timeout(), None);
    assert_eq!(default.max_ack_delay(), Duration::from_millis(25));
    assert_eq!((default.ack_delay_exponent, default.active_connection_id_limit), (3, 2));
    assert_eq!(default.max_udp_payload_size, 65527);
}

/// RFC 9000-7.4-2.
#[test]
fn every_parameter_round_trips() {
    let parameters = full();
    let bytes = encoded(&parameters);
    assert_eq!(decode(&bytes, Side::Server), Ok(parameters));
    assert_eq!(parameters.max_idle_timeout(), Some(Duration::from_secs(30)));
    // In any order, too.
    let mut reversed = Vec::new();
    let mut reader = crate::Reader::new(&bytes);
    while !reader.is_empty() {
        let start = reader.position();
        reader.varint().unwrap();
        reader.prefixed().unwrap();
        reversed.splice(0..0, bytes[start..reader.position()].iter().copied());
    }
    assert_ne!(reversed, bytes);
    assert_eq!(decode(&reversed, Side::Server), Ok(parameters));
    // Truncated within a parameter it is an error.
    let cuts = (0..bytes.len()).filter(|cut| decode(&bytes[..*cut], Side::Server).is_ok()).count();
    assert_eq!(cuts, 24, "one before each parameter");
}

#[test]
fn a_preferred_address_of_one_family() {
    let mut parameters = full();
    let address = parameters.preferred_address.as_mut().unwrap();
    (address.ipv4, address.id) = (None, id(&[4]));
    assert_eq!(decode(&encoded(&parameters), Side::Server), Ok(parameters));
    // Port 0 with an address is an address.
    let address = parameters.preferred_address.as_mut().unwrap();
    (address.ipv4, address.ipv6) = (Some("192.0.2.1:0".parse().unwrap()), None);
    assert_eq!(decode(&encoded(&parameters), Side::Server), Ok(parameters));
}

/// RFC 9000-7.4.2-1.
#[test]
fn unknown_parameters_are_ignored() {
    let mut bytes = Vec::new();
    full().encode(&mut bytes, Some((31 * 1000 + 27, b"whatever")));
    assert_eq!(bytes[bytes.len() - 8..], *b"whatever");
    assert_eq!(decode(&bytes, Side::Server), Ok(full()));
}

/// RFC 9000-4.6-1, 9000-7.4-1, 9000-18.2-7.
#[test]
fn values_outside_of_their_range_are_refused() {
    use ParameterProblem::Range;
    for (id, refused, accepted) in [
        (0x03, 1199, 1200),
        (0x08, (1 << 60) + 1, 1 << 60),
        (0x09, (1 << 60) + 1, 1 << 60),
        (0x0a, 21, 20),
        (0x0b, 1 << 14, (1 << 14) - 1),
        (0x0e, 1, 2),
    ] {
        let parameter = |value: u64| {
            let mut out = vec![id as u8, crate::varint::size(value) as u8];
            crate::varint::encode(&mut out, value);
            out
        };
        assert_eq!(decode(&parameter(refused), Side::Client), Err((id, Range)));
        assert!(decode(&parameter(accepted), Side::Client).is_ok(), "{id}");
    }
}

/// RFC 9000-7.4-1, 9000-18.2-5; RFC 9287-3-1.
#[test]
fn malformed_parameters_are_refused() {
    use ParameterProblem::{Duplicate, Length, PreferredAddress as Address};
    let address = |length: u8, id: usize| {
        let mut out = vec![0x0d, (41 + id) as u8];
        out.extend([1; 24]);
        out.push(length);
        out.resize(out.len() + id + 16, 5);
        out
    };
    for (bytes, id, problem) in [
        (vec![0x01], 1, Length),
        (vec![0x01, 2, 5], 1, Length),
        (vec![0x40], u64::MAX, Length),
        // An integer followed by a byte, without a byte, and truncated.
        (vec![0x01, 2, 5, 0], 1, Length),
        (vec![0x01, 0], 1, Length),
        (vec![0x01, 1, 0x40], 1, Length),
        (vec![0x0c, 1, 0], 0x0c, Length),
        (vec![0x6a, 0xb2, 1, 0], 0x2ab2, Length),
        ([&[0x02, 15][..], &[0; 15]].concat(), 2, Length),
        ([&[0x02, 17][..], &[0; 17]].concat(), 2, Length),
        ([&[0x0f, 21][..], &[0; 21]].concat(), 0x0f, Length),
        ([&[0x00, 21][..], &[0; 21]].concat(), 0, Length),
        ([&[0x10, 21][..], &[0; 21]].concat(), 0x10, Length),
        (address(0, 0), 0x0d, Address),
        (address(21, 21), 0x0d, Length),
        (address(4, 5), 0x0d, Length),
        (address(5, 4), 0x0d, Length),
        ([&[0x0f, 0][..], &address(4, 4)].concat(), 0x0d, Address),
        // Twice, known or unknown, adjacent or not, with equal values or not.
        (vec![0x01, 1, 5, 0x01, 1, 5], 1, Duplicate),
        (vec![0x0c, 0, 0x01, 1, 5, 0x0c, 0], 0x0c, Duplicate),
        (vec![0x3f, 0, 0x01, 1, 5, 0x40, 0x3f, 1, 9], 0x3f, Duplicate),
    ] {
        assert_eq!(decode(&bytes, Side::Server), Err((id, problem)), "{bytes:02x?}");
    }
    assert!(decode(&address(4, 4), Side::Server).is_ok());
}

/// RFC 9000-18.2-9.
#[test]
fn a_client_must_not_send_parameters_of_servers() {
    let server_only: [fn(&mut TransportParameters); 4] = [
        |p| p.original_destination_connection_id = full().original_destination_connection_id,
        |p| p.stateless_reset_token = full().stateless_reset_token,
        |p| p.preferred_address = full().preferred_address,
        |p| p.retry_source_connection_id = full().retry_source_connection_id,
    ];
    for set in server_only {
        let mut parameters = TransportParameters::default();
        set(&mut parameters);
        let bytes = encoded(&parameters);
        assert_eq!(decode(&bytes, Side::Client), Err((u64::from(bytes[0]), ParameterProblem::ServerOnly)));
        assert_eq!(decode(&bytes, Side::Server), Ok(parameters));
    }
}

#[test]
fn a_trace_gets_the_integers_in_the_order_of_their_code_points() {
    let integers = full().integers();
    assert_eq!(integers.len(), 12);
    assert_eq!(integers[0], ("max_idle_timeout", 30_000));
    assert_eq!(integers[9], ("max_ack_delay", 16_383));
    assert_eq!(integers[10], ("active_connection_id_limit", 8));
    assert_eq!(integers[11], ("max_datagram_frame_size", 65_535));
    assert!(table::INTEGERS.is_sorted_by_key(|row| row.id));
}

/// RFC 9368 section 4.
#[test]
fn version_information_that_cannot_be_parsed() {
    use ParameterProblem::{Length, Range};
    let parameter = |versions: &[u32]| {
        let mut out = vec![0x11, 4 * versions.len() as u8];
        versions.iter().for_each(|version| out.extend(version.to_be_bytes()));
        out
    };
    for from in [Side::Client, Side::Server] {
        assert_eq!(decode(&[0x11, 0], from), Err((0x11, Length)));
        assert_eq!(decode(&[0x11, 3, 0, 0, 1], from), Err((0x11, Length)));
        assert_eq!(decode(&[0x11, 5, 0, 0, 0, 1, 0], from), Err((0x11, Length)));
        assert_eq!(decode(&parameter(&[0, 1]), from), Err((0x11, Range)), "chosen");
        assert_eq!(decode(&parameter(&[1, 1, 0]), from), Err((0x11, Range)), "available");
        assert!(decode(&parameter(&[1, 0x6b33_43cf, 1]), from).is_ok());
    }
    // A server need not list the version that it chose; a client must.
    for unlisted in [&[1][..], &[1, 0x6b33_43cf]] {
        assert_eq!(decode(&parameter(unlisted), Side::Client), Err((0x11, Range)));
        assert!(decode(&parameter(unlisted), Side::Server).is_ok());
    }
}
