//! The quality of experience of a playback, in numbers.
