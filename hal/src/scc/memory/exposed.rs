//! What a core exposes of its private memory, and who may access it: a table in the core's own memory, of uncached words.
//!
//! A slot of a lookup table opens 16 MB of another core's memory, whatever that exposes of it. So whoever is about to
//! access another core's exposure finds it in the owner's table, says so in a word there that nobody else writes, and
//! looks *again* whether it is still exposed. Whoever ends an exposure takes it out of the table *first*, and looks then
//! who has said so. One of the two sees the other, since a core has one store under way and its next access waits for it
//! (`hal::hardware`, Caches).
//!
//! All that is left to do before an access that is not the first is a look at this core's own list.

use descriptions::boards::map::MOST_CORES;
use heapless::Vec;

use crate::{CoreId, LINE_BYTES, kit::MAX_EXPOSURES};

/// Exposures of other cores that a core can have said that it may access.
const MOST_REACHED: usize = 128;

/// First word of an entry: where the memory starts that is exposed, then its length, which is 0 where there is none.
fn words_of(entry: usize) -> [usize; 2] {
    [2 * entry, 2 * entry + 1]
}

/// The word of a core, with a bit for each entry: whether it may access that.
fn word_of(core: CoreId) -> usize {
    2 * MAX_EXPOSURES + core.index()
}

const _: () = assert!(MAX_EXPOSURES <= 32, "an entry has a bit");

/// A table, in whole lines, all zero at the start.
pub(crate) type Table = [[u32; LINE_BYTES / 4]; (2 * MAX_EXPOSURES + MOST_CORES as usize).div_ceil(LINE_BYTES / 4)];

/// How this core accesses the words of the tables.
pub(crate) trait Words {
    /// This core.
    fn core(&self) -> CoreId;

    /// Loads a word of the table of `owner`.
    fn load(&self, owner: CoreId, word: usize) -> u32;

    /// Stores a word of the table of `owner`.
    fn store(&self, owner: CoreId, word: usize, value: u32);

    /// Returns when what this core has stored is in memory.
    fn push_out(&self);
}

/// Enters what this core exposes. It is in memory.
pub(crate) fn enter(words: &impl Words, start: usize, len_bytes: usize) {
    if len_bytes == 0 {
        return;
    }
    let own = words.core();
    let free = (0..MAX_EXPOSURES).map(words_of).find(|[_, len]| words.load(own, *len) == 0);
    let [start_word, len_word] = free.expect("there are no more exposures than entries");
    words.store(own, start_word, start as u32);
    words.store(own, len_word, len_bytes as u32);
}

/// Takes out what this core exposes no more.
///
/// # Errors
/// A core of `cores` that may still access it.
pub(crate) fn take_out(words: &impl Words, start: usize, len_bytes: usize, cores: usize) -> Result<(), CoreId> {
    let own = words.core();
    let is_it = |entry: &usize| words_of(*entry).map(|word| words.load(own, word)) == [start as u32, len_bytes as u32];
    let Some(entry) = (0..MAX_EXPOSURES).find(is_it).filter(|_| len_bytes > 0) else { return Ok(()) };
    words.store(own, words_of(entry)[1], 0);
    let reaches = |core: &CoreId| words.load(own, word_of(*core)) >> entry & 1 == 1;
    let Some(core) = (0..cores).map(CoreId::new).find(reaches) else { return Ok(()) };
    // It stays exposed, as it has to while somebody has it.
    words.store(own, words_of(entry)[1], len_bytes as u32);
    Err(core)
}

/// An exposure of another core.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Exposed {
    owner: CoreId,
    entry: usize,
    start: usize,
    len_bytes: usize,
}

impl Exposed {
    fn load(words: &impl Words, owner: CoreId, entry: usize) -> Self {
        let [start, len_bytes] = words_of(entry).map(|word| words.load(owner, word) as usize);
        Self { owner, entry, start, len_bytes }
    }

    /// Whether it has one of `len_bytes` bytes of `owner`'s from `start` on.
    fn overlaps(&self, owner: CoreId, start: usize, len_bytes: usize) -> bool {
        self.owner == owner && self.start < start + len_bytes && start < self.start + self.len_bytes
    }
}

/// The exposures of other cores that this core has said that it may access.
#[derive(Default)]
pub(crate) struct Reached(Vec<Exposed, MOST_REACHED>);

impl Reached {
    /// Whether this core may access the line around byte `offset` of `owner`'s memory, or may from now on.
    pub(crate) fn reach(&mut self, words: &impl Words, owner: CoreId, offset: usize) -> bool {
        // Exposures consist of whole lines.
        let is_it = |exposed: &Exposed| exposed.overlaps(owner, offset, 1);
        if self.0.iter().any(is_it) {
            return true;
        }
        let mut entries = (0..MAX_EXPOSURES).map(|entry| Exposed::load(words, owner, entry));
        let Some(exposed) = entries.find(is_it) else { return false };
        if self.0.is_full() {
            words.push_out();
            let oldest = self.0.remove(0);
            self.say(words, oldest.owner);
        }
        assert!(self.0.push(exposed).is_ok(), "there is room for one more");
        self.say(words, owner);
        let is_exposed = Exposed::load(words, owner, exposed.entry) == exposed;
        if !is_exposed {
            self.0.pop();
            self.say(words, owner);
        }
        is_exposed
    }

    /// Says that this core will not access those exposures of `owner` any more that have one of `len_bytes` bytes from
    /// `start` on.
    pub(crate) fn let_go(&mut self, words: &impl Words, owner: CoreId, start: usize, len_bytes: usize) {
        let is_meant = |exposed: &Exposed| exposed.overlaps(owner, start, len_bytes);
        if self.0.iter().any(is_meant) {
            words.push_out();
            self.0.retain(|exposed| !is_meant(exposed));
            self.say(words, owner);
        }
    }

    /// Stores in the table of `owner` what this core may access.
    fn say(&self, words: &impl Words, owner: CoreId) {
        let of_owner = self.0.iter().filter(|exposed| exposed.owner == owner);
        let bits = of_owner.fold(0, |bits, exposed| bits | 1 << exposed.entry);
        words.store(owner, word_of(words.core()), bits);
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, collections::BTreeMap};

    use super::*;

    /// The words of all tables, and what is done before the next load or store.
    #[derive(Default)]
    struct All {
        words: RefCell<BTreeMap<(CoreId, usize), u32>>,
        meanwhile: RefCell<Vec<fn(&All), 1>>,
    }

    /// How a core accesses them.
    struct Of<'a>(&'a All, usize);

    impl Words for Of<'_> {
        fn core(&self) -> CoreId {
            CoreId::new(self.1)
        }

        fn load(&self, owner: CoreId, word: usize) -> u32 {
            self.0.words.borrow().get(&(owner, word)).copied().unwrap_or(0)
        }

        fn store(&self, owner: CoreId, word: usize, value: u32) {
            assert!(word < size_of::<Table>() / 4);
            let meanwhile = if owner == self.core() { None } else { self.0.meanwhile.borrow_mut().pop() };
            meanwhile.inspect(|act| act(self.0));
            self.0.words.borrow_mut().insert((owner, word), value);
        }

        fn push_out(&self) {}
    }

    #[test]
    fn what_is_exposed_is_reached_until_it_is_let_go_of() {
        let all = All::default();
        let (owner, other, mut reached) = (Of(&all, 3), Of(&all, 1), Reached::default());
        let reach = |reached: &mut Reached, offset| reached.reach(&other, owner.core(), offset);
        assert!(!reach(&mut reached, 4096));
        enter(&owner, 4096, 64);
        enter(&owner, 8192, 32);
        enter(&owner, 64, 0);
        let offsets = [4096, 4159, 8192, 4095, 4160, 64];
        assert_eq!(offsets.map(|offset| reach(&mut reached, offset)), [true, true, true, false, false, false]);
        assert_eq!(take_out(&owner, 64, 0, 48), Ok(()));
        reached.let_go(&other, owner.core(), 4160, 4096);
        assert_eq!(take_out(&owner, 8192, 32, 48), Ok(()));
        assert!(!reach(&mut reached, 8192) && reach(&mut reached, 4096));
        assert_eq!(take_out(&owner, 4096, 64, 48), Err(other.core()));
    }

    #[test]
    fn an_exposure_that_ends_meanwhile_is_not_reached() {
        let all = All::default();
        enter(&Of(&all, 3), 4096, 64);
        all.meanwhile.borrow_mut().push(|all| assert_eq!(take_out(&Of(all, 3), 4096, 64, 48), Ok(()))).ok().unwrap();
        assert!(!Reached::default().reach(&Of(&all, 1), CoreId::new(3), 4096));
        // Nor does the next one at its place look as if it were.
        enter(&Of(&all, 3), 8192, 64);
        assert_eq!(take_out(&Of(&all, 3), 8192, 64, 48), Ok(()));
    }

    #[test]
    #[cfg_attr(miri, ignore = "it takes a quarter of a minute there, and nothing in it is unsafe")]
    fn more_than_can_be_remembered_can_be_reached() {
        let (all, mut reached) = (All::default(), Reached::default());
        let owners = 2..2 + MOST_REACHED + 1;
        for owner in owners.clone() {
            enter(&Of(&all, owner), 32, 32);
            assert!(reached.reach(&Of(&all, 1), CoreId::new(owner), 32));
        }
        let ended = owners.filter(|owner| take_out(&Of(&all, *owner), 32, 32, 48).is_ok());
        assert_eq!(ended.count(), 1);
    }
}
