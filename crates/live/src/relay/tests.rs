//! Datagrams through a relay, between sockets of this machine.

use super::*;
use crate::socket::Train;
use std::net::{Ipv4Addr, Ipv6Addr, UdpSocket};
use std::path::Path as FilePath;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use wire::Ecn;

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

/// A client, a running relay, and a server.
struct Bench {
    client: UdpSocket,
    server: UdpSocket,
    pairs: Vec<Pair>,
    seen: Arc<Mutex<RelayStats>>,
    stop: Arc<AtomicBool>,
    relay: Option<JoinHandle<(Outcome, RelayStats)>>,
}

fn options(scenario: Scenario, pairs: Vec<Pair>) -> RelayOptions {
    RelayOptions {
        pairs,
        scenario,
        gates: [None, None],
        duration: None,
        blackouts: Vec::new(),
        rebinds: Vec::new(),
        capture: None,
    }
}

impl Bench {
    fn new(link: &str, change: impl FnOnce(&mut RelayOptions, &mut Options)) -> Bench {
        Bench::at(Ipv4Addr::LOCALHOST.into(), network(link), change)
    }
    fn at(
        ip: std::net::IpAddr,
        scenario: Scenario,
        change: impl FnOnce(&mut RelayOptions, &mut Options),
    ) -> Bench {
        let (client, server) = (socket(ip), socket(ip));
        let pair = Pair { listen: (ip, 0).into(), to: server.local_addr().unwrap() };
        let (mut options, mut run) = (options(scenario, vec![pair]), Options::default());
        change(&mut options, &mut run);
        let relay = Relay::new(&options).unwrap();
        let (seen, stop): (Arc<Mutex<RelayStats>>, Arc<AtomicBool>) = Default::default();
        let (told, asked) = (Arc::clone(&seen), Arc::clone(&stop));
        let pairs = relay.pairs().to_vec();
        let running = std::thread::spawn(move || {
            let progress = &mut |stats: &RelayStats| {
                told.lock().unwrap().clone_from(stats);
                match asked.load(Ordering::Relaxed) {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            };
            relay.run(&run, progress).unwrap()
        });
        Bench { client, server, pairs, seen, stop, relay: Some(running) }
    }
    fn ask(&self, bytes: &[u8]) {
        self.client.send_to(bytes, self.pairs[0].listen).unwrap();
    }
    fn run(&self, time: Duration) {
        std::thread::sleep(std::time::Duration::from_nanos(time.as_nanos()));
    }
    /// Waits until this has become so; a machine that is busy takes its time.
    fn run_until(&self, is_so: impl Fn(&RelayStats) -> bool) {
        for _ in 0..2000 {
            if is_so(&self.seen.lock().unwrap()) {
                return;
            }
            self.run(ms(5));
        }
        panic!("{:?}", self.seen.lock().unwrap());
    }
    fn finish(mut self) -> (Outcome, RelayStats) {
        self.stop.store(true, Ordering::Relaxed);
        self.relay.take().unwrap().join().unwrap()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(relay) = self.relay.take() {
            let _ = relay.join();
        }
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
        let bench = Bench::at(ip, network("delay = \"20 ms\""), |_, _| {});
        let clock = Clock::start();
        bench.ask(b"one");
        bench.ask(b"two");
        // Time of the path is real time: what is there before it has passed is an error, whatever the machine's load.
        bench.run(ms(5));
        let early = heard(&bench.server);
        assert!(early.is_empty() || clock.now() >= Time::ZERO + ms(20), "{early:?}");
        bench.run_until(|stats| stats.to_servers == 2);
        let came = heard(&bench.server);
        assert_eq!(came.iter().map(|(bytes, _)| &bytes[..]).collect::<Vec<_>>(), [b"one", b"two"]);
        assert_eq!(came[0].1, came[1].1);
        bench.server.send_to(b"back", came[0].1).unwrap();
        bench.run_until(|stats| stats.to_clients == 1);
        let listen = bench.pairs[0].listen;
        assert_eq!(heard(&bench.client), [(b"back".to_vec(), listen)]);
        let (_, stats) = bench.finish();
        assert_eq!(
            (stats.from_clients, stats.to_servers, stats.from_servers, stats.to_clients),
            (2, 2, 1, 1)
        );
        assert_eq!((stats.clients, stats.astray, stats.not_sent, stats.lateness.count()), (1, 0, 0, 3));
    }
}

#[test]
fn datagrams_of_a_burst_stay_in_order() {
    let bench = Bench::new("delay = \"1 ms\"", |_, _| {});
    // The system takes all of a train at one time.
    let client = Socket::bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let bytes: Vec<u8> = (0..60).flat_map(|n| [n; 10]).collect();
    let (local, remote) = (client.local(), bench.pairs[0].listen);
    client.send(&Train { local, remote, ecn: Ecn::Ect0, segment: 10, bytes: &bytes }).unwrap();
    bench.run_until(|stats| stats.to_servers == 60);
    let came: Vec<u8> = heard(&bench.server).into_iter().map(|(bytes, _)| bytes[0]).collect();
    assert_eq!(came, (0..60).collect::<Vec<u8>>());
}

#[test]
fn the_same_seed_loses_the_same_datagrams() {
    let survivors = |seed: u64| {
        let bench = Bench::new("loss = \"40 %\"", |_, options| options.seed = Some(seed));
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
    let bench = Bench::new("delay = \"1 ms\"", |options, _| options.blackouts = vec![(ms(0), ms(3_600_000))]);
    bench.ask(b"lost");
    bench.run_until(|stats| stats.blacked_out == 1);
    bench.run(ms(20));
    assert_eq!(heard(&bench.server), []);
}

#[test]
fn a_moved_client_has_another_address_and_its_old_one_is_dead() {
    for rebind in [Rebind::Port, Rebind::Address] {
        let bench = Bench::new("delay = \"1 ms\"", |options, _| options.rebinds = vec![(ms(50), rebind)]);
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
    let [client, server] = [0, 1].map(|_| Socket::bind_with_times((Ipv4Addr::LOCALHOST, 0).into()).unwrap());
    let bench = Bench::new("delay = \"1 ms\"", |options, _| options.pairs[0].to = server.local());
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
        let listen = bench.pairs[0].listen;
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
    let bench = Bench::new("loss = \"100 %\"", |options, _| options.capture = Some(folder.clone()));
    bench.ask(b"never to be seen by the server");
    bench.run_until(|stats| stats.from_clients == 1);
    bench.finish();
    let holds = |name: &str| {
        let capture = std::fs::read(folder.join(name)).unwrap();
        capture.windows(5).any(|bytes| bytes == b"never")
    };
    assert!(holds("client.pcapng") && !holds("server.pcapng"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_cannot_be_listened_on_is_an_error_that_names_it() {
    let first = Bench::new("", |_, _| {});
    let taken = first.pairs[0];
    let error = Relay::new(&options(network(""), vec![taken])).unwrap_err().to_string();
    assert!(error.starts_with(&format!("listening on {}: ", taken.listen)), "{error}");
    let many = Relay::new(&options(network(""), vec![taken; 1001])).unwrap_err().to_string();
    assert!(many.contains("1000 at most"), "{many}");
}

/// A wireless LAN, a NAT, and a link whose queue a simulated download and cross traffic share; a link that is down for a while.
const WORLD: &str = r#"
duration = "2 s"
[[node]]
name = "phone"
kind = "gate"
[[node]]
name = "tablet"
[[node]]
name = "home"
kind = { type = "nat", inside = ["air"] }
[[node]]
name = "exchange"
kind = "router"
[[node]]
name = "server"
kind = "gate"
[[node]]
name = "far"
[[medium]]
name = "air"
type = "wlan"
station = "home"
terminals = ["phone", "tablet"]
[[link]]
name = "access"
from = "exchange"
to = "home"
both = { rate = "5 Mbit/s", delay = "5 ms", queue = "200 packets" }
[[link]]
name = "core"
from = "exchange"
to = "server"
[[link]]
name = "beside"
from = "exchange"
to = "far"
[[flow]]
name = "download"
client = "tablet"
server = "far"
application = { type = "bulk", size = "300 kB" }
[[cross_traffic]]
name = "noise"
from = "tablet"
to = "far"
source = { type = "constant", size = 500, gap = "40 ms" }
[[event]]
at = "1 ms"
type = "interface-down"
node = "exchange"
interface = "core"
[[event]]
at = "2 ms"
type = "interface-up"
node = "exchange"
interface = "core"
[[event]]
at = "1500 ms"
type = "forget"
node = "home"
"#;

fn world() -> Scenario {
    Scenario::parse(WORLD, FilePath::new("world.toml"), &[]).unwrap()
}

/// Everything that a scenario has runs: a medium, a NAT, whose memory an event takes, a simulated flow and cross traffic in the same
/// queues, also beyond the scenario's duration.
#[test]
fn the_whole_world_is_between_client_and_server() {
    let bench = Bench::at(Ipv4Addr::LOCALHOST.into(), world(), |_, run| run.tables = true);
    let clock = Clock::start();
    bench.ask(b"one");
    bench.run_until(|stats| stats.to_servers == 1);
    let before = heard(&bench.server)[0].1;
    bench.server.send_to(b"back", before).unwrap();
    bench.run_until(|stats| stats.to_clients == 1);
    assert_eq!(heard(&bench.client), [(b"back".to_vec(), bench.pairs[0].listen)]);
    // Longer than the scenario's duration: the NAT has forgotten then, and sees the client anew.
    while clock.now() < Time::ZERO + ms(2100) {
        bench.run(ms(50));
    }
    bench.server.send_to(b"lost", before).unwrap();
    bench.run_until(|stats| stats.from_servers == 2);
    bench.ask(b"two");
    bench.run_until(|stats| stats.to_servers == 2);
    let after = heard(&bench.server)[0].1;
    assert_ne!(after, before, "another mapping is another address");
    bench.server.send_to(b"again", after).unwrap();
    bench.run_until(|stats| stats.to_clients == 2);
    assert_eq!(heard(&bench.client).into_iter().map(|(bytes, _)| bytes).collect::<Vec<_>>(), [b"again"]);
    let (outcome, stats) = bench.finish();
    assert_eq!((stats.clients, stats.astray, stats.not_sent), (1, 0, 0));
    let summary: serde_json::Value = serde_json::from_str(&outcome.summary).unwrap();
    assert_eq!(summary["connections"][0]["completed"], true, "{summary}");
    assert!(summary["duration_s"].as_f64().unwrap() >= 2.0, "{summary}");
    let crossing = &summary["cross_traffic"][0];
    assert!(crossing["packets_sent"].as_u64().unwrap() > 10, "{summary}");
    let access = &stats.links[1].1;
    assert!(access.delivered.packets > 20, "the simulated traffic shares the link: {access:?}");
    let lateness = outcome.tables.iter().find(|table| table.name == "lateness").unwrap();
    let (elements, events) = (lateness.column("element").unwrap(), lateness.column("events").unwrap());
    let rows = (0..lateness.rows()).map(|row| (elements.text(row).unwrap(), events.number(row).unwrap()));
    let rows: std::collections::BTreeMap<&str, f64> = rows.collect();
    for element in ["phone", "tablet", "home", "server", "far", "access forward", "access backward", "air"] {
        assert!(rows[element] > 0.0, "{element}: {rows:?}");
    }
    assert!(!rows.contains_key("exchange"), "nothing happens at a router");
    assert!(stats.world.count() as f64 >= rows.values().sum::<f64>());
}

/// Datagrams that the network alters arrive altered.
#[test]
fn altered_datagrams_leave_altered() {
    let bench = Bench::new("corrupt = \"100 %\"", |_, _| {});
    bench.ask(&[0; 100]);
    bench.run_until(|stats| stats.to_servers == 1);
    let came = heard(&bench.server);
    assert!(came[0].0.len() == 100 && came[0].0 != [0; 100], "{came:?}");
}

#[test]
fn each_client_has_its_answers_and_a_duration_ends_the_relay() {
    let bench = Bench::new("delay = \"1 ms\"", |_, _| {});
    let others = [0, 1, 2].map(|_| socket(Ipv4Addr::LOCALHOST));
    for (number, client) in others.iter().enumerate() {
        client.send_to(&[number as u8], bench.pairs[0].listen).unwrap();
    }
    bench.run_until(|stats| stats.to_servers == 3);
    for (bytes, from) in heard(&bench.server) {
        bench.server.send_to(&bytes, from).unwrap();
    }
    bench.run_until(|stats| stats.to_clients == 3);
    for (number, client) in others.iter().enumerate() {
        assert_eq!(heard(client), [(vec![number as u8], bench.pairs[0].listen)]);
    }
    assert_eq!(bench.finish().1.clients, 3);
    let ends = RelayOptions { duration: Some(ms(30)), ..options(network(""), Vec::new()) };
    let relay = Relay::new(&ends).unwrap();
    let (outcome, _) = relay.run(&Options::default(), &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(outcome.summary.contains("\"duration_s\": 0.03"), "{}", outcome.summary);
}
