//! The effect of the peer's acknowledgement delay on RTT samples (RFC 9002 section 5.3).

use crate::pair::{Pair, config, count, delay, ms, null, span};
use trace::PacketKind;

/// RFC 9000 sections 13.2.5 and 18.2: the ACK Delay field is in units of the sender's own ack_delay_exponent. A delay
/// in the right unit is subtracted from the samples; one in another unit is not.
#[test]
fn the_delay_is_in_units_of_the_peers_exponent() {
    for exponent in [0, 3, 10, 14] {
        let server = config(&[
            ("ack_delay_exponent", count(exponent)),
            ("max_ack_delay", span(200)),
            ("ack_ratio", count(10)),
        ]);
        let mut pair = Pair::new(null(), config(&[]), server, delay(10));
        pair.establish();
        let stream = pair.upload(100);
        for _ in 0..20 {
            pair.run_for(ms(500));
            pair.upload_more(stream, 100);
        }
        let rtt = pair.client().rtt();
        assert_eq!(rtt.latest(), ms(220), "the server waited");
        // A unit of 2^14 us is 16 ms.
        let most = ms(20 + (1 << exponent) / 1000 + 1);
        assert!(rtt.smoothed() >= ms(20) && rtt.smoothed() <= most, "{exponent}: {}", rtt.smoothed());
    }
}

/// RFC 9002 section 5.3: an endpoint "MUST use the lesser of the acknowledgment delay and the peer's max_ack_delay
/// after the handshake is confirmed".
#[test]
fn a_delay_beyond_the_peers_maximum_is_limited() {
    for (claimed_ms, believed_ms) in [(10, 10), (25, 25), (26, 25), (80, 25)] {
        let mut pair = Pair::established();
        let before = pair.client().rtt();
        assert_eq!((before.min(), before.smoothed()), (ms(20), ms(20)));
        let mark = pair.mark();
        pair.upload(100);
        let number = pair.sent_from(mark, true)[0].number;
        pair.cut();
        pair.run_for(ms(60));
        let mut payload = Vec::new();
        wire::frame::ack(&mut payload, [number..=number], claimed_ms * 1000 / 8, None, 100);
        pair.inject_raw(false, PacketKind::OneRtt, &payload);
        let rtt = pair.client().rtt();
        assert_eq!(rtt.latest(), ms(60));
        assert_eq!(rtt.smoothed(), (ms(20) * 7 + ms(60 - believed_ms)) / 8, "{claimed_ms} ms");
    }
}

/// RFC 9002 section 5.1: a sample is taken only if "at least one of the newly acknowledged packets was ack-eliciting".
#[test]
fn ack_only_packets_give_no_sample() {
    let mut pair = Pair::established();
    let (now, rtt) = (pair.now, pair.client().rtt());
    let before = (rtt.latest(), rtt.smoothed());
    let stream = pair.server().open(wire::Direction::Unidirectional).unwrap();
    pair.server().write(now, stream, quic::Data::Virtual(10_000)).unwrap();
    let mark = pair.mark();
    pair.run_for(ms(11));
    let answers = pair.sent_from(mark, true);
    let newest = answers.last().unwrap();
    assert!(newest.names().iter().all(|name| *name == "ACK"), "{newest:?}");
    pair.cut();
    pair.run_for(ms(60));
    let mut payload = Vec::new();
    wire::frame::ack(&mut payload, [newest.number..=newest.number], 0, None, 100);
    pair.inject_raw(false, PacketKind::OneRtt, &payload);
    let rtt = pair.client().rtt();
    assert_eq!((rtt.latest(), rtt.smoothed()), before);
}
