//! Power lost over distance, and the noise that the rest is compared with.

/// The speed of light in metres per second.
pub(super) const LIGHT_M_S: f64 = 299_792_458.0;

/// Log-distance path loss: PL(d) = PL0 + 10 n log10(d / d0) (Rappaport, "Wireless Communications", 2nd ed., 4.9.1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathLoss {
    /// The loss PL0 in dB at the reference distance.
    pub reference_db: f64,
    /// The reference distance d0 in metres. Nearer terminals lose as much as those at this distance.
    pub reference_m: f64,
    /// The exponent n: 2 in free space, 2.7 to 5 in cities.
    pub exponent: f64,
}

impl PathLoss {
    /// Free space up to `reference_m` for a carrier of `carrier_hz`, and the exponent beyond.
    pub fn from_carrier(carrier_hz: f64, reference_m: f64, exponent: f64) -> PathLoss {
        // Friis 1946: (4 pi d f / c)^2.
        let wavelengths = 4.0 * std::f64::consts::PI * reference_m * carrier_hz / LIGHT_M_S;
        PathLoss { reference_db: 20.0 * wavelengths.log10(), reference_m, exponent }
    }

    /// The loss in dB at a distance in metres.
    pub fn db(&self, distance_m: f64) -> f64 {
        let ratio = (distance_m / self.reference_m).max(1.0);
        self.reference_db + 10.0 * self.exponent * ratio.log10()
    }
}

/// Thermal noise of -174 dBm/Hz (290 K) in a bandwidth, with the noise figure of the receiver in dB.
pub fn noise_dbm(bandwidth_hz: u64, noise_figure_db: f64) -> f64 {
    -174.0 + 10.0 * (bandwidth_hz as f64).log10() + noise_figure_db
}
