//! The receive window: what the peer is told, and how it grows with what the reader takes (RFC 9293 section 3.8.6).

use units::{Duration, Time};

/// The window of the receiving side.
#[derive(Debug, Clone)]
pub(crate) struct Window {
    /// How much may lie between reader and peer.
    size: u64,
    most: u64,
    /// The right edge that there was room for when it moved last.
    room: u64,
    /// The furthest right edge that the peer was told of: what lies before it is taken (RFC 7323 section 2.4).
    edge: u64,
    /// The least by which the edge moves (RFC 9293 section 3.8.6.2.2).
    step: u64,
    /// The shift of the field (RFC 7323 section 2.2).
    shift: u8,
    /// Dynamic right-sizing; `None`: the window stays as it is.
    tuning: Option<Tuning>,
}

/// How much the reader takes in a round trip (W. Feng et al., "Dynamic Right-Sizing", 2001).
#[derive(Debug, Clone, Copy)]
struct Tuning {
    rtt: Option<Duration>,
    /// When the round began, and what had been read then.
    round: (Time, u64),
    /// The most that was read in a round.
    taken: u64,
}

impl Window {
    /// As the options say: two segments at least, and no more than the largest shift can tell of.
    pub(crate) fn of(size: u64, most: u64, mss: u16) -> Window {
        Window::new(size.max(2 * u64::from(mss)), most.min(1 << 30))
    }

    /// A window of `size` bytes that may grow to `most`.
    pub(crate) fn new(size: u64, most: u64) -> Window {
        let most = most.max(size);
        let tuning = (most > size).then_some(Tuning { rtt: None, round: (Time::ZERO, 1), taken: size / 2 });
        Window { size, most, room: 0, edge: 0, step: 1, shift: 0, tuning }
    }

    /// The shift that lets the field tell of the largest window (RFC 7323 section 2.3: at most 14).
    pub(crate) fn wanted_shift(&self) -> u8 {
        (0..14).find(|shift| self.most >> shift <= u64::from(u16::MAX)).unwrap_or(14)
    }

    /// Both sides scale: from now on fields are shifted. Without scaling there is no window above 65535. The edge moves by a
    /// segment or half of the window at least.
    pub(crate) fn agree(&mut self, shift: Option<u8>, mss: u64) {
        self.shift = shift.unwrap_or(0);
        self.most = self.most.min(u64::from(u16::MAX) << self.shift);
        self.size = self.size.min(self.most);
        self.step = mss.min(self.size / 2).max(1);
    }

    /// The right edge that the peer was told of.
    #[inline]
    pub(crate) fn edge(&self) -> u64 {
        self.edge
    }

    /// What a segment says now, given the next number that is expected and what waits for its reader: the field, which is
    /// not scaled in a SYN. The edge moves with it, and not back (RFC 9293 section 3.8.6: a TCP peer SHOULD NOT shrink the
    /// window): where the field's unit does not meet it, it is rounded up.
    #[inline]
    pub(crate) fn tell(&mut self, next: u64, unread: u64, syn: bool) -> u16 {
        let shift = if syn { 0 } else { self.shift };
        let most = u64::from(u16::MAX);
        if let Some(wanted) = self.wanted_room(next, unread) {
            let (span, exact) = (wanted - next, ((wanted - next) >> shift).min(most) << shift);
            // Where a unit is more than all the room, that is rounded up rather than never told of.
            let room = if exact == 0 && span >= self.step { span } else { exact };
            self.room = self.room.max(next + room);
        }
        // What is rounded up with each segment must not outgrow the buffer, so that in the end the edge does go back, by less than
        // a unit (RFC 7323 section 2.4).
        let limit = self.room + self.step.max(1 << shift);
        let exact = self.edge.max(self.room).saturating_sub(next).div_ceil(1 << shift);
        let field = exact.min(limit.saturating_sub(next) >> shift).min(most);
        self.edge = self.edge.max(next + (field << shift));
        field as u16
    }

    /// Where the right edge should be, if there is so much more room that it is worth while to move it.
    #[inline]
    fn wanted_room(&self, next: u64, unread: u64) -> Option<u64> {
        let wanted = (next + self.size).saturating_sub(unread);
        (wanted >= (self.room + self.step).max(next)).then_some(wanted)
    }

    /// RFC 9293 section 3.8.6.2.2: whether there is so much more room than the peer was told of that it should hear of it
    /// now: the least of half the window and two segments.
    #[inline]
    pub(crate) fn should_update(&self, next: u64, unread: u64, mss: u64) -> bool {
        let gained = self.wanted_room(next, unread).map_or(0, |wanted| wanted.saturating_sub(self.edge));
        let told = self.edge.saturating_sub(next);
        gained >= (self.size / 2).min(2 * mss).max(1) && told < self.size / 2
    }

    /// An RTT as the receiver sees it: that of the handshake, or from the echo of a timestamp.
    #[inline]
    pub(crate) fn on_rtt(&mut self, sample: Duration) {
        if let Some(tuning) = &mut self.tuning {
            tuning.rtt = Some(tuning.rtt.map_or(sample, |known| (known * 7 + sample) / 8));
        }
    }

    /// The reader has taken all before this number: once in a round trip the window becomes twice what was taken in it, and
    /// more while that grows, so that it never holds a sender in slow start.
    #[inline]
    pub(crate) fn on_read(&mut self, now: Time, read: u64) {
        let Some(tuning) = &mut self.tuning else { return };
        let Some(rtt) = tuning.rtt else { return };
        let (began, from) = tuning.round;
        if now.since(began) < rtt {
            return;
        }
        let taken = read.saturating_sub(from);
        tuning.round = (now, read);
        if taken > tuning.taken {
            // Twice for the next round's growth, and by the rate at which it grew.
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
    fn shifts_are_as_large_as_they_must_be() {
        for (most, shift) in [(65_535, 0), (65_536, 1), (16_000_000, 8), (1 << 30, 14), (1 << 40, 14)] {
            assert_eq!(Window::new(4096, most).wanted_shift(), shift);
        }
        let mut window = Window::new(100_000, 16_000_000);
        window.agree(None, 1000);
        assert_eq!(window.tell(1, 0, false), 65_535);
    }

    /// RFC 9293 section 3.8.6: the right edge does not move back, whatever waits to be read.
    #[test]
    fn the_edge_never_moves_back() {
        let mut window = Window::new(60_000, 60_000);
        window.agree(Some(4), 1);
        let mut edge = 0;
        for (next, unread) in
            [(1, 0), (1449, 1448), (20_001, 20_000), (20_001, 100), (60_001, 60_000), (60_001, 0)]
        {
            let told = next + (u64::from(window.tell(next, unread, false)) << 4);
            assert!(told >= edge && told + 16 > edge && told <= next + 60_016, "{next} {unread}");
            edge = told;
        }
        assert_eq!(window.tell(200_001, 60_000, false), 0);
    }

    /// RFC 9293 section 3.8.6.2.2.
    #[test]
    fn a_window_opens_in_steps() {
        let mut window = Window::new(10_000, 10_000);
        window.agree(None, 1000);
        window.tell(1, 0, false);
        window.tell(10_001, 9999, false);
        assert_eq!(window.edge(), 10_001, "a byte is not told of");
        assert!(!window.should_update(1, 0, 1000));
        assert!(!window.should_update(10_001, 9000, 1000), "one segment");
        assert!(window.should_update(10_001, 8000, 1000));
        assert!(!window.should_update(4001, 0, 1000), "there is plenty");
    }

    /// RFC 9293 section 3.8.6.2.2: room for a segment is told of, also where the unit is more than the whole buffer; and what waits stays
    /// within the buffer and a unit (RFC 7323 section 2.4).
    #[test]
    fn a_unit_larger_than_the_buffer_does_not_keep_the_window_closed() {
        let mut window = Window::new(8192, 1 << 30);
        window.agree(Some(14), 1000);
        assert_eq!((window.tell(1, 0, true), window.tell(1, 0, false)), (8192, 1));
        assert_eq!((window.tell(5001, 5000, false), window.edge()), (1, 5001 + 16_384));
        assert_eq!(window.tell(10_001, 10_000, false), 0);
        assert_eq!((window.tell(21_385, 21_384, false), window.edge()), (0, 21_385));
        assert_eq!(window.tell(21_385, 13_500, false), 0, "no room for a segment");
        assert!(window.should_update(21_385, 0, 1000));
        assert_eq!((window.tell(21_385, 0, false), window.edge()), (1, 21_385 + 16_384));
    }

    #[test]
    fn the_window_follows_its_reader() {
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
