//! The measurements: one file for each kind of case, one line for each case in [`all`].

mod bulk;
mod bulk_quinn;
mod controllers;
mod handshake;
mod handshake_quinn;
mod idle_pair;
mod many_flows;
mod media;
mod page;
mod queues;
mod schedule;
mod sweep;
mod varied;
mod video;

use crate::case::{Case, Protection, Ratio};
use crate::quiclab::Traces;
use units::Duration;

/// The reported ratios.
pub(crate) const RATIOS: &[Ratio] = &[
    Ratio {
        name: "ratio-null",
        over: "bulk-null",
        under: "quinn-null",
        about: "quiclab's speed over that of quinn-proto, no cryptography",
    },
    Ratio {
        name: "ratio-tls",
        over: "bulk-tls",
        under: "quinn-tls",
        about: "quiclab's speed over that of quinn-proto, with real keys",
    },
    Ratio {
        name: "cost-tls",
        over: "bulk-null",
        under: "bulk-tls",
        about: "quiclab: CPU time per packet with real keys over that without",
    },
    Ratio { name: "cost-tls-quinn", over: "quinn-null", under: "quinn-tls", about: "quinn-proto: the same" },
    Ratio {
        name: "cost-simulated-quinn",
        over: "quinn-null",
        under: "quinn-simulated",
        about: "quinn-proto: CPU time per packet in the simulated network over that in its own loop, no cryptography",
    },
    Ratio {
        name: "cost-tables",
        over: "bulk-null",
        under: "bulk-null-tables",
        about: "quiclab: CPU time per packet with tables over that without, no cryptography",
    },
    Ratio {
        name: "cost-stored",
        over: "bulk-null",
        under: "bulk-null-stored",
        about: "quiclab: CPU time per packet with tables handed over part by part over that without, no cryptography",
    },
    Ratio {
        name: "cost-qlog",
        over: "bulk-null",
        under: "bulk-null-qlog",
        about: "quiclab: CPU time per packet with qlog over that without, no cryptography",
    },
    Ratio {
        name: "cost-pcap",
        over: "bulk-tls",
        under: "bulk-tls-pcap",
        about: "quiclab: CPU time per packet with a capture over that without, with real keys",
    },
    loss("cost-loss-1", "window-125MB", "window-125MB-loss-1"),
    loss("cost-loss-5", "window-125MB", "window-125MB-loss-5"),
    loss("cost-overshoot", "slow-start", "slow-start-overshoot"),
    Ratio {
        name: "cost-1000-flows",
        over: "flows-1",
        under: "flows-1000",
        about: "quiclab: CPU time per packet with 1,000 flows over that with one",
    },
    Ratio {
        name: "cost-video",
        over: "video-playback",
        under: "video-bulk",
        about: "quiclab: CPU time of a playback over that of a bulk transfer of the same bytes",
    },
    Ratio {
        name: "cost-video-tables",
        over: "video-playback-tables",
        under: "video-playback",
        about: "quiclab: CPU time of a playback with its tables over that without",
    },
    cost("cost-queue-drop-head", "queue-drop-head"),
    cost("cost-queue-codel", "queue-codel"),
    cost("cost-queue-fq-codel", "queue-fq-codel"),
    cost("cost-queue-red", "queue-red"),
    cost("cost-queue-pie", "queue-pie"),
    cost("cost-queue-dualpi2", "queue-dualpi2"),
    cost("cost-queue-priority", "queue-priority"),
    cost("cost-queue-policer", "queue-policer"),
    control("cost-controller-cubic", "controller-cubic"),
    control("cost-controller-bbr1", "controller-bbr1"),
    control("cost-controller-bbr3", "controller-bbr3"),
    control("cost-controller-vegas", "controller-vegas"),
    control("cost-controller-westwood", "controller-westwood"),
    control("cost-controller-copa", "controller-copa"),
    control("cost-controller-prague", "controller-prague"),
    control("cost-controller-fixed", "controller-fixed"),
    medium("cost-medium-lte-1-down", "medium-lte-1-down"),
    medium("cost-medium-lte-1-up", "medium-lte-1-up"),
    medium("cost-medium-lte-10-down", "medium-lte-10-down"),
    medium("cost-medium-lte-10-up", "medium-lte-10-up"),
    medium("cost-medium-lte-100-down", "medium-lte-100-down"),
    medium("cost-medium-lte-100-up", "medium-lte-100-up"),
    medium("cost-medium-wlan-10-down", "medium-wlan-10-down"),
    medium("cost-medium-wlan-10-up", "medium-wlan-10-up"),
    medium("cost-medium-wlan-50-down", "medium-wlan-50-down"),
    medium("cost-medium-wlan-50-up", "medium-wlan-50-up"),
    linear("cost-medium-lte-10-sparse-down", "medium-lte-1-sparse-down", "medium-lte-10-sparse-down"),
    linear("cost-medium-lte-100-sparse-down", "medium-lte-1-sparse-down", "medium-lte-100-sparse-down"),
    linear("cost-medium-lte-300-sparse-down", "medium-lte-1-sparse-down", "medium-lte-300-sparse-down"),
    linear("cost-medium-lte-10-sparse-up", "medium-lte-1-sparse-up", "medium-lte-10-sparse-up"),
    linear("cost-medium-lte-100-sparse-up", "medium-lte-1-sparse-up", "medium-lte-100-sparse-up"),
    linear("cost-medium-lte-300-sparse-up", "medium-lte-1-sparse-up", "medium-lte-300-sparse-up"),
];

/// The cost of a packet where packets are lost.
const fn loss(name: &'static str, over: &'static str, under: &'static str) -> Ratio {
    Ratio { name, over, under, about: "quiclab: CPU time per delivered packet with losses over that without" }
}

/// The cost of a packet through a queue.
const fn cost(name: &'static str, under: &'static str) -> Ratio {
    Ratio {
        name,
        over: "bulk-null",
        under,
        about: "quiclab: CPU time per packet through this queue over that through drop-tail",
    }
}

/// The cost of a packet under a controller.
const fn control(name: &'static str, under: &'static str) -> Ratio {
    Ratio {
        name,
        over: "bulk-null",
        under,
        about: "quiclab: CPU time per packet under this controller over that under NewReno",
    }
}

/// The cost of a packet over a medium with a link layer.
const fn medium(name: &'static str, under: &'static str) -> Ratio {
    Ratio {
        name,
        over: "medium-link-up",
        under,
        about: "CPU time per packet over this medium over that over a link",
    }
}

/// The cost of a packet over a medium that has more terminals.
const fn linear(name: &'static str, over: &'static str, under: &'static str) -> Ratio {
    Ratio {
        name,
        over,
        under,
        about: "CPU time per packet of several terminals that send little, over that of one terminal",
    }
}

/// The case with this name that can be the only thing that a process does.
pub(crate) fn alone(name: &str) -> Option<Box<dyn Case>> {
    match name {
        "quinn-null" => Some(Box::new(bulk_quinn::Bulk::new(Protection::Null))),
        "quinn-tls" => Some(Box::new(bulk_quinn::Bulk::new(Protection::Tls))),
        _ => None,
    }
}

/// The cases, in the order of their measurement in each round. Cases that are compared are adjacent, so that
/// the state of the machine is the same for them. `flow_time`: the simulated duration of the runs of many
/// flows.
pub(crate) fn all(flow_time: Duration) -> Vec<Box<dyn Case>> {
    let mut all: Vec<Box<dyn Case>> = vec![
        Box::new(bulk::Bulk::new(Protection::Null, Traces::None)),
        Box::new(bulk_quinn::Bulk::new(Protection::Null)),
        Box::new(varied::Varied::of_quinn()),
        Box::new(bulk::Bulk::new(Protection::Tls, Traces::None)),
        Box::new(bulk_quinn::Bulk::new(Protection::Tls)),
        Box::new(bulk::Bulk::new(Protection::Null, Traces::Tables)),
        Box::new(bulk::Bulk::new(Protection::Null, Traces::Stored)),
        Box::new(bulk::Bulk::new(Protection::Null, Traces::Qlog)),
        Box::new(bulk::Bulk::new(Protection::Tls, Traces::Pcap)),
        Box::new(handshake::Handshake::new(Protection::Null)),
        Box::new(handshake_quinn::Handshake::new(Protection::Null)),
        Box::new(handshake::Handshake::new(Protection::Tls)),
        Box::new(handshake_quinn::Handshake::new(Protection::Tls)),
        Box::new(page::Page::new()),
        Box::new(idle_pair::IdlePair::new(Protection::Null)),
        Box::new(idle_pair::IdlePair::new(Protection::Tls)),
        Box::new(many_flows::Speed::new(false, flow_time)),
        Box::new(many_flows::Speed::new(true, flow_time)),
        Box::new(many_flows::Memory(flow_time)),
        Box::new(sweep::Short::new(sweep::Of::Overhead)),
        Box::new(sweep::Short::new(sweep::Of::TwoJobs)),
        Box::new(sweep::Short::new(sweep::Of::TwoCores)),
    ];
    // Directly after the case with which they are compared.
    let queued = queues::QUEUES.iter().copied().map(queues::case);
    let controlled = controllers::CONTROLLERS.iter().copied().map(controllers::case);
    all.splice(1..1, queued.chain(controlled).map(|case| Box::new(case) as Box<dyn Case>));
    all.extend(varied::losses().map(|case| Box::new(case) as Box<dyn Case>));
    all.extend(media::cases().map(|case| Box::new(case) as Box<dyn Case>));
    all.extend(video::runs().map(|case| Box::new(case) as Box<dyn Case>));
    all.extend(video::decisions().map(|case| Box::new(case) as Box<dyn Case>));
    all.extend(schedule::cases().map(|case| Box::new(case) as Box<dyn Case>));
    all
}
