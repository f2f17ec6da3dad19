//! Mistakes in scenarios, each with the one line that it gives.

use lab::scenario::{Scenario, rooms};
use std::fs;
use std::path::Path;

/// A scenario without mistakes, to make one in.
const GOOD: &str = r#"seed = 1
duration = "10 s"

[[link]]
name = "cell"
from = "server"
to = "client"
rate = "10 Mbit/s"
delay = "20 ms"

[[flow]]
name = "get"
client = "client"
server = "server"
application = { type = "bulk", size = "1 MB" }
"#;

/// What is made of the good scenario, and what it gives. Words in braces stand for lists that grow with the rooms.
struct Mistake {
    /// This text is replaced ...
    old: &'static str,
    /// ... by this one.
    new: &'static str,
    /// The line.
    line: &'static str,
}

const fn mistake(old: &'static str, new: &'static str, line: &'static str) -> Mistake {
    Mistake { old, new, line }
}

const MISTAKES: &[Mistake] = &[
    // Keys.
    mistake(
        "seed = 1",
        "sead = 1",
        r#"a.toml:1:1: sead: unknown key, found "sead"; expected one of record, tls, transport, node, link, flow, name, seed, duration (did you mean "seed"?)"#,
    ),
];

fn listed(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// Fills in the lists of words: `{controllers}` are the rows of that room, `{newreno}` the options of that row.
fn filled(line: &str) -> String {
    let mut line = line.to_owned();
    for room in rooms() {
        line = line.replace(&format!("{{{}}}", room.name), &listed(room.rows.iter().map(|row| row.name)));
        for row in &room.rows {
            let options = listed(row.parameters.iter().map(|parameter| parameter.name));
            line = line.replace(&format!("{{{}}}", row.name), &options);
        }
    }
    line
}

#[test]
fn each_mistake_gives_its_line() {
    let folder = folder("mistakes");
    let mut wrong = Vec::new();
    for Mistake { old, new, line } in MISTAKES {
        assert!(GOOD.contains(old), "{old}");
        let text = GOOD.replacen(old, new, 1);
        let told = match Scenario::parse(&text, &folder.join("a.toml"), &[]) {
            Ok(_) => "no error".to_owned(),
            Err(error) => error.to_string(),
        };
        let told = told.replace(&format!("{}/", folder.display()), "");
        if told != filled(line) {
            wrong.push(format!("{new:?}\n  gives    {told}\n  expected {}", filled(line)));
        }
        assert_eq!(told.lines().count(), 1, "{told}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A folder with files that are wrong in different ways.
fn folder(name: &str) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(folder.join("empty")).unwrap();
    fs::write(folder.join("good.down"), "1\n2\n").unwrap();
    fs::write(folder.join("words.down"), "1\n2\nthree\n").unwrap();
    fs::write(folder.join("falling.down"), "5\n4\n").unwrap();
    fs::write(folder.join("nothing.down"), "").unwrap();
    fs::write(folder.join("binary.down"), [49, 10, 0xff]).unwrap();
    folder
}
