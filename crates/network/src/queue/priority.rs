//! Strict priority: a packet is sent only if none of a higher class waits.

use super::fifo::Fifo;
use super::{Bound, LinkProperties, Queue, QueueError, Report, Waiting};
use crate::count::Count;
use crate::packet::Packet;
use units::Time;
use units::parameter::{Limit, Options, Row};

/// The options of priority queues.
#[derive(Debug, Clone, Options)]
struct PriorityOptions {
    /// names of flows and of cross traffic, one list per class, the highest first; all others form one more
    /// class, the last
    classes: Vec<Vec<String>>,
    /// limit of each class
    #[option(default = "1 BDP")]
    limit: Limit,
}

/// The maximum number of classes.
const MAX_CLASSES: usize = 16;

pub(crate) const ROW: Row<super::Build> = Row {
    name: "priority",
    about: "strict priority of classes, each first in, first out: a class is served only while all above it are empty",
    parameters: PriorityOptions::PARAMETERS,
    build: &|arguments, setup, _| {
        Ok(Waiting::Other(Box::new(Priority::new(&PriorityOptions::of(arguments), setup)?)))
    },
};

struct Priority {
    /// The class of each flow by its number; further flows are of the last class.
    class_of: Vec<u8>,
    classes: Vec<Fifo>,
    bound: Bound,
    waiting: Count,
}

impl Priority {
    fn new(options: &PriorityOptions, setup: LinkProperties<'_>) -> Result<Priority, QueueError> {
        let lists = &options.classes;
        if lists.len() >= MAX_CLASSES {
            return Err(QueueError::TooManyClasses(MAX_CLASSES - 1));
        }
        let last = lists.len() as u8;
        let mut class_of = Vec::new();
        for (class, names) in (0..).zip(lists) {
            for name in names {
                let mut numbers = setup.flows.iter().filter(|(known, _)| known == name).peekable();
                if numbers.peek().is_none() {
                    return Err(QueueError::NoFlow(name.clone()));
                }
                for number in numbers.map(|(_, number)| *number as usize) {
                    if class_of.len() <= number {
                        class_of.resize(number + 1, last);
                    }
                    class_of[number] = class;
                }
            }
        }
        assert!(class_of.iter().all(|class| *class <= last), "each flow is in a class that exists");
        Ok(Priority {
            class_of,
            classes: std::iter::repeat_with(Fifo::default).take(lists.len() + 1).collect(),
            bound: Bound::new(options.limit, setup),
            waiting: Count::default(),
        })
    }
}

impl Queue for Priority {
    fn enqueue(&mut self, _now: Time, packet: Box<Packet>, report: &mut Report) {
        let last = self.classes.len() - 1;
        let class = self.class_of.get(packet.flow as usize).map_or(last, |class| usize::from(*class));
        let size = packet.size;
        if self.classes[class].offer(self.bound, packet, report) {
            self.waiting.add(size);
        }
    }
    fn dequeue(&mut self, _now: Time, _report: &mut Report) -> Option<Box<Packet>> {
        let packet = self.classes.iter_mut().find_map(Fifo::pop)?;
        self.waiting.remove(packet.size);
        Some(packet)
    }
    fn pass(&mut self, _now: Time, packet: Box<Packet>, _report: &mut Report) -> Option<Box<Packet>> {
        Some(packet)
    }
    fn waiting(&self) -> Count {
        self.waiting
    }
    fn each(&self, show: &mut dyn FnMut(&Packet)) {
        self.classes.iter().for_each(|class| class.each(show));
    }
    fn check(&self) {
        let mut waiting = Count::default();
        for class in &self.classes {
            class.check();
            self.bound.check(class.waiting());
            waiting = waiting + class.waiting();
        }
        assert_eq!(waiting, self.waiting, "all waiting packets are those of the classes");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::testing::{SETUP, at, drain, packet};

    fn priority(classes: &[&[&str]]) -> Result<Priority, QueueError> {
        let flows = ["call", "call", "film", "film", "noise"].map(str::to_owned);
        let flows: Vec<(String, u32)> = flows.into_iter().zip(0..).collect();
        let classes = classes.iter().map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        let options = PriorityOptions { classes: classes.collect(), limit: Limit::Packets(2) };
        Priority::new(&options, LinkProperties { flows: &flows, ..SETUP })
    }

    #[test]
    fn higher_classes_go_first_and_each_has_its_own_limit() {
        let mut queue = priority(&[&["call"], &["film"]]).unwrap();
        let mut report = Report::default();
        for flow in [4, 77, 4, 2, 3, 2, 0, 1, 1] {
            queue.enqueue(at(0), packet(flow, 1500), &mut report);
        }
        assert_eq!(report.dropped.iter().map(|packet| packet.flow).collect::<Vec<_>>(), [4, 2, 1]);
        assert_eq!(queue.waiting(), Count { packets: 6, bytes: 9000 });
        assert_eq!(drain(&mut queue, at(0)), [0, 1, 2, 3, 4, 77]);
    }

    #[test]
    fn unknown_names_and_too_many_classes_are_refused() {
        assert_eq!(priority(&[&["cal"]]).err(), Some(QueueError::NoFlow("cal".to_owned())));
        assert_eq!(priority(&[[].as_slice(); 16]).err(), Some(QueueError::TooManyClasses(15)));
        assert!(priority(&[[].as_slice(); 15]).is_ok());
    }
}
