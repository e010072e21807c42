//! Stores: what they must not meet, and where they wait.

use crate::{LINE_BYTES, LineAddress, SharedAddress, kit::mask_of};

use super::{
    Checker, Id, Mapping, Mistake, Remedy,
    shadow::{Store, add},
};

impl Checker {
    /// A store goes into the write-combine buffer.
    pub(super) fn combine(&mut self, core: usize, key: u64, mask: u32, id: Id) {
        self.meet_all(core, key, mask, id);
        let store = self.next_store(core, mask, true, id);
        let (line, stores) = self.cores[core].combining.get_or_insert_with(|| (key, Vec::new()));
        debug_assert_eq!(*line, key, "the write-combine buffer holds another line");
        add(stores, store);
        let combining = &mut self.line(key).combining;
        if !combining.contains(&(core as u16)) {
            combining.push(core as u16);
        }
    }

    /// A store goes into the cache, or may at any time until it is written back.
    pub(super) fn dirty(&mut self, core: usize, key: u64, mask: u32, is_definite: bool, id: Id) {
        if is_definite {
            self.meet_all(core, key, mask, id);
        }
        let store = self.next_store(core, mask, is_definite, id);
        add(self.cache(core).dirty.entry(key).or_default(), store);
        let domain = self.domain(core) as u16;
        let dirty = &mut self.line(key).dirty;
        if !dirty.contains(&domain) {
            dirty.push(domain);
        }
    }

    pub(super) fn store_word(&mut self, core: usize, at: SharedAddress, id: Id) {
        let (key, mask) = (LineAddress::Shared(at).key(), mask_of(at.offset() % LINE_BYTES, 4));
        self.meet_all(core, key, mask, id);
        let store = self.next_store(core, mask, true, id);
        self.meet_whole_lines(core, key, store);
        self.land(core, key, store, Mapping::Word);
    }

    pub(super) fn next_store(&mut self, core: usize, mask: u32, is_definite: bool, id: Id) -> Store {
        Store { id, mask, step: self.cores[core].clock.step(), moment: self.moment, is_definite }
    }

    /// A core stores to bytes of a line: others must have done with them.
    fn meet_all(&mut self, core: usize, key: u64, mask: u32, id: Id) {
        let line = self.line(key);
        let is_other = |id: Id| usize::from(id.core) != core;
        let before: Vec<_> = line.landed.iter().filter(|landed| landed.store.mask & mask != 0).cloned().collect();
        let reads: Vec<_> = line.reads.iter().filter(|read| read.mask & mask != 0).copied().collect();
        let (combining, dirty) = (line.combining.clone(), line.dirty.clone());
        for landed in before.into_iter().filter(|landed| is_other(landed.store.id)) {
            let (clock, store) = (&self.cores[core].clock, landed.store);
            if !clock.knows(store.id.core, store.step) {
                self.report(Mistake::Race, Remedy::Order, id, Some(store.id), key, mask & store.mask);
            } else if !clock.knows(store.id.core, landed.told.until) {
                let remedy =
                    if landed.mapping == Mapping::Cached { Remedy::WriteBackAtWriter } else { Remedy::DrainAtWriter };
                self.report(Mistake::Lost, remedy, id, Some(store.id), key, mask & store.mask);
            }
        }
        for read in reads.iter().filter(|read| is_other(read.id)) {
            if !self.cores[core].clock.knows(read.id.core, read.step) {
                self.report(Mistake::Race, Remedy::Order, id, Some(read.id), key, mask & read.mask);
            }
        }
        // Those that are ordered before this store need not be known any more: who comes after it comes after them.
        if !reads.is_empty() {
            self.line(key).reads.retain_mut(|read| {
                read.mask &= !mask;
                read.mask != 0
            });
        }
        let mut pending = Vec::new();
        for other in combining {
            let stores = self.cores[usize::from(other)].combining.iter().filter(|(line, _)| *line == key);
            pending.extend(stores.flat_map(|(_, stores)| stores).map(|store| (*store, Remedy::DrainAtWriter)));
        }
        for domain in dirty.into_iter().filter(|domain| usize::from(*domain) != self.domain(core)) {
            let stores = self.caches[usize::from(domain)].dirty.get(&key).into_iter().flatten();
            pending.extend(stores.map(|store| (*store, Remedy::WriteBackAtWriter)));
        }
        for (store, remedy) in pending {
            if store.mask & mask == 0 || !store.is_definite || !is_other(store.id) {
                continue;
            }
            let is_ordered = self.cores[core].clock.knows(store.id.core, store.step);
            let (mistake, remedy) = if is_ordered { (Mistake::Lost, remedy) } else { (Mistake::Race, Remedy::Order) };
            self.report(mistake, remedy, id, Some(store.id), key, mask & store.mask);
        }
    }
}
