//! The table of rules: one file and one line per rule.

use crate::Rule;

mod certain;
mod clock;
mod crate_edges;
mod file_names;
mod file_sizes;
mod frame_files;
mod licences;
mod links;
mod lints;
mod machine_paths;
mod markers;
mod model_pages;
mod module_cycles;
mod python_cycles;
mod python_floors;
mod python_late_imports;
mod python_lists;
mod python_sizes;
mod randomness;
mod rfc_citations;
mod room_map;
mod row_names;
mod shared_fields;
mod skipped_tests;
mod struct_fields;
mod subject_line;
mod tuple_parameters;

/// All house rules.
pub const RULES: &[Rule] = &[
    certain::RULE,
    clock::RULE,
    crate_edges::RULE,
    file_names::RULE,
    file_sizes::RULE,
    frame_files::RULE,
    licences::RULE,
    links::RULE,
    lints::RULE,
    machine_paths::RULE,
    markers::RULE,
    model_pages::RULE,
    module_cycles::RULE,
    python_cycles::RULE,
    python_floors::RULE,
    python_late_imports::RULE,
    python_lists::RULE,
    python_sizes::RULE,
    randomness::RULE,
    rfc_citations::RULE,
    room_map::RULE,
    row_names::RULE,
    shared_fields::RULE,
    skipped_tests::RULE,
    struct_fields::RULE,
    subject_line::RULE,
    tuple_parameters::RULE,
];
