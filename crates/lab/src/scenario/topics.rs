//! The topics of `quiclab list`: the rooms by subject, in the order in which people see them, and the pages that describe
//! their components.

use super::place::is_outside;
use units::parameter::Room;

/// What is known of a room beside its components.
pub(super) struct Topic {
    /// The name of the room.
    room: &'static str,
    /// The heading that it stands under.
    pub(super) subject: &'static str,
    page: Page,
}

/// The page of `docs/model/` that describes a component.
enum Page {
    /// None: the reference of scenarios does.
    None,
    /// One page for the whole room.
    One(&'static str),
    /// A page for each component, with its name behind this.
    Each(&'static str),
}

/// Components with a page of their own, in rooms with one for all: room, component, page.
const OWN_PAGES: [(&str, &str, &str); 4] = [
    ("media", "lte", "cell"),
    ("media", "nr", "cell"),
    ("media", "wlan", "wlan"),
    ("kinds", "gate", "gates"),
];

const fn topic(subject: &'static str, room: &'static str, page: Page) -> Topic {
    Topic { room, subject, page }
}

/// All of them.
const TOPICS: [Topic; 32] = [
    topic("Scenarios", "sections", Page::None),
    topic("Scenarios", "events", Page::One("events")),
    topic("Hosts", "kinds", Page::One("middleboxes")),
    topic("Hosts", "middleboxes", Page::One("middleboxes")),
    topic("Hosts", "sides", Page::One("pep")),
    topic("Hosts", "stacks", Page::One("stacks")),
    topic("Hosts", "processing", Page::One("processing")),
    topic("Transport", "controllers", Page::Each("")),
    topic("Transport", "schedulers", Page::Each("scheduler-")),
    topic("Transport", "resumptions", Page::One("resume")),
    topic("Transport", "tcp_resumptions", Page::One("resume")),
    topic("Links", "rates", Page::One("link")),
    topic("Links", "offsets", Page::One("link")),
    topic("Links", "queues", Page::Each("")),
    topic("Links", "losses", Page::One("loss")),
    topic("Links", "jitters", Page::One("jitter")),
    topic("Links", "series", Page::One("satellite")),
    topic("Links", "presets", Page::One("satellite")),
    topic("Wireless", "media", Page::One("media")),
    topic("Wireless", "channels", Page::One("cell")),
    topic("Wireless", "block_errors", Page::One("cell")),
    topic("Wireless", "cell_schedulers", Page::One("cell")),
    topic("Wireless", "handovers", Page::One("cell")),
    topic("Wireless", "frame_errors", Page::One("wlan")),
    topic("Wireless", "rate_controls", Page::One("wlan")),
    topic("Traffic", "applications", Page::One("applications")),
    topic("Traffic", "pages", Page::One("pages")),
    topic("Traffic", "presentations", Page::One("presentations")),
    topic("Traffic", "abrs", Page::One("abr")),
    topic("Traffic", "sources", Page::One("cross-traffic")),
    topic("Traffic", "changes", Page::One("applications")),
    topic("Traffic", "visits", Page::One("hosts")),
];

impl Topic {
    /// The page that describes a component; `None` if there is none.
    pub(super) fn page_of(&self, component: &str) -> Option<String> {
        if is_outside(component) {
            return None;
        }
        let own = OWN_PAGES.iter().find(|(room, of, _)| (*room, *of) == (self.room, component));
        let page = match (own, &self.page) {
            (Some((_, _, page)), _) | (None, Page::One(page)) => (*page).to_owned(),
            (None, Page::Each(before)) => format!("{before}{component}"),
            (None, Page::None) => return None,
        };
        Some(format!("docs/model/{page}.md"))
    }
}

/// The rooms with their topics, in the order of the topics.
///
/// # Panics
/// If a room has no topic, or a topic no room.
pub(super) fn by_topic(rooms: Vec<Room>) -> Vec<(&'static Topic, Room)> {
    assert_eq!(rooms.len(), TOPICS.len(), "each room has one topic");
    let place = |room: &Room| {
        let place = TOPICS.iter().position(|topic| topic.room == room.name);
        place.unwrap_or_else(|| panic!("the room {} has its topic in TOPICS", room.name))
    };
    let mut rooms: Vec<_> = rooms.into_iter().map(|room| (place(&room), room)).collect();
    rooms.sort_by_key(|(place, _)| *place);
    rooms.into_iter().map(|(place, room)| (&TOPICS[place], room)).collect()
}
