//! Random loss: each packet independently with one probability.

use super::Loss;
use crate::Packet;
use random::Stream;
use units::parameter::{Default, Kind, Parameter, Row};

pub(crate) const ROW: Row<super::Build> = Row {
    name: "random",
    about: "each packet is lost with one probability, independently of all others",
    parameters: &[Parameter {
        name: "probability",
        kind: Kind::Probability,
        default: Default::Required,
        about: "probability of loss of each packet",
    }],
    build: |arguments, stream| Some(Box::new(Random { probability: arguments.number("probability"), stream })),
};

struct Random {
    probability: f64,
    stream: Stream,
}

impl Loss for Random {
    fn loses(&mut self, _packet: &Packet) -> bool {
        self.stream.chance(self.probability)
    }
}
