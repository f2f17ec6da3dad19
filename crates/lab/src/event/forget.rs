//! A node forgets its state.

use super::{Context, Kind, Targets};
use crate::middlebox;
use units::parameter::{Arguments, Default, Kind as Of, OptionError, Parameter, Row};

pub(crate) const ROW: Row<Kind> = Row {
    name: "forget",
    about: "a node loses its memory: a NAT its mappings; a host what its QUIC clients have learned, the tickets and tokens that its servers have given, and what it knows of paths",
    parameters: &[Parameter {
        name: "node",
        kind: Of::Text,
        default: Default::Required,
        about: "node that forgets",
    }],
    build: Kind { check, moves: |_, _| None, act },
};

fn check(arguments: &Arguments, targets: &Targets) -> Result<(), OptionError> {
    let (_, node) = targets.node(arguments)?;
    if node.remembers {
        return Ok(());
    }
    let middleboxes: Vec<&str> =
        middlebox::room().rows.iter().map(|row| row.name).filter(|name| middlebox::remembers(name)).collect();
    Err((
        "node",
        format!(
            "has nothing to forget, found the {} {:?}; expected a {}, or a host with a flow over QUIC",
            node.kind,
            node.name,
            middleboxes.join(" or a ")
        ),
    ))
}

fn act(arguments: &Arguments, context: &mut Context<'_>) -> Result<(), String> {
    let (node, _) = context.targets.node(arguments).map_err(|(_, problem)| problem)?;
    context.world.forget(node);
    Ok(())
}
