//! A second connection between the same endpoints, and restarted servers.

use super::{CLIENT, DatagramInFlight, Pair, SERVER, ms};
use quic::{Config, Endpoint, EndpointOptions, Opening};
use random::Generator;
use std::net::SocketAddr;
use std::sync::Arc;
use wire::Ecn;

/// An opening with the default options.
pub(crate) fn opening(config: Config) -> Opening {
    Opening::new(SERVER.parse().unwrap(), Arc::new(config))
}

impl Pair {
    /// Closes the connection and waits until both endpoints have removed it.
    pub(crate) fn hang_up(&mut self) {
        let now = self.now;
        self.client().close(now, 0, "");
        // If the close is lost, the idle timeout ends the connection; closing lasts three probe timeouts.
        self.run_for(ms(5_000));
        if !self.server.is_empty() || !self.client.is_empty() {
            self.run_for(ms(40_000));
        }
        assert!(self.client.is_empty() && self.server.is_empty());
        self.accepted.clear();
        self.client_events.clear();
        self.server_events.clear();
    }

    /// Opens a connection from the client to the server; returns the number of datagrams sent before.
    pub(crate) fn open(&mut self, opening: Opening) -> usize {
        let mark = self.mark();
        self.sent = [0; 2];
        self.handle = self.client.connect(self.now, opening).unwrap();
        mark
    }

    /// A pair after one closed connection, so that the client has the server's tickets and tokens.
    pub(crate) fn acquainted(mut self) -> Pair {
        self.establish();
        self.hang_up();
        self
    }

    /// Replaces the server by one without any state.
    pub(crate) fn restart(&mut self, tls: tls::Context, config: Config) {
        let options = EndpointOptions {
            accept: Some(Arc::new(config)),
            max_connections: 100,
            ..EndpointOptions::new(SERVER.parse().unwrap(), tls)
        };
        self.server = Endpoint::new(options, Generator::new(2, "server started anew"));
    }

    /// Replaces the server by one that only keeps the tickets.
    pub(crate) fn restart_with_tickets(&mut self, tls: tls::Context, config: Config) {
        let tickets = self.server.tickets().unwrap().clone();
        self.restart(tls, config);
        self.server.set_tickets(tickets);
    }

    /// Delivers the datagrams that the client sent since `mark` again, from this port.
    pub(crate) fn replay(&mut self, from: usize, count: usize, port: u16) {
        let seen: Vec<_> =
            self.wire[from..].iter().filter(|seen| seen.to_server).take(count).cloned().collect();
        let (local, mut remote): (SocketAddr, SocketAddr) =
            (SERVER.parse().unwrap(), CLIENT.parse().unwrap());
        remote.set_port(port);
        for seen in seen {
            let flying = DatagramInFlight {
                bytes: seen.bytes,
                hole: None,
                damage: None,
                ecn: Ecn::NotEct,
                from: remote,
                to: local,
            };
            self.deliver(true, flying);
        }
        self.drain();
    }
}
