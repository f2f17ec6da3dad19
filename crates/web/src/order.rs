//! The order of requests: all at once in the order of a list, or as the objects of pages become known.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;
use units::{Duration, Time};

/// The dependencies of a request. The requests of a page are consecutive, and only depend on earlier ones of the same
/// page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Gate {
    /// Requests of the same page, by their index in the list, that must be over; with `true` the start of the response
    /// suffices.
    pub after: Vec<(usize, bool)>,
    /// The delay from then on, or from the start of the page if there are no dependencies.
    pub delay: Duration,
}

/// A page: its requests, and the pause before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its requests, by their indices in the list.
    pub requests: Range<usize>,
    /// The pause after the end of the previous page.
    pub pause: Duration,
}

/// Requests, and the order in which they may be sent.
#[derive(Debug, Default)]
pub struct Order {
    gates: Vec<Gate>,
    /// The number of unmet dependencies of each request.
    missing: Vec<usize>,
    /// For each request, those that wait for its end and those that wait for its start.
    followers: Vec<[Vec<usize>; 2]>,
    parts: Vec<Part>,
    /// The current page, and the number of its requests that are not over.
    part: usize,
    left: usize,
    /// The urgencies of the requests: the most urgent of the waiting requests is sent next. If empty, the first is.
    urgencies: Vec<u8>,
    waiting: VecDeque<usize>,
    timers: BTreeSet<(Time, usize)>,
    /// The time at which each request became ready to be sent.
    wanted: Vec<Option<Time>>,
    /// The start time of each page.
    started: Vec<Option<Time>>,
}

impl Order {
    /// All requests at once, in the order of the list.
    pub fn of_list(count: usize) -> Order {
        let parts = vec![Part { requests: 0..count, pause: Duration::ZERO }];
        Order::of_pages(vec![Gate::default(); count], parts, Vec::new())
    }

    /// No requests yet, which [`Order::append`] adds: the most urgent of those that wait is sent next.
    pub fn of_session() -> Order {
        let parts = vec![Part { requests: 0..0, pause: Duration::ZERO }];
        Order::of_pages(Vec::new(), parts, Vec::new())
    }

    /// Adds a request without dependencies to the last page. It may be sent at once if that page has started.
    pub fn append(&mut self, now: Time, urgency: u8) -> usize {
        let index = self.gates.len();
        self.gates.push(Gate::default());
        self.missing.push(0);
        self.followers.push([Vec::new(), Vec::new()]);
        self.wanted.push(None);
        self.urgencies.resize(index, urgency);
        self.urgencies.push(urgency);
        let last = self.parts.len() - 1;
        self.parts[last].requests.end = index + 1;
        if self.started[last].is_some() {
            // All before it may be over.
            self.part = last;
            self.left += 1;
            self.schedule(now, index);
        }
        index
    }

    /// Page by page. Dependencies on requests of other pages, or on later requests, are ignored.
    pub fn of_pages(mut gates: Vec<Gate>, parts: Vec<Part>, urgencies: Vec<u8>) -> Order {
        let mut followers = vec![[Vec::new(), Vec::new()]; gates.len()];
        for part in &parts {
            for index in part.requests.clone() {
                gates[index].after.retain(|(other, _)| (part.requests.start..index).contains(other));
                let after = gates[index].after.iter();
                after.for_each(|(other, started)| followers[*other][usize::from(*started)].push(index));
            }
        }
        let missing = gates.iter().map(|gate| gate.after.len()).collect();
        let wanted = vec![None; gates.len()];
        let started = vec![None; parts.len()];
        Order { gates, missing, followers, parts, urgencies, wanted, started, ..Order::default() }
    }

    /// Starts the first page, unless it has started.
    pub fn start(&mut self, now: Time) {
        if self.started.first() == Some(&None) {
            self.start_part(now);
        }
    }

    /// Starts the next page: requests without dependencies become ready.
    fn start_part(&mut self, now: Time) {
        let Some(part) = self.parts.get(self.part) else { return };
        self.left = part.requests.len();
        self.started[self.part] = Some(now);
        for index in part.requests.clone() {
            if self.missing[index] == 0 {
                self.schedule(now, index);
            }
        }
    }

    fn schedule(&mut self, now: Time, index: usize) {
        let at = now + self.gates[index].delay;
        if at > now {
            self.timers.insert((at, index));
        } else {
            self.wanted[index] = Some(now);
            self.waiting.push_back(index);
        }
    }

    /// The time at which the next request or page becomes ready.
    pub fn wake_at(&self) -> Option<Time> {
        self.timers.first().map(|(at, _)| *at)
    }
    /// Makes requests ready whose time has come.
    pub fn wake(&mut self, now: Time) {
        while let Some((at, index)) = self.timers.first().copied().filter(|(at, _)| *at <= now) {
            self.timers.pop_first();
            if index == PAUSE {
                self.start_part(now);
            } else {
                self.wanted[index] = Some(at);
                self.waiting.push_back(index);
            }
        }
    }

    /// The request to send next.
    pub fn next(&self) -> Option<usize> {
        if self.urgencies.is_empty() {
            return self.waiting.front().copied();
        }
        self.waiting.iter().copied().min_by_key(|index| (self.urgencies[*index], *index))
    }
    /// The number of requests ready to be sent.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }
    /// The time at which a request became ready to be sent.
    pub fn requestable_at(&self, index: usize) -> Option<Time> {
        self.wanted[index]
    }
    /// The start time of a page.
    pub fn started_at(&self, page: usize) -> Option<Time> {
        self.started[page]
    }
    /// The page of a request.
    pub fn part_of(&self, index: usize) -> usize {
        self.parts.partition_point(|part| part.requests.end <= index)
    }
    /// The pages.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Removes a request from the waiting ones; returns `false` if it is not waiting.
    pub fn take(&mut self, index: usize) -> bool {
        let at = self.waiting.iter().position(|waiting| *waiting == index);
        at.is_some_and(|at| self.waiting.remove(at).is_some())
    }
    /// Makes a request wait again, before or after the others.
    pub fn put_back(&mut self, index: usize, first: bool) {
        if first {
            self.waiting.push_front(index);
        } else {
            self.waiting.push_back(index);
        }
    }

    fn release(&mut self, now: Time, followers: Vec<usize>) {
        for follower in followers {
            self.missing[follower] -= 1;
            if self.missing[follower] == 0 {
                self.schedule(now, follower);
            }
        }
    }

    /// The response to a request has started, which releases its dependents.
    pub fn on_response_started(&mut self, now: Time, index: usize) {
        let followers = std::mem::take(&mut self.followers[index][1]);
        self.release(now, followers);
    }

    /// A request is over, successful or not, which releases its dependents.
    pub fn on_over(&mut self, now: Time, index: usize) {
        self.on_response_started(now, index);
        let followers = std::mem::take(&mut self.followers[index][0]);
        self.release(now, followers);
        self.left -= 1;
        if self.left == 0 {
            self.part += 1;
            match self.parts.get(self.part) {
                Some(part) if part.pause.is_zero() => self.start_part(now),
                Some(part) => drop(self.timers.insert((now + part.pause, PAUSE))),
                None => {}
            }
        }
    }

    /// After the end of sending: removes and returns a request that was not sent, ready or not.
    pub fn give_up(&mut self, now: Time) -> Option<usize> {
        loop {
            if let Some(index) = self.waiting.pop_front() {
                return Some(index);
            }
            match self.timers.pop_last()? {
                (_, PAUSE) => self.start_part(now),
                (_, index) => return Some(index),
            }
        }
    }
}

/// A timer for the pause before a page, in place of a request.
const PAUSE: usize = usize::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }
    fn gate(after: &[usize], ms: u64) -> Gate {
        Gate { after: after.iter().map(|other| (*other, false)).collect(), delay: Duration::from_millis(ms) }
    }
    /// Sends all requests that may be sent.
    fn send(order: &mut Order) -> Vec<usize> {
        let mut sent = Vec::new();
        while let Some(index) = order.next() {
            assert!(order.take(index));
            sent.push(index);
        }
        sent
    }

    #[test]
    fn a_list_is_sent_in_order() {
        let mut order = Order::of_list(3);
        assert_eq!(order.next(), None);
        order.start(at(0));
        assert_eq!(order.waiting(), 3);
        assert_eq!(send(&mut order), [0, 1, 2]);
        order.put_back(1, true);
        assert_eq!((order.next(), order.take(2)), (Some(1), false));
    }

    #[test]
    fn a_session_is_asked_for_one_thing_after_the_other() {
        let mut order = Order::of_session();
        assert_eq!(order.append(at(0), 3), 0);
        assert_eq!(order.next(), None);
        order.start(at(1));
        assert_eq!((send(&mut order), order.requestable_at(0)), (vec![0], Some(at(1))));
        order.on_over(at(2), 0);
        assert_eq!((order.next(), order.wake_at()), (None, None));
        assert_eq!([order.append(at(5), 3), order.append(at(5), 1)], [1, 2]);
        assert_eq!((send(&mut order), order.part_of(2)), (vec![2, 1], 0));
        order.on_over(at(6), 1);
        assert_eq!(order.append(at(7), 3), 3);
        order.on_over(at(8), 2);
        assert_eq!((send(&mut order), order.requestable_at(3)), (vec![3], Some(at(7))));
    }

    #[test]
    fn objects_wait_for_dependencies_and_a_delay() {
        let gates = vec![gate(&[], 0), gate(&[0], 5), gate(&[0], 0), gate(&[1, 2], 0)];
        let parts = vec![Part { requests: 0..4, pause: Duration::ZERO }];
        let mut order = Order::of_pages(gates, parts, vec![0, 3, 1, 0]);
        order.start(at(1));
        assert_eq!((send(&mut order), order.wake_at()), (vec![0], None));
        order.on_over(at(10), 0);
        assert_eq!((send(&mut order), order.wake_at()), (vec![2], Some(at(15))));
        order.on_over(at(12), 2);
        order.wake(at(14));
        assert_eq!(send(&mut order), [0usize; 0]);
        order.wake(at(15));
        assert_eq!(send(&mut order), [1]);
        order.on_over(at(20), 1);
        assert_eq!(send(&mut order), [3]);
        assert_eq!(
            (0..4).map(|index| order.requestable_at(index)).collect::<Vec<_>>(),
            [Some(at(1)), Some(at(15)), Some(at(10)), Some(at(20))]
        );
    }

    #[test]
    fn the_start_of_an_object_may_suffice() {
        let started = Gate { after: vec![(0, true)], delay: Duration::ZERO };
        let parts = vec![Part { requests: 0..4, pause: Duration::ZERO }];
        let mut order =
            Order::of_pages(vec![gate(&[], 0), started.clone(), gate(&[0], 0), started], parts, Vec::new());
        order.start(at(0));
        assert_eq!(send(&mut order), [0]);
        order.on_response_started(at(1), 0);
        assert_eq!(send(&mut order), [1, 3]);
        order.on_response_started(at(2), 0);
        order.on_over(at(3), 0);
        assert_eq!(send(&mut order), [2]);
    }

    #[test]
    fn pages_are_sequential_and_urgent_requests_go_first() {
        let gates = vec![gate(&[], 0), gate(&[], 0), gate(&[0], 0), gate(&[2], 0)];
        let pause = Duration::from_millis(100);
        let parts = vec![Part { requests: 0..2, pause }, Part { requests: 2..4, pause }];
        // A dependency on another page is ignored.
        let mut order = Order::of_pages(gates, parts, vec![5, 1, 0, 0]);
        order.start(at(0));
        assert_eq!(send(&mut order), [1, 0]);
        assert_eq!([0, 1, 2, 3].map(|index| order.part_of(index)), [0, 0, 1, 1]);
        order.on_over(at(1), 0);
        order.on_over(at(2), 1);
        assert_eq!((send(&mut order), order.wake_at()), (vec![], Some(at(102))));
        order.wake(at(102));
        assert_eq!(send(&mut order), [2]);
        order.on_over(at(110), 2);
        assert_eq!(send(&mut order), [3]);
        order.on_over(at(111), 3);
        assert_eq!((order.next(), order.wake_at(), order.give_up(at(0))), (None, None, None));
    }

    #[test]
    fn unsent_requests_are_removed_one_by_one() {
        let gates = vec![gate(&[], 0), gate(&[0], 5), gate(&[1], 0), gate(&[], 0), gate(&[3], 0)];
        let pause = Duration::from_millis(100);
        let parts = vec![Part { requests: 0..3, pause }, Part { requests: 3..5, pause }];
        let mut order = Order::of_pages(gates, parts, vec![0; 5]);
        order.start(at(0));
        let mut given_up = Vec::new();
        while let Some(index) = order.give_up(at(0)) {
            given_up.push(index);
            order.on_over(at(0), index);
        }
        assert_eq!(given_up, [0, 1, 2, 3, 4]);
    }
}
