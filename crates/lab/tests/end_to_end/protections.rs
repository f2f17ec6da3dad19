//! `null` and `tls` give the same packets at the same times.

use crate::bed::{LINKS, ONE_LINK, assert_equal, run, scenario};

fn compare(what: &str, sets: &[&str]) {
    let [null, tls] = ["tls.protection=null", "tls.protection=tls"].map(|protection| {
        let sets: Vec<&str> = sets.iter().copied().chain([protection]).collect();
        run(&scenario(ONE_LINK, &sets))
    });
    assert_eq!(null.connection("get")["completed"], true, "{what}");
    assert_equal(&null, &tls, what);
    assert!(null.table("packet").rows() > 100);
}

#[test]
fn over_every_kind_of_link() {
    for (kind, sets) in LINKS {
        for seed in ["seed=1", "seed=2", "seed=3"] {
            let sets: Vec<&str> = sets.iter().copied().chain([seed]).collect();
            compare(&format!("{kind} {seed}"), &sets);
        }
    }
}

#[test]
fn with_everything_wrong_at_once() {
    for seed in 1..=10 {
        let seed = format!("seed={seed}");
        let mut sets: Vec<&str> = LINKS.iter().flat_map(|(_, sets)| sets.iter().copied()).collect();
        sets.extend([seed.as_str(), "flow.get.application.size=50 kB"]);
        compare(&format!("all, {seed}"), &sets);
    }
}

#[test]
fn with_every_key_share_chain_cipher_and_version() {
    for key_share in ["x25519", "x25519mlkem768"] {
        for chain in ["1 kB", "3 kB", "20 kB"] {
            for (ip, payload) in [("4", "1472"), ("6", "1452")] {
                let sets = [
                    format!("tls.key_share={key_share}"),
                    format!("tls.certificate_chain={chain}"),
                    format!("flow.get.ip={ip}"),
                    format!("flow.get.transport.max_udp_payload={payload}"),
                    "flow.get.application.size=100 kB".to_owned(),
                ];
                let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
                compare(&format!("{key_share}, {chain}, IPv{ip}"), &sets);
            }
        }
    }
    for versions in ["2", "1 2", "2 1"] {
        compare(versions, &[&format!("flow.get.transport.versions={versions}")]);
    }
    for cipher in ["aes128gcm", "aes256gcm", "chacha20poly1305"] {
        compare(cipher, &[&format!("tls.cipher={cipher}")]);
    }
}

#[test]
fn sizes_of_the_handshake_cost_round_trips() {
    let first_byte = |sets: &[&str]| {
        let run = run(&scenario(ONE_LINK, sets));
        run.connection("get")["first_byte_s"].as_f64().unwrap()
    };
    let small = first_byte(&["tls.certificate_chain=1 kB"]);
    let large = first_byte(&["tls.certificate_chain=20 kB"]);
    // The handshake and the request: two round trips of 40 ms.
    assert!((0.080..0.090).contains(&small), "{small}");
    // With a chain of 20 kB the server's flight has 21 kB. In the first round trip go 3,600 bytes, three times what
    // the client has sent (RFC 9000 section 8.1), in the second one a window of ten packets and what was acknowledged
    // till then, 16 kB, and the rest in the third one: two round trips more.
    assert!((0.160..0.170).contains(&large), "{large}");
}
