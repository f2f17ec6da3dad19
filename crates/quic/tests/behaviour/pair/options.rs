//! Options with the defaults of the tables, some of them changed.

use quic::Config;
use std::sync::OnceLock;
use tls::{Context, Options, Protection};
use units::parameter::{Arguments, Component, Value};

/// A TLS context with these options. Creating one costs a handshake, so the usual ones are shared.
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
    Config::with(changes).unwrap()
}

/// The controller of this name, some of its options changed, as the value of the option `controller`.
pub(crate) fn controller(name: &str, changes: &[(&str, Value)]) -> Value {
    let row = congestion::CONTROLLERS.iter().find(|row| row.name == name).unwrap();
    let arguments = Arguments::filled(row.parameters, changes, &[]).unwrap();
    Value::Component(Component { room: "controllers", name: row.name, arguments })
}

/// The row of this name of the option `resume`, some of its options changed.
pub(crate) fn resume(name: &str, changes: &[(&str, Value)]) -> Value {
    let row = congestion::RESUMPTIONS.iter().find(|row| row.name == name).unwrap();
    let arguments = Arguments::filled(row.parameters, changes, &[]).unwrap();
    Value::Component(Component { room: "resumptions", name: row.name, arguments })
}
