//! The ticket stores of rustls. They belong to the active session and are never shared between sessions.

use crate::lent;
use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;
use rustls::server::StoresServerSessions;

/// The maximum number of received tickets that were not taken. More from the server displace the oldest (RFC 8446
/// section 4.6.1 allows any number).
const MAX_RECEIVED: usize = 8;

/// The client's side.
#[derive(Debug)]
pub(crate) struct ClientSessions;

impl ClientSessionStore for ClientSessions {
    fn set_kx_hint(&self, _: ServerName<'static>, group: NamedGroup) {
        lent::with(|lent| lent.group = Some(group));
    }
    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        lent::with(|lent| lent.group)?
    }
    fn insert_tls13_ticket(&self, _: ServerName<'static>, value: Tls13ClientSessionValue) {
        lent::with(|lent| {
            if lent.received.len() == MAX_RECEIVED {
                lent.received.remove(0);
            }
            lent.received.push(value);
        });
    }
    fn take_tls13_ticket(&self, _: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        lent::with(|lent| lent.offered.take())?
    }

    // QUIC has no TLS 1.2 (RFC 9001 section 4.2).
    fn set_tls12_session(&self, _: ServerName<'static>, _: Tls12ClientSessionValue) {}
    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        None
    }
    fn remove_tls12_session(&self, _: &ServerName<'static>) {}
}

/// The server's side.
#[derive(Debug)]
pub(crate) struct ServerSessions;

impl StoresServerSessions for ServerSessions {
    fn put(&self, key: Vec<u8>, value: Vec<u8>) -> bool {
        let put = lent::with(|lent| {
            let admission = lent.admission.as_deref()?;
            admission.store.put(key, value, &admission.terms, lent.date);
            Some(())
        });
        put.flatten().is_some()
    }
    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.take(key)
    }
    fn take(&self, key: &[u8]) -> Option<Vec<u8>> {
        lent::with(|lent| lent.admission.as_deref_mut()?.take(key, lent.date))?
    }
    fn can_cache(&self) -> bool {
        true
    }
}
