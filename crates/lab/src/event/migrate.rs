//! A client migrates to another of its interfaces (RFC 9000 section 9).

use super::{Context, Kind, TargetFlow, Targets};
use network::{MAX_ADDRESSED_PORTS, NodeId, Port};
use quic::Migration;
use units::parameter::{Arguments, Default, Kind as Of, OptionError, Parameter, Row};

pub(crate) const ROW: Row<Kind> = Row {
    name: "migrate",
    about: "the client of a flow sends from another of its interfaces (RFC 9000 section 9)",
    parameters: &[
        Parameter { name: "flow", kind: Of::Text, default: Default::Required, about: "flow over QUIC" },
        Parameter {
            name: "interface",
            kind: Of::Text,
            default: Default::Required,
            about: "link or medium that the interface leads to",
        },
        Parameter {
            name: "how",
            kind: Of::Choice(&["probe", "at_once", "rebound", "silent"]),
            default: Default::Is("\"probe\""),
            about: "probe: once the new path is validated; at_once: before it is; rebound: the same, but the old address is \
                    gone; silent: as if a NAT had changed the address",
        },
    ],
    build: Kind { check, moves, act },
};

fn flow<'c>(arguments: &Arguments, targets: &'c Targets) -> Result<(usize, &'c TargetFlow), OptionError> {
    let (index, flow) = targets.flow(arguments)?;
    match flow.stays {
        None => Ok((index, flow)),
        Some(why) => Err(("flow", format!("{:?} {why}", flow.name))),
    }
}

fn check(arguments: &Arguments, targets: &Targets) -> Result<(), OptionError> {
    let (_, flow) = flow(arguments, targets)?;
    let port = targets.port(NodeId(flow.client as u32), arguments)?;
    if port.0 < MAX_ADDRESSED_PORTS {
        return Ok(());
    }
    let problem = format!("has no address; expected one of the first {MAX_ADDRESSED_PORTS} of its node");
    Err(("interface", problem))
}

fn moves(arguments: &Arguments, targets: &Targets) -> Option<(usize, Port)> {
    let (index, flow) = flow(arguments, targets).ok()?;
    Some((index, targets.port(NodeId(flow.client as u32), arguments).ok()?))
}

fn act(arguments: &Arguments, context: &mut Context<'_>) -> Result<(), String> {
    let (index, flow) = flow(arguments, context.targets).map_err(|(_, problem)| problem)?;
    let node = NodeId(flow.client as u32);
    let port = context.targets.port(node, arguments).map_err(|(_, problem)| problem)?;
    let word = arguments.text("how");
    let how = Migration::ALL.iter().find(|(name, _)| *name == word);
    let (_, how) = how.expect("each word of the option is a kind of migration");
    let moved = context.world.migrate(node, index, port, *how);
    moved.map_err(|error| format!("flow {:?} cannot migrate: {error}", flow.name))
}
