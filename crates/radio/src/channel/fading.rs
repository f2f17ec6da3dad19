//! Rayleigh fading as a sum of sinusoids (Clarke 1968, Jakes 1974).

use super::loss::LIGHT_M_S;
use random::Generator;
use std::f64::consts::TAU;
use units::Time;

/// The number of waves that arrive.
const WAVES: usize = 32;

/// The maximum Doppler frequency f_d = v f_c / c in Hz, of a speed in metres per second and a carrier in Hz.
pub fn doppler_hz(speed_m_s: f64, carrier_hz: f64) -> f64 {
    speed_m_s.abs() * carrier_hz / LIGHT_M_S
}

/// Waves of equal power from all directions. The power of their sum is a function of time alone.
#[derive(Debug, Clone)]
pub struct Fading {
    /// Of each wave, its Doppler frequency in Hz and its phase in turns.
    waves: [(f64, f64); WAVES],
}

impl Fading {
    /// Fading with a maximum Doppler frequency in Hz. Each wave draws its angle within its own sector of the circle,
    /// and its phase: 64 draws from `stream`.
    pub fn new(doppler_hz: f64, mut stream: Generator) -> Fading {
        let waves = std::array::from_fn(|wave| {
            let angle = TAU * (wave as f64 + stream.unit()) / WAVES as f64;
            (doppler_hz * angle.cos(), stream.unit())
        });
        Fading { waves }
    }

    /// The received power at `now`, relative to its mean.
    pub fn power(&self, now: Time) -> f64 {
        let seconds = now.as_secs_f64();
        let (mut real, mut imaginary) = (0.0, 0.0);
        for (frequency_hz, phase) in &self.waves {
            let (sine, cosine) = (TAU * (frequency_hz * seconds + phase).fract()).sin_cos();
            real += cosine;
            imaginary += sine;
        }
        (real * real + imaginary * imaginary) / WAVES as f64
    }
}
