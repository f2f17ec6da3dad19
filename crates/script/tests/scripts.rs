//! Every script in `tests/scripts/` holds and is in the folder of its subject.

use script::{Script, Verdict};
use std::fs;
use std::path::{Path, PathBuf};

/// All scripts below a folder, sorted by name.
fn scripts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(scripts(&path));
        } else if path.extension().is_some_and(|extension| extension == "quic") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scripts")
}

fn run(path: &Path) -> Result<(), String> {
    let name = path.strip_prefix(folder()).unwrap_or(path).display().to_string();
    let text = fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    let script = Script::parse(&name, &text).map_err(|error| error.to_string())?;
    match script.run().map_err(|error| error.to_string())? {
        Verdict::Passed { .. } => Ok(()),
        Verdict::Failed(failure) => Err(failure.to_string()),
    }
}

/// RFC 9000 and 9002, as cited in the first line of each script.
#[test]
fn every_script_holds() {
    let all = scripts(&folder());
    let failures: Vec<String> = all.iter().filter_map(|path| run(path).err()).collect();
    assert!(failures.is_empty(), "{} of {} scripts:\n{}", failures.len(), all.len(), failures.join("\n"));
}

#[test]
fn every_script_names_the_section_that_it_shows() {
    for path in scripts(&folder()) {
        let text = fs::read_to_string(&path).unwrap();
        let first = text.lines().next().unwrap_or_default();
        let cites = ["// RFC 9", "// draft-ietf-quic-", "// Völker et al., "]
            .iter()
            .any(|start| first.starts_with(start));
        assert!(cites && first.contains(" section "), "{}: {first}", path.display());
    }
}
