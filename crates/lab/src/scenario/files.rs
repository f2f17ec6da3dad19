//! The files that a scenario names. Each is read once.

use super::source::one_line;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use units::file::NotText;
use units::parameter::File;

/// The maximum size of all files of a scenario together, in bytes.
pub(super) const MAX_FILES: u64 = 256 << 20;

/// The beginning of a path from the user's home folder.
const HOME: &str = "~/";

/// The kind of text that [`Files::read_here`] expects.
pub(super) const EXPECTED_HERE: &str =
    "the path of a file, relative to the working folder or to that of the scenario";

/// Why a file cannot be read.
#[derive(Debug)]
pub(super) struct Unread {
    pub(super) problem: String,
    /// What would be right; `None` if that is another path.
    pub(super) expected: Option<&'static str>,
}

impl From<String> for Unread {
    fn from(problem: String) -> Unread {
        Unread { problem, expected: None }
    }
}

/// The files of a scenario. Options that name the same file share its text.
#[derive(Debug)]
pub(super) struct Files {
    /// The folder that paths are relative to.
    folder: PathBuf,
    known: BTreeMap<PathBuf, Arc<str>>,
    left: u64,
}

impl Files {
    /// Files with paths relative to the folder of the document `origin`.
    pub(super) fn beside(origin: &Path) -> Files {
        let folder = origin.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).to_owned();
        Files { folder, known: BTreeMap::new(), left: MAX_FILES }
    }

    /// Uses these texts instead of the files at their absolute paths.
    pub(super) fn give(&mut self, files: &BTreeMap<PathBuf, Arc<str>>) {
        self.known.extend(files.iter().map(|(path, text)| (path.clone(), text.clone())));
    }

    /// The absolute path of a file.
    pub(super) fn place(&self, given: &str) -> Result<PathBuf, String> {
        if given.is_empty() {
            return Err("the path is empty".to_owned());
        }
        let path = match (given.strip_prefix(HOME), std::env::home_dir()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => self.folder.join(given),
        };
        std::path::absolute(&path).map(without_dots).map_err(|error| reason(&error))
    }

    /// Reads a file. Its path becomes absolute, so that the resolved scenario can be in any folder.
    pub(super) fn read(&mut self, given: &str) -> Result<File, Unread> {
        let path = self.place(given)?;
        let text = match self.known.get(&path) {
            Some(text) => text.clone(),
            None => {
                let text: Arc<str> = self.load(&path)?.into();
                self.left -= text.len() as u64;
                self.known.insert(path.clone(), text.clone());
                text
            }
        };
        Ok(file(&path, text)?)
    }

    /// Reads a file whose path was given with `--set`: it is relative to the working folder, or else to that of the document.
    pub(super) fn read_here(&mut self, given: &str) -> Result<File, Unread> {
        match std::path::absolute(given) {
            Ok(here) if here.is_file() => {
                self.read(here.to_str().ok_or_else(|| "the path is not UTF-8".to_owned())?)
            }
            _ => self.read(given),
        }
    }

    fn load(&self, path: &Path) -> Result<String, Unread> {
        let file = units::file::regular(path).map_err(|error| reason(&error))?;
        let mut bytes = Vec::new();
        file.take(self.left + 1).read_to_end(&mut bytes).map_err(|error| reason(&error))?;
        if bytes.len() as u64 > self.left {
            let most = MAX_FILES >> 20;
            return Err(format!("too large (all files of a scenario together: at most {most} MiB)").into());
        }
        units::file::text(bytes)
            .map_err(|NotText { found, expected }| Unread { problem: found, expected: Some(expected) })
    }
}

/// The same path without "..", so that it shows which folders it is in; as it is where it leads nowhere.
fn without_dots(path: PathBuf) -> PathBuf {
    if !path.components().any(|part| part == Component::ParentDir) {
        return path;
    }
    match (path.parent().map(Path::canonicalize), path.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => path,
    }
}

/// A file by its absolute path.
pub(super) fn file(path: &Path, text: Arc<str>) -> Result<File, String> {
    Ok(File { path: path.to_str().ok_or("the path is not UTF-8")?.to_owned(), text })
}

/// The user's home: as the system names it, and where links lead from there.
pub(super) fn homes() -> Vec<PathBuf> {
    let home = std::env::home_dir().filter(|home| home.is_absolute() && home.parent().is_some());
    let real = home.as_ref().and_then(|home| home.canonicalize().ok()).filter(|home| home.parent().is_some());
    home.into_iter().chain(real).collect()
}

/// The path of a file from the user's home; `None` if it is elsewhere.
fn from_home(file: &Path, homes: &[PathBuf]) -> Option<String> {
    let rest = homes.iter().find_map(|home| file.strip_prefix(home).ok())?;
    Some(format!("{HOME}{}", rest.display()))
}

/// The path of a file as a document in any folder names it: absolute, or from the user's home.
pub(super) fn anywhere(file: &Path, homes: &[PathBuf]) -> String {
    from_home(file, homes).unwrap_or_else(|| file.display().to_string())
}

/// The path of a file as a document in a folder names it: relative, or from the user's home if that is the only way that
/// they have in common.
pub(super) fn relative(file: &Path, folder: &Path, homes: &[PathBuf]) -> String {
    let common: PathBuf = file
        .components()
        .zip(folder.components())
        .take_while(|(one, other)| one == other)
        .map(|(one, _)| one)
        .collect();
    if !homes.iter().any(|home| common.starts_with(home))
        && let Some(path) = from_home(file, homes)
    {
        return path;
    }
    let up = folder.strip_prefix(&common).map_or(0, |rest| rest.components().count());
    let down = file.strip_prefix(&common).expect("a path begins with what it has in common with another");
    let mut path: PathBuf = std::iter::repeat_n("..", up).collect();
    path.push(down);
    path.display().to_string()
}

/// The reason why a file could not be read.
pub(super) fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file".to_owned(),
        ErrorKind::PermissionDenied => "no permission to read the file".to_owned(),
        ErrorKind::IsADirectory => "a folder, not a file".to_owned(),
        ErrorKind::NotADirectory => "a part of the path is not a folder".to_owned(),
        _ => one_line(&error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_file_does_not_say_where_the_home_is() {
        // The second is where links lead from the first.
        let homes = ["/people/ada".into(), "/disk/7/ada".into()];
        for (file, folder, expected) in [
            ("/people/ada/lab/a.csv", "/people/ada/lab", "a.csv"),
            ("/people/ada/lab/traces/a.csv", "/people/ada/lab/runs/one", "../../traces/a.csv"),
            ("/people/ada/a.csv", "/tmp/out", "~/a.csv"),
            ("/people/ada/a.csv", "/people/bob/out", "~/a.csv"),
            ("/data/a.csv", "/people/ada/out", "../../../data/a.csv"),
            ("/people/ada/a.csv", "/people/ada", "a.csv"),
            ("/people/ada/a.csv", "/disk/7/ada/lab", "~/a.csv"),
            ("/disk/7/ada/a.csv", "/tmp/out", "~/a.csv"),
            ("/disk/7/a.csv", "/disk/7/ada/lab", "../../a.csv"),
        ] {
            assert_eq!(relative(Path::new(file), Path::new(folder), &homes), expected, "{file} in {folder}");
        }
        assert_eq!(relative(Path::new("/a/b"), Path::new("/c"), &[]), "../a/b");
        assert_eq!(anywhere(Path::new("/disk/7/ada/lab/a.csv"), &homes), "~/lab/a.csv");
        assert_eq!(anywhere(Path::new("/data/a.csv"), &homes), "/data/a.csv");
    }
}
