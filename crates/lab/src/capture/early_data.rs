//! A test of captures with 0-RTT packets, read by tshark.

use super::tests::tshark;
use super::*;
use quic::{Config, Connection, Data, Datagram, Endpoint, EndpointOptions, Handle, Opening};
use random::Generator;
use std::sync::Arc;
use units::Duration;
use wire::Direction;

/// Two endpoints on a cable of 10 ms, captured at the client.
struct Cable {
    now: Time,
    ends: [Endpoint; 2],
    file: Vec<u8>,
    blocks: Vec<Block>,
}

/// A block of the capture.
enum Block {
    Secret(String),
    Packet(Time, SocketAddr, SocketAddr, Vec<u8>),
}

fn address(end: usize) -> SocketAddr {
    [([10, 0, 0, 1], 50_000), ([10, 0, 1, 2], 443)][end].into()
}

impl Cable {
    fn new(config: &Arc<Config>) -> Cable {
        let options = tls::Options {
            protection: tls::Protection::Tls,
            tickets: 1,
            early_data: true,
            ..tls::Options::default()
        };
        let tls = tls::Context::new(&options, &[b"test"], 1).unwrap();
        let end = |end: usize| {
            let accept = (end == 1).then(|| config.clone());
            let options = EndpointOptions { accept, ..EndpointOptions::new(address(end), tls.clone()) };
            Endpoint::new(options, Generator::new(1, ["client", "server"][end]))
        };
        Cable { now: Time::ZERO, ends: [end(0), end(1)], file: Vec::new(), blocks: Vec::new() }
    }

    /// Sends everything from one end, and delivers it to the other 10 ms later.
    fn pass(&mut self, from: usize) {
        let mut sent = Vec::new();
        loop {
            if let Some(handle) = self.ends[from].next_active()
                && let Some(connection) = self.ends[from].get_mut(handle)
            {
                while connection.poll_event().is_some() {}
                let side = [Side::Client, Side::Server][from];
                let secrets = connection.take_secrets();
                let first = secrets.iter().filter(|secret| is_first_at(side, &secret.label));
                self.blocks.extend(first.map(|secret| Block::Secret(secret.to_string())));
            }
            let mut bytes = Vec::new();
            if self.ends[from].transmit(self.now, &mut bytes).is_none() {
                if self.ends[from].next_active().is_some() {
                    continue;
                }
                break;
            }
            sent.push(bytes);
        }
        let sent_at = self.now;
        self.now += Duration::from_millis(10);
        let (local, remote) = (address(1 - from), address(from));
        for mut bytes in sent {
            let at = if from == 0 { sent_at } else { self.now };
            self.blocks.push(Block::Packet(at, remote, local, bytes.clone()));
            let ecn = wire::Ecn::NotEct;
            let datagram = Datagram { local, remote, ecn, bytes: &mut bytes, hole: None, damage: None };
            self.ends[1 - from].receive(self.now, datagram);
        }
        self.ends.iter_mut().for_each(|end| end.wake(self.now));
    }

    fn connect(&mut self, opening: Opening) -> Handle {
        self.ends[0].connect(self.now, opening).unwrap()
    }
    fn client(&mut self, handle: Handle) -> &mut Connection {
        self.ends[0].get_mut(handle).unwrap()
    }

    fn capture(mut self) -> Vec<u8> {
        let mut capture = Capture::new(&mut self.file).unwrap();
        for block in &self.blocks {
            match block {
                Block::Secret(line) => capture.secrets(line).unwrap(),
                Block::Packet(at, from, to, bytes) => capture.packet(*at, *from, *to, 0, bytes).unwrap(),
            }
        }
        capture.finish().unwrap();
        self.file
    }
}

#[test]
fn tshark_decrypts_0_rtt_packets() {
    let config = Arc::new(Config::default());
    let mut cable = Cable::new(&config);
    let first = cable.connect(Opening::new(address(1), config.clone()));
    (0..10).for_each(|turn| cable.pass(turn % 2));
    assert!(cable.client(first).is_established());
    let second = cable.connect(Opening::new(address(1), config).with_early_data());
    let now = cable.now;
    let client = cable.client(second);
    let stream = client.open(Direction::Unidirectional).unwrap();
    client.write(now, stream, Data::Bytes(b"hello, early tshark")).unwrap();
    (0..10).for_each(|turn| cable.pass(turn % 2));
    assert_eq!(cable.client(second).early_data(), tls::EarlyData::Accepted);
    let capture = cable.capture();
    let fields = ["-Y", "quic.long.packet_type == 1", "-T", "fields", "-e", "quic.stream_data"];
    let Some(shown) = tshark("early_data", &capture, &fields) else { return };
    let hello: String = b"hello, early tshark".iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(shown, format!("{hello}\n"));
    let Some(shown) = tshark("early_data_malformed", &capture, &["-Y", "_ws.malformed"]) else { return };
    assert_eq!(shown, "");
}
