//! A node forgets its state.

use super::{Cast, Kind, Misfit, Stage};
use units::parameter::{Arguments, Default, Kind as Of, Parameter, Row};

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

fn check(arguments: &Arguments, cast: &Cast) -> Result<(), Misfit> {
    let (_, node) = cast.node(arguments)?;
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

fn act(arguments: &Arguments, stage: &mut Stage<'_>) -> Result<(), String> {
    let (node, _) = stage.cast.node(arguments).map_err(|(_, problem)| problem)?;
    stage.world.forget(node);
    Ok(())
}
