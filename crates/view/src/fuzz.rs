//! A fuzzing entry point: any text is read as far as its lines are records, and what was read is put together and packed.
//! The property tests of this crate and the fuzz target call the same function.

use std::sync::Arc;

use crate::{Direction, Log, Reader, pack, shortest};

/// The maximum length of a log: longer ones are slow and find nothing new.
const LONGEST: usize = 100_000;

/// Reads lines as the log of one end, passes over those that are not of the usual form, and shows the log as both ends
/// of a connection; returns how many records were read, and how many were not.
///
/// # Panics
/// If a record that is not read leaves something in the log, or columns disagree about the number of packets.
pub fn records(text: &[u8]) -> (usize, usize) {
    if text.len() > LONGEST {
        return (0, 0);
    }
    let (mut log, mut reader) = (Log::default(), Reader::new(text.len() % 2 == 1, 0));
    let (mut read, mut odd) = (0, 0);
    let mut rest = text;
    loop {
        let fed = reader.feed(&mut log, rest);
        read += fed.lines;
        rest = &rest[fed.bytes..];
        if !fed.is_stuck {
            break;
        }
        odd += 1;
        let before = (log.sent.len(), log.received.len(), log.gauge_values());
        let end = rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |end| end + 1);
        let line = &rest[..end];
        assert!(reader.feed(&mut log, line).is_stuck);
        assert_eq!((log.sent.len(), log.received.len(), log.gauge_values()), before);
        rest = &rest[end..];
    }
    let (start, end) = log.span().unwrap_or_default();
    let log = Arc::new(log);
    let _ = shortest(&log, &log);
    let both = [(Some(&log), Some(&log)), (Some(&log), None), (None, Some(&log))];
    for (sender, receiver) in both {
        let direction = Direction::new(sender.cloned(), receiver.cloned(), end);
        let packed = pack::pack(&direction, start);
        assert!(packed.columns.iter().take(8).all(|column| column.count == direction.len()));
        (0..direction.len()).for_each(|row| drop((direction.packet(row), direction.trigger(row))));
    }
    (read, odd)
}
