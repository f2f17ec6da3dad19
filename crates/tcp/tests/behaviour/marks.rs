//! What controllers make of the echo of marks.

use crate::loss::{S, controlled};
use crate::pair::{CLIENT, Fate, Pair};
use tcp::Config;

/// RFC 9331 section 4.2, RFC 3168 section 6.1.2: the echo of RFC 3168 does not tell how many packets were marked, so that a controller for
/// L4S answers it as a loss, each time by half, and not by the share of packets that it cannot know.
#[test]
fn a_controller_for_l4s_is_a_classic_sender() {
    for name in ["newreno", "prague"] {
        let mut pair = Pair::new(&Config { ecn: true, initial_window: 40, ..controlled(name) }, 1);
        pair.write(CLIENT, 100_000 * S, false);
        let mut halves = Vec::new();
        for round in 0..5 {
            // The first one ends slow start; 30 round trips lie between.
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
