//! PRIORITY_UPDATE frames (RFC 9218 section 7.2) at a server on a real socket, sent by a client that the test
//! controls frame by frame.
#![cfg(target_os = "linux")]

mod hand;

use hand::{CONTROL, Client, Credit, Folder, PREFACE, Running};
use http::frame;
use quic::Event;
use wire::{Direction, Side, StreamId};

/// The number of bytes that the server may send before the client reads anything.
const CREDIT: u64 = 100_000;
/// The length of each file.
const LENGTH: usize = 500_000;

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    ["first", "second"].into_iter().for_each(|file| folder.put(file, LENGTH));
    folder
}

fn client(server: &Running) -> Client {
    Client::new(server, Credit { connection: CREDIT, stream: 16 << 20 })
}

fn update(client: &mut Client, stream: StreamId, value: &str) {
    let (mut payload, mut bytes) = (Vec::new(), Vec::new());
    wire::varint::encode(&mut payload, stream.value());
    payload.extend_from_slice(value.as_bytes());
    frame::encode(&mut bytes, frame::PRIORITY_UPDATE_REQUEST, &payload);
    client.send(CONTROL, &bytes);
}

/// The stream that ends first, and the number of bytes of the other one by then.
fn first_of(client: &mut Client, streams: [StreamId; 2]) -> (StreamId, u64) {
    let (mut came, mut first) = ([0; 2], None);
    client.go_on(|client| {
        for (came, stream) in came.iter_mut().zip(streams) {
            let read = client.with(|connection, _| connection.discard(stream));
            let Ok(read) = read else { continue };
            *came += read.bytes;
            if read.finished {
                first.get_or_insert(stream);
            }
        }
        first.is_some()
    });
    let first = first.unwrap();
    (first, came[usize::from(first == streams[0])])
}

/// RFC 9218 section 10: of the responses that have the same urgency and are not incremental, the one requested
/// first comes first; section 7.2: a PRIORITY_UPDATE changes that, whether it arrives while they are being sent
/// or before the request.
#[test]
fn the_order_follows_the_update() {
    let folder = folder("order");
    let server = Running::new(hand::serving(&folder.0, 10));
    let second = StreamId::new(Side::Client, Direction::Bidirectional, 1);
    for (early, late) in [(None, None), (None, Some("u=0")), (Some("u=0"), None), (Some("u=0"), Some("u=5"))]
    {
        let mut client = client(&server);
        if let Some(value) = early {
            update(&mut client, second, value);
            client.settle(PREFACE + 1);
        }
        let streams = ["/first", "/second"].map(|path| client.ask(path));
        assert_eq!(streams[1], second);
        // All credit is used: more arrives only after the client has read something.
        client
            .go_on(|client| client.with(|connection, _| connection.stream_stats().received_bytes >= CREDIT));
        if let Some(value) = late {
            let written = client.with(|connection, _| connection.stream_stats().sent_bytes);
            update(&mut client, second, value);
            client.settle(written + 1);
        }
        let (first, other) = first_of(&mut client, streams);
        let urgent = late.or(early) == Some("u=0");
        assert_eq!(first == second, urgent, "{early:?}, then {late:?}");
        assert!(other < 2 * CREDIT, "{other} bytes of the other came before");
        client.with(|connection, now| connection.close(now, 0x100, "done"));
    }
}

/// RFC 9218 section 7.2: a stream beyond the limit on streams is an error of type H3_ID_ERROR.
#[test]
fn an_update_for_an_impossible_stream_is_refused() {
    let folder = folder("limit");
    let server = Running::new(hand::serving(&folder.0, 10));
    let mut client = client(&server);
    update(&mut client, StreamId::new(Side::Client, Direction::Bidirectional, 1 << 20), "u=0");
    client.go_on(|client| client.events.contains(&Event::Ended));
    let code = client.with(|connection, _| connection.close_reason().map(quic::CloseReason::code));
    assert_eq!(code, Some((true, http::Code::ID_ERROR.0)));
}
