//! Computes a hash of the simulator's sources. A sweep reuses only runs of the same program, and the version alone does not
//! change during development.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Crates above this one, which affect no run.
const ABOVE: [&str; 4] = ["live", "python", "script", "tidy"];

fn main() -> io::Result<()> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders: Vec<PathBuf> =
        fs::read_dir(&crates)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
    folders.retain(|path| !ABOVE.iter().any(|name| path.ends_with(name)));
    let mut places: Vec<PathBuf> = folders.iter().map(|folder| folder.join("src")).collect();
    // Libraries affect sizes, too.
    places.push(crates.join("../Cargo.lock"));
    places.retain(|place| place.exists());
    places.sort();
    let mut hash = Fnv::new();
    for place in places {
        println!("cargo::rerun-if-changed={}", place.display());
        add(&place, &crates, &mut hash)?;
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=QUICLAB_SOURCES={:032x}", hash.0);
    Ok(())
}

/// Adds a file, or all files of a folder in the order of their names.
fn add(place: &Path, crates: &Path, hash: &mut Fnv) -> io::Result<()> {
    if place.is_dir() {
        let mut inside: Vec<PathBuf> =
            fs::read_dir(place)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
        inside.sort();
        return inside.iter().try_for_each(|place| add(place, crates, hash));
    }
    // The place of the checkout does not count.
    let name = place.strip_prefix(crates).unwrap_or(place).to_string_lossy().replace('\\', "/");
    let contents = fs::read(place)?;
    for part in [name.as_bytes(), &contents] {
        hash.add(&(part.len() as u64).to_le_bytes());
        hash.add(part);
    }
    Ok(())
}

/// FNV-1a with 128 bits (draft-eastlake-fnv). It distinguishes sources, but does not resist deliberate collisions.
struct Fnv(u128);

impl Fnv {
    fn new() -> Fnv {
        Fnv(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }
}
