//! A folder of this process for the files of its tests: two test runs in one target folder do not disturb each other.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The name of such a folder begins with this; the number of the process follows.
pub(crate) const BEGINS: &str = "process-";

/// The folder of this process, which exists. Those of processes that have ended are removed.
pub(crate) fn own_folder() -> &'static Path {
    static OWN: OnceLock<PathBuf> = OnceLock::new();
    OWN.get_or_init(|| {
        let all = Path::new(env!("CARGO_TARGET_TMPDIR"));
        remove_left(all);
        let folder = all.join(format!("{BEGINS}{}", std::process::id()));
        // A process with this number may have left one just now.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    })
}

/// Removes the folders of processes that are not there any more, where the system lists them in `/proc`.
pub(crate) fn remove_left(all: &Path) {
    let processes = Path::new("/proc");
    if !processes.join("self").exists() {
        return;
    }
    for entry in fs::read_dir(all).unwrap() {
        let name = entry.unwrap().file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(BEGINS));
        if number.is_some_and(|number| !processes.join(number).exists()) {
            // Another process may be about to remove it, too.
            let _ = fs::remove_dir_all(all.join(name));
        }
    }
}
