//! Events: interfaces that go down, clients that migrate, nodes that forget.

use crate::bed::{ONE_LINK, Run, assert_clean, assert_equal, examples, run, run_into, scenario};
use crate::places::NAT;
use lab::Scenario;
use std::fs;

/// The client's interface goes down at 100 ms.
const DOWN: &str =
    "[[event]]\nat = \"100 ms\"\ntype = \"interface-down\"\nnode = \"client\"\ninterface = \"cell\"\n";

fn migration(sets: &[&str]) -> Scenario {
    scenario(&fs::read_to_string(examples().join("migration.toml")).unwrap(), sets)
}

/// The bytes that the forward direction of a link has delivered.
fn delivered(run: &Run, link: &str) -> u64 {
    run.link(link, "forward")["delivered_bytes"].as_u64().unwrap()
}

#[test]
fn a_connection_continues_after_migration_to_another_interface() {
    let run = run_into(&migration(&[]), "migration");
    let film = run.connection("film");
    assert_clean(film, "get");
    // 2 s at 40 Mbit/s are on the first link, and the rest on the second.
    assert!((7_000_000..11_000_000).contains(&delivered(&run, "wlan")), "{}", delivered(&run, "wlan"));
    assert!(delivered(&run, "cellular") > 9_000_000, "{}", delivered(&run, "cellular"));
    // 10.2.0.2 is the second port of node 1.
    let moves = |side: &str| -> Vec<String> {
        let rows = run.rows("event", &[("event", "migration_state"), ("side", side)]);
        rows.into_iter().map(|row| row[4].clone()).collect()
    };
    let client = moves("client");
    let state = |of: &[String], state: &str| {
        of.iter().any(|detail| detail.starts_with(state) && detail.contains("10.2.0.2"))
    };
    for expected in ["probing_started", "probing_successful", "migration_started", "migration_complete"] {
        assert!(state(&client, expected), "{expected}: {client:?}");
    }
    assert!(state(&moves("server"), "migration_complete"), "{:?}", moves("server"));
    for side in ["client", "server"] {
        let log = String::from_utf8(run.files[&format!("film-{side}.sqlog")].clone()).unwrap();
        assert!(log.contains("10.2.0.2") && log.contains("migration_complete"), "{side}");
    }
    assert_equal(&run, &run_into(&migration(&[]), "migration-again"), "equal seeds");
}

/// Two moves in a row to an interface over which nothing passes: each validation is given up, and the connection goes on where it is.
#[test]
fn two_validations_that_fail_change_nothing() {
    let link = |name: &str, more: &str| {
        format!(
            "[[link]]\nname = \"{name}\"\nfrom = \"server\"\nto = \"phone\"\n\
             both = {{ rate = \"8 Mbit/s\", delay = \"10 ms\", queue = \"60 ms\"{more} }}\n"
        )
    };
    let moves = ["500 ms", "4 s"].map(|at| {
        format!("[[event]]\nat = \"{at}\"\ntype = \"migrate\"\nflow = \"film\"\ninterface = \"dead\"\n")
    });
    let text = format!(
        "duration = \"20 s\"\n{}{}[[flow]]\nname = \"film\"\nclient = \"phone\"\nserver = \"server\"\n\
         application = {{ type = \"bulk\", size = \"10 MB\" }}\n{}",
        link("wlan", ""),
        link("dead", ", loss = \"100 %\""),
        moves.concat()
    );
    let run = run(&scenario(&text, &[]));
    assert_clean(run.connection("film"), "film");
    let told = run.rows("event", &[("event", "migration_state"), ("side", "client")]);
    let words = told.iter().map(|row| row[4].split(' ').next().unwrap());
    assert_eq!(
        words.collect::<Vec<_>>(),
        ["probing_started", "probing_abandoned", "probing_started", "probing_abandoned"]
    );
    assert_eq!(delivered(&run, "dead"), 0);
}

#[test]
fn a_connection_survives_every_kind_of_migration() {
    for how in ["probe", "at_once", "rebound", "silent"] {
        for protection in ["null", "tls"] {
            let (how_set, tls) = (format!("event.0.how={how}"), format!("tls.protection={protection}"));
            let sets = [how_set.as_str(), tls.as_str()];
            let run = run(&migration(&sets));
            assert_eq!(run.connection("film")["completed"], true, "{how}");
            assert!(delivered(&run, "cellular") > 9_000_000, "{how}");
        }
    }
}

/// The other path would drop all datagrams that are too large.
#[test]
fn datagrams_fit_the_path_after_migration() {
    for direction in ["forward", "backward"] {
        let small = format!("link.cellular.{direction}.mtu=1300");
        let run = run(&migration(&[&small]));
        assert_eq!(run.connection("film")["completed"], true, "{direction}");
        assert!(delivered(&run, "cellular") > 9_000_000);
        let dropped = &run.link("cellular", direction)["drops"]["mtu"];
        assert_eq!(dropped, 0, "{direction}");
    }
}

#[test]
fn drops_at_an_interface_count_as_losses() {
    let run = run(&scenario(&format!("{ONE_LINK}{DOWN}"), &[]));
    let dropped = run.summary["dropped_at_interfaces"].as_u64().unwrap();
    let get = run.connection("get");
    let lost = get["packets_lost"].as_u64().unwrap();
    // Losses are those of the server; drops include packets of the client.
    assert!(lost > 10 && dropped >= lost, "{lost} {dropped}");
    let plain = self::run(&scenario(ONE_LINK, &[]));
    assert!(plain.summary.get("dropped_at_interfaces").is_none());
}

#[test]
fn without_migration_the_connection_waits_for_its_interface() {
    let up = "[[event]]\nat = \"2 s\"\ntype = \"interface-up\"\nnode = \"client\"\ninterface = \"cell\"\n";
    let completion = |text: &str| run(&scenario(text, &[])).connection("get")["completion_s"].as_f64();
    let plain = completion(ONE_LINK).unwrap();
    let waiting = completion(&format!("{ONE_LINK}{DOWN}{up}")).unwrap();
    assert!(plain < 0.5 && waiting > 2.0, "{plain} {waiting}");
    // The order in the file does not matter.
    assert_eq!(completion(&format!("{ONE_LINK}{up}{DOWN}")), Some(waiting));
    assert_eq!(completion(&format!("{ONE_LINK}{DOWN}")), None);
    // The interface is down for no time.
    let both = format!("{ONE_LINK}{DOWN}{}", up.replace("2 s", "100 ms"));
    assert_eq!(completion(&both), Some(plain));
}

#[test]
fn a_nat_forgets_its_mappings_at_an_event() {
    let text = format!("{NAT}[[event]]\nat = \"1 s\"\ntype = \"forget\"\nnode = \"ap\"\n");
    let run = run(&scenario(&text, &["node.ap.kind=nat", "flow.get.application.size=2 MB"]));
    assert_eq!(run.connection("get")["completed"], true);
    assert_eq!(run.node("ap")["mappings_forgotten"], 1);
    assert_eq!(run.node("ap")["mappings_made"], 2);
}

#[test]
fn an_impossible_migration_is_an_error_and_one_without_a_connection_has_no_effect() {
    // The handshake is not confirmed yet.
    let early = migration(&["event.0.at=10 ms"]);
    let error =
        lab::run(&early, &lab::Options::default(), &mut |_| std::ops::ControlFlow::Continue(())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "event 0 (migrate at 10 ms): flow \"film\" cannot migrate: the handshake is not confirmed"
    );
    for sets in [
        ["event.0.at=29 s", "flow.film.application.size=100 kB"],
        ["event.0.at=1 s", "flow.film.start=1.5 s"],
    ] {
        let mut sets = sets.to_vec();
        sets.push("event.1.at=29 s");
        assert_eq!(delivered(&run(&migration(&sets)), "cellular"), 0);
    }
}
