//! Cases: each is a seed, a world, and a judgement of its end.

use crate::allocator::{held, start_anew};
use crate::applications::{Applications, End};
use crate::weather::Weather;
use crate::world::{World, connection_number};
use quic::CloseReason;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use tls::Protection;
use units::{Duration, Time};

/// The time by which every connection that can finish has finished.
const LAST: Duration = Duration::from_secs(900);

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The outcome of some cases.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Tally {
    pub connections: u64,
    pub established: u64,
    pub finished: u64,
    /// Cases in which an endpoint closed a connection because of a violation by its peer.
    pub broken: u64,
    pub peak: i64,
}

/// Runs a case for each seed and reports the failed one.
pub(crate) fn for_seeds(name: &str, default: u64, mut case: impl FnMut(u64) -> Tally) -> Tally {
    let first = number("QUIC_STORM_FIRST").unwrap_or(0);
    let count = number("QUIC_STORM_CASES").unwrap_or(default);
    let mut sum = Tally::default();
    for seed in first..first + count {
        start_anew();
        match catch_unwind(AssertUnwindSafe(|| case(seed))) {
            Ok(tally) => {
                sum.connections += tally.connections;
                sum.established += tally.established;
                sum.finished += tally.finished;
                sum.broken += tally.broken;
                sum.peak = sum.peak.max(tally.peak);
            }
            Err(panic) => {
                eprintln!("{name}: failed with QUIC_STORM_FIRST={seed} QUIC_STORM_CASES=1");
                resume_unwind(panic);
            }
        }
    }
    println!("{name}: seeds {first}..{}: {sum:?}", first + count);
    sum
}

/// Runs until everything has ended; `allowed` judges the end of each connection.
pub(crate) fn run<A: Applications>(
    mut world: World<A>,
    weather: &mut Weather,
    protection: Protection,
    mut meddle: impl FnMut(&mut World<A>),
    allowed: impl Fn(End, &CloseReason) -> bool,
) -> Tally {
    let end = Time::ZERO + LAST;
    while !world.is_over() && world.now < end {
        weather.meddle(&mut world);
        meddle(&mut world);
        if !world.step(weather) {
            break;
        }
    }
    let mut tally = Tally { peak: world.laws.peak, ..Tally::default() };
    // Nothing protects a Version Negotiation packet against alteration in transit: the client finds no common version, or takes
    // another one and then detects the downgrade.
    let negotiated = world.server.stats().version_negotiations_sent > 0;
    let allowed = |end: End, reason: &CloseReason| {
        let misled = matches!(reason, CloseReason::VersionMismatch) || is_downgrade(reason);
        allowed(end, reason) || negotiated && misled
    };
    for (index, client) in world.clients.iter().enumerate() {
        for (round, close) in client.closes.iter().enumerate() {
            let number = connection_number(index, round);
            let (partner, done) = (world.partner(number), world.is_done(number));
            if world.applications.counts(number) {
                tally.connections += 1;
                tally.established += u64::from(partner.is_some());
                tally.finished += u64::from(done);
            }
            assert!(
                // A peer with false acknowledgements can delay the rest forever.
                done || close.is_some() || !world.applications.is_strict(),
                "client {index} neither finishes nor ends by {}\n{}",
                world.now,
                world.applications.describe(number, partner)
            );
            if let Some(reason) = close {
                assert!(allowed(End::Client(number), reason), "client {index}: {reason}");
            }
        }
    }
    for (at, (_, reason)) in world.accepted.iter().enumerate() {
        if let Some(reason) = reason {
            assert!(allowed(End::Server(at), reason), "server: {reason}");
        }
    }
    world.end();
    if protection == Protection::Null {
        assert_eq!(held(), 0, "what the endpoints allocated is given back");
    }
    tally
}

pub(crate) fn is_natural(reason: &CloseReason) -> bool {
    reason.is_clean() || matches!(reason, CloseReason::IdleTimeout | CloseReason::StatelessReset)
}

/// The token of a Retry is valid for one address: RFC 9000 section 8.1.3.
pub(crate) fn is_lost_token(reason: &CloseReason) -> bool {
    is_error(reason, wire::Code::INVALID_TOKEN)
}

/// A client detects a downgrade of the version: RFC 9368 section 4.
pub(crate) fn is_downgrade(reason: &CloseReason) -> bool {
    is_error(reason, wire::Code::VERSION_NEGOTIATION_ERROR)
}

pub(crate) fn is_error(reason: &CloseReason, expected: wire::Code) -> bool {
    match reason {
        CloseReason::PeerTransport { code, .. } => *code == expected,
        CloseReason::Transport(error) => error.code == expected,
        _ => false,
    }
}

/// A full server refuses clients. An attacker can fill it with clients, or with one first packet sent from many
/// addresses, each of which looks like another client.
pub(crate) fn is_refusal(reason: &CloseReason) -> bool {
    matches!(reason, CloseReason::PeerTransport { code: wire::Code::CONNECTION_REFUSED, .. })
}
