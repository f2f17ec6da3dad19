//! The names of components from outside the lab, which say where they are: `"mine.py:Mine"`.

/// The option with the file of a component.
pub const SOURCE: &str = "source";

/// Whether a component with this name is from outside.
pub(crate) fn is_outside(name: &str) -> bool {
    name.contains(':')
}
