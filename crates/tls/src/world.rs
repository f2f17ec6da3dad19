//! Contexts for the wire, where the other end is a stranger: certificates of the world, randomness of the system.

use crate::context::Context;
use crate::error::Error;
use crate::identity::Identity;
use crate::key_share::X25519_MLKEM768;
use crate::library::Library;
use crate::options::{KeyShare, Options};
use crate::provider::ordered_suites;
use crate::trust::Trust;
use rustls::crypto::{CryptoProvider, ring};
use std::sync::Arc;
use std::time::Duration;

impl Context {
    /// A context for the wire: clients believe whom `trust` says; servers show the identity, and without one there are
    /// none.
    ///
    /// Of the options those of cipher, key exchange, tickets and 0-RTT count. The cryptography is ring's and draws from
    /// the operating system. `date`: what the date is at time zero, as time since 1970 in UTC.
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
        Ok(Context::with_library(options, alpn, library)?.with_epoch(date))
    }
}

/// ring as it is, which draws from the operating system; the chosen suite and group first.
fn provider(options: &Options) -> CryptoProvider {
    let mut provider = ring::default_provider();
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
