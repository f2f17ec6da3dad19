//! A node forgets its state.

use super::{Context, Kind, Targets};
use units::parameter::{Arguments, Default, Kind as Of, OptionError, Parameter, Row};

pub(crate) const ROW: Row<Kind> = Row {
    name: "forget",
    about: "a node loses its memory: a NAT its mappings; a host what its QUIC clients have learned, and the tickets and tokens that its servers have given",
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
    let middleboxes: Vec<&str> = network::middlebox::room()
        .rows
        .iter()
        .map(|row| row.name)
        .filter(|name| network::middlebox::remembers(name))
        .collect();
    Err((
        "node",
        format!(
            "it remembers nothing, found the {} {:?}; expected a {}, or a host with a flow over QUIC",
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
