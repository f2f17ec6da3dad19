//! Datagrams through a relay, between sockets of this machine.

use super::*;
use std::net::{Ipv4Addr, Ipv6Addr, UdpSocket};
use std::path::Path as FilePath;

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// A link between client and server with these properties in both directions.
fn network(link: &str) -> Scenario {
    let text = format!(
        "[[link]]\nname = \"path\"\nfrom = \"client\"\nto = \"server\"\n{link}\n\
         [[flow]]\nname = \"all\"\nclient = \"client\"\nserver = \"server\"\napplication = {{ type = \"bulk\", size = \"1 B\" }}\n"
    );
    Scenario::parse(&text, FilePath::new("relay.toml"), &[]).unwrap()
}

/// A socket that does not wait.
fn socket(ip: impl Into<std::net::IpAddr>) -> UdpSocket {
    let socket = UdpSocket::bind((ip.into(), 0)).unwrap();
    socket.set_nonblocking(true).unwrap();
    socket
}

/// A client, a relay and a server, none of which does anything by itself.
struct Bench {
    client: UdpSocket,
    server: UdpSocket,
    relay: Relay,
}

impl Bench {
    fn new(link: &str, change: impl FnOnce(&mut RelayOptions)) -> Bench {
        Bench::at(Ipv4Addr::LOCALHOST.into(), link, change)
    }
    fn at(ip: std::net::IpAddr, link: &str, change: impl FnOnce(&mut RelayOptions)) -> Bench {
        let (client, server) = (socket(ip), socket(ip));
        let mut options = RelayOptions {
            pairs: vec![Pair { listen: (ip, 0).into(), to: server.local_addr().unwrap() }],
            scenario: network(link),
            seed: 1,
            blackouts: Vec::new(),
            rebinds: Vec::new(),
            capture: None,
        };
        change(&mut options);
        Bench { client, server, relay: Relay::new(&options).unwrap() }
    }
    fn ask(&self, bytes: &[u8]) {
        self.client.send_to(bytes, self.relay.pairs()[0].listen).unwrap();
    }
    fn run(&mut self, time: Duration) {
        self.relay.run_for(time).unwrap();
    }
    /// Relays until this has become so; a machine that is busy takes its time.
    fn run_until(&mut self, is_so: impl Fn(&RelayStats) -> bool) {
        for _ in 0..2000 {
            if is_so(&self.relay.stats()) {
                return;
            }
            self.run(ms(5));
        }
        panic!("{:?}", self.relay.stats());
    }
}

/// All that has come to a socket, with where it came from.
fn heard(socket: &UdpSocket) -> Vec<(Vec<u8>, SocketAddr)> {
    let mut buffer = [0; 2048];
    std::iter::from_fn(|| {
        let (length, from) = socket.recv_from(&mut buffer).ok()?;
        Some((buffer[..length].to_vec(), from))
    })
    .collect()
}

#[test]
fn datagrams_go_both_ways_with_the_delay_of_the_network_and_are_counted() {
    for ip in [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()] {
        let mut bench = Bench::at(ip, "delay = \"20 ms\"", |_| {});
        bench.ask(b"one");
        bench.ask(b"two");
        // Time of the path is real time: what is there before it has passed is an error, whatever the machine's load.
        bench.run(ms(5));
        let early = heard(&bench.server);
        assert!(early.is_empty() || bench.relay.clock.now() >= Time::ZERO + ms(20), "{early:?}");
        bench.run_until(|stats| stats.to_servers == 2);
        let came = heard(&bench.server);
        assert_eq!(came.iter().map(|(bytes, _)| &bytes[..]).collect::<Vec<_>>(), [b"one", b"two"]);
        assert_eq!(came[0].1, came[1].1);
        bench.server.send_to(b"back", came[0].1).unwrap();
        bench.run_until(|stats| stats.to_clients == 1);
        let listen = bench.relay.pairs()[0].listen;
        assert_eq!(heard(&bench.client), [(b"back".to_vec(), listen)]);
        let stats = bench.relay.finish().unwrap();
        assert_eq!(
            (stats.from_clients, stats.to_servers, stats.from_servers, stats.to_clients),
            (2, 2, 1, 1)
        );
        assert_eq!((stats.clients, stats.astray, stats.not_sent, stats.lateness.count()), (1, 0, 0, 3));
    }
}

#[test]
fn datagrams_of_a_burst_stay_in_order() {
    let mut bench = Bench::new("delay = \"1 ms\"", |_| {});
    // The system takes all of a train at one time.
    let client = Socket::bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let bytes: Vec<u8> = (0..60).flat_map(|n| [n; 10]).collect();
    let (local, remote) = (client.local(), bench.relay.pairs()[0].listen);
    client.send(&Train { local, remote, ecn: Ecn::Ect0, segment: 10, bytes: &bytes }).unwrap();
    bench.run_until(|stats| stats.to_servers == 60);
    let came: Vec<u8> = heard(&bench.server).into_iter().map(|(bytes, _)| bytes[0]).collect();
    assert_eq!(came, (0..60).collect::<Vec<u8>>());
}

#[test]
fn the_same_seed_loses_the_same_datagrams() {
    let survivors = |seed: u64| {
        let mut bench = Bench::new("loss = \"40 %\"", |options| options.seed = seed);
        for n in 0..64_u8 {
            bench.ask(&[n]);
        }
        bench.run_until(|stats| stats.from_clients == 64);
        heard(&bench.server).into_iter().map(|(bytes, _)| bytes[0]).collect::<Vec<u8>>()
    };
    let first = survivors(1);
    assert!(first.len() > 20 && first.len() < 60, "{first:?}");
    assert_eq!(survivors(1), first);
    assert_ne!(survivors(2), first);
}

#[test]
fn in_a_blackout_nothing_passes() {
    let mut bench =
        Bench::new("delay = \"1 ms\"", |options| options.blackouts = vec![(ms(0), ms(3_600_000))]);
    bench.ask(b"lost");
    bench.run_until(|stats| stats.blacked_out == 1);
    bench.run(ms(20));
    assert_eq!(heard(&bench.server), []);
}

#[test]
fn a_moved_client_has_another_address_and_its_old_one_is_dead() {
    for rebind in [Rebind::Port, Rebind::Address] {
        let mut bench = Bench::new("delay = \"1 ms\"", |options| options.rebinds = vec![(ms(50), rebind)]);
        bench.ask(b"before");
        bench.run_until(|stats| stats.to_servers == 1);
        let before = heard(&bench.server)[0].1;
        bench.run_until(|stats| stats.rebinds == 1);
        bench.ask(b"after");
        bench.run_until(|stats| stats.to_servers == 2);
        let after = heard(&bench.server)[0].1;
        assert_ne!(after.port(), before.port());
        assert_eq!(after.ip() == before.ip(), rebind == Rebind::Port);
        bench.server.send_to(b"late", before).unwrap();
        bench.server.send_to(b"there", after).unwrap();
        bench.run_until(|stats| (stats.astray, stats.to_clients) == (1, 1));
        assert_eq!(heard(&bench.client).into_iter().map(|(bytes, _)| bytes).collect::<Vec<_>>(), [b"there"]);
    }
}

#[test]
fn ecn_fields_are_kept_both_ways() {
    let mut bench = Bench::new("delay = \"1 ms\"", |_| {});
    let [client, server] = [0, 1].map(|_| Socket::bind_with_times((Ipv4Addr::LOCALHOST, 0).into()).unwrap());
    bench.relay.pairs[0].to = server.local();
    let mut inbox = Inbox::new();
    let mut receive = |socket: &Socket| {
        let mut came = Vec::new();
        while let Ok(all) = inbox.receive(socket) {
            came.extend(
                all.flat_map(|arrived| arrived.datagrams.map(move |_| (arrived.ecn, arrived.remote))),
            );
        }
        came
    };
    let marks = [wire::Ecn::NotEct, wire::Ecn::Ect0, wire::Ecn::Ect1, wire::Ecn::Ce];
    for ecn in marks {
        let listen = bench.relay.pairs()[0].listen;
        client.send(&Train::single(client.local(), listen, ecn, b"to the server")).unwrap();
    }
    bench.run_until(|stats| stats.to_servers == 4);
    let came = receive(&server);
    assert_eq!(came.iter().map(|(ecn, _)| *ecn).collect::<Vec<_>>(), marks);
    for ecn in marks {
        server.send(&Train::single(server.local(), came[0].1, ecn, b"to the client")).unwrap();
    }
    bench.run_until(|stats| stats.to_clients == 4);
    assert_eq!(receive(&client).into_iter().map(|(ecn, _)| ecn).collect::<Vec<_>>(), marks);
}

#[test]
fn captures_have_both_sides_of_the_network() {
    let folder = std::env::temp_dir().join(format!("quiclab-relay-{}", std::process::id()));
    let mut bench = Bench::new("loss = \"100 %\"", |options| options.capture = Some(folder.clone()));
    bench.ask(b"never to be seen by the server");
    bench.run_until(|stats| stats.from_clients == 1);
    bench.relay.finish().unwrap();
    let holds = |name: &str| {
        let capture = std::fs::read(folder.join(name)).unwrap();
        capture.windows(5).any(|bytes| bytes == b"never")
    };
    assert!(holds("client.pcapng") && !holds("server.pcapng"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_cannot_be_listened_on_is_an_error_that_names_it() {
    let first = Bench::new("", |_| {});
    let taken = first.relay.pairs()[0];
    let options = RelayOptions {
        pairs: vec![taken],
        scenario: network(""),
        seed: 1,
        blackouts: Vec::new(),
        rebinds: Vec::new(),
        capture: None,
    };
    let error = Relay::new(&options).unwrap_err().to_string();
    assert!(error.starts_with(&format!("listening on {}: ", taken.listen)), "{error}");
}

#[test]
fn a_network_that_is_more_than_links_is_refused() {
    let link = "[[link]]\nname = \"path\"\nfrom = \"client\"\nto = \"ap\"\n[[link]]\nname = \"access\"\nfrom = \"ap\"\nto = \"server\"\n";
    let nodes = "[[node]]\nname = \"client\"\n[[node]]\nname = \"server\"\n[[node]]\nname = \"ap\"\n";
    let flow = "[[flow]]\nname = \"all\"\nclient = \"client\"\nserver = \"server\"\napplication = \"bulk\"\n";
    let nat = format!("duration = \"5 s\"\n{nodes}kind = \"nat\"\n{link}{flow}");
    let medium = format!(
        "duration = \"5 s\"\n[[medium]]\nname = \"air\"\ntype = \"shared\"\nterminals = [\"client\", \"server\"]\n{flow}"
    );
    let event = format!(
        "duration = \"5 s\"\n{nodes}{link}{flow}[[event]]\nat = \"1 s\"\ntype = \"interface-down\"\nnode = \"ap\"\ninterface = \"path\"\n"
    );
    for (text, begin) in [
        (nat, "node ap: a relay has no middleboxes, media and events, found \"nat\""),
        (medium, "medium air: a relay has no middleboxes, media and events, found \"shared\""),
        (event, "event at 1 s: a relay has no middleboxes, media and events, found \"interface-down\""),
    ] {
        let options = RelayOptions {
            pairs: Vec::new(),
            scenario: Scenario::parse(&text, FilePath::new("relay.toml"), &[]).unwrap(),
            seed: 1,
            blackouts: Vec::new(),
            rebinds: Vec::new(),
            capture: None,
        };
        let error = Relay::new(&options).unwrap_err().to_string();
        assert!(error.starts_with(begin), "{error}");
    }
}
