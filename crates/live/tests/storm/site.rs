//! The served files, and the requests of clients.

use crate::own_folder::own_folder;
use random::Generator;
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;
use web::{Method, Request};

/// The files below the root, with their lengths.
const FILES: [(&str, usize); 6] = [
    ("empty", 0),
    ("one", 1),
    ("small.html", 900),
    ("middle", 30_000),
    ("large", 150_000),
    ("sub/index.html", 4_000),
];

/// The folder, and the contents of its files.
pub(crate) struct Site {
    pub root: PathBuf,
    contents: Vec<Vec<u8>>,
}

/// The site, which is made once.
pub(crate) fn site() -> &'static Site {
    static MADE: OnceLock<Site> = OnceLock::new();
    MADE.get_or_init(|| {
        let root = own_folder().join("storm-site");
        fs::create_dir_all(root.join("sub")).unwrap();
        let contents = FILES.map(|(name, length)| {
            let bytes: Vec<u8> = (0..length).map(|at| (at * 31 + at / 251 + name.len()) as u8).collect();
            fs::write(root.join(name), &bytes).unwrap();
            bytes
        });
        Site { root, contents: contents.to_vec() }
    })
}

/// The expected result of a request: the bytes of a body, or `None` if there is no such file.
pub(crate) type Expected = Option<&'static [u8]>;

/// A valid request and its expected result; hq-interop has only GET.
pub(crate) fn request(random: &mut Generator, is_hq: bool) -> (Request, Expected) {
    // Over hq-interop the only response for a missing file is a reset.
    let pick = random.below(FILES.len() as u64 + u64::from(!is_hq)) as usize;
    let path = match FILES.get(pick) {
        Some((name, _)) => format!("/{}", name.trim_end_matches("index.html")),
        None => "/none".to_owned(),
    };
    let expected = site().contents.get(pick).map(Vec::as_slice);
    let mut request = Request::get(path);
    if !is_hq && random.chance(0.1) {
        request.method = Method::Head;
    }
    request.priority.urgency = random.below(8) as u8;
    request.priority.incremental = random.chance(0.5);
    request.cookie = (random.below(60) * random.below(60)) as usize;
    let expected = expected.map(|bytes| if request.method == Method::Head { &[] } else { bytes });
    (request, expected)
}
