//! BDP_FRAME: a capacity on its way to the client and back (draft-kuhn-quic-0rtt-bdp-09 section 3).
//!
//! The client can read the remaining lifetime, capacity and RTT, and need not send them back. The saved address only concerns
//! the server, so its 16 bytes hold what makes the frame authentic instead ([`Seal`]).

use congestion::{Learned, PathKey, Refusal, Resume, Saved};
use std::net::IpAddr;
use tls::EndpointKey;
use units::Duration;
use wire::Frame;

/// The maximum length of the saved address.
const MAX_ADDRESS: usize = 16;

/// What the saved address holds:
///
/// * the date of issue in seconds since 1970, from which the lifetime counts;
/// * 64 bits of an HMAC-SHA256 over everything but the path;
/// * 28 bits of an HMAC-SHA256 over these 64 and the path. A frame that is presented on another path is used up, whatever is in these
///   bits, so that nobody can try paths.
///
/// The other four of the 128 bits are ones, so that the bytes are two varints of 62 bits. A dissector that does not know the frame
/// takes its fields for the types of further frames (and its length, 16, for MAX_DATA), and is in step again behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seal {
    seconds: u32,
    code: u64,
    path: u32,
}

impl Seal {
    /// The prefix of a varint of 8 bytes.
    const PREFIX: u64 = 0b11 << 62;
    const PATH_BITS: u32 = 28;
    /// The bits of the code in the second varint.
    const CODE_BITS: u32 = 62 - Seal::PATH_BITS;

    fn write(self) -> [u8; MAX_ADDRESS] {
        let low = self.code & ((1 << Seal::CODE_BITS) - 1);
        let first = Seal::PREFIX | u64::from(self.seconds) << 30 | self.code >> Seal::CODE_BITS;
        let second = Seal::PREFIX | low << Seal::PATH_BITS | u64::from(self.path);
        let mut bytes = [0; MAX_ADDRESS];
        bytes[..8].copy_from_slice(&first.to_be_bytes());
        bytes[8..].copy_from_slice(&second.to_be_bytes());
        bytes
    }

    /// `None` for the address of another stack.
    fn read(bytes: &[u8]) -> Option<Seal> {
        let bytes = u128::from_be_bytes(bytes.try_into().ok()?);
        let (first, second) = ((bytes >> 64) as u64, bytes as u64);
        (first & second & Seal::PREFIX == Seal::PREFIX).then_some(Seal {
            seconds: (first >> 30) as u32,
            code: first << Seal::CODE_BITS | second << 2 >> 2 >> Seal::PATH_BITS,
            path: second as u32 & ((1 << Seal::PATH_BITS) - 1),
        })
    }
}

/// What a BDP_FRAME brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Opened {
    /// The hash by which the frame is known as used, and the one by which it is known as tried on another path; `None` if it was
    /// not issued here.
    pub(crate) hashes: Option<(u64, u64)>,
    /// The capacity, or why it is not used.
    pub(crate) learned: Result<Learned, Refusal>,
}

/// The contents of a BDP_FRAME.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BdpFrame {
    lifetime_us: u64,
    capacity: u64,
    min_rtt_us: u64,
    address: [u8; MAX_ADDRESS],
    address_length: u8,
}

impl BdpFrame {
    /// The contents of a received frame; `None` for another frame.
    pub(crate) fn read(frame: &Frame<'_>) -> Option<BdpFrame> {
        let Frame::Bdp { lifetime_us, capacity, min_rtt_us, address: bytes } = *frame else { return None };
        let mut address = [0; MAX_ADDRESS];
        address.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(BdpFrame { lifetime_us, capacity, min_rtt_us, address, address_length: bytes.len() as u8 })
    }

    pub(crate) fn frame(&self) -> Frame<'_> {
        let BdpFrame { lifetime_us, capacity, min_rtt_us, ref address, address_length } = *self;
        let address = &address[..usize::from(address_length)];
        Frame::Bdp { lifetime_us, capacity, min_rtt_us, address }
    }

    /// The capacity in bytes and the RTT, as the client can read them.
    pub(crate) fn readable(&self) -> (u64, Duration) {
        (self.capacity, Duration::from_micros(self.min_rtt_us))
    }

    /// The same without what binds it to its path.
    #[cfg(feature = "fuzz")]
    pub(crate) fn unbound(&self) -> BdpFrame {
        let seal = self.seal().map(|seal| Seal { path: 0, ..seal });
        BdpFrame { address: seal.map_or(self.address, Seal::write), ..*self }
    }

    /// Multiplies the capacity, up to what a frame can hold.
    pub(crate) fn multiply(&mut self, factor: f64) {
        self.capacity = ((self.capacity as f64 * factor) as u64).min(wire::varint::MAX);
    }

    /// The frame with which a server passes this capacity on at a date in milliseconds since 1970.
    pub(crate) fn issue(key: &EndpointKey, resume: &Resume, learned: Learned, date_ms: u64) -> BdpFrame {
        let seconds = u32::try_from(date_ms / 1000).unwrap_or(u32::MAX);
        let age_us = date_ms.saturating_sub(learned.date_ms).saturating_mul(1000);
        let mut issued = BdpFrame {
            lifetime_us: resume.lifetime.as_micros().saturating_sub(age_us),
            capacity: learned.saved.window,
            min_rtt_us: learned.saved.rtt.as_micros(),
            address: [0; MAX_ADDRESS],
            address_length: MAX_ADDRESS as u8,
        };
        let code = issued.code(key, seconds);
        let path = path_code(key, code, resume, learned.ip);
        issued.address = Seal { seconds, code, path }.write();
        issued
    }

    /// The capacity in a frame that a client at this address presents at this date in milliseconds since 1970.
    pub(crate) fn open(&self, key: &EndpointKey, resume: &Resume, ip: IpAddr, date_ms: u64) -> Opened {
        let Some(seal) = self.seal() else {
            return Opened { hashes: None, learned: Err(Refusal::Unknown) };
        };
        if seal.code != self.code(key, seal.seconds) {
            return Opened { hashes: None, learned: Err(Refusal::Forged) };
        }
        // Equal values of the same second have equal codes: the path tells the frames of two clients apart, where it is proven.
        let anywhere = key.ids().hash(&seal.code.to_be_bytes());
        let proven = resume.checks.path && seal.path == path_code(key, seal.code, resume, ip);
        let here = if proven { key.ids().hash(&self.address) } else { anywhere };
        let learned = match resume.checks.path && !proven {
            true => Err(Refusal::OtherPath),
            false => self.open_authentic(resume, ip, date_ms),
        };
        Opened { hashes: Some((here, anywhere)), learned }
    }

    fn open_authentic(&self, resume: &Resume, ip: IpAddr, date_ms: u64) -> Result<Learned, Refusal> {
        let lifetime_ms = self.lifetime_us / 1000;
        let age_ms = date_ms.checked_sub(self.date_ms());
        if resume.checks.lifetime && age_ms.is_none_or(|age| age > lifetime_ms) {
            return Err(Refusal::Expired);
        }
        let saved = Saved { window: self.capacity, rtt: Duration::from_micros(self.min_rtt_us) };
        let observed_ms = (self.date_ms() + lifetime_ms).saturating_sub(resume.lifetime.as_millis());
        Ok(Learned { saved, ip, date_ms: observed_ms })
    }

    /// The date of issue in milliseconds since 1970.
    pub(crate) fn date_ms(&self) -> u64 {
        self.seal().map_or(0, |seal| u64::from(seal.seconds) * 1000)
    }

    fn seal(&self) -> Option<Seal> {
        Seal::read(&self.address[..usize::from(self.address_length)])
    }

    /// What authenticates the frame, but for its path.
    fn code(&self, key: &EndpointKey, seconds: u32) -> u64 {
        let mut text = Vec::with_capacity(3 * 8 + 4);
        for value in [self.lifetime_us, self.capacity, self.min_rtt_us] {
            text.extend_from_slice(&value.to_be_bytes());
        }
        text.extend_from_slice(&seconds.to_be_bytes());
        let code = key.authenticate(&text);
        u64::from_be_bytes(*code.first_chunk().expect("an authentication code has 32 bytes"))
    }
}

/// What binds a frame with this code to a path.
fn path_code(key: &EndpointKey, code: u64, resume: &Resume, ip: IpAddr) -> u32 {
    let mut text = code.to_be_bytes().to_vec();
    if let PathKey::Address(ip) = PathKey::of(ip, resume.by_prefix) {
        match ip {
            IpAddr::V4(ip) => text.extend_from_slice(&ip.octets()),
            IpAddr::V6(ip) => text.extend_from_slice(&ip.octets()),
        }
    }
    let code = key.authenticate(&text);
    let bits = u32::from_be_bytes(*code.first_chunk().expect("an authentication code has 32 bytes"));
    bits >> (u32::BITS - Seal::PATH_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATE_MS: u64 = 1_700_000_000_000;

    fn key() -> EndpointKey {
        EndpointKey::new(&[1; 32])
    }
    fn resume(path: bool, by_prefix: bool) -> Resume {
        let mut resume = Resume { lifetime: Duration::from_secs(3600), by_prefix, ..Resume::default() };
        resume.checks.path = path;
        resume
    }
    fn learned() -> Learned {
        let saved = Saved { window: 3_750_000, rtt: Duration::from_millis(600) };
        Learned { saved, ip: [10, 0, 0, 1].into(), date_ms: DATE_MS }
    }

    #[test]
    fn a_frame_returns_what_it_was_issued_for() {
        let resume = resume(true, false);
        let issued = BdpFrame::issue(&key(), &resume, learned(), DATE_MS + 7_000);
        let mut bytes = Vec::new();
        issued.frame().encode(&mut bytes);
        let frame = wire::Frames::new(&bytes, 0).next().unwrap().unwrap();
        assert!(matches!(
            frame,
            Frame::Bdp { lifetime_us: 3_593_000_000, capacity: 3_750_000, min_rtt_us: 600_000, .. }
        ));
        let read = BdpFrame::read(&frame).unwrap();
        assert_eq!(read, issued);
        assert_eq!(BdpFrame::read(&Frame::Ping), None);
        let open = |ip: [u8; 4], at| read.open(&key(), &resume, ip.into(), at).learned;
        assert_eq!(open([10, 0, 0, 1], DATE_MS + 3_600_000), Ok(learned()));
        assert_eq!(open([10, 0, 0, 1], DATE_MS + 3_600_001), Err(Refusal::Expired));
        assert_eq!(open([10, 0, 0, 1], DATE_MS + 6_999), Err(Refusal::Expired));
        assert_eq!(open([10, 0, 0, 2], DATE_MS + 7_000), Err(Refusal::OtherPath));
        let other = EndpointKey::new(&[2; 32]);
        let forged = Opened { hashes: None, learned: Err(Refusal::Forged) };
        assert_eq!(read.open(&other, &resume, [10, 0, 0, 1].into(), DATE_MS), forged);
    }

    /// A dissector that takes the fields for types of frames reads two varints of the seal, and ends where the frame ends.
    #[test]
    fn the_seal_is_two_varints() {
        let all = Seal { seconds: u32::MAX, code: u64::MAX, path: (1 << Seal::PATH_BITS) - 1 };
        assert_eq!((all.write(), Seal::read(&[0xff; MAX_ADDRESS])), ([0xff; MAX_ADDRESS], Some(all)));
        let none = Seal { seconds: 0, code: 0, path: 0 };
        assert_eq!(Seal::read(&none.write()), Some(none));
        let seal = Seal { seconds: 0x6789_abcd, code: 0x0123_4567_89ab_cdef, path: 0x0fed_cba9 };
        assert_eq!(Seal::read(&seal.write()), Some(seal));
        let issued = BdpFrame::issue(&key(), &resume(true, false), learned(), DATE_MS);
        let mut bytes = Vec::new();
        issued.frame().encode(&mut bytes);
        let mut reader = wire::varint::Reader::new(&bytes);
        // Type, lifetime, capacity, RTT, length, and the seal.
        let read: Vec<u64> = (0..7).map(|_| reader.varint().unwrap()).collect();
        assert_eq!((read[0], read[4], reader.varint().is_err()), (0xebd9, 16, true));
        assert_eq!(Seal::read(&[0x7f; MAX_ADDRESS]), None);
        assert_eq!(Seal::read(&[0xff; MAX_ADDRESS - 1]), None);
    }

    #[test]
    fn a_path_may_be_a_prefix_or_any() {
        let ip = |last: u8| IpAddr::from([10, 0, last, last]);
        for (path, by_prefix, near, far) in [
            (true, true, Ok(()), Err(Refusal::OtherPath)),
            (true, false, Err(Refusal::OtherPath), Err(Refusal::OtherPath)),
            (false, false, Ok(()), Ok(())),
        ] {
            let resume = resume(path, by_prefix);
            let issued = BdpFrame::issue(&key(), &resume, learned(), DATE_MS + 7_000);
            let open = |ip| issued.open(&key(), &resume, ip, DATE_MS + 7_000).learned.map(drop);
            assert_eq!((open([10, 0, 0, 7].into()), open(ip(9))), (near, far));
        }
    }

    /// Two clients with the same capacity, found at the same time, do not use up each other's frame; whoever tries paths does.
    #[test]
    fn what_is_used_up_is_the_frame_of_a_path() {
        let (checked, unchecked) = (resume(true, false), resume(false, false));
        let ip = |last| IpAddr::from([10, 0, 0, last]);
        let hashes = |frame: BdpFrame, last, resume: &Resume| {
            frame.open(&key(), resume, ip(last), DATE_MS).hashes.unwrap()
        };
        let issue = |last| BdpFrame::issue(&key(), &checked, Learned { ip: ip(last), ..learned() }, DATE_MS);
        let (one, two) = (issue(1), issue(2));
        assert_eq!(one.unbound(), two.unbound());
        let (here, there) = (hashes(one, 1, &checked), hashes(two, 2, &checked));
        assert!(here.0 != there.0 && here.1 == there.1 && here.0 != here.1);
        // Of another path: barred everywhere.
        assert_eq!(hashes(one, 3, &checked), (here.1, here.1));
        let mut altered = one;
        altered.address[15] ^= 1;
        assert_eq!(hashes(altered, 1, &checked), (here.1, here.1));
        assert_eq!(hashes(one, 1, &unchecked), (here.1, here.1));
        assert_eq!(hashes(altered, 1, &unchecked), (here.1, here.1));
    }

    #[test]
    fn no_bit_can_be_altered() {
        let resume = resume(true, false);
        let issued = BdpFrame::issue(&key(), &resume, learned(), DATE_MS + 7_000);
        let open = |frame: BdpFrame| {
            let opened = frame.open(&key(), &resume, [10, 0, 0, 1].into(), DATE_MS + 7_000);
            let known = matches!(opened.learned, Ok(_) | Err(Refusal::OtherPath));
            assert_eq!(opened.hashes.is_some(), known, "it is used up if it was issued here");
            opened.learned
        };
        assert_eq!(open(issued), Ok(learned()));
        type Field = fn(&mut BdpFrame) -> &mut u64;
        let fields: [Field; 3] =
            [|frame| &mut frame.lifetime_us, |frame| &mut frame.capacity, |frame| &mut frame.min_rtt_us];
        for field in fields {
            for bit in 0..62 {
                let mut altered = issued;
                *field(&mut altered) ^= 1 << bit;
                assert_eq!(open(altered), Err(Refusal::Forged));
            }
        }
        for at in 0..128 {
            let mut altered = issued;
            altered.address[at / 8] ^= 1 << (at % 8);
            let expected = match at {
                6 | 7 | 70 | 71 => Refusal::Unknown,
                96..=99 | 104.. => Refusal::OtherPath,
                _ => Refusal::Forged,
            };
            assert_eq!(open(altered), Err(expected), "{at}");
        }
        // The address of another stack.
        let foreign = BdpFrame { address_length: 4, ..issued };
        assert_eq!(open(foreign), Err(Refusal::Unknown));
    }
}
