//! Options of connections on the wire, by the names that they have in a scenario.

use crate::error::LiveError;
use lab::scenario::Scenario;
use quic::Config;

/// The defaults that are not those of a scenario.
const DEFAULTS: [&str; 4] = [
    "tls.protection=tls",
    "transport.ecn=true",
    "transport.mtu_discovery=true",
    "transport.scheduler=rfc9218",
];

/// How connections behave.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The rows of [`quic::PARAMETERS`], where they are not as by default. On the wire the defaults of `ecn`
    /// and `mtu_discovery` are true: nobody tells what a path carries. That of `scheduler` is `rfc9218`: requests of
    /// HTTP/3 say how urgent they are.
    pub transport: Config,
    /// Suites, tickets, 0-RTT.
    pub tls: tls::Options,
}

impl Settings {
    /// The defaults, changed by these, each as `transport.controller=newreno` or `tls.cipher=aes256gcm`.
    ///
    /// # Errors
    /// [`LiveError::Setting`] for the first mistake.
    pub fn read(sets: &[String]) -> Result<Settings, LiveError> {
        let sets: Vec<String> = DEFAULTS.iter().map(|set| (*set).to_owned()).chain(sets.to_vec()).collect();
        let scenario = Scenario::of_options(&sets).map_err(LiveError::Setting)?;
        Ok(Settings { transport: Config::from(&scenario.transport), tls: tls::Options::from(&scenario.tls) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_their_names_and_mistakes_are_told() {
        let sets = ["transport.initial_window=20".to_owned(), "tls.cipher=chacha20poly1305".to_owned()];
        let settings = Settings::read(&sets).unwrap();
        assert_eq!((settings.transport.initial_window, settings.transport.max_udp_payload), (Some(20), 1472));
        assert!(settings.transport.ecn && settings.transport.mtu_discovery);
        assert_eq!(settings.transport.scheduler.name, "rfc9218");
        assert_eq!(settings.tls.cipher, tls::Cipher::ChaCha20Poly1305);
        for wrong in ["transport.initial_windw=20", "transport.initial_window=much", "tls.cipher=des"] {
            let error = Settings::read(&[wrong.to_owned()]).unwrap_err().to_string();
            let key = wrong.split_once('=').unwrap().0;
            assert!(error.contains(key.split_once('.').unwrap().1) && !error.contains('\n'), "{error}");
        }
    }
}
