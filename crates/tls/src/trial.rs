//! A full handshake in memory and a resumed one, which validate a configuration and measure its messages.

use crate::error::{Alert, Error, code};
use crate::keys::KeyChange;
use crate::model::{Transcript, server_name_size};
use crate::session::{Level, Session};
use crate::start::{Request, Start};
use crate::store::{Admission, TicketStore};
use crate::ticket::Ticket;
use random::Generator;
use rustls::pki_types::ServerName;
use units::Time;

/// Length of the transport parameters. Its value does not matter, because the length fields of their extension have a
/// fixed size (RFC 8446 section 4.2).
const PARAMETERS: usize = 64;

/// The inputs of a trial.
pub(crate) struct Trial<'a> {
    /// Creates a client that asks for 0-RTT.
    pub(crate) client: &'a dyn Fn(Start, Request<'_>) -> Result<Session, Error>,
    /// Creates a server.
    pub(crate) server: &'a dyn Fn(Start, Option<Admission>) -> Result<Session, Error>,
    pub(crate) server_name: &'a str,
    /// Length of the negotiated protocol.
    pub(crate) protocol: usize,
    pub(crate) seed: u64,
}

impl Trial<'_> {
    /// Performs a full handshake, and a second one with the ticket of the first if the server issued one.
    pub(crate) fn run(&self, store: Option<TicketStore>) -> Result<(Transcript, Option<Transcript>), Error> {
        let admission = store.map(|store| Admission::new(store, [].into(), |_, _| true));
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
        let start = |name| Start::new(Generator::new(self.seed, name), 1, vec![0; PARAMETERS]);
        let request = Request { ticket, early_data: true, ..Request::default() };
        let mut client = (self.client)(start(names[0]), request)?;
        let mut server = (self.server)(start(names[1]), admission)?;
        let server_name = ServerName::try_from(self.server_name).map_or(0, |name| server_name_size(&name));
        let protocol = self.protocol;
        let mut sent = Transcript { parameters: PARAMETERS, protocol, server_name, ..Transcript::default() };
        exchange(&mut client, &mut server, &mut sent).map_err(Error::Handshake)?;
        Ok((sent, client.take_tickets().pop()))
    }
}

/// Runs a handshake to completion.
fn exchange(client: &mut Session, server: &mut Session, sent: &mut Transcript) -> Result<(), Alert> {
    let missing = || Alert::new(code::INTERNAL_ERROR, "the handshake stops in the middle");
    let now = Time::ZERO;
    client.write(&mut sent.client_hello);
    server.read(now, Level::Initial, &sent.client_hello)?;
    let Some(KeyChange::Handshake(_)) = server.write(&mut sent.server_hello) else { return Err(missing()) };
    let Some(KeyChange::OneRtt(_)) = server.write(&mut sent.server_flight) else { return Err(missing()) };
    client.read(now, Level::Initial, &sent.server_hello)?;
    let Some(KeyChange::Handshake(_)) = client.write(&mut sent.client_finished) else {
        return Err(missing());
    };
    client.read(now, Level::Handshake, &sent.server_flight)?;
    let Some(KeyChange::OneRtt(_)) = client.write(&mut sent.client_finished) else { return Err(missing()) };
    server.read(now, Level::Handshake, &sent.client_finished)?;
    server.write(&mut sent.tickets);
    client.read(now, Level::OneRtt, &sent.tickets)?;
    if client.is_complete() && server.is_complete() { Ok(()) } else { Err(missing()) }
}
