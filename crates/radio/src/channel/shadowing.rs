//! Shadowing by obstacles: log-normal, and correlated over distance (Gudmundson 1991).

use crate::gaussian;
use random::Stream;

/// A normal process in dB whose values at two points of the way have the correlation exp(-distance / decorrelation).
#[derive(Debug, Clone)]
pub struct Shadowing {
    sigma_db: f64,
    decorrelation_m: f64,
    stream: Stream,
    at_m: f64,
    value_db: f64,
}

impl Shadowing {
    /// Shadowing with a standard deviation in dB (typically 4 to 10) and a decorrelation distance in metres, positive
    /// (20 in cities to 500 in suburbs). The value at the start is drawn at once.
    pub fn new(sigma_db: f64, decorrelation_m: f64, mut stream: Stream) -> Shadowing {
        let value_db = sigma_db * gaussian::draw(&mut stream);
        Shadowing { sigma_db, decorrelation_m, stream, at_m: 0.0, value_db }
    }

    /// The shadowing in dB after a way of `moved_m` metres since the start. Draws once for each new point; a point
    /// behind the last one has the value of the last one.
    pub fn db(&mut self, moved_m: f64) -> f64 {
        if moved_m > self.at_m {
            let correlation = (-(moved_m - self.at_m) / self.decorrelation_m).exp();
            let innovation = self.sigma_db * (1.0 - correlation * correlation).sqrt();
            self.value_db = correlation * self.value_db + innovation * gaussian::draw(&mut self.stream);
            self.at_m = moved_m;
        }
        self.value_db
    }
}
