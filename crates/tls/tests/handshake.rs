//! Handshakes of two ends: equal seeds produce equal bytes, and null matches tls in sizes and timing.

mod ends;

use ends::{End, run, shape};
use proptest::prelude::*;
use random::Generator;
use tls::{Cipher, Context, Error, KeyShare, Keys, Level, Options, Protection, Request, Secret, Start};
use units::{Size, Time};

const H3: &[&[u8]] = &[b"h3"];
const KEY_SHARES: [KeyShare; 2] = [KeyShare::X25519, KeyShare::X25519MlKem768];

fn context(options: &Options, alpn: &[&[u8]], seed: u64) -> Context {
    Context::new(options, alpn, seed).unwrap()
}
fn options(protection: Protection, key_share: KeyShare) -> Options {
    Options { protection, key_share, ..Options::default() }
}

/// Runs a handshake whose bytes arrive in pieces of this size.
fn handshake(context: &Context, seed: u64, parameters: (usize, usize), piece: usize) -> (End, End) {
    let (client, server) = (vec![0xc1; parameters.0], vec![0x51; parameters.1]);
    let client =
        context.client(Start::new(Generator::new(seed, "client"), 1, client), Request::default()).unwrap();
    let server = context.server(Start::new(Generator::new(seed, "server"), 1, server), None).unwrap();
    let (client, server) = run(client, server, piece);
    assert!(client.session.is_complete() && server.session.is_complete());
    assert_eq!(client.session.peer_parameters(), Some(&vec![0x51; parameters.1][..]));
    assert_eq!(server.session.peer_parameters(), Some(&vec![0xc1; parameters.0][..]));
    assert_eq!(client.session.alpn(), server.session.alpn());
    (client, server)
}

fn assert_same_shape(tls: &Context, null: &Context, parameters: (usize, usize), piece: usize) {
    let (real, model) = (handshake(tls, 1, parameters, piece), handshake(null, 2, parameters, piece));
    assert_eq!(shape(&real.0), shape(&model.0), "client, {parameters:?} in pieces of {piece}");
    assert_eq!(shape(&real.1), shape(&model.1), "server, {parameters:?} in pieces of {piece}");
    assert_eq!(real.0.session.alpn(), model.0.session.alpn());
}

/// Runs share the contexts of null, whatever their seeds.
#[test]
fn contexts_of_all_seeds_have_handshakes_of_one_shape() {
    for (protection, key_share) in [
        (Protection::Null, KEY_SHARES[0]),
        (Protection::Null, KEY_SHARES[1]),
        (Protection::Tls, KEY_SHARES[0]),
    ] {
        let options = Options { tickets: 2, early_data: true, ..options(protection, key_share) };
        let shapes = |seed| {
            let (client, server) = handshake(&context(&options, H3, seed), 1, (60, 80), 1000);
            (shape(&client), shape(&server))
        };
        for seed in [2, 3, 255, 1 << 40, u64::MAX] {
            assert_eq!(shapes(seed), shapes(1), "seed {seed}");
        }
    }
}

#[test]
fn equal_seeds_give_equal_bytes_and_others_do_not() {
    for key_share in KEY_SHARES {
        let options = options(Protection::Tls, key_share);
        let bytes = |context_seed, seed| {
            let (mut client, mut server) =
                handshake(&context(&options, H3, context_seed), seed, (60, 80), 1000);
            let secrets = [client.session.take_secrets(), server.session.take_secrets()];
            (client.sent, server.sent, secrets)
        };
        let first = bytes(1, 1);
        for _ in 0..30 {
            assert!(bytes(1, 1) == first);
        }
        for other in 2..10 {
            let other = bytes(1, other);
            assert_ne!(other.0[0], first.0[0]);
            assert_ne!(other.1[0], first.1[0]);
            assert_ne!(other.2, first.2);
        }
        // Another context has the same hellos and other certificates.
        let other = bytes(2, 1);
        assert_eq!((&other.0[0], &other.1[0]), (&first.0[0], &first.1[0]));
        assert_ne!(other.1[1], first.1[1]);
    }
}

#[test]
fn connections_of_one_thread_do_not_disturb_one_another() {
    let context = context(&options(Protection::Tls, KeyShare::X25519), H3, 1);
    let alone = handshake(&context, 1, (60, 80), 1000);
    let make = |seed| {
        let client = context
            .client(Start::new(Generator::new(seed, "client"), 1, vec![0xc1; 60]), Request::default())
            .unwrap();
        let server =
            context.server(Start::new(Generator::new(seed, "server"), 1, vec![0x51; 80]), None).unwrap();
        (End::new(client), End::new(server))
    };
    let ((mut client, mut server), (_, mut other)) = (make(1), make(2));
    let hello = client.sent[0].1.clone();
    other.receive(Level::Initial, &hello, 10);
    server.receive(Level::Initial, &hello, 10);
    for (level, bytes) in server.sent.clone() {
        client.receive(level, &bytes, 100);
    }
    assert_eq!((client.sent, server.sent), (alone.0.sent, alone.1.sent));
}

#[test]
fn null_matches_tls_in_sizes_and_timing() {
    let alpns: [&[&[u8]]; 5] =
        [&[], H3, &[b"hq-interop"], &[b"hq-interop", b"h3", b"h3-29"], &[&[b'x'; 255]]];
    for (i, key_share) in KEY_SHARES.into_iter().enumerate() {
        for (alpn, chain) in alpns.into_iter().zip([1_000, 1_001, 3_000, 4_096, 20_000]) {
            let make = |protection| {
                let certificate_chain = Size::from_bytes(chain);
                context(&Options { certificate_chain, ..options(protection, key_share) }, alpn, i as u64)
            };
            let (tls, null) = (make(Protection::Tls), make(Protection::Null));
            for length in (20..=500).step_by(37).chain([63, 64, 127, 128, 255, 256, 500]) {
                assert_same_shape(&tls, &null, (length, 520 - length), 1_100);
            }
            for piece in [1, 2, 3, 7, 100, usize::MAX] {
                assert_same_shape(&tls, &null, (60, 80), piece);
            }
        }
    }
}

#[test]
fn null_matches_tls_with_every_cipher_and_name() {
    let long = format!("{}.example", ["abcdefghij"; 20].join("."));
    for cipher in [Cipher::Aes128Gcm, Cipher::Aes256Gcm, Cipher::ChaCha20Poly1305] {
        for server_name in ["a.example", "192.0.2.1", &long] {
            let make = |protection| {
                let server_name = server_name.to_owned();
                let options = options(protection, KeyShare::X25519);
                context(&Options { cipher, server_name, ..options }, H3, 1)
            };
            assert_same_shape(&make(Protection::Tls), &make(Protection::Null), (60, 80), 1_100);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn sizes_do_not_vary(chain in 1_000u64..20_000, lengths in (0usize..2_000, 0usize..2_000), piece in 1usize..3_000) {
        let make = |protection| {
            let certificate_chain = Size::from_bytes(chain);
            context(&Options { certificate_chain, ..Options { protection, ..Options::default() } }, H3, chain)
        };
        assert_same_shape(&make(Protection::Tls), &make(Protection::Null), lengths, piece);
    }
}

#[test]
fn the_longest_chain_and_parameters_work() {
    let certificate_chain = Size::from_bytes(tls::LARGEST_CHAIN);
    let make = |protection| context(&Options { protection, certificate_chain, ..Options::default() }, H3, 1);
    let (tls, null) = (make(Protection::Tls), make(Protection::Null));
    assert_same_shape(&tls, &null, (tls::LARGEST_PARAMETERS, tls::LARGEST_PARAMETERS), 1_200);
    let long = vec![0; tls::LARGEST_PARAMETERS + 1];
    for context in [&tls, &null] {
        let error = context
            .client(Start::new(Generator::new(1, "client"), 1, long.clone()), Request::default())
            .unwrap_err();
        assert!(matches!(error, Error::ParametersTooLong { .. }));
    }
}

#[test]
fn key_shares_have_their_sizes_on_the_wire() {
    let hellos = KEY_SHARES.map(|key_share| {
        let (client, server) =
            handshake(&context(&options(Protection::Tls, key_share), H3, 1), 1, (60, 80), 1_000);
        (client.sent[0].1.len(), server.sent[0].1.len())
    });
    // The hybrid share is longer by 1184 and 1088 bytes, and its client lists one more group.
    assert_eq!(hellos[1], (hellos[0].0 + 1184 + 2, hellos[0].1 + 1088));
}

#[test]
fn keys_of_all_levels_match_and_update() {
    for cipher in [Cipher::Aes128Gcm, Cipher::Aes256Gcm, Cipher::ChaCha20Poly1305] {
        for (version, protection) in
            [(1, Protection::Tls), (0x6b33_43cf, Protection::Tls), (1, Protection::Null)]
        {
            let context = context(&Options { cipher, protection, ..Options::default() }, H3, 1);
            let client = context
                .client(Start::new(Generator::new(1, "client"), version, vec![1; 60]), Request::default())
                .unwrap();
            let server =
                context.server(Start::new(Generator::new(1, "server"), version, vec![2; 60]), None).unwrap();
            let (mut client, mut server) = (End::new(client), End::new(server));
            assert!(client.session.next_keys().is_none() && server.session.next_keys().is_none());
            server.receive(Level::Initial, &client.sent[0].1, 10_000);
            for (level, bytes) in server.sent.clone() {
                client.receive(level, &bytes, 10_000);
            }
            for (client, server) in client.keys.iter().zip(&server.keys) {
                assert_opens(client, server, true);
                assert_opens(server, client, true);
            }
            assert_opens(&client.keys[0], &server.keys[1], false);
            // RFC 9001 section 6: two key updates, with one end ahead of the other.
            let (mut one, mut other) = (client.keys.pop().unwrap(), server.keys.pop().unwrap());
            for _ in 0..2 {
                let next = client.session.next_keys().unwrap();
                one.local.update(next.local);
                one.remote.update(next.remote);
                assert_opens(&one, &other, false);
                let next = server.session.next_keys().unwrap();
                assert_eq!(open_with(&one, &other, &next.remote), Ok(20));
                other.local.update(next.local);
                let former = other.remote.update(next.remote);
                assert_opens(&one, &other, true);
                assert_opens(&other, &one, true);
                assert!(open_with(&one, &other, &former).is_err());
            }
        }
    }
}

fn sealed(from: &Keys) -> Vec<u8> {
    let mut packet = vec![0x41; 11 + 20 + tls::TAG_LENGTH];
    from.local.seal(3, &mut packet, 9, 11);
    packet
}
fn assert_opens(from: &Keys, to: &Keys, opens: bool) {
    let mut packet = sealed(from);
    to.remote.unprotect(&mut packet, 9).unwrap();
    let opened = to.remote.open(3, &mut packet, 11);
    assert_eq!(opened.is_ok(), opens);
    if opens {
        assert_eq!(packet[..31], [0x41; 31]);
    }
}
fn open_with(from: &Keys, to: &Keys, key: &tls::PacketKey) -> Result<usize, tls::OpenError> {
    let mut packet = sealed(from);
    to.remote.unprotect(&mut packet, 9).unwrap();
    key.open(3, &mut packet, 11)
}

#[test]
fn secrets_are_logged_alike_at_both_ends() {
    let (mut client, mut server) =
        handshake(&context(&options(Protection::Tls, KeyShare::X25519), H3, 1), 1, (60, 80), 1_000);
    let sorted = |end: &mut End| {
        let mut secrets = end.session.take_secrets();
        secrets.sort_by(|a, b| a.label.cmp(&b.label));
        assert!(end.session.take_secrets().is_empty());
        secrets
    };
    let (of_client, of_server): (Vec<Secret>, Vec<Secret>) = (sorted(&mut client), sorted(&mut server));
    assert_eq!(of_client, of_server);
    let labels: Vec<&str> = of_client.iter().map(|secret| secret.label.as_str()).collect();
    assert_eq!(
        labels,
        [
            "CLIENT_HANDSHAKE_TRAFFIC_SECRET",
            "CLIENT_TRAFFIC_SECRET_0",
            "EXPORTER_SECRET",
            "SERVER_HANDSHAKE_TRAFFIC_SECRET",
            "SERVER_TRAFFIC_SECRET_0"
        ]
    );
    // ClientHello: type, length, legacy_version, random (RFC 8446 section 4.1.2).
    assert!(of_client.iter().all(|secret| secret.client_random == client.sent[0].1[6..38]));

    let (mut client, _) = handshake(&context(&Options::default(), H3, 1), 1, (60, 80), 1_000);
    assert!(client.session.take_secrets().is_empty());
}

/// RFC 9000-7-2.
#[test]
fn endpoints_without_a_common_protocol_fail_with_alert_120() {
    for protection in [Protection::Tls, Protection::Null] {
        let options = options(protection, KeyShare::X25519);
        let (ours, theirs) = (context(&options, H3, 1), context(&options, &[b"hq-interop"], 1));
        let mut client = End::new(
            ours.client(Start::new(Generator::new(1, "client"), 1, vec![1; 60]), Request::default()).unwrap(),
        );
        let mut server =
            theirs.server(Start::new(Generator::new(1, "server"), 1, vec![2; 60]), None).unwrap();
        let alert = server.read(Time::ZERO, Level::Initial, &client.sent[0].1).unwrap_err();
        assert_eq!(alert.code, 120, "{alert}");
        assert_eq!(server.read(Time::ZERO, Level::Initial, b"more").unwrap_err(), alert);
        assert!(!server.is_complete());

        // A server without a list does not answer with one either.
        let none = context(&options, &[], 1);
        client = End::new(
            none.client(Start::new(Generator::new(1, "client"), 1, vec![1; 60]), Request::default()).unwrap(),
        );
        let mut server =
            theirs.server(Start::new(Generator::new(1, "server"), 1, vec![2; 60]), None).unwrap();
        assert_eq!(server.read(Time::ZERO, Level::Initial, &client.sent[0].1).unwrap_err().code, 120);
    }
}

#[test]
fn a_certificate_of_a_strange_authority_is_refused() {
    let options = options(Protection::Tls, KeyShare::X25519);
    let (ours, theirs) = (context(&options, H3, 1), context(&options, H3, 2));
    let mut client = End::new(
        ours.client(Start::new(Generator::new(1, "client"), 1, vec![1; 60]), Request::default()).unwrap(),
    );
    let mut server =
        End::new(theirs.server(Start::new(Generator::new(1, "server"), 1, vec![2; 60]), None).unwrap());
    server.receive(Level::Initial, &client.sent[0].1, 10_000);
    client.receive(Level::Initial, &server.sent[0].1, 10_000);
    let alert = client.session.read(Time::ZERO, Level::Handshake, &server.sent[1].1).unwrap_err();
    assert_eq!(alert.code, 48, "{alert}");
    assert!(!client.session.is_complete());
}

#[test]
fn a_certificate_for_another_name_is_refused() {
    let of = |name: &str| {
        let server_name = name.to_owned();
        context(&Options { server_name, ..options(Protection::Tls, KeyShare::X25519) }, H3, 1)
    };
    let mut client = End::new(
        of("a.example")
            .client(Start::new(Generator::new(1, "client"), 1, vec![1; 60]), Request::default())
            .unwrap(),
    );
    let mut server = End::new(
        of("b.example").server(Start::new(Generator::new(1, "server"), 1, vec![2; 60]), None).unwrap(),
    );
    server.receive(Level::Initial, &client.sent[0].1, 10_000);
    client.receive(Level::Initial, &server.sent[0].1, 10_000);
    let alert = client.session.read(Time::ZERO, Level::Handshake, &server.sent[1].1).unwrap_err();
    assert_eq!(alert.code, 42, "{alert}");
}

#[test]
fn changed_handshake_bytes_are_refused_under_tls() {
    let context = context(&options(Protection::Tls, KeyShare::X25519), H3, 1);
    let (_, server) = handshake(&context, 1, (60, 80), 10_000);
    let flight = &server.sent[1].1;
    for at in (0..flight.len()).step_by(97).chain([flight.len() - 1]) {
        let mut client = End::new(
            context
                .client(Start::new(Generator::new(1, "client"), 1, vec![0xc1; 60]), Request::default())
                .unwrap(),
        );
        client.receive(Level::Initial, &server.sent[0].1, 10_000);
        let mut flight = flight.clone();
        flight[at] ^= 1;
        // A larger length leaves the message incomplete; any other change is an alert.
        let refused = client.session.read(Time::ZERO, Level::Handshake, &flight).is_err();
        assert!(refused || !client.session.is_complete(), "{at}");
    }
}

/// RFC 9001 section 4.1.3 and RFC 8446 section 5.1.
#[test]
fn data_of_a_level_that_is_over_or_not_reached_is_unexpected() {
    for protection in [Protection::Tls, Protection::Null] {
        let context = context(&options(protection, KeyShare::X25519), H3, 1);
        let (_, server) = handshake(&context, 1, (60, 80), 10_000);
        let (hello, flight) = (&server.sent[0].1, &server.sent[1].1);
        let client = || {
            context
                .client(Start::new(Generator::new(1, "client"), 1, vec![0xc1; 60]), Request::default())
                .unwrap()
        };

        let mut early = client();
        assert_eq!(early.read(Time::ZERO, Level::Handshake, flight).unwrap_err().code, 10);
        let mut late = client();
        late.read(Time::ZERO, Level::Initial, hello).unwrap();
        late.read(Time::ZERO, Level::Initial, &[]).unwrap();
        assert_eq!(late.read(Time::ZERO, Level::Initial, &flight[..1]).unwrap_err().code, 10);
        let mut joined = client();
        assert_eq!(
            joined.read(Time::ZERO, Level::Initial, &[&hello[..], &flight[..1]].concat()).unwrap_err().code,
            10
        );
        let mut whole = client();
        assert_eq!(
            whole.read(Time::ZERO, Level::Initial, &[&hello[..], flight].concat()).unwrap_err().code,
            10
        );
        let mut complete = client();
        complete.read(Time::ZERO, Level::Initial, hello).unwrap();
        complete.read(Time::ZERO, Level::Handshake, flight).unwrap();
        // RFC 9001 6: "Endpoints MUST NOT send a TLS KeyUpdate message."
        assert_eq!(complete.read(Time::ZERO, Level::OneRtt, &[24, 0, 0, 1, 0]).unwrap_err().code, 10);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn garbage_is_an_alert_and_never_a_panic(
        bytes in prop::collection::vec(any::<u8>(), 1..600), null: bool, server: bool, piece in 1usize..100,
    ) {
        let protection = if null { Protection::Null } else { Protection::Tls };
        let context = context(&options(protection, KeyShare::X25519), H3, 1);
        let random = Generator::new(1, "end");
        let mut end = if server { context.server(Start::new(random, 1, vec![1; 60]), None) } else { context.client(Start::new(random, 1, vec![1; 60]), Request::default()) }.unwrap();
        for piece in bytes.chunks(piece) {
            let _ = end.read(Time::ZERO, Level::Initial, piece);
        }
        prop_assert!(!end.is_complete());
    }
}

#[test]
fn invalid_contexts_are_errors() {
    let with = |change: fn(&mut Options)| {
        let mut options = Options::default();
        change(&mut options);
        Context::new(&options, H3, 1).unwrap_err()
    };
    let small = with(|options| options.certificate_chain = Size::from_bytes(100));
    assert!(matches!(small, Error::ChainTooSmall { wanted: 100, smallest: 500..1_000 }), "{small}");
    let large = with(|options| options.certificate_chain = Size::from_bytes(64_001));
    assert_eq!(large, Error::ChainTooLarge { wanted: 64_001, largest: 64_000 });
    for name in ["", "with space", "-.example", "n\u{e4}me.example"] {
        let error =
            Context::new(&Options { server_name: name.to_owned(), ..Options::default() }, H3, 1).unwrap_err();
        assert_eq!(error, Error::ServerName(name.to_owned()));
    }
    for name in [&[][..], &[b'x'; 256]] {
        assert_eq!(Context::new(&Options::default(), &[name], 1).unwrap_err(), Error::Protocols);
    }
    let context = context(&Options::default(), H3, 1);
    assert_eq!(
        context.server(Start::new(Generator::new(1, "server"), 7, Vec::new()), None).unwrap_err(),
        Error::Version(7)
    );
}

#[test]
fn a_context_is_shared_between_threads() {
    let context = context(&options(Protection::Tls, KeyShare::X25519MlKem768), H3, 1);
    let here = handshake(&context, 1, (60, 80), 1_000);
    let there = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| handshake(&context.clone(), 1, (60, 80), 1_000))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    for (client, server) in there {
        assert_eq!((&client.sent, &server.sent), (&here.0.sent, &here.1.sent));
    }
}
