//! A handshake in memory, and one that resumes it: they show that a configuration works, and how long its messages are.

use crate::error::{Alert, Error, code};
use crate::keys::KeyChange;
use crate::model::{Transcript, server_name_size};
use crate::session::{Level, Session};
use crate::start::{Request, Start};
use crate::store::{Admission, TicketStore};
use crate::ticket::Ticket;
use random::Stream;
use rustls::pki_types::ServerName;
use units::Time;

/// Length of the transport parameters; which one does not matter, because their extension has length fields of one size
/// (RFC 8446 section 4.2).
const PARAMETERS: usize = 64;

/// What is tried.
pub(crate) struct Trial<'a> {
    /// Makes a client that asks for 0-RTT.
    pub(crate) client: &'a dyn Fn(Start, Request<'_>) -> Result<Session, Error>,
    /// Makes a server.
    pub(crate) server: &'a dyn Fn(Start, Option<Admission>) -> Result<Session, Error>,
    pub(crate) server_name: &'a str,
    /// Length of the protocol that is agreed on.
    pub(crate) protocol: usize,
    pub(crate) seed: u64,
}

impl Trial<'_> {
    /// Shakes hands in full, and again with the ticket of the first time where the server gives one.
    pub(crate) fn run(&self, store: Option<TicketStore>) -> Result<(Transcript, Option<Transcript>), Error> {
        let admission = store.map(|store| Admission { store, terms: [].into(), admits: |_, _| true });
        let names = ["tls trial client", "tls trial server"];
        let (full, ticket) = self.shake_hands(names, None, admission.clone())?;
        let Some(ticket) = ticket else { return Ok((full, None)) };
        let names = ["tls trial client, resuming", "tls trial server, resuming"];
        let (resumed, _) = self.shake_hands(names, Some(ticket), admission)?;
        Ok((full, Some(resumed)))
    }

    fn shake_hands(
        &self,
        names: [&str; 2],
        ticket: Option<Ticket>,
        admission: Option<Admission>,
    ) -> Result<(Transcript, Option<Ticket>), Error> {
        let start = |name| Start::new(Stream::new(self.seed, name), 1, vec![0; PARAMETERS]);
        let request = Request { ticket, early_data: true, ..Request::default() };
        let mut client = (self.client)(start(names[0]), request)?;
        let mut server = (self.server)(start(names[1]), admission)?;
        let server_name = ServerName::try_from(self.server_name).map_or(0, |name| server_name_size(&name));
        let protocol = self.protocol;
        let mut said = Transcript { parameters: PARAMETERS, protocol, server_name, ..Transcript::default() };
        exchange(&mut client, &mut server, &mut said).map_err(Error::Handshake)?;
        Ok((said, client.take_tickets().pop()))
    }
}

/// Runs a handshake to its end.
fn exchange(client: &mut Session, server: &mut Session, said: &mut Transcript) -> Result<(), Alert> {
    let missing = || Alert::new(code::INTERNAL_ERROR, "the handshake stops in the middle");
    let now = Time::ZERO;
    client.write(&mut said.client_hello);
    server.read(now, Level::Initial, &said.client_hello)?;
    let Some(KeyChange::Handshake(_)) = server.write(&mut said.server_hello) else { return Err(missing()) };
    let Some(KeyChange::OneRtt(_)) = server.write(&mut said.server_flight) else { return Err(missing()) };
    client.read(now, Level::Initial, &said.server_hello)?;
    let Some(KeyChange::Handshake(_)) = client.write(&mut said.client_finished) else {
        return Err(missing());
    };
    client.read(now, Level::Handshake, &said.server_flight)?;
    let Some(KeyChange::OneRtt(_)) = client.write(&mut said.client_finished) else { return Err(missing()) };
    server.read(now, Level::Handshake, &said.client_finished)?;
    server.write(&mut said.tickets);
    client.read(now, Level::OneRtt, &said.tickets)?;
    if client.is_complete() && server.is_complete() { Ok(()) } else { Err(missing()) }
}
