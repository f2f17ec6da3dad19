//! Path validation: challenges, responses, and failures (RFC 9000 section 8.2).

use crate::pair::roads::{Roads, address};
use crate::pair::{DatagramInFlight, Pair, config, ms, null};
use quic::{CloseReason, Event, Migration};
use trace::PacketKind;
use units::Duration;
use wire::{Code, Ecn, Frame};

const ELSEWHERE: &str = "192.168.7.7:40000";

fn encoded(frames: &[Frame<'_>]) -> Vec<u8> {
    let mut payload = Vec::new();
    frames.iter().for_each(|frame| frame.encode(&mut payload));
    payload
}

/// Delivers a forged packet with these frames to the server from this address, with the client's last destination id.
fn arrive_from(pair: &mut Pair, from: &str, frames: &[Frame<'_>]) {
    let bytes = pair.forge(true, PacketKind::OneRtt, &encoded(frames));
    let to = address(crate::pair::SERVER);
    let from = address(from);
    pair.deliver(true, DatagramInFlight { bytes, hole: None, damage: None, ecn: Ecn::NotEct, from, to });
    pair.drain();
}

const CHALLENGE: Frame<'static> = Frame::PathChallenge { data: [1, 2, 3, 4, 5, 6, 7, 8] };

/// RFC 9000-8.2.1-4 (the challenge arrives in a small datagram), 9000-8.2.2-1, 9000-8.2.2-2, 9000-8.2.2-5,
/// 9000-8.2.2-7: answered on the path in use, immediately, in 1200 bytes, once.
#[test]
fn a_challenge_on_the_path_in_use_is_answered_there() {
    for to_server in [true, false] {
        let mut pair = Pair::established();
        pair.cut();
        let mark = pair.mark();
        pair.inject_data(to_server, &[CHALLENGE]);
        let answers = pair.sent_from(mark, !to_server);
        assert_eq!(answers.len(), 1);
        assert_eq!((answers[0].at, answers[0].datagram_length), (pair.now, 1200));
        assert_eq!(answers[0].names(), ["PATH_RESPONSE", "ACK", "PADDING"], "and it is no probing packet");
        pair.run_for(ms(2000));
        let all = pair.frames_from(mark, !to_server);
        let answers = all.iter().filter(|frame| frame.name() == "PATH_RESPONSE").count();
        assert_eq!(answers, 1);
        assert_eq!(pair.client().stats().path_changes + pair.server().stats().path_changes, 0);
    }
}

/// RFC 9000-8.2.2-3, 9000-8.2.2-6: a probe from another address is answered there, within three times the bytes
/// received, and the connection does not migrate.
#[test]
fn a_probe_from_another_address_is_answered_there() {
    for (padding, answered_in) in [(0, 50), (1200, 1200)] {
        let mut pair = Pair::established();
        let mark = pair.mark();
        let padding = Frame::Padding { length: padding };
        let frames = if answered_in < 1200 { vec![CHALLENGE] } else { vec![CHALLENGE, padding] };
        arrive_from(&mut pair, ELSEWHERE, &frames);
        let answers = pair.sent_from(mark, false);
        let answer = answers.iter().find(|packet| packet.has("PATH_RESPONSE")).unwrap();
        assert_eq!(answer.to, address(ELSEWHERE));
        assert!(answer.datagram_length <= answered_in);
        assert!(
            answer.names().iter().all(|name| ["PATH_RESPONSE", "PATH_CHALLENGE", "PADDING"].contains(name))
        );
        assert_eq!(pair.server().remote(), address(crate::pair::CLIENT));
        assert_eq!(pair.server().stats().path_changes, 0);
    }
}

/// RFC 9000 section 9.1: a packet with only probing frames does not migrate a connection, any other packet does.
#[test]
fn probing_frames_do_not_migrate_a_connection() {
    let id = wire::ConnectionId::new(&[9; 8]).unwrap();
    let new_id = Frame::NewConnectionId { sequence: 2, retire_prior_to: 1, id, token: [7; 16] };
    for (frames, moves) in [
        (vec![CHALLENGE, Frame::Padding { length: 20 }], false),
        (vec![new_id, CHALLENGE], false),
        (vec![CHALLENGE, Frame::Ping], true),
        (vec![Frame::MaxData { maximum: 5 }], true),
    ] {
        let mut pair = Pair::established();
        pair.cut();
        arrive_from(&mut pair, ELSEWHERE, &frames);
        assert_eq!(pair.server().remote() == address(ELSEWHERE), moves, "{frames:?}");
        assert_eq!(pair.server().stats().path_changes, u64::from(moves));
    }
}

/// A flood of challenges, in one datagram or many, from one address or many, causes a bounded response.
#[test]
fn a_flood_of_challenges_gets_a_bounded_response() {
    for places in [1, 200u16] {
        let mut pair = Pair::established();
        pair.cut();
        let mark = pair.mark();
        let flood: Vec<_> = (0..100u8).map(|n| Frame::PathChallenge { data: [n; 8] }).collect();
        let (mut received, mut sent) = (0, 0);
        for n in 0..1000u16 {
            let place = if places == 1 {
                crate::pair::CLIENT.into()
            } else {
                format!("192.0.2.1:{}", 1 + n % places)
            };
            let before = pair.server().stats();
            arrive_from(&mut pair, &place, &flood);
            let after = pair.server().stats();
            received += after.bytes_received - before.bytes_received;
            sent += after.bytes_sent - before.bytes_sent;
            assert!(after.datagrams_sent <= before.datagrams_sent + 3);
        }
        assert!(sent <= received * 3, "{sent} for {received}");
        let answers = pair.frames_from(mark, false);
        let answers = answers.iter().filter(|frame| frame.name() == "PATH_RESPONSE").count();
        assert!(answers <= 4 * 1000 && answers > 0, "{answers}");
        assert!(!pair.server().is_over());
    }
}

/// RFC 9000 section 19.18: a response without a challenge is a violation; a late or repeated response is not.
#[test]
fn responses_without_a_challenge() {
    let response = Frame::PathResponse { data: [1; 8] };
    let mut pair = Pair::established();
    pair.cut();
    pair.inject_data(true, &[response]);
    let Some(CloseReason::Transport(error)) = pair.server().close_reason() else { panic!() };
    assert_eq!(error.code, Code::PROTOCOL_VIOLATION);

    let mut pair = Pair::established();
    arrive_from(&mut pair, ELSEWHERE, &[Frame::Ping]);
    pair.inject_data(true, &[response]);
    assert!(!pair.server().is_over());
    assert!(!pair.server().is_path_validated());
}

/// RFC 9000-8.2.1-3, 9000-8.2.3-1: a path whose address was validated by small datagrams is not fully validated until
/// it has carried 1200 bytes.
#[test]
fn a_second_validation_in_a_full_datagram_follows_a_small_one() {
    let (roads, link) = Roads::new(1);
    let mut pair = Pair::new(null(), config(&[]), config(&[]), link);
    pair.establish();
    let mark = pair.mark();
    roads.borrow_mut().outside = Some(address(ELSEWHERE));
    pair.upload(1);
    pair.run_for(ms(100));
    let asked = pair.sent_from(mark, false).into_iter().filter(|p| p.to == address(ELSEWHERE));
    let sizes: Vec<_> = asked.filter(|p| p.has("PATH_CHALLENGE")).map(|p| p.datagram_length).collect();
    assert!(sizes.len() == 2 && sizes[0] <= 50 && sizes[1] == 1200, "{sizes:?}");
    assert!(pair.server().is_path_validated());
}

/// RFC 9000-8.2.3-1, 9000-9.3.2-1, 9000-14.2-1: a path that carries only small datagrams is abandoned.
#[test]
fn a_path_with_a_too_small_mtu_is_abandoned() {
    let (roads, link) = Roads::new(2);
    let mut pair = Pair::new(null(), config(&[]), config(&[]), link);
    pair.establish();
    {
        let mut roads = roads.borrow_mut();
        (roads.outside, roads.mtu) = (Some(address(ELSEWHERE)), 1100);
    }
    pair.upload(1);
    pair.run_for(ms(100));
    assert_eq!(pair.server().remote(), address(ELSEWHERE));
    assert!(!pair.server().is_path_validated());
    pair.run_for(ms(4000));
    assert_eq!(pair.server().remote(), address(crate::pair::CLIENT));
    assert_eq!(pair.server().stats().path_validations_failed, 1);

    // A client that probes it does not migrate at all.
    let (roads, link) = Roads::new(3);
    let mut pair = Pair::new(null(), config(&[]), config(&[]), link);
    pair.establish();
    roads.borrow_mut().mtu = 1199;
    let now = pair.now;
    pair.client().migrate(now, address(ELSEWHERE), Migration::Probe).unwrap();
    pair.run_for(ms(5000));
    assert!(pair.client_events.iter().any(|event| matches!(event, Event::PathFailed { .. })));
    assert_eq!(pair.client().local(), address(crate::pair::CLIENT));
}

/// RFC 9000-8.2.2-4: the response is valid on any path.
#[test]
fn a_response_may_arrive_on_another_path() {
    let (roads, link) = Roads::new(4);
    let mut pair = Pair::new(null(), config(&[]), config(&[]), link);
    pair.establish();
    let now = pair.now;
    pair.client().migrate(now, address(ELSEWHERE), Migration::Probe).unwrap();
    // The server's packets on the new path appear to come from the old one.
    pair.run_for(ms(15));
    let (_, here) = crate::pair::ends(false);
    let mark = pair.mark();
    assert_eq!(pair.client().local(), here);
    roads.borrow_mut().lost_to.push(address(ELSEWHERE));
    let answered = pair.packets_from(0).into_iter().find(|p| p.has("PATH_RESPONSE") && !p.to_server).unwrap();
    let crate::pair::Frame::PathResponse { data } =
        answered.frames.iter().find(|frame| frame.name() == "PATH_RESPONSE").cloned().unwrap()
    else {
        panic!()
    };
    pair.inject_data(false, &[Frame::PathResponse { data }]);
    assert_eq!(pair.client().local(), address(ELSEWHERE));
    assert!(pair.mark() > mark);
}

/// RFC 9000-9.4-3: unanswered challenges are sent less and less often, and end.
#[test]
fn challenges_are_repeated_at_growing_intervals() {
    let (roads, link) = Roads::new(5);
    let mut pair = Pair::new(null(), config(&[]), config(&[]), link);
    pair.establish();
    roads.borrow_mut().lost_to.push(address(ELSEWHERE));
    let now = pair.now;
    let mark = pair.mark();
    pair.client().migrate(now, address(ELSEWHERE), Migration::Probe).unwrap();
    pair.run_for(Duration::from_secs(20));
    let asked = pair.sent_from(mark, true).into_iter().filter(|p| p.has("PATH_CHALLENGE"));
    let times: Vec<_> = asked.map(|p| p.at.since(now)).collect();
    assert_eq!(times.len(), 3, "{times:?}");
    assert!(times[1] >= ms(999) && times[1] == times[2], "a probe timeout, and then two: {times:?}");
}

/// RFC 9000-8.2.1-1: the data of challenges never repeats in any connection, and most of its bits change.
#[test]
fn challenges_cannot_be_predicted() {
    let mut seen = std::collections::BTreeSet::new();
    let mut bits = 0;
    for seed in 0..40 {
        let (roads, link) = Roads::new(5);
        let mut pair = Pair::seeded(seed, null(), config(&[]), config(&[]), link);
        pair.establish();
        roads.borrow_mut().lost_to.push(address(ELSEWHERE));
        let (now, mark) = (pair.now, pair.mark());
        pair.client().migrate(now, address(ELSEWHERE), Migration::Probe).unwrap();
        pair.run_for(Duration::from_secs(20));
        let mut asked = 0;
        for frame in pair.frames_from(mark, true) {
            if let crate::pair::Frame::PathChallenge { data } = frame {
                assert!(seen.insert(data), "{data:?}");
                bits += u64::from_be_bytes(data).count_ones();
                asked += 1;
            }
        }
        assert!(asked >= 3);
    }
    let share = f64::from(bits) / (64.0 * seen.len() as f64);
    assert!((0.47..0.53).contains(&share), "half of {} challenges: {share}", seen.len());
}

/// A disconnected pair whose server was migrated by a forged packet and has no fallback, because the peer has retired
/// the id of the old path. Returns the server's id that the peer now uses.
fn without_a_way_back() -> (Pair, Vec<u8>) {
    let mut pair = Pair::established();
    pair.cut();
    // The peer migrates with another id of the server, so that the server uses another id of the peer.
    let id = pair.frames_from(0, false).into_iter().find_map(|frame| match frame {
        crate::pair::Frame::NewConnectionId { id, .. } => Some(id),
        _ => None,
    });
    let id = id.unwrap();
    arrive_at(&mut pair, &id, Frame::Ping);
    assert_eq!(pair.server().remote(), address(ELSEWHERE));
    // One id is left, for the path in use.
    let new = wire::ConnectionId::new(&[2; 8]).unwrap();
    let retire = Frame::NewConnectionId { sequence: 2, retire_prior_to: 2, id: new, token: [2; 16] };
    arrive_at(&mut pair, &id, retire);
    assert!(!pair.server().is_over());
    (pair, id)
}

/// Delivers a forged packet with this frame to the server from another address, with this id.
fn arrive_at(pair: &mut Pair, id: &[u8], frame: Frame<'_>) {
    let mut bytes = pair.forge(true, PacketKind::OneRtt, &encoded(&[frame, Frame::Ping]));
    bytes[1..9].copy_from_slice(id);
    let (from, to) = (address(ELSEWHERE), address(crate::pair::SERVER));
    pair.deliver(true, DatagramInFlight { bytes, hole: None, damage: None, ecn: Ecn::NotEct, from, to });
    pair.drain();
}

/// RFC 9000-9.3.2-2: nothing more is sent.
#[test]
fn without_a_fallback_a_connection_ends_silently() {
    let (mut pair, _) = without_a_way_back();
    pair.run_for(Duration::from_secs(10));
    assert!(pair.server_is_gone() && pair.server_events.contains(&Event::Ended));
    let closes = pair.frames_from(0, false).iter().filter(|f| f.name() == "CONNECTION_CLOSE").count();
    assert_eq!(closes, 0);
}

/// RFC 9000-14.2-1: a path whose peer responds only to small challenges, never to those in 1200 bytes.
#[test]
fn a_connection_without_a_path_for_1200_bytes_ends() {
    let (mut pair, id) = without_a_way_back();
    let mut answered = 0;
    let mut from = 0;
    for _ in 0..40 {
        pair.run_for(ms(100));
        if pair.server().is_over() {
            break;
        }
        for packet in pair.sent_from(from, false).into_iter().filter(|packet| packet.datagram_length < 1200) {
            for frame in packet.frames {
                if let crate::pair::Frame::PathChallenge { data } = frame {
                    arrive_at(&mut pair, &id, Frame::PathResponse { data });
                    answered += 1;
                }
            }
        }
        from = pair.mark();
    }
    assert!(answered > 0);
    let reason = pair.server().close_reason().cloned();
    let Some(quic::CloseReason::Transport(error)) = reason else { panic!("{reason:?}") };
    assert_eq!(error.code, wire::Code::NO_VIABLE_PATH);
    // From now on only CONNECTION_CLOSE is sent.
    arrive_at(&mut pair, &id, Frame::Ping);
    pair.run_for(ms(200));
    let last = pair.packets().into_iter().rfind(|packet| !packet.to_server).unwrap();
    assert_eq!(last.names(), ["CONNECTION_CLOSE"]);
}
