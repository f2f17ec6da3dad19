//! Proportional Rate Reduction (RFC 9937): limits sending while the flight falls to the slow start threshold during a
//! recovery.

/// One episode, from the loss until the end of the recovery. The names are those of RFC 9937 sections 5 and 6.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prr {
    smss: u64,
    /// RecoverFS: bytes outstanding and not known to be delivered when the recovery began.
    recover_fs: u64,
    /// prr_delivered and prr_out.
    delivered: u64,
    out: u64,
    /// Whether deliveries are known from SACK, or estimated from duplicates.
    exact: bool,
    /// cwnd: the bytes in flight plus SndCnt.
    window: u64,
}

/// An acknowledgement in a recovery.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress {
    /// DeliveredData: newly acknowledged bytes.
    pub(crate) delivered: u64,
    /// Bytes in flight after it.
    pub(crate) in_flight: u64,
    /// SafeACK: it advances SND.UNA and reveals no further loss.
    pub(crate) safe: bool,
}

impl Prr {
    /// Section 6.1. Until the first acknowledgement, one segment may be sent.
    pub(crate) fn new(smss: u64, recover_fs: u64, exact: bool, in_flight: u64) -> Prr {
        let window = in_flight + smss;
        Prr { smss, recover_fs: recover_fs.max(smss).max(1), delivered: 0, out: 0, exact, window }
    }

    /// Stops if the episode contradicts itself.
    pub(crate) fn check(&self) {
        assert!(self.recover_fs > 0, "a recovery begins with something outstanding");
        assert!(self.recover_fs >= self.smss, "what was outstanding is a segment at least");
        assert!(
            self.exact || self.delivered <= self.recover_fs,
            "duplicates count for no more than was outstanding"
        );
        assert!(self.window > 0, "a reduction leaves a window");
    }

    /// Section 6.2, for an acknowledgement that begins the recovery or arrives in it; `ssthresh` is the target.
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
            // The fast retransmit is sent in any case, as a whole segment; and with nothing in flight no
            // acknowledgement would allow more.
            count = count.max(self.smss);
        }
        self.window = in_flight.saturating_add(count);
    }

    /// A timer has found losses without an acknowledgement: one segment may be sent now, the rest waits for
    /// acknowledgements.
    pub(crate) fn on_timer(&mut self, prior_in_flight: u64, in_flight: u64) {
        let left = self.window.saturating_sub(prior_in_flight);
        self.window = in_flight + left.max(self.smss);
    }

    /// Section 6.3: something was sent or retransmitted.
    #[inline]
    pub(crate) fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
    }

    /// The maximum number of bytes in flight.
    #[inline]
    pub(crate) fn window(&self) -> u64 {
        self.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sender with 20 segments in flight, of which the first few are lost; ssthresh becomes 10. Each arriving
    /// segment is acknowledged, the first two acknowledgements trigger limited transmit, and the third starts the
    /// recovery. Returns the windows, the flights after each acknowledgement, and the number of segments sent then.
    fn replay(lost: u64, acks: u64) -> (Vec<u64>, Vec<u64>, Vec<u64>) {
        let (mut windows, mut flights, mut sent) = (Vec::new(), Vec::new(), Vec::new());
        let mut in_flight = 20;
        let mut prr = None;
        for ack in 1..=acks {
            in_flight -= 1;
            if ack < 3 {
                // No known loss yet: one segment is sent for each that has left.
                windows.push(20);
                flights.push(in_flight);
                sent.push(1);
                in_flight += 1;
                continue;
            }
            // 22 are outstanding, two of which were reported before.
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

    /// RFC 9937 section 8, the loss of one segment of 20. (By proportion, its table allows a segment with
    /// acknowledgement 19, with 10 in flight; by the rule of section 6.2, "greater than ssthresh", it is sent with
    /// number 20. The total is the same.)
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

    /// RFC 9937 section 8, the loss of 15 segments of 20: one retransmission per acknowledgement instead of six at
    /// once.
    #[test]
    fn the_example_of_a_burst_of_losses() {
        let (windows, flights, sent) = replay(15, 5);
        assert_eq!(windows, [20, 20, 5, 5, 5]);
        assert_eq!(flights, [19, 19, 4, 4, 4]);
        assert_eq!(sent, [1, 1, 1, 1, 1]);
    }

    /// RFC 9937 section 6.2: the slow start bound while the recovery makes good progress; unused allowance is caught
    /// up with; never beyond the threshold.
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

    /// RFC 9937 section 6.2: the fast retransmit is sent regardless of the proportion; section 5: without SACK,
    /// duplicates deliver no more than was outstanding.
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

    /// With nothing in flight, a whole segment is sent, however little was delivered.
    #[test]
    fn an_empty_path_gets_a_segment() {
        let mut prr = Prr::new(1000, 20_000, true, 100);
        prr.on_sent(1000);
        prr.on_ack(10_000, Progress { delivered: 100, in_flight: 0, safe: false });
        assert_eq!(prr.window(), 1000);
        prr.on_ack(10_000, Progress { delivered: 100, in_flight: 50, safe: false });
        assert_eq!(prr.window(), 150);
    }

    /// Losses found by a timer are not resent in a burst.
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
