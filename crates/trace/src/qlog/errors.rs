//! The names of error codes.

/// The name of a transport error (RFC 9000 section 20.1) in qlog's spelling; `None` for codes without one.
/// CRYPTO_ERROR, 0x0100-0x01ff, has no fixed name: see [`crypto_alert`].
pub(super) const fn transport_error(code: u64) -> Option<&'static str> {
    Some(match code {
        0x00 => "no_error",
        0x01 => "internal_error",
        0x02 => "connection_refused",
        0x03 => "flow_control_error",
        0x04 => "stream_limit_error",
        0x05 => "stream_state_error",
        0x06 => "final_size_error",
        0x07 => "frame_encoding_error",
        0x08 => "transport_parameter_error",
        0x09 => "connection_id_limit_error",
        0x0a => "protocol_violation",
        0x0b => "invalid_token",
        0x0c => "application_error",
        0x0d => "crypto_buffer_exceeded",
        0x0e => "key_update_error",
        0x0f => "aead_limit_reached",
        0x10 => "no_viable_path",
        _ => return None,
    })
}

/// The TLS alert in a CRYPTO_ERROR (RFC 9001 section 4.8).
pub(super) const fn crypto_alert(code: u64) -> Option<u8> {
    if code >> 8 == 1 { Some(code as u8) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_rfc_9000_section_20_1() {
        assert_eq!(transport_error(0x0a), Some("protocol_violation"));
        assert_eq!(transport_error(0x10), Some("no_viable_path"));
        assert_eq!((transport_error(0x11), transport_error(0x100)), (None, None));
        assert_eq!(crypto_alert(0x128), Some(0x28));
        assert_eq!((crypto_alert(0x28), crypto_alert(0x200)), (None, None));
    }
}
