//! What a WLAN can carry: the rate of a station that sends alone.

use super::options::{self, WlanOptions};
use super::rate_control::{self, RateControlInputs};
use super::standard::{DELIMITER, LONGEST, MOST_BYTES, Standard};
use crate::medium::{Outlook, Way};
use random::Generator;
use units::parameter::Options;
use units::{Duration, Rate, Size};

/// The rate is that of packets of the MTU which the sender sends alone, without errors. It is at the fixed rate, which for
/// frames of the access point is that of the terminal, or at the best of those that its rate control can choose. A packet is in the air for the duration of a frame without contents.
pub(super) fn outlook(way: &Way<'_>) -> Option<Outlook> {
    let medium = WlanOptions::of(way.medium);
    let standard = options::standard(&medium).ok()?;
    let [sender, receiver] = way.ends.map(WlanOptions::of);
    let fixed = options::fixed(&standard, if way.from_station { &receiver } else { &sender }).ok()?;
    let usable = if standard.aggregates { 8 * medium.streams } else { standard.rates.len() };
    let durations: Vec<u64> = standard.rates[..usable].iter().map(|rate| rate.duration(1500)).collect();
    let control = &sender.rate_control;
    // What it would draw does not matter.
    let setup = RateControlInputs { durations: &durations, fixed, stream: Generator::new(0, "outlook") };
    let only = rate_control::build(control.name, &control.arguments, setup).ok()?.only();
    let possible = only.map_or(0..usable, |only| only..only + 1);
    let rate = |place: &usize| rate(&standard, *place, &medium, sender.mtu);
    let best = possible.max_by_key(rate)?;
    let least = Duration::from_nanos(standard.rates[best].duration(standard.overhead));
    Some(Outlook { rate: rate(&best), least })
}

/// The rate of packets of the MTU at the rate at a place, with the mean backoff before each frame or A-MPDU.
fn rate(standard: &Standard, place: usize, medium: &WlanOptions, mtu: u32) -> Rate {
    let (modulation, control) = (standard.rates[place], standard.control[place]);
    let frame = mtu + standard.overhead;
    let within = DELIMITER + frame.next_multiple_of(DELIMITER);
    let fits = |frames: u32| {
        let bytes = frames.saturating_mul(within);
        bytes <= MOST_BYTES && modulation.duration(bytes) <= LONGEST
    };
    let most = if standard.aggregates { medium.ampdu_frames as u32 } else { 1 };
    let frames = (2..=most).take_while(|frames| fits(*frames)).last().unwrap_or(1);
    let (bytes, response) =
        if frames == 1 { (frame, control.ack) } else { (frames * within, control.block_ack) };
    let mut ns = standard.ifs + u64::from(standard.window.0) * standard.slot / 2;
    if u64::from(bytes) > medium.rts_threshold.as_bytes() {
        ns += control.rts + control.cts + 2 * standard.sifs;
    }
    ns += modulation.duration(bytes) + standard.sifs + response;
    Rate::of(Size::from_bytes(u64::from(frames) * u64::from(mtu)), Duration::from_nanos(ns))
}
