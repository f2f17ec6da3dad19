//! The law of the folders of tests, in this binary only: in that of memory no other test allocates.

use crate::own_folder::{BEGINS, own_folder, remove_left};
use std::fs;
use std::path::Path;

#[test]
fn folders_of_processes_that_have_ended_are_removed() {
    let all = own_folder().join("folders");
    let running = format!("{BEGINS}{}", std::process::id());
    // No process has this number.
    let folders = [format!("{BEGINS}4000000000"), running, "kept".to_owned()].map(|name| all.join(name));
    folders.iter().for_each(|folder| fs::create_dir_all(folder).unwrap());
    remove_left(&all);
    assert_eq!(
        folders.each_ref().map(|folder| folder.exists()),
        [!Path::new("/proc/self").exists(), true, true]
    );
}
