//! A reader of the C interfaces, which takes the structures apart as the specification permits. Miri finds what it reads after
//! its release, releases twice, or never (`make miri`).

use super::*;
use std::mem::MaybeUninit;
use std::ptr::read;
use std::sync::Mutex;

/// A table with a column of each kind, which notes its end.
struct Columns {
    doubles: Vec<f64>,
    codes: Vec<u32>,
    offsets: Vec<i32>,
    words: Vec<u8>,
    validity: Vec<u8>,
    ended: Arc<Mutex<u32>>,
}

impl Source for Columns {
    fn fields(&self) -> Vec<Field<'_>> {
        let words = Words { offsets: &self.offsets, bytes: &self.words };
        vec![
            Field { name: "at_s", values: Values::F64(&self.doubles), validity: None },
            Field { name: "rtt_ms", values: Values::F64(&self.doubles), validity: Some(&self.validity) },
            Field { name: "is_lost", values: Values::Bool(&self.validity, 3), validity: None },
            Field { name: "flow", values: Values::Text(&self.codes, words), validity: None },
        ]
    }
    fn rows(&self) -> usize {
        self.doubles.len()
    }
}

impl Drop for Columns {
    fn drop(&mut self) {
        *self.ended.lock().unwrap() += 1;
    }
}

/// A table, and how often such tables have ended.
fn table() -> (Arc<dyn Source>, Arc<Mutex<u32>>) {
    let ended = Arc::default();
    let columns = Columns {
        doubles: vec![0.5, 1.5, 2.5],
        codes: vec![1, 0, 1],
        offsets: vec![0, 3, 9],
        words: b"getupload".to_vec(),
        validity: vec![0b101],
        ended: Arc::clone(&ended),
    };
    (Arc::new(columns), ended)
}

fn text<'a>(of: *const c_char) -> &'a str {
    // SAFETY: names and formats end with a zero, and live as long as their structure.
    unsafe { CStr::from_ptr(of) }.to_str().unwrap()
}

/// A list of what a structure points to.
fn list<'a, T>(start: *const T, count: i64) -> &'a [T] {
    // SAFETY: the structure states this number of items.
    unsafe { std::slice::from_raw_parts(start, count as usize) }
}

/// The columns in the batch of a stream, as a reader sees them.
fn read_columns(schema: &ArrowSchema, array: &ArrowArray) -> Vec<String> {
    assert_eq!((text(schema.format), array.length, array.null_count), ("+s", 3, 0));
    assert_eq!(schema.n_children, array.n_children);
    let columns = list(schema.children, schema.n_children).iter().zip(list(array.children, array.n_children));
    let read = columns.map(|(schema, array)| {
        // SAFETY: the children live as long as their parents.
        let (schema, array) = unsafe { (&**schema, &**array) };
        let buffers = list(array.buffers, array.n_buffers);
        let values: Vec<String> = match text(schema.format) {
            "g" => list(buffers[1].cast::<f64>(), array.length).iter().map(f64::to_string).collect(),
            "b" => vec![format!("{:b}", list(buffers[1].cast::<u8>(), 1)[0])],
            "i" => {
                // SAFETY: a column of text has a dictionary.
                let words = unsafe { &*array.dictionary };
                let buffers_of_words = list(words.buffers, words.n_buffers);
                let offsets = list(buffers_of_words[1].cast::<i32>(), words.length + 1);
                let bytes = list(buffers_of_words[2].cast::<u8>(), offsets[2].into());
                let word = |code: &u32| {
                    let (from, to) = (offsets[*code as usize], offsets[*code as usize + 1]);
                    String::from_utf8_lossy(&bytes[from as usize..to as usize]).into_owned()
                };
                list(buffers[1].cast::<u32>(), array.length).iter().map(word).collect()
            }
            other => panic!("a column of the format {other}"),
        };
        let nulls = if schema.flags == NULLABLE { " with nulls" } else { "" };
        assert_eq!(buffers[0].is_null(), nulls.is_empty());
        format!("{}{nulls}: {}", text(schema.name), values.join(" "))
    });
    read.collect()
}

#[test]
fn a_stream_is_one_batch_that_outlives_the_stream_and_the_table() {
    let (source, ended) = table();
    let mut stream = stream(&source);
    drop(source);
    let (mut schema, mut batch, mut end) =
        (MaybeUninit::uninit(), MaybeUninit::uninit(), MaybeUninit::<ArrowArray>::uninit());
    let (get_schema, get_next) = (stream.get_schema.unwrap(), stream.get_next.unwrap());
    // SAFETY: as a reader calls it, with memory for one structure each.
    let (schema, batch, end) = unsafe {
        assert_eq!(get_schema(&raw mut stream, schema.as_mut_ptr()), 0);
        assert_eq!(get_next(&raw mut stream, batch.as_mut_ptr()), 0);
        assert_eq!(get_next(&raw mut stream, end.as_mut_ptr()), 0);
        (schema.assume_init(), batch.assume_init(), end.assume_init())
    };
    assert!(end.release.is_none(), "there is one batch");
    drop(stream);
    let columns =
        ["at_s: 0.5 1.5 2.5", "rtt_ms with nulls: 0.5 1.5 2.5", "is_lost: 101", "flow: upload get upload"];
    assert_eq!(read_columns(&schema, &batch), columns);
    assert_eq!(*ended.lock().unwrap(), 0);
    drop((schema, batch));
    assert_eq!(*ended.lock().unwrap(), 1, "the table ends with the last that was exported of it");
}

/// "Moving child arrays": a reader copies a child bit by bit, marks the original as released, and releases the parent first.
#[test]
fn a_child_that_was_moved_out_outlives_its_parent() {
    let (source, ended) = table();
    let (schema, array) = (schema(&*source), array(&source));
    drop(source);
    // SAFETY: as the specification says.
    let (name, column) = unsafe {
        let (name, column) = (*schema.children.add(3), *array.children.add(3));
        let moved = (read(name), read(column));
        (*name).release = None;
        (*column).release = None;
        moved
    };
    drop((schema, array));
    assert_eq!(*ended.lock().unwrap(), 0, "the column holds the table");
    assert_eq!(text(name.name), "flow");
    assert_eq!(list(list(column.buffers, 2)[1].cast::<u32>(), 3), [1, 0, 1]);
    drop((name, column));
    assert_eq!(*ended.lock().unwrap(), 1);
}

/// A structure is released by its own function, which marks it: its owner then drops it without effect.
#[test]
fn what_was_released_by_its_reader_is_not_released_again() {
    let (source, ended) = table();
    let (mut schema, mut array, mut stream) = (schema(&*source), array(&source), stream(&source));
    drop(source);
    // SAFETY: none was released before.
    unsafe {
        schema.release.unwrap()(&raw mut schema);
        array.release.unwrap()(&raw mut array);
        stream.release.unwrap()(&raw mut stream);
    }
    assert!(schema.release.is_none() && array.release.is_none() && stream.release.is_none());
    assert_eq!(*ended.lock().unwrap(), 1);
    drop((schema, array, stream));
    assert_eq!(*ended.lock().unwrap(), 1);
}
