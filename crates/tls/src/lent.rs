//! The state that a session lends to its thread while it calls the TLS library: its random stream, its key log, the
//! date, and the tickets that it may use or has received.
//!
//! rustls obtains random bytes and key shares from `&'static` objects, and its key log from the configuration that
//! all sessions of a context share. Here, every draw must come from the stream of its own connection, or an
//! additional connection would change the bytes of all others. So a session puts its state into a slot of this thread
//! before each call into rustls and takes it back afterwards. Outside of such a call the slot is empty and a draw
//! fails.

use crate::key_log::Secret;
use crate::store::Admission;
use random::Generator;
use rustls::NamedGroup;
use rustls::client::Tls13ClientSessionValue;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::Duration;

/// The state that is lent.
#[derive(Debug)]
pub(crate) struct LentState {
    pub(crate) random: Generator,
    /// The date, as time since 1970.
    pub(crate) date: Duration,
    /// Secrets logged since they were last taken.
    pub(crate) secrets: Vec<Secret>,
    /// At a client: the ticket that it offers.
    pub(crate) offered: Option<Tls13ClientSessionValue>,
    /// At a client: received tickets that were not taken yet.
    pub(crate) received: Vec<Tls13ClientSessionValue>,
    /// At a client: the group that the server chose.
    pub(crate) group: Option<NamedGroup>,
    /// At a server that issues tickets.
    pub(crate) admission: Option<Box<Admission>>,
    pub(crate) tape: Tape,
}

/// Records draws or replays them, so that a session can repeat its message even with randomness of the operating
/// system.
#[derive(Debug, Default)]
pub(crate) enum Tape {
    #[default]
    None,
    Recording(Vec<u8>),
    /// The bytes left to replay.
    Replaying(VecDeque<u8>),
}

impl LentState {
    /// The state of a new session.
    pub(crate) fn new(random: Generator, date: Duration) -> LentState {
        LentState {
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
    static SLOT: RefCell<Option<LentState>> = const { RefCell::new(None) };
}

/// Returns the state to its session when the call ends, even by a panic.
struct Loan<'a>(&'a mut Option<LentState>);

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        SLOT.with_borrow_mut(|slot| std::mem::swap(slot, self.0));
    }
}

/// Lends `own` to this thread while `work` runs.
pub(crate) fn lend<T>(own: &mut Option<LentState>, work: impl FnOnce() -> T) -> T {
    SLOT.with_borrow_mut(|slot| std::mem::swap(slot, own));
    let _loan = Loan(own);
    work()
}

/// Runs `work` on the state of the active session; `None` if there is none.
pub(crate) fn with<T>(work: impl FnOnce(&mut LentState) -> T) -> Option<T> {
    SLOT.with_borrow_mut(|slot| slot.as_mut().map(work))
}

/// Fills `bytes` from the stream of the active session; `false` if there is none.
pub(crate) fn draw(bytes: &mut [u8]) -> bool {
    with(|lent| match &mut lent.tape {
        Tape::None => lent.random.fill(bytes),
        Tape::Recording(drawn) => {
            lent.random.fill(bytes);
            drawn.extend_from_slice(bytes);
        }
        Tape::Replaying(left) => {
            let known = left.len().min(bytes.len());
            bytes.iter_mut().zip(left.drain(..known)).for_each(|(byte, drawn)| *byte = drawn);
            lent.random.fill(&mut bytes[known..]);
        }
    })
    .is_some()
}

/// The date of the active session; `None` if there is none.
pub(crate) fn date() -> Option<Duration> {
    with(|lent| lent.date)
}

/// Logs a secret of the active session.
pub(crate) fn note(secret: Secret) {
    with(|lent| lent.secrets.push(secret));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(seed: u64) -> Option<LentState> {
        Some(LentState::new(Generator::new(seed, "test"), Duration::from_secs(seed)))
    }
    fn drawn() -> [u8; 8] {
        let mut bytes = [0; 8];
        assert!(draw(&mut bytes));
        bytes
    }

    #[test]
    fn draws_belong_to_the_active_session() {
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
    fn recorded_draws_are_replayed_before_new_ones() {
        let mut first = own(1);
        if let Some(lent) = &mut first {
            lent.tape = Tape::Recording(Vec::new());
        }
        let [one, two, three] = [(); 3].map(|()| lend(&mut first, drawn));
        let mut lent = first.unwrap();
        let Tape::Recording(mut tape) = std::mem::take(&mut lent.tape) else { panic!() };
        tape.truncate(12);
        lent.tape = Tape::Replaying(tape.into());
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
    fn the_date_is_that_of_the_active_session() {
        assert_eq!(
            [1, 2].map(|seed| lend(&mut own(seed), date)),
            [1, 2].map(|s| Some(Duration::from_secs(s)))
        );
    }

    #[test]
    fn a_panic_empties_the_slot() {
        let mut lent = own(1);
        let caught =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| lend(&mut lent, || panic!("inside"))));
        assert!(caught.is_err() && lent.is_some() && !draw(&mut [0; 8]));
    }
}
