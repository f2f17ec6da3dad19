//! Careful Resume (RFC 9959): from the capacity that an earlier connection observed to a window that is tried with care.
//!
//! The state machine of one path, without a clock and without packets: it is told of sent packets, acknowledgements and
//! losses, and answers with the adjustments that the controller must make. Sizes are in bytes.

use units::{Duration, Time};

/// A packet among those that were sent: when, and the bytes sent up to and including it, which tell packets apart that left
/// together. Packets of the Unvalidated phase are paced, so that each is later than the jump.
pub(crate) type Place = (Time, u64);

/// What an earlier connection observed of a path: the congestion control parameters of RFC 9959 section 2.
///
/// The transport decides whether they may be used at all: whether they are of this remote endpoint, still valid, and in use
/// by no other connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Saved {
    /// saved_cwnd: the capacity in bytes.
    pub window: u64,
    /// saved_rtt: the least RTT.
    pub rtt: Duration,
}

/// The constants of Careful Resume.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ResumeOptions {
    /// max_jump: the largest window in bytes to jump to.
    pub max_jump: u64,
    /// Beta: the share of the PipeSize that is the slow start threshold after a Safe Retreat (0.5 to 1).
    pub beta: f64,
    /// Whether the RTT must be near the saved one.
    pub check_rtt: bool,
    /// The RTT must be above this multiple of the saved one, and at most this one.
    pub rtt_bounds: (f64, f64),
    /// Whether the initial window must be acknowledged without congestion.
    pub check_initial_window: bool,
    /// Whether the window is the saved capacity as soon as the checks permit it: the method of the BDP paper's implementation
    /// instead of Careful Resume.
    pub seeds: bool,
}

/// A phase of Careful Resume (RFC 9959 section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    /// The path is being confirmed; the controller is unchanged.
    #[default]
    Reconnaissance,
    /// Packets are sent in a window that was not validated.
    Unvalidated,
    /// The acknowledgements of these packets are awaited.
    Validating,
    /// Congestion was detected: the path drains.
    SafeRetreat,
    /// Careful Resume is over, or was not used.
    Normal,
}

impl Phase {
    /// Its number in the gauge `resume_phase`: 0 to 4 in the order of the RFC.
    pub const fn number(self) -> u8 {
        self as u8
    }
    /// Its name in qlog.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Reconnaissance => "reconnaissance",
            Phase::Unvalidated => "unvalidated",
            Phase::Validating => "validating",
            Phase::SafeRetreat => "safe_retreat",
            Phase::Normal => "normal",
        }
    }
}

/// Why a phase ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// The path is confirmed and the window is full.
    WindowLimited,
    /// The RTT is too far from the saved one.
    RttNotValidated,
    /// All that the jump allows is in flight.
    LastSent,
    /// A packet of the Unvalidated phase was acknowledged.
    FirstAcknowledged,
    /// The Unvalidated phase has lasted a round trip.
    RttExceeded,
    /// No more is in flight than was validated.
    RateLimited,
    /// All packets of the Unvalidated phase were acknowledged.
    LastAcknowledged,
    /// A packet was lost.
    PacketLoss,
    /// A mark of congestion was reported.
    EcnCe,
    /// The RTT shows that the path is another one.
    PathChanged,
    /// The Safe Retreat is over.
    ExitRecovery,
}

impl Trigger {
    /// Its name in qlog.
    pub const fn name(self) -> &'static str {
        match self {
            Trigger::WindowLimited => "congestion_window_limited",
            Trigger::RttNotValidated => "rtt_not_validated",
            Trigger::LastSent => "last_unvalidated_packet_sent",
            Trigger::FirstAcknowledged => "first_unvalidated_packet_acknowledged",
            Trigger::RttExceeded => "rtt_exceeded",
            Trigger::RateLimited => "rate_limited",
            Trigger::LastAcknowledged => "last_unvalidated_packet_acknowledged",
            Trigger::PacketLoss => "packet_loss",
            Trigger::EcnCe => "ECN_CE",
            Trigger::PathChanged => "path_changed",
            Trigger::ExitRecovery => "exit_recovery",
        }
    }
}

/// A change of the phase, and what the controller has to do at it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transition {
    /// The phase before.
    pub from: Phase,
    /// The phase from now on.
    pub to: Phase,
    /// The reason; `None` if the sender ceases to use Careful Resume for a reason that qlog has no name for.
    pub trigger: Option<Trigger>,
    /// What the controller has to do, if anything.
    pub adjustment: Option<Adjustment>,
}

/// What a controller has to do at a change of the phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adjustment {
    /// Allow this window at once, paced over this time; growth is that of slow start.
    Jump {
        /// jump_cwnd in bytes.
        window: u64,
        /// current_rtt.
        rtt: Duration,
    },
    /// Allow this window at once, and grow slowly from it.
    Seed {
        /// The saved capacity in bytes.
        window: u64,
        /// current_rtt.
        rtt: Duration,
    },
    /// Set the window to this many bytes; the rest of the jump was not used.
    Limit {
        /// The window in bytes.
        window: u64,
    },
    /// Reduce the window to this many bytes, and do not let it grow until [`Adjustment::Settle`].
    Retreat {
        /// The window in bytes.
        window: u64,
    },
    /// Set the slow start threshold to this many bytes, and go on.
    Settle {
        /// The slow start threshold in bytes.
        ssthresh: u64,
    },
}

impl Adjustment {
    /// The new window in bytes, if it changes.
    pub const fn window(self) -> Option<u64> {
        match self {
            Adjustment::Jump { window, .. }
            | Adjustment::Seed { window, .. }
            | Adjustment::Limit { window }
            | Adjustment::Retreat { window } => Some(window),
            Adjustment::Settle { .. } => None,
        }
    }

    /// The new slow start threshold in bytes, if it changes: in a Safe Retreat nothing grows.
    pub const fn ssthresh(self) -> Option<u64> {
        match self {
            Adjustment::Retreat { window } | Adjustment::Seed { window, .. } => Some(window),
            Adjustment::Settle { ssthresh } => Some(ssthresh),
            Adjustment::Jump { .. } | Adjustment::Limit { .. } => None,
        }
    }
}

/// The kind of a congestion event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Congestion {
    /// Packets were declared lost.
    Loss,
    /// Marks were reported.
    Mark,
}

/// The state of Careful Resume on one path.
#[derive(Debug, Clone, Copy)]
pub struct CarefulResume {
    saved: Saved,
    options: ResumeOptions,
    phase: Phase,
    /// The initial window in bytes.
    initial_window: u64,
    /// When the lifetime of what was saved ends.
    expires_at: Option<Time>,
    /// Bytes acknowledged in the Reconnaissance phase, then since the jump.
    acked: u64,
    /// PipeSize: the capacity in bytes that acknowledgements have validated.
    pipe_size: u64,
    /// The last packet of the Unvalidated phase.
    last: Place,
    /// When the Unvalidated phase began, and current_rtt at that time.
    jumped: (Time, Duration),
}

impl CarefulResume {
    /// Begins the Reconnaissance phase of a connection with this initial window in bytes. What was saved is not used after
    /// `expires_at`.
    pub fn new(
        saved: Saved,
        expires_at: Option<Time>,
        initial_window: u64,
        options: ResumeOptions,
    ) -> CarefulResume {
        CarefulResume {
            saved,
            options,
            phase: Phase::Reconnaissance,
            initial_window,
            expires_at,
            acked: 0,
            pipe_size: 0,
            last: (Time::ZERO, 0),
            jumped: (Time::ZERO, Duration::ZERO),
        }
    }

    /// Stops if the phase contradicts what was acknowledged.
    pub(crate) fn check(&self) {
        let jumped = matches!(self.phase, Phase::Unvalidated | Phase::Validating | Phase::SafeRetreat);
        assert!(
            !jumped || self.jumped.0 > Time::ZERO || !self.jumped.1.is_zero(),
            "a jump has a round-trip time"
        );
        assert!(!jumped || !self.options.seeds, "a sender that takes over a capacity does not jump");
        assert!(
            self.jump() <= self.saved.window / 2,
            "RFC 9959 section 3.3: \"no more than half of the saved_cwnd\""
        );
        let reconnoitres = self.phase == Phase::Reconnaissance;
        assert!(!reconnoitres || self.pipe_size == 0, "nothing is validated before the jump");
    }

    /// The phase.
    pub fn phase(&self) -> Phase {
        self.phase
    }
    /// The saved parameters.
    pub fn saved(&self) -> Saved {
        self.saved
    }
    /// PipeSize in bytes.
    pub fn pipe_size(&self) -> u64 {
        self.pipe_size
    }

    /// jump_cwnd in bytes. RFC 9959-3.3-1: "the jump_cwnd MUST be no more than half of the saved_cwnd", nor more than max_jump.
    pub fn jump(&self) -> u64 {
        (self.saved.window / 2).min(self.options.max_jump)
    }

    /// RFC 9959-3.2-5: by default the RTT is confirmed unless it is "less than or equal to (saved_rtt / 2)", or, by section 4.2.1, "more
    /// than ten times the saved_rtt".
    fn confirms(&self, rtt: Duration) -> bool {
        let (rtt, saved) = (rtt.as_nanos() as f64, self.saved.rtt.as_nanos() as f64);
        let (above, most) = self.options.rtt_bounds;
        rtt > above * saved && rtt <= most * saved
    }

    /// The least RTT of the connection is known from an acknowledgement of this many bytes, of which [`CarefulResume::on_ack`] tells
    /// next. `window` is in bytes, too.
    ///
    /// A seeding sender takes over the saved capacity. In the Unvalidated phase, an RTT that is not confirmed any more shows
    /// "that the previous CC parameters are not valid (due to a detected path change)".
    pub fn on_rtt(&mut self, rtt: Duration, acked: u64, window: u64) -> Option<Transition> {
        let confirmed = !self.options.check_rtt || self.confirms(rtt);
        match self.phase {
            Phase::Reconnaissance if self.options.seeds => {
                if self.options.check_initial_window && self.acked + acked < self.initial_window {
                    return None;
                }
                if !confirmed {
                    return self.change(Phase::Normal, Some(Trigger::RttNotValidated), None);
                }
                let seed = Adjustment::Seed { window: self.saved.window, rtt };
                self.change(Phase::Normal, None, Some(seed).filter(|_| self.saved.window > window))
            }
            // RFC 9959-3.3-3.
            Phase::Unvalidated if !confirmed => self.retreat(Trigger::PathChanged),
            _ => None,
        }
    }

    /// RFC 9959-3.5-1: "The CWND MUST be reduced to no more than (PipeSize/2)."
    fn retreat(&mut self, trigger: Trigger) -> Option<Transition> {
        let window = self.pipe_size / 2;
        self.change(Phase::SafeRetreat, Some(trigger), Some(Adjustment::Retreat { window }))
    }

    fn change(
        &mut self,
        to: Phase,
        trigger: Option<Trigger>,
        adjustment: Option<Adjustment>,
    ) -> Option<Transition> {
        debug_assert!(self.phase != to || to == Phase::Normal, "a change leads to another phase");
        debug_assert!(to != Phase::Reconnaissance, "a connection looks around once");
        let from = std::mem::replace(&mut self.phase, to);
        Some(Transition { from, to, trigger, adjustment })
    }

    /// The window is full and more data waits. `window` and `in_flight` are in bytes, `rtt` is the least RTT of the
    /// connection, if there is one.
    pub fn on_window_limited(
        &mut self,
        now: Time,
        (window, in_flight): (u64, u64),
        rtt: Option<Duration>,
    ) -> Option<Transition> {
        match self.phase {
            Phase::Reconnaissance if !self.options.seeds => {
                let confirmed = !self.options.check_initial_window || self.acked >= self.initial_window;
                let rtt = rtt.filter(|_| confirmed)?;
                // RFC 9959-3.2-4: a sender may have waited here for data until "the Lifetime [...] is exceeded".
                if self.expires_at.is_some_and(|end| now > end) {
                    return self.change(Phase::Normal, None, None);
                }
                if self.options.check_rtt && !self.confirms(rtt) {
                    return self.change(Phase::Normal, Some(Trigger::RttNotValidated), None);
                }
                let jump = self.jump();
                if jump <= window {
                    return self.change(Phase::Normal, None, None);
                }
                (self.acked, self.pipe_size, self.jumped) = (0, in_flight, (now, rtt));
                self.last = (now, u64::MAX);
                let adjustment = Adjustment::Jump { window: jump, rtt };
                self.change(Phase::Unvalidated, Some(Trigger::WindowLimited), Some(adjustment))
            }
            Phase::Unvalidated => self.validate(Trigger::LastSent, in_flight),
            _ => None,
        }
    }

    /// A packet is about to be sent. `in_flight` is without it.
    #[inline]
    pub fn before_sent(&mut self, now: Time, in_flight: u64) -> Option<Transition> {
        let (since, rtt) = self.jumped;
        if self.phase == Phase::Unvalidated && now > since + rtt {
            return self.validate(Trigger::RttExceeded, in_flight);
        }
        None
    }

    /// A packet was sent.
    #[inline]
    pub fn on_sent(&mut self, packet: Place) {
        if self.phase == Phase::Unvalidated {
            self.last = packet;
        }
    }

    /// The Validating phase begins, or it is over at once "if (flight_size is less than IW) or (flight_size is less than or equal to the
    /// PipeSize)" (RFC 9959 section 3.3).
    fn validate(&mut self, trigger: Trigger, in_flight: u64) -> Option<Transition> {
        if in_flight < self.initial_window || in_flight <= self.pipe_size {
            // "In the absence of detected congestion, CWND is not reduced below IW."
            let window = self.pipe_size.max(self.initial_window);
            return self.change(
                Phase::Normal,
                Some(Trigger::RateLimited),
                Some(Adjustment::Limit { window }),
            );
        }
        // RFC 9959-3.3-5: "Otherwise, the CWND MUST be set to the flight_size".
        self.change(Phase::Validating, Some(trigger), Some(Adjustment::Limit { window: in_flight }))
    }

    /// Packets were acknowledged: their bytes, the newest of them, and the bytes in flight after the acknowledgement.
    ///
    /// The PipeSize grows by the acknowledged packets of the Unvalidated phase. Those that were in flight before the jump
    /// come first, and are in it from the beginning.
    pub fn on_ack(&mut self, now: Time, acked: u64, newest: Place, in_flight: u64) -> Option<Transition> {
        self.acked += acked;
        if matches!(self.phase, Phase::Reconnaissance | Phase::Normal) {
            return None;
        }
        self.pipe_size = self.pipe_size.max(self.acked);
        match self.phase {
            Phase::Unvalidated if newest.0 > self.jumped.0 => {
                self.validate(Trigger::FirstAcknowledged, in_flight)
            }
            Phase::Unvalidated => self.before_sent(now, in_flight),
            Phase::Validating if newest >= self.last => {
                self.change(Phase::Normal, Some(Trigger::LastAcknowledged), None)
            }
            Phase::SafeRetreat if newest >= self.last => {
                // RFC 9959-3.5-3: "no larger than the most recently measured PipeSize * Beta".
                let ssthresh = (self.pipe_size as f64 * self.options.beta) as u64;
                let adjustment = Adjustment::Settle { ssthresh };
                self.change(Phase::Normal, Some(Trigger::ExitRecovery), Some(adjustment))
            }
            _ => None,
        }
    }

    /// Congestion was detected, after what the acknowledgement brought was told by [`CarefulResume::on_ack`].
    pub fn on_congestion(&mut self, congestion: Congestion) -> Option<Transition> {
        let trigger = match congestion {
            Congestion::Loss => Trigger::PacketLoss,
            Congestion::Mark => Trigger::EcnCe,
        };
        match self.phase {
            // RFC 9959-3.2-1.
            Phase::Reconnaissance if self.options.check_initial_window => {
                self.change(Phase::Normal, Some(trigger), None)
            }
            // RFC 9959-3.3-4: "the Safe Retreat Phase MUST be entered".
            Phase::Unvalidated | Phase::Validating => self.retreat(trigger),
            _ => None,
        }
    }

    /// "A sender that experiences persistent congestion [...] ceases to use Careful Resume."
    pub fn on_persistent_congestion(&mut self) -> Option<Transition> {
        if self.phase == Phase::Normal { None } else { self.change(Phase::Normal, None, None) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: u64 = 1000;
    const RTT: Duration = Duration::from_millis(600);

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    fn options() -> ResumeOptions {
        ResumeOptions {
            max_jump: u64::MAX,
            beta: 0.5,
            check_rtt: true,
            rtt_bounds: (0.5, 10.0),
            check_initial_window: true,
            seeds: false,
        }
    }

    /// A sender that has 300 packets saved and an initial window of 10, which were acknowledged: 29 packets are in flight.
    fn confirmed() -> CarefulResume {
        let saved = Saved { window: 300 * PACKET, rtt: RTT };
        let mut resume = CarefulResume::new(saved, None, 10 * PACKET, options());
        resume.on_sent((at(0), 0));
        assert_eq!(resume.on_window_limited(at(0), (10 * PACKET, 10 * PACKET), None), None);
        assert_eq!(resume.on_ack(at(600), 10 * PACKET, (at(0), 0), 0), None);
        resume.on_sent((at(600), 0));
        resume
    }

    /// The same after the jump: 150 packets are allowed, and `sent` unvalidated ones are in flight, one sent each 4 ms (600 ms /
    /// 150) from 604 ms on.
    fn jumped(sent: u64) -> CarefulResume {
        let mut resume = confirmed();
        let jump = resume.on_window_limited(at(600), (29 * PACKET, 29 * PACKET), Some(RTT)).unwrap();
        assert_eq!((jump.from, jump.to), (Phase::Reconnaissance, Phase::Unvalidated));
        assert_eq!(jump.trigger, Some(Trigger::WindowLimited));
        assert_eq!(jump.adjustment, Some(Adjustment::Jump { window: 150 * PACKET, rtt: RTT }));
        assert_eq!(resume.pipe_size(), 29 * PACKET);
        (1..=sent).for_each(|packet| {
            assert_eq!(resume.before_sent(at(600 + 4 * packet), 0), None);
            resume.on_sent((at(600 + 4 * packet), 0));
        });
        resume
    }

    /// RFC 9959 appendix A.1: 121 unvalidated packets, of which the first is acknowledged. RFC 9959-3.3-5.
    #[test]
    fn without_loss_the_window_is_validated() {
        let mut resume = jumped(121);
        // The packets before the jump are in the PipeSize already.
        assert_eq!(resume.on_ack(at(1190), 29 * PACKET, (at(600), 0), 121 * PACKET), None);
        assert_eq!(resume.pipe_size(), 29 * PACKET);
        let validating = resume.on_ack(at(1204), PACKET, (at(604), 0), 120 * PACKET).unwrap();
        assert_eq!(
            (validating.to, validating.trigger),
            (Phase::Validating, Some(Trigger::FirstAcknowledged))
        );
        assert_eq!(validating.adjustment, Some(Adjustment::Limit { window: 120 * PACKET }));
        assert_eq!(resume.pipe_size(), 30 * PACKET);
        assert_eq!(resume.on_ack(at(1680), 119 * PACKET, (at(1080), 0), 100 * PACKET), None);
        let normal = resume.on_ack(at(1684), PACKET, (at(1084), 0), 100 * PACKET).unwrap();
        assert_eq!((normal.to, normal.trigger), (Phase::Normal, Some(Trigger::LastAcknowledged)));
        assert_eq!((normal.adjustment, resume.pipe_size()), (None, 150 * PACKET));
    }

    /// The same, if the jump is used up before the first acknowledgement.
    #[test]
    fn a_jump_that_is_used_up_is_validated() {
        let mut resume = jumped(121);
        let validating = resume.on_window_limited(at(1100), (150 * PACKET, 150 * PACKET), Some(RTT)).unwrap();
        assert_eq!((validating.to, validating.trigger), (Phase::Validating, Some(Trigger::LastSent)));
        assert_eq!(validating.adjustment, Some(Adjustment::Limit { window: 150 * PACKET }));
    }

    /// RFC 9959 appendix A.2: only 50 packets are sent, and a round trip later the window is what is in flight. RFC 9959-3.3-5.
    #[test]
    fn a_sender_with_less_data_keeps_what_it_used() {
        let mut resume = jumped(50);
        assert_eq!(resume.on_ack(at(1199), 29 * PACKET, (at(600), 0), 50 * PACKET), None);
        assert_eq!(resume.before_sent(at(1200), 50 * PACKET), None);
        let validating = resume.before_sent(at(1201), 50 * PACKET).unwrap();
        assert_eq!((validating.to, validating.trigger), (Phase::Validating, Some(Trigger::RttExceeded)));
        assert_eq!(validating.adjustment, Some(Adjustment::Limit { window: 50 * PACKET }));
        let normal = resume.on_ack(at(1400), 50 * PACKET, (at(800), 0), 0).unwrap();
        assert_eq!((normal.to, normal.trigger), (Phase::Normal, Some(Trigger::LastAcknowledged)));
    }

    /// The same "by receiving an ACK for the first unvalidated packet": 49 packets are in flight then, and 30 validated.
    #[test]
    fn a_sender_with_less_data_is_validated_by_the_first_acknowledgement() {
        let mut resume = jumped(50);
        assert_eq!(resume.on_ack(at(1199), 29 * PACKET, (at(600), 0), 50 * PACKET), None);
        let validating = resume.on_ack(at(1204), PACKET, (at(604), 0), 49 * PACKET).unwrap();
        assert_eq!(
            (validating.to, validating.trigger),
            (Phase::Validating, Some(Trigger::FirstAcknowledged))
        );
        assert_eq!(validating.adjustment, Some(Adjustment::Limit { window: 49 * PACKET }));
        assert_eq!(resume.pipe_size(), 30 * PACKET);
    }

    /// Section 3.3: if the "flight_size is less than or equal to the PipeSize", then "the CWND is reset to the PipeSize".
    #[test]
    fn a_jump_that_is_hardly_used_is_taken_back() {
        let mut resume = jumped(5);
        let normal = resume.on_ack(at(1204), 30 * PACKET, (at(604), 0), 4 * PACKET).unwrap();
        assert_eq!((normal.from, normal.to), (Phase::Unvalidated, Phase::Normal));
        assert_eq!(normal.trigger, Some(Trigger::RateLimited));
        assert_eq!(normal.adjustment, Some(Adjustment::Limit { window: 30 * PACKET }));
    }

    /// Section 3.3: "flight_size is less than IW", and "CWND is not reduced below IW". Two packets were in flight at the jump and five
    /// are now, of an initial window of ten.
    #[test]
    fn a_jump_with_less_than_the_initial_window_is_taken_back() {
        let mut resume = confirmed();
        let jump = resume.on_window_limited(at(600), (29 * PACKET, 2 * PACKET), Some(RTT)).unwrap();
        assert_eq!((jump.to, resume.pipe_size()), (Phase::Unvalidated, 2 * PACKET));
        (1..=3).for_each(|packet| resume.on_sent((at(600 + 4 * packet), 0)));
        let normal = resume.before_sent(at(1201), 5 * PACKET).unwrap();
        assert_eq!((normal.to, normal.trigger), (Phase::Normal, Some(Trigger::RateLimited)));
        assert_eq!(normal.adjustment, Some(Adjustment::Limit { window: 10 * PACKET }));
    }

    /// RFC 9959-3.2-4: a sender that waits for data does not use what has expired meanwhile.
    #[test]
    fn a_lifetime_that_ends_before_the_jump_ends_it() {
        for (end, to) in [(599, Phase::Normal), (600, Phase::Unvalidated)] {
            let mut resume = CarefulResume { expires_at: Some(at(end)), ..confirmed() };
            let change = resume.on_window_limited(at(600), (29 * PACKET, 29 * PACKET), Some(RTT)).unwrap();
            assert_eq!((change.to, change.adjustment.is_some()), (to, to == Phase::Unvalidated), "{end}");
        }
    }

    /// RFC 9959 appendix A.3: "the CWND is the same as if Careful Resume had not been attempted". RFC 9959-3.2-1.
    #[test]
    fn after_loss_in_reconnaissance_nothing_changes() {
        for congestion in [Congestion::Loss, Congestion::Mark] {
            let mut resume = confirmed();
            let normal = resume.on_congestion(congestion).unwrap();
            assert_eq!((normal.to, normal.adjustment), (Phase::Normal, None));
            assert_eq!(resume.on_window_limited(at(600), (29 * PACKET, 29 * PACKET), Some(RTT)), None);
        }
    }

    /// RFC 9959 appendix A.4: the 35th of 121 unvalidated packets is lost. 34 are acknowledged, so the PipeSize is 29 + 34
    /// = 63 packets, and the window half of that. RFC 9959-3.5-1, 9959-3.5-3.
    #[test]
    fn after_loss_the_sender_retreats() {
        let mut resume = jumped(121);
        assert_eq!(resume.on_ack(at(1190), 29 * PACKET, (at(600), 0), 121 * PACKET), None);
        assert_eq!(
            resume.on_ack(at(1336), 34 * PACKET, (at(736), 0), 87 * PACKET).map(|to| to.to),
            Some(Phase::Validating)
        );
        assert_eq!(resume.pipe_size(), 63 * PACKET);
        let retreat = resume.on_congestion(Congestion::Loss).unwrap();
        assert_eq!((retreat.to, retreat.trigger), (Phase::SafeRetreat, Some(Trigger::PacketLoss)));
        assert_eq!(retreat.adjustment, Some(Adjustment::Retreat { window: 31_500 }));
        // Further losses change nothing; the PipeSize grows until the last unvalidated packet is decided.
        assert_eq!(resume.on_congestion(Congestion::Loss), None);
        assert_eq!(resume.on_ack(at(1680), 85 * PACKET, (at(1080), 0), PACKET), None);
        let normal = resume.on_ack(at(1684), PACKET, (at(1084), 0), 0).unwrap();
        assert_eq!((normal.to, normal.trigger), (Phase::Normal, Some(Trigger::ExitRecovery)));
        // Of 150 packets one is lost. The example says 120, without the 29 from before the jump; by section 3.3 they count.
        assert_eq!(resume.pipe_size(), 149 * PACKET);
        assert_eq!(normal.adjustment, Some(Adjustment::Settle { ssthresh: 74_500 }));
    }

    /// Section 3.4: "the last packet number [...] sent in the Unvalidated Phase is acknowledged", where the last ones left
    /// together: the acknowledgement of the first of them does not validate the others.
    #[test]
    fn packets_that_leave_together_are_told_apart() {
        let mut resume = confirmed();
        resume.on_window_limited(at(600), (29 * PACKET, 29 * PACKET), Some(RTT)).unwrap();
        for pair in 1..=60 {
            resume.on_sent((at(600 + 8 * pair), 2 * pair - 1));
            resume.on_sent((at(600 + 8 * pair), 2 * pair));
        }
        let validating = resume.on_ack(at(1208), 30 * PACKET, (at(608), 1), 119 * PACKET).unwrap();
        assert_eq!(validating.to, Phase::Validating);
        assert_eq!(resume.on_ack(at(1680), 118 * PACKET, (at(1080), 119), PACKET), None);
        let normal = resume.on_ack(at(1680), PACKET, (at(1080), 120), 0).unwrap();
        assert_eq!((normal.to, resume.pipe_size()), (Phase::Normal, 149 * PACKET));
    }

    /// RFC 9959-3.3-4.
    #[test]
    fn a_mark_counts_as_a_loss() {
        let mut resume = jumped(121);
        let retreat = resume.on_congestion(Congestion::Mark).unwrap();
        assert_eq!((retreat.to, retreat.trigger), (Phase::SafeRetreat, Some(Trigger::EcnCe)));
        assert_eq!(retreat.adjustment, Some(Adjustment::Retreat { window: 14_500 }));
    }

    /// RFC 9959-3.2-5: above half of the saved RTT, and up to ten times that.
    #[test]
    fn the_rtt_must_be_near_the_saved_one() {
        for (ms, confirmed_here) in
            [(299, false), (300, false), (301, true), (600, true), (6000, true), (6001, false)]
        {
            let rtt = Duration::from_millis(ms);
            let mut resume = confirmed();
            let to = resume.on_window_limited(at(600), (29 * PACKET, 29 * PACKET), Some(rtt)).map(|to| to.to);
            let expected = if confirmed_here { Phase::Unvalidated } else { Phase::Normal };
            assert_eq!(to, Some(expected), "{ms} ms");
            let unchecked = ResumeOptions { check_rtt: false, ..options() };
            let mut resume = CarefulResume { options: unchecked, ..confirmed() };
            let to = resume.on_window_limited(at(600), (29 * PACKET, 29 * PACKET), Some(rtt)).map(|to| to.to);
            assert_eq!(to, Some(Phase::Unvalidated), "{ms} ms, unchecked");
        }
    }

    /// RFC 9959-3.3-1: "the jump_cwnd MUST be no more than half of the saved_cwnd", nor more than max_jump; and it is no jump if
    /// the window is there already.
    #[test]
    fn the_jump_has_two_bounds() {
        let bounded = ResumeOptions { max_jump: 100 * PACKET, ..options() };
        let mut resume = CarefulResume { options: bounded, ..confirmed() };
        let jump = resume.on_window_limited(at(600), (29 * PACKET, 29 * PACKET), Some(RTT)).unwrap();
        assert_eq!(jump.adjustment, Some(Adjustment::Jump { window: 100 * PACKET, rtt: RTT }));
        let mut resume = confirmed();
        let normal = resume.on_window_limited(at(600), (150 * PACKET, 150 * PACKET), Some(RTT)).unwrap();
        assert_eq!((normal.to, normal.trigger, normal.adjustment), (Phase::Normal, None, None));
    }

    /// RFC 9959-3.3-3: an RTT that falls to half of the saved one shows another path.
    #[test]
    fn another_rtt_ends_the_jump() {
        let mut resume = jumped(121);
        assert_eq!(resume.on_rtt(RTT, 0, 150 * PACKET), None);
        let retreat = resume.on_rtt(Duration::from_millis(300), 0, 150 * PACKET).unwrap();
        assert_eq!((retreat.to, retreat.trigger), (Phase::SafeRetreat, Some(Trigger::PathChanged)));
    }

    /// The saved capacity at once, with its own checks.
    #[test]
    fn a_seeding_sender_takes_over_the_whole_capacity() {
        let seeds = ResumeOptions { seeds: true, check_initial_window: false, ..options() };
        let saved = Saved { window: 300 * PACKET, rtt: RTT };
        let new = |options| CarefulResume::new(saved, None, 10 * PACKET, options);
        let mut resume = new(seeds);
        assert_eq!(resume.on_window_limited(at(0), (10 * PACKET, 10 * PACKET), Some(RTT)), None);
        let normal = resume.on_rtt(RTT, 0, 10 * PACKET).unwrap();
        assert_eq!((normal.from, normal.to, normal.trigger), (Phase::Reconnaissance, Phase::Normal, None));
        assert_eq!(normal.adjustment, Some(Adjustment::Seed { window: 300 * PACKET, rtt: RTT }));
        assert_eq!(resume.on_rtt(RTT, 0, 10 * PACKET), None);
        assert_eq!(new(seeds).on_rtt(RTT, 0, 300 * PACKET).unwrap().adjustment, None);
        let refused = new(seeds).on_rtt(Duration::from_millis(300), 0, 10 * PACKET).unwrap();
        assert_eq!((refused.trigger, refused.adjustment), (Some(Trigger::RttNotValidated), None));
        let mut waits = new(ResumeOptions { check_initial_window: true, ..seeds });
        assert_eq!(waits.on_rtt(RTT, 4 * PACKET, 10 * PACKET), None);
        assert_eq!(waits.on_ack(at(600), 4 * PACKET, (at(0), 0), 0), None);
        // The acknowledgement that completes the initial window.
        assert!(waits.on_rtt(RTT, 6 * PACKET, 20 * PACKET).unwrap().adjustment.is_some());
    }

    #[test]
    fn persistent_congestion_ends_it() {
        let mut resume = jumped(121);
        assert_eq!(resume.on_persistent_congestion().map(|to| to.to), Some(Phase::Normal));
        assert_eq!(resume.on_persistent_congestion(), None);
        assert_eq!(resume.on_congestion(Congestion::Loss), None);
    }
}
