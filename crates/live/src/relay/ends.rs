//! The two gates between which a relay works.

use lab::emulation::{self, GateAddress};
use lab::{RunError, Scenario};
use std::net::{IpAddr, SocketAddr};

/// The port of the server of the first pair, as the network sees it; those of the other pairs follow.
const SERVER_PORT: u16 = 443;
/// The port of the first client at its gate; those of the others follow.
const CLIENT_PORT: u16 = 49_152;

/// The gates of clients and of servers, by their numbers in the scenario, with their addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) client: usize,
    pub(super) server: usize,
    /// IPv4 and IPv6.
    clients: [IpAddr; 2],
    servers: [IpAddr; 2],
}

impl Ends {
    /// The address of a client with this number in the network.
    pub(super) fn of_client(&self, number: u16, ipv6: bool) -> SocketAddr {
        (self.clients[usize::from(ipv6)], CLIENT_PORT + number).into()
    }
    /// The address of the server of this pair in the network.
    pub(super) fn of_server(&self, pair: usize, ipv6: bool) -> SocketAddr {
        (self.servers[usize::from(ipv6)], SERVER_PORT + pair as u16).into()
    }
    /// The number of the client with this address in the network.
    pub(super) fn client_at(address: SocketAddr) -> Option<u16> {
        address.port().checked_sub(CLIENT_PORT)
    }
    /// The number of the pair whose server has this address in the network.
    pub(super) fn pair_at(address: SocketAddr) -> Option<usize> {
        address.port().checked_sub(SERVER_PORT).map(usize::from)
    }
}

/// The scenario with two gates for clients and servers: its own, or, if it has none, client and server of its first flow.
///
/// # Errors
/// If it is not clear which gates these are.
pub(super) fn ends(scenario: &Scenario, names: [Option<&str>; 2]) -> Result<(Scenario, Ends), RunError> {
    let mut found = emulation::gates(scenario);
    let mut with_gates = scenario.clone();
    let mut wanted = names.map(|name| name.map(str::to_owned));
    if found.is_empty() {
        let Some(flow) = scenario.flows.first() else {
            return Err(wrong(
                "neither gates nor a flow; expected two nodes with kind = \"gate\"".to_owned(),
            ));
        };
        if let Some(name) = names.into_iter().flatten().next() {
            return Err(wrong(format!(
                "the scenario has no gates, found {name:?}; expected kind = \"gate\" at two nodes"
            )));
        }
        let nodes = [flow.client, flow.server];
        wanted = nodes.map(|node| Some(scenario.nodes[node].name.clone()));
        with_gates = scenario
            .with_gates(nodes)
            .map_err(|error| wrong(format!("the scenario between two gates: {error}")))?;
        found = emulation::gates(&with_gates);
    }
    let [client, server] = choose(&found, wanted)?;
    let [clients, servers] = [client, server].map(|number| found[number].addresses);
    Ok((with_gates, Ends { client, server, clients, servers }))
}

/// The numbers of the gates for clients and servers.
fn choose(gates: &[GateAddress], wanted: [Option<String>; 2]) -> Result<[usize; 2], RunError> {
    let names = || gates.iter().map(|gate| gate.name.as_str()).collect::<Vec<_>>().join(", ");
    let place = |name: &String| match gates.iter().position(|gate| gate.name == *name) {
        Some(place) => Ok(place),
        None => Err(wrong(format!("no gate {name:?}; expected one of {}", names()))),
    };
    let [client, server] = wanted;
    let [client, server] = [client.as_ref().map(place).transpose()?, server.as_ref().map(place).transpose()?];
    let other = |known: usize| (gates.len() == 2).then_some(1 - known);
    let chosen = match (client, server) {
        (Some(client), Some(server)) => Some([client, server]),
        (Some(client), None) => other(client).map(|server| [client, server]),
        (None, Some(server)) => other(server).map(|client| [client, server]),
        (None, None) => (gates.len() == 2).then_some([0, 1]),
    };
    match chosen {
        Some([client, server]) if client == server => Err(wrong(format!(
            "both sides name the gate {:?}; expected two different ones of {}",
            gates[client].name,
            names()
        ))),
        Some(chosen) => Ok(chosen),
        None if gates.len() < 2 => Err(wrong(format!("one gate ({}); expected two", names()))),
        None => Err(wrong(format!(
            "several gates ({}); expected --client-gate and --server-gate, the gates of clients and servers",
            names()
        ))),
    }
}

fn wrong(problem: String) -> RunError {
    RunError::Component { place: "relay".to_owned(), problem }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn scenario(gates: &[&str]) -> Scenario {
        let node = |name: &str, kind: &str| format!("[[node]]\nname = \"{name}\"\nkind = \"{kind}\"\n");
        let mut text = node("middle", "host") + &node("end", "host");
        for gate in gates {
            text += &node(gate, "gate");
        }
        for name in gates.iter().chain(&["end"]) {
            text += &format!("[[link]]\nname = \"{name}\"\nfrom = \"{name}\"\nto = \"middle\"\n");
        }
        text += "[[flow]]\nname = \"get\"\nclient = \"end\"\nserver = \"middle\"\napplication = \"bulk\"\n";
        Scenario::parse(&text, Path::new("relay.toml"), &[]).unwrap()
    }

    #[test]
    fn two_gates_are_the_sides_and_of_more_two_are_named() {
        let chosen = |gates: &[&str], names| {
            ends(&scenario(gates), names)
                .map(|(_, ends)| [ends.client, ends.server])
                .map_err(|error| error.to_string())
        };
        assert_eq!(chosen(&["a", "b"], [None, None]), Ok([0, 1]));
        assert_eq!(chosen(&["a", "b"], [Some("b"), None]), Ok([1, 0]));
        assert_eq!(chosen(&["a", "b"], [None, Some("a")]), Ok([1, 0]));
        assert_eq!(chosen(&["a", "b", "c"], [Some("c"), Some("b")]), Ok([2, 1]));
        assert_eq!(chosen(&[], [None, None]), Ok([1, 0]), "client and server of the first flow");
        for (gates, names, says) in [
            (&["a", "b", "c"][..], [None, None], "several gates (a, b, c); expected --client-gate"),
            (&["a", "b", "c"], [Some("a"), None], "several gates"),
            (&["a"], [None, None], "one gate (a); expected two"),
            (&["a", "b"], [Some("x"), None], "no gate \"x\"; expected one of a, b"),
            (&["a", "b"], [Some("a"), Some("a")], "both sides name the gate \"a\""),
            (&[], [Some("end"), None], "the scenario has no gates"),
        ] {
            let error = chosen(gates, names).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
