//! The files of the checkout, as input to the rules.

use std::io;
use std::path::Path;
use std::process::Command;

/// The pseudo-path of the output of `cargo metadata` in a [`Tree`], which cannot be the path of a file.
pub const METADATA: &str = "<cargo metadata>";

/// Directories without sources, for a checkout without git.
const NOT_SOURCES: [&str; 5] = ["target", "runs", "node_modules", "__pycache__", "corpus"];

/// A file.
#[derive(Debug, Clone)]
pub struct File {
    /// The path relative to the root, with `/` as separator.
    pub path: String,
    /// The text; empty if it is not UTF-8.
    pub text: String,
    /// The length in bytes.
    pub length: u64,
}

impl File {
    /// Creates a file that only exists in memory.
    pub fn new(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned(), length: text.len() as u64 }
    }

    /// Whether the path has this ending: `file.is(".rs")`.
    pub fn is(&self, ending: &str) -> bool {
        self.path.ends_with(ending)
    }

    /// The part of the name before its first dot.
    pub fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or(&self.path);
        name.split('.').next().unwrap_or(name)
    }

    /// Whether the whole file is for tests: a module `tests`, or a file in a folder `tests`.
    pub fn is_test(&self) -> bool {
        self.path.split('/').any(|part| part == "tests" || part == "tests.rs")
    }

    /// The lines with their numbers, counted from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }
}

/// The sources of the project.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// The files, sorted by path.
    pub files: Vec<File>,
}

impl Tree {
    /// Creates a tree of (path, contents).
    pub fn of(files: &[(&str, &str)]) -> Tree {
        Tree { files: files.iter().map(|(path, text)| File::new(path, text)).collect() }
    }

    /// Reads the checkout at `root`: the files that git tracks or would track, and the output of `cargo metadata`.
    ///
    /// # Errors
    /// If a directory or a file cannot be read, or if `cargo metadata` fails.
    pub fn read(root: &Path) -> io::Result<Tree> {
        let paths = match tracked(root) {
            Some(paths) => paths,
            None => walk(root)?,
        };
        let mut files = Vec::new();
        for path in paths {
            let whole = root.join(&path);
            // What a link leads to is a file of its own.
            if whole.is_symlink() || !whole.is_file() {
                continue;
            }
            let bytes = std::fs::read(&whole)?;
            let length = bytes.len() as u64;
            files.push(File { path, text: String::from_utf8(bytes).unwrap_or_default(), length });
        }
        files.push(File::new(METADATA, &metadata(root)?));
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Tree { files })
    }

    /// The file with this path.
    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The files with this ending.
    pub fn ending<'a>(&'a self, ending: &'a str) -> impl Iterator<Item = &'a File> {
        self.files.iter().filter(move |file| file.is(ending))
    }
}

/// The files that git tracks, and new ones that are not ignored; `None` without git or without a repository.
fn tracked(root: &Path) -> Option<Vec<String>> {
    let output = Command::new("git")
        // Also read a checkout that belongs to another user, such as a volume of a container.
        .args(["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .ok()?;
    if !output.status.success() {
        return None;
    }
    let text = String::from_utf8(output.stdout).ok()?;
    let mut paths: Vec<String> = text.split('\0').filter(|path| !path.is_empty()).map(String::from).collect();
    paths.sort();
    paths.dedup();
    Some(paths)
}

/// Every file below `root`, except for hidden and generated directories.
fn walk(root: &Path) -> io::Result<Vec<String>> {
    let mut paths = Vec::new();
    let mut open = vec![String::new()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            if entry.file_type()?.is_dir() {
                let hidden = name.starts_with('.') && name != ".ci";
                if !hidden && !NOT_SOURCES.contains(&name.as_str()) {
                    open.push(path);
                }
            } else {
                paths.push(path);
            }
        }
    }
    Ok(paths)
}

/// Cargo's metadata of all packages in the lock file.
fn metadata(root: &Path) -> io::Result<String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--all-features"])
        .current_dir(root)
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    String::from_utf8(output.stdout).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
    }

    #[test]
    fn the_walk_finds_this_file_and_no_build_product() {
        let paths = walk(root()).unwrap();
        assert!(paths.iter().any(|path| path == "crates/tidy/src/tree.rs"));
        assert!(!paths.iter().any(|path| path.starts_with("target/") || path.starts_with(".git/")));
    }

    #[test]
    fn stems_and_endings() {
        let file = File::new("docs/model/queue.notes.md", "a\nb");
        assert_eq!(file.stem(), "queue");
        assert!(file.is(".md"));
        assert_eq!(file.lines().last(), Some((2, "b")));
        assert!(File::new("crates/a/src/b/tests.rs", "").is_test());
        assert!(!File::new("crates/a/src/attests.rs", "").is_test());
    }
}
