//! A folder as a site: its files, and nothing outside of it.

use super::files::{Contents, Files};
use crate::error::is_passing;
use http::Target;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use web::{Answer, Body, Query, Site};

/// The file that is served for a folder.
const INDEX: &str = "index.html";

/// Media types by file extension (RFC 6838). Other files have none.
const TYPES: &[(&str, &str)] = &[
    ("css", "text/css;charset=utf-8"),
    ("csv", "text/csv;charset=utf-8"),
    ("gif", "image/gif"),
    ("html", "text/html;charset=utf-8"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript;charset=utf-8"),
    ("json", "application/json"),
    ("mjs", "text/javascript;charset=utf-8"),
    ("mp4", "video/mp4"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("txt", "text/plain;charset=utf-8"),
    ("wasm", "application/wasm"),
    ("webm", "video/webm"),
    ("webp", "image/webp"),
    ("woff2", "font/woff2"),
    ("xml", "application/xml"),
];

/// The plain files below a folder. Paths that lead out of it, also by a symbolic link, are not found, nor are
/// hidden files unless `hidden` is set.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    /// The path without symbolic links.
    root: PathBuf,
    /// Whether names that start with a dot are found.
    hidden: bool,
    files: Files,
}

impl Folder {
    /// # Errors
    /// If it is not a readable folder.
    pub(super) fn new(root: &Path, hidden: bool, files: Files) -> io::Result<Folder> {
        fs::read_dir(root)?;
        Ok(Folder { root: root.canonicalize()?, hidden, files })
    }
    /// The same site for another connection.
    pub(super) fn of(&self, connection: u64) -> Folder {
        Folder { root: self.root.clone(), hidden: self.hidden, files: self.files.of(connection) }
    }

    /// The number of open files of all connections.
    pub(super) fn open_files(&self) -> usize {
        self.files.open_count()
    }

    fn open(&self, target: &Target) -> io::Result<(PathBuf, Contents, u64)> {
        let mut path = self.root.clone();
        path.extend(&target.segments);
        if target.is_folder {
            path.push(INDEX);
        }
        let named = path.clone();
        let path = path.canonicalize()?;
        // Neither requested under a name that starts with a dot, nor reached by a link to one.
        let is_shown =
            |path: &Path| path.strip_prefix(&self.root).is_ok_and(|path| !path.iter().any(is_hidden));
        if !path.starts_with(&self.root) || !(self.hidden || is_shown(&named) && is_shown(&path)) {
            return Err(io::ErrorKind::NotFound.into());
        }
        // Checked before it is opened: opening a device may have effects.
        if !path.metadata()?.is_file() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let (contents, length) = self.files.open(path.clone())?;
        Ok((path, contents, length))
    }
}

/// Whether this is the name of a hidden file.
fn is_hidden(name: &OsStr) -> bool {
    name.as_bytes().first() == Some(&b'.')
}

impl Site for Folder {
    fn find(&mut self, query: Query<'_>) -> Answer {
        match self.open(query.target) {
            Ok((path, contents, length)) => {
                let body = Body::Source { length, source: Box::new(contents) };
                Answer { content_type: content_type(&path), ..Answer::found(body) }
            }
            // RFC 9110 section 15.6.4: the file may exist and be available later.
            Err(error) if is_passing(&error) => Answer::plain(503, "too many files are open"),
            Err(_) => Answer::plain(404, "not found"),
        }
    }
}

fn content_type(path: &Path) -> Option<Cow<'static, str>> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    let row = TYPES.iter().find(|(known, _)| *known == extension)?;
    Some(row.1.into())
}

#[cfg(test)]
mod tests {
    use super::super::Limits;
    use super::*;
    use std::os::unix::fs::symlink;

    fn folder(root: &Path, hidden: bool) -> io::Result<Folder> {
        Folder::new(root, hidden, Files::new(&Limits::of(10)))
    }

    fn found(folder: &mut Folder, target: &str) -> Option<(u64, Option<String>)> {
        let target = Target::parse(target.as_bytes()).ok()?;
        let method = web::Method::Get;
        let answer = folder.find(Query { method, target: &target, authority: None });
        (answer.status == 200).then(|| (answer.body.len(), answer.content_type.map(Cow::into_owned)))
    }

    #[test]
    fn nothing_outside_is_found() {
        let top = std::env::temp_dir().join(format!("quiclab-folder-{}", std::process::id()));
        let root = top.join("site");
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::write(top.join("secret"), "12345").unwrap();
        fs::write(root.join("a b.html"), "123").unwrap();
        fs::write(root.join("sub/index.html"), "1").unwrap();
        symlink(top.join("secret"), root.join("out")).unwrap();
        symlink(&top, root.join("up")).unwrap();
        symlink(root.join("sub"), root.join("in")).unwrap();
        let mut folder = folder(&root, false).unwrap();
        let html = Some("text/html;charset=utf-8".to_owned());
        assert_eq!(found(&mut folder, "/a%20b.html"), Some((3, html.clone())));
        assert_eq!(found(&mut folder, "/in/"), Some((1, html)));
        for hidden in
            ["/out", "/up/secret", "/../secret", "/%2e%2e/secret", "/sub", "/", "/none", "/up/site/a b.html"]
        {
            assert_eq!(found(&mut folder, hidden), None, "{hidden}");
        }
        fs::remove_dir_all(&top).unwrap();
        assert!(super::tests::folder(&root, false).is_err());
    }

    #[test]
    fn hidden_files_are_found_only_if_they_are_to_be() {
        // The folder itself may be hidden.
        let top = std::env::temp_dir().join(format!(".quiclab-hidden-{}", std::process::id()));
        fs::create_dir_all(top.join(".git")).unwrap();
        fs::write(top.join(".git/config"), "12").unwrap();
        fs::write(top.join(".env"), "123").unwrap();
        fs::write(top.join("a"), "1").unwrap();
        symlink(top.join(".git"), top.join("git")).unwrap();
        let (mut shy, mut open) = (folder(&top, false).unwrap(), folder(&top, true).unwrap());
        for (target, length) in [("/.git/config", 2), ("/.env", 3), ("/git/config", 2), ("/%2eenv", 3)] {
            assert_eq!(found(&mut shy, target), None, "{target}");
            assert_eq!(found(&mut open, target), Some((length, None)), "{target}");
        }
        assert_eq!(found(&mut shy, "/a"), Some((1, None)));
        fs::remove_dir_all(&top).unwrap();
    }
}
