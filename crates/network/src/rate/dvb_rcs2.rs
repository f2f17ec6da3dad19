//! The return link of a satellite terminal: capacity that is requested, granted a round trip later, and used in frames.
//!
//! DVB-RCS2 (ETSI EN 301 545-2) divides time into frames. The network control centre (NCC) assigns capacity frame by frame:
//! a constant rate (CRA), what the terminal has requested (VBDC: a volume, RBDC: a rate), and free capacity (FCA) that
//! nobody has requested. At the start of each frame a terminal with a backlog sends a request, which takes effect in the
//! first frame that begins a round trip later. The capacity of a frame is a burst at the maximum rate from the start of
//! the frame; what is not used is lost.
//!
//! The link reports the length of its queue with [`DvbRcs2::note_queue`]. Nothing happens between reports: frames that
//! have passed are computed at the next one, and an idle terminal has no timer.

use super::{RateError, Server};
use std::collections::VecDeque;
use units::parameter::{Choice, Options, Row};
use units::{Duration, Rate, Time};

/// The maximum number of frames from a request to its grant.
const MAX_FRAMES: u64 = 4096;

pub(crate) const ROW: Row<super::Build> = Row {
    name: "dvb-rcs2",
    about: "the return link of a satellite terminal, which requests capacity, is granted it a round trip later and uses it in frames",
    parameters: DvbRcs2Options::PARAMETERS,
    build: &|arguments, _| {
        DvbRcs2::new(&DvbRcs2Options::of(arguments)).map(|server| Server::DvbRcs2(Box::new(server)))
    },
};

/// What a terminal requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
pub enum Request {
    /// The part of its backlog that no earlier request covers (VBDC). Volumes that do not fit into a frame wait.
    #[word("vbdc")]
    Volume,
    /// The rate that sends all of its backlog in one frame, for one frame (RBDC).
    #[word("rbdc")]
    Rate,
}

/// The options of the return link.
#[derive(Debug, Clone, Copy, Options)]
pub struct DvbRcs2Options {
    /// maximum that a frame can carry, and the rate of its burst; above zero
    #[option(default = "10 Mbit/s")]
    pub maximum: Rate,
    /// constant rate assignment, in every frame without a request; at most the maximum
    #[option(default = "0 bit/s")]
    pub cra: Rate,
    /// what a terminal requests: the volume of its backlog that no request covers yet, or the rate that sends all
    /// of its backlog in a frame
    #[option(default = "vbdc")]
    pub request: Request,
    /// free capacity that the terminal gets in every frame in addition to its requests, up to the maximum
    #[option(default = "0 bit/s")]
    pub fca: Rate,
    /// duration of a frame; above zero, at most 10 s
    #[option(default = "26.5 ms")]
    pub frame: Duration,
    /// time from a request until its grant can be used, to the NCC and back; at most 4096 frames
    #[option(default = "560 ms")]
    pub round_trip: Duration,
}

/// Bits times 10^9: rate in bit/s times nanoseconds, so that nothing is rounded on the way.
type Work = u128;

const WORK_PER_BYTE: Work = 8_000_000_000;

/// A server whose capacity is requested by the length of the queue in front of it.
#[derive(Debug, Clone)]
pub struct DvbRcs2 {
    peak: u64,
    frame: u64,
    /// Frames from a request to its grant.
    ahead: u64,
    request: Request,
    /// The work of a frame: in all, by the constant rate, and by free capacity.
    most: Work,
    steady: Work,
    free: Work,
    /// The work of the packets in the queue.
    waiting: Work,
    /// The frame of the last report.
    current: Frame,
    /// Requests and the frames in which they take effect, in the order of time.
    requests: VecDeque<(u64, Work)>,
    /// The end of the last packet.
    free_at: Time,
}

/// A frame, and what has become of its capacity.
#[derive(Debug, Clone, Copy)]
struct Frame {
    number: u64,
    assigned: Work,
    /// The work of its burst that has passed or belongs to a packet.
    taken: Work,
    /// The work of the packet in service that is left for later frames.
    rest: Work,
    /// Granted volume that is left for later frames.
    granted: Work,
}

impl DvbRcs2 {
    /// Creates an idle terminal. Its first frame begins at zero.
    ///
    /// # Errors
    /// If the maximum is zero or below the constant rate, or a duration is out of range.
    pub fn new(options: &DvbRcs2Options) -> Result<DvbRcs2, RateError> {
        let fail = |option, problem: String| Err(RateError::Option { option, problem });
        let &DvbRcs2Options { maximum, cra, fca, frame, round_trip, request } = options;
        if maximum == Rate::ZERO {
            return Err(RateError::Zero);
        }
        if cra > maximum {
            return fail("cra", format!("{cra}; expected at most the maximum, {maximum}"));
        }
        if frame.is_zero() || frame > Duration::from_secs(10) {
            return fail("frame", format!("{frame}; expected a duration above zero, at most 10 s"));
        }
        let ahead = round_trip.as_nanos().div_ceil(frame.as_nanos()).max(1);
        if ahead > MAX_FRAMES {
            return fail("round_trip", format!("{round_trip}; expected at most {MAX_FRAMES} frames"));
        }
        let work = |rate: Rate| Work::from(rate.as_bits_per_sec()) * Work::from(frame.as_nanos());
        let (most, steady, free) = (work(maximum), work(cra), work(fca));
        let assigned = most.min(steady + free);
        Ok(DvbRcs2 {
            peak: maximum.as_bits_per_sec(),
            frame: frame.as_nanos(),
            ahead,
            request,
            most,
            steady,
            free,
            waiting: 0,
            current: Frame { number: 0, assigned, taken: 0, rest: 0, granted: 0 },
            requests: VecDeque::new(),
            free_at: Time::ZERO,
        })
    }

    /// The most that it can send over time.
    pub fn rate(&self) -> Rate {
        Rate::from_bits_per_sec(self.peak)
    }

    /// Reports the bytes in the queue from `now` on. Returns the time at which the first of them can be sent.
    pub(crate) fn note_queue(&mut self, now: Time, bytes: u64) -> Time {
        self.advance(now);
        self.waiting = Work::from(bytes) * WORK_PER_BYTE;
        self.ready(now.max(self.free_at))
    }

    /// When a packet that waits at `at` can be sent. If nothing is in the queue, this is `at` or never: a packet that
    /// arrives later may have to request capacity first.
    pub(super) fn ready(&self, at: Time) -> Time {
        if at == Time::NEVER {
            return at;
        }
        let (number, mut frame, mut used) = (self.number_of(at), self.current, 0);
        while frame.number < number {
            if self.is_quiet(&frame) {
                frame = Frame { number, ..self.quiet(number) };
            } else {
                frame = self.expected(&frame, &mut used);
            }
        }
        let offset = Work::from(at.as_nanos() - frame.number * self.frame) * Work::from(self.peak);
        let passed = if at == self.free_at { frame.taken } else { frame.taken.max(offset) };
        if passed < frame.assigned {
            return at.max(self.when(frame.number, passed));
        }
        if self.waiting == 0 {
            return Time::NEVER;
        }
        // What waits is in a request of the next frame at the latest.
        loop {
            frame = self.expected(&frame, &mut used);
            if frame.taken < frame.assigned {
                return self.when(frame.number, frame.taken);
            }
        }
    }

    pub(super) fn serve(&mut self, start: Time, size: u32) -> Time {
        self.advance(start);
        let work = Work::from(size) * WORK_PER_BYTE;
        let offset = start.as_nanos() - self.current.number * self.frame;
        if start != self.free_at {
            self.current.taken = self.current.taken.max(Work::from(offset) * Work::from(self.peak));
        }
        let here = work.min(self.current.assigned.saturating_sub(self.current.taken));
        self.current.taken += here;
        self.current.rest = work - here;
        let (mut frame, mut used) = (self.current, 0);
        while frame.rest > 0 && frame.number != u64::MAX {
            if frame.number > self.current.number + self.ahead {
                // All of it has been requested: from here on it fills frames.
                let whole = (frame.rest - 1) / self.most;
                frame.number = frame.number.saturating_add(u64::try_from(whole).unwrap_or(u64::MAX));
                frame.rest -= whole * self.most;
            }
            frame = self.expected(&frame, &mut used);
        }
        self.free_at = self.when(frame.number, frame.taken).max(start);
        self.free_at
    }

    fn number_of(&self, at: Time) -> u64 {
        at.as_nanos() / self.frame
    }

    /// The first nanosecond at which this work of a frame is done.
    fn when(&self, number: u64, taken: Work) -> Time {
        let inside = taken.div_ceil(Work::from(self.peak));
        let at = Work::from(number) * Work::from(self.frame) + inside;
        u64::try_from(at).map_or(Time::NEVER, Time::from_nanos)
    }

    /// Whether nothing is sent, waits or is granted, so that all later frames are alike.
    fn is_quiet(&self, frame: &Frame) -> bool {
        self.waiting == 0 && frame.rest == 0 && frame.granted == 0 && self.requests.is_empty()
    }

    /// A frame without grants and packets.
    fn quiet(&self, number: u64) -> Frame {
        Frame { number, assigned: self.most.min(self.steady + self.free), taken: 0, rest: 0, granted: 0 }
    }

    /// Computes the frames that have begun by `now`.
    fn advance(&mut self, now: Time) {
        let number = self.number_of(now);
        while self.current.number < number {
            if self.is_quiet(&self.current) {
                self.current = self.quiet(number);
                return;
            }
            let next = self.current.number + 1;
            self.send_request(next);
            let due = self.requests.front().is_some_and(|(due, _)| *due <= next);
            let request = if due { self.requests.pop_front() } else { None };
            self.current = self.following(&self.current, request.map_or(0, |(_, work)| work));
            debug_assert!(self.current.assigned <= self.most, "a frame carries no more than it can");
        }
    }

    /// Requests capacity at the start of a frame.
    fn send_request(&mut self, number: u64) {
        let backlog = self.waiting + self.current.rest;
        let work = match self.request {
            Request::Rate => backlog.min(self.most),
            Request::Volume => {
                let under_way: Work = self.requests.iter().map(|(_, work)| work).sum();
                backlog.saturating_sub(self.current.granted + under_way)
            }
        };
        if work > 0 {
            let last = self.requests.back().map(|(due, _)| *due);
            debug_assert!(last < Some(number + self.ahead), "requests take effect one after the other");
            self.requests.push_back((number + self.ahead, work));
        }
    }

    /// The frame after `frame`, with the grant that takes effect in it.
    fn following(&self, frame: &Frame, grant: Work) -> Frame {
        let granted = grant + if self.request == Request::Volume { frame.granted } else { 0 };
        let given = granted.min(self.most - self.steady);
        let assigned = self.most.min(self.steady + given + self.free);
        let taken = frame.rest.min(assigned);
        let granted = if self.request == Request::Volume { granted - given } else { 0 };
        Frame { number: frame.number + 1, assigned, taken, rest: frame.rest - taken, granted }
    }

    /// The frame after `frame` as far as it is known: by the requests sent so far, of which `used` have taken effect, and by
    /// that of the frame after the current one, which covers all that waits. Later packets change nothing about the
    /// capacity that the present ones use.
    fn expected(&self, frame: &Frame, used: &mut usize) -> Frame {
        let next = frame.number + 1;
        if next > self.current.number + self.ahead && (self.waiting > 0 || frame.rest > 0) {
            let taken = frame.rest.min(self.most);
            return Frame {
                number: next,
                assigned: self.most,
                taken,
                rest: frame.rest - taken,
                granted: frame.granted,
            };
        }
        let due = self.requests.get(*used).filter(|(due, _)| *due <= next);
        *used += usize::from(due.is_some());
        self.following(frame, due.map_or(0, |(_, work)| *work))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exits::Exits;
    use crate::link::{Link, LinkOptions};
    use crate::packet::Packet;
    use trace::Interest;
    use units::Size;
    use units::parameter::{Arguments, Component, Value};

    /// Frames of 10 ms at 12 Mbit/s hold ten packets of 1500 bytes, each of 1 ms; a grant takes 50 ms.
    fn options() -> DvbRcs2Options {
        DvbRcs2Options {
            maximum: "12 Mbit/s".parse().unwrap(),
            cra: Rate::ZERO,
            fca: Rate::ZERO,
            frame: Duration::from_millis(10),
            round_trip: Duration::from_millis(50),
            request: Request::Volume,
        }
    }
    fn ms(n: u64) -> Time {
        Time::from_nanos(n * 1_000_000)
    }

    /// The ends of transmission of packets of 1500 bytes that arrive at these times in milliseconds, in the order of
    /// service, in microseconds.
    fn ends(options: &DvbRcs2Options, arrivals: &[u64]) -> Vec<u64> {
        ends_of(options, arrivals, 1500)
    }
    fn ends_of(options: &DvbRcs2Options, arrivals: &[u64], size: u32) -> Vec<u64> {
        let offered: Vec<(Time, u32)> = arrivals.iter().map(|at| (ms(*at), size)).collect();
        served(options, &offered).iter().map(|end| end.as_nanos() / 1000).collect()
    }

    /// The ends of transmission of packets of these sizes that arrive at these times at a queue.
    fn served(options: &DvbRcs2Options, offered: &[(Time, u32)]) -> Vec<Time> {
        let mut server = DvbRcs2::new(options).unwrap();
        let (mut queue, mut next, mut ends) = (VecDeque::new(), Time::NEVER, Vec::new());
        let bytes = |queue: &VecDeque<u32>| queue.iter().map(|size| u64::from(*size)).sum();
        let mut coming = offered.iter().copied().peekable();
        while coming.peek().is_some() || !queue.is_empty() {
            match coming.peek() {
                Some(&(at, size)) if queue.is_empty() || at < next => {
                    coming.next();
                    queue.push_back(size);
                    next = server.note_queue(at, bytes(&queue));
                }
                _ => {
                    let size = queue.pop_front().unwrap();
                    server.note_queue(next, bytes(&queue));
                    let end = server.serve(next, size);
                    ends.push(end);
                    next = server.ready(end);
                }
            }
        }
        ends
    }

    /// The same by a simulation of frame after frame, which looks at nothing ahead of time.
    fn served_plainly(options: &DvbRcs2Options, offered: &[(Time, u32)]) -> Vec<Time> {
        let (frame, peak) = (options.frame.as_nanos(), options.maximum.as_bits_per_sec());
        let of = |rate: Rate| Work::from(rate.as_bits_per_sec()) * Work::from(frame);
        let (most, steady, free) = (of(options.maximum), of(options.cra), of(options.fca));
        let ahead = options.round_trip.as_nanos().div_ceil(frame).max(1);
        let work = |(_, size): &(Time, u32)| Work::from(*size) * WORK_PER_BYTE;
        let (mut requests, mut granted) = (VecDeque::from(vec![0; ahead as usize]), 0);
        let (mut ends, mut rest) = (Vec::new(), work(&offered[0]));
        for number in 0.. {
            let start = Time::from_nanos(number * frame);
            let next = ends.len();
            let arrived = offered[next..].iter().take_while(|(at, _)| *at < start).map(work);
            let backlog: Work = arrived.enumerate().map(|(at, work)| if at == 0 { rest } else { work }).sum();
            let request = match options.request {
                Request::Rate => backlog.min(most),
                Request::Volume => backlog.saturating_sub(granted + requests.iter().sum::<Work>()),
            };
            // The first frame begins with the simulation.
            requests.push_back(if number == 0 { 0 } else { request });
            granted =
                requests.pop_front().unwrap() + if options.request == Request::Volume { granted } else { 0 };
            let given = granted.min(most - steady);
            granted -= given;
            let (assigned, mut taken): (Work, Work) = (most.min(steady + given + free), 0);
            while let Some((at, _)) = offered.get(ends.len()) {
                let until = Time::from_nanos(
                    start.as_nanos() + u64::try_from(taken.div_ceil(Work::from(peak))).unwrap(),
                );
                if *at > until {
                    taken = Work::from(at.as_nanos() - start.as_nanos()) * Work::from(peak);
                }
                if taken >= assigned {
                    break;
                }
                let part = rest.min(assigned - taken);
                taken += part;
                rest -= part;
                if rest > 0 {
                    break;
                }
                let end = u64::try_from(taken.div_ceil(Work::from(peak))).unwrap();
                ends.push(Time::from_nanos(start.as_nanos() + end));
                rest = offered.get(ends.len()).map_or(0, work);
            }
            if ends.len() == offered.len() {
                break;
            }
        }
        ends
    }

    #[test]
    fn what_is_computed_ahead_of_time_is_what_a_plain_simulation_finds() {
        let mut draws = random::Generator::new(1, "return link");
        let mut rate = |choices: &[&str]| -> Rate {
            choices[draws.below(choices.len() as u64) as usize].parse().unwrap()
        };
        for case in 0..400 {
            let options = DvbRcs2Options {
                maximum: rate(&["12 Mbit/s", "300 kbit/s", "7.77 Mbit/s"]),
                cra: rate(&["0 bit/s", "0 bit/s", "33.3 kbit/s", "250 kbit/s"]),
                fca: rate(&["0 bit/s", "0 bit/s", "20 kbit/s", "1 Mbit/s"]),
                frame: Duration::from_micros([10_000, 3_700, 26_500][case % 3]),
                round_trip: Duration::from_micros([0, 50_000, 9_100, 200_000][case / 3 % 4]),
                request: if case % 2 == 0 { Request::Volume } else { Request::Rate },
            };
            let mut draws = random::Generator::new(case as u64, "packets");
            let mut at = 0;
            let offered: Vec<(Time, u32)> = (0..60)
                .map(|_| {
                    at += [0, 1, 700_000, 10_000_000, 40_000_000, 500_000_000][draws.below(6) as usize];
                    (Time::from_nanos(at), 1 + draws.below(3000) as u32)
                })
                .collect();
            assert_eq!(served(&options, &offered), served_plainly(&options, &offered), "{case}: {options:?}");
        }
    }

    #[test]
    fn the_first_packet_after_a_pause_waits_for_the_next_frame_a_round_trip_and_its_burst() {
        // Requested at 10 ms, granted at 60 ms, sent in 1 ms.
        assert_eq!(ends(&options(), &[1]), [61_000]);
        // An arrival at the start of a frame is too late for its request.
        assert_eq!(ends(&options(), &[10]), [71_000]);
        // Three packets in one request, and one more in the next.
        assert_eq!(ends(&options(), &[1, 2, 9, 11]), [61_000, 62_000, 63_000, 71_000]);
        // Long after the first one everything starts again.
        assert_eq!(ends(&options(), &[1, 1001]), [61_000, 1_061_000]);
    }

    #[test]
    fn the_numbers_of_dvb_rcs2() {
        let geo = DvbRcs2Options {
            maximum: "10 Mbit/s".parse().unwrap(),
            frame: Duration::from_micros(26_500),
            round_trip: Duration::from_millis(560),
            ..options()
        };
        // The request leaves with frame 1. 560 ms are 21.1 frames, so that its grant holds in frame 23, at 609.5 ms;
        // 1500 bytes take 1.2 ms there.
        assert_eq!(ends(&geo, &[1]), [610_700]);
        // 64 kbit/s are 212 bytes in each frame: 1500 bytes take seven frames and 16 bytes of the eighth, which begins
        // at 185.5 ms, if the burst of the first frame has not passed.
        let constant = DvbRcs2Options { cra: "64 kbit/s".parse().unwrap(), ..geo };
        assert_eq!(ends(&constant, &[0]), [185_512]);
        // Free capacity of 1 Mbit/s is 3312.5 bytes in each frame: the packet does not wait for its grant.
        let free = DvbRcs2Options { fca: "1 Mbit/s".parse().unwrap(), ..geo };
        assert_eq!(ends(&free, &[1, 20]), [2_200, 27_700]);
    }

    #[test]
    fn a_frame_holds_no_more_than_the_maximum_and_the_rest_of_a_grant_waits() {
        // Twelve packets in one request: ten in the frame at 60 ms, two in the next one.
        let twelve = ends(&options(), &[1; 12]);
        assert_eq!((twelve[0], twelve[9], twelve[10], twelve[11]), (61_000, 70_000, 71_000, 72_000));
        // A packet that is larger than a frame: 30,000 bytes take two frames.
        assert_eq!(ends_of(&options(), &[1], 30_000), [80_000]);
        let small = DvbRcs2Options { maximum: "1 kbit/s".parse().unwrap(), ..options() };
        // A frame of 10 bits: 12,000 bits are 1200 frames from 60 ms on.
        assert_eq!(ends(&small, &[1]), [12_060_000]);
    }

    #[test]
    fn the_constant_rate_serves_while_the_request_is_under_way_and_spares_nothing_of_it() {
        // 1.2 Mbit/s are one packet in each frame: the packets of one instant leave with frames 1 to 5; the grant for
        // all ten has come with frame 6.
        let constant = DvbRcs2Options { cra: "1.2 Mbit/s".parse().unwrap(), ..options() };
        let ten = ends(&constant, &[2; 10]);
        assert_eq!(ten, [11_000, 21_000, 31_000, 41_000, 51_000, 61_000, 62_000, 63_000, 64_000, 65_000]);
    }

    #[test]
    fn a_rate_is_requested_for_the_whole_backlog_in_every_frame() {
        let rate = DvbRcs2Options { request: Request::Rate, ..options() };
        assert_eq!(ends(&rate, &[1, 2]), [61_000, 62_000]);
        // The backlog was requested at 10, 20, ... 60 ms, so that the frames at 60, 70, ... 110 ms can carry it. The second
        // packet was requested at 70 ms for the frame at 120 ms, the third at 110 ms for that at 160 ms.
        assert_eq!(ends(&rate, &[1, 65, 105, 115, 125]), [61_000, 71_000, 111_000, 121_000, 161_000]);
        // A volume is requested once.
        assert_eq!(ends(&options(), &[1, 65]), [61_000, 121_000]);
    }

    /// A link in front of the server reports its queue.
    #[test]
    fn a_link_waits_for_its_grant() {
        let rate = [
            ("maximum", Value::Rate("12 Mbit/s".parse().unwrap())),
            ("frame", Value::Duration(Duration::from_millis(10))),
            ("round_trip", Value::Duration(Duration::from_millis(50))),
        ];
        let rooms = crate::rooms();
        let arguments = Arguments::filled(ROW.parameters, &rate, &rooms).unwrap();
        let rate = Component { room: "rates", name: ROW.name, arguments };
        let delay = Value::Duration(Duration::from_millis(5));
        let given = [("rate", Value::Component(rate)), ("delay", delay)];
        let arguments = Arguments::filled(crate::LINK, &given, &rooms).unwrap();
        let options = LinkOptions {
            arguments: &arguments,
            round_trip: Duration::from_millis(100),
            seed: 1,
            name: "link a forward",
            shared: "link a",
            flows: &[],
            delays: false,
            interest: Interest::NONE,
        };
        let (mut link, mut exits) = (Link::new(&options).unwrap(), Exits::default());
        assert_eq!(link.wake_at(), None, "nothing to send, no timer");
        let mut arrivals = Vec::new();
        for at in [1, 2, 500] {
            while let Some(due) = link.wake_at().filter(|due| *due <= ms(at)) {
                link.wake(due, &mut exits);
                arrivals.push(due);
            }
            let address = ([10, 0, 0, 1], 1).into();
            let packet = Packet::new(address, address, vec![0; 1472], None);
            link.accept(ms(at), packet, &mut exits);
        }
        while let Some(due) = link.wake_at() {
            link.wake(due, &mut exits);
            arrivals.push(due);
        }
        // A departure from the queue is a timer of its own where nothing is in flight.
        arrivals.retain(|at| at.as_nanos() % 10_000_000 != 0);
        assert_eq!(arrivals, [ms(66), ms(67), ms(566)]);
        assert_eq!(link.mean_rate(), Some("12 Mbit/s".parse().unwrap()));
        assert_eq!(link.capacity(ms(0), ms(1)), Some(Size::from_bytes(1500)));
    }

    #[test]
    fn options_that_make_no_sense_are_refused() {
        let error = |options: DvbRcs2Options| {
            let error = DvbRcs2::new(&options).unwrap_err();
            (error.option(), error.to_string())
        };
        assert_eq!(error(DvbRcs2Options { maximum: Rate::ZERO, ..options() }).0, None);
        assert_eq!(
            error(DvbRcs2Options { cra: "13 Mbit/s".parse().unwrap(), ..options() }),
            (Some("cra"), "13 Mbit/s; expected at most the maximum, 12 Mbit/s".to_owned())
        );
        assert_eq!(error(DvbRcs2Options { frame: Duration::ZERO, ..options() }).0, Some("frame"));
        let far = DvbRcs2Options { round_trip: Duration::from_secs(41), ..options() };
        assert_eq!(error(far), (Some("round_trip"), "41 s; expected at most 4096 frames".to_owned()));
    }
}
