//! Alarms on the clock of the machine: never early, and not without end.

use super::*;
use std::io::Write;
use std::os::unix::net::UnixStream;

#[test]
fn it_is_never_early_and_wakes_for_what_can_be_read() {
    let clock = Clock::start();
    let (mut to, from) = UnixStream::pair().unwrap();
    let (_other, silent) = UnixStream::pair().unwrap();
    let sources = [silent, from];
    let mut alarm = Alarm::default();
    for step in 0..20 {
        let until = clock.now() + Duration::from_micros(100 * step);
        alarm.sleep(&clock, until, sources.iter().enumerate()).unwrap();
        assert!(clock.now() >= until);
        assert!(!alarm.has_woken(0) && !alarm.has_woken(1));
        assert!(alarm.late <= LONGEST_AWAKE);
    }
    to.write_all(b"x").unwrap();
    // An hour, which would not be slept through.
    let hour = clock.now() + Duration::from_secs(3600);
    alarm.sleep(&clock, hour, sources.iter().enumerate()).unwrap();
    assert!(!alarm.has_woken(0) && alarm.has_woken(1) && !alarm.has_woken(2));
    // One that is left out does not wake.
    alarm.sleep(&clock, clock.now(), sources.iter().enumerate().take(1)).unwrap();
    assert!(!alarm.has_woken(1));
}

#[test]
fn it_rises_at_once_and_falls_slowly() {
    let mut alarm = Alarm::default();
    alarm.learn(Duration::from_micros(160));
    assert_eq!(alarm.late, Duration::from_micros(160));
    alarm.learn(Duration::ZERO);
    assert_eq!(alarm.late, Duration::from_micros(150));
    alarm.learn(Duration::from_secs(1));
    assert_eq!(alarm.late, LONGEST_AWAKE);
}
