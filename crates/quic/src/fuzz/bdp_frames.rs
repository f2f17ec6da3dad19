//! Checks the seal of BDP_FRAME for arbitrary sequences of issued and presented frames.

use super::{address, keep};
use crate::bdp_frame::BdpFrame;
use congestion::{Learned, PathKey, PathStore, Refusal, Resume, Saved};
use std::collections::BTreeSet;
use std::net::IpAddr;
use tls::EndpointKey;
use units::Duration;
use wire::{Frame, Frames};

const LIFETIME: Duration = Duration::from_secs(1000);

/// An issued frame.
struct Issued {
    frame: BdpFrame,
    learned: Learned,
    /// The date of issue, in whole seconds, and the end of the lifetime, in milliseconds since 1970.
    valid: (u64, u64),
}

/// What was presented: frames on their own path, and frames without their path elsewhere.
#[derive(Default)]
struct Presented {
    here: BTreeSet<Vec<u8>>,
    anywhere: BTreeSet<Vec<u8>>,
}

impl Presented {
    /// Whether the frame can be used, which is then over.
    fn spend(&mut self, frame: BdpFrame, proven: bool) -> bool {
        let code = bytes(&frame.unbound());
        let unused = !self.anywhere.contains(&code);
        unused && if proven { self.here.insert(bytes(&frame)) } else { self.anywhere.insert(code) }
    }
}

/// Reads events of ten bytes each: the action, its frame or address, and the alteration. The first byte has the options.
///
/// # Panics
/// If a frame is accepted although it was altered, used, too old, or issued to another path; if any other frame is refused; or
/// if it brings something else than what it was issued for.
pub fn bdp_frames(data: &[u8]) {
    let Some((options, events)) = data.split_first() else { return };
    let mut resume = Resume { lifetime: LIFETIME, by_prefix: options & 1 == 1, ..Resume::default() };
    resume.checks.path = options & 2 == 0;
    let key = EndpointKey::new(&[7; 32]);
    let store = PathStore::default();
    let mut presented = Presented::default();
    let mut issued: Vec<Issued> = Vec::new();
    let mut date_ms = 1_000_000_000u64;
    for event in events.chunks_exact(10) {
        let [what, which, at, bit, how, time, age, window, shift, rtt] = event.try_into().expect("ten bytes");
        date_ms += u64::from(time) * u64::from(time);
        let ip = address(at, 0).ip();
        match what % 3 {
            0 => {
                let rtt = Duration::from_micros(u64::from(rtt) << (shift % 40));
                let saved = Saved { window: u64::from(window) << (shift % 54), rtt };
                let age_ms = u64::from(age) * 5_000;
                let learned = Learned { saved, ip, date_ms: date_ms - age_ms };
                let frame = BdpFrame::issue(&key, &resume, learned, date_ms);
                let from = date_ms / 1000 * 1000;
                let valid = (from, from + LIFETIME.as_millis().saturating_sub(age_ms));
                keep(&mut issued, Issued { frame, learned, valid });
            }
            // Arbitrary bytes.
            1 => {
                let payload = [&[0x80, 0, 0xeb, 0xd9], event, &[16], &[bit; 16]].concat();
                for frame in decoded(&payload) {
                    let opened = frame.open(&key, &resume, ip, date_ms);
                    assert!(opened.learned.is_err() && opened.hashes.is_none(), "{frame:?}");
                }
            }
            _ => {
                let count = issued.len();
                let Some(known) = issued.get(usize::from(which) % count.max(1)) else { continue };
                let ip = if how % 2 == 0 { known.learned.ip } else { ip };
                for frame in decoded(&altered(known.frame, at, bit, how / 2)) {
                    let hashes = present(&key, &resume, known, frame, ip, date_ms);
                    let Some((proven, (hash, barred))) = hashes else { continue };
                    let unused = store.spend(frame.date_ms(), hash, barred);
                    assert_eq!(unused, presented.spend(frame, proven), "{frame:?}");
                }
            }
        }
    }
}

/// The BDP_FRAMEs in a payload, up to the first byte that is no frame.
fn decoded(payload: &[u8]) -> Vec<BdpFrame> {
    let frames = Frames::new(payload, 0).map_while(Result::ok);
    frames.filter_map(|frame: Frame<'_>| BdpFrame::read(&frame)).collect()
}

/// The frame on the wire.
fn bytes(frame: &BdpFrame) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame.frame().encode(&mut bytes);
    bytes
}

/// The frame on the wire, intact or altered.
fn altered(frame: BdpFrame, at: u8, bit: u8, how: u8) -> Vec<u8> {
    let mut bytes = bytes(&frame);
    let at = usize::from(at) % bytes.len();
    match how % 4 {
        0 => bytes[at] ^= 1 << (bit % 8),
        1 => bytes[at] = bit,
        2 => bytes.truncate(at),
        _ => {}
    }
    bytes
}

/// Opens what may be an issued frame. If it is, returns whether it is proven that it comes from its own path, and its hashes.
fn present(
    key: &EndpointKey,
    resume: &Resume,
    known: &Issued,
    frame: BdpFrame,
    ip: IpAddr,
    date_ms: u64,
) -> Option<(bool, (u64, u64))> {
    let path = |ip| PathKey::of(ip, resume.by_prefix);
    let whole = frame == known.frame;
    let same_path = whole && path(ip) == path(known.learned.ip);
    let opened = frame.open(key, resume, ip, date_ms);
    // The last four bytes are the path's, and cannot be altered where that is checked.
    let authentic = opened.hashes.is_some();
    assert_eq!(authentic, frame.unbound() == known.frame.unbound(), "{frame:?}");
    let fresh = (known.valid.0..=known.valid.1).contains(&date_ms);
    let good = authentic && (!resume.checks.path || same_path) && fresh;
    match opened.learned {
        Ok(learned) => {
            assert!(good, "{frame:?} from {ip} at {date_ms}");
            let Learned { saved, date_ms: observed_ms, .. } = known.learned;
            assert_eq!((learned.saved, learned.ip), (saved, ip));
            // A date of issue in whole seconds makes it at most a second older, never younger. A lifetime that had ended when it
            // was issued is over at once.
            let limit_ms = known.valid.1.saturating_sub(LIFETIME.as_millis());
            assert_eq!(learned.date_ms, limit_ms);
            assert!(limit_ms <= observed_ms || known.valid.0 == known.valid.1);
        }
        Err(refusal) => {
            assert!(!good, "{frame:?} from {ip} at {date_ms}: {refusal}");
            let told_apart = matches!(refusal, Refusal::OtherPath | Refusal::Expired);
            assert_eq!(told_apart, authentic, "{frame:?}: {refusal}");
        }
    }
    opened.hashes.map(|hashes| (resume.checks.path && same_path, hashes))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// draft-kuhn-quic-0rtt-bdp-09 section 3: for any sequence of frames.
        #[test]
        fn frames_are_valid_once_and_where_they_were_issued(data in vec(any::<u8>(), 0..2000)) {
            super::bdp_frames(&data);
        }
    }
}
