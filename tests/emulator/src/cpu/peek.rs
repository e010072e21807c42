//! What a core would find in memory, without that anything is fetched, evicted or counted for it.

use descriptions::boards::map::PAGE_BYTES;

use super::{
    paging::{self, Control},
    state::State,
};
use crate::{Chip, PageKind, Violation, chip::LINE_BYTES};

/// Where a linear address of a core leads whose page table is at `cr3`.
pub(super) fn translate(state: &State, cr3: u32, chip: &Chip, linear: u32) -> Option<(u32, PageKind)> {
    let control = Control { cr3, ..state.control };
    let mapped = paging::walk(control, state.aliased(linear), false, |entry| {
        let mut bytes = [0; 4];
        let there = chip.peek(state.number, entry, control.unpaged(), &mut bytes);
        there.map(|()| u32::from_le_bytes(bytes)).ok_or_else(|| Violation::new(state.number, entry, "no memory"))
    });
    mapped.ok().map(|mapped| (mapped.physical | state.aliased(linear) & (PAGE_BYTES - 1), mapped.kind))
}

/// What a core would load from a linear address on whose page table is at `cr3`. Returns how many bytes there are.
pub(super) fn load(state: &State, cr3: u32, chip: &Chip, linear: u32, to: &mut [u8]) -> usize {
    let mut done = 0;
    for (at, len) in pieces(linear, to.len()) {
        let piece = &mut to[done..done + len];
        let place = translate(state, cr3, chip, at);
        if place.and_then(|(physical, kind)| chip.peek(state.number, physical, kind, piece)).is_none() {
            break;
        }
        done += len;
    }
    done
}

/// The parts of `len` bytes from an address on that are within a line each.
pub(super) fn pieces(linear: u32, len: usize) -> impl Iterator<Item = (u32, usize)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = linear.wrapping_add(done as u32);
        let piece = (LINE_BYTES - at as usize % LINE_BYTES).min(len - done);
        done += piece;
        (piece > 0).then_some((at, piece))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_taken_line_by_line() {
        assert_eq!(pieces(30, 36).collect::<Vec<_>>(), [(30, 2), (32, 32), (64, 2)]);
        assert_eq!(pieces(64, 0).count(), 0);
    }
}
