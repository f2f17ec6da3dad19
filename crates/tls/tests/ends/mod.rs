//! One end of a handshake with a record of its actions, and a loop that connects two.
#![allow(dead_code, reason = "each test program uses a part of it")]

use tls::{KeyChange, Keys, Level, Session};
use units::Time;

/// One end with a record of its actions.
pub(crate) struct End {
    pub(crate) session: Session,
    pub(crate) level: Level,
    /// Everything it sent, by level.
    pub(crate) sent: Vec<(Level, Vec<u8>)>,
    pub(crate) keys: Vec<Keys>,
    /// The number of bytes read at each key change, at completion, and when the peer's parameters became known.
    pub(crate) moments: Vec<(&'static str, usize)>,
    pub(crate) read: usize,
    pub(crate) now: Time,
}

impl End {
    pub(crate) fn new(session: Session) -> End {
        let mut end = End {
            session,
            level: Level::Initial,
            sent: Vec::new(),
            keys: Vec::new(),
            moments: Vec::new(),
            read: 0,
            now: Time::ZERO,
        };
        end.drain();
        end
    }

    pub(crate) fn drain(&mut self) {
        loop {
            let mut bytes = Vec::new();
            let change = self.session.write(&mut bytes);
            if bytes.is_empty() && change.is_none() {
                break;
            }
            if !bytes.is_empty() {
                self.sent.push((self.level, bytes));
            }
            match change {
                Some(KeyChange::Handshake(keys)) => {
                    self.level = Level::Handshake;
                    self.keys.push(keys);
                    self.moments.push(("handshake keys", self.read));
                }
                Some(KeyChange::OneRtt(keys)) => {
                    self.level = Level::OneRtt;
                    self.keys.push(keys);
                    self.moments.push(("1-RTT keys", self.read));
                }
                None => {}
            }
        }
        for (what, is) in [
            ("complete", self.session.is_complete()),
            ("parameters", self.session.peer_parameters().is_some()),
            ("alpn", self.session.alpn().is_some()),
            ("resumed", self.session.is_resumed()),
            ("0-RTT offered", self.session.early_data() == tls::EarlyData::Offered),
            ("0-RTT accepted", self.session.early_data() == tls::EarlyData::Accepted),
            ("0-RTT rejected", self.session.early_data() == tls::EarlyData::Rejected),
        ] {
            if is && !self.moments.iter().any(|(known, _)| *known == what) {
                self.moments.push((what, self.read));
            }
        }
    }

    pub(crate) fn receive(&mut self, level: Level, bytes: &[u8], piece: usize) {
        for bytes in bytes.chunks(piece) {
            self.session.read(self.now, level, bytes).unwrap();
            self.read += bytes.len();
            self.drain();
        }
    }
}

/// Runs two ends until both are silent, delivering pieces of this size.
pub(crate) fn run(client: Session, server: Session, piece: usize) -> (End, End) {
    run_at(Time::ZERO, client, server, piece)
}

/// Like [`run`], at this time.
pub(crate) fn run_at(now: Time, client: Session, server: Session, piece: usize) -> (End, End) {
    let mut ends = [End::new(client), End::new(server)];
    let mut received_count = [0, 0];
    loop {
        let mut quiet = true;
        for (from, to) in [(0, 1), (1, 0)] {
            while let Some((level, bytes)) = ends[from].sent.get(received_count[from]).cloned() {
                received_count[from] += 1;
                ends[to].now = now;
                ends[to].receive(level, &bytes, piece);
                quiet = false;
            }
        }
        if quiet {
            break;
        }
    }
    let [client, server] = ends;
    (client, server)
}

/// The shape of a handshake as an observer sees it.
pub(crate) type Shape = (Vec<(Level, usize)>, Vec<(&'static str, usize)>);

pub(crate) fn shape(end: &End) -> Shape {
    (end.sent.iter().map(|(level, bytes)| (*level, bytes.len())).collect(), end.moments.clone())
}
