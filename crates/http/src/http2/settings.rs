//! Settings (RFC 9113 section 6.5).

use super::{Code, DEFAULT_WINDOW, Error, MAX_FRAME, MAX_WINDOW};
use wire::Reader;

/// The settings of one side. The peer's start with the defaults of section 6.5.2, and each SETTINGS frame changes
/// some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// SETTINGS_HEADER_TABLE_SIZE: the dynamic table of this side's decoder, in bytes.
    pub header_table_size: u32,
    /// SETTINGS_ENABLE_PUSH.
    pub enable_push: bool,
    /// SETTINGS_MAX_CONCURRENT_STREAMS; `None` for no limit.
    pub max_concurrent_streams: Option<u32>,
    /// SETTINGS_INITIAL_WINDOW_SIZE: the initial send window of a new stream, in bytes.
    pub initial_window: u32,
    /// SETTINGS_MAX_FRAME_SIZE: the largest payload of a frame, in bytes.
    pub max_frame: u32,
    /// SETTINGS_MAX_HEADER_LIST_SIZE: the largest field section, in bytes; `None` for no limit.
    pub max_header_list: Option<u32>,
    /// SETTINGS_NO_RFC7540_PRIORITIES (RFC 9218 section 2.1).
    pub no_rfc7540_priorities: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            header_table_size: 4096,
            enable_push: true,
            max_concurrent_streams: None,
            initial_window: DEFAULT_WINDOW,
            max_frame: MAX_FRAME,
            max_header_list: None,
            no_rfc7540_priorities: false,
        }
    }
}

/// The identifiers.
mod id {
    pub(super) const HEADER_TABLE_SIZE: u16 = 1;
    pub(super) const ENABLE_PUSH: u16 = 2;
    pub(super) const MAX_CONCURRENT_STREAMS: u16 = 3;
    pub(super) const INITIAL_WINDOW_SIZE: u16 = 4;
    pub(super) const MAX_FRAME_SIZE: u16 = 5;
    pub(super) const MAX_HEADER_LIST_SIZE: u16 = 6;
    pub(super) const NO_RFC7540_PRIORITIES: u16 = 9;
}

impl Settings {
    /// Appends the payload of a SETTINGS frame with the values that differ from the default.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let default = Settings::default();
        let mut put = |id: u16, value: u32, usual: u32| {
            if value != usual {
                out.extend_from_slice(&id.to_be_bytes());
                out.extend_from_slice(&value.to_be_bytes());
            }
        };
        put(id::HEADER_TABLE_SIZE, self.header_table_size, default.header_table_size);
        put(id::ENABLE_PUSH, self.enable_push.into(), 1);
        // No value stands for "no limit"; the largest one comes closest.
        put(id::MAX_CONCURRENT_STREAMS, self.max_concurrent_streams.unwrap_or(u32::MAX), u32::MAX);
        put(id::INITIAL_WINDOW_SIZE, self.initial_window, default.initial_window);
        put(id::MAX_FRAME_SIZE, self.max_frame, default.max_frame);
        put(id::MAX_HEADER_LIST_SIZE, self.max_header_list.unwrap_or(u32::MAX), u32::MAX);
        put(id::NO_RFC7540_PRIORITIES, self.no_rfc7540_priorities.into(), 0);
    }

    /// The settings in the payload of a SETTINGS frame, each for [`Settings::update`], in the order in which they
    /// must be processed (section 6.5.3).
    ///
    /// # Errors
    /// FRAME_SIZE_ERROR if the payload ends within a setting.
    pub fn split(payload: &[u8]) -> Result<impl Iterator<Item = &[u8]>, Error> {
        if !payload.len().is_multiple_of(6) {
            return Err(Error::connection(
                Code::FRAME_SIZE_ERROR,
                "a SETTINGS frame that ends inside a setting",
            ));
        }
        Ok(payload.chunks(6))
    }

    /// Applies the payload of a SETTINGS frame; unknown settings are ignored (section 6.5.2).
    ///
    /// # Errors
    /// The connection errors that section 6.5 names.
    pub fn update(&mut self, payload: &[u8]) -> Result<(), Error> {
        for setting in Settings::split(payload)? {
            let mut reader = Reader::new(setting);
            let (Ok(id), Ok(value)) = (reader.u16(), reader.u32()) else { break };
            let limit = (value != u32::MAX).then_some(value);
            match id {
                id::HEADER_TABLE_SIZE => self.header_table_size = value,
                id::ENABLE_PUSH => self.enable_push = flag(value, "ENABLE_PUSH is neither 0 nor 1")?,
                id::MAX_CONCURRENT_STREAMS => self.max_concurrent_streams = limit,
                id::INITIAL_WINDOW_SIZE if value > MAX_WINDOW => {
                    let why = "INITIAL_WINDOW_SIZE is larger than a window can be";
                    return Err(Error::connection(Code::FLOW_CONTROL_ERROR, why));
                }
                id::INITIAL_WINDOW_SIZE => self.initial_window = value,
                id::MAX_FRAME_SIZE if !(MAX_FRAME..1 << 24).contains(&value) => {
                    return Err(Error::connection(Code::PROTOCOL_ERROR, "MAX_FRAME_SIZE is out of range"));
                }
                id::MAX_FRAME_SIZE => self.max_frame = value,
                id::MAX_HEADER_LIST_SIZE => self.max_header_list = limit,
                id::NO_RFC7540_PRIORITIES => {
                    self.no_rfc7540_priorities = flag(value, "NO_RFC7540_PRIORITIES is neither 0 nor 1")?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn flag(value: u32, why: &'static str) -> Result<bool, Error> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Error::connection(Code::PROTOCOL_ERROR, why)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn update(id: u16, value: u32) -> Result<Settings, Code> {
        let mut settings = Settings::default();
        let payload = [&id.to_be_bytes()[..], &value.to_be_bytes()].concat();
        settings.update(&payload).map(|()| settings).map_err(|error| error.code)
    }

    /// RFC 9113 sections 6.5 and 6.5.2, RFC 9218 section 2.1.
    #[test]
    fn invalid_settings_are_refused() {
        assert_eq!(update(2, 2), Err(Code::PROTOCOL_ERROR));
        assert_eq!(update(4, 1 << 31), Err(Code::FLOW_CONTROL_ERROR));
        assert_eq!(update(5, 16_383), Err(Code::PROTOCOL_ERROR));
        assert_eq!(update(5, 1 << 24), Err(Code::PROTOCOL_ERROR));
        assert_eq!(update(9, 2), Err(Code::PROTOCOL_ERROR));
        assert_eq!(update(0x1234, u32::MAX), Ok(Settings::default()));
        assert_eq!(Settings::default().update(&[0; 5]).unwrap_err().code, Code::FRAME_SIZE_ERROR);
        assert_eq!(update(3, 0).unwrap().max_concurrent_streams, Some(0));
    }

    proptest! {
        #[test]
        fn settings_come_back(
            header_table_size: u32, enable_push: bool, streams in proptest::option::of(0..u32::MAX),
            initial_window in 0..=MAX_WINDOW, max_frame in MAX_FRAME..1 << 24,
            list in proptest::option::of(0..u32::MAX), no_rfc7540_priorities: bool,
        ) {
            let settings = Settings {
                header_table_size, enable_push, max_concurrent_streams: streams, initial_window, max_frame,
                max_header_list: list, no_rfc7540_priorities,
            };
            let (mut payload, mut again) = (Vec::new(), Settings::default());
            settings.encode(&mut payload);
            prop_assert_eq!(again.update(&payload), Ok(()));
            prop_assert_eq!(again, settings);
        }
    }
}
