//! `cargo run -p tidy` prints violations of the house rules, the longest files and functions, and the most shared
//! fields of connections, and how many asserts the crates have. `cargo run -p tidy rfc` prints which requirements of RFCs are cited by code and by tests.

use std::path::Path;
use std::process::ExitCode;
use tidy::certainties::Certainties;
use tidy::rules::RULES;
use tidy::sharing::{self, QUIC, Subject, TCP};
use tidy::sizes::{self, Length};
use tidy::{Finding, Tree};

fn main() -> ExitCode {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let tree = match Tree::read(root) {
        Ok(tree) => tree,
        Err(error) => {
            eprintln!("tidy: the sources cannot be read: {error}");
            return ExitCode::from(2);
        }
    };
    match std::env::args().nth(1).as_deref() {
        None => {}
        Some("rfc") => {
            print!("{}", tidy::requirements::report(&tree));
            return ExitCode::SUCCESS;
        }
        Some(other) => {
            eprintln!("tidy: `{other}` is not known: it is `rfc` or nothing");
            return ExitCode::from(2);
        }
    }
    let mut broken = 0;
    for rule in RULES {
        let findings: Vec<Finding> = (rule.check)(&tree);
        if !findings.is_empty() {
            broken += 1;
            println!("{}: {}", rule.name, rule.about);
        }
        for finding in findings {
            println!("  {finding}");
        }
    }
    list("longest files, tests not counted", &sizes::longest_files(&tree, 10));
    list("longest functions", &sizes::longest_functions(&tree, 10));
    list_shared(&tree, &QUIC);
    list_shared(&tree, &TCP);
    list_certainties(&tree);
    println!("{} rules, {broken} broken", RULES.len());
    if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn list_certainties(tree: &Tree) {
    let manifest = |path: &str| path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml").map(str::to_owned);
    println!("asserts with a sentence, for each hundred functions, by crate:");
    for name in tree.files.iter().filter_map(|file| manifest(&file.path)) {
        let of = Certainties::of(tree, &name);
        println!("  {:5.1}  {name} ({} in {} functions)", of.per_hundred(), of.stated, of.functions);
    }
}

fn list_shared(tree: &Tree, subject: &Subject) {
    let mut fields = sharing::fields(tree, subject);
    let title = format!("most shared of the {} fields in {}, by files", fields.len(), subject.file);
    fields.sort_by(|a, b| b.files.len().cmp(&a.files.len()).then_with(|| a.name.cmp(&b.name)));
    let most = fields.into_iter().take(10);
    list(
        &title,
        &most.map(|field| Length { lines: field.files.len(), place: field.name }).collect::<Vec<_>>(),
    );
}

fn list(title: &str, lengths: &[Length]) {
    println!("{title}:");
    for length in lengths {
        println!("  {:5}  {}", length.lines, length.place);
    }
}
