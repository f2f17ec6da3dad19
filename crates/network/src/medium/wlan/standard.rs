//! The standards: times, rates, and how long frames take (IEEE Std 802.11-2016).

use radio::wifi;
use units::Rate;
use units::parameter::Choice;

/// A standard with its choices of preamble, slot, width and guard interval.
#[derive(Debug, Clone)]
pub(super) struct Standard {
    /// A slot, SIFS, the time from a busy medium to the first slot (DIFS, or the AIFS of best effort), in ns.
    pub slot: u64,
    pub sifs: u64,
    pub ifs: u64,
    /// How long a frame is on the air before others sense it, in ns: a station whose turn comes meanwhile begins as well.
    pub sense: u64,
    /// Contention window in slots: least and greatest.
    pub window: (u32, u32),
    /// The rates of data frames, ascending within a number of streams.
    pub rates: Vec<Modulation>,
    /// The rates of responses, ascending.
    basic: Vec<Modulation>,
    /// How long control frames take, by the rate of the data.
    pub control: Vec<Control>,
    /// The time that replaces `ifs` after a frame that was not received, in ns.
    pub eifs: u64,
    /// Bytes around a packet: MAC header, LLC/SNAP and FCS.
    pub overhead: u32,
    /// Whether several frames may be sent as one, acknowledged together.
    pub aggregates: bool,
}

/// How long the control frames take that belong to a data frame, in ns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Control {
    pub rts: u64,
    pub cts: u64,
    pub ack: u64,
    pub block_ack: u64,
}

/// How the bits of a frame are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Modulation {
    /// DSSS and CCK (clauses 15 and 16): kbit/s, and ns of preamble and header.
    Dsss { kbps: u32, preamble: u32 },
    /// OFDM (clauses 17 and 18): bits in a symbol of 4 us, and ns of signal extension.
    Ofdm { bits: u32, extension: u32 },
    /// HT in the mixed format (clause 19): bits in a symbol, ns of the symbol, of the preamble and of the extension;
    /// the number of the scheme.
    Ht { bits: u32, symbol: u32, preamble: u32, extension: u32, mcs: u8 },
}

const US: u32 = 1_000;
/// Bits of SERVICE and tail.
const SERVICE_AND_TAIL: u32 = 16 + 6;

impl Modulation {
    /// How long a frame of these bytes takes, in ns.
    pub(super) fn duration(self, bytes: u32) -> u64 {
        // All fits into 32 bits: of 65,535 bytes at 1 Mbit/s half a second.
        let bits = 8 * bytes;
        u64::from(match self {
            Modulation::Dsss { kbps, preamble } => preamble + US * (1_000 * bits).div_ceil(kbps),
            Modulation::Ofdm { bits: symbol, extension } => {
                20 * US + 4 * US * (SERVICE_AND_TAIL + bits).div_ceil(symbol) + extension
            }
            Modulation::Ht { bits: in_symbol, symbol, preamble, extension, .. } => {
                // The length that legacy stations read is in symbols of 4 us.
                let data = (SERVICE_AND_TAIL + bits).div_ceil(in_symbol) * symbol;
                preamble + data.next_multiple_of(4 * US) + extension
            }
        })
    }

    /// A bound for the duration of a frame of any length at any of these rates: that of the fastest, whose preamble is
    /// that of the shortest. More streams in HT have more training fields, which a short frame does not make up for.
    pub(super) fn bound(rates: &[Modulation]) -> Option<Modulation> {
        let fastest = rates.iter().min_by_key(|rate| rate.duration(1500))?;
        let shortest = rates.iter().filter_map(|rate| match rate {
            Modulation::Ht { preamble, .. } => Some(*preamble),
            _ => None,
        });
        Some(match (*fastest, shortest.min()) {
            (Modulation::Ht { bits, symbol, extension, mcs, .. }, Some(preamble)) => {
                Modulation::Ht { bits, symbol, preamble, extension, mcs }
            }
            (other, _) => other,
        })
    }

    /// The rate of the data.
    pub(super) fn rate(self) -> Rate {
        Rate::from_bits_per_sec(match self {
            Modulation::Dsss { kbps, .. } => 1_000 * u64::from(kbps),
            Modulation::Ofdm { bits, .. } => u64::from(bits) * 250_000,
            Modulation::Ht { bits, symbol, .. } => u64::from(bits) * 1_000_000_000 / u64::from(symbol),
        })
    }

    /// The rate as its error curve has it. In HT each stream is taken as received like a single one.
    pub(super) fn on_air(self) -> wifi::Rate {
        use wifi::Rate::{Cck5, Cck11, Dsss1, Dsss2, Ht65};
        use wifi::Rate::{Ofdm6, Ofdm9, Ofdm12, Ofdm18, Ofdm24, Ofdm36, Ofdm48, Ofdm54};
        let place = usize::from(self.number());
        match self {
            Modulation::Dsss { .. } => [Dsss1, Dsss2, Cck5, Cck11][place],
            Modulation::Ofdm { .. } => [Ofdm6, Ofdm9, Ofdm12, Ofdm18, Ofdm24, Ofdm36, Ofdm48, Ofdm54][place],
            Modulation::Ht { .. } => [Ofdm6, Ofdm12, Ofdm18, Ofdm24, Ofdm36, Ofdm48, Ofdm54, Ht65][place % 8],
        }
    }

    /// The number in tables: of the scheme in HT, else the place among the rates of its kind.
    pub(super) fn number(self) -> u8 {
        match self {
            Modulation::Dsss { kbps, .. } => {
                DSSS_KBPS.iter().position(|rate| *rate == kbps).expect("a rate of DSSS is in its table") as u8
            }
            Modulation::Ofdm { bits, .. } => {
                OFDM_BITS.iter().position(|of| *of == bits).expect("a rate of OFDM is in its table") as u8
            }
            Modulation::Ht { mcs, .. } => mcs,
        }
    }
}

const DSSS_KBPS: [u32; 4] = [1_000, 2_000, 5_500, 11_000];
/// Bits in a symbol at 6, 9, 12, 18, 24, 36, 48 and 54 Mbit/s (table 17-4).
const OFDM_BITS: [u32; 8] = [24, 36, 48, 72, 96, 144, 192, 216];
/// Bits in a symbol of one stream in 20 MHz, for the schemes 0 to 7 (table 19-27): 52 subcarriers.
const HT20_BITS: [u32; 8] = [26, 52, 78, 104, 156, 208, 234, 260];
/// The same in 40 MHz (table 19-31): 108 subcarriers.
const HT40_BITS: [u32; 8] = [54, 108, 162, 216, 324, 432, 486, 540];

const MAC: u32 = 24;
const QOS: u32 = 2;
const FCS: u32 = 4;
const SNAP: u32 = 8;
/// Bytes of control frames (section 9.3.1): RTS, CTS and ACK, compressed block ACK.
const RTS: u32 = 20;
const CTS: u32 = 14;
const ACK: u32 = 14;
const BLOCK_ACK: u32 = 32;
/// Bytes of the delimiter before each frame of an A-MPDU; frames are padded to multiples of it (section 9.7.1).
pub(super) const DELIMITER: u32 = 4;
/// Frames, bytes and ns of an A-MPDU at most (sections 9.4.1.14, 9.4.2.56.3 and 19.4.4).
pub(super) const MOST_FRAMES: usize = 64;
pub(super) const MOST_BYTES: u32 = 65_535;
pub(super) const LONGEST: u64 = 10_000_000;

/// The choices that a scenario has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choices {
    pub standard: Amendment,
    pub short_preamble: bool,
    pub long_slot: bool,
    pub wide: bool,
    pub short_guard: bool,
}

/// The amendments of 802.11: b, a, g, and n at 5 GHz or at 2.4 GHz.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
pub(super) enum Amendment {
    B,
    A,
    G,
    N,
    #[word("n-2.4")]
    N2_4,
}

impl Standard {
    /// The standard of these choices, with the mandatory rates as basic rates.
    pub(super) fn new(choices: Choices) -> Standard {
        let extension = if matches!(choices.standard, Amendment::G | Amendment::N2_4) { 6 * US } else { 0 };
        let ofdm = |bits: u32| Modulation::Ofdm { bits, extension };
        let basic = || [24, 48, 96].map(ofdm).to_vec();
        let slot = u64::from(if choices.long_slot { 20 * US } else { 9 * US });
        let sifs = u64::from(if extension > 0 { 10 * US } else { 16 * US });
        let overhead = MAC + SNAP + FCS;
        let mut standard = match choices.standard {
            Amendment::B => {
                let preamble = if choices.short_preamble { 96 * US } else { 192 * US };
                // 1 Mbit/s has the long preamble only (section 16.2.2.3).
                let dsss = |kbps| Modulation::Dsss {
                    kbps,
                    preamble: if kbps == 1_000 { 192 * US } else { preamble },
                };
                let rates = DSSS_KBPS.map(dsss).to_vec();
                let basic = rates[..2].to_vec();
                let (slot, sifs) = (20_000, 10_000);
                Standard {
                    slot,
                    sifs,
                    ifs: sifs + 2 * slot,
                    sense: 0,
                    window: (31, 1023),
                    rates,
                    basic,
                    control: Vec::new(),
                    eifs: 0,
                    overhead,
                    aggregates: false,
                }
            }
            Amendment::A | Amendment::G => Standard {
                slot,
                sifs,
                ifs: sifs + 2 * slot,
                sense: 0,
                window: (15, 1023),
                rates: OFDM_BITS.map(ofdm).to_vec(),
                basic: basic(),
                control: Vec::new(),
                eifs: 0,
                overhead,
                aggregates: false,
            },
            Amendment::N | Amendment::N2_4 => Standard {
                slot,
                sifs,
                // AIFSN 3 of best effort (table 9-137).
                ifs: sifs + 3 * slot,
                sense: 0,
                window: (15, 1023),
                rates: (0..32).map(|mcs| ht(mcs, choices, extension)).collect(),
                basic: basic(),
                control: Vec::new(),
                eifs: 0,
                overhead: overhead + QOS,
                aggregates: true,
            },
        };
        standard.derive();
        standard
    }

    /// Sets the rates of responses, ascending.
    pub(super) fn set_basic(&mut self, basic: Vec<Modulation>) {
        self.basic = basic;
        self.derive();
    }

    /// Determines what follows from the rates.
    fn derive(&mut self) {
        let rising = |rates: &[Modulation]| rates.iter().is_sorted_by_key(|rate| rate.rate());
        assert!(!self.basic.is_empty() && rising(&self.basic), "responses have rates, which ascend");
        assert!(self.rates.chunks(8).all(rising), "the rates of data ascend within a number of streams");
        assert!(self.window.0 <= self.window.1, "a contention window does not shrink by failures");
        let control = |data: &Modulation| {
            let [rts, cts, ack, block_ack] =
                [RTS, CTS, ACK, BLOCK_ACK].map(|bytes| self.response(*data).duration(bytes));
            Control { rts, cts, ack, block_ack }
        };
        self.control = self.rates.iter().map(control).collect();
        // aCCATime: less than 15 us with long slots, less than 4 us with short ones (sections 16.3.4, 17.4.4 and 18.5.4).
        self.sense = u64::from(if self.slot == u64::from(20 * US) { 15 * US } else { 4 * US });
        // SIFS, an ACK at the lowest basic rate, and DIFS (section 10.3.2.3.7).
        self.eifs = self.sifs + self.basic[0].duration(ACK) + self.ifs;
    }

    /// The rate of the response to a frame: the highest basic rate that is not above its own (section 10.7.6.5.2).
    fn response(&self, data: Modulation) -> Modulation {
        let not_above = |basic: &&Modulation| basic.rate() <= data.rate();
        *self.basic.iter().rev().find(not_above).unwrap_or(&self.basic[0])
    }
}

fn ht(mcs: u8, choices: Choices, extension: u32) -> Modulation {
    let streams = u32::from(mcs / 8) + 1;
    let of_stream = if choices.wide { HT40_BITS } else { HT20_BITS };
    // L-STF, L-LTF, L-SIG, HT-SIG, HT-STF; HT-LTFs: one for each stream, and four for three.
    let training = if streams == 3 { 4 } else { streams };
    Modulation::Ht {
        bits: streams * of_stream[usize::from(mcs % 8)],
        symbol: if choices.short_guard { 3_600 } else { 4_000 },
        preamble: (8 + 8 + 4 + 8 + 4 + 4 * training) * US,
        extension,
        mcs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standard(name: &str) -> Standard {
        Standard::new(Choices {
            standard: Amendment::of_word(name).unwrap(),
            short_preamble: false,
            long_slot: false,
            wide: false,
            short_guard: false,
        })
    }

    #[test]
    fn durations_by_hand() {
        let b = standard("b");
        // 192 us and 1536 x 8 / 11 = 1117.1 us, rounded up.
        assert_eq!(b.rates[3].duration(1500 + b.overhead), 1_310_000);
        assert_eq!(b.rates[0].duration(ACK), 304_000);
        let g = standard("g");
        // 20 us, (22 + 12288) / 216 = 57 symbols of 4 us, 6 us.
        assert_eq!(g.rates[7].duration(1500 + g.overhead), 254_000);
        // (22 + 112) / 96 = 2 symbols.
        assert_eq!(g.response(g.rates[7]).duration(ACK), 34_000);
        let n = standard("n");
        // 36 us, (22 + 12304) / 260 = 48 symbols.
        assert_eq!(n.rates[7].duration(1500 + n.overhead), 228_000);
        assert_eq!((n.ifs, n.sifs, n.slot, n.sense), (43_000, 16_000, 9_000, 4_000));
        assert_eq!((b.slot, b.sense), (20_000, 15_000));
    }

    #[test]
    fn rates_are_those_of_the_standard() {
        let mbps = |name: &str| -> Vec<f64> {
            standard(name).rates.iter().map(|rate| rate.rate().as_mbit_per_sec()).collect()
        };
        assert_eq!(mbps("b"), [1.0, 2.0, 5.5, 11.0]);
        assert_eq!(mbps("g"), [6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0]);
        assert_eq!(mbps("n")[..8], [6.5, 13.0, 19.5, 26.0, 39.0, 52.0, 58.5, 65.0]);
        let wide = ht(
            31,
            Choices {
                standard: Amendment::N,
                short_preamble: false,
                long_slot: false,
                wide: true,
                short_guard: true,
            },
            0,
        );
        assert_eq!(wide.rate().as_mbit_per_sec(), 600.0);
    }

    #[test]
    fn responses_have_a_basic_rate() {
        let b = standard("b");
        assert_eq!(b.response(b.rates[3]).rate().as_mbit_per_sec(), 2.0);
        assert_eq!(b.response(b.rates[0]).rate().as_mbit_per_sec(), 1.0);
        let a = standard("a");
        assert_eq!(a.response(a.rates[1]).rate().as_mbit_per_sec(), 6.0);
        assert_eq!(b.eifs, 10_000 + 304_000 + 50_000);
    }
}
