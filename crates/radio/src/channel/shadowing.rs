//! Shadowing by obstacles: log-normal, and correlated over distance (Gudmundson 1991).

use crate::gaussian;
use random::Generator;

/// Points with values of their own in a decorrelation distance.
const POINTS: f64 = 10.0;

/// A normal process in dB whose values at two points of the way have the correlation exp(-distance / decorrelation).
///
/// Values are drawn at points that are a tenth of the decorrelation distance apart, and interpolated between them. So
/// the process does not depend on where it is asked for.
#[derive(Debug, Clone)]
pub struct Shadowing {
    sigma_db: f64,
    /// The distance between two points.
    step_m: f64,
    stream: Generator,
    /// The number of the last point on the way so far.
    point: f64,
    /// The values at that point and at the next one.
    around_db: [f64; 2],
    at_m: f64,
    value_db: f64,
}

impl Shadowing {
    /// Shadowing with a standard deviation in dB (typically 4 to 10) and a decorrelation distance in metres, positive
    /// (20 in cities to 500 in suburbs). The value at the start is drawn at once.
    pub fn new(sigma_db: f64, decorrelation_m: f64, mut stream: Generator) -> Shadowing {
        let value_db = sigma_db * gaussian::draw(&mut stream);
        let step_m = decorrelation_m / POINTS;
        let around_db = [value_db; 2];
        let mut shadowing =
            Shadowing { sigma_db, step_m, stream, point: 0.0, around_db, at_m: 0.0, value_db };
        shadowing.around_db[1] = shadowing.after(value_db);
        shadowing
    }

    /// The shadowing in dB after a way of `moved_m` metres since the start. A point behind the last one has the value of
    /// the last one.
    pub fn db(&mut self, moved_m: f64) -> f64 {
        if moved_m > self.at_m {
            self.at_m = moved_m;
            let place = moved_m / self.step_m;
            while self.point + 1.0 <= place {
                self.around_db = [self.around_db[1], self.after(self.around_db[1])];
                self.point += 1.0;
            }
            // A mean of two correlated values varies less than each of them.
            let share = place - self.point;
            let variance = 1.0 - 2.0 * share * (1.0 - share) * (1.0 - correlation());
            let [before, next] = self.around_db;
            self.value_db = ((1.0 - share) * before + share * next) / variance.sqrt();
        }
        self.value_db
    }

    /// The value at the point after one with this value.
    fn after(&mut self, value_db: f64) -> f64 {
        let innovation = self.sigma_db * (1.0 - correlation() * correlation()).sqrt();
        correlation() * value_db + innovation * gaussian::draw(&mut self.stream)
    }
}

/// The correlation of the values at neighbouring points.
fn correlation() -> f64 {
    (-1.0 / POINTS).exp()
}
