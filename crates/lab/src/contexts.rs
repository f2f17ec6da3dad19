//! The TLS side of a scenario: one context for each application protocol that its flows agree on.

use crate::error::RunError;
use crate::scenario::{Flow, Protocol, Scenario};
use tls::Context;

/// What needs time to make, and is shared by all runs of a scenario.
#[derive(Clone)]
pub(crate) struct Contexts {
    options: tls::Options,
    seed: u64,
    made: Vec<(&'static [u8], Context)>,
}

impl Contexts {
    /// Contexts for all flows. Certificates come from the scenario's own seed: they are the same for all runs of a
    /// sweep.
    pub(crate) fn new(scenario: &Scenario) -> Result<Contexts, RunError> {
        Contexts::make(tls::Options::from(&scenario.tls), scenario.seed, protocols(scenario))
    }

    /// Whether these are the contexts of a scenario, but for its seed.
    pub(crate) fn fit(&self, scenario: &Scenario) -> bool {
        self.options == tls::Options::from(&scenario.tls)
            && self.made.iter().map(|(protocol, _)| *protocol).eq(protocols(scenario))
    }

    fn make(
        options: tls::Options,
        seed: u64,
        protocols: impl IntoIterator<Item = &'static [u8]>,
    ) -> Result<Contexts, RunError> {
        let context = |protocol: &'static [u8]| {
            Context::new(&options, &[protocol], seed)
                .map(|context| (protocol, context))
                .map_err(RunError::Tls)
        };
        let made = protocols.into_iter().map(context).collect::<Result<_, _>>()?;
        Ok(Contexts { options, seed, made })
    }

    /// The same with packets that are really protected, as captures ask for.
    pub(crate) fn protected(&self) -> Result<Contexts, RunError> {
        if self.options.protection == tls::Protection::Tls {
            return Ok(self.clone());
        }
        let options = tls::Options { protection: tls::Protection::Tls, ..self.options.clone() };
        Contexts::make(options, self.seed, self.made.iter().map(|(protocol, _)| *protocol))
    }

    /// The context of a flow.
    pub(crate) fn get(&self, flow: &Flow) -> Option<&Context> {
        let wanted = flow.alpn();
        self.made.iter().find(|(protocol, _)| *protocol == wanted).map(|(_, context)| context)
    }
}

/// The application protocols of the flows over QUIC, each once.
fn protocols(scenario: &Scenario) -> Vec<&'static [u8]> {
    let quic = scenario.flows.iter().filter(|flow| flow.protocol == Protocol::Quic);
    let mut protocols: Vec<&'static [u8]> = quic.map(Flow::alpn).collect();
    protocols.sort_unstable();
    protocols.dedup();
    protocols
}
