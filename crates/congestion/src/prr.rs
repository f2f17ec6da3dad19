//! Proportional Rate Reduction (RFC 9937): what may be sent while the flight falls to the slow start threshold, over the round
//! trip of a recovery.

/// One episode, from the loss that is answered until the recovery is over. The names are those of RFC 9937 sections 5 and 6.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prr {
    smss: u64,
    /// RecoverFS: what was outstanding and not known to be delivered when the recovery began.
    recover_fs: u64,
    /// prr_delivered and prr_out.
    delivered: u64,
    out: u64,
    /// Whether what is delivered is known from SACK, or estimated from duplicates.
    exact: bool,
    /// cwnd: what was in flight, and SndCnt.
    window: u64,
}

/// An acknowledgement in a recovery.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress {
    /// DeliveredData: bytes that it newly acknowledges.
    pub(crate) delivered: u64,
    /// Bytes in flight behind it.
    pub(crate) in_flight: u64,
    /// SafeACK: it moves SND.UNA and shows no further loss.
    pub(crate) safe: bool,
}

impl Prr {
    /// Section 6.1. Until the first acknowledgement is taken in, one segment may go.
    pub(crate) fn new(smss: u64, recover_fs: u64, exact: bool, in_flight: u64) -> Prr {
        let window = in_flight + smss;
        Prr { smss, recover_fs: recover_fs.max(smss).max(1), delivered: 0, out: 0, exact, window }
    }

    /// Section 6.2, for an acknowledgement that begins the recovery or falls into it; `ssthresh` is the target.
    pub(crate) fn on_ack(&mut self, ssthresh: u64, ack: Progress) {
        let Progress { mut delivered, in_flight, safe } = ack;
        if !self.exact {
            // Section 5: forged duplicates cannot count for more than was outstanding.
            delivered = delivered.min(self.recover_fs.saturating_sub(self.delivered));
        }
        if delivered == 0 {
            return;
        }
        self.delivered += delivered;
        let mut count = if in_flight > ssthresh {
            let out =
                (u128::from(self.delivered) * u128::from(ssthresh)).div_ceil(u128::from(self.recover_fs));
            u64::try_from(out).unwrap_or(u64::MAX).saturating_sub(self.out)
        } else {
            // PRR-CRB; PRR-SSRB while the recovery makes good progress.
            let bound = self.delivered.saturating_sub(self.out).max(delivered);
            (bound + if safe { self.smss } else { 0 }).min(ssthresh - in_flight)
        };
        if self.out == 0 || in_flight == 0 {
            // The fast retransmit goes in any case, and whole; and with nothing in flight no acknowledgement would bring more.
            count = count.max(self.smss);
        }
        self.window = in_flight.saturating_add(count);
    }

    /// A timer has found losses, without an acknowledgement: one segment may go now, the rest waits for acknowledgements.
    pub(crate) fn on_timer(&mut self, prior_in_flight: u64, in_flight: u64) {
        let left = self.window.saturating_sub(prior_in_flight);
        self.window = in_flight + left.max(self.smss);
    }

    /// Section 6.3: something was sent, for the first time or once more.
    #[inline]
    pub(crate) fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
    }

    /// How much may be in flight.
    #[inline]
    pub(crate) fn window(&self) -> u64 {
        self.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sender with 20 segments in flight, of which some at the beginning are lost, all that follows is not; ssthresh will be 10.
    /// An acknowledgement for each segment that arrives, limited transmit for the first two, and recovery with the third: what
    /// the windows, the flights behind each acknowledgement, and the segments sent then are.
    fn replay(lost: u64, acks: u64) -> (Vec<u64>, Vec<u64>, Vec<u64>) {
        let (mut windows, mut flights, mut sent) = (Vec::new(), Vec::new(), Vec::new());
        let mut in_flight = 20;
        let mut prr = None;
        for ack in 1..=acks {
            in_flight -= 1;
            if ack < 3 {
                // Nothing is known to be lost: one segment goes for the one that has left.
                windows.push(20);
                flights.push(in_flight);
                sent.push(1);
                in_flight += 1;
                continue;
            }
            // 22 are outstanding, two of them reported before.
            if ack == 3 {
                in_flight -= lost;
            }
            let prr = prr.get_or_insert_with(|| Prr::new(1, 20, true, in_flight));
            prr.on_ack(10, Progress { delivered: 1, in_flight, safe: false });
            windows.push(prr.window());
            flights.push(in_flight);
            let count = prr.window().saturating_sub(in_flight);
            prr.on_sent(count);
            sent.push(count);
            in_flight += count;
        }
        (windows, flights, sent)
    }

    /// RFC 9937 section 8, the loss of one segment of 20. (Its table lets one segment go with acknowledgement 19, by the
    /// proportion, where 10 are in flight; the rule of section 6.2, "greater than ssthresh", none: it goes with number 20, and
    /// the total is the same.)
    #[test]
    fn the_example_of_a_single_loss() {
        let (windows, flights, sent) = replay(1, 22);
        let upto = 18;
        assert_eq!(windows[..upto], [20, 20, 19, 18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 11]);
        assert_eq!(flights[..upto], [19, 19, 18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 11, 11]);
        assert_eq!(sent[..upto], [1, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]);
        assert_eq!((windows[18], flights[18], sent[18]), (10, 10, 0));
        assert_eq!((windows[19..].to_vec(), sent.iter().sum::<u64>()), (vec![10, 10, 10], 13));
        assert_eq!((flights[19..].to_vec(), sent[19..].to_vec()), (vec![9, 9, 9], vec![1, 1, 1]));
    }

    /// RFC 9937 section 8, the loss of 15 segments of 20: one retransmission for each acknowledgement, not six at once.
    #[test]
    fn the_example_of_a_burst_of_losses() {
        let (windows, flights, sent) = replay(15, 5);
        assert_eq!(windows, [20, 20, 5, 5, 5]);
        assert_eq!(flights, [19, 19, 4, 4, 4]);
        assert_eq!(sent, [1, 1, 1, 1, 1]);
    }

    /// RFC 9937 section 6.2: slow start's bound where the recovery makes good progress; what was not used before is caught up
    /// with; never beyond the threshold.
    #[test]
    fn good_progress_lets_a_segment_more_go() {
        let mut prr = Prr::new(1000, 20_000, true, 4000);
        prr.on_ack(10_000, Progress { delivered: 1000, in_flight: 4000, safe: true });
        assert_eq!(prr.window(), 6000, "what is delivered, and a segment");
        prr.on_sent(2000);
        prr.on_ack(10_000, Progress { delivered: 3000, in_flight: 3000, safe: false });
        assert_eq!(prr.window(), 6000, "what is delivered");
        prr.on_ack(10_000, Progress { delivered: 1000, in_flight: 2000, safe: false });
        assert_eq!(prr.window(), 5000, "3000 were delivered since the last was sent");
        prr.on_ack(10_000, Progress { delivered: 0, in_flight: 500, safe: true });
        assert_eq!(prr.window(), 5000, "nothing was delivered: the window stays");
        prr.on_ack(10_000, Progress { delivered: 9000, in_flight: 9500, safe: true });
        assert_eq!(prr.window(), 10_000, "the threshold");
    }

    /// RFC 9937 section 6.2: the fast retransmit goes, whatever the proportion; section 5: without SACK duplicates deliver no more
    /// than was outstanding.
    #[test]
    fn the_first_segment_goes_and_duplicates_have_an_end() {
        let mut prr = Prr::new(1000, 20_000, true, 18_000);
        prr.on_ack(10_000, Progress { delivered: 1000, in_flight: 18_000, safe: false });
        assert_eq!(prr.window(), 19_000, "the proportion alone is half a segment");
        prr.on_sent(1000);
        prr.on_ack(10_000, Progress { delivered: 1000, in_flight: 18_000, safe: false });
        assert_eq!(prr.window(), 18_000);
        let mut prr = Prr::new(1000, 3000, false, 2000);
        for (ack, window) in [(0, 3000), (1, 3000), (2, 3000), (3, 3000)] {
            prr.on_ack(1000 * ack, Progress { delivered: 1000, in_flight: 2000, safe: false });
            prr.on_sent(u64::from(ack == 0) * 1000);
            assert!(prr.window() <= window && prr.delivered <= 3000, "{prr:?}");
        }
        assert_eq!(prr.delivered, 3000);
    }

    /// Where nothing is in flight any more, a whole segment goes, however little was delivered.
    #[test]
    fn an_empty_path_gets_a_segment() {
        let mut prr = Prr::new(1000, 20_000, true, 100);
        prr.on_sent(1000);
        prr.on_ack(10_000, Progress { delivered: 100, in_flight: 0, safe: false });
        assert_eq!(prr.window(), 1000);
        prr.on_ack(10_000, Progress { delivered: 100, in_flight: 50, safe: false });
        assert_eq!(prr.window(), 150);
    }

    /// What a timer finds to be lost does not go in a burst.
    #[test]
    fn a_timer_lets_one_segment_go() {
        let mut prr = Prr::new(1000, 20_000, true, 15_000);
        prr.on_sent(1000);
        prr.on_timer(16_000, 4000);
        assert_eq!(prr.window(), 5000);
        let mut prr = Prr::new(1000, 20_000, true, 15_000);
        prr.on_ack(10_000, Progress { delivered: 6000, in_flight: 15_000, safe: false });
        prr.on_timer(15_000, 4000);
        assert_eq!(prr.window(), 7000, "three were left");
    }
}
