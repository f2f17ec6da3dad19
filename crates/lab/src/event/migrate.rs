//! A client migrates to another of its interfaces (RFC 9000 section 9).

use super::{Context, Kind, TargetFlow, Targets};
use network::{MAX_ADDRESSED_PORTS, NodeId, Port};
use quic::Migration;
use units::parameter::{Arguments, OptionError, Options, Row};

/// The options of a migration.
#[derive(Debug, Clone, Options)]
struct MigrateOptions {
    /// flow over QUIC
    flow: String,
    /// link or medium that the interface leads to
    interface: String,
    /// probe: once the new path is validated; at_once: before it is; rebound: the same, but the old address is gone;
    /// silent: as if a NAT had changed the address
    #[option(default = "probe")]
    how: Migration,
}

pub(crate) const ROW: Row<Kind> = Row {
    name: "migrate",
    about: "the client of a flow sends from another of its interfaces (RFC 9000 section 9)",
    parameters: MigrateOptions::PARAMETERS,
    build: Kind { check, flow: Some(MigrateOptions::FLOW), moves, act },
};

fn flow<'c>(options: &MigrateOptions, targets: &'c Targets) -> Result<(usize, &'c TargetFlow), OptionError> {
    let (index, flow) = targets.flow(MigrateOptions::FLOW, &options.flow)?;
    match flow.stays {
        None => Ok((index, flow)),
        Some(why) => Err((MigrateOptions::FLOW.name, format!("{:?} {why}", flow.name))),
    }
}

/// The flow, and the port that it moves to.
fn place(options: &MigrateOptions, targets: &Targets) -> Result<(usize, Port), OptionError> {
    let (index, flow) = flow(options, targets)?;
    let node = NodeId(flow.client as u32);
    Ok((index, targets.port(node, MigrateOptions::INTERFACE, &options.interface)?))
}

fn check(arguments: &Arguments, targets: &Targets) -> Result<(), OptionError> {
    let (_, port) = place(&MigrateOptions::of(arguments), targets)?;
    if port.0 < MAX_ADDRESSED_PORTS {
        return Ok(());
    }
    let problem = format!("has no address; expected one of the first {MAX_ADDRESSED_PORTS} of its node");
    Err((MigrateOptions::INTERFACE.name, problem))
}

fn moves(arguments: &Arguments, targets: &Targets) -> Option<(usize, Port)> {
    place(&MigrateOptions::of(arguments), targets).ok()
}

fn act(arguments: &Arguments, context: &mut Context<'_>) -> Result<(), String> {
    let options = MigrateOptions::of(arguments);
    let (index, port) = place(&options, context.targets).map_err(|(_, problem)| problem)?;
    let flow = &context.targets.flows[index];
    let moved = context.world.migrate(NodeId(flow.client as u32), index, port, options.how);
    moved.map_err(|error| format!("flow {:?} cannot migrate: {error}", flow.name))
}
