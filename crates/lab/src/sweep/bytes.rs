//! Counts and text as bytes of a record.

pub(super) fn put_count(out: &mut Vec<u8>, count: usize) {
    out.extend_from_slice(&(count as u64).to_le_bytes());
}

pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_count(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

pub(super) fn take<'a>(input: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = input.split_at_checked(length)?;
    *input = rest;
    Some(taken)
}

pub(super) fn count(input: &mut &[u8]) -> Option<usize> {
    let bytes = take(input, 8)?.try_into().ok()?;
    usize::try_from(u64::from_le_bytes(bytes)).ok()
}

pub(super) fn text(input: &mut &[u8]) -> Option<String> {
    let length = count(input)?;
    String::from_utf8(take(input, length)?.to_vec()).ok()
}
