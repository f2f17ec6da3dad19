//! RACK: time-based loss detection (RFC 8985 section 6).

use crate::scoreboard::{Scoreboard, Segment};
use units::{Duration, Time};

/// The number of selectively acknowledged segments from which on RACK does not wait for reordering, unless reordering
/// has been observed (RFC 8985 section 6.2, step 4).
pub(crate) const DUP_THRESHOLD: u64 = 3;
/// The number of recoveries after which a widened reordering window is reset (RFC 8985 section 6.2, step 4).
const PERSIST: u32 = 16;

/// The RACK state of a connection, with the names of RFC 8985 section 5.2.
#[derive(Debug, Clone)]
pub(crate) struct Rack {
    /// RACK.xmit_ts and RACK.end_seq: the most recently sent segment among those delivered; `None` before the first.
    latest: Option<(Time, u64)>,
    /// RACK.rtt.
    rtt: Duration,
    /// The most recently sent segment among those delivered by the current acknowledgement; `rtt` is its RTT.
    newest: Option<(Time, u64)>,
    /// RACK.fack: the highest number delivered.
    fack: u64,
    reordering_seen: bool,
    reo_wnd_mult: u64,
    reo_wnd_persist: u32,
    dsack_round: Option<u64>,
}

/// The inputs to the reordering window beside RACK's own state.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PathState {
    pub(crate) min_rtt: Duration,
    pub(crate) smoothed_rtt: Duration,
    /// Whether a recovery is in progress, after fast retransmit or a timeout.
    pub(crate) in_recovery: bool,
}

impl Rack {
    pub(crate) fn new() -> Rack {
        Rack {
            latest: None,
            rtt: Duration::ZERO,
            newest: None,
            fack: 0,
            reordering_seen: false,
            reo_wnd_mult: 1,
            reo_wnd_persist: PERSIST,
            dsack_round: None,
        }
    }

    /// Begins an acknowledgement, whose segments follow in the order of sequence numbers.
    #[inline]
    pub(crate) fn begin_ack(&mut self) {
        self.newest = None;
    }

    /// Steps 2 and 3 for a newly acknowledged segment. `echo_is_older`: the echoed timestamp is older than its last
    /// transmission.
    #[inline]
    pub(crate) fn on_delivered(
        &mut self,
        now: Time,
        segment: &Segment,
        echo_is_older: bool,
        min_rtt: Duration,
    ) {
        // Step 3: a segment that was sent once arrives after one with a higher number.
        if segment.end > self.fack {
            self.fack = segment.end;
        } else if segment.end < self.fack && !segment.was_retransmitted() {
            self.reordering_seen = true;
        }
        let rtt = now.since(segment.sent_at);
        // Step 2: the acknowledgement may be that of the first transmission.
        if segment.was_retransmitted() && (echo_is_older || rtt < min_rtt) {
            return;
        }
        let this = (segment.sent_at, segment.end);
        // "In ascending order of Segment.xmit_ts": the RTT of the last one remains.
        if self.newest.is_none_or(|newest| this > newest) {
            (self.newest, self.rtt) = (Some(this), rtt);
        }
        if self.latest.is_none_or(|latest| this > latest) {
            self.latest = Some(this);
        }
    }

    /// Step 4 for an acknowledgement with a DSACK. Returns whether the window has grown.
    pub(crate) fn on_dsack(&mut self, snd_nxt: u64) -> bool {
        let widens = self.dsack_round.is_none();
        if widens {
            self.dsack_round = Some(snd_nxt);
            self.reo_wnd_mult += 1;
            self.reo_wnd_persist = PERSIST;
        }
        widens
    }

    /// Step 4: ends the round that began with a DSACK.
    #[inline]
    pub(crate) fn on_una(&mut self, una: u64) {
        if self.dsack_round.is_some_and(|round| una >= round) {
            self.dsack_round = None;
        }
    }

    /// Step 4 at the end of a recovery, unless the same acknowledgement has widened the window.
    pub(crate) fn on_recovered(&mut self) {
        assert!(self.reo_wnd_persist > 0, "the count of recoveries begins anew when it is used up");
        self.reo_wnd_persist -= 1;
        if self.reo_wnd_persist == 0 {
            (self.reo_wnd_mult, self.reo_wnd_persist) = (1, PERSIST);
        }
    }

    /// RACK_update_reo_wnd: how long to wait for reordered segments.
    pub(crate) fn reordering_window(&self, path: PathState, sacked_segments: u64) -> Duration {
        if !self.reordering_seen && (path.in_recovery || sacked_segments >= DUP_THRESHOLD) {
            return Duration::ZERO;
        }
        (path.min_rtt * self.reo_wnd_mult / 4).min(path.smoothed_rtt)
    }

    /// Step 5, RACK_detect_loss: declares segments lost that were sent too long before the most recently delivered one,
    /// and appends their numbers to `lost`. Returns the time at which further segments will be lost unless acknowledged
    /// before.
    pub(crate) fn detect(
        &self,
        now: Time,
        board: &mut Scoreboard,
        path: PathState,
        lost: &mut Vec<u64>,
    ) -> Option<Time> {
        let latest = self.latest?;
        let wait = self.rtt + self.reordering_window(path, board.sacked_segments());
        while let Some((number, segment)) = board.oldest() {
            if (segment.sent_at, segment.end) >= latest || segment.sent_at + wait > now {
                break;
            }
            assert!(board.lose(number), "the oldest transmission is that of a segment in flight");
            lost.push(number);
        }
        let waiting = board.by_time().take_while(|(_, segment)| (segment.sent_at, segment.end) < latest);
        waiting.last().map(|(_, segment)| segment.sent_at + wait)
    }

    /// RACK_mark_losses_on_RTO (section 6.3): the first segment, and all whose reordering window has passed.
    pub(crate) fn on_timeout(&self, now: Time, board: &mut Scoreboard, path: PathState, lost: &mut Vec<u64>) {
        let wait = self.rtt + self.reordering_window(path, board.sacked_segments());
        let first = board.front_number();
        if board.lose(first) {
            lost.push(first);
        }
        while let Some((number, segment)) = board.oldest() {
            if segment.sent_at + wait > now {
                break;
            }
            assert!(board.lose(number), "the oldest transmission is that of a segment in flight");
            lost.push(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use congestion::SentState;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }
    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    const PATH: PathState =
        PathState { min_rtt: ms_const(100), smoothed_rtt: ms_const(120), in_recovery: false };
    const fn ms_const(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Five segments of 100 bytes, one per millisecond from 0 on.
    fn board() -> Scoreboard {
        let mut board = Scoreboard::default();
        (0..5).for_each(|i| board.push(1 + i * 100, 101 + i * 100, false, at(i), SentState::default()));
        board
    }

    fn sack(rack: &mut Rack, board: &mut Scoreboard, now: Time, blocks: &[(u64, u64)]) {
        rack.begin_ack();
        board.sack(blocks, |segment| rack.on_delivered(now, segment, false, PATH.min_rtt));
    }

    /// RFC 8985 section 6.2, steps 4 and 5: the limit is the RTT of the most recently sent delivered segment plus a
    /// quarter of the minimum RTT.
    #[test]
    fn a_gap_is_lost_after_a_quarter_of_the_least_rtt() {
        let (mut rack, mut board, mut lost) = (Rack::new(), board(), Vec::new());
        // Segment 1, sent at 1 ms, is delivered at 101 ms: RTT 100 ms.
        sack(&mut rack, &mut board, at(101), &[(101, 201)]);
        assert_eq!(rack.detect(at(101), &mut board, PATH, &mut lost), Some(at(125)));
        assert_eq!(rack.detect(at(124), &mut board, PATH, &mut lost), Some(at(125)));
        assert!(lost.is_empty());
        assert_eq!(rack.detect(at(125), &mut board, PATH, &mut lost), None);
        assert_eq!(lost, [0], "those sent after segment 1 are not checked by it");
    }

    /// RFC 8985 section 6.2, step 4: no waiting with three segments above the gap, unless reordering was observed.
    #[test]
    fn three_segments_above_end_the_wait() {
        let (mut rack, mut board, mut lost) = (Rack::new(), board(), Vec::new());
        sack(&mut rack, &mut board, at(103), &[(101, 401)]);
        assert_eq!(rack.detect(at(103), &mut board, PATH, &mut lost), None);
        assert_eq!(lost, [0]);
        let (mut rack, mut board, mut lost) = (Rack::new(), super::tests::board(), Vec::new());
        sack(&mut rack, &mut board, at(103), &[(301, 401)]);
        sack(&mut rack, &mut board, at(103), &[(201, 301), (301, 401)]);
        sack(&mut rack, &mut board, at(103), &[(101, 401)]);
        assert!(rack.reordering_seen);
        // The RTT of the most recently acknowledged segment, sent at 1 ms: 102 ms.
        assert_eq!(rack.detect(at(103), &mut board, PATH, &mut lost), Some(at(127)));
        assert!(lost.is_empty());
    }

    /// RFC 8985 section 6.2, step 4: each round with a DSACK widens the window; sixteen recoveries reset it.
    #[test]
    fn duplicates_widen_the_window() {
        let mut rack = Rack::new();
        rack.reordering_seen = true;
        assert_eq!(rack.reordering_window(PATH, 9), ms(25));
        rack.on_dsack(1000);
        rack.on_dsack(1200);
        assert_eq!(rack.reordering_window(PATH, 9), ms(50), "once a round");
        rack.on_una(1000);
        (0..9).for_each(|i| {
            rack.on_dsack(2000 + i);
            rack.on_una(2000 + i);
        });
        assert_eq!(rack.reordering_window(PATH, 9), ms(120), "no wider than the smoothed RTT");
        (0..15).for_each(|_| rack.on_recovered());
        assert_eq!(rack.reordering_window(PATH, 9), ms(120));
        rack.on_recovered();
        assert_eq!(rack.reordering_window(PATH, 9), ms(25));
    }

    /// RFC 8985 section 6.2, step 2: a retransmission acknowledged too early is ambiguous.
    #[test]
    fn an_ambiguous_retransmission_is_left_out() {
        let (mut rack, mut board, mut lost) = (Rack::new(), board(), Vec::new());
        sack(&mut rack, &mut board, at(104), &[(101, 501)]);
        rack.detect(at(104), &mut board, PATH, &mut lost);
        board.resent(0, at(105), SentState::default());
        let latest = rack.latest;
        board.acknowledge(101, |segment| rack.on_delivered(at(110), segment, false, PATH.min_rtt));
        assert_eq!(rack.latest, latest);
    }

    /// RFC 8985 section 6.2, step 2: RACK.rtt is the RTT of the most recently sent segment delivered by an
    /// acknowledgement, wherever it lies.
    #[test]
    fn the_segment_sent_last_gives_the_rtt() {
        let (mut rack, mut board, mut lost) = (Rack::new(), board(), Vec::new());
        sack(&mut rack, &mut board, at(103), &[(201, 501)]);
        rack.detect(at(103), &mut board, PATH, &mut lost);
        assert_eq!((lost.as_slice(), rack.rtt), (&[0, 1][..], ms(99)));
        board.resent(0, at(110), SentState::default());
        board.push(501, 601, false, at(112), SentState::default());
        board.push(601, 701, false, at(105), SentState::default());
        rack.begin_ack();
        board.sack(&[(501, 701)], |segment| rack.on_delivered(at(220), segment, false, PATH.min_rtt));
        assert_eq!(rack.rtt, ms(108));
        rack.begin_ack();
        board.acknowledge(101, |segment| rack.on_delivered(at(221), segment, false, PATH.min_rtt));
        assert_eq!(rack.rtt, ms(111), "each acknowledgement gives its own");
    }

    /// RFC 8985 section 6.2, step 5: a lost retransmission is detected by segments sent after it.
    #[test]
    fn a_lost_retransmission_is_found() {
        let (mut rack, mut board, mut lost) = (Rack::new(), board(), Vec::new());
        sack(&mut rack, &mut board, at(103), &[(201, 501)]);
        rack.detect(at(104), &mut board, PATH, &mut lost);
        assert_eq!(lost, [0, 1]);
        board.resent(0, at(105), SentState::default());
        board.resent(1, at(106), SentState::default());
        board.push(501, 601, false, at(110), SentState::default());
        sack(&mut rack, &mut board, at(210), &[(501, 601)]);
        lost.clear();
        // Both retransmissions were sent before segment 5, whose RTT is 100 ms; three are selectively acknowledged.
        rack.detect(at(210), &mut board, PATH, &mut lost);
        assert_eq!(lost, [0, 1]);
    }
}
