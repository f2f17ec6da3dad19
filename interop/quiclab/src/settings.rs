//! TLS and transport settings of both sides.

use crate::Failure;
use command_line::{Fetch, Serve, Shared};
use live::Clock;
use quic::Config;
use std::sync::Arc;
use tls::{Cipher, Context, Identity, Options, Trust};
use units::parameter::Arguments;

/// The client's TLS.
pub(crate) fn client(options: &Fetch, clock: &Clock) -> Result<Context, Failure> {
    let trust = Trust::from_pem(&std::fs::read(&options.ca)?)?;
    let alpn = options.shared.alpn.as_bytes();
    Ok(Context::real(&suites(&options.shared), &[alpn], &trust, None, clock.date_of_zero())?)
}

/// The server's TLS.
pub(crate) fn server(options: &Serve, clock: &Clock) -> Result<Context, Failure> {
    let identity = Identity::from_pem(&std::fs::read(&options.cert)?, &std::fs::read(&options.key)?)?;
    let tls = Options { tickets: 2, early_data: true, ..suites(&options.shared) };
    let alpn = options.shared.alpn.as_bytes();
    Ok(Context::real(&tls, &[alpn], &Trust::Anyone, Some(&identity), clock.date_of_zero())?)
}

fn suites(shared: &Shared) -> Options {
    if shared.chacha20 {
        Options { cipher: Cipher::ChaCha20Poly1305, only_cipher: true, ..Options::default() }
    } else {
        Options::default()
    }
}

/// What is not as by default.
pub(crate) fn changes(shared: &Shared) -> Vec<(&'static str, &'static str)> {
    let mut changes = vec![("max_idle_timeout", "30 s")];
    if shared.version2 {
        changes.push(("versions", "2 1"));
    }
    if shared.key_update {
        changes.push(("key_update_after", "100"));
    }
    if shared.ecn {
        changes.push(("ecn", "true"));
    }
    changes
}

/// The options of connections, as a scenario's `[transport]` would have them.
pub(crate) fn transport(changes: &[(&str, &str)]) -> Result<Arc<Config>, Failure> {
    let arguments = Arguments::written(quic::PARAMETERS, changes, &Config::rooms())?;
    Ok(Arc::new(Config::from(&arguments)))
}
