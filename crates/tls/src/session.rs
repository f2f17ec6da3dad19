//! One end of a handshake, real or modelled.

use crate::error::{Alert, code};
use crate::framing::Framing;
use crate::key_log::Secret;
use crate::keys::{KeyChange, Opener, PacketKeys, Sealer};
use crate::model::Model;
use crate::outbox::Outbox;
use crate::real::Real;
use crate::start::EarlyData;
use crate::ticket::Ticket;
use units::Time;

/// The encryption levels that carry handshake messages (RFC 9001 section 4); 0-RTT carries none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Initial packets.
    Initial,
    /// Handshake packets.
    Handshake,
    /// 1-RTT packets.
    OneRtt,
}

/// One end of a TLS handshake in QUIC, which consumes handshake bytes and produces handshake bytes and keys.
#[derive(Debug)]
pub struct Session {
    engine: Engine,
    framing: Framing,
    outbox: Outbox,
    /// The level of the next bytes to read.
    read_level: Level,
    failed: Option<Box<Alert>>,
}

/// The implementation that creates and reads the messages, boxed to keep the session small.
#[derive(Debug)]
pub(crate) enum Engine {
    Real(Box<Real>),
    Model(Box<Model>),
}

impl Session {
    /// Creates a session before its first message, with its initial output.
    pub(crate) fn new(engine: Engine, outbox: Outbox) -> Session {
        Session { engine, framing: Framing::default(), outbox, read_level: Level::Initial, failed: None }
    }

    /// Reads handshake bytes of CRYPTO frames of this level, in order and without repetition. `now` determines the
    /// age of tickets and the validity of certificates: see [`Context::with_epoch`](crate::Context::with_epoch).
    ///
    /// # Errors
    /// The alert to close the connection with; later calls return the same. Bytes of a level that has ended or has
    /// not been reached are `unexpected_message` (RFC 9001 section 4.1.3).
    pub fn read(&mut self, now: Time, level: Level, bytes: &[u8]) -> Result<(), Alert> {
        if let Some(alert) = &self.failed {
            return Err(Alert::clone(alert));
        }
        let result = self.read_messages(now, level, bytes);
        if let Err(alert) = &result {
            self.failed = Some(Box::new(alert.clone()));
        }
        result
    }

    fn read_messages(&mut self, now: Time, level: Level, mut bytes: &[u8]) -> Result<(), Alert> {
        while !bytes.is_empty() {
            if level != self.read_level {
                let reason = format!("handshake data of level {level:?} in place of {:?}", self.read_level);
                return Err(Alert::new(code::UNEXPECTED_MESSAGE, reason));
            }
            let part = self.framing.next(&mut bytes)?;
            match &mut self.engine {
                Engine::Real(real) => real.read(now, &part, &mut self.outbox)?,
                Engine::Model(model) => model.read(now, &part, &mut self.outbox)?,
            }
            // RFC 8446 5.1: "Handshake messages MUST NOT span key changes."
            if part.complete {
                self.read_level = self.level();
            }
        }
        Ok(())
    }

    /// The level of the handshake bytes that are read next.
    pub fn read_level(&self) -> Level {
        self.read_level
    }

    fn level(&self) -> Level {
        if self.is_complete() {
            Level::OneRtt
        } else if self.outbox.had_handshake_keys() {
            Level::Handshake
        } else {
            Level::Initial
        }
    }

    /// Appends handshake bytes to send, and returns the keys of the next level, which apply to everything written
    /// later.
    ///
    /// Call it at the start and after each [`read`](Session::read), until it writes nothing and returns `None`. Bytes
    /// written before a [`KeyChange`] belong to the previous level.
    pub fn write(&mut self, out: &mut Vec<u8>) -> Option<KeyChange> {
        self.outbox.pop(out)
    }

    /// The QUIC version of the keys. At a server that [chooses](crate::Change::Choose), this is the chosen version as
    /// soon as it has read the ClientHello.
    pub fn version(&self) -> u32 {
        match &self.engine {
            Engine::Real(real) => real.version(),
            Engine::Model(model) => model.version(),
        }
    }

    /// Switches a client to the version in which the server answers. The client must allow it
    /// ([`Change::Follow`](crate::Change::Follow)) and must not have read anything yet. The ClientHello stays as it
    /// was sent. Returns `false` if the switch is impossible.
    pub fn follow(&mut self, version: u32) -> bool {
        match &mut self.engine {
            Engine::Real(real) => real.follow(version),
            Engine::Model(model) => model.follow(version),
        }
    }

    /// The peer's encoded transport parameters as soon as they have arrived. A client receives them before the server
    /// is authenticated (RFC 9001 section 8.2).
    pub fn peer_parameters(&self) -> Option<&[u8]> {
        match &self.engine {
            Engine::Real(real) => real.peer_parameters(),
            Engine::Model(model) => model.peer_parameters(),
        }
    }

    /// Whether the handshake is complete at this end (RFC 9001 section 4.1.1).
    pub fn is_complete(&self) -> bool {
        match &self.engine {
            Engine::Real(real) => real.is_complete(),
            Engine::Model(model) => model.is_complete(),
        }
    }

    /// The negotiated application protocol, if any yet (RFC 7301).
    pub fn alpn(&self) -> Option<&[u8]> {
        match &self.engine {
            Engine::Real(real) => real.alpn(),
            Engine::Model(model) => model.alpn(),
        }
    }

    /// Whether the handshake resumes an earlier session (RFC 8446 section 2.2). Known along with the peer's transport
    /// parameters.
    pub fn is_resumed(&self) -> bool {
        match &self.engine {
            Engine::Real(real) => real.is_resumed(),
            Engine::Model(model) => model.is_resumed(),
        }
    }

    /// At a server: the terms of the ticket that the handshake resumes ([`Admission::terms`](crate::Admission::terms)).
    pub fn resumed_terms(&self) -> Option<&[u8]> {
        let terms = match &self.engine {
            Engine::Real(real) => real.resumed_terms(),
            Engine::Model(model) => model.resumed_terms(),
        };
        terms.filter(|_| self.is_resumed())
    }

    /// The state of 0-RTT. It is final at a client with the server's transport parameters, and at a server with the
    /// ClientHello.
    pub fn early_data(&self) -> EarlyData {
        match &self.engine {
            Engine::Real(real) => real.early_data(),
            Engine::Model(model) => model.early_data(),
        }
    }

    /// Protects 0-RTT packets at a client that has offered 0-RTT and does not know the answer yet.
    pub fn early_sealer(&self) -> Option<Sealer> {
        match &self.engine {
            Engine::Real(real) => real.early_sealer(),
            Engine::Model(model) => model.early_sealer(),
        }
    }

    /// Opens 0-RTT packets at a server that accepts 0-RTT.
    pub fn early_opener(&self) -> Option<Opener> {
        match &self.engine {
            Engine::Real(real) => real.early_opener(),
            Engine::Model(model) => model.early_opener(),
        }
    }

    /// At a client: the tickets received since the last call, the newest last, limited to the eight newest.
    pub fn take_tickets(&mut self) -> Vec<Ticket> {
        match &mut self.engine {
            Engine::Real(real) => real.take_tickets(),
            Engine::Model(model) => model.take_tickets(),
        }
    }

    /// The secrets logged since the last call, for captures; none under null.
    pub fn take_secrets(&mut self) -> Vec<Secret> {
        match &mut self.engine {
            Engine::Real(real) => real.take_secrets(),
            Engine::Model(_) => Vec::new(),
        }
    }

    /// The keys of the next key phase (RFC 9001 section 6.1), advancing one phase per call; `None` while there are no
    /// 1-RTT keys.
    pub fn next_keys(&mut self) -> Option<PacketKeys> {
        match &mut self.engine {
            Engine::Real(real) => real.next_keys(),
            Engine::Model(model) => model.next_keys(),
        }
    }
}
