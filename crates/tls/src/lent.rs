//! What a session lends to its thread while it is inside of the TLS library: its random stream, its key log, the
//! date, and the tickets that it may use or has got.
//!
//! rustls takes random bytes and key shares from `&'static` objects, and its key log from the configuration that all
//! sessions of a context share. But here every draw belongs to one connection's own stream, or else one connection
//! more would change the bytes of all others. So a session puts its own into this thread's slot before each call into
//! rustls and takes it back behind it; outside of such a call the slot is empty and a draw fails.

use crate::key_log::Secret;
use crate::store::Admission;
use random::Stream;
use rustls::NamedGroup;
use rustls::client::Tls13ClientSessionValue;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::Duration;

/// What is lent.
#[derive(Debug)]
pub(crate) struct Lent {
    pub(crate) random: Stream,
    /// The date, as time since 1970.
    pub(crate) date: Duration,
    /// Secrets that came up and nobody has taken yet.
    pub(crate) secrets: Vec<Secret>,
    /// At a client: the ticket that it offers.
    pub(crate) offered: Option<Tls13ClientSessionValue>,
    /// At a client: tickets that came and nobody has taken yet.
    pub(crate) received: Vec<Tls13ClientSessionValue>,
    /// At a client: the group that the server chooses.
    pub(crate) group: Option<NamedGroup>,
    /// At a server that gives tickets.
    pub(crate) admission: Option<Box<Admission>>,
    pub(crate) tape: Tape,
}

/// What is drawn is noted, or drawn once more: so that the same is said twice, even where the randomness is that of the
/// system.
#[derive(Debug, Default)]
pub(crate) enum Tape {
    #[default]
    None,
    Recording(Vec<u8>),
    /// What is left to be drawn.
    Playing(VecDeque<u8>),
}

impl Lent {
    /// What every session has.
    pub(crate) fn new(random: Stream, date: Duration) -> Lent {
        Lent {
            random,
            date,
            secrets: Vec::new(),
            offered: None,
            received: Vec::new(),
            group: None,
            admission: None,
            tape: Tape::None,
        }
    }
}

thread_local! {
    static SLOT: RefCell<Option<Lent>> = const { RefCell::new(None) };
}

/// Takes back what was lent when the call ends, however it ends.
struct Loan<'a>(&'a mut Option<Lent>);

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        SLOT.with_borrow_mut(|slot| std::mem::swap(slot, self.0));
    }
}

/// Lends `own` while `work` runs.
pub(crate) fn lend<T>(own: &mut Option<Lent>, work: impl FnOnce() -> T) -> T {
    SLOT.with_borrow_mut(|slot| std::mem::swap(slot, own));
    let _loan = Loan(own);
    work()
}

/// What the session at work has; `None` if there is none.
pub(crate) fn with<T>(work: impl FnOnce(&mut Lent) -> T) -> Option<T> {
    SLOT.with_borrow_mut(|slot| slot.as_mut().map(work))
}

/// Fills `bytes` from the stream of the session at work; `false` if there is none.
pub(crate) fn draw(bytes: &mut [u8]) -> bool {
    with(|lent| match &mut lent.tape {
        Tape::None => lent.random.fill(bytes),
        Tape::Recording(drawn) => {
            lent.random.fill(bytes);
            drawn.extend_from_slice(bytes);
        }
        Tape::Playing(left) => {
            let known = left.len().min(bytes.len());
            bytes.iter_mut().zip(left.drain(..known)).for_each(|(byte, drawn)| *byte = drawn);
            lent.random.fill(&mut bytes[known..]);
        }
    })
    .is_some()
}

/// The date of the session at work; `None` if there is none.
pub(crate) fn date() -> Option<Duration> {
    with(|lent| lent.date)
}

/// Notes a secret of the session at work.
pub(crate) fn note(secret: Secret) {
    with(|lent| lent.secrets.push(secret));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(seed: u64) -> Option<Lent> {
        Some(Lent::new(Stream::new(seed, "test"), Duration::from_secs(seed)))
    }
    fn drawn() -> [u8; 8] {
        let mut bytes = [0; 8];
        assert!(draw(&mut bytes));
        bytes
    }

    #[test]
    fn draws_belong_to_the_session_at_work() {
        let (mut one, mut other) = (own(1), own(2));
        let mut interleaved = Vec::new();
        for _ in 0..3 {
            interleaved.push(lend(&mut one, drawn));
            lend(&mut other, drawn);
        }
        let mut alone = own(1);
        assert_eq!(interleaved, [(); 3].map(|()| lend(&mut alone, drawn)));
    }

    #[test]
    fn what_was_recorded_is_drawn_again_and_then_other_numbers() {
        let mut first = own(1);
        if let Some(lent) = &mut first {
            lent.tape = Tape::Recording(Vec::new());
        }
        let [one, two, three] = [(); 3].map(|()| lend(&mut first, drawn));
        let mut lent = first.unwrap();
        let Tape::Recording(mut tape) = std::mem::take(&mut lent.tape) else { panic!() };
        tape.truncate(12);
        lent.tape = Tape::Playing(tape.into());
        let mut again = Some(lent);
        let [same, half, other] = [(); 3].map(|()| lend(&mut again, drawn));
        assert_eq!((same, &half[..4]), (one, &two[..4]));
        assert!(half[4..] != two[4..] && other != three);
    }

    #[test]
    fn nothing_is_drawn_outside_of_a_call() {
        let mut lent = own(1);
        lend(&mut lent, drawn);
        assert!(lent.is_some());
        assert!(!draw(&mut [0; 8]) && date().is_none());
    }

    #[test]
    fn the_date_is_that_of_the_session_at_work() {
        assert_eq!(
            [1, 2].map(|seed| lend(&mut own(seed), date)),
            [1, 2].map(|s| Some(Duration::from_secs(s)))
        );
    }

    #[test]
    fn a_panic_inside_leaves_nothing_behind() {
        let mut lent = own(1);
        let caught =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| lend(&mut lent, || panic!("inside"))));
        assert!(caught.is_err() && lent.is_some() && !draw(&mut [0; 8]));
    }
}
