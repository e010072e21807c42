//! Stores come to memory, some with bytes that nobody meant.

use std::ops::Range;

use crate::{LineAddress, Region, kind};

use super::{
    Checker, Id, Mapping, Mistake, Remedy,
    shadow::{Landed, Store},
};

impl Checker {
    /// What a core has in its write-combine buffer is in memory.
    pub(super) fn push_out(&mut self, core: usize) {
        let Some((key, stores)) = self.cores[core].combining.take() else { return };
        self.line(key).combining.retain(|other| usize::from(*other) != core);
        // What is stored to one line and leaves together is seen together. If the core has done something else meanwhile, it
        // comes after that.
        let last = stores.iter().map(|store| store.step).max();
        if last != Some(self.cores[core].clock.now()) {
            self.cores[core].clock.step();
        }
        for store in stores {
            self.meet_whole_lines(core, key, store);
            self.land(core, key, store, Mapping::Lines);
        }
    }

    /// A store is in memory from now on, as an act of `core`.
    pub(super) fn land(&mut self, core: usize, key: u64, store: Store, mapping: Mapping) {
        let by = usize::from(store.id.core);
        // What another core of the domain writes back is in memory as soon as the domain says so.
        let told = if by == core { self.cores[core].clock.told() } else { self.cores[by].clock.of_step(store.step) };
        let landed = Landed { store, mapping, told, moment: self.moment };
        self.line(key).land(landed);
    }

    /// Bytes come to a line that others may write back as a whole: at any time since they have fetched it, with what they
    /// found there.
    pub(super) fn meet_whole_lines(&mut self, core: usize, key: u64, store: Store) {
        let line = self.line(key);
        let whole: Vec<_> = line
            .landed
            .iter()
            .filter(|landed| landed.mapping == Mapping::Cached && landed.store.mask & store.mask == 0)
            .map(|landed| (landed.store, landed.told.until))
            .collect();
        let dirty = line.dirty.clone();
        let own = self.domain(core);
        for (other, until) in whole {
            if self.domain(other.id.core) != own && !self.cores[core].clock.knows(other.id.core, until) {
                self.report(Mistake::Lost, Remedy::LinesApart, other.id, Some(store.id), key, store.mask);
            }
        }
        for domain in dirty.into_iter().map(usize::from).filter(|domain| *domain != own) {
            let mut stores = self.caches[domain].dirty.get(&key).into_iter().flatten();
            let other = stores.rfind(|other| other.is_definite && other.mask & store.mask == 0).copied();
            if let Some(other) = other {
                self.report(Mistake::Lost, Remedy::LinesApart, other.id, Some(store.id), key, store.mask);
            }
        }
    }

    /// The cache of a core writes a line back, of whose bytes some were changed.
    pub(super) fn write_back(&mut self, core: usize, key: u64, changed: u32) {
        let domain = self.domain(core);
        let Some(stores) = self.caches[domain].dirty.remove(&key) else { return };
        self.line(key).dirty.retain(|other| usize::from(*other) != domain);
        let meant = |store: &Store| store.mask & if store.is_definite { u32::MAX } else { changed };
        let mask = stores.iter().fold(0, |mask, store| mask | meant(store));
        if let Some(last) = stores.iter().rfind(|store| meant(store) != 0) {
            self.meet_overwritten(core, key, mask, last.id);
        }
        let own = stores.iter().filter(|store| usize::from(store.id.core) == core);
        if own.map(|store| store.step).max().is_some_and(|last| last != self.cores[core].clock.now()) {
            self.cores[core].clock.step();
        }
        for store in stores {
            let mask = meant(&store);
            if mask != 0 {
                self.land(core, key, Store { mask, is_definite: true, ..store }, Mapping::Cached);
            }
        }
    }

    /// A whole line goes to memory, but for `mask` with what was there when it was fetched.
    fn meet_overwritten(&mut self, core: usize, key: u64, mask: u32, id: Id) {
        let domain = self.domain(core);
        let fetched = self.caches[domain].fetched.get(&key).copied().unwrap_or(u64::MAX);
        let near = self.is_near(core, key);
        let others: Vec<_> =
            self.line(key).landed.iter().filter(|landed| landed.store.mask & mask == 0).cloned().collect();
        for landed in others {
            let store = landed.store;
            let is_own = usize::from(store.id.core) == core;
            if near || (self.domain(store.id.core) == domain && landed.mapping == Mapping::Cached) {
                continue;
            }
            let is_newer = landed.moment > fetched;
            if is_own {
                if is_newer {
                    self.report(Mistake::MixedKinds, Remedy::LinesApart, id, Some(store.id), key, store.mask);
                }
            } else if is_newer || !self.cores[core].clock.knows(store.id.core, store.step) {
                self.report(Mistake::Lost, Remedy::LinesApart, id, Some(store.id), key, store.mask);
            }
        }
    }

    /// A core has written back and forgotten a region, or all.
    pub(super) fn flush(&mut self, core: usize, region: Option<Region<kind::Cached>>) {
        let domain = self.domain(core);
        let is_meant = |key: &u64| region.is_none_or(|region| keys(region).contains(key));
        let cache = &self.caches[domain];
        let mut dirty: Vec<u64> = match region {
            Some(region) if region.len_lines() < cache.dirty.len() => {
                keys(region).filter(|key| cache.dirty.contains_key(key)).collect()
            }
            _ => cache.dirty.keys().copied().filter(is_meant).collect(),
        };
        dirty.sort_unstable();
        for key in dirty {
            self.write_back(core, key, 0);
        }
        self.cores[core].visited.retain(|key| !is_meant(key));
        let cache = &mut self.caches[domain];
        match region {
            Some(region) if region.len_lines() < cache.fetched.len() => {
                keys(region).for_each(|key| _ = cache.fetched.remove(&key));
            }
            _ => cache.fetched.retain(|key, _| !is_meant(key)),
        }
    }

    /// Private memory of a core can be reached by others from now on.
    pub(super) fn expose(&mut self, core: usize, region: Region<kind::Cached>, id: Id) {
        let store = self.next_store(core, u32::MAX, true, id);
        self.conceal(region);
        self.exposed.push((region, store));
    }

    /// It is private again, and what was done to it over.
    pub(super) fn conceal(&mut self, region: Region<kind::Cached>) {
        self.exposed.retain(|(exposed, _)| !exposed.overlaps(&region));
        self.lines.retain(|key, _| !keys(region).contains(key));
        for cache in &mut self.caches {
            cache.fetched.retain(|key, _| !keys(region).contains(key));
            cache.dirty.retain(|key, _| !keys(region).contains(key));
        }
    }
}

/// The lines of a region.
pub(super) fn keys(region: Region<kind::Cached>) -> Range<u64> {
    let first = if region.is_empty() { 0 } else { LineAddress::Shared(region.start()).key() };
    first..first + region.len_lines() as u64
}
