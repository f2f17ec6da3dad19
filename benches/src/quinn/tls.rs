//! Real keys for quinn-proto: rustls with ring, AES-128-GCM, a self-signed P-256 certificate, and a full
//! handshake each time.

use std::sync::Arc;

use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{ClientConfig, ServerConfig};
use rustls::crypto::CryptoProvider;
use rustls::{CipherSuite, RootCertStore, pki_types::PrivateKeyDer};

/// The name in the certificate, which the client requests.
pub(super) const NAME: &str = "server.example";

/// The configurations of both ends, to be built once.
pub(super) fn configurations() -> (ClientConfig, ServerConfig) {
    let certified = rcgen::generate_simple_self_signed([NAME.to_owned()]).expect("a certificate can be made");
    let key = PrivateKeyDer::Pkcs8(certified.signing_key.serialize_der().into());
    let certificate = certified.cert.der().clone();
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).expect("the certificate is well-formed");

    let mut client = rustls::ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("ring has TLS 1.3")
        .with_root_certificates(roots)
        .with_no_client_auth();
    // Otherwise the second run would resume the session of the first, and would not be comparable.
    client.resumption = rustls::client::Resumption::disabled();

    let mut server = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("ring has TLS 1.3")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("the key belongs to the certificate");
    server.send_tls13_tickets = 0;

    let client = QuicClientConfig::try_from(client).expect("AES-128-GCM is there");
    let server = QuicServerConfig::try_from(server).expect("AES-128-GCM is there");
    (ClientConfig::new(Arc::new(client)), ServerConfig::with_crypto(Arc::new(server)))
}

/// ring with AES-128-GCM only: its default order prefers AES-256-GCM.
fn provider() -> Arc<CryptoProvider> {
    let mut provider = rustls::crypto::ring::default_provider();
    provider.cipher_suites.retain(|suite| suite.suite() == CipherSuite::TLS13_AES_128_GCM_SHA256);
    Arc::new(provider)
}
