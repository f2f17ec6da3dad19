//! The clocks of the measurements: the CPU time of the whole process, including both ends and the network, and
//! the wall clock.

use std::time::Instant;

use cpu_time::ProcessTime;

/// Returns the result of `work` and its CPU time in seconds (`CLOCK_PROCESS_CPUTIME_ID`). Unlike wall time, CPU
/// time does not include other processes on the same core.
pub(crate) fn time<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = ProcessTime::now();
    let result = work();
    (result, start.elapsed().as_secs_f64())
}

/// Returns the result of `work` and its wall time in seconds, which shows the gain of several cores. It
/// includes other work on the machine.
#[allow(clippy::disallowed_methods, reason = "nothing simulated sees this clock")]
pub(crate) fn wall<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64())
}
