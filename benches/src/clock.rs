//! The clock of the measurements: CPU time of the whole process, both ends and the network included.

use cpu_time::ProcessTime;

/// What `work` gives, and the CPU seconds it took (`CLOCK_PROCESS_CPUTIME_ID`): unlike wall time, these do not grow when
/// somebody else has the core.
pub(crate) fn time<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = ProcessTime::now();
    let result = work();
    (result, start.elapsed().as_secs_f64())
}
