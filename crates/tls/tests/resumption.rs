//! Tickets, resumption and 0-RTT (RFC 8446 sections 2.2, 2.3, 4.2.10, 4.6.1 and 8), real and modelled.

mod ends;

use ends::{End, run_at, shape};
use proptest::prelude::*;
use random::Generator;
use tls::{
    Admission, Change, Cipher, Context, EarlyData, KeyShare, Level, Options, Protection, Request, Session,
    Start,
};
use tls::{Ticket, TicketStore};
use units::{Duration, Time};

const H3: &[&[u8]] = &[b"h3"];

fn options(protection: Protection) -> Options {
    Options { protection, tickets: 2, early_data: true, ..Options::default() }
}
fn both() -> [Context; 2] {
    [Protection::Tls, Protection::Null].map(|kind| Context::new(&options(kind), H3, 1).unwrap())
}
fn at(seconds: u64) -> Time {
    Time::ZERO + Duration::from_secs(seconds)
}
fn client(context: &Context, seed: u64, now: Time, request: Request<'_>) -> Session {
    let start = Start {
        random: Generator::new(seed, "client"),
        now,
        version: 1,
        parameters: vec![0xc1; 60],
        change: Change::Never,
    };
    context.client(start, request).unwrap()
}
fn server(context: &Context, store: &TicketStore, seed: u64, now: Time, terms: u8) -> Session {
    let start = Start {
        random: Generator::new(seed, "server"),
        now,
        version: 1,
        parameters: vec![0x51; 80],
        change: Change::Never,
    };
    let admits: fn(&[u8], &[u8]) -> bool = |then, now| now[0] >= then[0];
    let admission = Admission::new(store.clone(), [terms].into(), admits);
    context.server(start, Some(admission)).unwrap()
}
fn offer<'a>(ticket: Option<Ticket>) -> Request<'a> {
    Request { ticket, early_data: true, ..Request::default() }
}

/// Runs a handshake at this time with this ticket; the terms are 5.
fn shake(context: &Context, store: &TicketStore, now: Time, ticket: Option<Ticket>) -> (End, End) {
    let (client, server) =
        (client(context, 1, now, offer(ticket)), server(context, store, now.as_nanos(), now, 5));
    let (client, server) = run_at(now, client, server, 1_000);
    assert!(client.session.is_complete() && server.session.is_complete());
    assert_eq!(client.session.is_resumed(), server.session.is_resumed());
    assert_eq!(client.session.early_data(), server.session.early_data());
    (client, server)
}
/// Creates a store for a context and the ticket of a first connection at time 0.
fn with_ticket(context: &Context) -> (TicketStore, Ticket) {
    let store = context.ticket_store().unwrap();
    let (mut client, _) = shake(context, &store, at(0), None);
    let mut tickets = client.session.take_tickets();
    assert_eq!((tickets.len(), store.len()), (2, 2));
    assert!(tickets[0].allows_early_data());
    (store, tickets.pop().unwrap())
}

#[test]
fn a_session_resumes_with_early_data_and_issues_new_tickets() {
    for context in both() {
        let (store, mut ticket) = with_ticket(&context);
        for n in 1..5 {
            let (mut client, _) = shake(&context, &store, at(n * 1000), Some(ticket));
            assert!(client.session.is_resumed());
            assert_eq!(client.session.early_data(), EarlyData::Accepted);
            assert_eq!(client.session.alpn(), Some(&b"h3"[..]));
            ticket = client.session.take_tickets().pop().unwrap();
        }
    }
}

#[test]
fn early_keys_match_only_each_other() {
    for context in both() {
        let (store, ticket) = with_ticket(&context);
        let (client, server) =
            (client(&context, 1, at(1), offer(Some(ticket))), server(&context, &store, 1, at(1), 5));
        let sealer = client.early_sealer().unwrap();
        assert!(server.early_opener().is_none(), "not before the ClientHello");
        let (client, server) = run_at(at(1), client, server, 1_000);
        let opener = server.session.early_opener().unwrap();
        assert!(client.session.early_sealer().is_none(), "not behind the answer");
        let sealed = || {
            let mut packet = vec![0x41; 11 + 20 + tls::TAG_LENGTH];
            sealer.seal(3, &mut packet, 9, 11);
            packet
        };
        let mut packet = sealed();
        opener.unprotect(&mut packet, 9).unwrap();
        assert_eq!(opener.open(3, &mut packet, 11), Ok(20));
        for keys in &server.keys {
            let mut packet = sealed();
            keys.remote.unprotect(&mut packet, 9).unwrap();
            assert!(keys.remote.open(3, &mut packet, 11).is_err());
        }
    }
}

/// RFC 8446 section 4.2.10: 0-RTT requires that the client asks for it and the ticket allows it.
#[test]
fn early_data_needs_a_request_and_a_ticket_that_allows_it() {
    for context in both() {
        let (store, ticket) = with_ticket(&context);
        let request = Request { ticket: Some(ticket), ..Request::default() };
        let (client, server) = (client(&context, 1, at(1), request), server(&context, &store, 1, at(1), 5));
        assert!(client.early_sealer().is_none());
        let (client, server) = run_at(at(1), client, server, 1_000);
        assert!(client.session.is_resumed() && server.session.is_resumed());
        assert_eq!(client.session.early_data(), EarlyData::NotOffered);
        assert_eq!(server.session.early_data(), EarlyData::NotOffered);
    }
    for protection in [Protection::Tls, Protection::Null] {
        let context = Context::new(&Options { early_data: false, ..options(protection) }, H3, 1).unwrap();
        let store = context.ticket_store().unwrap();
        let (mut first, _) = shake(&context, &store, at(0), None);
        let ticket = first.session.take_tickets().pop().unwrap();
        assert!(!ticket.allows_early_data());
        let (client, _) = shake(&context, &store, at(1), Some(ticket));
        assert!(client.session.is_resumed());
        assert_eq!(client.session.early_data(), EarlyData::NotOffered);
    }
}

#[test]
fn there_are_no_tickets_by_default() {
    for protection in [Protection::Tls, Protection::Null] {
        let context = Context::new(&Options { protection, ..Options::default() }, H3, 1).unwrap();
        assert!(context.ticket_store().is_none());
        let none = context.server(Start::new(Generator::new(1, "server"), 1, vec![1; 60]), None).unwrap();
        let (mut client, _) = run_at(at(0), client(&context, 1, at(0), offer(None)), none, 1_000);
        assert!(client.session.is_complete() && client.session.take_tickets().is_empty());
    }
}

/// RFC 8446 section 8.1 and RFC 9001 section 9.2: a replay of the ClientHello and the data after it.
#[test]
fn replay_protection_rejects_a_repeated_client_hello() {
    for replay_protection in [true, false] {
        for protection in [Protection::Tls, Protection::Null] {
            let options = Options { replay_protection, ..options(protection) };
            let context = Context::new(&options, H3, 1).unwrap();
            let (store, ticket) = with_ticket(&context);
            let hello = End::new(client(&context, 1, at(1), offer(Some(ticket)))).sent[0].1.clone();
            let hears = |seed| {
                let mut end = server(&context, &store, seed, at(1), 5);
                end.read(at(1), Level::Initial, &hello).unwrap();
                (end.is_resumed(), end.early_data(), end.early_opener().is_some())
            };
            assert_eq!(hears(1), (true, EarlyData::Accepted, true));
            let second = match replay_protection {
                true => (false, EarlyData::Rejected, false),
                false => (true, EarlyData::Accepted, true),
            };
            assert_eq!(hears(2), second);
        }
    }
}

#[test]
fn a_server_without_the_ticket_does_a_full_handshake() {
    for context in both() {
        let (_, ticket) = with_ticket(&context);
        let empty = context.ticket_store().unwrap();
        let (client, _) = shake(&context, &empty, at(1), Some(ticket));
        assert!(!client.session.is_resumed());
        assert_eq!(client.session.early_data(), EarlyData::Rejected);

        // Even a server without tickets copes with one.
        let (_, ticket) = with_ticket(&context);
        let none = context.server(Start::new(Generator::new(1, "server"), 1, vec![1; 60]), None).unwrap();
        let start = self::client(&context, 1, at(1), offer(Some(ticket)));
        let (client, _) = run_at(at(1), start, none, 1_000);
        assert!(client.session.is_complete() && !client.session.is_resumed());
    }
}

/// RFC 8446 section 4.6.1.
#[test]
fn tickets_expire() {
    for context in both() {
        for (age, offered) in [(86_400, true), (86_401, false)] {
            let (_, ticket) = with_ticket(&context);
            let session = client(&context, 1, at(age), offer(Some(ticket)));
            assert_eq!(session.early_data() == EarlyData::Offered, offered, "{age} s");
        }
    }
    for protection in [Protection::Tls, Protection::Null] {
        let short = Options { ticket_lifetime: Duration::from_secs(600), ..options(protection) };
        let context = Context::new(&short, H3, 1).unwrap();
        for (age, resumed) in [(600, true), (601, false)] {
            let (store, ticket) = with_ticket(&context);
            let (client, _) = shake(&context, &store, at(age), Some(ticket));
            assert_eq!(client.session.is_resumed(), resumed, "{age} s");
            let decided = if resumed { EarlyData::Accepted } else { EarlyData::Rejected };
            assert_eq!(client.session.early_data(), decided);
        }
    }
}

/// RFC 8446 section 8.3.
#[test]
fn early_data_with_an_implausible_ticket_age_is_refused() {
    for context in both() {
        for (late, decided) in [(60, EarlyData::Accepted), (61, EarlyData::Rejected)] {
            let (store, ticket) = with_ticket(&context);
            // The ClientHello takes more than a minute to reach its server.
            let client = client(&context, 1, at(10), offer(Some(ticket)));
            let server = server(&context, &store, 1, at(10 + late), 5);
            let (client, server) = run_at(at(10 + late), client, server, 1_000);
            assert!(client.session.is_resumed() && server.session.is_resumed());
            assert_eq!(client.session.early_data(), decided);
            assert_eq!(server.session.early_data(), decided);
        }
    }
}

/// RFC 9000 section 7.4.1.
#[test]
fn early_data_is_refused_where_the_server_has_lowered_its_terms() {
    for context in both() {
        for (terms, decided) in [(4, EarlyData::Rejected), (5, EarlyData::Accepted), (6, EarlyData::Accepted)]
        {
            let (store, ticket) = with_ticket(&context);
            let client = client(&context, 1, at(1), offer(Some(ticket)));
            let server = server(&context, &store, 1, at(1), terms);
            let (client, server) = run_at(at(1), client, server, 1_000);
            assert!(client.session.is_resumed(), "the session is taken up all the same");
            assert_eq!((client.session.early_data(), server.session.early_data()), (decided, decided));
        }
    }
}

/// RFC 8446 section 4.2.10: the application protocol must be that of the ticket.
#[test]
fn early_data_is_refused_where_the_protocol_is_another() {
    for protection in [Protection::Tls, Protection::Null] {
        let context = |alpn: &[&[u8]]| Context::new(&options(protection), alpn, 1).unwrap();
        let (of_client, now_h3) = (context(&[b"h3", b"hq"]), context(&[b"h3", b"hq"]));
        let now_hq = context(&[b"hq", b"h3"]);
        for (then, now, decided) in
            [(&now_h3, &now_h3, EarlyData::Accepted), (&now_h3, &now_hq, EarlyData::Rejected)]
        {
            let store = then.ticket_store().unwrap();
            let first = (client(&of_client, 1, at(0), offer(None)), server(then, &store, 1, at(0), 5));
            let (mut first, _) = run_at(at(0), first.0, first.1, 1_000);
            let ticket = first.session.take_tickets().pop();
            let next = (client(&of_client, 1, at(1), offer(ticket)), server(now, &store, 2, at(1), 5));
            let (client, server) = run_at(at(1), next.0, next.1, 1_000);
            assert!(client.session.is_resumed());
            assert_eq!((client.session.early_data(), server.session.early_data()), (decided, decided));
        }
    }
}

/// RFC 6066 section 3: a session cannot be resumed for another name.
#[test]
fn a_ticket_is_for_its_server_name() {
    for context in both() {
        let (store, ticket) = with_ticket(&context);
        let request = Request { server_name: Some("other.example"), ..offer(Some(ticket)) };
        let mut client = End::new(client(&context, 1, at(1), request));
        let mut server = End::new(server(&context, &store, 1, at(1), 5));
        server.receive(Level::Initial, &client.sent[0].1, 10_000);
        assert!(!server.session.is_resumed());
        assert_eq!(server.session.early_data(), EarlyData::Rejected);
        // The certificate is not valid for that name either.
        client.receive(Level::Initial, &server.sent[0].1, 10_000);
        let alert = client.session.read(at(1), Level::Handshake, &server.sent[1].1).unwrap_err();
        assert_eq!(alert.code, 42, "{alert}");
    }
}

#[test]
fn a_ticket_of_another_context_is_not_offered() {
    let [tls, null] = both();
    let (_, other) = with_ticket(&Context::new(&options(Protection::Tls), H3, 2).unwrap());
    for (context, ticket) in [(&tls, with_ticket(&null).1), (&null, with_ticket(&tls).1), (&tls, other)] {
        let session = client(context, 1, at(1), offer(Some(ticket)));
        assert_eq!(session.early_data(), EarlyData::NotOffered);
        let (client, _) =
            run_at(at(1), session, server(context, &context.ticket_store().unwrap(), 1, at(1), 5), 1_000);
        assert!(client.session.is_complete() && !client.session.is_resumed());
    }
}

/// RFC 8446 section 4.1.4; RFC 9001 section 4.6.2: 0-RTT is over with a HelloRetryRequest.
#[test]
fn a_hello_retry_request_is_followed_and_ends_early_data() {
    let of = |key_share| Context::new(&Options { key_share, ..options(Protection::Tls) }, H3, 1).unwrap();
    let (hybrid, curve) = (of(KeyShare::X25519MlKem768), of(KeyShare::X25519));
    let store = hybrid.ticket_store().unwrap();
    let between = |server_of: &Context, ticket| {
        let client = client(&hybrid, 1, at(1), offer(ticket));
        run_at(at(1), client, server(server_of, &store, 1, at(1), 5), 1_000)
    };
    let sent = |end: &End, level| end.sent.iter().filter(|(known, _)| *known == level).count();
    let (mut client, server) = between(&curve, None);
    assert!(client.session.is_complete() && server.session.is_complete());
    assert_eq!((sent(&client, Level::Initial), sent(&server, Level::Initial)), (2, 2));

    // The remembered group avoids the extra round trip.
    let (client, _) = between(&curve, client.session.take_tickets().pop());
    assert!(client.session.is_resumed());
    assert_eq!((sent(&client, Level::Initial), client.session.early_data()), (1, EarlyData::Accepted));

    let (mut client, _) = between(&hybrid, None);
    let ticket = client.session.take_tickets().pop();
    let (client, server) = between(&curve, ticket);
    assert_eq!((sent(&client, Level::Initial), sent(&server, Level::Initial)), (2, 2));
    assert!(client.session.is_complete() && server.session.is_complete());
    assert_eq!(client.session.early_data(), EarlyData::Rejected);
    assert_eq!(server.session.early_data(), EarlyData::Rejected);
    // The client learns of it from the request.
    let rejected = client.moments.iter().find(|(what, _)| *what == "0-RTT rejected").unwrap().1;
    assert_eq!(rejected, server.sent[0].1.len());
}

#[test]
fn early_secrets_are_logged_alike() {
    let [tls, _] = both();
    let (store, ticket) = with_ticket(&tls);
    let (mut client, mut server) = shake(&tls, &store, at(1), Some(ticket));
    let early = |end: &mut End| {
        let secrets = end.session.take_secrets();
        secrets.into_iter().find(|secret| secret.label == "CLIENT_EARLY_TRAFFIC_SECRET").unwrap()
    };
    let logged = early(&mut client);
    assert_eq!(logged, early(&mut server));
    assert_eq!(logged.client_random, client.sent[0].1[6..38]);
}

#[test]
fn equal_seeds_give_equal_tickets() {
    for context in both() {
        let sent = || {
            let (store, ticket) = with_ticket(&context);
            let (client, server) = shake(&context, &store, at(7), Some(ticket));
            (client.sent, server.sent)
        };
        assert!(sent() == sent());
    }
}

/// The shapes of a first handshake, a resumed one, and a refused one.
fn shapes(context: &Context, piece: usize, early_data: bool) -> Vec<[ends::Shape; 2]> {
    let store = context.ticket_store().unwrap();
    let mut ticket = None;
    let mut shapes = Vec::new();
    for (n, terms) in [(0, 5), (1, 5), (2, 4), (3, 4), (4, 4)] {
        let taken = (n != 4).then_some(&store);
        let other = context.ticket_store().unwrap();
        let request = Request { early_data, ..offer(ticket.take()) };
        let client = client(context, n, at(n), request);
        let server = server(context, taken.unwrap_or(&other), n, at(n), terms);
        let (mut client, server) = run_at(at(n), client, server, piece);
        assert!(client.session.is_complete() && server.session.is_complete());
        ticket = client.session.take_tickets().pop();
        shapes.push([shape(&client), shape(&server)]);
    }
    shapes
}

#[test]
fn null_resumes_like_tls() {
    let alpns: [&[&[u8]]; 3] = [&[], H3, &[b"hq-interop", b"h3"]];
    for cipher in [Cipher::Aes128Gcm, Cipher::Aes256Gcm, Cipher::ChaCha20Poly1305] {
        for key_share in [KeyShare::X25519, KeyShare::X25519MlKem768] {
            for (tickets, server_name) in [(1, "a.example"), (2, "192.0.2.1"), (8, "server.example")] {
                for early_data in [true, false] {
                    for alpn in alpns {
                        let [tls, null] = [Protection::Tls, Protection::Null].map(|protection| {
                            let server_name = server_name.to_owned();
                            let options = options(protection);
                            let options =
                                Options { cipher, key_share, tickets, server_name, early_data, ..options };
                            Context::new(&options, alpn, 1).unwrap()
                        });
                        assert_eq!(shapes(&tls, 1_000, true), shapes(&null, 1_000, true));
                    }
                }
            }
        }
    }
    let [tls, null] = both();
    for piece in [1, 7, 100, usize::MAX] {
        for early_data in [true, false] {
            assert_eq!(shapes(&tls, piece, early_data), shapes(&null, piece, early_data));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn an_altered_hello_with_a_ticket_never_panics(at_byte in 0usize..600, to: u8, cut in 0usize..600, null: bool) {
        let context = &both()[usize::from(null)];
        let (store, ticket) = with_ticket(context);
        let mut hello = End::new(client(context, 1, at(1), offer(Some(ticket)))).sent[0].1.clone();
        let at_byte = at_byte % hello.len();
        hello[at_byte] = to;
        hello.truncate(cut.max(1));
        let mut end = server(context, &store, 1, at(1), 5);
        let _ = end.read(at(1), Level::Initial, &hello);
        prop_assert!(!end.is_complete());
    }

    #[test]
    fn any_tickets_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), null: bool) {
        let context = &both()[usize::from(null)];
        let (mut client, _) = shake(context, &context.ticket_store().unwrap(), at(0), None);
        client.session.take_tickets();
        let mut message = vec![4, 0, (bytes.len() >> 8) as u8, bytes.len() as u8];
        message.extend_from_slice(&bytes);
        for _ in 0..20 {
            let _ = client.session.read(at(0), Level::OneRtt, &message);
        }
        prop_assert!(client.session.take_tickets().len() <= 8);
    }
}
