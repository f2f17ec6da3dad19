//! The options of a performance-enhancing proxy: those of an endpoint over TCP, for both sides and for each side.

use std::sync::Arc;
use units::parameter::{Arguments, Default, Kind, Options, Parameter, Room, Row, Value};

/// The room of the options of one side.
const SIDES: &str = "sides";
/// The option that a proxy does not have: it ends TCP, and passes TLS on.
const TLS: &str = "tls";
/// The defaults that differ from those of an endpoint: windows and buffers that fill a satellite link.
/// N. Kuhn et al., "Evaluating BDP_FRAME extension for QUIC" (2021), figure 5: PEPSal with 300 segments and 4,194,240 bytes. The
/// kernel of that figure does not pace, so that the initial window leaves at once.
const DEFAULTS: &[(&str, &str)] = &[
    ("controller", "\"cubic\""),
    ("initial_window", "300"),
    ("pacing_burst", "300"),
    ("receive_buffer", "\"4194240 B\""),
    ("max_receive_buffer", "\"4194240 B\""),
    ("send_buffer", "\"4194240 B\""),
];
/// The options of the proxy as a whole.
const OWN: [Parameter; 3] = [
    Parameter {
        name: "connections",
        kind: Kind::Integer(0, 100_000),
        default: Default::Is("10000"),
        about: "maximum number of split connections; further ones pass unchanged",
    },
    Parameter {
        name: "client",
        kind: Kind::Component(SIDES),
        default: Default::Absent,
        about: "options that differ on the client's side, where the proxy acts as the server",
    },
    Parameter {
        name: "server",
        kind: Kind::Component(SIDES),
        default: Default::Absent,
        about: "options that differ on the server's side, where the proxy acts as the client",
    },
];

const ENDPOINT: usize = tcp::Config::PARAMETERS.len() - 1;

/// The options of the proxy: its own, and those of both sides.
pub(super) static PARAMETERS: [Parameter; OWN.len() + ENDPOINT] = {
    let mut all = [OWN[0]; OWN.len() + ENDPOINT];
    let mut at = 0;
    while at < all.len() {
        all[at] = if at < OWN.len() { OWN[at] } else { endpoint(at - OWN.len()) };
        at += 1;
    }
    all
};

/// The options of one side, all absent unless they are given.
static SIDE: [Parameter; ENDPOINT] = {
    let mut all = [OWN[0]; ENDPOINT];
    let mut at = 0;
    while at < all.len() {
        all[at] = Parameter { default: Default::Absent, ..endpoint(at) };
        at += 1;
    }
    all
};

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

/// The option of an endpoint with this number, without that of TLS.
const fn endpoint(number: usize) -> Parameter {
    let (mut at, mut left) = (0, number);
    loop {
        let parameter = tcp::Config::PARAMETERS[at];
        at += 1;
        if equal(parameter.name, TLS) {
            continue;
        }
        if left == 0 {
            return Parameter { default: default_of(&parameter), ..parameter };
        }
        left -= 1;
    }
}

const fn default_of(parameter: &Parameter) -> Default {
    let mut at = 0;
    while at < DEFAULTS.len() {
        if equal(DEFAULTS[at].0, parameter.name) {
            return Default::Is(DEFAULTS[at].1);
        }
        at += 1;
    }
    parameter.default
}

const fn equal(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// The options of the endpoint on a side: `"client"` or `"server"`.
pub(crate) fn side_config(arguments: &Arguments, side: &str) -> tcp::Config {
    let own = match arguments.get(side) {
        Some(Value::Component(own)) => own.arguments.clone(),
        _ => Arguments::default(),
    };
    let chosen = SIDE.iter().filter_map(|parameter| {
        let value = own.get(parameter.name).or_else(|| arguments.get(parameter.name))?;
        Some((parameter.name, value.clone()))
    });
    let mut chosen = Arguments(chosen.collect());
    chosen.0.push((TLS, Value::Text("none".to_owned())));
    tcp::Config::of(&chosen)
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

    /// The arguments of a proxy with these options.
    fn arguments(given: &[(&str, Value)]) -> Arguments {
        Arguments::filled(&PARAMETERS, given, crate::rooms()).unwrap()
    }

    #[test]
    fn both_sides_have_the_options_of_an_endpoint_with_defaults_for_a_satellite() {
        let config = side_config(&arguments(&[]), "client");
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
        assert_eq!(side_config(&given, "client").initial_window, 4);
        assert_eq!(side_config(&given, "server").initial_window, 50);
    }

    #[test]
    fn segments_fit_the_carrier() {
        let mut configs = Configs::new(tcp::Config::default());
        assert_eq!([9000, 1460, 1000].map(|size| configs.fitting(size).mss), [1460, 1460, 1000]);
        assert_eq!(configs.made.len(), 2);
    }
}
