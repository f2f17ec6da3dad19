//! Frames and datagrams of path validation: PATH_CHALLENGE and PATH_RESPONSE (RFC 9000 section 8.2).

use super::{
    ChallengeResponse, MAX_RESPONSES, MIN_PAYLOAD, PathContext, Paths, Role, UnusedPath, Validation,
};
use crate::assemble::Payload;
use crate::error::TransportError;
use std::net::SocketAddr;
use units::{Duration, Time};
use wire::{Code, ConnectionId, Frame};

/// The path of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathChoice {
    /// The path in use.
    Current,
    /// Another path, by its index.
    Unused(usize),
}

/// A datagram to send for path validation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ValidationDatagram {
    pub(crate) path: PathChoice,
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    /// Its destination id.
    pub(crate) id: ConnectionId,
    /// Its maximum length: [`MIN_PAYLOAD`], to which it is padded, or less.
    pub(crate) limit: usize,
}

impl Paths {
    /// Whether any path may have a validation, a response or a timer.
    #[inline]
    pub(crate) fn has_validation_work(&self) -> bool {
        self.current.route.validation.is_some() || !self.responses.is_empty() || !self.unused.is_empty()
    }

    /// Whether a datagram may have to do with the path, and not only with what the connection sends.
    #[inline]
    pub(crate) fn has_duties(&self) -> bool {
        self.has_validation_work()
            || self.probes_size()
            || self.current.route.ecn.is_enabled()
            || self.current.route.is_blocked()
    }

    /// The time of the next timer of a path.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Time> {
        if !self.has_validation_work() {
            return None;
        }
        let current = self.current.route.validation.as_deref().map_or(Time::NEVER, Validation::wake_at);
        Some(current.min(self.unused.wake_at())).filter(|at| *at != Time::NEVER)
    }

    /// Handles PATH_CHALLENGE (RFC 9000 section 19.17).
    pub(crate) fn on_challenge(&mut self, data: [u8; 8]) {
        // RFC 9000-8.2.2-1, 9000-8.2.2-3, 9000-19.17-1: "on the network path where the PATH_CHALLENGE frame was
        // received".
        // RFC 9000-8.2.2-7: not "more than one PATH_RESPONSE frame in response to one PATH_CHALLENGE frame".
        if let Some(arrival) = &mut self.unused.arrival {
            if arrival.challenges.len() < MAX_RESPONSES {
                arrival.challenges.push(data);
            }
        } else if self.responses.len() < MAX_RESPONSES {
            self.responses.push_back(data);
        }
    }

    /// Handles PATH_RESPONSE (RFC 9000 section 19.18), on any path. If this brings another path into use, returns the
    /// round-trip time of the response as an initial RTT.
    pub(crate) fn on_response(
        &mut self,
        at: &mut PathContext<'_>,
        data: [u8; 8],
    ) -> Result<Option<Duration>, TransportError> {
        if self.stats.challenges_sent == 0 {
            // RFC 9000 section 19.18: a response without a challenge. Once a challenge was sent, a response may
            // belong to one no longer remembered.
            return Err(TransportError::new(
                Code::PROTOCOL_VIOLATION,
                "PATH_RESPONSE without a matching PATH_CHALLENGE",
            ));
        }
        let now = at.now;
        let answer = |validation: &Option<Box<Validation>>| validation.as_deref()?.on_response(now, data);
        if let Some(answer) = answer(&self.current.route.validation) {
            let before = self.current.route.is_fully_validated();
            self.current.recovery.guess_rtt(answer.round_trip);
            self.note_answer(now, PathChoice::Current, answer);
            if !before && self.current.route.is_fully_validated() {
                self.on_current_validated(now);
            }
            return Ok(None);
        }
        let answered = self
            .unused
            .iter()
            .enumerate()
            .find_map(|(index, known)| Some((index, answer(&known.route.validation)?)));
        let Some((index, answer)) = answered else { return Ok(None) };
        self.note_answer(now, PathChoice::Unused(index), answer);
        let proven = self.unused.at(index).route.is_fully_validated();
        Ok(if proven { self.on_unused_validated(at, index, answer.round_trip) } else { None })
    }

    /// Applies what a response shows about the path.
    fn note_answer(&mut self, now: Time, path: PathChoice, answer: ChallengeResponse) {
        let validation_timeout = self.validation_timeout();
        let route = match path {
            PathChoice::Current => &mut self.current.route,
            PathChoice::Unused(index) => &mut self.unused.at(index).route,
        };
        route.validate();
        if answer.full {
            route.validate_full();
        }
        // RFC 9000-8.2.1-3, 9000-8.2.3-1: the address is validated, but the path is not known to carry 1200 bytes: a
        // second validation with full datagrams, now that nothing limits them.
        route.validation =
            (!route.is_fully_validated()).then(|| Box::new(Validation::new(now, validation_timeout)));
    }

    /// The next datagram to send for path validation, if any.
    pub(crate) fn validation_datagram(&self) -> Option<ValidationDatagram> {
        if !self.confirmed && self.responses.is_empty() {
            return None;
        }
        let due =
            |validation: &Option<Box<Validation>>| validation.as_deref().is_some_and(Validation::is_due);
        let route = &self.current.route;
        // RFC 9000-8.2.2-2: not delayed "unless constrained by congestion control". Challenges have a timer as
        // slow as that of probes, which the window does not delay either (section 9.4).
        let admitted = self.current.recovery.admits(u64::from(MIN_PAYLOAD));
        let wanted = due(&route.validation) || admitted && !self.responses.is_empty();
        if let Some(limit) = route.validation_payload().filter(|_| wanted) {
            let (path, id) = (PathChoice::Current, self.ids.current());
            return Some(ValidationDatagram { path, local: route.local, remote: route.remote, id, limit });
        }
        let wants = |known: &UnusedPath| due(&known.route.validation) || !known.responses.is_empty();
        self.unused.iter().enumerate().filter(|(_, known)| wants(known)).find_map(|(index, known)| {
            let UnusedPath { route, id, .. } = known;
            let limit = route.validation_payload()?;
            let (path, id) = (PathChoice::Unused(index), id.id);
            Some(ValidationDatagram { path, local: route.local, remote: route.remote, id, limit })
        })
    }

    /// Puts the responses and the challenge of a path into a packet. Returns whether there are responses, and the
    /// data of the challenge.
    pub(crate) fn fill_validation(
        &mut self,
        path: PathChoice,
        payload: &mut Payload<'_>,
    ) -> (bool, Option<[u8; 8]>) {
        let (responses, validation) = match path {
            PathChoice::Current => (&mut self.responses, &self.current.route.validation),
            PathChoice::Unused(index) => {
                let known = self.unused.at(index);
                (&mut known.responses, &known.route.validation)
            }
        };
        let answers = !responses.is_empty();
        while let Some(&data) = responses.front() {
            let frame = Frame::PathResponse { data };
            if frame.encoded_size() > payload.room() {
                break;
            }
            payload.untracked_frame(&frame, true);
            responses.pop_front();
        }
        let due = validation.as_deref().is_some_and(Validation::is_due);
        let frame = Frame::PathChallenge { data: [0; 8] };
        let challenge = (due && frame.encoded_size() <= payload.room()).then(|| self.challenge_data());
        if let Some(data) = challenge {
            payload.untracked_frame(&Frame::PathChallenge { data }, true);
        }
        (answers, challenge)
    }

    /// RFC 9000-8.2.1-1: "unpredictable data in every PATH_CHALLENGE frame".
    fn challenge_data(&self) -> [u8; 8] {
        let mut random = random::Generator::new(self.seed ^ self.stats.challenges_sent, "challenges");
        random.bits().to_be_bytes()
    }

    /// Notes that a validation datagram was sent, of this length and with this challenge, if any.
    pub(crate) fn on_validation_sent(
        &mut self,
        now: Time,
        path: PathChoice,
        length: usize,
        challenge: Option<[u8; 8]>,
    ) {
        if let Some(data) = challenge {
            self.note_challenge(now, path, data, length >= usize::from(MIN_PAYLOAD));
        }
        match path {
            PathChoice::Current => self.current.route.on_sent(length as u64),
            PathChoice::Unused(index) => {
                let known = self.unused.at(index);
                known.route.on_sent(length as u64);
                if known.role == Role::Leaving {
                    // The server's challenge is answered.
                    known.until = now;
                }
            }
        }
    }

    fn note_challenge(&mut self, now: Time, path: PathChoice, data: [u8; 8], full: bool) {
        self.stats.challenges_sent += 1;
        let (own, max_ack_delay) = (self.current.probe_timeout(), self.current.max_ack_delay());
        let unknown = congestion::RttEstimate::new(self.config.initial_rtt).pto() + max_ack_delay;
        let (validation, timeout) = match path {
            PathChoice::Current => (&mut self.current.route.validation, own),
            PathChoice::Unused(index) => {
                let known = self.unused.at(index);
                let timeout = match (&known.recovery, known.role) {
                    (Some(recovery), _) => recovery.rtt.pto() + max_ack_delay,
                    (None, Role::Fallback) => own,
                    (None, _) => unknown,
                };
                (&mut known.route.validation, timeout)
            }
        };
        let validation = validation.as_deref_mut().expect("a challenge belongs to a validation in progress");
        validation.on_sent(now, data, full, timeout);
    }
}
