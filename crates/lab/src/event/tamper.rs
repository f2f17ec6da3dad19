//! A client alters what servers have given it.

use super::{Context, Kind, Targets};
use units::parameter::{Arguments, OptionError, Options, Row};

/// The options of tampering.
#[derive(Debug, Clone, Options)]
struct TamperOptions {
    /// host of the clients
    node: String,
    /// factor applied to the capacity in a BDP_FRAME
    #[option(default = 10, within = 0.0..=1e6)]
    factor: f64,
}

pub(crate) const ROW: Row<Kind> = Row {
    name: "tamper",
    about: "a host alters what servers have given its QUIC clients for later connections: one bit of each address token, and the capacity in each BDP_FRAME",
    parameters: TamperOptions::PARAMETERS,
    build: Kind { check, flow: None, moves: |_, _| None, act },
};

fn check(arguments: &Arguments, targets: &Targets) -> Result<(), OptionError> {
    let (_, node) = targets.node(TamperOptions::NODE, &TamperOptions::of(arguments).node)?;
    match node.has_clients {
        true => Ok(()),
        false => {
            let problem = format!("has no QUIC client, found {:?}; expected a host with one", node.name);
            Err((TamperOptions::NODE.name, problem))
        }
    }
}

fn act(arguments: &Arguments, context: &mut Context<'_>) -> Result<(), String> {
    let options = TamperOptions::of(arguments);
    let found = context.targets.node(TamperOptions::NODE, &options.node);
    let (node, _) = found.map_err(|(_, problem)| problem)?;
    context.world.tamper(node, options.factor);
    Ok(())
}
