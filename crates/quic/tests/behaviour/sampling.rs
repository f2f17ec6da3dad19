//! Application-limited packets (draft-ietf-ccwg-bbr-06 section 4.1.2.4), and packets that are not paced (RFC 9002
//! section 7.7).

use crate::pair::{Pair, config, count, delay, ms, null, size};
use congestion::{AckSample, Allowance, Controller, Sent, Signal};
use std::sync::{Arc, Mutex};
use units::parameter::{Arguments, Component, Row, Value};
use units::{Duration, Rate, Time};

type Heard = Arc<Mutex<Vec<Sent>>>;

/// A controller with constant window and rate that records sent packets.
struct Witness {
    heard: Heard,
    allowance: Allowance,
}

impl Controller for Witness {
    fn on_sent(&mut self, sent: &Sent) {
        self.heard.lock().unwrap().push(*sent);
    }
    fn on_ack(&mut self, _ack: &AckSample<'_>) {}
    fn on_signal(&mut self, _signal: &Signal<'_>) {}
    fn allowance(&self) -> Allowance {
        self.allowance
    }
    fn state(&self) -> &'static str {
        "witness"
    }
}

/// A pair whose client has a recording controller with this name, sends this many packets at once after a pause, and
/// has this credit for each stream; and the controller's records from now on.
fn pair(name: &'static str, (window, rate): (u64, u64), burst: u64, credit: u64) -> (Pair, Heard) {
    let heard = Heard::default();
    let pen = heard.clone();
    let build: congestion::Build = Box::leak(Box::new(move |_: &Arguments, _| {
        let allowance = Allowance::new(window, Some(Rate::from_bits_per_sec(rate)));
        Box::new(Witness { heard: pen.clone(), allowance }) as Box<dyn Controller>
    }));
    congestion::plug(Row { name, about: "a witness", parameters: &[], build }).unwrap();
    let witness = Component { room: "controllers", name, arguments: Arguments(Vec::new()) };
    let server = config(&[("initial_max_stream_data_uni", size(credit))]);
    let client = config(&[("controller", Value::Component(witness)), ("pacing_burst", count(burst))]);
    let mut pair = Pair::new(null(), client, server, delay(10));
    pair.establish();
    pair.run_for(ms(100));
    heard.lock().unwrap().clear();
    (pair, heard)
}

/// The value of the flag, packet by packet.
fn flags(heard: &Heard) -> Vec<bool> {
    heard.lock().unwrap().iter().map(|sent| sent.app_limited).collect()
}

/// Writes this often, at this interval, the data of one packet.
fn trickle(pair: &mut Pair, times: u64, apart: Duration) {
    let stream = pair.upload(1100);
    for _ in 1..times {
        pair.run_for(apart);
        pair.upload_more(stream, 1100);
    }
    pair.run_for(apart);
}

#[test]
fn packets_of_an_application_that_writes_rarely_are_marked() {
    let (mut pair, heard) = pair("seldom", (1_000_000, 8_000_000), 10, 1_000_000);
    trickle(&mut pair, 30, ms(5));
    let flags = flags(&heard);
    assert!(flags.len() >= 30 && flags.iter().all(|limited| *limited), "{flags:?}");
}

#[test]
fn packets_of_a_full_window_are_not_marked() {
    let (mut pair, heard) = pair("window", (20_000, 80_000_000), 10, 10_000_000);
    pair.upload(400_000);
    pair.run_for(ms(300));
    let flags = flags(&heard);
    // One round trip after the preceding pause.
    assert!(flags[0] && flags.len() > 150 && flags[40..150].iter().all(|limited| !limited), "{flags:?}");
}

/// While the pacer blocks, a lack of data does not count as application-limited.
#[test]
fn packets_written_while_the_pacer_waits_are_not_marked() {
    // 1100 bytes with headers take more than 11 ms and are written every 11 ms: each packet waits a little.
    let (mut pair, heard) = pair("pacer", (1_000_000, 800_000), 1, 1_000_000);
    trickle(&mut pair, 50, ms(11));
    let flags = flags(&heard);
    // The first packets are marked: the pacer had saved enough for a larger packet.
    // At the end some are on the way, and two wait for the credit of a full one.
    assert!(flags[0] && flags.len() == 46 && flags[20..].iter().all(|limited| !limited), "{flags:?}");
}

/// Section 4.1.1.3.1: flow-control credit limits the rate as a network does.
#[test]
fn packets_are_not_marked_while_data_waits_for_credit() {
    for (name, waiting, marked) in [("credit", 60_000, false), ("no credit needed", 50_000, true)] {
        let (mut pair, heard) = pair(name, (1_000_000, 80_000_000), 10, 50_000);
        pair.upload(waiting);
        pair.run_for(ms(200));
        let before = flags(&heard).len();
        pair.upload(20_000);
        pair.run_for(ms(200));
        let flags = flags(&heard);
        assert!(flags.len() > before + 10 && flags[before..].iter().all(|flag| *flag == marked), "{flags:?}");
    }
}

/// RFC 9002 section 7.7 leaves it to the sender; section 6.2.4: a probe is sent when its timer expires.
#[test]
fn probes_are_not_paced() {
    let (mut pair, _) = pair("probes", (1_000_000, 9_600), 10, 1_000_000);
    let pto = pair.client().rtt().pto() + ms(25);
    pair.cut();
    let (start, mark) = (pair.now, pair.mark());
    pair.upload(100_000);
    pair.run_for(pto + ms(1));
    let times = pair.times_from(mark, true);
    let (burst, probes): (Vec<Time>, Vec<Time>) = times.iter().partition(|at| **at == start);
    // The burst of ten packets, less the credit that the handshake has used: what is left pays for eight whole packets.
    assert_eq!(burst.len(), 8, "{times:?}");
    assert_eq!(probes, [start + pto, start + pto], "{times:?}");
}
