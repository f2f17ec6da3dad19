//! The download results of a client's objects and pages.

use super::{Fetched, Order, Part};
use transport::{Load, ObjectLoad, PageLoad};
use units::Time;

/// An object as far as it is loaded.
pub(crate) struct Loaded<'l> {
    /// The connection that carries it.
    pub connection: usize,
    /// The urgency of its request.
    pub urgency: u8,
    /// The result of its request so far.
    pub result: &'l Fetched,
}

/// The results so far for the objects of the requests in this order, and for their pages.
pub(crate) fn load<'l>(order: &Order, objects: impl Iterator<Item = Loaded<'l>>) -> Load {
    let mut byte_times = vec![0; order.parts().len()];
    let object = |(index, Loaded { connection, urgency, result }): (usize, Loaded<'_>)| {
        let page = order.part_of(index);
        if let Some(sum) = byte_times.get_mut(page) {
            *sum += result.byte_times;
        }
        ObjectLoad {
            page,
            object: index - order.parts().get(page).map_or(0, |part| part.requests.start),
            connection,
            stream: result.stream,
            bytes: result.bytes,
            urgency,
            requestable_at: order.requestable_at(index),
            requested_at: result.requested_at,
            first_at: result.first_at,
            complete_at: result.finished_at.filter(|_| result.is_complete()),
        }
    };
    let objects: Vec<ObjectLoad> = objects.enumerate().map(object).collect();
    let page = |(number, part): (usize, &Part)| {
        let objects = &objects[part.requests.clone()];
        let complete: Vec<Time> = objects.iter().filter_map(|object| object.complete_at).collect();
        let all = complete.len() == objects.len();
        let bytes: u64 = objects.iter().map(|object| object.bytes).sum();
        let mean =
            byte_times[number].checked_div(bytes.into()).map(|mean: u128| Time::from_nanos(mean as u64));
        PageLoad {
            objects: (objects.len(), complete.len()),
            started_at: order.started_at(number),
            complete_at: complete.into_iter().max().filter(|_| all),
            mean_byte_at: mean.filter(|_| all),
        }
    };
    let pages = order.parts().iter().enumerate().map(page).collect();
    Load { objects, pages }
}
