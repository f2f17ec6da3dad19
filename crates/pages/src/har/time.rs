//! Times in archives, in ISO 8601 as required by HAR: `2026-03-01T09:05:00.123+01:00`. Some have no zone, or a blank for the T.

/// Nanoseconds since 1970, or `None` if the text is not a time from 1970 to 2199. `missing` is the zone of a time without
/// one, in seconds.
pub(super) fn nanos(text: &str, missing: i64) -> Option<u64> {
    let (date, time) = text.trim().split_once(['T', 't', ' '])?;
    let mut date = date.splitn(3, '-');
    let (year, month, day) = (fixed(date.next()?, 4)?, fixed(date.next()?, 2)?, fixed(date.next()?, 2)?);
    if !(1970..2200).contains(&year)
        || !(1..=12).contains(&month)
        || !(1..=days_in(year, month)).contains(&day)
    {
        return None;
    }
    let (time, zone) = zone(time)?;
    let zone = zone.unwrap_or(missing);
    let (clock, fraction) = time.split_once(['.', ',']).unwrap_or((time, "0"));
    let mut clock = clock.splitn(3, ':');
    let (hour, minute, second) =
        (fixed(clock.next()?, 2)?, fixed(clock.next()?, 2)?, fixed(clock.next()?, 2)?);
    // 60: a leap second.
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = (days_before(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second)
        .checked_add_signed(-zone)?;
    Some(seconds * 1_000_000_000 + fraction_nanos(fraction)?)
}

/// Whether a text is a date before 1970, which exporters write for times that they do not know.
pub(super) fn is_before(text: &str) -> bool {
    let year = text.trim().split('-').next().and_then(|year| fixed(year, 4));
    year.is_some_and(|year| year <= 1970) && text.trim().contains(['T', 't', ' '])
}

/// The zone of a time in seconds; `None` if it has none, or is not a time.
pub(super) fn zone_of(text: &str) -> Option<i64> {
    nanos(text, 0)?;
    zone(text.trim().split_once(['T', 't', ' '])?.1)?.1
}

/// The time without its zone, and the offset of the zone in seconds.
fn zone(time: &str) -> Option<(&str, Option<i64>)> {
    if let Some(time) = time.strip_suffix(['Z', 'z']) {
        return Some((time, Some(0)));
    }
    let Some(at) = time.rfind(['+', '-']) else { return Some((time, None)) };
    let (time, zone) = time.split_at(at);
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = match zone[1..].split_once(':') {
        Some((hours, minutes)) => (fixed(hours, 2)?, fixed(minutes, 2)?),
        None if zone.len() == 5 && zone.is_ascii() => (fixed(&zone[1..3], 2)?, fixed(&zone[3..], 2)?),
        None => (fixed(&zone[1..], 2)?, 0),
    };
    (hours <= 23 && minutes <= 59)
        .then_some((time.trim_end(), Some(sign * (hours * 3_600 + minutes * 60) as i64)))
}

/// A number with exactly this many digits.
fn fixed(text: &str, digits: usize) -> Option<u64> {
    (text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| text.parse().ok())
        .flatten()
}

fn fraction_nanos(text: &str) -> Option<u64> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Digits below a nanosecond are ignored.
    let mut digits = text.bytes().map(|byte| u64::from(byte - b'0'));
    Some((0..9).fold(0, |sum, _| sum * 10 + digits.next().unwrap_or(0)))
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_in(year: u64, month: u64) -> u64 {
    match month {
        2 => 28 + u64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from the start of 1970 to this day.
fn days_before(year: u64, month: u64, day: u64) -> u64 {
    let years: u64 = (1970..year).map(|year| 365 + u64::from(is_leap(year))).sum();
    let months: u64 = (1..month).map(|month| days_in(year, month)).sum();
    years + months + day - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_zones() {
        // `date -u -d ... +%s`.
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T23:59:60Z", 951_868_800_000_000_000),
            ("2026-03-01T09:05:00.123+01:00", 1_772_352_300_123_000_000),
            ("2026-03-01T08:05:00.123Z", 1_772_352_300_123_000_000),
            ("2026-03-01T02:35:00.123456789-0530", 1_772_352_300_123_456_789),
            ("2026-03-01T08:05:00.1234567899Z", 1_772_352_300_123_456_789),
            ("2026-03-01t08:05:00,5z", 1_772_352_300_500_000_000),
            ("2026-03-01T09:05:00+01", 1_772_352_300_000_000_000),
            ("2026-03-01T09:05:00", 1_772_352_300_000_000_000),
            ("2026-03-01 09:05:00.000 +01:00", 1_772_352_300_000_000_000),
        ] {
            assert_eq!(nanos(text, 3_600), Some(expected), "{text}");
        }
    }

    #[test]
    fn invalid_times_are_rejected() {
        for text in [
            "",
            "2026-03-01",
            "2026-13-01T08:05:00Z",
            "2026-02-29T08:05:00Z",
            "2026-03-01T24:05:00Z",
            "2026-03-01T08:60:00Z",
            "2026-03-01T08:05Z",
            "2026-03-01T08:05:00.Z",
            "2026-03-01T08:05:00.1x3Z",
            "26-03-01T08:05:00Z",
            "+026-03-01T08:05:00Z",
            "1969-12-31T23:59:59Z",
            "2200-01-01T00:00:00Z",
            "1970-01-01T00:00:00+01:00",
            "2026-03-01T08:05:00+1:00",
            "2026-03-01T08:05:00+é1",
            "2026-03-01T08:05:00+01:99",
        ] {
            assert_eq!(nanos(text, 0), None, "{text}");
        }
        assert_eq!(
            ["2026-03-01T08:05:00", "2026-03-01T08:05:00-02:00", "2026-03-01T08:05:00Z", "Z"].map(zone_of),
            [None, Some(-7_200), Some(0), None]
        );
    }
}
