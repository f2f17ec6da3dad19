//! Contexts for real networks, where the peer is a stranger: real certificates, randomness of the operating system.

use crate::context::Context;
use crate::error::Error;
use crate::identity::Identity;
use crate::key_share::{X25519, X25519_MLKEM768};
use crate::library::Library;
use crate::options::{KeyShare, Options};
use crate::provider::{SessionRandom, ordered_suites};
use crate::trust::Trust;
use random::Source;
use rustls::crypto::{CryptoProvider, SupportedKxGroup, ring};
use std::sync::Arc;
use std::time::Duration;

impl Context {
    /// Creates a context for real networks. Clients trust the servers that `trust` describes; servers present
    /// `identity`, and without one there are no servers.
    ///
    /// Only the options for cipher, key exchange, tickets and 0-RTT apply. Sessions draw from the operating system
    /// and ignore their streams. `date` is the date at time zero, as time since 1970 in UTC.
    ///
    /// # Errors
    /// [`Error::Certificate`] if nothing can be trusted, [`Error::Library`] if certificate and key do not match,
    /// [`Error::Protocols`].
    pub fn real(
        options: &Options,
        alpn: &[&[u8]],
        trust: &Trust,
        identity: Option<&Identity>,
        date: Duration,
    ) -> Result<Context, Error> {
        let provider = Arc::new(provider(options));
        let verifier = trust.verifier(&provider)?;
        let credentials = identity.map(Identity::credentials);
        let library = Library::new(options, alpn, &provider, verifier, credentials)?;
        Ok(Context::with_library(options, alpn, library)?.with_epoch(date).drawing_from(&System))
    }
}

/// The operating system's random numbers.
#[derive(Debug)]
struct System;

impl Source for System {
    /// # Panics
    /// If the generator of the operating system fails.
    fn fill(&self, bytes: &mut [u8]) {
        let filled = ring::default_provider().secure_random.fill(bytes);
        filled.expect("the operating system's random numbers");
    }
}

/// ring's provider, with random numbers and key exchanges from the session's stream, so that a client can repeat its
/// ClientHello ([`Session::follow`](crate::Session::follow)). The chosen suite and group come first.
fn provider(options: &Options) -> CryptoProvider {
    let mut provider = ring::default_provider();
    provider.secure_random = &SessionRandom;
    for group in &mut provider.kx_groups {
        if group.name() == X25519.name() {
            *group = &X25519;
        }
    }
    provider.cipher_suites = ordered_suites(options.cipher);
    if options.real.only_cipher {
        provider.cipher_suites.truncate(1);
    }
    if options.key_share == KeyShare::X25519MlKem768 {
        provider.kx_groups.insert(0, &X25519_MLKEM768);
    }
    provider
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::base64;

    /// The certificate of a pin is public; presenting it requires its key.
    #[test]
    fn a_certificate_with_the_key_of_another_is_refused() {
        let date = Duration::from_secs(1_767_225_600);
        let identity = || Identity::self_signed(&["localhost".to_owned()], date).unwrap();
        let (known, thief) = (identity(), identity());
        let key = base64(thief.credentials().key.secret_der());
        let key = format!("-----BEGIN PRIVATE KEY-----\n{key}\n-----END PRIVATE KEY-----\n");
        let mixed = Identity::from_pem(known.to_pem().as_bytes(), key.as_bytes()).unwrap();
        let context = Context::real(&Options::default(), &[b"h3"], &Trust::Anyone, Some(&mixed), date);
        assert!(matches!(context, Err(Error::Library(_))));
    }
}
