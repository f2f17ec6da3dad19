//! The controllers that are not the default one, each with a bulk transfer under it.

use super::varied::Varied;

/// The cases: name, and the controller as a scenario says it. `none` is none of them: what it sends at once fits no queue.
pub(super) const CONTROLLERS: &[(&str, &str)] = &[
    ("controller-cubic", "cubic"),
    ("controller-bbr1", "bbr1"),
    ("controller-bbr3", "bbr3"),
    ("controller-vegas", "vegas"),
    ("controller-westwood", "westwood"),
    ("controller-copa", "copa"),
    ("controller-prague", "prague"),
    ("controller-fixed", "{ type = \"fixed\", window = \"400 kB\" }"),
];

/// The case of one of them.
pub(super) fn case((name, controller): (&'static str, &str)) -> Varied {
    let about = "`bulk-null` under this controller in the place of NewReno";
    Varied::new(name, about, format!("transport.controller={controller}"))
}
