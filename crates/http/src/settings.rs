//! The payload of a SETTINGS frame (RFC 9114 section 7.2.4).

use crate::{Code, Violation};
use wire::{Reader, varint};

const QPACK_MAX_TABLE_CAPACITY: u64 = 0x01;
const MAX_FIELD_SECTION_SIZE: u64 = 0x06;
const QPACK_BLOCKED_STREAMS: u64 = 0x07;

/// The maximum number of settings read from a frame.
const MAX_SETTINGS: usize = 64;

/// The settings that an endpoint announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Settings {
    /// The maximum dynamic table of the peer's encoder in bytes (RFC 9204 section 5); 0 by default.
    pub qpack_max_table_capacity: u64,
    /// The maximum number of streams that may wait for entries of that table (RFC 9204 section 5); 0 by default.
    pub qpack_blocked_streams: u64,
    /// The largest field section accepted in bytes, as counted by [`crate::qpack::Field::size`]; no limit by default.
    pub max_field_section_size: Option<u64>,
}

impl Settings {
    /// Appends the payload, without default values.
    ///
    /// # Panics
    /// If a value is above 2^62 - 1.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut put = |identifier, value| {
            varint::encode(out, identifier);
            varint::encode(out, value);
        };
        if self.qpack_max_table_capacity != 0 {
            put(QPACK_MAX_TABLE_CAPACITY, self.qpack_max_table_capacity);
        }
        if self.qpack_blocked_streams != 0 {
            put(QPACK_BLOCKED_STREAMS, self.qpack_blocked_streams);
        }
        if let Some(size) = self.max_field_section_size {
            put(MAX_FIELD_SECTION_SIZE, size);
        }
    }

    /// Reads a payload.
    ///
    /// # Errors
    /// H3_FRAME_ERROR if it ends within a setting; H3_SETTINGS_ERROR for a repeated or forbidden setting;
    /// H3_EXCESSIVE_LOAD for more than 64 settings.
    pub fn decode(payload: &[u8]) -> Result<Settings, Violation> {
        let cut = |_| Violation::new(Code::FRAME_ERROR, "SETTINGS ends inside a setting");
        let mut settings = Settings::default();
        let mut seen: Vec<u64> = Vec::new();
        let mut reader = Reader::new(payload);
        while !reader.is_empty() {
            let identifier = reader.varint().map_err(cut)?;
            let value = reader.varint().map_err(cut)?;
            // RFC 9114 section 7.2.4: a receiver may treat a repetition as an error.
            if seen.contains(&identifier) {
                return Err(Violation::new(Code::SETTINGS_ERROR, "a setting occurs twice"));
            }
            if seen.len() == MAX_SETTINGS {
                return Err(Violation::new(Code::EXCESSIVE_LOAD, "too many settings"));
            }
            seen.push(identifier);
            match identifier {
                QPACK_MAX_TABLE_CAPACITY => settings.qpack_max_table_capacity = value,
                QPACK_BLOCKED_STREAMS => settings.qpack_blocked_streams = value,
                MAX_FIELD_SECTION_SIZE => settings.max_field_section_size = Some(value),
                // RFC 9114 section 7.2.4.1: the settings reserved in section 11.2.2, those of HTTP/2 without a
                // counterpart, and 0.
                0x00 | 0x02..=0x05 => {
                    return Err(Violation::new(
                        Code::SETTINGS_ERROR,
                        "a reserved setting, such as one of HTTP/2",
                    ));
                }
                // Section 7.2.4: unknown settings are ignored.
                _ => {}
            }
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn code(payload: &[u8]) -> Code {
        Settings::decode(payload).unwrap_err().code
    }

    #[test]
    fn unknown_settings_are_ignored() {
        assert_eq!(Settings::decode(&[]), Ok(Settings::default()));
        // A reserved identifier of section 7.2.4.1: 0x1f * 2 + 0x21.
        let settings = Settings::decode(&[0x40, 0x5f, 0x09, 0x06, 0x44, 0x00, 0x01, 0x10]).unwrap();
        assert_eq!((settings.max_field_section_size, settings.qpack_max_table_capacity), (Some(1024), 16));
    }

    /// RFC 9114 sections 7.2.4, 7.2.4.1, 11.2.2 and 7.1.
    #[test]
    fn forbidden_settings_are_refused() {
        for forbidden in [0, 2, 3, 4, 5] {
            assert_eq!(code(&[forbidden, 0]), Code::SETTINGS_ERROR);
        }
        assert_eq!(code(&[6, 1, 6, 1]), Code::SETTINGS_ERROR);
        assert_eq!(code(&[0x21, 1, 0x21, 1]), Code::SETTINGS_ERROR);
        assert_eq!(code(&[6]), Code::FRAME_ERROR);
        assert_eq!(code(&[6, 0x40]), Code::FRAME_ERROR);
        let mut many = Vec::new();
        (100..200).for_each(|identifier| many.extend_from_slice(&[0x40, identifier, 0]));
        assert_eq!(code(&many), Code::EXCESSIVE_LOAD);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(capacity in 0..=varint::MAX, blocked in 0..=varint::MAX, size in proptest::option::of(0..=varint::MAX)) {
            let settings = Settings {
                qpack_max_table_capacity: capacity,
                qpack_blocked_streams: blocked,
                max_field_section_size: size,
            };
            let mut out = Vec::new();
            settings.encode(&mut out);
            prop_assert_eq!(Settings::decode(&out), Ok(settings));
        }

        #[test]
        fn no_input_panics(bytes: Vec<u8>) {
            let _ = Settings::decode(&bytes);
        }
    }
}
