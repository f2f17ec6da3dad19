//! The datagrams by which paths are validated: PATH_CHALLENGE and PATH_RESPONSE (RFC 9000 section 8.2).

use super::packet::{Made, TAG};
use super::transmit::Transmit;
use super::{Connection, Progress};
use crate::assemble::Payload;
use crate::error::TransportError;
use crate::path::{Answer, MAX_RESPONSES, MIN_PAYLOAD, Role, Validation};
use crate::sent::PROBING;
use crate::space::SpaceKind;
use units::Time;
use wire::{Code, ConnectionId, Frame};

/// The path that a datagram goes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Over {
    /// The one in use.
    Current,
    /// One that is not, by its index.
    Other(usize),
}

impl Connection {
    /// Whether a path has anything to ask or to answer.
    #[inline]
    pub(super) fn has_path_duties(&self) -> bool {
        self.path.validation.is_some() || !self.path_responses.is_empty() || !self.others.is_empty()
    }

    /// When the timers of paths want to be looked at.
    #[inline]
    pub(super) fn path_deadline(&self) -> Option<Time> {
        if !self.has_path_duties() {
            return None;
        }
        let current = self.path.validation.as_deref().map_or(Time::NEVER, Validation::wake_at);
        Some(current.min(self.others.wake_at())).filter(|at| *at != Time::NEVER)
    }

    /// PATH_CHALLENGE (19.17).
    pub(super) fn on_challenge(&mut self, data: [u8; 8]) {
        // RFC 9000-8.2.2-1, 9000-8.2.2-3, 9000-19.17-1: each is answered on the path that it came on. RFC 9000-8.2.2-7: once.
        if let Some(arrival) = &mut self.others.arrival {
            if arrival.challenges.len() < MAX_RESPONSES {
                arrival.challenges.push(data);
            }
        } else if self.path_responses.len() < MAX_RESPONSES {
            self.path_responses.push_back(data);
        }
    }

    /// PATH_RESPONSE (19.18), on whatever path it came.
    pub(super) fn on_response(&mut self, now: Time, data: [u8; 8]) -> Result<(), TransportError> {
        if self.stats.path_challenges_sent == 0 {
            // 19.18: an answer to what was never asked. Later it may be one to what is not remembered any more.
            return Err(TransportError::new(Code::PROTOCOL_VIOLATION, "PATH_RESPONSE without a challenge"));
        }
        let answer = |validation: &Option<Box<Validation>>| validation.as_deref()?.on_response(now, data);
        if let Some(answer) = answer(&self.path.validation) {
            let before = self.path.is_proven();
            self.recovery.guess_rtt(answer.took);
            self.note_answer(now, Over::Current, answer);
            if !before && self.path.is_proven() {
                self.on_current_proven(now);
            }
            return Ok(());
        }
        let answered =
            self.others.iter().enumerate().find_map(|(index, o)| Some((index, answer(&o.path.validation)?)));
        if let Some((index, answer)) = answered {
            self.note_answer(now, Over::Other(index), answer);
            if self.others.get_mut(index).is_some_and(|other| other.path.is_proven()) {
                self.on_other_proven(now, index, answer.took);
            }
        }
        Ok(())
    }

    /// What an answer shows of the path.
    fn note_answer(&mut self, now: Time, over: Over, answer: Answer) {
        let patience = self.patience();
        let path = match over {
            Over::Current => &mut self.path,
            Over::Other(index) => match self.others.get_mut(index) {
                Some(other) => &mut other.path,
                None => return,
            },
        };
        path.validate();
        if answer.full {
            path.validate_full();
        }
        // RFC 9000-8.2.1-3, 9000-8.2.3-1: the address is proven, but that 1200 bytes pass is not: again, now that nothing
        // limits the size.
        path.validation = (!path.is_proven()).then(|| Box::new(Validation::new(now, patience)));
    }

    /// A datagram for the validation of a path, if one is to be sent.
    #[cold]
    pub(super) fn transmit_validation(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        if self.progress != Progress::Confirmed && self.path_responses.is_empty() || self.data.keys.is_none()
        {
            return None;
        }
        let due =
            |validation: &Option<Box<Validation>>| validation.as_deref().is_some_and(Validation::is_due);
        // RFC 9000-8.2.2-2: answers on the path in use wait for the window and nothing else. Challenges have a timer of
        // their own that is as slow as that of probes, which the window does not hold either (9.4).
        let admitted = self.recovery.admits(u64::from(MIN_PAYLOAD));
        let wanted = due(&self.path.validation) || admitted && !self.path_responses.is_empty();
        if wanted && self.path.validation_payload().is_some() {
            return self.validation_datagram(now, buffer, Over::Current);
        }
        let wants = |o: &crate::path::Other| due(&o.path.validation) || !o.responses.is_empty();
        let index = self.others.iter().position(|o| wants(o) && o.path.validation_payload().is_some())?;
        self.validation_datagram(now, buffer, Over::Other(index))
    }

    fn validation_datagram(&mut self, now: Time, buffer: &mut Vec<u8>, over: Over) -> Option<Transmit> {
        let (path, id): (_, ConnectionId) = match over {
            Over::Current => (&self.path, self.remote_ids.current()),
            Over::Other(index) => {
                let other = self.others.get_mut(index)?;
                (&other.path, other.id.id)
            }
        };
        let (local, remote) = (path.local, path.remote);
        let limit = path.validation_payload()?;
        if self.key_phases.is_due() && !self.check_key_use(now) {
            return None;
        }
        let begun = self.begin_packet(SpaceKind::Data, id, buffer)?;
        let mut contents = std::mem::take(&mut self.contents);
        let mut payload = Payload::new(buffer, &mut contents, limit - TAG, false);
        let challenge = self.fill_validation(now, over, &mut payload);
        if limit == usize::from(MIN_PAYLOAD) {
            // RFC 9000-8.2.1-2, 9000-8.2.2-5: so that the path is known to carry what QUIC needs. RFC 9000-8.2.2-6: not
            // where the amplification limit forbids it.
            payload.pad_to(limit - TAG);
        }
        let length = payload.length() + TAG;
        if over != Over::Current {
            // 9.4: the loss of a probe tells nothing of the path in use, and its timer is that of the validation.
            (contents.ack_eliciting, contents.in_flight) = (false, false);
        }
        let named = (self.data.sent.next_number(), id);
        self.trace_packet_sent(now, SpaceKind::Data, named, &buffer[begun.payload_offset..], (length, None));
        self.seal_and_note(now, buffer, begun, over == Over::Current, &contents);
        self.contents = contents;
        if let Some(data) = challenge {
            let full = length >= usize::from(MIN_PAYLOAD);
            self.note_challenge(now, over, data, full);
        }
        let made = Made::default();
        if let Over::Other(index) = over {
            let other = self.others.get_mut(index)?;
            other.path.on_sent(length as u64);
            if other.role == Role::Leaving {
                // What the server asked is answered.
                other.until = now;
            }
        } else {
            self.path.on_sent(length as u64);
        }
        Some(self.finish_over(now, length, &made, (local, remote)))
    }

    /// The frames of a validation datagram; gives the data of the challenge, if there is one.
    fn fill_validation(&mut self, now: Time, over: Over, payload: &mut Payload<'_>) -> Option<[u8; 8]> {
        let current = over == Over::Current;
        let (responses, validation) = match over {
            Over::Current => (&mut self.path_responses, &self.path.validation),
            Over::Other(index) => {
                let other = self.others.get_mut(index)?;
                (&mut other.responses, &other.path.validation)
            }
        };
        let answers = !responses.is_empty();
        while let Some(&data) = responses.front() {
            let frame = Frame::PathResponse { data };
            if frame.encoded_size() > payload.room() {
                break;
            }
            payload.passing_frame(&frame, true);
            responses.pop_front();
        }
        let due = validation.as_deref().is_some_and(Validation::is_due);
        let frame = Frame::PathChallenge { data: [0; 8] };
        let challenge = (due && frame.encoded_size() <= payload.room()).then(|| self.challenge_data());
        if let Some(data) = challenge {
            payload.passing_frame(&Frame::PathChallenge { data }, true);
        }
        if current && self.data.received.is_waiting() {
            super::packet::fill_ack(now, &mut self.data, self.config.ack_delay_exponent, payload);
        }
        if current && answers && payload.contents().acked.is_none() && payload.room() > 0 {
            // 9.3.3: an answer on the path in use is not a probe, so that the peer comes back if it was led away.
            payload.passing_frame(&Frame::Ping, true);
        }
        challenge
    }

    /// RFC 9000-8.2.1-1: nobody can tell it before it is sent, and it is never the same.
    fn challenge_data(&mut self) -> [u8; 8] {
        let mut random = random::Stream::new(self.path_seed ^ self.stats.path_challenges_sent, "challenges");
        random.bits().to_be_bytes()
    }

    fn note_challenge(&mut self, now: Time, over: Over, data: [u8; 8], full: bool) {
        self.stats.path_challenges_sent += 1;
        let own = self.probe_timeout();
        let unknown = congestion::RttEstimate::new(self.config.initial_rtt).pto() + self.peer_max_ack_delay;
        let (validation, timeout) = match over {
            Over::Current => (&mut self.path.validation, own),
            Over::Other(index) => {
                let Some(other) = self.others.get_mut(index) else { return };
                let timeout = match (&other.recovery, other.role) {
                    (Some(recovery), _) => recovery.rtt.pto() + self.peer_max_ack_delay,
                    (None, Role::Fallback) => own,
                    (None, _) => unknown,
                };
                (&mut other.path.validation, timeout)
            }
        };
        if let Some(validation) = validation.as_deref_mut() {
            validation.on_sent(now, data, full, timeout);
        }
    }

    /// Protects the packet and notes that it was sent.
    pub(super) fn seal_and_note(
        &mut self,
        now: Time,
        buffer: &mut Vec<u8>,
        begun: super::packet::Begun,
        current: bool,
        contents: &crate::sent::Contents,
    ) {
        let number = self.data.sent.next_number();
        self.seal(SpaceKind::Data, number, buffer, begun, 0);
        self.key_phases.on_sealed(contents.acked.is_some());
        let size = buffer.len() as u32;
        if current {
            self.recovery.on_sent(now, &mut self.data, size, contents);
        } else {
            // RFC 9000-9.4-1.
            let epoch = std::mem::replace(&mut self.data.sent.epoch, PROBING);
            self.data.sent.push(now, size, congestion::SentState::default(), contents);
            self.data.sent.epoch = epoch;
        }
        self.note_packet_sent(now, true);
    }
}
