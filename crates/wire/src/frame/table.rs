//! The macro that generates the value, the decoder, the encoder, the size and the properties of a frame from its
//! description.

/// Whether a column of RFC 9000 table 3 contains a letter.
pub(super) const fn has(column: &str, letter: u8) -> bool {
    let mut at = 0;
    while at < column.len() {
        if column.as_bytes()[at] == letter {
            return true;
        }
        at += 1;
    }
    false
}

/// Generates [`Frame`](super::Frame) from one description per frame: documentation, fields, type, name, and the columns
/// "Pkts" and "Spec" of RFC 9000 table 3.
///
/// A field is written as `name: type as codec`, in wire order. `if problem unless condition` is checked after all
/// fields are read. Frames that are in nearly every packet or have a special form are listed under `@special`; their
/// decoder is in `decode`, their encoder in `encode`.
macro_rules! frames {
    (
        $(
            $(#[doc = $doc:literal])*
            $variant:ident $({
                $( $(#[doc = $field_doc:literal])* $field:ident: $type:ty as $codec:ty, )*
            })? = $code:literal $(or $other:literal)?, $name:literal, $packets:literal, $spec:literal
            $(, $problem:ident unless $condition:expr)?;
        )*
        @special
        $(
            $(#[doc = $special_doc:literal])*
            $special:ident $body:tt = $special_name:literal, $special_packets:literal, $special_spec:literal;
        )*
    ) => {
        /// A frame. Integers have their values on the wire: delays are not scaled, and application error codes are not
        /// interpreted.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Frame<'a> {
            $(
                $(#[doc = $doc])*
                $variant $({ $( $(#[doc = $field_doc])* $field: $type, )* })?,
            )*
            $( $(#[doc = $special_doc])* $special $body, )*
        }

        impl<'a> Frame<'a> {
            /// The name in the RFC.
            pub const fn name(&self) -> &'static str {
                match self {
                    $( Frame::$variant { .. } => $name, )*
                    $( Frame::$special { .. } => $special_name, )*
                }
            }

            /// The column "Pkts" of RFC 9000 table 3.
            #[inline]
            const fn packets(&self) -> &'static str {
                match self {
                    $( Frame::$variant { .. } => $packets, )*
                    $( Frame::$special { .. } => $special_packets, )*
                }
            }

            /// Whether a packet with this frame must be acknowledged: all but those marked N (RFC 9000 table 3).
            #[inline]
            pub const fn is_ack_eliciting(&self) -> bool {
                match self {
                    $( Frame::$variant { .. } => const { !has($spec, b'N') }, )*
                    $( Frame::$special { .. } => const { !has($special_spec, b'N') }, )*
                }
            }

            /// Whether the frame may be in a probing packet: those marked P (RFC 9000 table 3, section 9.1).
            #[inline]
            pub const fn is_probing(&self) -> bool {
                match self {
                    $( Frame::$variant { .. } => const { has($spec, b'P') }, )*
                    $( Frame::$special { .. } => const { has($special_spec, b'P') }, )*
                }
            }

            /// Reads the fields of a frame that is not special.
            #[inline(never)]
            fn read(reader: &mut Reader<'a>, frame_type: u64) -> Result<Frame<'a>, FrameProblem> {
                match frame_type {
                    $(
                        $code $(| $other)? => {
                            $( $( let $field = <$codec as Codec<'a>>::read(reader, frame_type)?; )* )?
                            $( if !$condition { return Err(FrameProblem::$problem); } )?
                            Ok(Frame::$variant $({ $($field),* })?)
                        }
                    )*
                    // RFC 9000-12.4-4: "receipt of a frame of unknown type".
                    _ => Err(FrameProblem::UnknownType),
                }
            }

            /// The type of a frame that is not special.
            fn plain_type(&self) -> u64 {
                match self {
                    $( Frame::$variant $({ $($field),* })? => {
                        $code $( $( + <$codec as Codec<'a>>::bit($field) )* )?
                    } )*
                    $( Frame::$special { .. } => 0, )*
                }
            }
            /// Appends the fields of a frame that is not special.
            fn write(&self, out: &mut Vec<u8>) {
                match self {
                    $( Frame::$variant $({ $($field),* })? => {
                        $( $( <$codec as Codec<'a>>::write($field, out); )* )?
                    } )*
                    $( Frame::$special { .. } => {} )*
                }
                let _ = &out;
            }
            /// Calls `show` for each field with its name. ACK, STREAM and DATAGRAM have no fields here.
            pub fn fields(&self, mut show: impl FnMut(&'static str, Field<'_>)) {
                match self {
                    $( Frame::$variant $({ $($field),* })? => {
                        $( $( show(stringify!($field), <$codec as Codec<'a>>::show($field)); )* )?
                    } )*
                    $( Frame::$special { .. } => {} )*
                }
                let _ = &mut show;
            }
            /// Builds the frame with this name (CONNECTION_CLOSE means type 0x1c) from these values. Returns `None` for
            /// ACK, STREAM, DATAGRAM and unknown names.
            ///
            /// # Errors
            /// If a value does not fit into its field.
            #[allow(unreachable_patterns, reason = "CONNECTION_CLOSE is the name of two frames")]
            pub fn named(name: &str, source: &dyn FieldSource<'a>) -> Option<Result<Frame<'a>, String>> {
                let build = || {
                    Ok(Some(match name {
                        $( $name => Frame::$variant $({
                            $( $field: <$codec as Codec<'a>>::take(stringify!($field), source)?, )*
                        })?, )*
                        _ => return Ok(None),
                    }))
                };
                build().transpose()
            }
            /// The number of bytes that `write` appends.
            fn size(&self) -> usize {
                match self {
                    $( Frame::$variant $({ $($field),* })? => {
                        0 $( $( + <$codec as Codec<'a>>::size($field) )* )?
                    } )*
                    $( Frame::$special { .. } => 0, )*
                }
            }
        }
    };
}
pub(super) use frames;
