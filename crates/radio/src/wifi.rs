//! Packet error rates of WLAN over the SNR: DSSS and CCK of 802.11b, OFDM of 802.11a, g and n.
//!
//! OFDM: the bit error rate of each constellation in white noise (Proakis, "Digital Communications", 4th ed., 5.2),
//! then the union bound for the convolutional code with hard decisions: the sum of c_d D^d with
//! D = sqrt(4 p (1 - p)), with the weights of Frenger, Orten and Ottosson (1999). CCK: the union bound over the code
//! words of IEEE Std 802.11-2016 section 16.3.6.6, received coherently.

use crate::{decibel, gaussian};
use std::f64::consts::{PI, SQRT_2};

/// A data rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rate {
    /// 1 Mbit/s: DBPSK with a Barker code.
    Dsss1,
    /// 2 Mbit/s: DQPSK with a Barker code.
    Dsss2,
    /// 5.5 Mbit/s: CCK with 16 words of 8 chips.
    Cck5,
    /// 11 Mbit/s: CCK with 256 words of 8 chips.
    Cck11,
    /// 6 Mbit/s: BPSK, rate 1/2.
    Ofdm6,
    /// 9 Mbit/s: BPSK, rate 3/4.
    Ofdm9,
    /// 12 Mbit/s: QPSK, rate 1/2.
    Ofdm12,
    /// 18 Mbit/s: QPSK, rate 3/4.
    Ofdm18,
    /// 24 Mbit/s: 16-QAM, rate 1/2.
    Ofdm24,
    /// 36 Mbit/s: 16-QAM, rate 3/4.
    Ofdm36,
    /// 48 Mbit/s: 64-QAM, rate 2/3.
    Ofdm48,
    /// 54 Mbit/s: 64-QAM, rate 3/4.
    Ofdm54,
    /// 65 Mbit/s of 802.11n: 64-QAM, rate 5/6.
    Ht65,
}

/// A punctured convolutional code of constraint length 7: its input bits in a period, its free distance, the step of
/// distances, and the weights of its paths.
struct Code(f64, i32, i32, &'static [f64]);

const HALF: Code = Code(1.0, 10, 2, &[36.0, 211.0, 1404.0, 11_633.0, 77_433.0, 502_690.0]);
const TWO_THIRDS: Code = Code(2.0, 6, 1, &[3.0, 70.0, 285.0, 1276.0, 6160.0, 27_128.0, 117_019.0]);
const THREE_QUARTERS: Code = Code(3.0, 5, 1, &[42.0, 201.0, 1492.0, 10_469.0, 62_935.0, 379_644.0]);
const FIVE_SIXTHS: Code = Code(5.0, 4, 1, &[92.0, 528.0, 8694.0, 79_453.0, 792_114.0, 7_375_573.0]);

/// The bit error rate after decoding at an SNR in dB in the bandwidth of the channel (22 MHz for DSSS, 20 MHz for
/// OFDM), 0 to 0.5.
pub fn bit_error_rate(rate: Rate, snr_db: f64) -> f64 {
    let snr = decibel::to_ratio(snr_db);
    let error = match rate {
        // Proakis 5.2-69, with Eb/N0 = SNR x 22 MHz / 1 Mbit/s.
        Rate::Dsss1 => 0.5 * (-22.0 * snr).exp(),
        Rate::Dsss2 => dqpsk(11.0 * snr),
        Rate::Cck5 => cck(snr, &CCK5),
        Rate::Cck11 => cck(snr, &CCK11),
        Rate::Ofdm6 => HALF.decoded(bpsk(snr)),
        Rate::Ofdm9 => THREE_QUARTERS.decoded(bpsk(snr)),
        Rate::Ofdm12 => HALF.decoded(qpsk(snr)),
        Rate::Ofdm18 => THREE_QUARTERS.decoded(qpsk(snr)),
        Rate::Ofdm24 => HALF.decoded(qam16(snr)),
        Rate::Ofdm36 => THREE_QUARTERS.decoded(qam16(snr)),
        Rate::Ofdm48 => TWO_THIRDS.decoded(qam64(snr)),
        Rate::Ofdm54 => THREE_QUARTERS.decoded(qam64(snr)),
        Rate::Ht65 => FIVE_SIXTHS.decoded(qam64(snr)),
    };
    error.min(0.5)
}

/// The probability that a packet of `bytes` has an error: 1 - (1 - BER)^bits.
pub fn packet_error_rate(rate: Rate, bytes: u32, snr_db: f64) -> f64 {
    let bits = 8.0 * f64::from(bytes);
    -(bits * (-bit_error_rate(rate, snr_db)).ln_1p()).exp_m1()
}

impl Code {
    fn decoded(&self, p: f64) -> f64 {
        let d = (4.0 * p * (1.0 - p)).sqrt();
        let terms = self.3.iter().enumerate();
        let sum: f64 = terms.map(|(term, weight)| weight * d.powi(self.1 + self.2 * term as i32)).sum();
        sum / (2.0 * self.0)
    }
}

/// Squared distances of code words with chips of amplitude 1, and the part of the bits that differ, summed over all
/// words at that distance.
type Distances = [(f64, f64)];
const CCK5: [(f64, f64); 2] = [(16.0, 7.5), (32.0, 0.5)];
const CCK11: [(f64, f64); 6] =
    [(8.0, 8.25), (12.0, 10.5), (16.0, 86.25), (20.0, 11.5), (24.0, 11.25), (32.0, 0.25)];

/// The union bound over code words; the energy of a chip over N0 is SNR x 22 MHz / 11 Mchip/s.
fn cck(snr: f64, distances: &Distances) -> f64 {
    distances.iter().map(|(squared, bits)| bits * gaussian::q((squared * snr).sqrt())).sum()
}

/// The high-SNR form of DQPSK with Gray mapping over Eb/N0 (Ferrari and Corazza 2004).
fn dqpsk(ratio: f64) -> f64 {
    (SQRT_2 + 1.0) / (8.0 * PI * SQRT_2).sqrt() / ratio.sqrt() * (-(2.0 - SQRT_2) * ratio).exp()
}

fn bpsk(snr: f64) -> f64 {
    gaussian::q((2.0 * snr).sqrt())
}

fn qpsk(snr: f64) -> f64 {
    gaussian::q(snr.sqrt())
}

fn qam16(snr: f64) -> f64 {
    0.75 * gaussian::q((snr / 5.0).sqrt())
}

fn qam64(snr: f64) -> f64 {
    7.0 / 12.0 * gaussian::q((snr / 21.0).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_fall_with_snr_and_rise_with_length_and_rate() {
        use Rate::*;
        let all =
            [Dsss1, Dsss2, Cck5, Cck11, Ofdm6, Ofdm9, Ofdm12, Ofdm18, Ofdm24, Ofdm36, Ofdm48, Ofdm54, Ht65];
        for rate in all {
            assert!(packet_error_rate(rate, 1_500, -20.0) > 0.999, "{rate:?}");
            assert!(packet_error_rate(rate, 1_500, 40.0) < 1e-6, "{rate:?}");
            for step in -40..80 {
                let snr_db = f64::from(step) / 2.0;
                let error = packet_error_rate(rate, 1_500, snr_db);
                assert!(error >= packet_error_rate(rate, 1_500, snr_db + 0.5), "{rate:?} {snr_db}");
                assert!(error >= packet_error_rate(rate, 100, snr_db), "{rate:?} {snr_db}");
            }
        }
        assert!(packet_error_rate(Ofdm24, 1_500, 14.0) < packet_error_rate(Ofdm54, 1_500, 14.0));
    }

    /// The code words of 11 and of 5.5 Mbit/s: bits, and the phases of the chips in quarter turns.
    fn words(eight_bits: bool) -> Vec<(u32, [u32; 8])> {
        let differential = [0, 1, 3, 2];
        let words = 0..if eight_bits { 256 } else { 16 };
        let word = |bits: u32| {
            let of = |pair: u32| (bits >> (2 * pair)) & 3;
            let first = differential[of(0) as usize];
            let (second, third, fourth) =
                if eight_bits { (of(1), of(2), of(3)) } else { (2 * (of(1) & 1) + 1, 0, 2 * (of(1) >> 1)) };
            let chips = [
                second + third + fourth,
                third + fourth,
                second + fourth,
                fourth + 2,
                second + third,
                third,
                second + 2,
                0,
            ];
            (bits, chips.map(|chip| (first + chip) % 4))
        };
        words.map(word).collect()
    }

    #[test]
    fn distances_are_those_of_the_code_words() {
        for (words, expected) in [(words(false), &CCK5[..]), (words(true), &CCK11[..])] {
            let bits = f64::from(words.len().ilog2());
            let mut found = std::collections::BTreeMap::<u32, f64>::new();
            for (a, one) in &words {
                for (b, other) in words.iter().filter(|(b, _)| a != b) {
                    // A quarter turn has the squared distance 2, half a turn 4.
                    let squared: u32 =
                        one.iter().zip(other).map(|(x, y)| [0, 2, 4, 2][((4 + x - y) % 4) as usize]).sum();
                    *found.entry(squared).or_default() +=
                        f64::from((a ^ b).count_ones()) / bits / words.len() as f64;
                }
            }
            let found: Vec<(f64, f64)> =
                found.into_iter().map(|(squared, part)| (f64::from(squared), part)).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn values_by_hand() {
        // -3.424 dB: Eb/N0 = 10, 0.5 exp(-10) = 2.27e-5.
        let snr_db = 10.0 * (10.0f64 / 22.0).log10();
        assert!((bit_error_rate(Rate::Dsss1, snr_db) / 2.27e-5 - 1.0).abs() < 1e-3);
        // 1 - (1 - 2.27e-5)^8000 = 1 - exp(-0.1816) = 0.1661.
        assert!((packet_error_rate(Rate::Dsss1, 1_000, snr_db) - 0.166_1).abs() < 1e-3);
        // BPSK at 3 dB: p = Q(2.0) = 0.0230, D = 0.2997, 18 D^10 = 1.05e-4 and the rest.
        let p = bpsk(decibel::to_ratio(3.0103));
        assert!((p - 0.022_75).abs() < 1e-4);
        assert!(HALF.decoded(p) > 18.0 * (4.0 * p * (1.0 - p)).powi(5));
    }
}
