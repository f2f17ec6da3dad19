//! Path validation: challenges, responses and timers (RFC 9000 section 8.2).

use units::{Duration, Time};

/// The maximum number of challenges for which a response is still accepted.
const MAX_CHALLENGES: usize = 8;
/// The number of probe timeouts after which validation fails (RFC 9000 section 8.2.4).
const MAX_TIMEOUTS: u64 = 3;

/// A sent challenge.
#[derive(Debug, Clone, Copy)]
struct Challenge {
    data: [u8; 8],
    sent_at: Time,
    /// Whether its datagram had 1200 bytes.
    full: bool,
}

/// The result of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChallengeResponse {
    /// Its round-trip time.
    pub(crate) round_trip: Duration,
    /// Whether the path carries 1200 bytes.
    pub(crate) full: bool,
}

/// The state of a validation after a timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValidationState {
    /// Validation continues.
    InProgress,
    /// Validation has failed.
    Failed,
}

/// A validation in progress.
#[derive(Debug)]
pub(crate) struct Validation {
    challenges: Vec<Challenge>,
    /// The number of datagrams with challenges to send now.
    due: u8,
    /// The number of timeouts.
    timeouts: u32,
    /// The time at which challenges are repeated; never while some are due.
    again_at: Time,
    until: Time,
}

impl Validation {
    /// Starts a validation. `timeout` is the larger of the probe timeouts of the path in use and of a new path.
    pub(crate) fn new(now: Time, timeout: Duration) -> Validation {
        Validation {
            challenges: Vec::with_capacity(2),
            due: 1,
            timeouts: 0,
            again_at: Time::NEVER,
            until: now + timeout * MAX_TIMEOUTS,
        }
    }

    /// Whether a datagram with a challenge is due.
    pub(crate) fn is_due(&self) -> bool {
        self.due > 0
    }
    /// Notes that a challenge was sent. `timeout` is the probe timeout of the path.
    pub(crate) fn on_sent(&mut self, now: Time, data: [u8; 8], full: bool, timeout: Duration) {
        if self.challenges.len() == MAX_CHALLENGES {
            self.challenges.remove(0);
        }
        self.challenges.push(Challenge { data, sent_at: now, full });
        assert!(self.due > 0, "a challenge is sent when one is due");
        self.due -= 1;
        if self.due == 0 {
            // RFC 9000-9.4-3: "as described in Section 6.2.1 of [QUIC-RECOVERY]" and not "more aggressive"; it
            // doubles each time.
            self.again_at = now + timeout * (1 << self.timeouts.min(16));
        }
    }
    /// Matches a PATH_RESPONSE with this data, received on any path.
    pub(crate) fn on_response(&self, now: Time, data: [u8; 8]) -> Option<ChallengeResponse> {
        // RFC 9000-8.2.2-4: validates the path on which the challenge was sent: "This requirement MUST NOT be
        // enforced by the endpoint that initiates path validation".
        let challenge = self.challenges.iter().find(|challenge| challenge.data == data)?;
        Some(ChallengeResponse { round_trip: now.since(challenge.sent_at), full: challenge.full })
    }
    /// The time of the next timer.
    pub(crate) fn wake_at(&self) -> Time {
        self.again_at.min(self.until)
    }
    /// Handles the timers that have expired at `now`.
    pub(crate) fn on_time(&mut self, now: Time) -> ValidationState {
        if self.until <= now {
            return ValidationState::Failed;
        }
        if self.again_at <= now {
            self.timeouts += 1;
            // As many as a probe timeout sends (RFC 9002 section 6.2.4).
            self.due = 2;
            self.again_at = Time::NEVER;
        }
        ValidationState::InProgress
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }
    const TIMEOUT: Duration = Duration::from_millis(1000);

    /// RFC 9000-9.4-3.
    #[test]
    fn challenges_are_repeated_like_probes_and_then_given_up() {
        let mut validation = Validation::new(at(0), TIMEOUT);
        assert!(validation.is_due());
        validation.on_sent(at(0), [1; 8], true, TIMEOUT / 4);
        assert!(!validation.is_due());
        let mut sent = Vec::new();
        while validation.on_time(validation.wake_at()) == ValidationState::InProgress {
            let now = validation.wake_at().min(at(60_000));
            // A due challenge is sent at once.
            let now = if now == at(3000) { sent.last().copied().unwrap_or(0) } else { 0 };
            let mut time = now;
            while validation.is_due() {
                time = [250, 750, 1750, 3750][validation.timeouts as usize - 1];
                validation.on_sent(at(time), [2; 8], true, TIMEOUT / 4);
            }
            sent.push(time);
        }
        assert_eq!(sent, [250, 750, 1750]);
        assert_eq!(validation.wake_at(), at(3000));
    }

    #[test]
    fn a_response_shows_the_size_of_its_challenge() {
        let mut validation = Validation::new(at(0), TIMEOUT);
        validation.due = 200;
        validation.on_sent(at(0), [1; 8], false, TIMEOUT);
        validation.on_sent(at(5), [2; 8], true, TIMEOUT);
        assert_eq!(validation.on_response(at(9), [3; 8]), None);
        let answer = |ms, full| Some(ChallengeResponse { round_trip: Duration::from_millis(ms), full });
        assert_eq!(validation.on_response(at(9), [1; 8]), answer(9, false));
        assert_eq!(validation.on_response(at(9), [2; 8]), answer(4, true));
        for n in 10..200 {
            validation.on_sent(at(n), [n as u8; 8], true, TIMEOUT);
        }
        assert!(validation.challenges.len() <= MAX_CHALLENGES, "bounded");
    }
}
