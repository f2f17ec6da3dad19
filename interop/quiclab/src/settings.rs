//! TLS and transport settings of both sides.

use crate::Failure;
use command_line::{Fetch, Serve, Shared};
use live::Clock;
use quic::Config;
use std::sync::Arc;
use tls::{Cipher, Context, Identity, Options, Trust};
use units::parameter::{Arguments, Component, Default, Kind, Parameter, Value};

/// The client's TLS.
pub(crate) fn client(options: &Fetch, clock: &Clock) -> Result<Context, Failure> {
    let trust = Trust::from_pem(&std::fs::read(&options.ca)?)?;
    let alpn = options.shared.alpn.as_bytes();
    Ok(Context::real(&suites(&options.shared), &[alpn], &trust, None, clock.date_of_zero())?)
}

/// The server's TLS.
pub(crate) fn server(options: &Serve, clock: &Clock) -> Result<Context, Failure> {
    let identity = Identity::from_pem(&std::fs::read(&options.cert)?, &std::fs::read(&options.key)?)?;
    let tls = Options { tickets: 2, early_data: true, ..suites(&options.shared) };
    let alpn = options.shared.alpn.as_bytes();
    Ok(Context::real(&tls, &[alpn], &Trust::Anyone, Some(&identity), clock.date_of_zero())?)
}

fn suites(shared: &Shared) -> Options {
    if shared.chacha20 {
        Options { cipher: Cipher::ChaCha20Poly1305, only_cipher: true, ..Options::default() }
    } else {
        Options::default()
    }
}

/// What is not as by default.
pub(crate) fn changes(shared: &Shared) -> Vec<(&'static str, &'static str)> {
    let mut changes = vec![("max_idle_timeout", "30 s")];
    if shared.version2 {
        changes.push(("versions", "2 1"));
    }
    if shared.key_update {
        changes.push(("key_update_after", "100"));
    }
    if shared.ecn {
        changes.push(("ecn", "true"));
    }
    changes
}

/// The options of connections, as a scenario's `[transport]` would have them.
pub(crate) fn transport(changes: &[(&str, &str)]) -> Result<Arc<Config>, Failure> {
    let mut arguments = Vec::new();
    for parameter in quic::PARAMETERS {
        let given = changes.iter().find(|(name, _)| *name == parameter.name).map(|(_, text)| *text);
        let text = match (given, parameter.default) {
            (Some(text), _) => text,
            (None, Default::Is(text)) => text,
            (None, _) => continue,
        };
        arguments.push((parameter.name, value(parameter, text)?));
    }
    match changes.iter().find(|(name, _)| !quic::PARAMETERS.iter().any(|p| p.name == *name)) {
        Some((name, _)) => Err(format!("no option {name} of a connection").into()),
        None => Ok(Arc::new(Config::from(&Arguments(arguments)))),
    }
}

fn value(parameter: &Parameter, text: &str) -> Result<Value, Failure> {
    let text = text.trim_matches('"');
    Ok(match parameter.kind {
        Kind::Duration => Value::Duration(text.parse()?),
        Kind::Size => Value::Size(text.parse()?),
        Kind::Integer(..) => Value::Integer(text.parse()?),
        Kind::Number(..) => Value::Number(text.parse()?),
        Kind::Flag => Value::Flag(text.parse()?),
        Kind::Choice(_) | Kind::Text => Value::Text(text.to_owned()),
        Kind::Component(room) => {
            let rooms = [
                (
                    "controllers",
                    congestion::CONTROLLERS.iter().map(|row| (row.name, row.parameters)).collect(),
                ),
                (
                    "schedulers",
                    quic::schedule::SCHEDULERS.iter().map(|row| (row.name, row.parameters)).collect(),
                ),
            ];
            let rows: &Vec<(&'static str, &'static [Parameter])> =
                rooms.iter().find(|(name, _)| *name == room).map(|(_, rows)| rows).ok_or("no such room")?;
            let (name, parameters) =
                rows.iter().find(|(name, _)| *name == text).ok_or("no such component")?;
            let mut arguments = Vec::new();
            for parameter in *parameters {
                if let Default::Is(text) = parameter.default {
                    arguments.push((parameter.name, value(parameter, text)?));
                }
            }
            Value::Component(Component { room, name, arguments: Arguments(arguments) })
        }
        other => return Err(format!("{}: {other:?}", parameter.name).into()),
    })
}
