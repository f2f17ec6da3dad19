//! Retry, and tokens for later connections: validation of a client's address before the handshake (RFC 9000 sections
//! 8.1 and 17.2.5).

use crate::pair::{Pair, config, context, count, delay, losing, ms, null, opening};
use quic::{CloseReason, Config, Data};
use tls::Context;
use trace::PacketKind;
use units::parameter::Value;
use wire::{Code, ConnectionId, Direction, Frame, Frames, Header, Version};

const TAG: usize = 16;

fn real() -> Context {
    let [_, real] = crate::pair::contexts();
    real
}
fn always() -> (&'static str, Value) {
    ("retry", Value::Text("always".to_owned()))
}
fn asking() -> Config {
    config(&[always()])
}

/// A sent packet with a long header, and its payload if null protection leaves it readable.
#[derive(Debug, Clone)]
struct Long {
    header: Header,
    token: Vec<u8>,
    number: u64,
    crypto: Vec<(u64, Vec<u8>)>,
}

/// The packets with long headers in datagrams from the `mark`-th on, in one direction.
fn long_packets(pair: &Pair, mark: usize, to_server: bool) -> Vec<Long> {
    let mut found = Vec::new();
    for seen in pair.wire[mark..].iter().filter(|seen| seen.to_server == to_server) {
        let mut rest = seen.bytes.as_slice();
        while let Some(true) = rest.first().map(|first| first & 0x80 != 0) {
            let header = Header::parse(rest, 8).unwrap();
            let (mut number, mut crypto) = (0, Vec::new());
            if header.has_number() {
                let truncated = header.number(rest).unwrap();
                // No packet number in these tests is truncated.
                number = truncated.expand(None);
                let payload = &rest[header.number_offset + truncated.length()..header.end - TAG];
                for frame in Frames::new(payload, 0) {
                    if let Ok(Frame::Crypto { offset, data }) = frame {
                        crypto.push((offset, data.to_vec()));
                    }
                }
            }
            let token = header.token(rest).to_vec();
            rest = &rest[header.end..];
            found.push(Long { header, token, number, crypto });
        }
    }
    found
}

fn of(packets: &[Long], kind: PacketKind) -> Vec<Long> {
    packets.iter().filter(|packet| packet.header.kind == kind).cloned().collect()
}

/// RFC 9000-8.1.2-1, 9000-8.1.3-6, 9000-17.2.2-1, 9000-17.2.5.1-1, 9000-17.2.5.1-3, 9000-17.2.5.1-4, 9000-17.2.5.2-5,
/// 9000-17.2.5.3-1, 9000-17.2.5.3-2, and 9000-7.2-2, 9000-7.2-5.
#[test]
fn a_client_returns_with_the_token_of_a_retry() {
    // The server's first packets after the Retry are lost, so that the client repeats everything.
    for lost in [0, 3] {
        let link = losing(10, move |to_server, number| !to_server && (1..=lost).contains(&number));
        let mut pair = Pair::new(null(), config(&[]), asking(), link);
        pair.run_for(ms(3_000));
        assert!(pair.client().is_established() && pair.server().is_established());
        let from_server = long_packets(&pair, 0, false);
        let retries = of(&from_server, PacketKind::Retry);
        assert_eq!((retries.len(), pair.server.stats().retries_sent), (1, 1));
        let retry = &retries[0];
        let sent = of(&long_packets(&pair, 0, true), PacketKind::Initial);
        let (first, later) = sent.split_first().unwrap();
        assert!(first.header.destination.len() >= 8 && first.token.is_empty());
        assert_ne!(retry.header.source, first.header.destination);
        assert_eq!(retry.header.destination, first.header.source);
        assert!(!retry.token.is_empty() && later.len() > usize::from(lost > 0));
        let mut largest = first.number;
        for packet in later {
            assert_eq!((&packet.token, packet.header.source), (&retry.token, first.header.source));
            assert!(packet.number > largest, "{} {largest}", packet.number);
            largest = packet.number;
            for (offset, bytes) in packet.crypto.iter().filter(|(_, bytes)| bytes.len() > 1) {
                let whole = &first.crypto[0].1;
                assert_eq!(
                    bytes[..],
                    whole[*offset as usize..*offset as usize + bytes.len()],
                    "the same hello"
                );
            }
        }
        // Until the server's first Initial packet, the destination is the id of the Retry.
        assert_eq!(later[0].header.destination, retry.header.source);
        let answers = of(&from_server, PacketKind::Initial);
        assert!(!answers.is_empty());
        for answer in answers {
            assert!(answer.token.is_empty());
            assert_eq!(answer.header.destination, first.header.source);
        }
    }
    // With real keys, too.
    let mut pair = Pair::new(real(), config(&[]), asking(), delay(10));
    pair.run_for(ms(500));
    assert!(pair.client().is_established() && pair.server().is_established());
}

/// RFC 9002 section 6.3: the time from the first Initial packet to the Retry stands for the RTT. With probes on the way
/// that packet may have been lost, and nothing tells how much of that time was waiting: the default RTT stays, as far as
/// the packets sent allow.
#[test]
fn the_rtt_until_a_retry_is_that_of_one_packet() {
    for (one_way, default, arrives) in [10, 60, 250].into_iter().flat_map(|one_way| {
        [50, 333, 1000]
            .into_iter()
            .flat_map(move |default| (0..4).map(move |arrives| (one_way, default, arrives)))
    }) {
        // Of the client's packets only this one arrives: the first one, or one of the first probes.
        let link = losing(one_way, move |to_server, number| to_server && number != arrives);
        let client = config(&[("initial_rtt", Value::Duration(ms(default)))]);
        let mut pair = Pair::new(null(), client, asking(), link);
        pair.run_for(ms(20_000));
        let sent: Vec<_> = pair.wire.iter().filter(|seen| seen.to_server).collect();
        let is_answer = |bytes: &[u8]| !Header::parse(bytes, 8).unwrap().token(bytes).is_empty();
        let answer = sent.iter().position(|seen| is_answer(&seen.bytes)).unwrap();
        let since = |number: usize| sent[answer].at.since(sent[number].at);
        let rtt = ms(default).max(since(answer - 1)).min(since(0));
        // The first probe after it: an RTT, and four times its variation, which is half of it (section 5.3).
        let timeout = sent[answer + 1].at.since(sent[answer].at);
        assert_eq!(timeout, rtt * 3, "{one_way} ms, {default} ms, {arrives}");
        assert!(rtt >= ms(2 * one_way).min(ms(default)), "{one_way} ms, {default} ms, {arrives}");
    }
}

/// The flaw of a forged Retry.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Flaw {
    None,
    UnusedBits,
    Tag,
    SourceIsOriginal,
    NoToken,
    OtherDestination,
}

/// A Retry for the first packet of the client.
fn retry(pair: &Pair, flaw: Flaw, token: &[u8], source: [u8; 8]) -> Vec<u8> {
    let first = Header::parse(&pair.wire[0].bytes, 8).unwrap();
    let own = ConnectionId::new(&source).unwrap();
    let source = if flaw == Flaw::SourceIsOriginal { first.destination } else { own };
    let destination = if flaw == Flaw::OtherDestination { own } else { first.source };
    let mut bytes = Vec::new();
    wire::header::retry(&mut bytes, Version::V1, destination, source, token);
    if flaw == Flaw::NoToken {
        bytes.truncate(bytes.len() - token.len());
    }
    if flaw == Flaw::UnusedBits {
        bytes[0] |= 0x0f;
    }
    let mut tag = tls::retry_integrity_tag(Version::V1.0, first.destination.as_bytes(), &bytes);
    tag[3] ^= u8::from(flaw == Flaw::Tag);
    bytes.extend_from_slice(&tag);
    bytes
}

/// The tokens in the packets that the client sends after this arrives.
fn tokens_after(pair: &mut Pair, bytes: Vec<u8>) -> Vec<Vec<u8>> {
    let mark = pair.mark();
    pair.arrive(false, bytes);
    pair.run_for(ms(2_000));
    of(&long_packets(pair, mark, true), PacketKind::Initial).into_iter().map(|packet| packet.token).collect()
}

/// RFC 9000-17.2.5-1, 9000-17.2.5.1-2, 9000-17.2.5.2-1, 9000-17.2.5.2-2, 9000-17.2.5.2-3, 9000-17.2.5.2-4.
#[test]
fn a_retry_from_an_attacker_is_discarded() {
    let flaws = [
        Flaw::None,
        Flaw::UnusedBits,
        Flaw::Tag,
        Flaw::SourceIsOriginal,
        Flaw::NoToken,
        Flaw::OtherDestination,
    ];
    for flaw in flaws {
        let mut pair = Pair::plain();
        pair.run_for(ms(5));
        pair.cut();
        let bytes = retry(&pair, flaw, b"token", [7; 8]);
        let tokens = tokens_after(&mut pair, bytes);
        let expected: &[u8] = if matches!(flaw, Flaw::None | Flaw::UnusedBits) { b"token" } else { b"" };
        assert!(!tokens.is_empty() && tokens.iter().all(|token| token == expected), "{flaw:?}");
        // A second Retry, otherwise valid.
        let bytes = retry(&pair, Flaw::None, b"other", [8; 8]);
        let tokens = tokens_after(&mut pair, bytes);
        let expected: &[u8] = if expected.is_empty() { b"other" } else { expected };
        assert!(!tokens.is_empty() && tokens.iter().all(|token| token == expected), "{flaw:?}, again");
    }
    // After the server's first packet.
    let mut pair = Pair::plain();
    pair.run_for(ms(20));
    let bytes = retry(&pair, Flaw::None, b"token", [7; 8]);
    let (mark, dropped) = (pair.mark(), pair.client().stats().packets_dropped);
    pair.arrive(false, bytes);
    assert_eq!(pair.client().stats().packets_dropped, dropped + 1);
    pair.run_for(ms(500));
    assert!(long_packets(&pair, mark, true).iter().all(|packet| packet.token.is_empty()));
    assert!(pair.client().is_established());
}

/// A server that issues this many tokens for later connections.
fn giving(tokens: u64, more: &[(&str, Value)]) -> Config {
    let mut options = vec![("new_tokens", count(tokens))];
    options.extend_from_slice(more);
    config(&options)
}

/// The tokens in the Initial packets of a new connection, which is established and closed.
fn tokens_of_next(pair: &mut Pair, to: Option<&str>) -> Vec<Vec<u8>> {
    let next = match to {
        Some(name) => opening(config(&[])).to_host(name),
        None => opening(config(&[])),
    };
    let mark = pair.open(next);
    pair.run_for(ms(500));
    let sent = of(&long_packets(pair, mark, true), PacketKind::Initial);
    sent.into_iter().map(|packet| packet.token).collect()
}

/// The tokens of the NEW_TOKEN frames that the server has sent.
fn new_tokens(pair: &Pair) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for seen in pair.wire.iter().filter(|seen| !seen.to_server) {
        let mut rest = seen.bytes.as_slice();
        while !rest.is_empty() {
            let header = Header::parse(rest, 8).unwrap();
            if header.has_number() {
                let start = header.number_offset + header.number(rest).unwrap().length();
                for frame in Frames::new(&rest[start..header.end - TAG], 0) {
                    if let Ok(Frame::NewToken { token }) = frame {
                        found.push(token.to_vec());
                    }
                }
            }
            rest = &rest[header.end..];
        }
    }
    found
}

/// RFC 9000-8.1.3-1, 9000-8.1.3-5, 9000-19.7-1: a token of NEW_TOKEN avoids a Retry, once, at its server.
#[test]
fn a_client_returns_with_a_token_of_an_earlier_connection() {
    let mut pair = Pair::new(null(), config(&[]), giving(2, &[always()]), delay(10));
    pair.establish();
    let given = new_tokens(&pair);
    assert!(given.len() == 2 && given[0] != given[1] && given.iter().all(|token| !token.is_empty()));
    assert_eq!(pair.server.stats().retries_sent, 1);
    pair.hang_up();
    let tokens = tokens_of_next(&mut pair, None);
    assert!(!tokens.is_empty() && tokens.iter().all(|token| given.contains(token) && *token == tokens[0]));
    assert!(pair.client().is_established());
    let stats = pair.server.stats();
    assert_eq!((stats.retries_sent, stats.new_tokens_accepted), (1, 1), "no Retry");
    pair.hang_up();
    // Another server with another name receives none of them, and sends a Retry.
    let tokens = tokens_of_next(&mut pair, Some("other.example"));
    assert!(tokens[0].is_empty() && pair.server.stats().retries_sent == 2);
}

/// RFC 9000-8.1.3-1, 9000-8.1.3-2: the token of a Retry replaces the other one, for this attempt only.
#[test]
fn the_token_of_a_retry_takes_precedence_and_is_not_kept() {
    let mut pair = Pair::new(null(), config(&[]), giving(1, &[]), delay(10)).acquainted();
    // The server has another key now and does not recognise its tokens.
    pair.restart(null(), asking());
    let tokens = tokens_of_next(&mut pair, None);
    assert!(pair.client().is_established() && pair.server.stats().retries_sent == 1);
    let (first, later) = tokens.split_first().unwrap();
    assert!(!first.is_empty() && later.iter().all(|token| token != first && !token.is_empty()));
    assert!(!later.is_empty());
    pair.hang_up();
    pair.restart(null(), config(&[]));
    assert!(tokens_of_next(&mut pair, None).iter().all(Vec::is_empty));
}

/// RFC 9000-8.1.3-7: and an invalid token of a Retry ends the attempt immediately (section 8.1.2).
#[test]
fn tokens_are_checked() {
    let mut pair = Pair::plain();
    pair.run_for(ms(5));
    pair.cut();
    // A token with the first byte of a Retry token, but unsealed.
    let genuine = {
        let mut other = Pair::new(null(), config(&[]), asking(), delay(10));
        other.run_for(ms(30));
        of(&long_packets(&other, 0, false), PacketKind::Retry)[0].token.clone()
    };
    let mut token = genuine;
    let last = token.len() - 1;
    token[last] ^= 1;
    let bytes = retry(&pair, Flaw::None, &token, [7; 8]);
    pair.link = crate::pair::delay(10);
    pair.arrive(false, bytes);
    pair.run_for(ms(30));
    let reason = CloseReason::PeerTransport { code: Code::INVALID_TOKEN, reason: String::new() };
    assert_eq!(pair.client().close_reason(), Some(&reason));
    assert!(pair.server.is_empty() && pair.server.stats().invalid_tokens > 0, "and nothing is kept");
}

/// The bytes that a server sends to a client from which it receives one datagram, from this address.
fn answered(pair: &mut Pair, address: &'static str) -> (usize, usize) {
    let mark = pair.open(opening(config(&[])));
    pair.link = Box::new(move |to_server, number, flying| {
        if to_server {
            flying.from = address.parse().unwrap();
            if number == 0 { vec![ms(10)] } else { Vec::new() }
        } else {
            Vec::new()
        }
    });
    pair.run_for(ms(1_000));
    let of = |to_server| {
        let seen = pair.wire[mark..].iter().filter(move |seen| seen.to_server == to_server);
        seen.map(|seen| seen.length).collect::<Vec<_>>()
    };
    (of(true)[0], of(false).iter().sum())
}

/// RFC 9000-8.1.4-4: a token validates only the address to which it was issued.
#[test]
fn a_token_from_another_address_validates_nothing() {
    let long = tls::Options { certificate_chain: units::Size::from_bytes(20_000), ..tls::Options::default() };
    for (address, proven) in [(crate::pair::CLIENT, true), ("10.0.9.9:50000", false)] {
        let tls: Context = context(&long);
        let mut pair = Pair::new(tls, config(&[]), giving(1, &[]), delay(10));
        pair.run_for(ms(2_000));
        pair.hang_up();
        let (arrived, sent) = answered(&mut pair, address);
        assert_eq!(sent > 3 * arrived, proven, "{sent} for {arrived}");
    }
}

/// RFC 9000-17.2.3-1: 0-RTT data is sent again in packets with new numbers.
#[test]
fn early_data_is_sent_again_after_a_retry() {
    let options = tls::Options { tickets: 2, early_data: true, ..tls::Options::default() };
    let tls = context(&options);
    let mut pair = Pair::new(tls.clone(), config(&[]), config(&[]), delay(10)).acquainted();
    pair.restart_with_tickets(tls, asking());
    let mark = pair.open(opening(config(&[])).with_early_data());
    let now = pair.now;
    let stream = pair.client().open(Direction::Unidirectional).unwrap();
    pair.client().write(now, stream, Data::Bytes(b"early")).unwrap();
    pair.client().finish(now, stream).unwrap();
    pair.drain();
    let before = of(&long_packets(&pair, mark, true), PacketKind::ZeroRtt);
    let again = pair.mark();
    pair.run_for(ms(500));
    let after = of(&long_packets(&pair, again, true), PacketKind::ZeroRtt);
    assert_eq!(pair.server.stats().retries_sent, 1);
    let largest = before.iter().map(|packet| packet.number).max().unwrap();
    assert!(!after.is_empty() && after.iter().all(|packet| packet.number > largest));
    let mut buffer = [0; 10];
    let read = pair.server().read(stream, &mut buffer).unwrap();
    assert_eq!((&buffer[..read.bytes as usize], read.finished), (&b"early"[..], true));
}

/// RFC 9000 section 5.2.2: a server that accepts no more connections refuses them explicitly.
#[test]
fn a_server_refuses() {
    for tls in [null(), real()] {
        let mut pair = Pair::new(tls, config(&[]), config(&[]), delay(10));
        pair.server.refuse_new(true);
        pair.run_for(ms(100));
        let reason = CloseReason::PeerTransport { code: Code::CONNECTION_REFUSED, reason: String::new() };
        assert_eq!(pair.client().close_reason(), Some(&reason));
        assert!(pair.server.is_empty() && pair.server.stats().refused == 1);
    }
}
