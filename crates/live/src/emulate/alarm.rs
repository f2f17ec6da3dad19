//! Waking in time: the system wakes a thread later than it was asked to.
//!
//! Three delays lie between the time that a thread sleeps for and its next instruction. The kernel may put off timers (timer
//! slack, 50 us by default): this thread asks for none. A processor that sleeps takes time to wake, and a thread waits
//! for its turn. So the alarm goes off earlier than asked, by as much as the last ones were late, and the rest of the time is
//! waited for awake.

use crate::clock::Clock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::num::NonZeroU64;
use std::os::fd::AsFd;
use units::{Duration, Time};

/// The longest time that is waited for awake.
const LONGEST_AWAKE: Duration = Duration::from_micros(200);

/// Wakes a thread at a time, or when something can be read.
#[derive(Debug, Default)]
pub(super) struct Alarm {
    /// How late the system wakes, as recent alarms had it.
    late: Duration,
    /// The numbers of the sources that something can be read from.
    woken: Vec<usize>,
}

/// Asks the system to wake this thread as soon as it can.
pub(super) fn hasten() {
    // Without it everything works, and later.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

impl Alarm {
    /// Sleeps until a time, or until one of these, which have numbers, can be read.
    pub(super) fn sleep<'s, S: AsFd + 's>(
        &mut self,
        clock: &Clock,
        until: Time,
        sources: impl Iterator<Item = (usize, &'s S)>,
    ) -> io::Result<()> {
        let (numbers, mut polled): (Vec<usize>, Vec<PollFd<'_>>) =
            sources.map(|(number, source)| (number, PollFd::new(source, PollFlags::IN))).unzip();
        let asked = until - self.late.min(until.since(Time::ZERO));
        let left = asked.since(clock.now());
        let mut found = wait(&mut polled, left)?;
        if found == 0 && !left.is_zero() {
            self.learn(clock.now().since(asked));
        }
        while found == 0 && clock.now() < until {
            found = wait(&mut polled, Duration::ZERO)?;
        }
        self.woken.clear();
        let woken = numbers.iter().zip(&polled).filter(|(_, polled)| !polled.revents().is_empty());
        self.woken.extend(woken.map(|(number, _)| number));
        Ok(())
    }

    /// Whether the source with this number could be read at the end of the last sleep.
    pub(super) fn has_woken(&self, number: usize) -> bool {
        self.woken.contains(&number)
    }

    /// An alarm was late by this much. The estimate rises at once and falls slowly, so most alarms are in time.
    fn learn(&mut self, late: Duration) {
        let late = late.min(LONGEST_AWAKE);
        let fallen = Duration::from_nanos(self.late.as_nanos() / 16 * 15);
        self.late = late.max(fallen);
    }
}

/// Waits for something to read; returns for how many there is something.
fn wait(polled: &mut [PollFd<'_>], longest: Duration) -> io::Result<usize> {
    let nanos = longest.as_nanos();
    let timeout = Timespec {
        tv_sec: i64::try_from(nanos / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: (nanos % 1_000_000_000) as i64,
    };
    match poll(polled, Some(&timeout)) {
        Ok(found) => Ok(found),
        Err(Errno::INTR) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests;
