//! What cores have loaded from and stored to memory that others reach.

use rustc_hash::FxHashMap;

use crate::act::Bytes;

use super::super::terms::Id;

/// Bytes that are noted together.
const GRANULE: usize = 8;

/// A load or a store of some bytes of a granule.
#[derive(Clone, Copy)]
pub(super) struct Note {
    pub(super) id: Id,
    pub(super) step: u32,
    pub(super) stores: bool,
    mask: u8,
}

/// The last loads and stores of all bytes.
#[derive(Default)]
pub(super) struct Notes(FxHashMap<usize, Vec<Note>>);

impl Notes {
    /// Notes an access, as far as that says anything new.
    pub(super) fn add(&mut self, bytes: &Bytes, id: Id, step: u32, stores: bool) {
        for (granule, mask) in granules(bytes) {
            let notes = self.0.entry(granule).or_default();
            let of_core = |note: &Note| note.id.core == id.core;
            let is_known = |note: &Note| {
                of_core(note) && note.step == step && note.mask & mask == mask && (note.stores || !stores)
            };
            if notes.iter().any(is_known) {
                continue;
            }
            // Whoever is ordered after this is ordered after those.
            notes.retain_mut(|note| {
                if of_core(note) && (stores || !note.stores) {
                    note.mask &= !mask;
                }
                note.mask != 0
            });
            notes.push(Note { id, step, stores, mask });
        }
    }

    /// Looks at the accesses of some bytes, with how many they are.
    pub(super) fn look(&self, bytes: &Bytes, mut look: impl FnMut(Note, usize)) {
        let mut look_at = |notes: &[Note], mask: u8| {
            let met = notes.iter().filter(|note| note.mask & mask != 0);
            met.for_each(|note| look(*note, (note.mask & mask).count_ones() as usize));
        };
        if bytes.len() / GRANULE > self.0.len() {
            let mut met: Vec<_> = granules(bytes).filter(|(granule, _)| self.0.contains_key(granule)).collect();
            met.sort_unstable();
            met.into_iter().for_each(|(granule, mask)| look_at(&self.0[&granule], mask));
            return;
        }
        for (granule, mask) in granules(bytes) {
            if let Some(notes) = self.0.get(&granule) {
                look_at(notes, mask);
            }
        }
    }

    /// Forgets what was done to some bytes.
    pub(super) fn forget(&mut self, bytes: &Bytes) {
        self.0.retain(|granule, _| !(bytes.start / GRANULE..bytes.end.div_ceil(GRANULE)).contains(granule));
    }
}

/// The granules of some bytes, and which bytes of each.
fn granules(bytes: &Bytes) -> impl Iterator<Item = (usize, u8)> + use<> {
    let (start, end) = (bytes.start, bytes.end);
    (start / GRANULE..end.div_ceil(GRANULE)).map(move |granule| {
        let first = granule * GRANULE;
        let (from, to) = (start.max(first) - first, end.min(first + GRANULE) - first);
        (granule, (u8::MAX << from) & (u8::MAX >> (GRANULE - to)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(notes: &Notes, bytes: Bytes) -> Vec<(u64, bool, usize)> {
        let mut seen = Vec::new();
        notes.look(&bytes, |note, len| seen.push((note.id.number, note.stores, len)));
        seen
    }

    #[test]
    fn the_last_accesses_of_each_byte_are_kept() {
        let mut notes = Notes::default();
        let id = |number| Id { core: 1, number };
        notes.add(&(6..18), id(1), 1, true);
        assert_eq!(seen(&notes, 0..6), []);
        assert_eq!(seen(&notes, 7..100), [(1, true, 1), (1, true, 8), (1, true, 2)]);
        // A load after a store in the same step says nothing new; in another one it does.
        notes.add(&(8..12), id(2), 1, false);
        assert_eq!(seen(&notes, 8..16), [(1, true, 8)]);
        notes.add(&(8..12), id(3), 2, false);
        assert_eq!(seen(&notes, 8..16), [(1, true, 8), (3, false, 4)]);
        // A store takes the place of all.
        notes.add(&(8..16), id(4), 2, true);
        assert_eq!(seen(&notes, 8..16), [(4, true, 8)]);
        notes.add(&(8..9), Id { core: 2, number: 1 }, 1, false);
        assert_eq!(seen(&notes, 8..9), [(4, true, 1), (1, false, 1)]);
        notes.forget(&(8..10));
        assert_eq!(seen(&notes, 0..100), [(1, true, 2), (1, true, 2)]);
    }
}
