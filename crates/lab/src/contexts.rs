//! The TLS contexts of a scenario, one for each application protocol of its flows.

use crate::error::RunError;
use crate::scenario::{Flow, Protocol, Scenario};
use tls::Context;

/// The TLS contexts that all runs of a scenario share, since they take time to make.
#[derive(Clone)]
pub(crate) struct Contexts {
    options: tls::Options,
    seed: u64,
    /// The contexts by application protocol.
    contexts: Vec<(&'static [u8], Context)>,
}

impl Contexts {
    /// Makes the contexts for all flows. Certificates depend on the scenario's own seed, so that all runs of a sweep share
    /// them.
    pub(crate) fn new(scenario: &Scenario) -> Result<Contexts, RunError> {
        Contexts::make(tls::Options::from(&scenario.tls), scenario.seed, protocols(scenario))
    }

    /// Whether these are the contexts of a scenario, apart from its seed.
    pub(crate) fn fit(&self, scenario: &Scenario) -> bool {
        self.options == tls::Options::from(&scenario.tls)
            && self.contexts.iter().map(|(protocol, _)| *protocol).eq(protocols(scenario))
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
        let contexts = protocols.into_iter().map(context).collect::<Result<_, _>>()?;
        Ok(Contexts { options, seed, contexts })
    }

    /// The contexts with real packet protection, which captures need.
    pub(crate) fn protected(&self) -> Result<Contexts, RunError> {
        if self.options.protection == tls::Protection::Tls {
            return Ok(self.clone());
        }
        let options = tls::Options { protection: tls::Protection::Tls, ..self.options.clone() };
        Contexts::make(options, self.seed, self.contexts.iter().map(|(protocol, _)| *protocol))
    }

    /// The context of a flow.
    pub(crate) fn get(&self, flow: &Flow) -> Option<&Context> {
        let alpn = flow.alpn();
        self.contexts.iter().find(|(protocol, _)| *protocol == alpn).map(|(_, context)| context)
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
