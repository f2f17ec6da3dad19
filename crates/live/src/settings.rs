//! Options of connections on the wire, with the names that they have in a scenario.

use crate::error::LiveError;
use congestion::ResumeMode;
use lab::scenario::Scenario;
use quic::Config;
use units::parameter::Options as _;

/// The defaults that differ from those of a scenario.
const DEFAULTS: [&str; 4] = [
    "tls.protection=tls",
    "transport.ecn=true",
    "transport.mtu_discovery=true",
    "transport.scheduler=rfc9218",
];

/// The defaults of a server. Clients send requests and nothing else, and data is kept until it is read: a
/// request whose first packet is lost waits for it, with everything behind it. Packet numbers are skipped, so that a
/// client that acknowledges what it has not received, to get more than its share, is found out (RFC 9000 section 21.4).
const OF_SERVER: [&str; 4] = [
    "transport.initial_max_data=256 kB",
    "transport.initial_max_stream_data_bidi_remote=64 kB",
    "transport.initial_max_stream_data_uni=64 kB",
    "transport.skip_packet_numbers=true",
];

/// The options of connections.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The rows of [`quic::Config`]. On the wire the defaults of `ecn` and `mtu_discovery` are true, since
    /// the properties of the path are unknown. The default of `scheduler` is `rfc9218`: HTTP/3 requests have an
    /// urgency.
    pub transport: Config,
    /// The options of TLS: cipher suites, tickets, 0-RTT.
    pub tls: tls::Options,
}

impl Settings {
    /// The defaults with these changes, such as `transport.controller=newreno` or `tls.cipher=aes256gcm`.
    ///
    /// # Errors
    /// [`LiveError::Setting`] for the first mistake.
    pub fn read(sets: &[String]) -> Result<Settings, LiveError> {
        Settings::changed(&[], sets)
    }

    /// The same for a server, which buffers less received data: at most 256 kB (`initial_max_data`) for each
    /// client, and 64 kB for each stream. All clients together can make it buffer this times the places of
    /// [`Limits::places`](crate::Limits::places), in addition to [`Limits::memory`](crate::Limits::memory).
    ///
    /// # Errors
    /// [`LiveError::Setting`] for the first mistake.
    pub fn of_server(sets: &[String]) -> Result<Settings, LiveError> {
        Settings::changed(&OF_SERVER, sets)
    }

    /// Lets a client send the capacity back that a server passes on in BDP_FRAMEs: the option `bdp_frame` of `resume`.
    ///
    /// # Errors
    /// [`LiveError::NoResumption`] if `resume` is `none`.
    pub fn send_capacity_back(&mut self) -> Result<(), LiveError> {
        let resume = &mut self.transport.resume;
        if resume.mode == ResumeMode::None {
            return Err(LiveError::NoResumption);
        }
        resume.bdp_frame = true;
        Ok(())
    }

    fn changed(defaults: &[&str], sets: &[String]) -> Result<Settings, LiveError> {
        let defaults = DEFAULTS.iter().chain(defaults).map(|set| (*set).to_owned());
        let sets: Vec<String> = defaults.chain(sets.to_vec()).collect();
        let scenario = Scenario::of_options(&sets).map_err(LiveError::Setting)?;
        Ok(Settings { transport: Config::of(&scenario.transport), tls: tls::Options::from(&scenario.tls) })
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
        let received = |settings: Settings| settings.transport.initial_max_data.as_bytes();
        assert_eq!(received(Settings::of_server(&sets).unwrap()), 256_000);
        let skips = |settings: Settings| settings.transport.skip_packet_numbers;
        assert!(skips(Settings::of_server(&sets).unwrap()) && !skips(Settings::read(&sets).unwrap()));
        let more = ["transport.initial_max_data=1 MB".to_owned()];
        assert_eq!(received(Settings::of_server(&more).unwrap()), 1_000_000);
        for wrong in ["transport.initial_windw=20", "transport.initial_window=much", "tls.cipher=des"] {
            let error = Settings::read(&[wrong.to_owned()]).unwrap_err().to_string();
            let key = wrong.split_once('=').unwrap().0;
            assert!(error.contains(key.split_once('.').unwrap().1) && !error.contains('\n'), "{error}");
        }
    }
}
