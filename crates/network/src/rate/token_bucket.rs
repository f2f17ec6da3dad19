//! A shaper: packets wait for tokens, which arrive at a rate, up to a burst.
//!
//! A shaper is a server, not a queue: it lets packets wait while nothing is sent, and a queue returns a packet
//! whenever one waits. Any queue can therefore be combined with it.

use super::{Fixed, RateError, Server};
use crate::bucket::Bucket;
use units::parameter::{Options, Row};
use units::{Rate, Size, Time};

/// The options of a token bucket.
#[derive(Debug, Clone, Options)]
struct TokenBucketOptions {
    /// bits per second at which tokens accumulate: the long-term rate; above zero
    rate: Rate,
    /// size of the bucket: bytes that may be sent at the peak rate after a pause
    burst: Size,
    /// bits per second at which a packet with enough tokens is sent; without it, at once
    peak: Option<Rate>,
}

pub(crate) const ROW: Row<super::Build> = Row {
    name: "token-bucket",
    about: "a shaper: packets wait for tokens, which accumulate at a rate up to a burst, and are then sent at a peak rate",
    parameters: TokenBucketOptions::PARAMETERS,
    build: &|arguments, _| {
        let TokenBucketOptions { rate, burst, peak } = TokenBucketOptions::of(arguments);
        if rate == Rate::ZERO || peak == Some(Rate::ZERO) {
            return Err(RateError::Zero);
        }
        Ok(Server::TokenBucket(Box::new(TokenBucket::new(rate, burst, peak))))
    },
};

/// A server that sends a packet when its tokens are available. The packet that waits for them has left the
/// queue, as in Linux's tbf; the bucket is full at the start.
#[derive(Debug, Clone)]
pub struct TokenBucket {
    bucket: Bucket,
    peak: Option<Fixed>,
}

impl TokenBucket {
    /// Creates a server with a full bucket. A packet larger than the burst is sent when the bucket is full, and
    /// leaves a debt.
    pub fn new(rate: Rate, burst: Size, peak: Option<Rate>) -> TokenBucket {
        TokenBucket { bucket: Bucket::new(rate, burst), peak: peak.map(Fixed::new) }
    }
    /// The rate of the tokens.
    pub fn rate(&self) -> Rate {
        self.bucket.rate()
    }
    pub(super) fn serve(&mut self, start: Time, size: u32) -> Time {
        let start = self.bucket.wait(start, size);
        match &mut self.peak {
            Some(peak) if start != Time::NEVER => peak.serve(start, size),
            _ => start,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(n: u64) -> Time {
        Time::from_nanos(1000 * n)
    }

    /// 8 Mbit/s are a byte in each microsecond, 80 Mbit/s are ten.
    #[test]
    fn a_burst_at_the_peak_rate_and_then_the_rate_of_the_tokens() {
        let [rate, peak] = ["8 Mbit/s", "80 Mbit/s"].map(|rate| rate.parse().unwrap());
        let mut server = TokenBucket::new(rate, Size::from_bytes(3000), Some(peak));
        let ends: Vec<Time> = (0..4)
            .scan(us(0), |at, _| {
                *at = server.serve(*at, 1500);
                Some(*at)
            })
            .collect();
        // 150 us each; the third began when 1500 tokens were there, at 1500 us.
        assert_eq!(ends, [us(150), us(300), us(1650), us(3150)]);
        let mut at_once = TokenBucket::new(rate, Size::from_bytes(3000), None);
        assert_eq!([(); 3].map(|()| at_once.serve(us(0), 1500)), [us(0), us(0), us(1500)]);
    }
}
