//! The TLS contexts of a scenario, one for each application protocol of its flows.

use crate::error::RunError;
use crate::scenario::{Flow, Protocol, Scenario};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use tls::{Context, Protection};

/// The maximum number of contexts that are kept for later runs. With the longest chains they take a few megabytes.
const MAX_KEPT: usize = 64;

/// The contexts of earlier runs of this process, from the oldest on. A context depends on its [`Key`] alone, and sessions
/// leave nothing in it.
static KEPT: Mutex<Vec<(Key, Context)>> = Mutex::new(Vec::new());

/// The number of contexts that were made.
static MADE: AtomicU64 = AtomicU64::new(0);

/// What a context depends on.
#[derive(Debug, Clone, PartialEq)]
struct Key {
    options: tls::Options,
    protocol: &'static [u8],
    /// The seed of keys and certificates; `None` without cryptography, where sizes count, which do not depend on the seed.
    seed: Option<u64>,
}

impl Key {
    /// The context, made now or before.
    fn context(self, seed: u64) -> Result<Context, RunError> {
        let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept().iter().find(|(key, _)| *key == self).map(|(_, context)| context.clone());
        if let Some(context) = found {
            return Ok(context);
        }
        let context = Context::new(&self.options, &[self.protocol], seed).map_err(RunError::Tls)?;
        MADE.fetch_add(1, Ordering::Relaxed);
        let mut kept = kept();
        // Another thread may have made it in the meantime.
        kept.retain(|(key, _)| *key != self);
        if kept.len() >= MAX_KEPT {
            kept.remove(0);
        }
        kept.push((self, context.clone()));
        Ok(context)
    }
}

/// The number of TLS contexts, with their keys and certificates, that this process has made for runs. A run makes none that
/// an earlier one had: see [`run`](crate::run).
pub fn contexts_made() -> u64 {
    MADE.load(Ordering::Relaxed)
}

/// The TLS contexts that all runs of a scenario share, since they take time to make.
#[derive(Clone)]
pub(crate) struct Contexts {
    options: tls::Options,
    seed: u64,
    /// The contexts by application protocol.
    contexts: Vec<(&'static [u8], Context)>,
}

impl Contexts {
    /// The contexts for all flows, with keys and certificates of this seed.
    pub(crate) fn new(scenario: &Scenario, seed: u64) -> Result<Contexts, RunError> {
        Contexts::of(tls::Options::from(&scenario.tls), seed, protocols(scenario))
    }

    /// Whether these are the contexts of a scenario, apart from its seed.
    pub(crate) fn fit(&self, scenario: &Scenario) -> bool {
        self.options == tls::Options::from(&scenario.tls)
            && self.contexts.iter().map(|(protocol, _)| *protocol).eq(protocols(scenario))
    }

    fn of(
        options: tls::Options,
        seed: u64,
        protocols: impl IntoIterator<Item = &'static [u8]>,
    ) -> Result<Contexts, RunError> {
        let context = |protocol: &'static [u8]| {
            let key = Key {
                options: options.clone(),
                protocol,
                seed: (options.protection == Protection::Tls).then_some(seed),
            };
            key.context(seed).map(|context| (protocol, context))
        };
        let contexts = protocols.into_iter().map(context).collect::<Result<_, _>>()?;
        Ok(Contexts { options, seed, contexts })
    }

    /// The contexts with real packet protection, which captures need.
    pub(crate) fn protected(&self) -> Result<Contexts, RunError> {
        if self.options.protection == Protection::Tls {
            return Ok(self.clone());
        }
        let options = tls::Options { protection: Protection::Tls, ..self.options.clone() };
        Contexts::of(options, self.seed, self.contexts.iter().map(|(protocol, _)| *protocol))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_contexts_make_room_for_new_ones() {
        let key = |seed| Key {
            options: tls::Options { protection: Protection::Tls, ..tls::Options::default() },
            protocol: b"h3",
            seed: Some(seed),
        };
        for seed in 0..MAX_KEPT as u64 + 2 {
            assert!(key(seed).context(seed).is_ok());
        }
        let kept = KEPT.lock().unwrap();
        assert_eq!(kept.len(), MAX_KEPT);
        assert!(!kept.iter().any(|(known, _)| *known == key(0)));
        assert!(kept.iter().any(|(known, _)| *known == key(MAX_KEPT as u64 + 1)));
    }
}
