//! A node forgets its state.

use super::{Context, Kind, TargetNode, Targets};
use crate::middlebox;
use network::NodeId;
use units::parameter::{Arguments, OptionError, Options, Row};

/// The options of forgetting.
#[derive(Debug, Clone, Options)]
struct ForgetOptions {
    /// node that forgets
    node: String,
}

pub(crate) const ROW: Row<Kind> = Row {
    name: "forget",
    about: "a node loses its memory: a NAT its mappings; a host what its QUIC clients have learned, the tickets and tokens that its servers have given, and what it knows of paths",
    parameters: ForgetOptions::PARAMETERS,
    build: Kind { check, flow: None, moves: |_, _| None, act },
};

fn node<'c>(arguments: &Arguments, targets: &'c Targets) -> Result<(NodeId, &'c TargetNode), OptionError> {
    targets.node(ForgetOptions::NODE, &ForgetOptions::of(arguments).node)
}

fn check(arguments: &Arguments, targets: &Targets) -> Result<(), OptionError> {
    let (_, node) = node(arguments, targets)?;
    if node.remembers {
        return Ok(());
    }
    let middleboxes: Vec<&str> =
        middlebox::room().rows.iter().map(|row| row.name).filter(|name| middlebox::remembers(name)).collect();
    Err((
        ForgetOptions::NODE.name,
        format!(
            "has nothing to forget, found the {} {:?}; expected a {}, or a host with a flow over QUIC",
            node.kind,
            node.name,
            middleboxes.join(" or a ")
        ),
    ))
}

fn act(arguments: &Arguments, context: &mut Context<'_>) -> Result<(), String> {
    let (node, _) = node(arguments, context.targets).map_err(|(_, problem)| problem)?;
    context.world.forget(node);
    Ok(())
}
