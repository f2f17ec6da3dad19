//! The options of a performance-enhancing proxy: those of an endpoint over TCP, for both sides and for each side.

use super::splice::Side;
use std::sync::Arc;
use units::parameter::{Arguments, Component, Options, Parameter, Room, Row, absent};

/// The room of the options of one side.
const SIDES: &str = "sides";

/// The options of a performance-enhancing proxy.
#[derive(Debug, Clone, Options)]
pub(super) struct PepOptions {
    /// maximum number of split connections; further ones pass unchanged
    #[option(default = 10_000, within = 0..=100_000)]
    pub(super) connections: usize,
    /// options that differ on the client's side, where the proxy acts as the server
    #[option(room = SIDES)]
    client: Option<Component>,
    /// options that differ on the server's side, where the proxy acts as the client
    #[option(room = SIDES)]
    server: Option<Component>,
    /// The options of both sides.
    #[options]
    both: SideOptions,
}

/// The options of an endpoint of the proxy, which ends TCP, and passes TLS on. The defaults that differ are windows and
/// buffers that fill a satellite link.
/// N. Kuhn et al., "Evaluating BDP_FRAME extension for QUIC" (2021), figure 5: PEPSal with 300 segments and 4,194,240 bytes. The
/// kernel of that figure does not pace, so that the initial window leaves at once.
#[derive(Debug, Clone, Options)]
struct SideOptions {
    #[options(
        controller = "cubic",
        initial_window = 300,
        pacing_burst = 300,
        receive_buffer = "4194240 B",
        max_receive_buffer = "4194240 B",
        send_buffer = "4194240 B",
        fixed(tls = "none")
    )]
    endpoint: tcp::Config,
}

/// The options of one side, all absent unless they are given.
static SIDE: [Parameter; SideOptions::PARAMETERS.len()] = absent(SideOptions::PARAMETERS);

static ROWS: &[Row<()>] = &[Row {
    name: "side",
    about: "one side of a proxy; options not given are those of both sides",
    parameters: &SIDE,
    build: (),
}];

/// The room of the options of one side.
pub(crate) fn sides() -> Room {
    Room::of(SIDES, "what differs on one side of a proxy", ROWS, None)
}

/// The options of the endpoint on a side.
pub(crate) fn side_config(arguments: &Arguments, side: Side) -> tcp::Config {
    let PepOptions { client, server, both, .. } = PepOptions::of(arguments);
    let own = match side {
        Side::Client => client,
        Side::Server => server,
    };
    own.map_or(both, |own| SideOptions::of(&own.arguments.over(arguments))).endpoint
}

/// The options of an endpoint by its segment size. They are shared by its connections.
#[derive(Debug)]
pub(super) struct Configs {
    base: tcp::Config,
    made: Vec<Arc<tcp::Config>>,
}

impl Configs {
    pub(super) fn new(base: tcp::Config) -> Configs {
        Configs { base, made: Vec::new() }
    }

    /// The options for a carrier on which segments of this size fit.
    pub(super) fn fitting(&mut self, size: u64) -> Arc<tcp::Config> {
        let mss = self.base.mss.min(u16::try_from(size).unwrap_or(u16::MAX));
        if let Some(known) = self.made.iter().find(|config| config.mss == mss) {
            return Arc::clone(known);
        }
        self.made.push(Arc::new(tcp::Config { mss, ..self.base.clone() }));
        Arc::clone(&self.made[self.made.len() - 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Size;
    use units::parameter::Value;

    /// The arguments of a proxy with these options.
    fn arguments(given: &[(&str, Value)]) -> Arguments {
        Arguments::filled(PepOptions::PARAMETERS, given, crate::rooms()).unwrap()
    }

    #[test]
    fn both_sides_have_the_options_of_an_endpoint_with_defaults_for_a_satellite() {
        let config = side_config(&arguments(&[]), Side::Client);
        let buffer = Size::from_bytes(4_194_240);
        assert_eq!(
            (config.controller.name, config.initial_window, config.tls),
            ("cubic", 300, tcp::Layer::None)
        );
        assert_eq!([config.receive_buffer, config.max_receive_buffer, config.send_buffer], [buffer; 3]);
        let usual = tcp::Config::default();
        let changed = tcp::Config {
            controller: usual.controller.clone(),
            initial_window: usual.initial_window,
            pacing_burst: usual.pacing_burst,
            receive_buffer: usual.receive_buffer,
            max_receive_buffer: usual.max_receive_buffer,
            send_buffer: usual.send_buffer,
            ..config
        };
        assert_eq!(changed, usual);
    }

    #[test]
    fn an_option_of_a_side_precedes_that_of_both() {
        let side = |name: &'static str, window| {
            let arguments = Arguments(vec![("initial_window", Value::Integer(window))]);
            (name, Value::Component(units::parameter::Component { room: SIDES, name: "side", arguments }))
        };
        let given = arguments(&[side("client", 4), ("initial_window", Value::Integer(50))]);
        assert_eq!(side_config(&given, Side::Client).initial_window, 4);
        assert_eq!(side_config(&given, Side::Server).initial_window, 50);
    }

    #[test]
    fn segments_fit_the_carrier() {
        let mut configs = Configs::new(tcp::Config::default());
        assert_eq!([9000, 1460, 1000].map(|size| configs.fitting(size).mss), [1460, 1460, 1000]);
        assert_eq!(configs.made.len(), 2);
    }
}
