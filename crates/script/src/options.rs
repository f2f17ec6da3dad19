//! The options at the top of a script.

use crate::error::ScriptError;
use crate::syntax::{Script, Setting};
use lab::scenario::Scenario;
use quic::Config;
use units::Duration;
use units::parameter::Options as _;
use wire::Side;

/// The options of a script besides `transport.NAME`, `peer.NAME` and `tls.NAME`.
const NAMES: &[&str] = &["role", "seed", "tolerance"];
const TABLES: &[&str] = &["transport", "peer", "tls"];

/// The options of a script, with defaults filled in.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// The role of the endpoint under test. Default: client.
    pub(crate) role: Side,
    /// Default: 1.
    pub(crate) seed: u64,
    /// The tolerance of times that state none. Default: 100 us.
    pub(crate) tolerance: Duration,
    /// The settings of the endpoint under test.
    pub(crate) transport: Config,
    /// The settings of the peer, from which its transport parameters follow.
    pub(crate) peer: Config,
    pub(crate) tls: tls::Options,
}

impl Options {
    /// # Errors
    /// The first mistake.
    pub(crate) fn read(script: &Script) -> Result<Options, ScriptError> {
        let (mut role, mut seed, mut tolerance) = (Side::Client, 1, Duration::from_micros(100));
        let (mut transport, mut peer) = (Vec::new(), Vec::new());
        for setting in &script.options {
            let fail = |problem: String| wrong(script, setting, problem);
            match setting.name.split_once('.') {
                Some(("transport" | "tls", _)) => transport.push(setting),
                Some(("peer", _)) => peer.push(setting),
                _ => match setting.name.as_str() {
                    "role" => {
                        role = match setting.value.as_str() {
                            "client" => Side::Client,
                            "server" => Side::Server,
                            other => return Err(fail(format!("found {other:?}; expected client or server"))),
                        }
                    }
                    "seed" => {
                        seed = setting.value.parse().map_err(|_| {
                            fail(format!("found {:?}; expected a whole number", setting.value))
                        })?;
                    }
                    "tolerance" => {
                        tolerance = setting.value.parse().map_err(|error: units::ParseError| {
                            fail(format!("{}; expected {}", error.problem, error.expected))
                        })?;
                    }
                    name => return Err(unknown(script, setting, name)),
                },
            }
        }
        let under_test = scenario(script, &transport)?;
        Ok(Options {
            role,
            seed,
            tolerance,
            transport: Config::of(&under_test.transport),
            peer: Config::of(&scenario(script, &peer)?.transport),
            tls: tls::Options::from(&under_test.tls),
        })
    }
}

fn wrong(script: &Script, setting: &Setting, problem: String) -> ScriptError {
    ScriptError { origin: script.origin.clone(), line: setting.line, column: setting.column, problem }
}

fn unknown(script: &Script, setting: &Setting, name: &str) -> ScriptError {
    let table = name.split('.').next().unwrap_or_default();
    let near = lab::scenario::nearest(table, NAMES.iter().chain(TABLES).copied());
    let near = near.map_or(String::new(), |near| format!("; did you mean {near:?}?"));
    let problem = format!(
        "unknown option {name:?}, allowed: {}, transport.NAME, peer.NAME, tls.NAME{near}",
        NAMES.join(", ")
    );
    wrong(script, setting, problem)
}

/// Reads these options as a scenario.
fn scenario(script: &Script, settings: &[&Setting]) -> Result<Scenario, ScriptError> {
    let mut sets = Vec::new();
    for setting in settings {
        let name = match setting.name.strip_prefix("peer.") {
            Some(name) => format!("transport.{name}"),
            None => setting.name.clone(),
        };
        let value = if setting.quoted { format!("\"{}\"", setting.value) } else { setting.value.clone() };
        sets.push(format!("{name}={value}"));
        // Adds one option at a time, so that an error belongs to the last.
        if let Err(error) = Scenario::of_options(&sets) {
            return Err(wrong(script, setting, format!("{}: {}", setting.name, error.problem)));
        }
    }
    Scenario::of_options(&sets).map_err(|error| ScriptError {
        origin: script.origin.clone(),
        line: 1,
        column: 1,
        problem: error.problem,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Options, String> {
        let script = Script::parse("x.quic", text).map_err(|error| error.to_string())?;
        Options::read(&script).map_err(|error| error.to_string())
    }

    #[test]
    fn options_are_those_of_a_scenario() {
        let text = "option role = server\noption transport.initial_rtt = \"100 ms\"\n\
                    option peer.max_ack_delay = 50ms\noption peer.ecn = true\noption tolerance = 1ms";
        let options = read(text).unwrap();
        assert_eq!((options.role, options.tolerance), (Side::Server, Duration::from_millis(1)));
        assert_eq!(options.transport.initial_rtt, Duration::from_millis(100));
        assert_eq!(options.peer.ack.max_delay, Duration::from_millis(50));
        assert!(options.peer.ecn && !options.transport.ecn);
    }

    #[test]
    fn mistakes_say_where_and_the_nearest_word() {
        for (text, parts) in [
            ("option rolle = client", ["x.quic:1:16: unknown option \"rolle\"", "did you mean \"role\"?"]),
            ("option role = clint", ["x.quic:1:15: found \"clint\"", "client or server"]),
            ("\noption transport.inital_rtt = 5ms", ["x.quic:2:31: transport.inital_rtt", "initial_rtt"]),
            ("option transport.ack_ratio = 0", ["x.quic:1:30: transport.ack_ratio", "1 to"]),
            ("option seed = x", ["x.quic:1:15", "whole number"]),
        ] {
            let error = read(text).unwrap_err();
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        }
    }
}
