//! The memory of this rank that others reach, and what they do to it.
//!
//! It is private memory, which nobody but its owner reads or writes: what others want is done here, one thing after the other.
//! So it is coherent, everything is atomic, and a target sees what was put without any further ado.

use alloc::{vec, vec::Vec};
use core::{ops::Range, slice};

use super::wire::{How, Place};
use crate::families::mpi::{class::Class, datatypes::basic, operators::Operation};

/// What a rank contributes to a window.
pub(super) struct Part {
    /// Addresses of the program's memory, in the order in which they were attached; one range if the window is not dynamic.
    memory: Vec<Range<usize>>,
    /// Bytes that displacements are counted in; displacements are addresses if the window is dynamic.
    unit: Option<usize>,
}

impl Part {
    /// Memory that stays as it is.
    pub(super) fn fixed(base: usize, bytes: usize, unit: usize) -> Self {
        let all = base..base + bytes;
        Self { memory: vec![all], unit: Some(unit) }
    }

    /// Memory that comes and goes.
    pub(super) fn dynamic() -> Self {
        Self { memory: Vec::new(), unit: None }
    }

    /// Attaches memory.
    ///
    /// # Errors
    /// [`Class::RMA_FLAVOR`] if the window is not dynamic, [`Class::RMA_ATTACH`] if some of it is attached already.
    pub(super) fn attach(&mut self, base: usize, bytes: usize) -> Result<(), Class> {
        if self.unit.is_some() {
            return Err(Class::RMA_FLAVOR);
        }
        let end = base.checked_add(bytes).ok_or(Class::RMA_ATTACH)?;
        if self.memory.iter().any(|range| range.start < end && base < range.end) {
            return Err(Class::RMA_ATTACH);
        }
        self.memory.push(base..end);
        Ok(())
    }

    /// Takes the memory away that begins there.
    ///
    /// # Errors
    /// [`Class::RMA_FLAVOR`] if the window is not dynamic, [`Class::ARG`] if nothing was attached there.
    pub(super) fn detach(&mut self, base: usize) -> Result<(), Class> {
        if self.unit.is_some() {
            return Err(Class::RMA_FLAVOR);
        }
        let at = self.memory.iter().position(|range| range.start == base).ok_or(Class::ARG)?;
        self.memory.remove(at);
        Ok(())
    }

    /// Whether all of these addresses are of the part, of one range of it or of several that follow each other.
    fn covers(&self, mut first: i64, end: i64) -> bool {
        while first < end {
            let range = self.memory.iter().find(|range| (range.start as i64..range.end as i64).contains(&first));
            let Some(range) = range else { return false };
            first = range.end as i64;
        }
        true
    }

    /// The address that values at a place are relative to, if all of them are in the part.
    fn address(&self, place: &Place) -> Option<*mut u8> {
        let start = match (self.unit, self.memory.first()) {
            (Some(unit), Some(range)) => {
                (range.start as i64).checked_add(place.displacement.checked_mul(unit as i64)?)?
            }
            // An address, whose first bit is no sign.
            _ => place.displacement as usize as i64,
        };
        let holds = |bounds: Range<i64>| {
            let (first, end) = (start.checked_add(bounds.start)?, start.checked_add(bounds.end)?);
            self.covers(first, end).then_some(())
        };
        if let Some(bounds) = place.flat.bounds(place.count)
            && holds(bounds).is_none()
        {
            // What is between the values need not be attached.
            let bytes = (place.flat.size() * place.count) as i64;
            let mut all = self.unit.is_none();
            place.flat.pieces(0..bytes, |offset, len| all &= holds(offset..offset + len).is_some());
            all.then_some(())?;
        }
        Some(core::ptr::with_exposed_provenance_mut(usize::try_from(start).ok()?))
    }

    /// The addresses of the values at a place, if all of them are in the part.
    pub(super) fn addresses(&self, place: &Place) -> Vec<Range<usize>> {
        let mut all = Vec::new();
        if let Some(start) = self.address(place) {
            place.flat.pieces(0..(place.flat.size() * place.count) as i64, |offset, len| {
                let first = start.addr().wrapping_add_signed(offset as isize);
                all.push(first..first + len as usize);
            });
        }
        all
    }

    /// Puts bytes somewhere; false if that is not in the part.
    pub(super) fn put(&self, place: &Place, bytes: &[u8]) -> bool {
        let Some(address) = self.address(place) else { return false };
        // SAFETY: the program has said that this memory is the window's until it is freed, or the memory is detached; nothing
        // else follows a pointer there while its rank is in a call of ours. All of the values are in it.
        unsafe { place.flat.unpack_at(bytes, address, place.count, 0) };
        true
    }

    /// Has some of the bytes of a put received where they belong; false if that is not in the part, and nothing was received.
    pub(super) fn land(&self, place: &Place, bytes: Range<usize>, receive: &mut dyn FnMut(&mut [u8])) -> bool {
        let Some(address) = self.address(place) else { return false };
        if let Some((offset, len)) = place.flat.contiguous(place.count as i64)
            && bytes.end as i64 <= len
        {
            let first = address.wrapping_offset(offset as isize).wrapping_add(bytes.start);
            // SAFETY: as in `put`; the slice is gone when the bytes are there.
            receive(unsafe { slice::from_raw_parts_mut(first, bytes.len()) });
            return true;
        }
        let mut piece = vec![0; bytes.len()];
        receive(&mut piece);
        // SAFETY: as in `put`.
        unsafe { place.flat.unpack_at(&piece, address, place.count, bytes.start) };
        true
    }

    /// Bytes from somewhere; none if that is not in the part.
    pub(super) fn get(&self, place: &Place) -> Option<Vec<u8>> {
        let address = self.address(place)?;
        let mut bytes = vec![0; place.flat.size() * place.count];
        // SAFETY: as in `put`.
        unsafe { place.flat.pack_from(address, place.count, 0, &mut bytes) };
        Some(bytes)
    }

    /// Combines values with operands, and returns what was there before; none if that is not in the part.
    pub(super) fn combine(&self, how: How, place: &Place, operands: &[u8]) -> Option<Vec<u8>> {
        let mut before = self.get(place)?;
        let operation = Operation::of(how.operator.into());
        if let (Some(operation), Some(basic)) = (operation, basic(how.basic.into()))
            && operation != Operation::Nothing
            && !before.is_empty()
        {
            let old = before.clone();
            operation.apply(basic, true, operands, &mut before);
            self.put(place, &before);
            return Some(old);
        }
        Some(before)
    }

    /// Replaces a value if it is what was expected, and returns what was there; none if that is not in the part.
    pub(super) fn swap(&self, place: &Place, bytes: &[u8]) -> Option<Vec<u8>> {
        let before = self.get(place)?;
        let (expected, new) = bytes.split_at(bytes.len() / 2);
        if before == expected {
            self.put(place, new);
        }
        Some(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::mpi::datatypes::{Combiner, Datatype, Datatypes};

    const INT: usize = 0x209;

    fn place(displacement: i64, count: usize, datatype: &Datatype) -> Place {
        let numbers: Vec<_> = datatype.flat().numbers().collect();
        let flat = crate::families::mpi::datatypes::Flat::from_numbers(&numbers).unwrap();
        Place { displacement, count, flat }
    }

    fn bytes(numbers: &[i32]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    #[test]
    fn parts_are_reached_within_their_bounds() {
        let mut memory = [0_i32; 8];
        let part = Part::fixed(memory.as_mut_ptr().expose_provenance(), 32, 4);
        let int = Datatypes::new().get(INT).unwrap();
        let every_second = Datatype::strided(&int, 3, 1, 8).unwrap();
        assert!(part.put(&place(1, 1, &every_second), &bytes(&[7, 8, 9])));
        assert_eq!(part.get(&place(1, 5, &int)).unwrap(), bytes(&[7, 0, 8, 0, 9]));
        let base = memory.as_ptr().addr();
        let addresses =
            |displacement, count, datatype: &Datatype| part.addresses(&place(displacement, count, datatype));
        assert_eq!(addresses(1, 1, &every_second), [4, 12, 20].map(|offset| base + offset..base + offset + 4));
        assert_eq!(addresses(2, 3, &int), core::slice::from_ref(&(base + 8..base + 20)));
        assert_eq!(addresses(6, 3, &int), []);
        assert!(part.put(&place(8, 0, &int), &[]));
        assert!(!part.put(&place(8, 1, &int), &bytes(&[1])) && part.get(&place(-1, 1, &int)).is_none());
        assert!(part.get(&place(4, 1, &every_second)).is_none() && part.get(&place(i64::MAX, 1, &int)).is_none());
        let sum = How { operator: 0x21, basic: INT as u16 };
        assert_eq!(part.combine(sum, &place(1, 1, &every_second), &bytes(&[1, 2, 3])).unwrap(), bytes(&[7, 8, 9]));
        let none = How { operator: 0x3D, basic: INT as u16 };
        assert_eq!(part.combine(none, &place(1, 1, &every_second), &[]).unwrap(), bytes(&[8, 10, 12]));
        assert_eq!(part.swap(&place(3, 1, &int), &bytes(&[9, 1])).unwrap(), bytes(&[10]));
        assert_eq!(part.swap(&place(3, 1, &int), &bytes(&[10, 1])).unwrap(), bytes(&[10]));
        assert_eq!(memory, [0, 8, 0, 1, 0, 12, 0, 0]);
    }

    #[test]
    fn memory_is_attached_and_detached() {
        let mut memory = [0_i32; 4];
        let (base, int) = (memory.as_mut_ptr().expose_provenance(), Datatypes::new().get(INT).unwrap());
        let mut part = Part::dynamic();
        let at = |offset: usize| place((base + offset) as i64, 1, &int);
        assert!(!part.put(&at(0), &bytes(&[1])));
        assert_eq!(part.attach(base, 8), Ok(()));
        assert_eq!(part.attach(base + 4, 8), Err(Class::RMA_ATTACH));
        assert_eq!(part.attach(base + 8, 8), Ok(()));
        assert!(part.put(&at(4), &bytes(&[5])) && part.put(&at(12), &bytes(&[6])));
        // Over the border of two, and around what is not attached.
        assert_eq!(part.get(&place(base as i64, 4, &int)).unwrap(), bytes(&[0, 5, 0, 6]));
        assert_eq!((part.detach(base), part.detach(base)), (Ok(()), Err(Class::ARG)));
        assert!(!part.put(&at(4), &bytes(&[1])));
        part.attach(base, 4).unwrap();
        let ends = Datatype::strided(&int, 2, 1, 12).unwrap();
        assert_eq!(part.get(&place(base as i64, 1, &ends)).unwrap(), bytes(&[0, 6]));
        assert!(part.get(&place(base as i64, 4, &int)).is_none());
        assert_eq!(memory, [0, 5, 0, 6]);
        let mut fixed = Part::fixed(base, 16, 1);
        assert_eq!((fixed.attach(0, 1), fixed.detach(base)), (Err(Class::RMA_FLAVOR), Err(Class::RMA_FLAVOR)));
        let many = Datatype::create(Combiner::Contiguous, false, &[0], &[int]).unwrap();
        assert!(part.put(&place(0, 3, &many), &[]));
    }
}
