//! Files that people name: opened without waiting, and only if they are files; and whether they are text.

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

/// What a file is that is not text in UTF-8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotText {
    /// What was found.
    pub found: String,
    /// What would be right.
    pub expected: &'static str,
}

/// The text of a file.
///
/// # Errors
/// If it is not UTF-8: what it is instead, as far as its bytes show that.
pub fn text(bytes: Vec<u8>) -> std::result::Result<String, NotText> {
    let fail = |found: &str, expected| Err(NotText { found: found.to_owned(), expected });
    match bytes[..] {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] | [9..=126, 0, 0, 0, ..] | [0, 0, 0, 9..=126, ..] => {
            return fail("the file is UTF-32", "UTF-8: save it as UTF-8");
        }
        // Without a mark, every other byte of Latin letters is zero.
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, 9..=126, ..] | [9..=126, 0, ..] => {
            return fail("the file is UTF-16", "UTF-8: save it as UTF-8");
        }
        [0x1f, 0x8b, ..] => return fail("the file is gzip", "text: unpack it"),
        [b'P', b'K', 3 | 5, ..] => {
            return fail("the file is a ZIP archive or a spreadsheet", "text: unpack it, or save it as CSV");
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => return fail("the file is compressed by zstd", "text: unpack it"),
        [b'B', b'Z', b'h', ..] => return fail("the file is compressed by bzip2", "text: unpack it"),
        [0xfd, b'7', b'z', b'X', b'Z', ..] => return fail("the file is compressed by xz", "text: unpack it"),
        [0x89, b'H', b'D', b'F', ..] => return fail("the file is HDF5", "text: save it as CSV"),
        [b'P', b'A', b'R', b'1', ..] => return fail("the file is Parquet", "text: save it as CSV"),
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => {
            return fail("the file is an array of numpy", "text: save it as CSV (numpy.savetxt)");
        }
        _ => {}
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        // Text has no bytes of zero.
        match bytes.contains(&0) {
            true => NotText { found: format!("not text in UTF-8 (byte {at})"), expected: "text in UTF-8" },
            false => NotText {
                found: format!(
                    "not text in UTF-8 (byte {at} is {:#04x}: Latin-1 or another old code)",
                    bytes[at]
                ),
                expected: "UTF-8: save it as UTF-8",
            },
        }
    })
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

    #[test]
    fn files_that_are_no_text_are_named() {
        let found = |bytes: &[u8]| text(bytes.to_vec()).unwrap_err();
        assert_eq!(text("\u{feff}zwölf".into()).unwrap(), "\u{feff}zwölf");
        assert_eq!(text(Vec::new()).unwrap(), "");
        for utf16 in [&b"\xff\xfea\0"[..], b"\xfe\xff\0a", b"a\0b\0", b"\0a\0b"] {
            let expected =
                NotText { found: "the file is UTF-16".into(), expected: "UTF-8: save it as UTF-8" };
            assert_eq!(found(utf16), expected);
        }
        for utf32 in [&b"\xff\xfe\0\0a\0\0\0"[..], b"\0\0\xfe\xff\0\0\0a", b"a\0\0\0", b"\0\0\0a"] {
            assert_eq!(found(utf32).found, "the file is UTF-32");
        }
        for (bytes, name) in [
            (&b"\x1f\x8b\x08\0"[..], "gzip"),
            (b"\x28\xb5\x2f\xfd\0", "compressed by zstd"),
            (b"BZh91AY", "compressed by bzip2"),
            (b"\xfd7zXZ\0", "compressed by xz"),
            (b"\x89HDF\r\n", "HDF5"),
            (b"PAR1\x15", "Parquet"),
            (b"\x93NUMPY\x01", "an array of numpy"),
        ] {
            assert_eq!(found(bytes).found, format!("the file is {name}"));
        }
        assert_eq!(found(b"PK\x03\x04").found, "the file is a ZIP archive or a spreadsheet");
        let latin = found(b"0,20 # \xe9\n");
        assert_eq!(latin.found, "not text in UTF-8 (byte 7 is 0xe9: Latin-1 or another old code)");
        assert_eq!(latin.expected, "UTF-8: save it as UTF-8");
        assert_eq!(found(b"12\xff34\0").found, "not text in UTF-8 (byte 2)");
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
