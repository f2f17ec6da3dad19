//! The echo of ECN marks, and the response of the controllers.

use crate::loss::{S, controlled, unpaced};
use crate::pair::{CLIENT, Fate, Pair};
use tcp::Config;
use wire::Ecn;
use wire::tcp::{Flags, Header};

/// RFC 9331 section 4.2, RFC 3168 section 6.1.2: the echo of RFC 3168 does not contain the number of marked packets. An
/// L4S controller therefore responds as to a loss, halving the window each time, instead of by the unknown share.
#[test]
fn a_controller_for_l4s_is_a_classic_sender() {
    for name in ["newreno", "prague"] {
        let mut pair = Pair::new(&Config { ecn: true, initial_window: 40, ..controlled(name) }, 1);
        pair.write(CLIENT, 100_000 * S, false);
        let mut halves = Vec::new();
        for round in 0..5 {
            // The first mark ends slow start; the marks are 30 round trips apart.
            let start = 110 + 3000 * round;
            pair.fate(|_| Fate::Delivered);
            pair.run(start);
            let mut marked = false;
            pair.fate(move |sent| {
                let this = !marked && sent.from == CLIENT && sent.payload() > 0;
                marked |= this;
                if this { Fate::Marked } else { Fate::Delivered }
            });
            let (before, _) = pair.ends[CLIENT].connection.flight();
            pair.run(start + 250);
            let (after, _) = pair.ends[CLIENT].connection.flight();
            halves.push(after as f64 / before as f64);
        }
        let stats = pair.ends[CLIENT].connection.stats();
        assert_eq!((stats.ecn_reductions, stats.retransmitted_bytes), (5, 0), "{name}");
        assert!(halves[1..].iter().all(|half| (0.49..0.53).contains(half)), "{name}: {halves:?}");
        assert!(pair.sent.iter().all(|sent| sent.ecn != wire::Ecn::Ect1));
    }
}

/// RFC 3168 section 6.1.3: the echo begins "when TCP receives a CE data packet"; a mark on a pure acknowledgement is
/// ignored.
#[test]
fn a_mark_without_data_is_not_echoed() {
    let mut pair = Pair::new(&Config { ecn: true, timestamps: false, ..unpaced() }, 1);
    pair.run(1000);
    pair.ends[CLIENT].checks = false;
    let header = Header {
        source: 4433,
        destination: 34_433,
        sequence: pair.sent[1].header().sequence.wrapping_add(1),
        acknowledgement: pair.sent[0].header().sequence.wrapping_add(1),
        flags: Flags::ACK,
        window: 100,
        ..Header::default()
    };
    for (payload, echo) in [(&b""[..], false), (b"abc", true)] {
        let mut bytes = Vec::new();
        header.encode(&mut bytes);
        bytes.extend_from_slice(payload);
        pair.arrive(CLIENT, Ecn::Ce, &bytes, None);
        // The client's next segment.
        let before = pair.sent.len();
        pair.write(CLIENT, 100, false);
        pair.ends[CLIENT].finishes = false;
        pair.run_to(pair.now);
        let said = pair.sent[before..].iter().find(|sent| sent.from == CLIENT && sent.payload() > 0);
        assert_eq!(said.map(|sent| sent.has(Flags::ECE)), Some(echo));
    }
}
