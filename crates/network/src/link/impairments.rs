//! Impairments of a packet after its transmission: loss, alteration, duplication, jitter.
//!
//! Each of the four has its own random stream and draws for every transmitted packet, regardless of the others.
//! The fate of the n-th packet under one of them is therefore the same with and without the others.

use crate::books::Ledger;
use crate::direction::DirectionOptions;
use crate::error::BuildError;
use crate::jitter::{self, Jitter};
use crate::loss::{self, Loss};
use crate::packet::Packet;
use crate::series::Playback;
use random::Generator;
use units::Time;
use wire::Damage;

/// The fate of one packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Fate {
    pub(super) lost: bool,
    pub(super) altered: bool,
    pub(super) twice: bool,
    /// The shift of its delay in nanoseconds.
    pub(super) shift: i64,
}

pub(super) struct Impairments {
    loss: Option<Box<dyn Loss>>,
    jitter: Option<Box<dyn Jitter>>,
    corrupt: Option<Chance>,
    duplicate: Option<Chance>,
    /// Selects the altered byte and its value, if packets are altered.
    places: Option<Generator>,
    /// The copies, by flow.
    pub(super) copied: Ledger,
}

struct Chance {
    probability: f64,
    stream: Generator,
}

impl Chance {
    fn new(probability: f64, stream: Generator) -> Option<Chance> {
        (probability > 0.0).then_some(Chance { probability, stream })
    }
    fn draw(&mut self) -> bool {
        self.stream.chance(self.probability)
    }
}

/// The sum of two shifts.
struct Both([Box<dyn Jitter>; 2]);

impl Jitter for Both {
    fn shift(&mut self, done: Time) -> i64 {
        let [one, other] = &mut self.0;
        one.shift(done).saturating_add(other.shift(done))
    }
    fn check(&self) {
        self.0.iter().for_each(|jitter| jitter.check());
    }
}

impl Impairments {
    /// The impairments of the options. A series can add a delay over time, and replace the loss. `stream` returns the stream
    /// for a purpose. `None` if there are no impairments.
    pub(super) fn new(
        direction: &DirectionOptions,
        series: Playback,
        stream: impl Fn(&str) -> Generator,
    ) -> Result<Option<Box<Impairments>>, BuildError> {
        let (loss, jitter) = (&direction.loss, &direction.jitter);
        let corrupt = Chance::new(direction.corrupt, stream("corrupt"));
        let jitter = jitter::build(jitter.name, &jitter.arguments, stream("jitter"))?;
        let all = Impairments {
            loss: match series.loss {
                Some(loss) => loss,
                None => loss::build(loss.name, &loss.arguments, stream("loss"))?,
            },
            jitter: match (jitter, series.shift) {
                (Some(jitter), Some(shift)) => Some(Box::new(Both([jitter, shift]))),
                (jitter, shift) => jitter.or(shift),
            },
            duplicate: Chance::new(direction.duplicate, stream("duplicate")),
            places: corrupt.is_some().then(|| stream("corrupt place")),
            corrupt,
            copied: Ledger::default(),
        };
        let any =
            all.loss.is_some() || all.jitter.is_some() || all.corrupt.is_some() || all.duplicate.is_some();
        Ok(any.then(|| Box::new(all)))
    }

    /// Whether the delay changes from packet to packet.
    pub(super) fn jitters(&self) -> bool {
        self.jitter.is_some()
    }

    /// Draws the fate of the packet whose transmission ends at `done`.
    pub(super) fn judge(&mut self, done: Time, packet: &Packet) -> Fate {
        let fate = Fate {
            lost: loss::loses(self.loss.as_mut(), done, packet),
            altered: self.corrupt.as_mut().is_some_and(Chance::draw),
            twice: self.duplicate.as_mut().is_some_and(Chance::draw),
            shift: self.jitter.as_mut().map_or(0, |jitter| jitter.shift(done)),
        };
        if cfg!(debug_assertions) {
            self.jitter.iter().for_each(|jitter| jitter.check());
        }
        fate
    }

    /// Alters one byte of the payload to a different value; returns `false` if there is no byte.
    pub(super) fn alter(&mut self, packet: &mut Packet) -> bool {
        packet.write_out();
        let length = packet.bytes.len() as u64;
        if length == 0 {
            return false;
        }
        let places = self.places.as_mut().expect("what alters packets draws the places");
        let place = places.below(length);
        packet.bytes[place as usize] ^= 1 + places.below(255) as u8;
        let damage = Damage { first: place as u32, last: place as u32 };
        packet.note_damage(damage);
        true
    }
}
