//! The common part of the error codes of HTTP/2 and HTTP/3: numbers with names.

/// Defines a type of error codes: constants with their numbers and their names in the RFC.
macro_rules! codes {
    (
        $(#[$about:meta])* $type:ident($number:ty);
        $($(#[$doc:meta])* $constant:ident = $value:literal $name:literal;)*
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $type(pub $number);

        impl $type {
            $($(#[$doc])* pub const $constant: $type = $type($value);)*

            /// The name in the RFC; `None` for an unknown code.
            pub fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($value => Some($name),)*
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $type {
            /// The name, or the number of an unknown code.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, "{:#x}", self.0),
                }
            }
        }
    };
}

pub(crate) use codes;

#[cfg(test)]
mod tests {
    use crate::{Code, http2};

    /// RFC 9114 section 8.1, RFC 9204 section 6, RFC 9113 section 7.
    #[test]
    fn codes_print_their_names() {
        let of_http3 = [Code(0x10e), Code(0x200), Code(0x21)].map(|code| code.to_string());
        assert_eq!(of_http3, ["H3_MESSAGE_ERROR", "QPACK_DECOMPRESSION_FAILED", "0x21"]);
        let of_http2 = [http2::Code(0xb), http2::Code(0xe)].map(|code| code.to_string());
        assert_eq!(of_http2, ["ENHANCE_YOUR_CALM", "0xe"]);
    }
}
