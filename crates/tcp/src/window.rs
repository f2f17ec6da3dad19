//! The receive window: its advertisement and its growth with the reading rate (RFC 9293 section 3.8.6).

use units::{Duration, Time};

/// The receive window.
#[derive(Debug, Clone)]
pub(crate) struct Window {
    /// The maximum of unread and acceptable bytes.
    size: u64,
    most: u64,
    /// The right edge that the buffer had room for when it last moved.
    room: u64,
    /// The highest advertised right edge: data before it is accepted (RFC 7323 section 2.4).
    edge: u64,
    /// The minimum advance of the edge (RFC 9293 section 3.8.6.2.2).
    step: u64,
    /// The shift of the window field (RFC 7323 section 2.2).
    shift: u8,
    /// Dynamic right-sizing; `None` if the size is fixed.
    tuning: Option<Tuning>,
}

/// The bytes read per round trip (W. Feng et al., "Dynamic Right-Sizing", 2001).
#[derive(Debug, Clone, Copy)]
struct Tuning {
    rtt: Option<Duration>,
    /// The start of the round, and the bytes read by then.
    round: (Time, u64),
    /// The maximum of bytes read in a round.
    taken: u64,
}

impl Window {
    /// The window according to the options: at least two segments, and at most what the largest shift can express.
    pub(crate) fn of(size: u64, most: u64, mss: u16) -> Window {
        Window::new(size.max(2 * u64::from(mss)), most.min(1 << 30))
    }

    /// Creates a window of `size` bytes that may grow to `most`.
    pub(crate) fn new(size: u64, most: u64) -> Window {
        let most = most.max(size);
        let tuning = (most > size).then_some(Tuning { rtt: None, round: (Time::ZERO, 1), taken: size / 2 });
        Window { size, most, room: 0, edge: 0, step: 1, shift: 0, tuning }
    }

    /// The shift for the largest window (RFC 7323 section 2.3: at most 14).
    pub(crate) fn wanted_shift(&self) -> u8 {
        (0..14).find(|shift| self.most >> shift <= u64::from(u16::MAX)).unwrap_or(14)
    }

    /// Sets the negotiated shift; without scaling the window is at most 65535. The edge advances by at least a segment
    /// or half of the window.
    pub(crate) fn agree(&mut self, shift: Option<u8>, mss: u64) {
        self.shift = shift.unwrap_or(0);
        self.most = self.most.min(u64::from(u16::MAX) << self.shift);
        self.size = self.size.min(self.most);
        self.step = mss.min(self.size / 2).max(1);
    }

    /// Stops if the window is larger than it can be, or advertised further than its buffer has room.
    pub(crate) fn check(&self) {
        assert!(self.size <= self.most, "a window grows up to its maximum");
        assert!(self.shift <= 14, "no shift is larger (RFC 7323 section 2.3)");
        let limit = self.room + self.step.max(1 << self.shift);
        assert!(
            self.edge <= limit,
            "the edge is where the buffer has room, or rounded up by less than a unit"
        );
    }

    /// The advertised right edge.
    #[inline]
    pub(crate) fn edge(&self) -> u64 {
        self.edge
    }

    /// Returns the window field of a segment (unscaled in a SYN), for the next expected number and the unread bytes,
    /// and advances the edge. The edge never moves back (RFC 9293 section 3.8.6: "A TCP receiver SHOULD NOT shrink the
    /// window"): if it is not a multiple of the field's unit, it is rounded up.
    #[inline]
    pub(crate) fn advertise(&mut self, next: u64, unread: u64, syn: bool) -> u16 {
        let shift = if syn { 0 } else { self.shift };
        let most = u64::from(u16::MAX);
        if let Some(wanted) = self.wanted_room(next, unread) {
            let (span, exact) = (wanted - next, ((wanted - next) >> shift).min(most) << shift);
            // If a unit exceeds the whole room, round up instead of never advertising it.
            let room = if exact == 0 && span >= self.step { span } else { exact };
            self.room = self.room.max(next + room);
        }
        // Rounding up with every segment must not outgrow the buffer; so the edge may eventually move back, by less
        // than a unit (RFC 7323 section 2.4).
        let limit = self.room + self.step.max(1 << shift);
        let exact = self.edge.max(self.room).saturating_sub(next).div_ceil(1 << shift);
        let field = exact.min(limit.saturating_sub(next) >> shift).min(most);
        self.edge = self.edge.max(next + (field << shift));
        field as u16
    }

    /// The desired right edge, if it is far enough ahead to move there.
    #[inline]
    fn wanted_room(&self, next: u64, unread: u64) -> Option<u64> {
        let wanted = (next + self.size).saturating_sub(unread);
        (wanted >= (self.room + self.step).max(next)).then_some(wanted)
    }

    /// RFC 9293 section 3.8.6.2.2: whether to send a window update: if the gain is at least the minimum of half the
    /// window and two segments.
    #[inline]
    pub(crate) fn should_update(&self, next: u64, unread: u64, mss: u64) -> bool {
        let gained = self.wanted_room(next, unread).map_or(0, |wanted| wanted.saturating_sub(self.edge));
        let advertised = self.edge.saturating_sub(next);
        gained >= (self.size / 2).min(2 * mss).max(1) && advertised < self.size / 2
    }

    /// Takes an RTT sample of the receiver, from the handshake or from an echoed timestamp.
    #[inline]
    pub(crate) fn on_rtt(&mut self, sample: Duration) {
        if let Some(tuning) = &mut self.tuning {
            tuning.rtt = Some(tuning.rtt.map_or(sample, |known| (known * 7 + sample) / 8));
        }
    }

    /// Everything before this number was read. Once per round trip the window becomes twice what was read in it, and
    /// more while that grows, so that it never limits a sender in slow start.
    #[inline]
    pub(crate) fn on_read(&mut self, now: Time, read: u64) {
        let Some(tuning) = &mut self.tuning else { return };
        let Some(rtt) = tuning.rtt else { return };
        let (began, from) = tuning.round;
        if now.since(began) < rtt {
            return;
        }
        debug_assert!(from <= read, "what was read stays read");
        let taken = read - from;
        tuning.round = (now, read);
        if taken > tuning.taken {
            // Twice the bytes of the round, plus their rate of growth.
            let growth = 2 * taken * (taken - tuning.taken) / tuning.taken.max(1);
            tuning.taken = taken;
            self.size = self.size.max((2 * taken + growth).min(self.most));
        }
    }

    /// The size of the window.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn shifts_are_as_large_as_necessary() {
        for (most, shift) in [(65_535, 0), (65_536, 1), (16_000_000, 8), (1 << 30, 14), (1 << 40, 14)] {
            assert_eq!(Window::new(4096, most).wanted_shift(), shift);
        }
        let mut window = Window::new(100_000, 16_000_000);
        window.agree(None, 1000);
        assert_eq!(window.advertise(1, 0, false), 65_535);
    }

    /// RFC 9293 section 3.8.6: the right edge does not move back, however much is unread.
    #[test]
    fn the_edge_never_moves_back() {
        let mut window = Window::new(60_000, 60_000);
        window.agree(Some(4), 1);
        let mut edge = 0;
        for (next, unread) in
            [(1, 0), (1449, 1448), (20_001, 20_000), (20_001, 100), (60_001, 60_000), (60_001, 0)]
        {
            let advertised = next + (u64::from(window.advertise(next, unread, false)) << 4);
            assert!(
                advertised >= edge && advertised + 16 > edge && advertised <= next + 60_016,
                "{next} {unread}"
            );
            edge = advertised;
        }
        assert_eq!(window.advertise(200_001, 60_000, false), 0);
    }

    /// RFC 9293 section 3.8.6.2.2.
    #[test]
    fn a_window_opens_in_steps() {
        let mut window = Window::new(10_000, 10_000);
        window.agree(None, 1000);
        window.advertise(1, 0, false);
        window.advertise(10_001, 9999, false);
        assert_eq!(window.edge(), 10_001, "a byte is not advertised");
        assert!(!window.should_update(1, 0, 1000));
        assert!(!window.should_update(10_001, 9000, 1000), "one segment");
        assert!(window.should_update(10_001, 8000, 1000));
        assert!(!window.should_update(4001, 0, 1000), "there is plenty");
    }

    /// RFC 9293 section 3.8.6.2.2: room for a segment is advertised even if the unit exceeds the whole buffer, and
    /// unread data is limited to the buffer plus a unit (RFC 7323 section 2.4).
    #[test]
    fn a_unit_larger_than_the_buffer_does_not_keep_the_window_closed() {
        let mut window = Window::new(8192, 1 << 30);
        window.agree(Some(14), 1000);
        assert_eq!((window.advertise(1, 0, true), window.advertise(1, 0, false)), (8192, 1));
        assert_eq!((window.advertise(5001, 5000, false), window.edge()), (1, 5001 + 16_384));
        assert_eq!(window.advertise(10_001, 10_000, false), 0);
        assert_eq!((window.advertise(21_385, 21_384, false), window.edge()), (0, 21_385));
        assert_eq!(window.advertise(21_385, 13_500, false), 0, "no room for a segment");
        assert!(window.should_update(21_385, 0, 1000));
        assert_eq!((window.advertise(21_385, 0, false), window.edge()), (1, 21_385 + 16_384));
    }

    #[test]
    fn the_window_grows_with_the_reading_rate() {
        let mut window = Window::new(64_000, 1_000_000);
        window.on_rtt(Duration::from_millis(100));
        let mut read = 1;
        for (round, taken) in [14_000, 28_000, 56_000, 112_000, 112_000, 50_000].into_iter().enumerate() {
            read += taken;
            window.on_read(at(100 * (round as u64 + 1)), read);
        }
        // 56,000 against 32,000: 112,000 and 84,000; then 112,000 against 56,000: 224,000 and 224,000.
        assert_eq!(window.size(), 448_000);
        window.on_read(at(650), read + 1_000_000);
        assert_eq!(window.size(), 448_000, "not before the round is over");
        window.on_read(at(800), read + 1_000_000);
        assert_eq!(window.size(), 1_000_000);
        let mut fixed = Window::new(64_000, 64_000);
        fixed.on_rtt(Duration::from_millis(100));
        fixed.on_read(at(200), 1_000_000);
        assert_eq!(fixed.size(), 64_000);
    }
}
