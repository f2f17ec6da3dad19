//! Block errors: which attempts to send a block fail.

use super::harq::Block;
use super::standard::Standard;
use crate::error::BuildError;
use radio::bler;
use random::Generator;
use units::parameter::{Arguments, Options, Room, Row};

/// The options of errors with one probability.
#[derive(Debug, Clone, Options)]
struct TargetOptions {
    /// probability that an attempt fails
    #[option(default = 0.1, probability)]
    bler: f64,
}

/// How blocks fail.
#[derive(Debug, Clone)]
pub(super) enum BlockErrors {
    None,
    /// With one probability for each attempt.
    Target(f64),
    /// By the signal-to-noise ratio of all attempts together.
    Curve,
}

/// The constructor of a row.
type Build = fn(&Arguments) -> BlockErrors;

static BLOCK_ERRORS: &[Row<Build>] = &[
    Row { name: "none", about: "every block is received", parameters: &[], build: |_| BlockErrors::None },
    Row {
        name: "target",
        about: "each attempt fails with the same probability, whatever the channel",
        parameters: TargetOptions::PARAMETERS,
        build: |arguments| BlockErrors::Target(TargetOptions::of(arguments).bler),
    },
    Row {
        name: "curve",
        about: "by the signal-to-noise ratio, which adds up over the attempts (chase combining)",
        parameters: &[],
        build: |_| BlockErrors::Curve,
    },
];

/// The room of block errors.
pub(super) fn room() -> Room {
    let about = "which attempts to send a block of a cell fail";
    Room::of("block_errors", about, BLOCK_ERRORS, Some(("target", "bler")))
}

pub(super) fn build(name: &str, arguments: &Arguments) -> Result<BlockErrors, BuildError> {
    match BLOCK_ERRORS.iter().find(|row| row.name == name) {
        Some(row) => Ok((row.build)(arguments)),
        None => Err(BuildError::Unknown { room: "block_errors", name: name.to_owned() }),
    }
}

impl BlockErrors {
    /// Whether an attempt to send a block fails at this signal-to-noise ratio. Each attempt takes one draw.
    pub(super) fn fails(
        &self,
        sinr_db: impl FnOnce() -> f64,
        standard: Standard,
        block: &mut Block,
        stream: &mut Generator,
    ) -> bool {
        let draw = stream.unit();
        match self {
            BlockErrors::None => false,
            BlockErrors::Target(probability) => draw < *probability,
            BlockErrors::Curve => {
                let now = sinr_db();
                let sinr = if block.attempt == 1 { now } else { bler::combine(block.combined_db, now) };
                block.combined_db = sinr;
                draw < standard.curve(block.mcs, 8 * block.bytes).error_probability(sinr)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chase combining: the powers of all attempts add up.
    #[test]
    fn each_attempt_adds_to_all_before_it() {
        let mut stream = Generator::new(1, "test");
        let mut block = Block { mcs: 10, bytes: 100, ..Block::default() };
        let sum = |db: &[f64]| 10.0 * db.iter().map(|db| 10f64.powf(db / 10.0)).sum::<f64>().log10();
        let attempts = [3.0, -1.0, 5.0, 2.0];
        for (at, db) in attempts.into_iter().enumerate() {
            block.attempt += 1;
            BlockErrors::Curve.fails(|| db, Standard::Lte, &mut block, &mut stream);
            let all = sum(&attempts[..=at]);
            assert!(
                (block.combined_db - all).abs() < 1e-9,
                "{}: {} dB, not {all}",
                at + 1,
                block.combined_db
            );
        }
        // A new block begins anew.
        block.attempt = 1;
        BlockErrors::Curve.fails(|| 4.0, Standard::Lte, &mut block, &mut stream);
        assert_eq!(block.combined_db, 4.0);
    }
}
