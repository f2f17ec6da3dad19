//! TLS secrets for captures: lines of an NSS key log.

use std::fmt;

/// One line of an NSS key log (draft-ietf-tls-keylogfile). `Display` writes it without a line end.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    /// The kind of secret: `CLIENT_HANDSHAKE_TRAFFIC_SECRET`, ...
    pub label: String,
    /// The random of the ClientHello, which identifies the connection.
    pub client_random: [u8; 32],
    /// The secret, as long as the hash of the cipher suite: 32 or 48 bytes.
    pub secret: Vec<u8>,
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.label)?;
        for byte in self.client_random {
            write!(f, "{byte:02x}")?;
        }
        f.write_str(" ")?;
        for byte in &self.secret {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_key_log() {
        let label = "SERVER_TRAFFIC_SECRET_0".to_owned();
        let secret = Secret { label, client_random: [0xab; 32], secret: vec![0x01, 0xf0] };
        assert_eq!(secret.to_string(), format!("SERVER_TRAFFIC_SECRET_0 {} 01f0", "ab".repeat(32)));
    }
}
