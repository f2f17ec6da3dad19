//! Transport error codes (RFC 9000 section 20.1).

use std::fmt;

/// The code of a CONNECTION_CLOSE frame of type 0x1c: why QUIC closed a connection. Application error codes (RFC 9000
/// section 20.2) are plain integers instead.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub u64);

impl Code {
    /// Closed without an error.
    pub const NO_ERROR: Code = Code(0x00);
    /// The endpoint cannot continue because of an internal error.
    pub const INTERNAL_ERROR: Code = Code(0x01);
    /// The server refuses new connections.
    pub const CONNECTION_REFUSED: Code = Code(0x02);
    /// More data was received than was allowed.
    pub const FLOW_CONTROL_ERROR: Code = Code(0x03);
    /// A frame for a stream beyond the limit on streams.
    pub const STREAM_LIMIT_ERROR: Code = Code(0x04);
    /// A frame for a stream that is not in a state that permits it.
    pub const STREAM_STATE_ERROR: Code = Code(0x05);
    /// Data beyond the final size, or another final size than before.
    pub const FINAL_SIZE_ERROR: Code = Code(0x06);
    /// A malformed frame.
    pub const FRAME_ENCODING_ERROR: Code = Code(0x07);
    /// Transport parameters that are malformed, invalid, missing or forbidden.
    pub const TRANSPORT_PARAMETER_ERROR: Code = Code(0x08);
    /// More connection ids than the limit.
    pub const CONNECTION_ID_LIMIT_ERROR: Code = Code(0x09);
    /// A protocol error that no other code describes better.
    pub const PROTOCOL_VIOLATION: Code = Code(0x0a);
    /// A server received an Initial with an invalid token.
    pub const INVALID_TOKEN: Code = Code(0x0b);
    /// The application closed the connection during the handshake.
    pub const APPLICATION_ERROR: Code = Code(0x0c);
    /// More CRYPTO data than can be buffered.
    pub const CRYPTO_BUFFER_EXCEEDED: Code = Code(0x0d);
    /// An error in a key update (RFC 9001 section 6).
    pub const KEY_UPDATE_ERROR: Code = Code(0x0e);
    /// The confidentiality or integrity limit of the AEAD was reached (RFC 9001 section 6.6).
    pub const AEAD_LIMIT_REACHED: Code = Code(0x0f);
    /// No network path can carry QUIC.
    pub const NO_VIABLE_PATH: Code = Code(0x10);
    /// The peer's version information contradicts the negotiation (RFC 9368 section 10.2).
    pub const VERSION_NEGOTIATION_ERROR: Code = Code(0x11);

    /// The handshake failed with this TLS alert (RFC 9001 section 4.8).
    #[inline]
    pub const fn crypto(alert: u8) -> Code {
        Code(0x100 + alert as u64)
    }
    /// The TLS alert, if the code is a CRYPTO_ERROR (0x0100 to 0x01ff).
    #[inline]
    pub const fn alert(self) -> Option<u8> {
        if self.0 & !0xff == 0x100 { Some(self.0 as u8) } else { None }
    }

    /// The name in RFC 9000; `None` for codes without a name.
    pub const fn name(self) -> Option<&'static str> {
        Some(match self {
            Code::NO_ERROR => "NO_ERROR",
            Code::INTERNAL_ERROR => "INTERNAL_ERROR",
            Code::CONNECTION_REFUSED => "CONNECTION_REFUSED",
            Code::FLOW_CONTROL_ERROR => "FLOW_CONTROL_ERROR",
            Code::STREAM_LIMIT_ERROR => "STREAM_LIMIT_ERROR",
            Code::STREAM_STATE_ERROR => "STREAM_STATE_ERROR",
            Code::FINAL_SIZE_ERROR => "FINAL_SIZE_ERROR",
            Code::FRAME_ENCODING_ERROR => "FRAME_ENCODING_ERROR",
            Code::TRANSPORT_PARAMETER_ERROR => "TRANSPORT_PARAMETER_ERROR",
            Code::CONNECTION_ID_LIMIT_ERROR => "CONNECTION_ID_LIMIT_ERROR",
            Code::PROTOCOL_VIOLATION => "PROTOCOL_VIOLATION",
            Code::INVALID_TOKEN => "INVALID_TOKEN",
            Code::APPLICATION_ERROR => "APPLICATION_ERROR",
            Code::CRYPTO_BUFFER_EXCEEDED => "CRYPTO_BUFFER_EXCEEDED",
            Code::KEY_UPDATE_ERROR => "KEY_UPDATE_ERROR",
            Code::AEAD_LIMIT_REACHED => "AEAD_LIMIT_REACHED",
            Code::NO_VIABLE_PATH => "NO_VIABLE_PATH",
            Code::VERSION_NEGOTIATION_ERROR => "VERSION_NEGOTIATION_ERROR",
            Code(0x100..=0x1ff) => "CRYPTO_ERROR",
            Code(_) => return None,
        })
    }
}

/// The name, followed by the TLS alert for CRYPTO_ERROR, or the number of a code without a name.
impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.name(), self.alert()) {
            (Some(name), Some(alert)) => write!(f, "{name} (TLS alert {alert})"),
            (Some(name), None) => f.write_str(name),
            (None, _) => write!(f, "{:#x}", self.0),
        }
    }
}
impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Code({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_of_the_rfc_has_its_own_name() {
        let names: std::collections::BTreeSet<_> =
            (0..=0x11).map(|code| Code(code).name().unwrap()).collect();
        assert_eq!(names.len(), 18);
        assert_eq!(Code(0x12).name(), None);
        assert_eq!(Code(0x12).to_string(), "0x12");
        assert_eq!(Code(0x0a).to_string(), "PROTOCOL_VIOLATION");
    }

    #[test]
    fn crypto_errors_carry_the_alert() {
        // RFC 9001 section 4.8: 0x0128 is handshake_failure.
        assert_eq!(Code::crypto(40), Code(0x128));
        assert_eq!(Code::crypto(40).to_string(), "CRYPTO_ERROR (TLS alert 40)");
        assert_eq!((Code(0xff).alert(), Code(0x100).alert()), (None, Some(0)));
        assert_eq!((Code(0x1ff).alert(), Code(0x200).alert()), (Some(255), None));
    }
}
