//! TLS and transport settings of both sides.

use crate::Failure;
use command_line::{Fetch, Serve, Shared};
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{IdleTimeout, TransportConfig};
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::{cipher_suite, default_provider};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The client's settings; the same for all its connections, so that they share what is remembered.
pub fn client(options: &Fetch) -> Result<quinn::ClientConfig, Failure> {
    let mut roots = rustls::RootCertStore::empty();
    for certificate in certificates(&options.ca)? {
        roots.add(certificate)?;
    }
    let mut tls = rustls::ClientConfig::builder_with_provider(provider(&options.shared))
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    tls.alpn_protocols = vec![options.shared.alpn.clone().into_bytes()];
    tls.enable_early_data = true;
    tls.key_log = Arc::new(rustls::KeyLogFile::new());
    let tls = QuicClientConfig::with_initial(Arc::new(tls), initial()?)?;
    let mut config = quinn::ClientConfig::new(Arc::new(tls));
    config.transport_config(transport()?);
    Ok(config)
}

/// The server's settings.
pub fn server(options: &Serve) -> Result<quinn::ServerConfig, Failure> {
    let mut tls = rustls::ServerConfig::builder_with_provider(provider(&options.shared))
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(certificates(&options.cert)?, PrivateKeyDer::from_pem_file(&options.key)?)?;
    tls.alpn_protocols = vec![options.shared.alpn.clone().into_bytes()];
    // The one value other than 0 that RFC 9001 section 4.6.1 allows.
    tls.max_early_data_size = u32::MAX;
    tls.key_log = Arc::new(rustls::KeyLogFile::new());
    let tls = QuicServerConfig::with_initial(Arc::new(tls), initial()?)?;
    let mut config = quinn::ServerConfig::with_crypto(Arc::new(tls));
    config.transport_config(transport()?);
    match options.preferred_address {
        Some(std::net::SocketAddr::V4(address)) => config.preferred_address_v4(Some(address)),
        Some(std::net::SocketAddr::V6(address)) => config.preferred_address_v6(Some(address)),
        None => &mut config,
    };
    Ok(config)
}

fn provider(shared: &Shared) -> Arc<CryptoProvider> {
    let mut provider = default_provider();
    if shared.chacha20 {
        provider.cipher_suites = vec![cipher_suite::TLS13_CHACHA20_POLY1305_SHA256];
    }
    Arc::new(provider)
}

/// The suite of Initial packets (RFC 9001 section 5.2), which stays when no connection may choose it.
fn initial() -> Result<rustls::quic::Suite, Failure> {
    let suite = cipher_suite::TLS13_AES_128_GCM_SHA256.tls13();
    Ok(suite.and_then(rustls::Tls13CipherSuite::quic_suite).ok_or("no suite for Initial packets")?)
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, Failure> {
    Ok(CertificateDer::pem_file_iter(file)?.collect::<Result<_, _>>()?)
}

fn transport() -> Result<Arc<TransportConfig>, Failure> {
    let mut transport = TransportConfig::default();
    transport.max_idle_timeout(Some(IdleTimeout::try_from(Duration::from_secs(60))?));
    Ok(Arc::new(transport))
}
