//! All controllers except the default, each with a bulk transfer.

use super::varied::Varied;

/// The cases: the name, and the controller as written in a scenario. `none` is missing, because no queue has
/// room for all that it sends at once.
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

/// The case of one controller.
pub(super) fn case((name, controller): (&'static str, &str)) -> Varied {
    let about = "`bulk-null` under this controller in the place of NewReno";
    Varied::new(name, about, format!("transport.controller={controller}"))
}
