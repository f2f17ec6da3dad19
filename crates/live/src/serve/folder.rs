//! A folder as a site: its files, and nothing outside of it.

use http::Target;
use std::borrow::Cow;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use traffic::web::{Answer, Body, Query, Site, Source};

/// The file that stands for a folder.
const INDEX: &str = "index.html";

/// What browsers are told of files by their extension (the registry of media types, RFC 6838). Others are told nothing.
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

/// The plain files below a folder. What leads out of it, by a symbolic link too, is not found.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    /// Without symbolic links in it.
    root: PathBuf,
}

impl Folder {
    /// # Errors
    /// If it is no folder that can be read.
    pub(crate) fn new(root: &Path) -> io::Result<Folder> {
        fs::read_dir(root)?;
        Ok(Folder { root: root.canonicalize()? })
    }

    fn open(&self, target: &Target) -> Option<(PathBuf, File, u64)> {
        let mut path = self.root.clone();
        path.extend(&target.segments);
        if target.is_folder {
            path.push(INDEX);
        }
        let path = path.canonicalize().ok()?;
        if !path.starts_with(&self.root) {
            return None;
        }
        // Looked at before it is opened: to open a pipe would wait for its writer.
        if !path.metadata().ok()?.is_file() {
            return None;
        }
        let file = File::open(&path).ok()?;
        let length = file.metadata().ok()?.len();
        Some((path, file, length))
    }
}

impl Site for Folder {
    fn find(&mut self, query: Query<'_>) -> Answer {
        match self.open(query.target) {
            Some((path, file, length)) => {
                let body = Body::Source { length, source: Box::new(Contents(file)) };
                Answer { content_type: content_type(&path), ..Answer::found(body) }
            }
            None => Answer::plain(404, "not found"),
        }
    }
}

fn content_type(path: &Path) -> Option<Cow<'static, str>> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    let row = TYPES.iter().find(|(known, _)| *known == extension)?;
    Some(row.1.into())
}

struct Contents(File);

impl Source for Contents {
    fn read_at(&mut self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(out, offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn found(folder: &mut Folder, target: &str) -> Option<(u64, Option<String>)> {
        let target = Target::parse(target.as_bytes()).ok()?;
        let method = traffic::web::Method::Get;
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
        let mut folder = Folder::new(&root).unwrap();
        let html = Some("text/html;charset=utf-8".to_owned());
        assert_eq!(found(&mut folder, "/a%20b.html"), Some((3, html.clone())));
        assert_eq!(found(&mut folder, "/in/"), Some((1, html)));
        for hidden in
            ["/out", "/up/secret", "/../secret", "/%2e%2e/secret", "/sub", "/", "/none", "/up/site/a b.html"]
        {
            assert_eq!(found(&mut folder, hidden), None, "{hidden}");
        }
        fs::remove_dir_all(&top).unwrap();
        assert!(Folder::new(&root).is_err());
    }
}
