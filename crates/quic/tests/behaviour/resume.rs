//! Resumption: tickets and the connections that use them (RFC 8446 section 4.6.1, RFC 9369 section 5).

use crate::pair::{Pair, config, context, delay, losing, ms, opening};
use quic::{CloseReason, Endpoint, EndpointOptions, Memory};
use random::Generator;
use tls::{Context, EarlyData, Options, Protection};
use units::Duration;
use wire::Code;

const SERVER: &str = "server.example:443";

fn contexts() -> [Context; 2] {
    [Protection::Null, Protection::Tls].map(|protection| {
        context(&Options { protection, tickets: 2, early_data: true, ..Options::default() })
    })
}
fn acquainted(tls: Context) -> Pair {
    Pair::new(tls, config(&[]), config(&[]), delay(10)).acquainted()
}

#[test]
fn a_resumed_session_has_a_short_handshake() {
    for tls in contexts() {
        let mut pair = acquainted(tls);
        let full: usize = pair.wire.iter().filter(|seen| !seen.to_server).map(|seen| seen.length).sum();
        for _ in 0..3 {
            let mark = pair.open(opening(config(&[])));
            pair.establish();
            assert!(pair.client().is_resumed() && pair.server().is_resumed());
            let short: usize =
                pair.wire[mark..].iter().filter(|seen| !seen.to_server).map(|seen| seen.length).sum();
            assert!(short + 2_000 < full, "no certificates: {short} against {full}");
            pair.hang_up();
        }
    }
}

#[test]
fn a_client_without_resumption_makes_a_full_handshake_and_keeps_its_tickets() {
    for tls in contexts() {
        let mut pair = acquainted(tls);
        let mut wish = opening(config(&[])).with_early_data();
        wish.resume = false;
        pair.open(wish);
        pair.run_for(ms(500));
        assert!(pair.client().is_established() && !pair.client().is_resumed());
        assert_eq!(pair.client().early_data(), EarlyData::NotOffered);
        assert_eq!(pair.client.memory().sessions(SERVER), 4);
    }
}

#[test]
fn no_more_than_four_sessions_are_kept_for_a_server() {
    for tls in contexts() {
        let mut pair = acquainted(tls);
        for _ in 0..5 {
            let mut wish = opening(config(&[]));
            wish.resume = false;
            pair.open(wish);
            pair.establish();
            pair.hang_up();
        }
        assert_eq!(pair.client.memory().sessions(SERVER), 4);
        assert_eq!(pair.client.memory().len(), 1);
    }
}

/// The server most likely accepts the newest ticket: older ones may be from before a restart.
#[test]
fn the_newest_session_is_resumed() {
    for tls in contexts() {
        let mut pair = acquainted(tls.clone());
        pair.restart(tls, config(&[]));
        let mut wish = opening(config(&[]));
        wish.resume = false;
        pair.open(wish);
        pair.establish();
        pair.hang_up();
        assert_eq!(pair.client.memory().sessions(SERVER), 4, "two of each server");
        pair.open(opening(config(&[])));
        pair.establish();
        assert!(pair.client().is_resumed() && pair.server().is_resumed());
    }
}

#[test]
fn a_lost_ticket_is_sent_again() {
    for tls in contexts() {
        for lost in 2..6 {
            let link = losing(10, move |to_server, number| !to_server && number == lost);
            let pair = Pair::new(tls.clone(), config(&[]), config(&[]), link).acquainted();
            assert_eq!(pair.client.memory().sessions(SERVER), 2, "{lost}");
        }
    }
}

#[test]
fn a_restarted_server_knows_no_tickets_unless_it_keeps_the_store() {
    for tls in contexts() {
        for kept in [false, true] {
            let mut pair = acquainted(tls.clone());
            match kept {
                true => pair.restart_with_tickets(tls.clone(), config(&[])),
                false => pair.restart(tls.clone(), config(&[])),
            }
            pair.open(opening(config(&[])));
            pair.run_for(ms(500));
            assert!(pair.client().is_established());
            assert_eq!(pair.client().is_resumed(), kept);
        }
    }
}

/// RFC 8446 section 4.6.1.
#[test]
fn a_ticket_expires() {
    for tls in contexts() {
        for (hours, fresh) in [(23, true), (25, false)] {
            let mut pair = acquainted(tls.clone());
            pair.run_for(Duration::from_secs(hours * 3600));
            pair.open(opening(config(&[])).with_early_data());
            let offered = if fresh { EarlyData::Offered } else { EarlyData::NotOffered };
            assert_eq!(pair.client().early_data(), offered);
            pair.run_for(ms(500));
            assert_eq!(pair.client().is_resumed(), fresh);
        }
    }
}

#[test]
fn another_name_is_another_server_and_needs_its_own_certificate() {
    for tls in contexts() {
        let mut pair = acquainted(tls);
        pair.open(opening(config(&[])).to_host("other.example").with_early_data());
        assert_eq!(pair.client().early_data(), EarlyData::NotOffered, "its ticket is for another name");
        pair.run_for(ms(100));
        let reason = pair.client().close_reason().unwrap().clone();
        let CloseReason::Transport(error) = reason else { panic!("{reason}") };
        // bad_certificate (RFC 8446 section 6.2).
        assert_eq!(error.code, Code::crypto(42));
        assert_eq!(pair.client.memory().sessions(SERVER), 2);
        // An invalid name is refused immediately.
        assert!(pair.client.connect(pair.now, opening(config(&[])).to_host("no name")).is_err());
    }
}

#[test]
fn endpoints_can_share_what_they_remember() {
    for tls in contexts() {
        let mut pair = acquainted(tls.clone());
        let options = EndpointOptions::new(crate::pair::CLIENT.parse().unwrap(), tls);
        let memory: Memory = pair.client.memory().clone();
        pair.client = Endpoint::new(options, Generator::new(9, "another client"));
        pair.client.set_memory(memory);
        pair.open(opening(config(&[])));
        pair.run_for(ms(500));
        assert!(pair.client().is_resumed());
    }
}

#[test]
fn connections_of_a_context_without_tickets_leave_none() {
    for tls in crate::pair::contexts() {
        let mut pair = acquainted(tls);
        assert!(pair.server.tickets().is_none());
        assert_eq!(pair.client.memory().sessions(SERVER), 0);
        pair.open(opening(config(&[])).with_early_data());
        pair.run_for(ms(500));
        assert!(pair.client().is_established() && !pair.client().is_resumed());
    }
}
