//! The options of a scenario's `[tls]` table.

use units::parameter::{Arguments, Default as DefaultValue, Kind, Parameter};
use units::{Duration, Size};

/// The options of a scenario's `[tls]` table.
pub static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "protection",
        kind: Kind::Choice(&["tls", "null"]),
        default: DefaultValue::Is("\"null\""),
        about: "packet protection: tls (RFC 9001), or null (the same packet sizes and messages without cryptography)",
    },
    Parameter {
        name: "server_name",
        kind: Kind::Text,
        default: DefaultValue::Is("\"server.example\""),
        about: "host name that the client asks for (SNI, RFC 6066 section 3) and that the certificate is for",
    },
    Parameter {
        name: "certificate_chain",
        kind: Kind::Size,
        default: DefaultValue::Is("\"3 kB\""),
        about: "total DER bytes of the server's two certificates; the first one is padded to fit",
    },
    Parameter {
        name: "key_share",
        kind: Kind::Choice(&["x25519", "x25519mlkem768"]),
        default: DefaultValue::Is("\"x25519\""),
        about: "key exchange: X25519, or the post-quantum hybrid X25519MLKEM768 (draft-ietf-tls-ecdhe-mlkem)",
    },
    Parameter {
        name: "cipher",
        kind: Kind::Choice(&["aes128gcm", "aes256gcm", "chacha20poly1305"]),
        default: DefaultValue::Is("\"aes128gcm\""),
        about: "AEAD of Handshake and 1-RTT packets (RFC 9001 section 5.3)",
    },
    Parameter {
        name: "tickets",
        kind: Kind::Integer(0, 8),
        default: DefaultValue::Is("0"),
        about: "session tickets that the server sends each client, for resumption (RFC 8446 section 4.6.1)",
    },
    Parameter {
        name: "ticket_lifetime",
        kind: Kind::Duration,
        default: DefaultValue::Is("\"86400 s\""),
        about: "how long the server accepts a ticket; the client keeps it for a day at most",
    },
    Parameter {
        name: "early_data",
        kind: Kind::Flag,
        default: DefaultValue::Is("false"),
        about: "whether the server accepts 0-RTT data from a client with a ticket (RFC 9001 section 4.6)",
    },
    Parameter {
        name: "replay_protection",
        kind: Kind::Flag,
        default: DefaultValue::Is("true"),
        about: "whether a ticket is valid for one connection only, so that 0-RTT data cannot be replayed (RFC 8446 section 8.1)",
    },
];

/// How packets are protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Protection {
    /// TLS 1.3, AEAD and header protection (RFC 9001).
    Tls,
    /// The same messages and sizes without cryptography.
    Null,
}

/// The key exchange of the client's first message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyShare {
    /// X25519 (RFC 8446 section 4.2.8.2): 32 bytes each way.
    X25519,
    /// X25519MLKEM768 (draft-ietf-tls-ecdhe-mlkem): 1216 bytes to the server, 1120 bytes back.
    X25519MlKem768,
}

/// The AEAD of Handshake and 1-RTT packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cipher {
    /// TLS_AES_128_GCM_SHA256.
    Aes128Gcm,
    /// TLS_AES_256_GCM_SHA384.
    Aes256Gcm,
    /// TLS_CHACHA20_POLY1305_SHA256.
    ChaCha20Poly1305,
}

/// The options of a [`Context`](crate::Context). `Options::default()` equals the defaults of [`PARAMETERS`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// How packets are protected. Default: null.
    pub protection: Protection,
    /// The server's host name. Default: `server.example`.
    pub server_name: String,
    /// The total size of the server's certificates in DER. Default: 3 kB.
    pub certificate_chain: Size,
    /// The key exchange. Default: X25519.
    pub key_share: KeyShare,
    /// The AEAD. Default: AES-128-GCM.
    pub cipher: Cipher,
    /// The number of session tickets that the server sends to each client (RFC 8446 section 4.6.1). Default: none.
    pub tickets: u64,
    /// How long the server accepts a ticket (RFC 8446 section 4.6.1). Default: a day, which is also what clients are
    /// told.
    pub ticket_lifetime: Duration,
    /// Whether the server accepts 0-RTT data from a client with a ticket (RFC 9001 section 4.6). Default: no.
    pub early_data: bool,
    /// Whether a ticket is valid for one connection only, which prevents replays of 0-RTT data (RFC 8446 section 8.1,
    /// RFC 9001 section 9.2). Default: yes.
    pub replay_protection: bool,
    /// Whether the suite of `cipher` is the only one offered and accepted. Applies to real networks only
    /// ([`Context::real`](crate::Context::real)); in a scenario both ends have the same suites. Default: no.
    pub only_cipher: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            protection: Protection::Null,
            server_name: "server.example".to_owned(),
            certificate_chain: Size::from_bytes(3000),
            key_share: KeyShare::X25519,
            cipher: Cipher::Aes128Gcm,
            tickets: 0,
            ticket_lifetime: Duration::from_secs(86_400),
            early_data: false,
            replay_protection: true,
            only_cipher: false,
        }
    }
}

impl From<&Arguments> for Options {
    fn from(arguments: &Arguments) -> Options {
        Options {
            protection: match arguments.text("protection").as_str() {
                "tls" => Protection::Tls,
                _ => Protection::Null,
            },
            server_name: arguments.text("server_name"),
            certificate_chain: arguments.size("certificate_chain"),
            key_share: match arguments.text("key_share").as_str() {
                "x25519mlkem768" => KeyShare::X25519MlKem768,
                _ => KeyShare::X25519,
            },
            cipher: match arguments.text("cipher").as_str() {
                "aes256gcm" => Cipher::Aes256Gcm,
                "chacha20poly1305" => Cipher::ChaCha20Poly1305,
                _ => Cipher::Aes128Gcm,
            },
            tickets: arguments.integer("tickets"),
            ticket_lifetime: arguments.duration("ticket_lifetime"),
            early_data: arguments.flag("early_data"),
            replay_protection: arguments.flag("replay_protection"),
            only_cipher: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::parameter::Value;

    /// The defaults of the table.
    fn defaults() -> Arguments {
        Arguments::filled(PARAMETERS, &[], &[]).unwrap()
    }

    #[test]
    fn the_table_and_the_code_have_the_same_defaults() {
        assert_eq!(Options::from(&defaults()), Options::default());
    }

    #[test]
    fn every_choice_has_its_own_meaning() {
        for parameter in PARAMETERS {
            let Kind::Choice(words) = parameter.kind else { continue };
            let mut meanings = Vec::new();
            for word in words {
                let mut arguments = defaults();
                let entry = arguments.0.iter_mut().find(|(name, _)| *name == parameter.name).unwrap();
                entry.1 = Value::Text((*word).to_owned());
                let options = Options::from(&arguments);
                assert!(!meanings.contains(&options), "{word}");
                meanings.push(options);
            }
        }
    }
}
