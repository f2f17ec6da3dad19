//! An interface of a node goes down or up.

use super::{Cast, Kind, Misfit, Stage};
use network::{NodeId, Port};
use units::parameter::{Arguments, Default, Kind as Of, Parameter, Row};

const PARAMETERS: &[Parameter] = &[
    Parameter { name: "node", kind: Of::Text, default: Default::Required, about: "node of the interface" },
    Parameter {
        name: "interface",
        kind: Of::Text,
        default: Default::Required,
        about: "link or medium that the interface leads to",
    },
];

pub(crate) const DOWN: Row<Kind> = Row {
    name: "interface-down",
    about: "what would leave a node by an interface, and what arrives there, is dropped from now on",
    parameters: PARAMETERS,
    build: Kind { check, moves: |_, _| None, act: |arguments, stage| set(arguments, stage, false) },
};

pub(crate) const UP: Row<Kind> = Row {
    name: "interface-up",
    about: "an interface that was down works again",
    parameters: PARAMETERS,
    build: Kind { check, moves: |_, _| None, act: |arguments, stage| set(arguments, stage, true) },
};

fn interface(arguments: &Arguments, cast: &Cast) -> Result<(NodeId, Port), Misfit> {
    let (node, _) = cast.node(arguments)?;
    Ok((node, cast.port(node, arguments)?))
}

fn check(arguments: &Arguments, cast: &Cast) -> Result<(), Misfit> {
    interface(arguments, cast).map(drop)
}

fn set(arguments: &Arguments, stage: &mut Stage<'_>, up: bool) -> Result<(), String> {
    let (node, port) = interface(arguments, stage.cast).map_err(|(_, problem)| problem)?;
    stage.world.set_port(node, port, up);
    Ok(())
}
