//! One end of one connection's handshake, real or modelled.

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

/// One end of a TLS handshake in QUIC: handshake bytes go in and come out, keys come out.
#[derive(Debug)]
pub struct Session {
    engine: Engine,
    framing: Framing,
    outbox: Outbox,
    /// The level of what is to be read next.
    read_level: Level,
    failed: Option<Box<Alert>>,
}

/// Who makes and understands the messages. Boxed: what is small stays small.
#[derive(Debug)]
pub(crate) enum Engine {
    Real(Box<Real>),
    Model(Box<Model>),
}

impl Session {
    /// A session in front of its first message, with what it says at once.
    pub(crate) fn new(engine: Engine, outbox: Outbox) -> Session {
        Session { engine, framing: Framing::default(), outbox, read_level: Level::Initial, failed: None }
    }

    /// Reads handshake bytes that came in CRYPTO frames of this level, in order and each once. From `now` tickets age
    /// and certificates are judged: see [`Context::with_epoch`](crate::Context::with_epoch).
    ///
    /// # Errors
    /// The alert to close the connection with; every later call gives the same. Bytes of a level whose messages are
    /// over, or that is not yet reached, are `unexpected_message` (RFC 9001 section 4.1.3).
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
            // Only a whole message changes keys, so that none reaches over such a change (RFC 8446 section 5.1).
            if part.complete {
                self.read_level = self.level();
            }
        }
        Ok(())
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

    /// Appends what is to be sent, and gives the keys of the next level that apply to all that is written after it.
    ///
    /// To be called after [`read`](Session::read), and at first, until it writes nothing and gives `None`. What was
    /// written before a [`KeyChange`] belongs to the level before it.
    pub fn write(&mut self, out: &mut Vec<u8>) -> Option<KeyChange> {
        self.outbox.pop(out)
    }

    /// The QUIC version that keys are made for: at a server that [chooses](crate::Change::Choose), the one that it has
    /// chosen, once it has read the ClientHello.
    pub fn version(&self) -> u32 {
        match &self.engine {
            Engine::Real(real) => real.version(),
            Engine::Model(model) => model.version(),
        }
    }

    /// At a client that may change its version ([`Change::Follow`](crate::Change::Follow)) and has read nothing yet: the
    /// server answers in this one, and keys are made for it. The ClientHello stays as it was sent. `false`: it cannot be.
    pub fn follow(&mut self, version: u32) -> bool {
        match &mut self.engine {
            Engine::Real(real) => real.follow(version),
            Engine::Model(model) => model.follow(version),
        }
    }

    /// The peer's encoded transport parameters, once they have come: at a client before the server has proved who it
    /// is (RFC 9001 section 8.2).
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

    /// The application protocol that was agreed on, once it is (RFC 7301).
    pub fn alpn(&self) -> Option<&[u8]> {
        match &self.engine {
            Engine::Real(real) => real.alpn(),
            Engine::Model(model) => model.alpn(),
        }
    }

    /// Whether an earlier session was taken up (RFC 8446 section 2.2): known with the peer's
    /// transport parameters.
    pub fn is_resumed(&self) -> bool {
        match &self.engine {
            Engine::Real(real) => real.is_resumed(),
            Engine::Model(model) => model.is_resumed(),
        }
    }

    /// What becomes of 0-RTT. A client knows with the server's transport parameters at the latest, a server when it has
    /// read the ClientHello.
    pub fn early_data(&self) -> EarlyData {
        match &self.engine {
            Engine::Real(real) => real.early_data(),
            Engine::Model(model) => model.early_data(),
        }
    }

    /// At a client that offers 0-RTT, and does not know yet what becomes of it: protects 0-RTT packets.
    pub fn early_sealer(&self) -> Option<Sealer> {
        match &self.engine {
            Engine::Real(real) => real.early_sealer(),
            Engine::Model(model) => model.early_sealer(),
        }
    }

    /// At a server that takes 0-RTT: opens 0-RTT packets.
    pub fn early_opener(&self) -> Option<Opener> {
        match &self.engine {
            Engine::Real(real) => real.early_opener(),
            Engine::Model(model) => model.early_opener(),
        }
    }

    /// At a client: the tickets that came since the last call, the newest last; of more than eight the newest.
    pub fn take_tickets(&mut self) -> Vec<Ticket> {
        match &mut self.engine {
            Engine::Real(real) => real.take_tickets(),
            Engine::Model(model) => model.take_tickets(),
        }
    }

    /// The secrets that have come up since the last call, for captures; none under null.
    pub fn take_secrets(&mut self) -> Vec<Secret> {
        match &mut self.engine {
            Engine::Real(real) => real.take_secrets(),
            Engine::Model(_) => Vec::new(),
        }
    }

    /// The keys of the next key phase (RFC 9001 section 6.1), one phase further with each call; `None` before there are
    /// 1-RTT keys.
    pub fn next_keys(&mut self) -> Option<PacketKeys> {
        match &mut self.engine {
            Engine::Real(real) => real.next_keys(),
            Engine::Model(model) => model.next_keys(),
        }
    }
}
