//! The clocks of the measurements: CPU time of the whole process, both ends and the network included; and the wall clock.

use std::time::Instant;

use cpu_time::ProcessTime;

/// What `work` gives, and the CPU seconds it took (`CLOCK_PROCESS_CPUTIME_ID`): unlike wall time, these do not grow when
/// somebody else has the core.
pub(crate) fn time<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = ProcessTime::now();
    let result = work();
    (result, start.elapsed().as_secs_f64())
}

/// What `work` gives, and the seconds that it took by the wall clock: what several cores save. Other work on the machine is
/// in them.
#[allow(clippy::disallowed_methods, reason = "nothing simulated sees this clock")]
pub(crate) fn wall<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64())
}
