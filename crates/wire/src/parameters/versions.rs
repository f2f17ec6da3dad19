//! The transport parameter version_information (RFC 9368 section 3).

use crate::Version;
use std::fmt;
use units::parameter::{Accepted, Choice, Kind, Value};

/// The version information of one side: the chosen version and the available ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VersionInformation {
    /// The version that the sender has chosen for this connection.
    pub chosen: Version,
    /// From a client: the versions that its first flight is compatible with, in order of preference. From a server: the
    /// versions of its deployment, in any order; possibly none.
    pub available: VersionList,
}

/// A list of distinct versions. It holds at most eight: of a longer list it keeps the supported versions
/// ([`Version::SUPPORTED`]) and the first of the others.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct VersionList {
    versions: [u32; VersionList::CAPACITY],
    length: u8,
}

impl VersionList {
    /// The maximum length.
    pub const CAPACITY: usize = 8;

    /// Appends a version unless the list contains it.
    pub fn push(&mut self, version: Version) {
        if self.contains(version) {
            return;
        }
        if usize::from(self.length) == VersionList::CAPACITY {
            let known = |version: &u32| Version(*version).is_supported();
            let Some(other) = self.versions.iter().rposition(|kept| !known(kept)) else { return };
            if !version.is_supported() {
                return;
            }
            self.versions.copy_within(other + 1.., other);
            self.length -= 1;
        }
        self.versions[usize::from(self.length)] = version.0;
        self.length += 1;
    }

    /// The versions in order.
    pub fn iter(&self) -> impl Iterator<Item = Version> + '_ {
        self.versions[..usize::from(self.length)].iter().map(|version| Version(*version))
    }
    /// Whether a version is in the list.
    pub fn contains(&self, version: Version) -> bool {
        self.iter().any(|known| known == version)
    }
    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}

impl FromIterator<Version> for VersionList {
    fn from_iter<T: IntoIterator<Item = Version>>(versions: T) -> VersionList {
        let mut list = VersionList::default();
        versions.into_iter().for_each(|version| list.push(version));
        list
    }
}

/// A supported version, as an option names it.
#[derive(Choice)]
enum Supported {
    #[word("1")]
    V1,
    #[word("2")]
    V2,
}

/// The versions that an endpoint supports, as an option says it.
impl Accepted for VersionList {
    const KIND: Kind = Kind::Preference(Supported::WORDS);
    fn accept(value: &Value) -> Option<VersionList> {
        let versions = Vec::<Supported>::accept(value)?;
        let version = |version| match version {
            Supported::V1 => Version::V1,
            Supported::V2 => Version::V2,
        };
        Some(versions.into_iter().map(version).collect())
    }
}

impl fmt::Debug for VersionList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_keeps_supported_versions() {
        let others = (0..100).map(|n| Version(0x0a0a_0a0a + 0x1000_0000 * (n % 10) + 0x10 * (n / 10)));
        let list: VersionList = others.chain([Version::V1, Version::V1, Version::V2]).collect();
        let kept: Vec<Version> = list.iter().collect();
        assert_eq!(kept.len(), VersionList::CAPACITY);
        assert_eq!(kept[6..], [Version::V1, Version::V2]);
        assert_eq!(kept[0], Version(0x0a0a_0a0a));
    }
}
