//! Unit tests of the model.

use super::*;
use crate::framing::Framing;
use proptest::prelude::*;

fn terms(protocols: &[u8]) -> Arc<Terms> {
    let sizes = Sizes {
        client_hello: 200,
        server_hello: 90,
        encrypted_extensions: 24,
        certificate: 1000,
        certificate_verify: 72,
        server_finished: 36,
        client_finished: 36,
        resumption: Default::default(),
    };
    let (protocols, server_name) = (protocols.to_vec(), "a.example".into());
    Arc::new(Terms { sizes, protocols, server_name, tickets: 0, early_data: false })
}
fn feed(model: &mut Model, mut bytes: &[u8], outbox: &mut Outbox) -> Result<(), Alert> {
    let mut framing = Framing::default();
    while !bytes.is_empty() {
        let part = framing.next(&mut bytes)?;
        model.read(Time::ZERO, &part, outbox)?;
    }
    Ok(())
}
fn opening(parameters: Vec<u8>) -> Opening {
    let (now, epoch, version) = (Time::ZERO, Duration::ZERO, supported_version(1).unwrap());
    Opening { random: Generator::new(1, "test"), now, epoch, version, parameters, change: Change::Never }
}
fn client(terms: &Arc<Terms>, parameters: Vec<u8>, outbox: &mut Outbox) -> Model {
    let server_name = "a.example".to_owned();
    let request = ClientRequest { server_name, server_name_size: 18, ticket: None, early_data: false };
    Model::client(terms, opening(parameters), request, outbox)
}
fn server(terms: &Arc<Terms>, parameters: Vec<u8>) -> Model {
    Model::server(terms, opening(parameters), None)
}
fn client_hello(protocols: &[u8]) -> Vec<u8> {
    let (mut outbox, mut bytes) = (Outbox::default(), Vec::new());
    client(&terms(protocols), vec![5; 30], &mut outbox);
    assert!(outbox.pop(&mut bytes).is_none());
    bytes
}

#[test]
fn the_server_prefers_its_own_order_of_protocols() {
    for (ours, theirs, chosen) in [
        (&b"\x02h3\x02hq"[..], &b"\x02hq\x02h3"[..], Ok(Some(&b"h3"[..]))),
        (b"\x02h3\x02hq", b"\x02hq", Ok(Some(b"hq"))),
        (b"\x02h3", b"\x02hq", Err(120)),
        (b"\x02h3", b"", Err(120)),
        (b"", b"\x02h3", Err(120)),
        (b"", b"", Ok(None)),
    ] {
        let mut server = server(&terms(ours), vec![6; 40]);
        let result = feed(&mut server, &client_hello(theirs), &mut Outbox::default());
        assert_eq!(result.map(|()| server.alpn()).map_err(|alert| alert.code), chosen);
    }
}

#[test]
fn a_message_at_the_wrong_time_is_unexpected() {
    let (terms, mut outbox) = (terms(b"\x02h3"), Outbox::default());
    let mut client = client(&terms, Vec::new(), &mut outbox);
    assert_eq!(feed(&mut client, &[8, 0, 0, 0], &mut outbox).unwrap_err().code, 10);
    let mut server = server(&terms, Vec::new());
    assert_eq!(feed(&mut server, &[20, 0, 0, 0], &mut outbox).unwrap_err().code, 10);
}

#[test]
fn a_message_without_required_fields_is_rejected() {
    for body in [&[][..], &[0], &[0, 9, 1], &[0, 1, 7], &[0, 0, 0, 4, 2, b'h', b'3', 1], &[0, 0, 0, 1, 0]] {
        let mut server = server(&terms(b"\x02h3"), Vec::new());
        let mut hello = vec![1, 0, 0, body.len() as u8];
        hello.extend_from_slice(body);
        let alert = feed(&mut server, &hello, &mut Outbox::default()).unwrap_err();
        assert_eq!(alert.code, 50, "{body:?}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), side: bool) {
        let (terms, mut outbox) = (terms(b"\x02h3"), Outbox::default());
        let mut model =
            if side { client(&terms, vec![1; 9], &mut outbox) } else { server(&terms, vec![1; 9]) };
        let _ = feed(&mut model, &bytes, &mut outbox);
    }

    #[test]
    fn a_hello_with_one_byte_changed_is_read_without_panic(at in 0usize..234, to: u8) {
        let mut hello = client_hello(b"\x02h3");
        let at = at.min(hello.len() - 1);
        hello[at] = to;
        let _ = feed(&mut server(&terms(b"\x02h3"), Vec::new()), &hello, &mut Outbox::default());
    }
}
