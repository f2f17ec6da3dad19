//! The same rate for every frame.

use super::{Build, RateControl};
use units::Time;
use units::parameter::Row;

pub(super) const ROW: Row<Build> = Row {
    name: "fixed",
    about: "the options rate and mcs, or the highest rate of one stream",
    parameters: &[],
    build: |_, setup| Box::new(Fixed(setup.fixed)),
};

struct Fixed(usize);

impl RateControl for Fixed {
    fn rate(&mut self, _: Time, _: u8) -> usize {
        self.0
    }
    fn only(&self) -> Option<usize> {
        Some(self.0)
    }
    fn note(&mut self, _: usize, _: u32, _: u32) {}
}
