//! Copies: what they have to find, and what may hide it.

use super::{
    Checker, Id, Mapping, Mistake, Remedy,
    clocks::Via,
    shadow::{Landed, Read, Store},
};

/// A store that a copy meets while it is on its way to memory.
#[derive(Clone, Copy)]
enum Pending {
    /// In the write-combine buffer.
    Combining(Store),
    /// In the cache of this domain.
    Dirty(u16, Store),
}

impl Checker {
    /// A core copies bytes of a line, and may use them or not.
    pub(super) fn copy(&mut self, core: usize, key: u64, mask: u32, mapping: Mapping, uses: bool, id: Id) {
        let hidden = self.find_hidden(core, key, mask, mapping, id);
        let landed: Vec<Landed> =
            self.line(key).landed.iter().filter(|landed| landed.store.mask & mask != 0).cloned().collect();
        let is_written = hidden != 0 || !landed.is_empty();
        for landed in landed {
            self.meet_landed(core, key, mask & landed.store.mask & !hidden, mapping, id, &landed);
        }
        if uses && !is_written {
            self.report(Mistake::NeverWritten, Remedy::WriteFirst, id, None, key, mask);
        }
        let step = self.cores[core].clock.now() + 1;
        self.line(key).read(Read { id, mask, step });
    }

    /// Meets bytes that are on their way to memory: of other cores, or of this one by another way. Returns which.
    pub(super) fn find_hidden(&mut self, core: usize, key: u64, mask: u32, mapping: Mapping, id: Id) -> u32 {
        let line = self.line(key);
        if line.combining.is_empty() && line.dirty.is_empty() {
            return 0;
        }
        let (combining, dirty) = (line.combining.clone(), line.dirty.clone());
        let mut pending = Vec::new();
        for other in combining {
            let stores = self.cores[usize::from(other)].combining.iter().filter(|(line, _)| *line == key);
            pending.extend(stores.flat_map(|(_, stores)| stores).map(|store| Pending::Combining(*store)));
        }
        for domain in dirty {
            let stores = self.caches[usize::from(domain)].dirty.get(&key);
            pending.extend(stores.into_iter().flatten().map(|store| Pending::Dirty(domain, *store)));
        }
        let mut hidden = 0;
        for pending in pending {
            let (Pending::Combining(store) | Pending::Dirty(_, store)) = pending;
            if store.mask & mask != 0 {
                // What another domain has a slice of may stay as it is.
                if store.is_definite || self.domain(store.id.core) == self.domain(core) {
                    hidden |= store.mask & mask;
                }
                self.meet_pending(core, key, mask & store.mask, mapping, id, pending);
            }
        }
        hidden
    }

    fn meet_pending(&mut self, core: usize, key: u64, mask: u32, mapping: Mapping, id: Id, pending: Pending) {
        let (Pending::Combining(store) | Pending::Dirty(_, store)) = pending;
        let is_own = usize::from(store.id.core) == core;
        let is_ordered = is_own || self.cores[core].clock.knows(store.id.core, store.step);
        let (mistake, remedy) = match pending {
            Pending::Combining(_) if is_own && mapping == Mapping::Lines => {
                // L1 has what was stored if it had the line before.
                if self.cores[core].l1.get(&key).is_some_and(|loaded| *loaded < store.moment) {
                    return;
                }
                (Mistake::Stale, Remedy::DrainAtWriter)
            }
            Pending::Combining(_) if is_own => (Mistake::MixedKinds, Remedy::DrainAtWriter),
            Pending::Dirty(domain, _) if usize::from(domain) == self.domain(core) => {
                if mapping == Mapping::Cached {
                    if !is_ordered && store.is_definite {
                        self.report(Mistake::Race, Remedy::Order, id, Some(store.id), key, mask);
                    }
                    return;
                }
                if !store.is_definite || self.layout.cores_per_domain() > 1 {
                    return;
                }
                (Mistake::MixedKinds, Remedy::WriteBackAtWriter)
            }
            Pending::Dirty(..) if !store.is_definite => return,
            _ if mapping == Mapping::Word && !is_ordered => return,
            _ if !is_ordered => (Mistake::Race, Remedy::Order),
            Pending::Combining(_) => (self.late(core, store), Remedy::DrainAtWriter),
            Pending::Dirty(..) => (Mistake::Stale, Remedy::WriteBackAtWriter),
        };
        self.report(mistake, remedy, id, Some(store.id), key, mask);
    }

    /// What a drain that was forgotten is called, by how the reader has learnt of the store.
    fn late(&self, core: usize, store: Store) -> Mistake {
        match self.cores[core].clock.via(store.id.core) {
            Via::Register => Mistake::ReleasedEarly,
            _ => Mistake::Stale,
        }
    }

    fn meet_landed(&mut self, core: usize, key: u64, mask: u32, mapping: Mapping, id: Id, landed: &Landed) {
        if mask == 0 {
            return;
        }
        let (store, clock) = (landed.store, &self.cores[core].clock);
        let is_own = usize::from(store.id.core) == core;
        if !is_own {
            if !clock.knows(store.id.core, store.step) {
                let is_early = clock.was_told_before(store.id.core, &landed.told);
                let mistake = if is_early { Mistake::FlagBeforeData } else { Mistake::Race };
                let remedy = if is_early { Remedy::FlagLast } else { Remedy::Order };
                return self.report(mistake, remedy, id, Some(store.id), key, mask);
            }
            if !clock.knows(store.id.core, landed.told.until) {
                let is_register = clock.via(store.id.core) == Via::Register;
                let mistake = if is_register { Mistake::ReleasedEarly } else { Mistake::FlagBeforeData };
                let remedy = match landed.mapping {
                    Mapping::Cached => Remedy::WriteBackAtWriter,
                    _ => Remedy::DrainAtWriter,
                };
                return self.report(mistake, remedy, id, Some(store.id), key, mask);
            }
        }
        let loaded = match mapping {
            _ if self.is_near(core, key) => None,
            Mapping::Lines => self.cores[core].l1.get(&key),
            Mapping::Cached => self.caches[self.domain(core)].fetched.get(&key),
            Mapping::Word | Mapping::Private => None,
        };
        if loaded.is_none_or(|loaded| *loaded >= landed.moment) {
            return;
        }
        let of_domain = self.domain(store.id.core) == self.domain(core);
        let is_seen = match mapping {
            // What goes through the cache changes what it holds; through L1, too.
            Mapping::Cached => of_domain && landed.mapping == Mapping::Cached,
            _ => is_own && landed.mapping == Mapping::Lines,
        };
        if is_seen {
            return;
        }
        let mistake = if is_own { Mistake::MixedKinds } else { Mistake::Stale };
        let remedy = if mapping == Mapping::Cached { Remedy::ForgetAtReader } else { Remedy::InvalidateAtReader };
        self.report(mistake, remedy, id, Some(store.id), key, mask);
    }
}
