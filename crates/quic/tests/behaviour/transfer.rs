//! Handshakes and transfers between two endpoints over links of all kinds.

use crate::pair::{DatagramInFlight, Link, Pair, config, contexts, delay, null, span};
use quic::{Data, Event};
use random::Generator;
use units::Duration;
use wire::Direction;

/// Downloads `size` bytes: the client sends a request on a stream, the server responds with virtual bytes.
fn download(pair: &mut Pair, size: u64, limit: Duration) -> Duration {
    let (mut read, mut asked, mut done) = (0, None, false);
    let finished = pair.run_until(limit, |pair| {
        let now = pair.now;
        for event in std::mem::take(&mut pair.client_events) {
            match event {
                Event::Connected => {
                    let stream = pair.client().open(Direction::Bidirectional).unwrap();
                    pair.client().write(now, stream, Data::Bytes(b"please")).unwrap();
                    pair.client().finish(now, stream).unwrap();
                    asked = Some(stream);
                }
                Event::Readable(stream) => {
                    let mut bytes = vec![0; 1 << 20];
                    loop {
                        let got = pair.client().read(stream, &mut bytes).unwrap();
                        assert!(wire::pattern::matches(read, &bytes[..got.bytes as usize]));
                        read += got.bytes;
                        done |= got.finished;
                        if got.bytes == 0 || got.finished {
                            break;
                        }
                    }
                }
                Event::Ended => panic!("{:?}", pair.client().close_reason()),
                _ => {}
            }
        }
        for event in std::mem::take(&mut pair.server_events) {
            if let Event::Readable(stream) = event {
                let mut request = [0; 10];
                if pair.server().read(stream, &mut request).unwrap().finished {
                    pair.server().write(now, stream, Data::Virtual(size)).unwrap();
                    pair.server().finish(now, stream).unwrap();
                }
            }
        }
        done
    });
    assert!(finished, "not finished: {read} of {size} bytes, {:?}", pair.client().stats());
    assert_eq!(read, size);
    pair.now.since(units::Time::ZERO)
}

#[test]
fn a_clean_download() {
    for context in contexts() {
        let mut pair = Pair::new(context, config(&[]), config(&[]), delay(10));
        let time = download(&mut pair, 1_000_000, Duration::from_secs(100));
        assert!(time < Duration::from_millis(300), "{time}");
        let stats = pair.server().stats();
        assert_eq!(
            (stats.packets_declared_lost, stats.probe_timeouts, stats.streams.retransmitted_bytes),
            (0, 0, 0)
        );
    }
}

/// A link with loss, reordering and duplication.
fn rough(seed: u64) -> Link {
    let mut random = Generator::new(seed, "link");
    let loss = [0.01, 0.05, 0.2, 0.4][seed as usize % 4];
    Box::new(move |_, _, _: &mut DatagramInFlight| {
        let mut copies = Vec::new();
        while !random.chance(loss) {
            copies.push(Duration::from_micros(10_000 + random.below(5_000)));
            if !random.chance(0.05) {
                break;
            }
        }
        copies
    })
}

#[test]
fn lossy_reordering_duplicating_links() {
    // With a loss of 40 %, bad luck can increase probe timeouts until a connection is idle for half a minute.
    let patient = config(&[("max_idle_timeout", span(600_000))]);
    for seed in 0..40 {
        let mut pair = Pair::new(null(), patient.clone(), patient.clone(), rough(seed));
        download(&mut pair, 300_000, Duration::from_secs(3000));
    }
}

#[test]
fn null_and_tls_send_the_same_sizes_at_the_same_times() {
    for seed in 0..12 {
        let [null, tls] = contexts().map(|context| {
            let mut pair = Pair::new(context, config(&[]), config(&[]), rough(seed));
            pair.keeps_bytes = false;
            download(&mut pair, 100_000, Duration::from_secs(3000));
            pair.wire
        });
        assert_eq!(null, tls, "seed {seed}");
    }
}

#[test]
fn equal_seeds_give_equal_bytes_and_others_do_not() {
    for context in contexts() {
        let [first, second, other] = [1, 1, 2].map(|seed| {
            let mut pair = Pair::seeded(seed, context.clone(), config(&[]), config(&[]), rough(5));
            download(&mut pair, 50_000, Duration::from_secs(3000));
            pair.wire
        });
        assert_eq!(first, second);
        assert_ne!(first, other);
    }
}
