//! Files that people name: opened without waiting, and only if they are files.

use std::fs::{self, File, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::path::Path;

/// Opening a pipe that nobody writes to waits for a writer without it.
#[cfg(any(target_os = "linux", target_os = "android"))]
const NONBLOCK: i32 = 0o4000;
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
const NONBLOCK: i32 = 0x4;

/// Opens a file for reading. A symbolic link counts as what it leads to.
///
/// # Errors
/// Those of the system; for a folder [`ErrorKind::IsADirectory`]; for a pipe, a socket or a device, which may have no end
/// and may act when they are opened, [`ErrorKind::InvalidInput`]. None of these is opened.
pub fn regular(path: &Path) -> Result<File> {
    // First by name, since to open some devices has an effect.
    check(&fs::metadata(path)?)?;
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, NONBLOCK);
    let file = options.open(path)?;
    // Again, since the name may have got another meaning.
    check(&file.metadata()?)?;
    Ok(file)
}

fn check(metadata: &fs::Metadata) -> Result<()> {
    if metadata.is_dir() {
        return Err(Error::new(ErrorKind::IsADirectory, "a folder, not a file"));
    }
    if !metadata.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn only_files_are_opened() {
        let mut text = String::new();
        regular(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml").as_path())
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        assert!(text.contains("[package]"));
        for (path, kind) in [
            (env!("CARGO_MANIFEST_DIR"), ErrorKind::IsADirectory),
            ("/dev/null", ErrorKind::InvalidInput),
            ("/no/such/file", ErrorKind::NotFound),
        ] {
            assert_eq!(regular(Path::new(path)).unwrap_err().kind(), kind, "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_socket_is_not_a_file() {
        let folder = std::env::temp_dir().join(format!("quiclab-regular-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("socket");
        let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert_eq!(regular(&path).unwrap_err().kind(), ErrorKind::InvalidInput);
        std::os::unix::fs::symlink(&path, folder.join("link")).unwrap();
        assert_eq!(regular(&folder.join("link")).unwrap_err().kind(), ErrorKind::InvalidInput);
        fs::remove_dir_all(&folder).unwrap();
    }
}
