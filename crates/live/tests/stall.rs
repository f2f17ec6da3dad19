//! A server that accepts requests, acknowledges them, and never responds.
#![cfg(target_os = "linux")]

use live::{Clock, Connections, FetchOptions, Recording, Settings, Url, fetch};
use quic::{Config, Connection, Datagram, Endpoint, EndpointOptions};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tls::{Context, Identity, Trust};
use units::parameter::Value;
use units::{Duration, Time};
use wire::Ecn;

/// Runs an endpoint without an application until it is told to stop.
fn be_mute(socket: &UdpSocket, stop: &AtomicBool) {
    let clock = Clock::start();
    let identity = Identity::self_signed(&["127.0.0.1".to_owned()], clock.date_of_zero()).unwrap();
    let tls = Context::real(
        &tls::Options::default(),
        &[b"h3"],
        &Trust::Anyone,
        Some(&identity),
        clock.date_of_zero(),
    );
    let local = socket.local_addr().unwrap();
    let config = Config::with(&[("max_idle_timeout", Value::Duration(Duration::ZERO))]).unwrap();
    let options =
        EndpointOptions { accept: Some(Arc::new(config)), ..EndpointOptions::new(local, tls.unwrap()) };
    let mut endpoint = Endpoint::new(options, random::Generator::new(1, "mute"));
    let (mut bytes, mut out) = (vec![0; 65_536], Vec::new());
    while !stop.load(Ordering::Relaxed) {
        if let Ok((length, remote)) = socket.recv_from(&mut bytes) {
            let bytes = &mut bytes[..length];
            let datagram = Datagram { local, remote, ecn: Ecn::NotEct, bytes, hole: None, damage: None };
            endpoint.receive(clock.now(), datagram);
        }
        let now: Time = clock.now();
        endpoint.wake(now);
        loop {
            if let Some(connection) = endpoint.next_active().and_then(|handle| endpoint.get_mut(handle)) {
                while Connection::poll_event(connection).is_some() {}
            }
            out.clear();
            let Some(transmit) = endpoint.transmit(now, &mut out) else {
                if endpoint.next_active().is_some() {
                    continue;
                }
                break;
            };
            socket.send_to(&out, transmit.remote).unwrap();
        }
    }
}

#[test]
fn a_fetch_without_a_response_is_given_up() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(std::time::Duration::from_millis(5))).unwrap();
    let address: SocketAddr = socket.local_addr().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = stop.clone();
    let thread = std::thread::spawn(move || be_mute(&socket, &stopped));
    let out = std::env::temp_dir().join(format!("quiclab-stall-{}", std::process::id()));
    let options = FetchOptions {
        urls: vec![Url::parse(&format!("https://{address}/a")).unwrap()],
        out: out.clone(),
        trust: Trust::Anyone,
        // The connection itself would last forever.
        settings: Settings::read(&["transport.max_idle_timeout=0 s".to_owned()]).unwrap(),
        protocols: vec!["h3".to_owned()],
        ipv6: None,
        concurrency: 100,
        urgencies: Vec::new(),
        incremental: false,
        connections: Connections::One,
        migrate_after: None,
        timeout: None,
        early_data: false,
        connect_timeout: Duration::from_secs(20),
        stall_timeout: Duration::from_secs(1),
        max_size: None,
        recording: Recording::default(),
    };
    let clock = Clock::start();
    // The progress callback stops a fetch that would not end by itself.
    let report = fetch(&options, &mut |_| clock.now() < Time::ZERO + Duration::from_secs(40)).unwrap();
    assert!(!report.interrupted && !report.is_complete() && report.urls[0].file.is_none());
    let problem = report.urls[0].problem.as_deref().unwrap();
    assert!(problem.contains("no data for 1 s"), "{problem}");
    let over = &report.connections[0];
    assert!(over.handshake.is_some() && over.ended.contains("no data for 1 s"), "{}", over.ended);
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 0);
    stop.store(true, Ordering::Relaxed);
    thread.join().unwrap();
    std::fs::remove_dir_all(&out).unwrap();
}
