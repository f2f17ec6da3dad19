//! A site of virtual objects for simulated runs.

use crate::{Answer, Body, Query, Release, Site};
use http::Target;
use units::{Duration, Time};

/// A site of virtual objects: `/<bytes>` is an object of that size, and there are no others.
/// `/<bytes>?think=<nanoseconds>&fill=<bytes>` is answered after a think time, with a field that pads the head. With
/// `parts=<number>&every=<nanoseconds>&first=<nanoseconds>` the content is sent in equal parts: the first one at a time of the
/// simulation (or at once, without `first`), the others after it at this interval. `ready=<number>` parts are sent at once, before the
/// first one. With `deadline=<nanoseconds>`, a part that is not sent so long after it may be is dropped with all that follow.
#[derive(Debug, Clone, Copy)]
pub struct VirtualSite;

/// The maximum size of a virtual object: more than any run sends, and within QUIC's limit of 2^62 - 1 with its fields.
const LARGEST: u64 = 1 << 60;
/// The maximum think time in nanoseconds, the maximum in a page.
const LONGEST: u64 = u64::MAX;
/// The maximum padding of a head, which clients accept.
pub const MAX_FILL: u64 = 16_384;

/// Parses a decimal number up to a limit.
fn number(digits: &str, most: u64) -> Option<u64> {
    let is_one = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|number| is_one && *number <= most)
}

fn find(target: &Target) -> Option<Answer> {
    let [name] = target.segments.as_slice() else { return None };
    let length = number(name, LARGEST)?;
    let mut answer = Answer::found(Body::Virtual(length));
    let mut release = None;
    let at_once = Release { ready: 0, first: None, every: Duration::ZERO, parts: 1, deadline: None };
    for part in target.query.iter().flat_map(|query| query.split('&')) {
        match part.split_once('=')? {
            ("think", digits) => answer.think = Duration::from_nanos(number(digits, LONGEST)?),
            ("fill", digits) => answer.fill = number(digits, MAX_FILL)? as usize,
            (name, digits) => {
                let (release, value) = (release.get_or_insert(at_once), number(digits, LONGEST)?);
                match name {
                    "ready" => release.ready = value,
                    "first" => release.first = Some(Time::from_nanos(value)),
                    "every" => release.every = Duration::from_nanos(value),
                    "parts" => release.parts = value,
                    "deadline" => release.deadline = Some(Duration::from_nanos(value)),
                    _ => return None,
                }
            }
        }
    }
    if let Some(release) = release {
        answer.body = Body::Released { length, release };
    }
    Some(answer)
}

impl Site for VirtualSite {
    fn find(&mut self, query: Query<'_>) -> Answer {
        find(query.target).unwrap_or_else(|| Answer::plain(404, "not found"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_site_has_an_object_of_every_size() {
        let find = |path: &str| find(&Target::parse(path.as_bytes()).unwrap());
        assert_eq!(find("/1?think=18446744073709551615").unwrap().think, Duration::from_nanos(u64::MAX));
        let answer = find("/1000?think=5000&fill=20").unwrap();
        assert_eq!((answer.body.len(), answer.think.as_nanos(), answer.fill), (1000, 5000, 20));
        assert_eq!(find("/0").unwrap().body.len(), 0);
        let Body::Released { length, release } = find("/1000?parts=4&every=50&first=7&ready=1").unwrap().body
        else {
            panic!()
        };
        let expected = Release {
            ready: 1,
            first: Some(Time::from_nanos(7)),
            every: Duration::from_nanos(50),
            parts: 4,
            deadline: None,
        };
        assert_eq!((length, release), (1000, expected));
        for bad in [
            "/1?parts=",
            "/1?first=-1",
            "/",
            "/a",
            "/-1",
            "/+1",
            "/1/2",
            "/1?",
            "/1?think=x",
            "/1?fill=16385",
            "/1?other=1",
            "/1152921504606846977",
        ] {
            assert!(find(bad).is_none(), "{bad}");
        }
    }
}
