//! The table `lateness`: how late each element of a world in real time acted.

use super::schema;
use super::table::{Row, Table};
use units::{Duration, Lateness};

/// The table of these elements, each with its name and its kind, in this order. Quantiles of an element that never acted are
/// null.
pub fn lateness<'a>(elements: impl IntoIterator<Item = (&'a str, &'a str, &'a Lateness)>) -> Table {
    let mut table = schema::lateness::Row::table();
    let us = |late: Duration| late.as_nanos() as f64 / 1e3;
    for (name, kind, late) in elements {
        let known = |late_us: Duration| (late.count() > 0).then(|| us(late_us));
        table.append(&[schema::lateness::Row {
            element: name,
            kind,
            events: late.count(),
            median_us: known(late.quantile(0.5)),
            p99_us: known(late.quantile(0.99)),
            max_us: known(late.max()),
        }]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_is_a_row_and_has_no_quantiles_before_it_acts() {
        let (mut some, none) = (Lateness::default(), Lateness::default());
        some.note(Duration::from_micros(100));
        some.note(Duration::from_micros(300));
        let table = lateness([("cell forward", "link", &some), ("nat", "nat", &none)]);
        let column = |name: &str| table.column(name).unwrap();
        assert_eq!((table.name, table.rows()), ("lateness", 2));
        let crate::columns::Data::F64(max) = &column("max_us").data else { panic!("{table:?}") };
        assert_eq!(max[0], 300.0);
        let validity = column("max_us").validity.as_ref().unwrap();
        assert_eq!([0, 1].map(|row| validity.get(row)), [true, false]);
    }
}
