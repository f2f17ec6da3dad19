//! The protections `null` and `tls` give the same packets at the same times.

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
fn protections_agree_on_every_kind_of_link() {
    for (kind, sets) in LINKS {
        for seed in ["seed=1", "seed=2", "seed=3"] {
            let sets: Vec<&str> = sets.iter().copied().chain([seed]).collect();
            compare(&format!("{kind} {seed}"), &sets);
        }
    }
}

#[test]
fn protections_agree_on_a_link_with_all_faults() {
    for seed in 1..=10 {
        let seed = format!("seed={seed}");
        let mut sets: Vec<&str> = LINKS.iter().flat_map(|(_, sets)| sets.iter().copied()).collect();
        sets.extend([seed.as_str(), "flow.get.application.size=50 kB"]);
        compare(&format!("all, {seed}"), &sets);
    }
}

#[test]
fn protections_agree_with_all_tls_options_and_versions() {
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
fn a_large_handshake_takes_more_round_trips() {
    let first_byte = |sets: &[&str]| {
        let run = run(&scenario(ONE_LINK, sets));
        run.connection("get")["first_byte_s"].as_f64().unwrap()
    };
    let small = first_byte(&["tls.certificate_chain=1 kB"]);
    let large = first_byte(&["tls.certificate_chain=20 kB"]);
    // The handshake and the request: two round trips of 40 ms.
    assert!((0.080..0.090).contains(&small), "{small}");
    // With a chain of 20 kB the server's flight has 21 kB. The first round trip carries 3,600 bytes, three times the client's
    // bytes (RFC 9000 section 8.1), the second one 16 kB, a window of ten packets that has grown by acknowledgements, and the
    // third one the rest: two more round trips.
    assert!((0.160..0.170).contains(&large), "{large}");
}
