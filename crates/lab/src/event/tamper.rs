//! A client alters what servers have given it.

use super::{Context, Kind, Targets};
use units::parameter::{Arguments, Default, Kind as Of, OptionError, Parameter, Row};

pub(crate) const ROW: Row<Kind> = Row {
    name: "tamper",
    about: "a host alters what servers have given its QUIC clients for later connections: one bit of each address token, and the capacity in each BDP_FRAME",
    parameters: &[
        Parameter { name: "node", kind: Of::Text, default: Default::Required, about: "host of the clients" },
        Parameter {
            name: "factor",
            kind: Of::Number(0.0, 1e6),
            default: Default::Is("10"),
            about: "factor applied to the capacity in a BDP_FRAME",
        },
    ],
    build: Kind { check, moves: |_, _| None, act },
};

fn check(arguments: &Arguments, targets: &Targets) -> Result<(), OptionError> {
    let (_, node) = targets.node(arguments)?;
    match node.has_clients {
        true => Ok(()),
        false => {
            let problem = format!("has no QUIC client, found {:?}; expected a host with one", node.name);
            Err(("node", problem))
        }
    }
}

fn act(arguments: &Arguments, context: &mut Context<'_>) -> Result<(), String> {
    let (node, _) = context.targets.node(arguments).map_err(|(_, problem)| problem)?;
    context.world.tamper(node, arguments.number("factor"));
    Ok(())
}
