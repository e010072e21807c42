//! Packing from and unpacking to the memory of a program: the one place of this module that follows its pointers.

use core::ptr;

use super::datatype::{Datatype, Flat};

impl Flat {
    /// Packs bytes of a message of `count` values, from byte `from` on, as many as there is room for. Returns how many that
    /// were.
    ///
    /// # Safety
    /// All bytes of so many values at `source` can be read, and nobody writes to them meanwhile.
    pub(crate) unsafe fn pack_from(&self, source: *const u8, count: usize, from: usize, out: &mut [u8]) -> usize {
        let len = out.len().min((self.size() * count).saturating_sub(from));
        let mut done = 0;
        self.pieces(from as i64..(from + len) as i64, |offset, len| {
            let (len, out) = (len as usize, &mut out[done..]);
            debug_assert!(len <= out.len(), "a piece is not longer than the rest");
            // SAFETY: 1. the piece is one of the values', which the caller says can be read; 2. `out` has so many bytes left,
            // since the pieces of a range are as long as the range; 3. it is borrowed mutably and thus lies elsewhere.
            unsafe { ptr::copy_nonoverlapping(source.wrapping_offset(offset as isize), out.as_mut_ptr(), len) };
            done += len;
        });
        len
    }

    /// Unpacks bytes of a message of `count` values, of which these are those from byte `to` on. Returns how many had room.
    ///
    /// # Safety
    /// All bytes of so many values at `target` can be written, and no reference leads to them.
    pub(crate) unsafe fn unpack_at(&self, bytes: &[u8], target: *mut u8, count: usize, to: usize) -> usize {
        let len = bytes.len().min((self.size() * count).saturating_sub(to));
        let mut done = 0;
        self.pieces(to as i64..(to + len) as i64, |offset, len| {
            let (len, bytes) = (len as usize, &bytes[done..]);
            debug_assert!(len <= bytes.len(), "a piece is not longer than the rest");
            // SAFETY: as in `pack_from`, in the other direction.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), target.wrapping_offset(offset as isize), len) };
            done += len;
        });
        len
    }
}

impl Datatype {
    /// Packs all bytes of `count` values.
    ///
    /// # Safety
    /// As for [`Flat::pack_from`].
    pub(crate) unsafe fn pack(&self, source: *const u8, count: usize, out: &mut [u8]) {
        // SAFETY: the caller says so.
        unsafe { self.flat().pack_from(source, count, 0, out) };
    }

    /// Unpacks a message, or the start of one.
    ///
    /// # Safety
    /// As for [`Flat::unpack_at`].
    pub(crate) unsafe fn unpack(&self, bytes: &[u8], target: *mut u8, count: usize) {
        // SAFETY: the caller says so.
        unsafe { self.flat().unpack_at(bytes, target, count, 0) };
    }
}
