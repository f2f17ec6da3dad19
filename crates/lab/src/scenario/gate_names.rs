//! The names of gates, which are host names, and parts of the names of environment variables.
//!
//! Programs in a gate find the other gates by `/etc/hosts` and by the variables `QUICLAB_NAME` and `QUICLAB_NAME_IPV6`. A name must not
//! hide another one there, nor be read as an address.

use super::source::quoted;
use std::collections::BTreeMap;

/// The names that systems give to their own addresses, in small letters (RFC 6761 section 6.3; `/etc/hosts` of Linux and macOS).
const RESERVED: &[&str] = &[
    "localhost",
    "localhost4",
    "localhost6",
    "localhost.localdomain",
    "localhost4.localdomain4",
    "localhost6.localdomain6",
    "localdomain",
    "loopback",
    "broadcasthost",
    "ip6-localhost",
    "ip6-loopback",
    "ip6-localnet",
    "ip6-mcastprefix",
    "ip6-allnodes",
    "ip6-allrouters",
    "ip6-allhosts",
];
/// The variables that have another meaning.
const OTHER_VARIABLES: &[&str] = &["GATE", "LEASH", "SOURCES", "TRACEBACK"];
/// The longest label of a host name (RFC 1035 section 2.3.4).
const LONGEST_LABEL: usize = 63;

/// The gates so far.
#[derive(Debug, Default)]
pub(super) struct GateNames<'n> {
    /// The gate that each variable belongs to.
    variables: BTreeMap<String, &'n str>,
}

impl<'n> GateNames<'n> {
    /// Adds a gate. Returns what is wrong with its name, if anything is.
    pub(super) fn add(&mut self, name: &'n str) -> Option<String> {
        let found = quoted(name);
        if let Some((problem, expected)) = unusable(name) {
            return Some(format!(
                "a gate cannot have this name, {problem}, found {found}; expected {expected}"
            ));
        }
        let variable: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
            .collect();
        for variable in [variable.clone(), format!("{variable}_IPV6")] {
            let other = match self.variables.insert(variable.clone(), name) {
                Some(gate) => format!("of the gate {}", quoted(gate)),
                None if OTHER_VARIABLES.contains(&variable.as_str()) => "of quiclab itself".to_owned(),
                None => continue,
            };
            return Some(format!(
                "a gate cannot have this name, its variable QUICLAB_{variable} is that {other}, found {found}; expected another name"
            ));
        }
        None
    }
}

/// Whether a node can be found by its name, whatever it is.
pub(crate) fn is_host_name(name: &str) -> bool {
    unusable(name).is_none()
}

/// Why a name cannot be that of a host, and what would be right.
fn unusable(name: &str) -> Option<(&'static str, &'static str)> {
    let small = name.to_ascii_lowercase();
    if RESERVED.contains(&small.as_str()) || small.ends_with(".localhost") {
        return Some(("which means the machine itself", "another name, like phone"));
    }
    let mut labels = small.split('.');
    let is_label = |label: &str| {
        !label.is_empty() && label.len() <= LONGEST_LABEL && !label.starts_with('-') && !label.ends_with('-')
    };
    if !labels.clone().all(is_label) {
        return Some((
            "which is not a host name",
            "parts of 1 to 63 letters, digits, - and _ that do not begin or end with -, separated by dots",
        ));
    }
    // The last part of an address is a number, in decimal or with 0x (inet_aton; RFC 1123 section 2.1).
    let is_number = |label: &str| {
        let hexadecimal =
            label.strip_prefix("0x").is_some_and(|rest| rest.chars().all(|c| c.is_ascii_hexdigit()));
        hexadecimal || label.chars().all(|c| c.is_ascii_digit())
    };
    labels
        .next_back()
        .is_some_and(is_number)
        .then_some(("which programs read as an address", "a name whose last part is not a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem_of(names: &[&str]) -> Option<String> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let mut gates = GateNames::default();
        names.iter().map(|name| gates.add(name)).last().flatten()
    }

    #[test]
    fn a_name_is_that_of_a_host() {
        let longest = "a".repeat(63);
        for name in
            ["phone", "Phone-2", "a.b", "3com", "ip6-client", "my_gate", "0xg", "1.com", "local", &longest]
        {
            assert_eq!(problem_of(&[name]), None, "{name}");
        }
        let too_long = "a".repeat(64);
        for (names, problem) in [
            (["localhost", "LocalHost", "localhost.localdomain", "my.localhost"], "the machine itself"),
            (["ip6-localhost", "IP6-allnodes", "broadcasthost", "localhost6"], "the machine itself"),
            (["10.0.0.1", "7", "0x7f.1", "a.5"], "an address"),
            (["a..b", "a.", "a-", &too_long], "not a host name"),
            (["gate", "Gate", "leash", "LEASH"], "of quiclab itself"),
        ] {
            for name in names {
                let told = problem_of(&[name]).unwrap_or_default();
                // A long name is shown by its beginning.
                let shown = &name[..name.len().min(40)];
                assert!(told.contains(problem) && told.contains(shown), "{name}: {told}");
            }
        }
    }

    #[test]
    fn a_name_hides_no_other() {
        for (first, second) in
            [("phone", "Phone"), ("a-b", "a_b"), ("a.b", "A-B"), ("x", "x-ipv6"), ("x-ipv6", "X")]
        {
            let told = problem_of(&[first, second]).unwrap_or_default();
            assert!(told.contains(first) && told.contains(second), "{first}, {second}: {told}");
        }
        assert_eq!(problem_of(&["a", "b", "a-b"]), None);
    }
}
