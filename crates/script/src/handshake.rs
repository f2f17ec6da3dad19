//! The statement `handshake`: a peer that answers everything after one round trip, without loss, until nothing is
//! left to answer.
//!
//! It injects lines as a script could contain them.

use crate::peer::Decoded;
use crate::run::Run;
use crate::syntax::{Action, Script};
use std::collections::BTreeSet;
use units::Duration;
use wire::{PacketKind, Side};

/// More round trips than any handshake takes.
const MOST_ROUNDS: usize = 20;
/// Handshake bytes per packet: fits into every datagram.
const PIECE: u64 = 1000;
const KINDS: [(PacketKind, &str); 3] =
    [(PacketKind::Initial, "initial"), (PacketKind::Handshake, "handshake"), (PacketKind::OneRtt, "1rtt")];

/// What the peer has received.
#[derive(Default)]
struct Received {
    /// The packet numbers by space.
    numbers: [BTreeSet<u64>; 3],
    /// Whether any packet is ack-eliciting.
    owes: [bool; 3],
    said_done: bool,
}

impl Received {
    fn take(&mut self, packet: &Decoded) {
        let space = KINDS.iter().position(|(kind, _)| *kind == packet.kind);
        let (Some(space), Some(number)) = (space, packet.number) else { return };
        self.numbers[space].insert(number);
        // RFC 9000 section 13.2: ACK, PADDING and CONNECTION_CLOSE are not ack-eliciting.
        let quiet = ["ACK", "PADDING", "CONNECTION_CLOSE", "APPLICATION_CLOSE"];
        self.owes[space] |= packet.frames.iter().any(|frame| !quiet.contains(&frame.entry.name));
    }

    /// `ACK(0..3, 5)`.
    fn ack(&self, space: usize) -> String {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for number in &self.numbers[space] {
            match ranges.last_mut() {
                Some((_, end)) if *end + 1 == *number => *end = *number,
                _ => ranges.push((*number, *number)),
            }
        }
        let ranges: Vec<String> = ranges.iter().map(|(start, end)| format!("{start}..{end}")).collect();
        format!("ACK({})", ranges.join(", "))
    }
}

impl Run<'_> {
    /// Completes the handshake.
    ///
    /// # Errors
    /// If the handshake cannot be completed.
    pub(crate) fn handshake(&mut self, rtt: Duration) -> Result<(), String> {
        let mut heard = Received::default();
        if self.options.role == Side::Client {
            if !self.subject.is_open() {
                self.subject.connect(self.now).map_err(|word| format!("connect() is {word}"))?;
            }
        } else {
            self.inject_text("< initial CRYPTO\n")?;
        }
        for _ in 0..MOST_ROUNDS {
            self.hear_all(&mut heard);
            let answer = self.answer(&mut heard);
            let quiet = answer.is_empty();
            // The acknowledgement of the last answer may be delayed by this much.
            let pause = if quiet { rtt.max(self.options.transport.ack.max_delay) } else { rtt };
            self.advance(self.now + pause);
            if quiet {
                self.hear_all(&mut heard);
                if !heard.owes.contains(&true) {
                    return self.established();
                }
            }
            self.inject_text(&answer)?;
        }
        Err("the handshake does not complete".to_owned())
    }

    fn established(&mut self) -> Result<(), String> {
        let state = self.subject.gauge("state").map_or(String::new(), |state| state.to_string());
        if state == "established" && self.peer.is_complete() {
            Ok(())
        } else {
            Err(format!("the handshake has ended in state {state:?}"))
        }
    }

    fn hear_all(&mut self, heard: &mut Received) {
        self.drain();
        while let Some((_, packets)) = self.seen.pop_front() {
            for packet in packets {
                heard.take(&packet);
                self.peer.hear(self.now, &packet);
            }
        }
    }

    /// The peer's answer, as lines of a script.
    fn answer(&mut self, heard: &mut Received) -> String {
        let mut lines = String::new();
        for (space, (kind, word)) in KINDS.iter().enumerate() {
            let mut left = self.peer.crypto_left(*kind);
            let mut frames: Vec<String> = Vec::new();
            if std::mem::take(&mut heard.owes[space]) {
                frames.push(heard.ack(space));
            }
            // RFC 9001 section 4.1.2: the server confirms the handshake.
            let done =
                self.options.role == Side::Client && self.peer.is_complete() && *kind == PacketKind::OneRtt;
            if done && !std::mem::replace(&mut heard.said_done, true) {
                frames.push("HANDSHAKE_DONE".to_owned());
            }
            let mut offset = self.peer.crypto_begun(*kind);
            while left > 0 {
                let piece = left.min(PIECE);
                frames.push(format!("CRYPTO({offset}, {piece})"));
                lines.push_str(&format!("< {word} {}\n", frames.join(", ")));
                frames.clear();
                (left, offset) = (left - piece, offset + piece);
            }
            if !frames.is_empty() {
                lines.push_str(&format!("< {word} {}\n", frames.join(", ")));
            }
        }
        lines
    }

    /// Injects datagrams written as in a script.
    fn inject_text(&mut self, text: &str) -> Result<(), String> {
        let script = Script::parse("handshake", text).map_err(|error| error.to_string())?;
        for statement in &script.statements {
            if let Action::Inject(packets) = &statement.action {
                self.inject(packets).map_err(|(_, problem)| problem)?;
            }
        }
        Ok(())
    }
}
