//! Exports columns to any Arrow reader without copying, through the Arrow C data and C stream interfaces.
//!
//! The structures are those of the Arrow specification ("The Arrow C data interface", "The Arrow C stream interface"). It is a
//! crate of its own, without Python, so that Miri can run its tests (`make miri`): this is `unsafe` code. It is sound because
//! of two rules:
//!
//! * Every exported array holds a reference to the [`Source`] whose buffers it points into, and those never change.
//! * Every structure is freed only by its own `release`, which marks it as released and therefore runs once.
#![allow(unsafe_code, reason = "the C data interface is made of raw pointers")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;

/// An exportable table: it owns the memory of its fields, and never changes.
pub trait Source: Send + Sync {
    /// The columns, each with [`Source::rows`] values.
    fn fields(&self) -> Vec<Field<'_>>;
    /// The number of rows.
    fn rows(&self) -> usize;
}

/// A column.
pub struct Field<'a> {
    /// The name.
    pub name: &'a str,
    /// The values, one per row.
    pub values: Values<'a>,
    /// A bitmap, lowest bit first, with 1 for a value and 0 for null; `None` if there are no nulls.
    pub validity: Option<&'a [u8]>,
}

/// The values of a column in memory.
pub enum Values<'a> {
    /// Doubles.
    F64(&'a [f64]),
    /// Unsigned integers.
    U64(&'a [u64]),
    /// Short unsigned integers.
    U32(&'a [u32]),
    /// Signed integers.
    I64(&'a [i64]),
    /// Booleans as a bitmap, lowest bit first, and their number.
    Bool(&'a [u8], usize),
    /// The code of each row's word, below 2^31, and the dictionary.
    Text(&'a [u32], Words<'a>),
}

/// The dictionary of a text column in Arrow's layout.
#[derive(Clone, Copy)]
pub struct Words<'a> {
    /// The start of each word in `bytes`, and the end of the last one.
    pub offsets: &'a [i32],
    /// The concatenated words in UTF-8.
    pub bytes: &'a [u8],
}

impl Values<'_> {
    fn len(&self) -> usize {
        match self {
            Values::F64(values) => values.len(),
            Values::U64(values) => values.len(),
            Values::U32(values) => values.len(),
            Values::I64(values) => values.len(),
            Values::Bool(bits, length) => (*length).min(bits.len() * 8),
            Values::Text(codes, _) => codes.len(),
        }
    }

    /// The address of the values.
    pub fn address(&self) -> *const c_void {
        match self {
            Values::F64(values) => values.as_ptr().cast(),
            Values::U64(values) => values.as_ptr().cast(),
            Values::U32(values) => values.as_ptr().cast(),
            Values::I64(values) => values.as_ptr().cast(),
            Values::Bool(bits, _) => bits.as_ptr().cast(),
            Values::Text(codes, _) => codes.as_ptr().cast(),
        }
    }

    /// The format string of the Arrow specification.
    fn format(&self) -> &'static CStr {
        match self {
            Values::F64(_) => c"g",
            Values::U64(_) => c"L",
            Values::U32(_) => c"I",
            Values::I64(_) => c"l",
            Values::Bool(..) => c"b",
            // Signed, because pandas does not support unsigned codes.
            Values::Text(..) => c"i",
        }
    }
}

/// An array of the Arrow specification with raw pointers into its [`Source`].
struct Node {
    name: CString,
    format: &'static CStr,
    nullable: bool,
    length: usize,
    /// In the order of the specification: first the validity bitmap (null if all rows are valid).
    buffers: Vec<*const c_void>,
    children: Vec<Node>,
    dictionary: Option<Box<Node>>,
}

impl Node {
    /// The whole table: a struct array (format `+s`) whose children are the columns.
    fn table(source: &dyn Source) -> Node {
        let rows = source.rows();
        let children = source.fields().iter().map(|field| Node::column(field, rows)).collect();
        Node { buffers: vec![null()], children, ..Node::leaf("", c"+s", rows) }
    }

    fn column(field: &Field<'_>, rows: usize) -> Node {
        // Readers rely on the length, so it must be correct.
        assert_eq!(
            field.values.len(),
            rows,
            "the column {} has as many values as the table rows",
            field.name
        );
        assert!(
            field.validity.is_none_or(|bits| bits.len() * 8 >= rows),
            "one bit per row in {}",
            field.name
        );
        let validity = field.validity.map_or(null(), |bits| bits.as_ptr().cast());
        let dictionary = match field.values {
            Values::Text(_, words) => Some(Box::new(Node::words(words))),
            _ => None,
        };
        Node {
            nullable: field.validity.is_some(),
            buffers: vec![validity, field.values.address()],
            dictionary,
            ..Node::leaf(field.name, field.values.format(), rows)
        }
    }

    fn words(words: Words<'_>) -> Node {
        Node {
            buffers: vec![null(), words.offsets.as_ptr().cast(), words.bytes.as_ptr().cast()],
            ..Node::leaf("", c"u", words.offsets.len().saturating_sub(1))
        }
    }

    fn leaf(name: &str, format: &'static CStr, length: usize) -> Node {
        let name = CString::new(name).expect("a column's name is a word of the source");
        Node {
            name,
            format,
            nullable: false,
            length,
            buffers: Vec::new(),
            children: Vec::new(),
            dictionary: None,
        }
    }
}

/// `struct ArrowSchema`.
#[repr(C)]
pub struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

/// `struct ArrowArray`.
#[repr(C)]
pub struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

/// `struct ArrowArrayStream`.
#[repr(C)]
pub struct ArrowArrayStream {
    get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    private_data: *mut c_void,
}

/// ARROW_FLAG_NULLABLE.
const NULLABLE: i64 = 2;

/// The data that an exported schema points to; freed by its `release`.
struct SchemaParts {
    name: CString,
    children: Vec<*mut ArrowSchema>,
}

/// The data that an exported array points to; freed by its `release`.
struct ArrayParts {
    buffers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
    /// Keeps the buffers alive; never read.
    _source: Arc<dyn Source>,
}

/// The state of a stream; freed by its `release`.
struct StreamParts {
    source: Arc<dyn Source>,
    /// Whether the single batch was returned.
    done: bool,
}

/// The schema of a table: that of a struct whose children are the columns.
pub fn schema(source: &dyn Source) -> ArrowSchema {
    schema_of(Node::table(source))
}

/// A table: a struct whose children are the columns.
pub fn array(source: &Arc<dyn Source>) -> ArrowArray {
    array_of(Node::table(&**source), source)
}

/// A stream with one batch, which is the table.
pub fn stream(source: &Arc<dyn Source>) -> ArrowArrayStream {
    let parts = Box::new(StreamParts { source: Arc::clone(source), done: false });
    ArrowArrayStream {
        get_schema: Some(stream_schema),
        get_next: Some(stream_next),
        get_last_error: Some(stream_error),
        release: Some(release_stream),
        private_data: Box::into_raw(parts).cast(),
    }
}

fn schema_of(node: Node) -> ArrowSchema {
    let children = node.children.into_iter().map(|child| Box::into_raw(Box::new(schema_of(child)))).collect();
    let mut parts = Box::new(SchemaParts { name: node.name, children });
    ArrowSchema {
        format: node.format.as_ptr(),
        name: parts.name.as_ptr(),
        metadata: null(),
        flags: if node.nullable { NULLABLE } else { 0 },
        n_children: parts.children.len() as i64,
        children: parts.children.as_mut_ptr(),
        dictionary: node.dictionary.map_or(null_mut(), |words| Box::into_raw(Box::new(schema_of(*words)))),
        release: Some(release_schema),
        private_data: Box::into_raw(parts).cast(),
    }
}

fn array_of(node: Node, source: &Arc<dyn Source>) -> ArrowArray {
    let children =
        node.children.into_iter().map(|child| Box::into_raw(Box::new(array_of(child, source)))).collect();
    let mut parts = Box::new(ArrayParts { buffers: node.buffers, children, _source: Arc::clone(source) });
    ArrowArray {
        length: node.length as i64,
        // -1: not counted; the reader counts if necessary.
        null_count: if node.nullable { -1 } else { 0 },
        offset: 0,
        n_buffers: parts.buffers.len() as i64,
        n_children: parts.children.len() as i64,
        buffers: parts.buffers.as_mut_ptr(),
        children: parts.children.as_mut_ptr(),
        dictionary: node
            .dictionary
            .map_or(null_mut(), |words| Box::into_raw(Box::new(array_of(*words, source)))),
        release: Some(release_array),
        private_data: Box::into_raw(parts).cast(),
    }
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: the consumer passes the structure that it received, or a bitwise copy of it (the specification permits
    // both), before it is released. `private_data` and `dictionary` therefore have the values set by `schema_of`.
    // Children that the consumer has moved out are marked as released, so dropping their boxes frees nothing else.
    unsafe {
        let schema = &mut *schema;
        let parts = Box::from_raw(schema.private_data.cast::<SchemaParts>());
        parts.children.iter().for_each(|&child| drop(Box::from_raw(child)));
        if !schema.dictionary.is_null() {
            drop(Box::from_raw(schema.dictionary));
        }
        schema.release = None;
    }
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: as in `release_schema`, with the values set by `array_of`.
    unsafe {
        let array = &mut *array;
        let parts = Box::from_raw(array.private_data.cast::<ArrayParts>());
        parts.children.iter().for_each(|&child| drop(Box::from_raw(child)));
        if !array.dictionary.is_null() {
            drop(Box::from_raw(array.dictionary));
        }
        array.release = None;
    }
}

unsafe extern "C" fn stream_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: the stream is not released, so its parts are alive. `out` is the consumer's memory for one structure,
    // possibly uninitialised, and is therefore written without dropping the previous value.
    unsafe {
        let parts = &*(*stream).private_data.cast::<StreamParts>();
        out.write(schema(&*parts.source));
    }
    0
}

unsafe extern "C" fn stream_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: as in `stream_schema`; the consumer uses the stream from one thread at a time, so `parts` is unique.
    unsafe {
        let parts = &mut *(*stream).private_data.cast::<StreamParts>();
        out.write(if parts.done { ended() } else { array(&parts.source) });
        parts.done = true;
    }
    0
}

/// A released array, which marks the end of a stream.
fn ended() -> ArrowArray {
    ArrowArray {
        length: 0,
        null_count: 0,
        offset: 0,
        n_buffers: 0,
        n_children: 0,
        buffers: null_mut(),
        children: null_mut(),
        dictionary: null_mut(),
        release: None,
        private_data: null_mut(),
    }
}

unsafe extern "C" fn stream_error(_: *mut ArrowArrayStream) -> *const c_char {
    // No function of the stream fails.
    null()
}

unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    // SAFETY: not yet released, so `private_data` has the value set by `stream`.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<StreamParts>()));
        (*stream).release = None;
    }
}

impl Drop for ArrowSchema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: not yet released, and exclusively owned, since the owner is dropping it.
            unsafe { release(self) }
        }
    }
}

impl Drop for ArrowArray {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: as for the schema.
            unsafe { release(self) }
        }
    }
}

impl Drop for ArrowArrayStream {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: as for the schema.
            unsafe { release(self) }
        }
    }
}

// SAFETY: all pointers point to memory that the structure owns or holds a reference to (a `Source` is Send and Sync),
// and nothing in it belongs to a thread. Python may drop a capsule in any thread.
unsafe impl Send for ArrowSchema {}
// SAFETY: as for the schema.
unsafe impl Send for ArrowArray {}
// SAFETY: as for the schema.
unsafe impl Send for ArrowArrayStream {}

#[cfg(test)]
mod tests;
