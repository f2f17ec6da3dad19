//! TLS and transport settings of both sides.

use crate::Failure;
use command_line::{Fetch, Serve};
use quiche::{Config, Connection, ConnectionId};
use std::io::Read;
use std::path::Path;

/// The largest UDP payload that is sent and taken: what Ethernet and IPv6 carry.
pub const MAX_PAYLOAD: usize = 1452;

/// The client's settings.
pub fn client(options: &Fetch) -> Result<Config, Failure> {
    let mut config = shared(&options.shared.alpn)?;
    config.verify_peer(true);
    config.load_verify_locations_from_file(text(&options.ca)?)?;
    Ok(config)
}

/// The server's settings.
pub fn server(options: &Serve) -> Result<Config, Failure> {
    let mut config = shared(&options.shared.alpn)?;
    config.load_cert_chain_from_pem_file(text(&options.cert)?)?;
    config.load_priv_key_from_pem_file(text(&options.key)?)?;
    Ok(config)
}

fn shared(alpn: &str) -> Result<Config, Failure> {
    let mut config = Config::new(quiche::PROTOCOL_VERSION)?;
    config.set_application_protos(&[alpn.as_bytes()])?;
    config.log_keys();
    config.enable_early_data();
    config.set_max_idle_timeout(60_000);
    config.set_max_recv_udp_payload_size(65_527);
    config.set_max_send_udp_payload_size(MAX_PAYLOAD);
    config.set_initial_max_data(10_000_000);
    config.set_initial_max_stream_data_bidi_local(1_000_000);
    config.set_initial_max_stream_data_bidi_remote(1_000_000);
    config.set_initial_max_stream_data_uni(1_000_000);
    config.set_initial_max_streams_bidi(100);
    config.set_initial_max_streams_uni(100);
    config.set_active_connection_id_limit(4);
    // The loops here send at once; what quiche would have them wait for is not kept.
    config.enable_pacing(false);
    Ok(config)
}

fn text(path: &Path) -> Result<&str, Failure> {
    path.to_str().ok_or_else(|| "the path of a file is not UTF-8".into())
}

/// Lets a connection write its secrets where SSLKEYLOGFILE says.
pub fn log_keys(connection: &mut Connection) -> Result<(), Failure> {
    if let Some(path) = std::env::var_os("SSLKEYLOGFILE") {
        let file = std::fs::OpenOptions::new().append(true).create(true).open(path)?;
        connection.set_keylog(Box::new(file));
    }
    Ok(())
}

/// Bytes that nobody can guess.
pub fn random<const N: usize>() -> Result<[u8; N], Failure> {
    let mut bytes = [0; N];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// A new connection id.
pub fn connection_id() -> Result<ConnectionId<'static>, Failure> {
    Ok(ConnectionId::from_vec(random::<8>()?.to_vec()))
}

/// Gives the other side as many connection ids as it takes; each is told to `issued`.
pub fn issue_ids(
    connection: &mut Connection,
    mut issued: impl FnMut(ConnectionId<'static>),
) -> Result<(), Failure> {
    while connection.scids_left() > 0 {
        let id = connection_id()?;
        if connection.new_scid(&id, u128::from_be_bytes(random()?), false).is_err() {
            break;
        }
        issued(id);
    }
    Ok(())
}
