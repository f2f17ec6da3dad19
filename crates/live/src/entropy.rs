//! Random numbers of the operating system: there is no seed on the wire.

use random::{Generator, Source};
use std::io;

/// The generator of the operating system.
#[derive(Debug)]
struct System;

impl Source for System {
    /// # Panics
    /// If the system's generator fails after it has worked: nothing that needs a secret can continue then.
    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system's random numbers, which were there before");
    }
}

/// A stream of the operating system's random numbers, suitable for keys.
///
/// # Errors
/// If the system provides none.
pub fn system_random() -> io::Result<Generator> {
    getrandom::fill(&mut [0; 8]).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(Generator::foreign(&System))
}

/// A random 64-bit number.
///
/// # Errors
/// If the system provides none.
pub(crate) fn unique() -> io::Result<u64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(u64::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_draws_are_equal() {
        let mut stream = system_random().unwrap();
        let mut fork = stream.fork("part");
        assert_ne!((stream.bits(), stream.bits()), (fork.bits(), fork.bits()));
    }
}
