//! Laws of cells and wireless LANs, over drawn ones: whatever the options and the traffic are, bytes are conserved in every
//! lane, the order of a pair is kept, the delays of the layers add up, nobody has more air than there is, and a run is the
//! same with an equal seed and in pieces.

mod support;

use network::medium::{self, Medium, MediumOptions};
use network::{Exits, NodeId, Packet, node_address};
use random::Generator;
use std::net::SocketAddr;
use support::{arguments, ms};
use trace::Interest;
use units::Time;

type Options = Vec<(&'static str, String)>;

/// A medium with its traffic.
struct Drawn {
    kind: &'static str,
    options: Options,
    /// Those of each terminal.
    own: Vec<Options>,
    /// Whether nothing may be lost.
    lossless: bool,
    /// Shares of the time that all lanes together can have.
    air: u64,
    /// When, from where to where, and the size.
    packets: Vec<(Time, (u16, u16), u32)>,
}

/// One of some words.
fn one(draw: &mut Generator, words: &[&str]) -> String {
    words[draw.below(words.len() as u64) as usize].to_owned()
}

fn packets(draw: &mut Generator, terminals: u64, between: bool) -> Vec<(Time, (u16, u16), u32)> {
    let gap = [20_000, 200_000, 2_000_000, 20_000_000][draw.below(4) as usize];
    let in_bursts = draw.chance(0.5);
    let mut now = 0;
    let packet = |_| {
        if !in_bursts || draw.chance(0.02) {
            now += draw.below(gap) * if in_bursts { 50 } else { 1 };
        }
        let terminal = 1 + draw.below(terminals) as u16;
        let ends = match draw.below(3) {
            0 => (terminal, 0),
            1 if between && terminals > 1 => (terminal, 1 + terminal % terminals as u16),
            _ => (0, terminal),
        };
        let size = [40, 100, 1200, 1500][draw.below(4) as usize];
        (Time::from_nanos(now), ends, size)
    };
    (0..600).map(packet).collect()
}

fn channel(draw: &mut Generator) -> String {
    match draw.below(3) {
        0 => format!("constant sinr={}", draw.below(30) as f64 - 4.0),
        1 => "drawn distance=300;speed=10".to_owned(),
        _ => format!("drawn distance=200;start=-{};speed=30;shadowing=6", draw.below(2000)),
    }
}

fn cell(seed: u64) -> Drawn {
    let mut random = Generator::new(seed, "cell");
    let draw = &mut random;
    let kind = if draw.chance(0.3) { "nr" } else { "lte" };
    let terminals = [1, 1, 2, 3, 5, 12][draw.below(6) as usize];
    let sites = 1 + draw.below(3);
    let mode = one(draw, &["am", "um"]);
    let forwarding = one(draw, &["true", "true", "false"]);
    let lossless = mode == "am" && forwarding == "true" && draw.chance(0.6);
    let queues = ["drop-tail limit=30 packets", "drop-tail limit=unlimited"];
    let mut options: Options = vec![
        ("scheduler", one(draw, &["round-robin", "proportional-fair", "max-rate"])),
        ("block_errors", one(draw, &["none", "target bler=0.1", "target bler=0.4", "curve"])),
        ("harq_retransmissions", draw.below(4).to_string()),
        ("request_period", one(draw, &["10 ms", "5 ms", "40 ms"])),
        ("reordering", one(draw, &["35 ms", "10 ms", "100 ms"])),
        ("status_prohibit", one(draw, &["10 ms", "0 s", "50 ms"])),
        ("poll_pdus", one(draw, &["4", "32"])),
        ("delay", one(draw, &["0 s", "2 ms"])),
        ("interruption", one(draw, &["40 ms", "0 s", "300 ms"])),
        ("sites", format!("{:?}", (0..sites).map(|site| 700 * site).collect::<Vec<u64>>())),
        ("rlc", mode),
        ("forwarding", forwarding),
        ("queue", if lossless { queues[1].to_owned() } else { one(draw, &queues) }),
    ];
    if kind == "lte" {
        options.push(("bandwidth", one(draw, &["1.4 MHz", "5 MHz", "20 MHz"])));
    }
    if draw.chance(0.3) {
        options.push(("uplink_block_errors", one(draw, &["none", "target bler=0.3"])));
    }
    if !lossless && draw.chance(0.3) {
        options.push(("discard", one(draw, &["50 ms", "5 ms"])));
    }
    let own = (0..terminals)
        .map(|_| {
            let mut own: Options = Vec::new();
            let channel = channel(draw);
            let is_constant = channel.starts_with("constant");
            // A cell out of reach, or whose blocks all fail, never ends.
            if lossless || draw.chance(0.5) {
                own.push(("mcs", (3 + draw.below(20)).to_string()));
                own.push(("block_errors", one(draw, &["none", "target bler=0.1", "target bler=0.4"])));
            }
            own.push(("channel", channel));
            if sites > 1 {
                let at = draw.below(2_000);
                own.push((
                    "handover",
                    match draw.below(3) {
                        0 => "none".to_owned(),
                        1 if !is_constant => {
                            "sinr hysteresis=0.5;time_to_trigger=120 ms;averaging=0 s".to_owned()
                        }
                        _ => format!("times steps=[{at} ms, 1, {} ms, 0, {} s, 1]", at + 30, 3 + at),
                    },
                ));
            }
            own
        })
        .collect();
    Drawn { kind, options, own, lossless, air: 2 * sites, packets: packets(draw, terminals, false) }
}

fn wlan(seed: u64) -> Drawn {
    let mut random = Generator::new(seed, "wlan");
    let draw = &mut random;
    let terminals = [1, 2, 3, 5, 12][draw.below(5) as usize];
    let standard = one(draw, &["b", "a", "g", "n", "n-2.4"]);
    let is_n = standard.starts_with('n');
    let mut options: Options = vec![
        ("rts_threshold", one(draw, &["1 MB", "500 B", "0 B"])),
        ("attempts", one(draw, &["1", "4", "7"])),
        ("frame_errors", one(draw, &["none", "target per=0.1", "target per=0.6", "curve"])),
        ("queue", one(draw, &["drop-tail limit=30 packets", "drop-tail limit=unlimited"])),
        ("rate_control", one(draw, &["fixed", "minstrel"])),
        ("delay", one(draw, &["0 s", "1 ms"])),
    ];
    if is_n {
        options.push(("ampdu_frames", one(draw, &["1", "8", "64"])));
        options.push(("width", one(draw, &["20 MHz", "40 MHz"])));
    }
    if matches!(standard.as_str(), "g" | "n-2.4") {
        options.push(("slot", one(draw, &["short", "long"])));
    }
    if terminals > 1 && draw.chance(0.4) {
        options.push(("hidden", "[1, 2]".to_owned()));
    }
    options.push(("standard", standard));
    let own = (0..terminals).map(|_| vec![("channel", channel(draw))]).collect();
    Drawn { kind: "wlan", options, own, lossless: false, air: 1, packets: packets(draw, terminals, false) }
}

impl Drawn {
    fn build(&self, seed: u64) -> Box<dyn Medium> {
        let row = medium::MEDIA.iter().find(|row| row.name == self.kind).unwrap();
        let read = |own: &Options| {
            // An option of a terminal replaces that of the medium.
            let shared = self.options.iter().filter(|(name, _)| own.iter().all(|(other, _)| other != name));
            let all: Vec<_> = shared.chain(own).map(|(name, text)| (*name, text.as_str())).collect();
            arguments(row.parameters, &all)
        };
        let mut attachments = vec![("medium air 0".to_owned(), read(&Options::new()))];
        attachments.extend((1..).map(|number| format!("medium air {number}")).zip(self.own.iter().map(read)));
        let options = MediumOptions {
            arguments: &read(&Options::new()),
            attachments: &attachments,
            station: true,
            name: "medium air",
            stream: &|name| Generator::new(seed, name),
            flows: &[],
            delays: true,
            interest: Interest::NONE,
        };
        medium::build(self.kind, &options).unwrap()
    }

    /// Plays the traffic, then a minute more, in pieces of this many ms; tests the laws after each piece.
    fn play(&self, seed: u64, piece: u64) -> Outcome {
        let mut medium = self.build(seed);
        let mut exits = Exits::default();
        let mut arrivals = Vec::new();
        let mut run = |medium: &mut dyn Medium, until: Time, exits: &mut Exits| {
            while let Some(at) = medium.wake_at().filter(|at| *at <= until) {
                while medium.is_due(at) {
                    if let Some((to, packet)) = medium.deliver(at, exits) {
                        arrivals.push((at, to, packet.flow));
                    }
                }
            }
        };
        let address = |end: u16| SocketAddr::new(node_address(NodeId(end.into()), false), 1);
        let mut next = piece;
        for (number, (at, ends, size)) in self.packets.iter().enumerate() {
            while ms(next) <= *at {
                run(&mut *medium, ms(next), &mut exits);
                medium.catch_up(ms(next), &mut exits);
                self.check(&*medium, ms(next));
                next += piece;
            }
            run(&mut *medium, *at, &mut exits);
            let mut packet =
                Packet::new(address(ends.0), address(ends.1), vec![0; *size as usize - 28], None);
            packet.flow = number as u32;
            medium.offer(*at, ends.0, ends.1, Box::new(packet), &mut exits);
        }
        let end = self.packets[self.packets.len() - 1].0 + units::Duration::from_secs(60);
        run(&mut *medium, end, &mut exits);
        medium.catch_up(end, &mut exits);
        self.check(&*medium, end);
        let lanes = 0..medium.lanes().len();
        let counts = lanes.map(|lane| format!("{:?}", medium.lane(lane))).collect();
        Outcome { arrivals, counts, medium }
    }

    /// What holds at all times.
    fn check(&self, medium: &dyn Medium, now: Time) {
        let mut air = 0;
        for lane in 0..medium.lanes().len() {
            let view = medium.lane(lane);
            let stats = view.stats;
            let gone = stats.delivered + stats.dropped_queue + stats.dropped_mtu + stats.lost + stats.inside;
            assert_eq!(gone, stats.accepted, "lane {lane} at {now}");
            air += view.air.unwrap().airtime.as_nanos();
        }
        assert!(air <= self.air * now.as_nanos(), "{air} ns of air at {now}");
    }
}

struct Outcome {
    arrivals: Vec<(Time, u16, u32)>,
    counts: Vec<String>,
    medium: Box<dyn Medium>,
}

/// What holds at the end of a run.
fn check(drawn: &Drawn, outcome: &Outcome, what: &str) {
    // The packets of a pair arrive in their order, each once.
    let mut last = std::collections::BTreeMap::new();
    for (_, to, number) in &outcome.arrivals {
        let (_, ends, _) = drawn.packets[*number as usize];
        assert_eq!(ends.1, *to, "{what}");
        assert!(last.insert(ends, *number).is_none_or(|before| before < *number), "{what}: {number}");
    }
    // The delays of the layers add up to those of the packets.
    let medium = &*outcome.medium;
    let delay = medium.delay().as_nanos();
    let all: u64 = outcome
        .arrivals
        .iter()
        .map(|(at, _, number)| at.since(drawn.packets[*number as usize].0).as_nanos() - delay)
        .sum();
    let layers: u64 = (0..medium.lanes().len())
        .map(|lane| {
            let delays = medium.lane(lane).air.unwrap().delays;
            [delays.queue, delays.access, delays.transfer, delays.order]
                .map(|part| part.as_nanos())
                .iter()
                .sum::<u64>()
        })
        .sum();
    let inside: u64 = (0..medium.lanes().len()).map(|lane| medium.lane(lane).stats.inside.packets).sum();
    if inside == 0 {
        assert_eq!(layers, all, "{what}");
        assert_eq!(medium.wake_at(), None, "{what}: a medium with nothing to send has no timer");
    }
    if drawn.lossless {
        assert_eq!(
            outcome.arrivals.len(),
            drawn.packets.len(),
            "{what}: the acknowledged mode lost something"
        );
    }
}

fn laws(kind: &str, make: fn(u64) -> Drawn) {
    let (mut arrived, mut handovers, mut again, mut lost, mut lossless) = (0, 0, 0, 0, 0);
    for seed in 0..300 {
        let drawn = make(seed);
        let what = format!("{kind} {seed}");
        let outcome = drawn.play(seed, 1 << 40);
        check(&drawn, &outcome, &what);
        let other = drawn.play(seed, 1 + seed % 50);
        assert_eq!(outcome.arrivals, other.arrivals, "{what} in pieces");
        assert_eq!(outcome.counts, other.counts, "{what} in pieces");
        arrived += outcome.arrivals.len();
        for lane in 0..outcome.medium.lanes().len() {
            let air = outcome.medium.lane(lane).air.unwrap();
            (again, lost, handovers) = (again + air.again, lost + air.lost, handovers + air.handovers);
        }
        lossless += usize::from(drawn.lossless);
    }
    // The draws reach what the laws are about.
    assert!(arrived > 50_000 && again > 1_000 && lost > 100, "{arrived} {again} {lost}");
    assert!(kind == "wlan" || (handovers > 500 && lossless > 40), "{handovers} {lossless}");
}

#[test]
fn laws_of_drawn_cells() {
    laws("cell", cell);
}

#[test]
fn laws_of_drawn_wireless_lans() {
    laws("wlan", wlan);
}
