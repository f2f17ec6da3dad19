//! WLANs in numbers that can be checked by hand, and against closed forms.

mod support;

use network::medium::{self, LaneView, Medium, MediumOptions};
use network::{Exits, NodeId, Packet, node_address};
use random::Generator;
use std::net::SocketAddr;
use support::{arguments, ms, us};
use trace::Interest;
use units::{Duration, Time};

type Given = [(&'static str, &'static str)];

/// A WLAN without a world around it; the first attachment is the access point.
struct Wlan {
    medium: Box<dyn Medium>,
    exits: Exits,
    now: Time,
    /// What arrived: when, at which attachment, and the number of the packet.
    got: Vec<(Time, u16, u32)>,
    /// Packets of 1500 bytes that stations keep waiting: from, to.
    saturated: Vec<(u16, u16)>,
    sent: u32,
}

impl Wlan {
    fn new(seed: u64, given: &Given, terminals: &[&Given]) -> Wlan {
        let row = medium::MEDIA.iter().find(|row| row.name == "wlan").unwrap();
        let own = |more: &Given| arguments(row.parameters, &[given, more].concat());
        let mut attachments = vec![("medium air ap".to_owned(), own(&[]))];
        let names = (1..).map(|number| format!("medium air {number}"));
        attachments.extend(names.zip(terminals.iter().map(|given| own(given))));
        let options = MediumOptions {
            arguments: &own(&[]),
            attachments: &attachments,
            station: true,
            name: "medium air",
            stream: &|name| Generator::new(seed, name),
            flows: &[],
            delays: true,
            interest: Interest::NONE,
        };
        let medium = medium::build("wlan", &options).unwrap();
        let exits = Exits::default();
        Wlan { medium, exits, now: Time::ZERO, got: Vec::new(), saturated: Vec::new(), sent: 0 }
    }
    fn send(&mut self, at: Time, ends: (u16, u16), size: u32) {
        self.run(at);
        self.offer(ends, size);
    }
    fn offer(&mut self, ends: (u16, u16), size: u32) {
        let address = |end: u16| SocketAddr::new(node_address(NodeId(end.into()), false), 1);
        let mut packet = Packet::new(address(ends.0), address(ends.1), vec![0; size as usize - 28], None);
        packet.flow = self.sent;
        self.sent += 1;
        self.medium.offer(self.now, ends.0, ends.1, Box::new(packet), &mut self.exits);
    }
    /// Fills the queues of saturated stations, of which each has up to 100 packets.
    fn fill(&mut self) {
        for at in 0..self.saturated.len() {
            let (from, to) = self.saturated[at];
            let inside = self.lane(usize::from(from)).stats.inside.packets;
            (inside..100).for_each(|_| self.offer((from, to), 1500));
        }
    }
    /// Runs up to and at a time.
    fn run(&mut self, until: Time) {
        while let Some(at) = self.medium.wake_at().filter(|at| *at <= until) {
            assert!(at >= self.now, "time goes back from {} to {at}", self.now);
            self.now = at;
            while self.medium.is_due(at) {
                if let Some((to, packet)) = self.medium.deliver(at, &mut self.exits) {
                    self.got.push((at, to, packet.flow));
                }
            }
        }
        self.now = until;
        self.medium.catch_up(until, &mut self.exits);
    }
    fn lane(&self, number: usize) -> LaneView<'_> {
        self.medium.lane(number)
    }
    /// Keeps stations saturated for a time; returns the Mbit/s of IP packets of each.
    fn saturate(&mut self, ends: &[(u16, u16)], seconds: u64) -> Vec<f64> {
        self.saturated = ends.to_vec();
        for step in 1..=100 * seconds {
            self.fill();
            self.run(ms(10 * step));
        }
        let airtime: u64 = (0..self.medium.lanes().len()).map(|n| self.airtime(n)).sum();
        assert!(airtime <= self.now.as_nanos(), "the medium was used for more than the time");
        let bits = |(from, _): &(u16, u16)| {
            self.lane(usize::from(*from)).stats.delivered.bytes as f64 * 8e-6 / seconds as f64
        };
        ends.iter().map(bits).collect()
    }
    fn airtime(&self, lane: usize) -> u64 {
        self.lane(lane).air.unwrap().airtime.as_nanos()
    }
}

/// Stations 1 to n send to the access point.
fn uplinks(n: u16) -> Vec<(u16, u16)> {
    (1..=n).map(|station| (station, 0)).collect()
}

const B: &Given = &[("standard", "b"), ("basic_rates", "[\"1 Mbit/s\"]")];
const G: &Given = &[("standard", "g")];

#[test]
fn one_packet_on_an_idle_medium_is_sent_at_once() {
    let mut wlan = Wlan::new(1, B, &[&[]]);
    wlan.send(ms(10), (1, 0), 1500);
    wlan.run(ms(20));
    // 192 us and 1536 bytes at 11 Mbit/s: 1118 us.
    assert_eq!(wlan.got, [(ms(10) + Duration::from_micros(1310), 0, 0)]);
    // SIFS and an ACK at 1 Mbit/s behind it are not counted as air time before the next frame.
    assert_eq!(wlan.airtime(1), 1_310_000);
    assert_eq!(wlan.medium.wake_at(), None, "a WLAN with nothing to send has no timer");
}

#[test]
fn the_access_point_sends_at_the_rate_of_the_terminal() {
    let mut wlan = Wlan::new(1, B, &[&[], &[("rate", "1 Mbit/s")]]);
    wlan.send(ms(10), (0, 1), 1500);
    wlan.send(ms(30), (0, 2), 1500);
    wlan.run(ms(60));
    // 192 us and 1536 bytes at 11 Mbit/s or at 1 Mbit/s.
    let arrivals = [ms(10) + Duration::from_micros(1310), ms(30) + Duration::from_micros(12_480)];
    assert_eq!(wlan.got, [(arrivals[0], 1, 0), (arrivals[1], 2, 1)]);
}

#[test]
fn one_sender_of_802_11b_has_the_closed_form() {
    let mut wlan = Wlan::new(1, B, &[&[]]);
    let rate = wlan.saturate(&uplinks(1), 60)[0];
    // DIFS, 15.5 slots in the mean, data, SIFS, ACK: 50 + 310 + 1310 + 10 + 304 us for 1500 bytes.
    assert!((rate / (12_000.0 / 1984.0) - 1.0).abs() < 5e-3, "{rate}");
    assert!((rate / 6.05 - 1.0).abs() < 5e-3, "{rate}");
}

/// The probability that a saturated station begins to send in a slot (Bianchi, IEEE JSAC 18 (3), 2000): windows of W 2^i
/// slots up to i = m, n stations.
fn tau(n: i32, (w, m): (f64, i32)) -> f64 {
    // Equation (7), with its fraction cancelled down.
    let tau_of = |p: f64| {
        let sum: f64 = (0..m).map(|i| (2.0 * p).powi(i)).sum();
        2.0 / (1.0 + w + p * w * sum)
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let p: f64 = (low + high) / 2.0;
        if 1.0 - (1.0 - tau_of(p)).powi(n - 1) > p { low = p } else { high = p }
    }
    tau_of((low + high) / 2.0)
}

/// Bianchi's saturation throughput in Mbit/s, equation (13), with times in us: a slot, a success and a collision with
/// what follows them.
fn bianchi(n: i32, windows: (f64, i32), (slot, success, collision): (f64, f64, f64)) -> f64 {
    let tau = tau(n, windows);
    let some = 1.0 - (1.0 - tau).powi(n);
    let one = f64::from(n) * tau * (1.0 - tau).powi(n - 1);
    12_000.0 * one / ((1.0 - some) * slot + one * success + (some - one) * collision)
}

#[test]
fn saturation_is_that_of_bianchi() {
    for n in [1, 2, 5, 10, 20, 50] {
        let unlimited = ("attempts", "255");
        // 802.11b: a collision ends with EIFS, which is as long as SIFS, ACK and DIFS.
        let stations = vec![&[][..]; n];
        let mut wlan = Wlan::new(n as u64, [B, &[unlimited]].concat().leak(), &stations);
        let b: f64 = wlan.saturate(&uplinks(n as u16), 20).iter().sum();
        let success = 1310.0 + 10.0 + 304.0 + 50.0;
        let expected = bianchi(n as i32, (32.0, 5), (20.0, success, success));
        let mut wlan = Wlan::new(n as u64, [G, &[unlimited]].concat().leak(), &stations);
        let g: f64 = wlan.saturate(&uplinks(n as u16), 20).iter().sum();
        // 802.11g: an ACK takes 34 us at 24 Mbit/s, and EIFS counts with one at 6 Mbit/s, 50 us.
        let times = (9.0, 254.0 + 10.0 + 34.0 + 28.0, 254.0 + 10.0 + 50.0 + 28.0);
        let expected_g = bianchi(n as i32, (16.0, 6), times);
        assert!((b / expected - 1.0).abs() < 0.03, "b {n}: {b} {expected}");
        assert!((g / expected_g - 1.0).abs() < 0.03, "g {n}: {g} {expected_g}");
    }
}

#[test]
fn equal_stations_have_equal_shares() {
    let mut wlan = Wlan::new(1, B, &[&[][..]; 10]);
    let rates = wlan.saturate(&uplinks(10), 30);
    let (sum, squares) = rates.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    assert!(sum * sum / (10.0 * squares) > 0.99, "{rates:?}");
}

#[test]
fn a_slow_station_makes_all_slow() {
    let mut wlan = Wlan::new(1, B, &[&[], &[("rate", "1 Mbit/s")]]);
    let rates = wlan.saturate(&uplinks(2), 300);
    // Heusse et al., "Performance anomaly of 802.11b", 2003: equal chances, so equal throughput. Of a collision the fast
    // station knows before the slow one, so that it is a little ahead.
    assert!((rates[0] / rates[1] - 1.0).abs() < 0.08, "{rates:?}");
    // For each success of either, (1 - tau) / (2 tau) slots are idle and tau / (2 - 2 tau) collisions of the length of a slow
    // frame happen; SIFS, ACK and DIFS are behind each.
    let tau = tau(2, (32.0, 5));
    let (fast, slow, behind) = (1310.0, 12_480.0, 10.0 + 304.0 + 50.0);
    let others = (1.0 - tau) / tau * 20.0 + tau / (1.0 - tau) * (slow + behind);
    let expected = 12_000.0 / (fast + slow + 2.0 * behind + others);
    assert!(((rates[0] + rates[1]) / 2.0 / expected - 1.0).abs() < 0.02, "{rates:?} {expected}");
}

#[test]
fn hidden_stations_collide_and_rts_helps() {
    let hidden = ("hidden", "[[\"1\", \"2\"]]");
    let slow = ("rate", "1 Mbit/s");
    let run = |given: &Given| {
        let mut wlan = Wlan::new(1, [B, &[slow], given].concat().leak(), &[&[], &[]]);
        wlan.saturate(&uplinks(2), 100).iter().sum::<f64>()
    };
    let (open, alone) = (run(&[]), run(&[hidden]));
    let with_rts = run(&[hidden, ("rts_threshold", "500 B")]);
    // A frame takes as long as 624 slots, and the longest backoff 1023: hardly any is free of the other's frame. An RTS of
    // 352 us takes as long as 18.
    assert!(alone < 0.4 * open, "{alone} {open}");
    assert!(with_rts > 0.8 * open && with_rts < open, "{with_rts} {open}");
}

#[test]
fn rts_and_cts_take_their_time() {
    let mut wlan = Wlan::new(1, [B, &[("rts_threshold", "500 B")]].concat().leak(), &[&[]]);
    wlan.send(ms(10), (1, 0), 1500);
    wlan.send(ms(30), (1, 0), 300);
    wlan.run(ms(40));
    // RTS 192 + 160, SIFS, CTS 192 + 112, SIFS, data; and a short frame without: 192 + 336 x 8 / 11 us.
    let first = ms(10) + Duration::from_micros(352 + 10 + 304 + 10 + 1310);
    assert_eq!(wlan.got, [(first, 0, 0), (ms(30) + Duration::from_micros(192 + 245), 0, 1)]);
}

#[test]
fn frames_that_fail_are_sent_again_up_to_the_limit() {
    let given: &Given =
        &[("standard", "b"), ("basic_rates", "[\"1 Mbit/s\"]"), ("frame_errors", "target per=0.3")];
    let mut wlan = Wlan::new(1, given, &[&[]]);
    let packets = 20_000;
    for number in 0..packets {
        wlan.send(ms(100 * (number + 1)), (1, 0), 500);
    }
    wlan.run(ms(100 * (packets + 2)));
    let (count, air) = (packets as f64, wlan.lane(1).air.unwrap());
    assert_eq!(air.sent, packets);
    // Attempts beyond the first: p + p^2 + ... + p^6; given up: p^7.
    let again: f64 = (1..7).map(|k| 0.3f64.powi(k)).sum();
    assert!((air.again as f64 / count / again - 1.0).abs() < 0.03, "{air:?}");
    let lost = count * 0.3f64.powi(7);
    assert!((air.lost as f64 - lost).abs() < 4.0 * lost.sqrt(), "{air:?} {lost}");
    assert_eq!(air.lost + wlan.got.len() as u64, packets);
}

#[test]
fn aggregation_amortises_the_overhead_and_keeps_the_order() {
    let given: &Given = &[("standard", "n"), ("frame_errors", "target per=0.1"), ("mcs", "7")];
    let mut wlan = Wlan::new(1, given, &[&[]]);
    let with = wlan.saturate(&uplinks(1), 10)[0];
    let got: Vec<u32> = wlan.got.iter().map(|(_, _, number)| *number).collect();
    assert!(got.is_sorted(), "a packet has overtaken another");
    let mut wlan = Wlan::new(1, [given, &[("ampdu_frames", "1")]].concat().leak(), &[&[]]);
    let without = wlan.saturate(&uplinks(1), 10)[0];

    // 65 Mbit/s; one frame takes 43 + 7.5 slots of 9 + 228 + 16 + an ACK of 28 us and 10 % fail; the most of an A-MPDU is
    // 42 frames of 1544 B, of which 90 % get through: 58 Mbit/s.
    assert!((52.0..58.5).contains(&with), "{with}");
    assert!((26.0..30.0).contains(&without), "{without}");
}

#[test]
fn minstrel_finds_the_rate_that_works() {
    // At 12 dB 18 Mbit/s fail in less than a percent, 24 Mbit/s nearly always.
    let at = |more: &Given| {
        let given =
            [&[("standard", "g"), ("frame_errors", "curve"), ("channel", "constant sinr=12.0")], more];
        let mut wlan = Wlan::new(1, given.concat().leak(), &[&[]]);
        wlan.saturate(&uplinks(1), 20)[0]
    };
    let best = ["6", "9", "12", "18", "24", "36", "48", "54"]
        .map(|rate| at(&[("rate", format!("{rate} Mbit/s").leak())]));
    let found = at(&[("rate_control", "minstrel")]);

    let best = best.into_iter().fold(0.0, f64::max);
    assert!(found > 0.85 * best && found <= best, "{found} {best}");
}

#[test]
fn a_packet_that_comes_during_a_frame_waits_for_its_end() {
    let mut wlan = Wlan::new(3, B, &[&[], &[]]);
    wlan.run(us(10_000));
    wlan.offer((1, 0), 1500);
    wlan.send(us(10_100), (2, 0), 1500);
    wlan.run(ms(100));
    // SIFS, ACK, DIFS and a backoff behind the first frame.
    assert_eq!(wlan.got[0], (us(10_000 + 1310), 0, 0));
    let gap = wlan.got[1].0.since(wlan.got[0].0).as_micros() - (10 + 304 + 50 + 1310);
    assert!(gap.is_multiple_of(20) && gap <= 31 * 20, "{gap}");
}

/// Stations that begin at once sense a frame only after aCCATime: of two packets that come to an idle medium, the second one
/// collides if it comes within 15 us (b), or 4 us (g), whether all hear each other or each has its own carrier sense.
#[test]
fn stations_that_begin_at_once_collide_within_the_time_of_carrier_sense() {
    let hidden: &Given = &[("hidden", "[[\"3\", \"4\"]]")];
    for (standard, sense, first) in [(B, 15, 1310), (G, 4, 254)] {
        for apart in [&[], hidden] {
            for gap in 0..=20 {
                let mut wlan = Wlan::new(1, &[standard, apart].concat(), &[&[], &[], &[], &[]]);
                wlan.send(us(10_000), (1, 0), 1500);
                wlan.send(us(10_000 + gap), (2, 0), 1500);
                wlan.run(ms(100));
                assert_eq!(wlan.got.len(), 2);
                let arrives_alone = wlan.got[0] == (us(10_000 + first), 0, 0);
                assert_eq!(arrives_alone, gap >= sense, "{gap} us apart, {standard:?}, {apart:?}");
            }
        }
    }
}

/// A station with a backoff begins together with one that begins at once if its turn comes before it senses that: with slots of
/// 20 us, in nearly three of four cases.
#[test]
fn a_backoff_that_ends_within_the_time_of_carrier_sense_collides() {
    for apart in [&[] as &Given, &[("hidden", "[[\"3\", \"4\"]]")]] {
        let mut collided = 0;
        for gap in 0..200 {
            let given = [B, &[("window", "1")], apart].concat();
            let mut wlan = Wlan::new(gap, &given, &[&[], &[], &[], &[]]);
            // The backoff after the first frame is of 0 or 1 slot; the second packet of station 1 waits for it.
            wlan.send(us(10_000), (1, 0), 1500);
            wlan.send(us(10_100), (1, 0), 1500);
            // 1310 us, SIFS, an ACK and DIFS later both may begin: this one at once, up to 20 us later.
            wlan.send(us(11_674 + gap % 20), (2, 0), 1500);
            wlan.run(ms(100));
            let second = wlan.got[1].0.as_nanos() / 1000;
            collided += u32::from(second > 11_674 + 40 + 1310);
        }
        assert!((120..170).contains(&collided), "{collided}, {apart:?}");
    }
}

#[test]
fn stations_that_collide_wait_for_eifs_and_back_off_for_longer() {
    // Both wait behind the same frame; with windows of two slots they collide in half of the runs.
    let given = [B, &[("window", "1")]].concat();
    let mut collided = 0;
    for seed in 0..200 {
        let mut wlan = Wlan::new(seed, given.clone().leak(), &[&[], &[], &[]]);
        for (at, station) in [(0, 1), (100, 2), (100, 3)] {
            wlan.send(us(at), (station, 0), 1500);
        }
        wlan.run(ms(100));
        let after = wlan.got.iter().map(|(at, ..)| at.as_nanos() / 1000).collect::<Vec<_>>();
        // The second frame begins 364 us behind the first, in slot 0 or 1; a collision takes 1310 us and 364 us more.
        let wait = after[1] - after[0] - 364 - 1310;
        let (collisions, slots) = (wait / 1674, wait % 1674);
        // Windows of 2, 4, 8 ... slots.
        let most: u64 = (0..=collisions).map(|window| (2 << window) - 1).sum();
        assert!(slots.is_multiple_of(20) && slots <= 20 * most, "{after:?}");
        collided += u32::from(collisions > 0);
    }
    assert!((70..130).contains(&collided), "{collided}");
}

#[test]
fn a_station_does_not_hear_what_begins_together_with_its_own_frame() {
    let given = [B, &[("window", "1")]].concat();
    let mut collided = 0;
    for seed in 0..200 {
        let mut wlan = Wlan::new(seed, given.clone().leak(), &[&[], &[], &[]]);
        for (at, station, size) in [(0, 3, 1500), (100, 1, 1500), (100, 2, 100)] {
            wlan.send(us(at), (station, 0), size);
        }
        wlan.run(ms(100));
        let [first, short] =
            [0, 2].map(|number| wlan.got.iter().find(|(.., flow)| *flow == number).unwrap().0);
        let [first, short] = [first, short].map(|at| at.as_nanos() / 1000);
        // The short frame takes 291 us. If it begins together with the long one of 1310 us, which takes longer than an ACK
        // for it would, it is sent again 50 us and up to 3 slots after that, before the other.
        let wait = short - first - 364 - 291;
        if (1360..1674).contains(&wait) {
            collided += 1;
            assert!(wait <= 20 + 1360 + 60, "{wait}");
        }
    }
    assert!((70..130).contains(&collided), "{collided}");
}

/// The timer is a bound for the next arrival, and `Wlan::run` asserts that none is before it.
#[test]
fn no_arrival_is_before_the_timer() {
    let check = |given: &[(&'static str, &'static str)], terminals: &[&Given]| {
        let mut wlan = Wlan::new(1, given, terminals);
        for step in 1..20_000 {
            // All happens at whole microseconds.
            wlan.run(Time::from_nanos(700_500 * step));
            for station in 1..=terminals.len() as u16 {
                while wlan.lane(usize::from(station)).stats.inside.packets < 10 {
                    let size = if wlan.sent.is_multiple_of(3) { 1500 } else { 40 };
                    wlan.offer((station, 0), size);
                }
            }
        }
        assert!(wlan.got.len() > 100, "{}", wlan.got.len());
    };
    // A short frame takes longer with four streams, whose training fields are longer, than with one.
    check(&[("standard", "n"), ("ampdu_frames", "1")], &[&[("mcs", "31")], &[("mcs", "7")]]);
    // What was received behind a packet that is given up arrives with that.
    check(&[("standard", "n"), ("attempts", "1"), ("frame_errors", "target per=0.5")], &[&[]]);
    check(
        &[
            ("standard", "n"),
            ("attempts", "2"),
            ("rts_threshold", "50 B"),
            ("frame_errors", "target per=0.5"),
        ],
        &[&[]],
    );
    // An RTS that fails takes less time than the data, and the next packet may be shorter.
    let once: &Given = &[("attempts", "1"), ("window", "1"), ("rts_threshold", "500 B")];
    check(&[&[("standard", "a")], once].concat(), &[&[], &[]]);
}
