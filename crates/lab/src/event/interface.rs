//! An interface of a node goes down or up.

use super::{Context, Kind, Targets};
use network::{NodeId, Port};
use units::parameter::{Arguments, Default, Kind as Of, OptionError, Parameter, Row};

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
    about: "an interface of a node goes down: packets that leave or arrive there are dropped",
    parameters: PARAMETERS,
    build: Kind { check, moves: |_, _| None, act: |arguments, context| set(arguments, context, false) },
};

pub(crate) const UP: Row<Kind> = Row {
    name: "interface-up",
    about: "an interface of a node comes up again",
    parameters: PARAMETERS,
    build: Kind { check, moves: |_, _| None, act: |arguments, context| set(arguments, context, true) },
};

fn interface(arguments: &Arguments, targets: &Targets) -> Result<(NodeId, Port), OptionError> {
    let (node, _) = targets.node(arguments)?;
    Ok((node, targets.port(node, arguments)?))
}

fn check(arguments: &Arguments, targets: &Targets) -> Result<(), OptionError> {
    interface(arguments, targets).map(drop)
}

fn set(arguments: &Arguments, context: &mut Context<'_>, up: bool) -> Result<(), String> {
    let (node, port) = interface(arguments, context.targets).map_err(|(_, problem)| problem)?;
    context.world.set_port(node, port, up);
    Ok(())
}
