//! The download progress of page objects. The objects of a stream follow each other without separators.

use pages::{Kind as ObjectKind, Object, Page};
use std::collections::VecDeque;
use transport::{Load, ObjectLoad, PageLoad};
use units::Time;
use wire::StreamId;

/// The number of streams per page.
pub(super) const STREAMS: usize = 2;

/// The index of the stream that carries an object: 0 or 1.
pub(super) fn stream_of(object: &Object, threshold: u64) -> usize {
    usize::from(object.kind == ObjectKind::Embedded && object.bytes >= threshold)
}

/// The objects of all requested pages in order.
#[derive(Debug, Default)]
pub(super) struct Loading {
    load: Load,
    /// The incomplete objects on each stream of the current page: their index, and the missing bytes.
    missing: [VecDeque<(usize, u64)>; STREAMS],
    /// The sum of bytes times their arrival time in nanoseconds, for the current page.
    byte_times: u128,
}

impl Loading {
    /// A page is requested; its streams have these urgencies.
    pub(super) fn begin(&mut self, now: Time, page: &Page, threshold: u64, urgencies: [u8; STREAMS]) {
        self.missing.iter_mut().for_each(VecDeque::clear);
        self.byte_times = 0;
        let number = self.load.pages.len();
        for (place, object) in page.objects.iter().enumerate() {
            let which = stream_of(object, threshold);
            self.missing[which].push_back((self.load.objects.len(), object.bytes));
            self.load.objects.push(ObjectLoad {
                page: number,
                object: place,
                connection: 0,
                stream: None,
                bytes: 0,
                urgency: urgencies[which],
                requestable_at: Some(now),
                requested_at: Some(now),
                first_at: None,
                complete_at: None,
            });
        }
        self.load.pages.push(PageLoad {
            objects: (page.objects.len(), 0),
            started_at: Some(now),
            complete_at: None,
            mean_byte_at: None,
        });
    }

    /// `bytes` bytes arrived on `stream`, which is the stream with index `which` of the page.
    pub(super) fn on_bytes(&mut self, now: Time, stream: StreamId, which: usize, mut bytes: u64) {
        let Some(page) = self.load.pages.last_mut() else { return };
        while let Some((place, missing)) = self.missing[which].front_mut() {
            let object = &mut self.load.objects[*place];
            let taken = bytes.min(*missing);
            *missing -= taken;
            bytes -= taken;
            object.bytes += taken;
            self.byte_times += u128::from(taken) * u128::from(now.as_nanos());
            if taken > 0 || *missing == 0 {
                object.stream = Some(stream.value());
                object.first_at.get_or_insert(now);
            }
            if *missing > 0 {
                return;
            }
            object.complete_at = Some(now);
            page.objects.1 += 1;
            self.missing[which].pop_front();
        }
        if page.objects.0 == page.objects.1 && page.complete_at.is_none() {
            page.complete_at = Some(now);
            let of_page = self.load.objects.iter().rev().take(page.objects.0);
            let bytes: u64 = of_page.map(|object| object.bytes).sum();
            let mean = self.byte_times.checked_div(bytes.into());
            page.mean_byte_at = mean.map(|mean| Time::from_nanos(mean as u64));
        }
    }

    /// The page loads so far, with `left` unrequested pages appended.
    pub(super) fn load(&self, left: u64) -> Load {
        let unknown = PageLoad { objects: (0, 0), started_at: None, complete_at: None, mean_byte_at: None };
        let mut load = self.load.clone();
        load.pages.extend((0..left).map(|_| unknown));
        load
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pages::Kind;
    use units::Duration;
    use wire::{Direction, Side};

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// Three objects of 100, 0 and 50 bytes on the first stream, one of 1000 on the second.
    #[test]
    fn stream_bytes_belong_to_the_objects_in_order() {
        let sizes = [(Kind::Main, 100), (Kind::Embedded, 1000), (Kind::Embedded, 0), (Kind::Embedded, 50)];
        let objects = sizes.map(|(kind, bytes)| Object::new(kind, bytes)).to_vec();
        let page = Page { objects, reading: Duration::ZERO };
        let mut loading = Loading::default();
        loading.begin(at(5), &page, 1000, [0, 1]);
        let stream = |index| StreamId::new(Side::Server, Direction::Unidirectional, index);
        for (ms, which, bytes) in [(10, 0, 60), (20, 1, 400), (30, 0, 65), (40, 0, 25), (70, 1, 600)] {
            assert_eq!(loading.load(0).pages[0].complete_at, None, "{ms}");
            loading.on_bytes(at(ms), stream(which as u64), which, bytes);
        }
        let load = loading.load(2);
        let times: Vec<_> = load.objects.iter().map(|object| (object.first_at, object.complete_at)).collect();
        let pair = |first, complete| (Some(at(first)), Some(at(complete)));
        assert_eq!(times, [pair(10, 30), pair(20, 70), pair(30, 30), pair(30, 40)]);
        let loaded: Vec<_> =
            load.objects.iter().map(|object| (object.stream, object.bytes, object.urgency)).collect();
        assert_eq!(loaded, [(Some(3), 100, 0), (Some(7), 1000, 1), (Some(3), 0, 0), (Some(3), 50, 0)]);
        assert!(load.objects.iter().all(|object| object.requested_at == Some(at(5))));
        // (60 x 10 + 65 x 30 + 25 x 40 + 400 x 20 + 600 x 70) / 1150 = 46.56 ms.
        let mean = load.pages[0].mean_byte_at.unwrap().as_secs_f64();
        assert!((mean - 53.55 / 1150.0).abs() < 1e-9, "{mean}");
        assert_eq!((load.pages[0].objects, load.pages[0].complete_at), ((4, 4), Some(at(70))));
        assert_eq!((load.pages.len(), load.pages[2].started_at), (3, None));
    }

    #[test]
    fn missing_objects_are_not_complete() {
        let page = Page { objects: vec![Object::new(Kind::Main, 100)], reading: Duration::ZERO };
        let mut loading = Loading::default();
        let stream = StreamId::new(Side::Server, Direction::Unidirectional, 0);
        loading.begin(at(5), &page, 1000, [3, 3]);
        loading.on_bytes(at(6), stream, 0, 99);
        let load = loading.load(0);
        assert_eq!((load.objects[0].bytes, load.objects[0].complete_at), (99, None));
        assert_eq!((load.pages[0].objects, load.pages[0].complete_at), ((1, 0), None));
    }
}
