//! Options with their defaults out of the tables, some of them changed.

use quic::Config;
use std::sync::OnceLock;
use tls::{Context, Options, Protection};
use units::parameter::{Arguments, Component, Default, Kind, Parameter, Value};

/// A TLS context with these options; making one costs a handshake, so the usual ones are made once.
pub(crate) fn context(options: &Options) -> Context {
    Context::new(options, &[b"test"], 7).unwrap()
}
/// No cryptography.
pub(crate) fn null() -> Context {
    static MADE: OnceLock<Context> = OnceLock::new();
    MADE.get_or_init(|| context(&Options::default())).clone()
}
/// Real cryptography.
pub(crate) fn tls() -> Context {
    static MADE: OnceLock<Context> = OnceLock::new();
    MADE.get_or_init(|| context(&Options { protection: Protection::Tls, ..Options::default() })).clone()
}
/// Both.
pub(crate) fn contexts() -> [Context; 2] {
    [null(), tls()]
}

pub(crate) fn size(bytes: u64) -> Value {
    Value::Size(units::Size::from_bytes(bytes))
}
pub(crate) fn span(ms: u64) -> Value {
    Value::Duration(units::Duration::from_millis(ms))
}
pub(crate) fn count(n: u64) -> Value {
    Value::Integer(n)
}

/// Options of a connection with their defaults, some of them changed.
pub(crate) fn config(changes: &[(&str, Value)]) -> Config {
    let arguments = quic::PARAMETERS
        .iter()
        .filter_map(|parameter| {
            let given =
                changes.iter().find(|(name, _)| *name == parameter.name).map(|(_, value)| value.clone());
            Some((parameter.name, given.or_else(|| default_of(parameter))?))
        })
        .collect();
    Config::from(&Arguments(arguments))
}

pub(crate) fn default_of(parameter: &Parameter) -> Option<Value> {
    let Default::Is(text) = parameter.default else { return None };
    let text = text.trim_matches('"');
    Some(match parameter.kind {
        Kind::Duration => Value::Duration(text.parse().unwrap()),
        Kind::Size => Value::Size(text.parse().unwrap()),
        Kind::Integer(..) => Value::Integer(text.parse().unwrap()),
        Kind::Number(..) => Value::Number(text.parse().unwrap()),
        Kind::Choice(_) | Kind::Text => Value::Text(text.to_owned()),
        Kind::Flag => Value::Flag(text.parse().unwrap()),
        Kind::Component(room) => {
            let row = match room {
                "controllers" => congestion::CONTROLLERS
                    .iter()
                    .find(|row| row.name == text)
                    .map(|r| (r.name, r.parameters)),
                _ => quic::schedule::SCHEDULERS
                    .iter()
                    .find(|row| row.name == text)
                    .map(|r| (r.name, r.parameters)),
            };
            let (name, parameters) = row.unwrap();
            let arguments = parameters.iter().filter_map(|p| Some((p.name, default_of(p)?))).collect();
            Value::Component(Component { room, name, arguments: Arguments(arguments) })
        }
        other => panic!("{other:?}"),
    })
}

/// The controller of this name, some of its options changed, as the value of the option `controller`.
pub(crate) fn controller(name: &str, changes: &[(&str, Value)]) -> Value {
    let row = congestion::CONTROLLERS.iter().find(|row| row.name == name).unwrap();
    let value = |p: &Parameter| {
        let given = changes.iter().find(|(name, _)| *name == p.name).map(|(_, value)| value.clone());
        Some((p.name, given.or_else(|| default_of(p))?))
    };
    let arguments = row.parameters.iter().filter_map(value).collect();
    Value::Component(Component { room: "controllers", name: row.name, arguments: Arguments(arguments) })
}
