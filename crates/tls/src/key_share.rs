//! Key exchange with secrets drawn from the session's stream: X25519 and X25519MLKEM768.

use crate::lent;
use ml_kem::ml_kem_768::{DecapsulationKey, EncapsulationKey};
use ml_kem::{Decapsulate, KeyExport};
use rustls::crypto::{ActiveKeyExchange, CompletedKeyExchange, SharedSecret, SupportedKxGroup};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::{Error, NamedGroup, PeerMisbehaved};
use x25519_dalek::{PublicKey, StaticSecret};

/// X25519 (RFC 7748, RFC 8446 section 4.2.8.2).
pub(crate) static X25519: X25519Group = X25519Group;
/// ML-KEM-768 and X25519 together (draft-ietf-tls-ecdhe-mlkem).
pub(crate) static X25519_MLKEM768: HybridGroup = HybridGroup;

/// Bytes of an ML-KEM-768 encapsulation key (FIPS 203 table 3).
const ENCAPSULATION_KEY: usize = 1184;
/// Bytes of an ML-KEM-768 ciphertext (FIPS 203 table 3).
const CIPHERTEXT: usize = 1088;
const X25519_KEY: usize = 32;

fn draw<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    if lent::draw(&mut bytes) { Ok(bytes) } else { Err(Error::FailedToGetRandomBytes) }
}

fn invalid() -> Error {
    Error::PeerMisbehaved(PeerMisbehaved::InvalidKeyShare)
}

#[derive(Debug)]
pub(crate) struct X25519Group;

struct X25519Exchange {
    secret: StaticSecret,
    public: PublicKey,
}

impl X25519Exchange {
    fn start() -> Result<X25519Exchange, Error> {
        let secret = StaticSecret::from(draw::<X25519_KEY>()?);
        let public = PublicKey::from(&secret);
        Ok(X25519Exchange { secret, public })
    }
    fn agree(&self, peer: &[u8]) -> Result<[u8; 32], Error> {
        let peer: [u8; X25519_KEY] = peer.try_into().map_err(|_| invalid())?;
        let shared = self.secret.diffie_hellman(&PublicKey::from(peer));
        // RFC 8446 7.4.2: "MUST check whether the computed Diffie-Hellman shared secret is the all-zero value and
        // abort if so".
        if shared.was_contributory() { Ok(shared.to_bytes()) } else { Err(invalid()) }
    }
}

impl SupportedKxGroup for X25519Group {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        Ok(Box::new(X25519Exchange::start()?))
    }
    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }
    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

impl ActiveKeyExchange for X25519Exchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        Ok(SharedSecret::from(&self.agree(peer)?[..]))
    }
    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }
    fn pub_key(&self) -> &[u8] {
        self.public.as_bytes()
    }
    fn group(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

#[derive(Debug)]
pub(crate) struct HybridGroup;

/// The client's half, with both secrets. Its share is the encapsulation key followed by the X25519 key.
struct HybridExchange {
    lattice: DecapsulationKey,
    curve: X25519Exchange,
    share: Vec<u8>,
}

impl SupportedKxGroup for HybridGroup {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let lattice = DecapsulationKey::from_seed(draw::<64>()?.into());
        let curve = X25519Exchange::start()?;
        let mut share = lattice.encapsulation_key().to_bytes().to_vec();
        share.extend_from_slice(curve.public.as_bytes());
        Ok(Box::new(HybridExchange { lattice, curve, share }))
    }

    /// The server's half: its share is the ciphertext followed by the X25519 key, and depends on the client's share.
    fn start_and_complete(&self, peer: &[u8]) -> Result<CompletedKeyExchange, Error> {
        let (lattice, curve) = split(peer, ENCAPSULATION_KEY)?;
        // Parsing the key includes the check of FIPS 203 section 7.2; the draft requires illegal_parameter.
        let lattice =
            EncapsulationKey::new(&lattice.try_into().map_err(|_| invalid())?).map_err(|_| invalid())?;
        let (ciphertext, key) = lattice.encapsulate_deterministic(&draw::<32>()?.into());
        let own = X25519Exchange::start()?;
        let mut pub_key = ciphertext.to_vec();
        pub_key.extend_from_slice(own.public.as_bytes());
        let secret = secret(&key, &own.agree(curve)?);
        Ok(CompletedKeyExchange { group: self.name(), pub_key, secret })
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }
    fn name(&self) -> NamedGroup {
        NamedGroup::X25519MLKEM768
    }
}

impl ActiveKeyExchange for HybridExchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let (lattice, curve) = split(peer, CIPHERTEXT)?;
        let key = self.lattice.decapsulate(&lattice.try_into().map_err(|_| invalid())?);
        Ok(secret(&key, &self.curve.agree(curve)?))
    }
    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }
    fn pub_key(&self) -> &[u8] {
        &self.share
    }
    fn group(&self) -> NamedGroup {
        NamedGroup::X25519MLKEM768
    }
}

fn split(share: &[u8], lattice: usize) -> Result<(&[u8], &[u8]), Error> {
    if share.len() == lattice + X25519_KEY { Ok(share.split_at(lattice)) } else { Err(invalid()) }
}

/// The ML-KEM secret comes first.
fn secret(lattice: &[u8], curve: &[u8]) -> SharedSecret {
    SharedSecret::from([lattice, curve].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lent::{LentState, lend};
    use random::Generator;

    fn with_draws<T>(work: impl FnOnce() -> T) -> T {
        let random = Generator::new(1, "test");
        lend(&mut Some(LentState::new(random, std::time::Duration::ZERO)), work)
    }

    #[test]
    fn both_ends_agree_and_the_shares_have_the_sizes_of_the_draft() {
        let groups: [(&dyn SupportedKxGroup, usize, usize); 2] =
            [(&X25519, 32, 32), (&X25519_MLKEM768, 1216, 1120)];
        for (group, to_server, to_client) in groups {
            with_draws(|| {
                let client = group.start().unwrap();
                assert_eq!(client.pub_key().len(), to_server);
                let server = group.start_and_complete(client.pub_key()).unwrap();
                assert_eq!(server.pub_key.len(), to_client);
                let secret = client.complete(&server.pub_key).unwrap();
                assert_eq!(secret.secret_bytes(), server.secret.secret_bytes());
            });
        }
    }

    #[test]
    fn invalid_shares_are_refused() {
        with_draws(|| {
            // A wrong length, a point of small order (RFC 7748 section 6.1), and coefficients that are not reduced
            // modulo q.
            for share in [vec![9; 31], vec![0; 32]] {
                assert!(X25519.start_and_complete(&share).is_err());
            }
            for share in [vec![0; 1215], vec![0xff; 1216]] {
                assert!(X25519_MLKEM768.start_and_complete(&share).is_err());
            }
            assert!(X25519_MLKEM768.start().unwrap().complete(&[1; 1216]).is_err());
        });
    }

    #[test]
    fn without_an_active_session_there_is_no_secret() {
        assert!(X25519.start().is_err() && X25519_MLKEM768.start().is_err());
    }
}
