//! Values of defaults, each of which is read once per thread: most options of a scenario have theirs.

use super::place::is_outside;
use std::cell::RefCell;
use std::collections::BTreeMap;
use units::parameter::{Parameter, Value};

thread_local! {
    /// The values by the addresses of their parameters, which live as long as the process.
    static KNOWN: RefCell<BTreeMap<*const Parameter, Value>> =
        const { RefCell::new(BTreeMap::new()) };
}

/// The value of a parameter's default, if it was kept.
pub(super) fn known(parameter: &'static Parameter) -> Option<Value> {
    KNOWN.with_borrow(|known| known.get(&std::ptr::from_ref(parameter)).cloned())
}

/// Keeps the value of a parameter's default, if it is the same in each scenario.
pub(super) fn keep(parameter: &'static Parameter, value: &Value) {
    if is_fixed(value) {
        KNOWN.with_borrow_mut(|known| known.insert(std::ptr::from_ref(parameter), value.clone()));
    }
}

/// Whether nothing outside of the program affects the value: neither a file nor code.
fn is_fixed(value: &Value) -> bool {
    match value {
        Value::File(_) => false,
        Value::List(values) => values.iter().all(is_fixed),
        Value::Component(component) => {
            !is_outside(component.name) && component.arguments.0.iter().all(|(_, value)| is_fixed(value))
        }
        _ => true,
    }
}
