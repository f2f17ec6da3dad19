//! Web pages: their representation, and the models and files that they come from.
//!
//! A page is a plain value ([`Page`]). To add a model: write its file, add its line to [`MODELS`].

mod drawn;
mod file;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod har;
mod list;
mod ns3;
mod object;
mod request_options;
#[cfg(test)]
mod testing;
mod three_gpp;

pub use drawn::{Laws, Quantity};
pub use file::{MAX_FILE_BYTES, Replay};
pub use object::{After, Kind, MAX_BYTES, MAX_OBJECTS, Object, Page, PageError};

use random::Generator;
use std::sync::Arc;
use units::Duration;
use units::parameter::{Arguments, Component, Room, Row};

/// An endless source of pages.
pub trait Pages {
    /// The next page, which satisfies [`Page::check`].
    fn next(&mut self) -> Page;
    /// The hosts that any of its objects come from, in the order in which pages name them; empty for pages of a model.
    fn hosts(&self) -> Vec<Arc<str>> {
        Vec::new()
    }
}

/// The option at fault, and a description.
pub type Fault = (&'static str, String);

/// Pages, or the reason why there are none.
pub type Built = Result<Box<dyn Pages>, Fault>;

/// The constructors of a model.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    /// The random quantities and their laws; empty for pages from a file.
    pub laws: fn(&Arguments) -> Result<Laws, Fault>,
    /// Builds the pages. Random numbers come from streams derived from the given one.
    pub pages: fn(&Arguments, &mut Generator) -> Built,
    /// What a user should know about the files of valid options, such as what was left out of them.
    pub notes: fn(&Arguments) -> Vec<String>,
}

/// The models of pages, and the kinds of files.
pub static MODELS: &[Row<Model>] = &[ns3::ROW, three_gpp::ROW, har::ROW, list::ROW];

/// The table of page models for scenarios and `quiclab list`.
pub fn room() -> Room {
    Room::of("pages", "web pages: the objects of a page and what each waits for", MODELS, None)
        .checked_by(check)
}

/// Builds the pages of the model with this name; `None` if there is no such row.
///
/// # Errors
/// The option at fault, and a description.
pub fn build(
    name: &str,
    arguments: &Arguments,
    stream: &mut Generator,
) -> Option<Result<Box<dyn Pages>, Fault>> {
    model(name).map(|model| (model.pages)(arguments, stream))
}

/// The random quantities of the model with this name, and their laws; `None` if there is no such row.
///
/// # Errors
/// See [`build`].
pub fn laws(name: &str, arguments: &Arguments) -> Option<Result<Laws, Fault>> {
    model(name).map(|model| (model.laws)(arguments))
}

/// The first `count` numbers of each quantity that pages with these laws draw from this stream, in the order of the
/// laws.
pub fn draws(laws: &Laws, stream: &mut Generator, count: usize) -> Vec<Vec<f64>> {
    let draw = |mut draws: drawn::Draws| (0..count).map(|_| draws.draw()).collect();
    drawn::Draws::of(laws, stream).into_iter().map(draw).collect()
}

/// The pages of a component of this table whose options were checked.
pub fn of(component: &Component, stream: &mut Generator) -> Box<dyn Pages> {
    match build(component.name, &component.arguments, stream) {
        Some(Ok(pages)) => pages,
        // An unreachable fallback: `check` rejects such options.
        _ => Box::new(file::Replay::new(vec![Page {
            objects: vec![Object::new(Kind::Main, 0)],
            reading: Duration::ZERO,
        }])),
    }
}

/// Checks whether these options give pages.
///
/// # Errors
/// See [`build`].
pub fn check(name: &str, arguments: &Arguments) -> Result<(), Fault> {
    // Only the existence of the pages matters, not the random numbers.
    build(name, arguments, &mut Generator::new(0, "pages")).map_or(Ok(()), |pages| pages.map(|_| ()))
}

/// What a user should know about the files of a component of this room.
pub fn notes(component: &Component) -> Vec<String> {
    model(component.name).map_or_else(Vec::new, |model| (model.notes)(&component.arguments))
}

fn model(name: &str) -> Option<&'static Model> {
    MODELS.iter().find(|row| row.name == name).map(|row| &row.build)
}
