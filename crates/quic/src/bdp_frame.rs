//! BDP_FRAME: a capacity on its way to the client and back (draft-kuhn-quic-0rtt-bdp-09 section 3).
//!
//! The client can read the remaining lifetime, capacity and RTT, and need not send them back. The saved address only concerns
//! the server, so its 16 bytes hold what makes the frame authentic instead:
//!
//! * the date of issue in seconds since 1970, in 4 bytes, from which the lifetime counts;
//! * 8 bytes of an HMAC-SHA256 over everything but the path;
//! * 4 bytes of an HMAC-SHA256 over these 8 and the path. A frame is used once, so that nobody can try paths.

use congestion::{Learned, PathKey, Refusal, Resume, Saved};
use std::net::IpAddr;
use tls::EndpointKey;
use units::Duration;
use wire::Frame;

/// The maximum length of the saved address.
const MAX_ADDRESS: usize = 16;

/// What a BDP_FRAME brings: the capacity and the frame's hash, or why it is not used.
pub(crate) type Opened = Result<(Learned, u64), Refusal>;

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
        issued.address[..4].copy_from_slice(&seconds.to_be_bytes());
        let code = issued.code(key);
        issued.address[4..12].copy_from_slice(&code);
        issued.address[12..].copy_from_slice(&path_code(key, code, resume, learned.ip));
        issued
    }

    /// The capacity in a frame that a client at this address presents at this date in milliseconds since 1970.
    pub(crate) fn open(&self, key: &EndpointKey, resume: &Resume, ip: IpAddr, date_ms: u64) -> Opened {
        if usize::from(self.address_length) != MAX_ADDRESS {
            return Err(Refusal::Unknown);
        }
        let code = self.code(key);
        if self.address[4..12] != code {
            return Err(Refusal::Forged);
        }
        if resume.checks.path && self.address[12..] != path_code(key, code, resume, ip) {
            return Err(Refusal::OtherPath);
        }
        let lifetime_ms = self.lifetime_us / 1000;
        let age_ms = date_ms.checked_sub(self.date_ms());
        if resume.checks.lifetime && age_ms.is_none_or(|age| age > lifetime_ms) {
            return Err(Refusal::Expired);
        }
        let saved = Saved { window: self.capacity, rtt: Duration::from_micros(self.min_rtt_us) };
        let observed_ms = (self.date_ms() + lifetime_ms).saturating_sub(resume.lifetime.as_millis());
        let learned = Learned { saved, ip, date_ms: observed_ms };
        Ok((learned, key.ids().hash(&self.address)))
    }

    /// The date of issue in milliseconds since 1970.
    pub(crate) fn date_ms(&self) -> u64 {
        let seconds = self.address.first_chunk().copied().map_or(0, u32::from_be_bytes);
        u64::from(seconds) * 1000
    }

    /// What authenticates the frame, but for its path.
    fn code(&self, key: &EndpointKey) -> [u8; 8] {
        let mut text = Vec::with_capacity(3 * 8 + 4);
        for value in [self.lifetime_us, self.capacity, self.min_rtt_us] {
            text.extend_from_slice(&value.to_be_bytes());
        }
        text.extend_from_slice(&self.address[..4]);
        key.authenticate(&text).first_chunk().copied().unwrap_or_default()
    }
}

/// What binds a frame with this code to a path.
fn path_code(key: &EndpointKey, code: [u8; 8], resume: &Resume, ip: IpAddr) -> [u8; 4] {
    let mut text = code.to_vec();
    if let PathKey::Address(ip) = PathKey::of(ip, resume.by_prefix) {
        match ip {
            IpAddr::V4(ip) => text.extend_from_slice(&ip.octets()),
            IpAddr::V6(ip) => text.extend_from_slice(&ip.octets()),
        }
    }
    key.authenticate(&text).first_chunk().copied().unwrap_or_default()
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
        let open = |ip: [u8; 4], at| read.open(&key(), &resume, ip.into(), at).map(|(learned, _)| learned);
        assert_eq!(open([10, 0, 0, 1], DATE_MS + 3_600_000), Ok(learned()));
        assert_eq!(open([10, 0, 0, 1], DATE_MS + 3_600_001), Err(Refusal::Expired));
        assert_eq!(open([10, 0, 0, 1], DATE_MS + 6_999), Err(Refusal::Expired));
        assert_eq!(open([10, 0, 0, 2], DATE_MS + 7_000), Err(Refusal::OtherPath));
        let other = EndpointKey::new(&[2; 32]);
        assert_eq!(read.open(&other, &resume, [10, 0, 0, 1].into(), DATE_MS), Err(Refusal::Forged));
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
            let open = |ip| issued.open(&key(), &resume, ip, DATE_MS + 7_000).map(drop);
            assert_eq!((open([10, 0, 0, 7].into()), open(ip(9))), (near, far));
        }
    }

    #[test]
    fn no_bit_can_be_altered() {
        let resume = resume(true, false);
        let issued = BdpFrame::issue(&key(), &resume, learned(), DATE_MS + 7_000);
        let open = |frame: BdpFrame| frame.open(&key(), &resume, [10, 0, 0, 1].into(), DATE_MS + 7_000);
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
            let expected = if at < 96 { Refusal::Forged } else { Refusal::OtherPath };
            assert_eq!(open(altered), Err(expected), "{at}");
        }
        // The address of another stack.
        let foreign = BdpFrame { address_length: 4, ..issued };
        assert_eq!(open(foreign), Err(Refusal::Unknown));
    }
}
