//! Hosts with the QUIC endpoints of another stack, which need the feature `quinn`.

use lab::Scenario;
use std::path::Path;

/// A scenario with a transfer between hosts with these stacks.
fn document(client: &str, server: &str) -> String {
    format!(
        "seed = 5\nduration = \"60 s\"\n[tls]\nprotection = \"tls\"\n\
         [[node]]\nname = \"client\"\nstack = \"{client}\"\n[[node]]\nname = \"server\"\nstack = \"{server}\"\n\
         [[link]]\nname = \"wire\"\nfrom = \"client\"\nto = \"server\"\nrate = \"20 Mbit/s\"\ndelay = \"10 ms\"\n\
         [[flow]]\nname = \"download\"\nclient = \"client\"\nserver = \"server\"\n\
         application = {{ type = \"bulk\", size = \"2 MB\" }}\n"
    )
}

fn read(document: &str, sets: &[&str]) -> Result<Scenario, String> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Scenario::parse(document, Path::new("stacks.toml"), &sets).map_err(|error| error.to_string())
}

#[cfg(not(feature = "quinn"))]
#[test]
fn a_build_without_quinn_refuses_its_hosts() {
    let error = read(&document("quinn", "quiclab"), &[]).unwrap_err();
    assert!(error.contains("feature `quinn`") && error.lines().count() == 1, "{error}");
}

#[test]
fn only_hosts_have_a_stack() {
    let routed = document("quiclab", "quiclab").replace(
        "name = \"server\"\nstack = \"quiclab\"\n",
        "name = \"server\"\n[[node]]\nname = \"between\"\nkind = \"router\"\nstack = \"quinn\"\n\
         [[link]]\nname = \"more\"\nfrom = \"server\"\nto = \"between\"\nrate = \"20 Mbit/s\"\ndelay = \"10 ms\"\n",
    );
    let error = read(&routed, &[]).unwrap_err();
    assert!(error.contains("only a host has a stack"), "{error}");
}

#[test]
fn quiclab_is_the_default_stack() {
    let plain = document("quiclab", "quiclab").replace("stack = \"quiclab\"\n", "");
    let [explicit, plain] =
        [document("quiclab", "quiclab"), plain].map(|document| read(&document, &[]).unwrap());
    assert_eq!(explicit, plain);
    assert!(!explicit.to_toml().contains("stack ="), "{}", explicit.to_toml());
}

#[test]
fn each_option_that_a_row_names_is_one_of_transport() {
    let sections = lab::rooms().iter().find(|room| room.name == "sections").unwrap();
    let transport = sections.rows.iter().find(|row| row.name == "transport").unwrap();
    let controllers = lab::rooms().iter().find(|room| room.name == "controllers").unwrap();
    for row in foreign::STACKS {
        let foreign::Maker::Foreign(stack) = row.build else { continue };
        for option in stack.options {
            assert!(transport.parameters.iter().any(|row| row.name == *option), "{}: {option}", row.name);
        }
        for name in stack.controllers {
            assert!(controllers.rows.iter().any(|row| row.name == *name), "{}: {name}", row.name);
        }
        assert!(stack.options.contains(&"controller"), "{}: a controller is checked for it", row.name);
    }
}

#[cfg(feature = "quinn")]
mod quinn {
    use super::{document, read};
    use crate::bed::{LINKS, ONE_LINK, Run, assert_equal, run_into, scenario};
    use lab::Scenario;
    use std::ops::ControlFlow;

    /// Clients and servers of all stacks of this build, but for two of quiclab.
    fn pairs() -> Vec<(&'static str, &'static str)> {
        let built = foreign::STACKS.iter().filter(|row| match row.build {
            foreign::Maker::Own => true,
            foreign::Maker::Foreign(stack) => stack.build.is_some(),
        });
        let names: Vec<&str> = built.map(|row| row.name).collect();
        let pairs = names.iter().flat_map(|client| names.iter().map(move |server| (*client, *server)));
        pairs.filter(|pair| *pair != ("quiclab", "quiclab")).collect()
    }

    fn of_stacks((client, server): (&str, &str), sets: &[&str]) -> Scenario {
        let nodes = format!(
            "[[node]]\nname = \"client\"\nstack = \"{client}\"\n[[node]]\nname = \"server\"\nstack = \"{server}\"\n"
        );
        scenario(&format!("{ONE_LINK}{nodes}"), sets)
    }

    fn summary(scenario: &Scenario) -> serde_json::Value {
        let outcome =
            lab::run(scenario, &lab::Options::default(), &mut |_| ControlFlow::Continue(())).unwrap();
        serde_json::from_str(&outcome.summary).unwrap()
    }

    fn assert_complete(run: &Run, what: &str) {
        let connection = run.connection("get");
        assert_eq!(connection["completed"], true, "{what}: {connection}");
        assert_eq!(connection["delivered_bytes"], 300_000, "{what}");
    }

    /// On all kinds of links, equal seeds give equal packets, tables and summaries, and different seeds different packets.
    #[test]
    fn equal_seeds_give_equal_bytes() {
        for pair in pairs() {
            for (link, sets) in LINKS {
                let name = |run: &str| format!("stacks-{}-{}-{link}-{run}", pair.0, pair.1);
                let of_seed = |seed: &str| of_stacks(pair, &[sets, &[seed][..]].concat());
                let first = run_into(&of_seed("seed=3"), &name("1"));
                assert_complete(&first, &name(""));
                assert_equal(&first, &run_into(&of_seed("seed=3"), &name("2")), &name(""));
                let other = run_into(&of_seed("seed=4"), &name("3"));
                assert_complete(&other, &name("3"));
                assert_ne!(first.files["capture.pcapng"], other.files["capture.pcapng"], "{}", name(""));
            }
        }
    }

    /// Packets have the same sizes under both protections, so a transfer takes the same time.
    #[test]
    fn both_protections_complete() {
        for pair in pairs() {
            for (link, sets) in LINKS {
                let of_protection =
                    |protection: &str| summary(&of_stacks(pair, &[sets, &[protection][..]].concat()));
                let [null, tls] = ["tls.protection=null", "tls.protection=tls"].map(of_protection);
                assert_eq!(null["connections"][0]["completed"], true, "{pair:?} {link}: {null}");
                assert_eq!(tls["connections"][0]["completed"], true, "{pair:?} {link}: {tls}");
                if *link == "clean" {
                    assert_eq!(null["duration_s"], tls["duration_s"], "{pair:?}");
                }
            }
        }
    }

    #[test]
    fn requests_and_uploads_work_over_streams() {
        for pair in pairs() {
            for application in [
                "{ type = \"bulk\", size = \"300 kB\", direction = \"upload\" }",
                "{ type = \"bulk\", size = \"300 kB\", streams = 3 }",
                "{ type = \"request-response\", count = 20 }",
                "{ type = \"hq\", sizes = [\"30 kB\", \"5 kB\"] }",
                "{ type = \"http3\", sizes = [\"30 kB\", \"5 kB\"] }",
            ] {
                let set = format!("flow.get.application={application}");
                let summary = summary(&of_stacks(pair, &[&set]));
                assert_eq!(summary["connections"][0]["completed"], true, "{pair:?} {application}: {summary}");
            }
        }
    }

    #[test]
    fn what_no_end_follows_is_a_warning() {
        let warned = |pair, sets: &[&str]| {
            let described = lab::describe(&of_stacks(pair, sets));
            let words = described.into_iter().filter(|(subject, _)| subject.contains("stack, warning"));
            words.map(|(_, words)| words).collect::<Vec<_>>()
        };
        let sets = ["transport.ack_ratio=4", "transport.max_idle_timeout=7 s"];
        let found = warned(("quinn", "quinn"), &sets);
        assert_eq!(found, ["neither end uses ack_ratio of [transport]: quinn has its own rules"]);
        assert!(warned(("quinn", "quiclab"), &sets).is_empty());
        assert!(warned(("quinn", "quinn"), &sets[1..]).is_empty());
    }

    #[test]
    fn flows_that_quinn_does_not_support_are_refused() {
        for (set, message) in [
            ("flow.download.transport.controller=bbr1", "not a controller of stack"),
            ("flow.download.early_data=true", "no 0-RTT"),
            ("flow.download.protocol=tcp", "has no TCP"),
        ] {
            let error = read(&document("quiclab", "quinn"), &[set]).unwrap_err();
            assert!(error.contains(message) && error.lines().count() == 1, "{error}");
        }
        let event =
            "[[event]]\nat = \"1 s\"\ntype = \"migrate\"\nflow = \"download\"\ninterface = \"wire\"\n";
        let error = read(&format!("{}{event}", document("quinn", "quiclab")), &[]).unwrap_err();
        assert!(error.contains("has a client of another stack"), "{error}");
    }
}
