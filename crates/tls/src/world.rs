//! Contexts for the wire, where the other end is a stranger: certificates of the world, randomness of the system.

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
    /// A context for the wire: clients believe whom `trust` says; servers show the identity, and without one there are
    /// none.
    ///
    /// Of the options those of cipher, key exchange, tickets and 0-RTT count. Sessions draw from the operating system,
    /// whatever their streams are. `date`: what the date is at time zero, as time since 1970 in UTC.
    ///
    /// # Errors
    /// [`Error::Certificate`] if nothing can be trusted, [`Error::Library`] if certificate and key do not belong
    /// together, [`Error::Protocols`].
    pub fn real(
        options: &Options,
        alpn: &[&[u8]],
        trust: &Trust,
        identity: Option<&Identity>,
        date: Duration,
    ) -> Result<Context, Error> {
        let provider = Arc::new(provider(options));
        let verifier = trust.verifier(&provider)?;
        let shown = identity.map(Identity::shown);
        let library = Library::new(options, alpn, &provider, verifier, shown)?;
        Ok(Context::with_library(options, alpn, library)?.with_epoch(date).drawing_from(&System))
    }
}

/// The operating system's random numbers.
#[derive(Debug)]
struct System;

impl Source for System {
    /// # Panics
    /// If the system's generator, which has worked before, fails.
    fn fill(&self, bytes: &mut [u8]) {
        let filled = ring::default_provider().secure_random.fill(bytes);
        filled.expect("the operating system's random numbers");
    }
}

/// ring, with the random numbers and the usual key exchange of the session's stream, so that a client can repeat its
/// hello ([`Session::follow`](crate::Session::follow)); the chosen suite and group first.
fn provider(options: &Options) -> CryptoProvider {
    let mut provider = ring::default_provider();
    provider.secure_random = &SessionRandom;
    for group in &mut provider.kx_groups {
        if group.name() == X25519.name() {
            *group = &X25519;
        }
    }
    provider.cipher_suites = ordered_suites(options.cipher);
    if options.only_cipher {
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

    /// The certificate of a pin is public: who has it and not its key cannot show it.
    #[test]
    fn a_certificate_with_the_key_of_another_is_refused() {
        let date = Duration::from_secs(1_767_225_600);
        let identity = || Identity::self_signed(&["localhost".to_owned()], date).unwrap();
        let (known, thief) = (identity(), identity());
        let key = base64(thief.shown().1.secret_der());
        let key = format!("-----BEGIN PRIVATE KEY-----\n{key}\n-----END PRIVATE KEY-----\n");
        let mixed = Identity::from_pem(known.to_pem().as_bytes(), key.as_bytes()).unwrap();
        let context = Context::real(&Options::default(), &[b"h3"], &Trust::Anyone, Some(&mixed), date);
        assert!(matches!(context, Err(Error::Library(_))));
    }
}
