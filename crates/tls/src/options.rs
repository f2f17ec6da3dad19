//! The options of a scenario's `[tls]` table.

use units::parameter::{self, Arguments, Choice, Parameter};
use units::{Duration, Size};

/// The options of a scenario's `[tls]` table.
pub static PARAMETERS: &[Parameter] = <Options as parameter::Options>::PARAMETERS;

/// The options of a [`Context`](crate::Context).
#[derive(Debug, Clone, PartialEq, Eq, parameter::Options)]
pub struct Options {
    /// packet protection: tls (RFC 9001), or null (the same packet sizes and messages without cryptography)
    #[option(default = "null")]
    pub protection: Protection,
    /// host name that the client asks for (SNI, RFC 6066 section 3) and that the certificate is for
    #[option(default = "server.example")]
    pub server_name: String,
    /// total DER bytes of the server's two certificates; the first one is padded to fit
    #[option(default = "3 kB")]
    pub certificate_chain: Size,
    /// key exchange: X25519, or the post-quantum hybrid X25519MLKEM768 (draft-ietf-tls-ecdhe-mlkem)
    #[option(default = "x25519")]
    pub key_share: KeyShare,
    /// AEAD of Handshake and 1-RTT packets (RFC 9001 section 5.3)
    #[option(default = "aes128gcm")]
    pub cipher: Cipher,
    /// session tickets that the server sends each client, for resumption (RFC 8446 section 4.6.1)
    #[option(default = 0, within = 0..=8)]
    pub tickets: u64,
    /// how long the server accepts a ticket; the client keeps it for a day at most
    #[option(default = "86400 s")]
    pub ticket_lifetime: Duration,
    /// whether the server accepts 0-RTT data from a client with a ticket (RFC 9001 section 4.6)
    #[option(default = false)]
    pub early_data: bool,
    /// whether a ticket is valid for one connection only, so that 0-RTT data cannot be replayed (RFC 8446 section 8.1)
    #[option(default = true)]
    pub replay_protection: bool,
    /// What is chosen on real networks alone.
    #[options]
    pub real: RealOptions,
}

/// What is chosen on real networks alone ([`Context::real`](crate::Context::real)): no option of a scenario, in which
/// both ends have the same suites.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RealOptions {
    /// Whether the suite of [`Options::cipher`] is the only one offered and accepted. Default: no.
    pub only_cipher: bool,
}

impl parameter::Options for RealOptions {
    const PARAMETERS: &'static [Parameter] = &[];

    fn of(_: &Arguments) -> RealOptions {
        RealOptions::default()
    }
}

/// How packets are protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Choice)]
pub enum Protection {
    /// TLS 1.3, AEAD and header protection (RFC 9001).
    Tls,
    /// The same messages and sizes without cryptography.
    Null,
}

/// The key exchange of the client's first message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Choice)]
pub enum KeyShare {
    /// X25519 (RFC 8446 section 4.2.8.2): 32 bytes each way.
    X25519,
    /// X25519MLKEM768 (draft-ietf-tls-ecdhe-mlkem): 1216 bytes to the server, 1120 bytes back.
    #[word("x25519mlkem768")]
    X25519MlKem768,
}

/// The AEAD of Handshake and 1-RTT packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Choice)]
pub enum Cipher {
    /// TLS_AES_128_GCM_SHA256.
    #[word("aes128gcm")]
    Aes128Gcm,
    /// TLS_AES_256_GCM_SHA384.
    #[word("aes256gcm")]
    Aes256Gcm,
    /// TLS_CHACHA20_POLY1305_SHA256.
    #[word("chacha20poly1305")]
    ChaCha20Poly1305,
}

impl Default for Options {
    /// The defaults of [`PARAMETERS`].
    fn default() -> Options {
        parameter::Options::written(&[]).expect("each option has a default")
    }
}

impl From<&Arguments> for Options {
    fn from(arguments: &Arguments) -> Options {
        parameter::Options::of(arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::parameter::Value;

    #[test]
    fn the_defaults_are_those_of_the_table() {
        let options = Options::default();
        assert_eq!((options.protection, options.tickets), (Protection::Null, 0));
        assert_eq!(options.ticket_lifetime, Duration::from_secs(86_400));
        assert!(options.replay_protection && !options.real.only_cipher);
    }

    #[test]
    #[should_panic(expected = "option \"cipher\" was read as Text(\"des\")")]
    fn an_unknown_word_is_no_default() {
        let mut arguments = Arguments::filled(PARAMETERS, &[], &[]).unwrap();
        arguments.0.iter_mut().find(|(name, _)| *name == "cipher").unwrap().1 = Value::Text("des".to_owned());
        let _ = Options::from(&arguments);
    }
}
