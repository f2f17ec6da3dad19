//! Contexts for real networks: which servers a client trusts, and what servers present.

mod ends;

use ends::End;
use random::Generator;
use std::time::Duration;
use tls::{
    Alert, Change, Choice, Choose, Cipher, Context, Error, Identity, KeyShare, Options, Request, Start, Trust,
};

/// 2026-01-01.
const DATE: Duration = Duration::from_secs(1_767_225_600);
const DAY: Duration = Duration::from_secs(24 * 3600);
const BAD_CERTIFICATE: u8 = 42;
/// The authority's name is known, but another key signed: RFC 8446 section 6.2.
const DECRYPT_ERROR: u8 = 51;
const CERTIFICATE_EXPIRED: u8 = 45;

fn identity() -> Identity {
    Identity::self_signed(&["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()], DATE).unwrap()
}
fn trusting(identity: &Identity) -> Trust {
    Trust::from_pem(identity.to_pem().as_bytes()).unwrap()
}
fn start(name: &str) -> Start {
    Start::new(Generator::new(1, name), 1, vec![7; 50])
}

/// Runs a handshake of a client that asks for `name` at `date`; the error is the client's alert.
fn meet(trust: &Trust, identity: &Identity, name: &str, date: Duration) -> Result<(End, End), Alert> {
    meet_with(&Options::default(), &Options::default(), (trust, identity), (name, date))
}

fn meet_with(
    client: &Options,
    server: &Options,
    (trust, identity): (&Trust, &Identity),
    (name, date): (&str, Duration),
) -> Result<(End, End), Alert> {
    let alpn: &[&[u8]] = &[b"h3", b"hq-interop"];
    let client = Context::real(client, alpn, trust, None, date).unwrap();
    let server = Context::real(server, alpn, &Trust::Anyone, Some(identity), date).unwrap();
    let request = Request { server_name: Some(name), ..Request::default() };
    let mut client = End::new(client.client(start("client"), request).unwrap());
    let mut server = End::new(server.server(start("server"), None).unwrap());
    let mut received_count = [0, 0];
    loop {
        let before = received_count;
        while let Some((level, bytes)) = client.sent.get(received_count[0]).cloned() {
            received_count[0] += 1;
            server.receive(level, &bytes, 1000);
        }
        while let Some((level, bytes)) = server.sent.get(received_count[1]).cloned() {
            received_count[1] += 1;
            client.session.read(client.now, level, &bytes)?;
            client.drain();
        }
        if received_count == before {
            assert!(client.session.is_complete() && server.session.is_complete());
            return Ok((client, server));
        }
    }
}

fn refused(trust: &Trust, identity: &Identity, name: &str, date: Duration) -> u8 {
    match meet(trust, identity, name, date) {
        Ok(_) => panic!("{name} was believed"),
        Err(alert) => alert.code,
    }
}

#[test]
fn a_certificate_is_trusted_for_its_names_and_dates() {
    let (known, other) = (identity(), identity());
    let trust = trusting(&known);
    for name in ["localhost", "127.0.0.1", "::1"] {
        meet(&trust, &known, name, DATE).unwrap();
    }
    for name in ["example.org", "127.0.0.2", "::2"] {
        assert_eq!(refused(&trust, &known, name, DATE), BAD_CERTIFICATE, "{name}");
    }
    assert_eq!(refused(&trust, &other, "localhost", DATE), DECRYPT_ERROR);
    meet(&trust, &known, "localhost", DATE + 12 * DAY).unwrap();
    assert_eq!(refused(&trust, &known, "localhost", DATE + 13 * DAY), CERTIFICATE_EXPIRED);
    assert_eq!(refused(&trust, &known, "localhost", DATE - DAY), CERTIFICATE_EXPIRED);
}

#[test]
fn a_pin_ignores_name_and_date() {
    let (known, other) = (identity(), identity());
    for pin in [known.fingerprint(), known.key_fingerprint()] {
        meet(&Trust::Pin(pin), &known, "example.org", DATE + 1000 * DAY).unwrap();
        refused(&Trust::Pin(pin), &other, "localhost", DATE);
    }
    meet(&Trust::Anyone, &other, "example.org", DATE).unwrap();
}

#[test]
fn the_chosen_ciphers_and_groups_are_used() {
    let known = identity();
    for (cipher, secret) in [(Cipher::Aes128Gcm, 32), (Cipher::Aes256Gcm, 48), (Cipher::ChaCha20Poly1305, 32)]
    {
        for key_share in [KeyShare::X25519, KeyShare::X25519MlKem768] {
            let options = Options { cipher, key_share, ..Options::default() };
            let ends = (&Trust::Anyone, &known);
            let (mut client, mut server) = meet_with(&options, &options, ends, ("localhost", DATE)).unwrap();
            let secrets = client.session.take_secrets();
            assert!(secrets.iter().all(|line| line.secret.len() == secret));
            assert_eq!(secrets.len(), server.session.take_secrets().len());
            // A server with another preference gets its way, and a client without the hybrid group is served too.
            meet_with(&Options::default(), &options, ends, ("localhost", DATE)).unwrap();
        }
    }
}

/// Compatible version negotiation (RFC 9368 section 2.3) works with random numbers of the operating system, which are
/// recorded.
#[test]
fn a_client_follows_the_server_into_version_2() {
    const TWO: u32 = 0x6b33_43cf;
    for key_share in [KeyShare::X25519, KeyShare::X25519MlKem768] {
        let options = Options { key_share, ..Options::default() };
        let made = |identity: Option<&Identity>| {
            Context::real(&options, &[b"h3"], &Trust::Anyone, identity, DATE).unwrap()
        };
        let choose = Choose::new(|offer| {
            assert_eq!((offer.parameters, offer.early_data), (&[7; 50][..], false));
            Some(Choice { version: TWO, parameters: vec![8; 40] })
        });
        let change = Change::Choose(choose);
        let server = made(Some(&identity())).server(Start { change, ..start("server") }, None).unwrap();
        let request = Request { server_name: Some("localhost"), ..Request::default() };
        let change = Change::Follow;
        let client = made(None).client(Start { change, ..start("client") }, request).unwrap();
        let (mut client, mut server) = (End::new(client), End::new(server));
        for (level, bytes) in client.sent.clone() {
            server.receive(level, &bytes, 1000);
        }
        assert_eq!((client.session.version(), server.session.version()), (1, TWO));
        assert!(client.session.follow(TWO) && !client.session.follow(1), "once");
        assert_eq!(client.session.version(), TWO);
        let sent = client.sent.len();
        for (level, bytes) in server.sent.clone() {
            client.receive(level, &bytes, 1000);
        }
        for (level, bytes) in client.sent[sent..].iter().cloned() {
            server.receive(level, &bytes, 1000);
        }
        assert!(client.session.is_complete() && server.session.is_complete());
        assert_eq!(client.session.peer_parameters(), Some(&[8; 40][..]));
        for (ours, theirs) in client.keys.iter().zip(&server.keys) {
            let mut packet = vec![0x40; 60];
            ours.local.seal(1, &mut packet, 10, 20);
            theirs.remote.unprotect(&mut packet, 10).unwrap();
            assert!(theirs.remote.open(1, &mut packet, 20).is_ok());
        }
        // A client that has read something cannot follow.
        assert!(!server.session.follow(1) && !client.session.follow(1));
    }
}

#[test]
fn connections_with_equal_streams_have_different_keys() {
    let known = identity();
    let secrets = || {
        let (mut client, _) = meet(&Trust::Anyone, &known, "localhost", DATE).unwrap();
        client.session.take_secrets()
    };
    let (one, other) = (secrets(), secrets());
    assert!(one.iter().all(|line| !other.iter().any(|known| known.secret == line.secret)));
}

#[test]
fn without_an_identity_there_are_no_servers_and_without_roots_no_clients() {
    let context = |trust, identity| Context::real(&Options::default(), &[b"h3"], trust, identity, DATE);
    let client = context(&Trust::Anyone, None).unwrap();
    assert_eq!(client.server(start("server"), None).unwrap_err(), Error::NoIdentity);
    assert!(matches!(context(&Trust::Roots(Vec::new()), None), Err(Error::Certificate(_))));
    assert!(matches!(Trust::from_pem(b"nothing"), Err(Error::Certificate(_))));
}
