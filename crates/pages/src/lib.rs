//! Web pages: what one is, and the models and files that pages come from.
//!
//! A page is a plain value ([`Page`]). To add a model: write its file, add its line to [`MODELS`].

mod asked;
mod drawn;
mod file;
pub mod fuzz;
mod har;
mod list;
mod ns3;
mod object;
#[cfg(test)]
mod testing;
mod three_gpp;

pub use drawn::{Laws, Quantity};
pub use file::{MOST_FILE_BYTES, Replay};
pub use object::{After, Kind, MOST_BYTES, MOST_OBJECTS, Object, Page, PageError};

use random::Stream;
use units::Duration;
use units::parameter::{Arguments, Component, Room, Row};

/// Gives pages, one after the other, without end.
pub trait Pages {
    /// The next one. It holds what [`Page::check`] asks for.
    fn next(&mut self) -> Page;
}

/// The option that is wrong, and a sentence about it.
pub type Fault = (&'static str, String);

/// Pages, or why there are none.
pub type Built = Result<Box<dyn Pages>, Fault>;

/// How the pages of a model are made.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    /// What it draws, with its laws; nothing for pages of a file.
    pub laws: fn(&Arguments) -> Result<Laws, Fault>,
    /// The pages; what they draw comes from streams below this one.
    pub pages: fn(&Arguments, &mut Stream) -> Built,
}

/// The models of pages, and the kinds of files.
pub static MODELS: &[Row<Model>] = &[ns3::ROW, three_gpp::ROW, har::ROW, list::ROW];

/// The room of the pages as scenarios and `quiclab list` see it.
pub fn room() -> Room {
    Room::of("pages", "web pages: the objects of a page and what each waits for", MODELS, None)
}

/// Makes the pages of the model of this name; `None` if the table has no such row.
///
/// # Errors
/// The option that is wrong, and what is wrong with it.
pub fn build(
    name: &str,
    arguments: &Arguments,
    stream: &mut Stream,
) -> Option<Result<Box<dyn Pages>, Fault>> {
    model(name).map(|model| (model.pages)(arguments, stream))
}

/// What the model of this name draws, with its laws; `None` if the table has no such row.
///
/// # Errors
/// As [`build`].
pub fn laws(name: &str, arguments: &Arguments) -> Option<Result<Laws, Fault>> {
    model(name).map(|model| (model.laws)(arguments))
}

/// The first `count` numbers of each quantity that pages of these laws draw from this stream, in the order of the laws.
pub fn draws(laws: &Laws, stream: &mut Stream, count: usize) -> Vec<Vec<f64>> {
    let draw = |mut draws: drawn::Draws| (0..count).map(|_| draws.draw()).collect();
    drawn::Draws::of(laws, stream).into_iter().map(draw).collect()
}

/// The pages of a component of this room whose options were checked.
pub fn of(component: &Component, stream: &mut Stream) -> Box<dyn Pages> {
    match build(component.name, &component.arguments, stream) {
        Some(Ok(pages)) => pages,
        // Nothing that `check` lets pass.
        _ => Box::new(file::Replay::new(vec![Page {
            objects: vec![Object::new(Kind::Main, 0)],
            reading: Duration::ZERO,
        }])),
    }
}

/// Whether these options give pages.
///
/// # Errors
/// As [`build`].
pub fn check(name: &str, arguments: &Arguments) -> Result<(), Fault> {
    // Only whether there are some counts, not what is drawn.
    build(name, arguments, &mut Stream::new(0, "pages")).map_or(Ok(()), |pages| pages.map(|_| ()))
}

fn model(name: &str) -> Option<&'static Model> {
    MODELS.iter().find(|row| row.name == name).map(|row| &row.build)
}
