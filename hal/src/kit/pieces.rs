//! Bytes of combined memory, line by line.

use core::ops::Range;

use crate::{LINE_BYTES, LineAddress, Region, kind};

/// Insists that bytes `offset..offset + len` lie in a region.
pub(super) fn assert_inside(region: Region<kind::Combined>, offset: usize, len: usize) {
    assert!(
        offset <= region.len_bytes() && len <= region.len_bytes() - offset,
        "bytes {offset}..{} of a region of {}",
        offset.saturating_add(len),
        region.len_bytes()
    );
}

/// Insists that a copy of `len_bytes` bytes stays within both regions, and does not write what it reads.
pub(super) fn assert_copy(
    from: Region<kind::Combined>,
    from_offset: usize,
    to: Region<kind::Combined>,
    to_offset: usize,
    len_bytes: usize,
) {
    assert_inside(to, to_offset, len_bytes);
    assert_inside(from, from_offset, len_bytes);
    let (first, target) = (from.start().offset() + from_offset, to.start().offset() + to_offset);
    assert!(
        from.start().home() != to.start().home() || first.abs_diff(target) >= len_bytes,
        "{len_bytes} bytes are copied over themselves"
    );
}

/// The pieces of bytes `offset..offset + len` of a region that lie in one line each: line, offset in it, range of the
/// bytes.
pub(super) fn pieces(
    region: Region<kind::Combined>,
    offset: usize,
    len: usize,
) -> impl Iterator<Item = (LineAddress, usize, Range<usize>)> {
    assert_inside(region, offset, len);
    let mut done = 0;
    core::iter::from_fn(move || {
        if done == len {
            return None;
        }
        let (line, within) = ((offset + done) / LINE_BYTES, (offset + done) % LINE_BYTES);
        let piece = done..len.min(done + LINE_BYTES - within);
        done = piece.end;
        Some((LineAddress::Shared(region.start().plus(line * LINE_BYTES)), within, piece))
    })
}
