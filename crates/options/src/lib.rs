//! Derives the table of a component's options, and its reader, from a struct.
//!
//! Each field is an option: its name is the key of the scenario, its doc comment the sentence about it, its type the
//! kind of its values. What the type does not say stands in the field's attribute:
//!
//! | `#[option(...)]` | meaning |
//! | --- | --- |
//! | `default = "15 ms"` | the value of scenarios that do not set it, a TOML literal; without one the option is required, or, if the type is an `Option`, absent |
//! | `within = 1..=10_000` | the inclusive range of a number, or of the numbers of a list |
//! | `probability` | the number is a probability: `0.01` or `"1 %"` |
//! | `room = "controllers"` | the room of a component |
//! | `example = TEXT` | contents of a file that the option accepts |
//! | `name = "ack_ratio"` | its key, if the field has another name |
//! | `skip` | the field is no option of a scenario: it has its type's default |
//!
//! A field with `#[options]` is a group: its options stand in the table at its place. `#[options(pacing_gain = 1.25)]`
//! gives the group's options other defaults. `#[options(fixed(tls = "none"))]` leaves an option out of the table: it always
//! has this value.
//!
//! Each option has a key, a constant with the name of its field (`units::parameter::Key`): `PieOptions::MAX_BURST`.
//!
//! A choice is an enum with `#[derive(Choice)]`. Its variants are the words of the scenario: `DepartureRate` is
//! `departure-rate`, unless `#[word("...")]` says otherwise.

mod choice;
mod table;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Implements `units::parameter::Options`: see the documentation of this crate.
#[proc_macro_derive(Options, attributes(option, options))]
pub fn options(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    table::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Implements `units::parameter::Choice`: see the documentation of this crate.
#[proc_macro_derive(Choice, attributes(word))]
pub fn choice(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    choice::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
