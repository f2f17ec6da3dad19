//! What became of the objects of a client, and of its pages.

use super::{Fetched, Fetches};
use units::Time;

/// An object as its client saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectLoad {
    /// The page that it is of, from 0 on.
    pub page: usize,
    /// Its place in the page, from 0 on.
    pub object: usize,
    /// The stream of the protocol that it was asked for on, the last one if it was asked for again: that of HTTP/3 or
    /// hq-interop, that of HTTP/2, under HTTP/1.1 that of the connection.
    pub stream: Option<u64>,
    /// Bytes of its content that came.
    pub bytes: u64,
    /// Its urgency (RFC 9218 section 4.1).
    pub urgency: u8,
    /// When it could have been asked for, but for limits of the protocol or of the client.
    pub wanted_at: Option<Time>,
    /// When it was asked for.
    pub asked_at: Option<Time>,
    /// When the response began to come.
    pub first_at: Option<Time>,
    /// When all of it had come.
    pub complete_at: Option<Time>,
}

/// A page as its client saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLoad {
    /// Its objects, and how many of them are complete.
    pub objects: (usize, usize),
    /// When it began.
    pub begun_at: Option<Time>,
    /// When its last object was complete, if all are.
    pub complete_at: Option<Time>,
    /// The mean over its bytes of the time at which they came, if all did: less the beginning it is the byte index, the
    /// integral over time of the share of the bytes that are still to come.
    pub mean_byte_at: Option<Time>,
}

/// What became of all objects and pages of a client.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Load {
    /// The objects, page by page.
    pub objects: Vec<ObjectLoad>,
    /// The pages.
    pub pages: Vec<PageLoad>,
}

impl Load {
    /// That of these requests, so far.
    pub(crate) fn of(fetches: &Fetches) -> Load {
        let order = fetches.order();
        let object = |(index, result): (usize, &Fetched)| {
            let page = order.part_of(index);
            ObjectLoad {
                page,
                object: index - order.parts().get(page).map_or(0, |part| part.requests.start),
                stream: result.stream,
                bytes: result.bytes,
                urgency: fetches.request(index).priority.urgency,
                wanted_at: order.wanted_at(index),
                asked_at: result.asked_at,
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
                begun_at: order.begun_at(number),
                complete_at: complete.into_iter().max().filter(|_| all),
                mean_byte_at: mean.filter(|_| all),
            }
        };
        let pages = order.parts().iter().enumerate().map(page).collect();
        Load { objects, pages }
    }
}
