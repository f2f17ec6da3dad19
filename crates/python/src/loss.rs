//! Loss models written in Python: the loss model of `network` that calls them, once for each packet.

use crate::outside::{Code, Object, nonsense, started};
use crate::packet::PythonPacket;
use lab::outside::PlugError;
use network::loss::{self, Loss};
use network::{BuildError, Packet};
use pyo3::intern;
use pyo3::prelude::*;
use units::Time;
use units::parameter::{Arguments, Row};

/// Adds a class to the loss models.
pub(crate) fn plug(code: Code, face: Row<()>) -> Result<(), PlugError> {
    let build = move |arguments: &Arguments, stream| -> Result<Option<Box<dyn Loss>>, BuildError> {
        let object = started(&code, arguments, stream, |_, _| Ok(())).map_err(BuildError::Outside)?;
        Ok(Some(Box::new(PythonLoss { object, seen: 0 })))
    };
    loss::plug(face.built_by(Box::leak(Box::new(build))))
}

/// A loss model that calls a Python object.
struct PythonLoss {
    object: Object,
    seen: u64,
}

impl Loss for PythonLoss {
    fn loses(&mut self, done: Time, packet: &Packet) -> bool {
        let number = self.seen;
        self.seen += 1;
        let lost = self.object.call(|py, object| {
            let given = (PythonPacket::sent(done, number, packet), done.as_secs_f64());
            let answer = object.call_method1(intern!(py, "loses"), given)?;
            answer.extract::<bool>().map_err(|_| nonsense(object, "loses", &answer, "True or False"))
        });
        // After an error, until the run ends.
        lost.unwrap_or(false)
    }
}
