//! The rustls configuration of both ends of a context.

use crate::error::Error;
use crate::options::Options;
use crate::provider::{SessionKeyLog, SessionTime};
use crate::sessions::{ClientSessions, ServerSessions};
use rustls::client::Resumption;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, ServerConfig};
use std::sync::Arc;

/// The rustls configurations of a context.
pub(crate) struct Library {
    pub(crate) client: Arc<ClientConfig>,
    /// The same, but offering 0-RTT when a ticket allows it.
    pub(crate) early_client: Arc<ClientConfig>,
    /// Present if there is a certificate.
    pub(crate) server: Option<Arc<ServerConfig>>,
}

/// A server's certificates and private key.
pub(crate) struct Credentials {
    pub certificates: Vec<CertificateDer<'static>>,
    pub key: PrivateKeyDer<'static>,
}

impl Library {
    pub(crate) fn new(
        options: &Options,
        alpn: &[&[u8]],
        provider: &Arc<CryptoProvider>,
        verifier: Arc<dyn ServerCertVerifier>,
        credentials: Option<Credentials>,
    ) -> Result<Library, Error> {
        let alpn: Vec<Vec<u8>> = alpn.iter().map(|name| name.to_vec()).collect();
        let mut client = ClientConfig::builder_with_details(provider.clone(), Arc::new(SessionTime))
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        client.alpn_protocols.clone_from(&alpn);
        client.key_log = Arc::new(SessionKeyLog);
        // Callers keep the tickets: a shared store in here would make one run depend on another.
        client.resumption = Resumption::store(Arc::new(ClientSessions));
        let mut early_client = client.clone();
        early_client.enable_early_data = true;
        let server =
            credentials.map(|credentials| server(options, alpn, provider, credentials)).transpose()?;
        Ok(Library {
            client: Arc::new(client),
            early_client: Arc::new(early_client),
            server: server.map(Arc::new),
        })
    }
}

fn server(
    options: &Options,
    alpn: Vec<Vec<u8>>,
    provider: &Arc<CryptoProvider>,
    Credentials { certificates, key }: Credentials,
) -> Result<ServerConfig, Error> {
    let mut server = ServerConfig::builder_with_details(provider.clone(), Arc::new(SessionTime))
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(certificates, key)?;
    server.alpn_protocols = alpn;
    server.key_log = Arc::new(SessionKeyLog);
    server.session_storage = Arc::new(ServerSessions);
    server.send_tls13_tickets = options.tickets as usize;
    // RFC 9001 4.6.1: "Servers MUST NOT send the early_data extension with a max_early_data_size field set to any
    // value other than 0xffffffff."
    server.max_early_data_size = if options.early_data { 0xffff_ffff } else { 0 };
    Ok(server)
}
