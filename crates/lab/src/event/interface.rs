//! An interface of a node goes down or up.

use super::{Context, Kind, Targets};
use network::{NodeId, Port};
use units::parameter::{Arguments, OptionError, Options, Row};

/// The interface of both events.
#[derive(Debug, Clone, Options)]
struct InterfaceOptions {
    /// node of the interface
    node: String,
    /// link or medium that the interface leads to
    interface: String,
}

pub(crate) const DOWN: Row<Kind> = Row {
    name: "interface-down",
    about: "an interface of a node goes down: packets that leave or arrive there are dropped",
    parameters: InterfaceOptions::PARAMETERS,
    build: Kind {
        check,
        flow: None,
        moves: |_, _| None,
        act: |arguments, context| set(arguments, context, false),
    },
};

pub(crate) const UP: Row<Kind> = Row {
    name: "interface-up",
    about: "an interface of a node comes up again",
    parameters: InterfaceOptions::PARAMETERS,
    build: Kind {
        check,
        flow: None,
        moves: |_, _| None,
        act: |arguments, context| set(arguments, context, true),
    },
};

fn interface(arguments: &Arguments, targets: &Targets) -> Result<(NodeId, Port), OptionError> {
    let options = InterfaceOptions::of(arguments);
    let (node, _) = targets.node(InterfaceOptions::NODE, &options.node)?;
    Ok((node, targets.port(node, InterfaceOptions::INTERFACE, &options.interface)?))
}

fn check(arguments: &Arguments, targets: &Targets) -> Result<(), OptionError> {
    interface(arguments, targets).map(drop)
}

fn set(arguments: &Arguments, context: &mut Context<'_>, up: bool) -> Result<(), String> {
    let (node, port) = interface(arguments, context.targets).map_err(|(_, problem)| problem)?;
    context.world.set_port(node, port, up);
    Ok(())
}
