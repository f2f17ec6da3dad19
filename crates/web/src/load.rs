//! The download results of a client's objects and pages.

use super::{Fetched, Fetches};
use transport::{Load, ObjectLoad, PageLoad};
use units::Time;

/// The results so far for the objects of these requests, and for their pages.
pub(crate) fn load(fetches: &Fetches) -> Load {
    let order = fetches.order();
    let object = |(index, result): (usize, &Fetched)| {
        let page = order.part_of(index);
        ObjectLoad {
            page,
            object: index - order.parts().get(page).map_or(0, |part| part.requests.start),
            stream: result.stream,
            bytes: result.bytes,
            urgency: fetches.request(index).priority.urgency,
            requestable_at: order.requestable_at(index),
            requested_at: result.requested_at,
            first_at: result.first_at,
            complete_at: result.finished_at.filter(|_| result.is_complete()),
        }
    };
    let objects: Vec<ObjectLoad> = fetches.results().iter().enumerate().map(object).collect();
    let page = |(number, part): (usize, &super::Part)| {
        let objects = &objects[part.requests.clone()];
        let complete: Vec<Time> = objects.iter().filter_map(|object| object.complete_at).collect();
        let all = complete.len() == objects.len();
        let bytes: u64 = objects.iter().map(|object| object.bytes).sum();
        let sum = fetches.byte_times().get(number).copied().unwrap_or(0);
        let mean = sum.checked_div(bytes.into()).map(|mean| Time::from_nanos(mean as u64));
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
