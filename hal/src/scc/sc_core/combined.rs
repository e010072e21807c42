//! Memory that is reached past the caches: combined and uncached, behind controllers and of other cores.

use crate::{
    Combined, CoreId, Home, LINE_BYTES, Region, SharedAddress, Uncached,
    backend::{
        deferral::Deferring,
        mappings::{Asked, Slot},
        pieces::{assert_copy, assert_inside},
        transfers::Transfers,
    },
    bare::private::Private,
    exposed::SLOT_BYTES,
    kind,
    scc::{
        caches::cache_operations,
        memory::{
            exposed::{Table, Words},
            lookup_table,
            map::{CONTROLLER_SPAN, SHARED_CACHED, SHARED_COMBINED, SHARED_UNCACHED},
            paging,
        },
        registers::tile::slot_address,
        sc_core::ScCore,
    },
    topology::SHARED_BYTES_PER_CONTROLLER,
};

const _: () = assert!(CONTROLLER_SPAN == SHARED_BYTES_PER_CONTROLLER, "a controller's shared memory is one slot");

/// What this core exposes. The image is the same on all cores, so each finds the tables of the others at the address of
/// its own. Reached by its address only, past the caches.
static TABLE: Private<Aligned> = Private::new(Aligned([[0; _]; _]));

/// A table of whole lines.
#[repr(align(32))]
struct Aligned(#[expect(dead_code, reason = "reached by its address")] Table);

impl ScCore {
    /// Calls `access` with a pointer to a word of the table of `owner`.
    fn with_word_of_table<R>(&self, owner: CoreId, word: usize, access: impl FnOnce(*mut u32) -> R) -> R {
        let region =
            Region::<kind::Uncached>::new(SharedAddress::exposed(owner, TABLE.get().addr()), size_of::<Table>());
        let address = region.start().plus(word * 4);
        if owner != self.core {
            self.map_slots(region.lines_around(word * 4, word * 4 + 4));
        }
        let place = self.physical_address(address).expect("it was just mapped");
        paging::with_uncached_page(place as u32, access)
    }
}

impl Words for ScCore {
    fn core(&self) -> CoreId {
        self.core
    }

    fn load(&self, owner: CoreId, word: usize) -> u32 {
        // SAFETY: the word is there, aligned, and reached by single accesses only.
        self.with_word_of_table(owner, word, |word| unsafe { word.read_volatile() })
    }

    fn store(&self, owner: CoreId, word: usize, value: u32) {
        // SAFETY: as above.
        self.with_word_of_table(owner, word, |word| unsafe { word.write_volatile(value) });
    }

    fn push_out(&self) {
        ScCore::push_out(self);
    }
}

impl ScCore {
    /// Where shared memory behind a controller is, in a window that begins at `window`.
    fn in_window(&self, window: usize, address: SharedAddress) -> usize {
        let controllers = self.layout.controllers();
        assert!(address.controller().is_some_and(|controller| controller < controllers), "{address} does not exist");
        window + address.flat()
    }

    /// Where a core sees shared memory through its caches.
    pub(crate) fn cached_address(&self, address: SharedAddress) -> usize {
        self.in_window(SHARED_CACHED, address)
    }

    /// Where a core sees memory as combined.
    pub(crate) fn combined_address(&self, address: SharedAddress) -> usize {
        match address.home() {
            Home::Controller(_) => self.in_window(SHARED_COMBINED, address),
            Home::Core(_) => self.slot_address_of(address),
        }
    }

    /// Where what a core exposes is in this core's physical memory, past its caches.
    fn slot_address_of(&self, address: SharedAddress) -> usize {
        let is_exposed = match address.home() {
            Home::Core(owner) if owner != self.core => self.reached.borrow_mut().reach(self, owner, address.offset()),
            _ => self.exposures.borrow().contains(address.line_start().offset(), LINE_BYTES),
        };
        assert!(is_exposed, "{address} is not exposed");
        // Last, since the owner's table, which has just been looked at, may have been mapped in the place of this slot.
        let Some(place) = self.physical_address(address) else {
            panic!("{address} is not mapped on {}, as it has to be before each use", self.core)
        };
        place
    }

    /// Where a byte of a core's private memory is in this core's physical memory, past its caches, if its slot is mapped.
    fn physical_address(&self, address: SharedAddress) -> Option<usize> {
        let slot = Slot::of(address)?;
        let place = if slot.owner() == self.core {
            self.map_own(slot.number())
        } else {
            self.free_slots.foreign_at(self.mappings.borrow().place(slot)?)
        };
        Some(slot_address(place) + address.offset() % SLOT_BYTES)
    }

    /// Maps the slots of a region of another core's memory.
    pub(super) fn map_slots<K: kind::Kind>(&self, region: Region<K>) {
        for slot in Slot::all_of(region) {
            let mut mappings = self.mappings.borrow_mut();
            let Asked::New(given_up) = mappings.ask(slot) else { continue };
            if given_up.is_some() {
                self.forget_slot();
            }
            let place = mappings.place(slot).expect("it was just given one");
            self.counting.count(|counters| counters.mappings += 1);
            // SAFETY: `mappings` gives a place to one slot at a time.
            unsafe { self.point(self.free_slots.foreign_at(place), slot.owner(), slot.number()) };
        }
    }

    /// The slot that leads to private slot `number` of this core a second time.
    fn map_own(&self, number: usize) -> u32 {
        let slot = self.free_slots.own(number);
        let mapped = self.own_mapped.get();
        if mapped & 1 << number == 0 {
            // SAFETY: it is set aside for this.
            unsafe { self.point(slot, self.core, number) };
            self.own_mapped.set(mapped | 1 << number);
        }
        slot
    }

    /// Points a slot of this core's lookup table at private slot `number` of a core, which may be this one.
    ///
    /// No cache holds anything of what the slot led to before: MPBT lines were [forgotten](Self::forget_slot), and its
    /// words are uncached.
    ///
    /// # Safety
    /// The slot is one of those for other cores' memory, and is given to nothing else meanwhile.
    pub(crate) unsafe fn point(&self, slot: u32, owner: CoreId, number: usize) {
        assert!(number < self.private_slots, "no core has private memory in slot {number}");
        // SAFETY: the caller says so, and no cache holds anything of the slot, see above.
        unsafe { lookup_table::point(slot, owner.index(), number as u32) };
        paging::map_foreign(slot);
    }

    /// Insists that bytes of a region are within reach of this core.
    fn assert_reachable<K: kind::Kind>(&self, region: Region<K>, offset: usize, len: usize) {
        let Home::Core(owner) = region.start().home() else { return };
        let mappings = self.mappings.borrow();
        let mut slots = Slot::all_of(region.lines_around(offset, offset + len));
        assert!(
            owner == self.core || slots.all(|slot| mappings.contains(slot)),
            "{} is not mapped on {}, as it has to be before each use",
            region.start(),
            self.core
        );
    }

    /// Calls `access` with a pointer to word `index` of a region, through which it is uncached.
    pub(crate) fn with_word<R>(
        &self,
        region: Region<kind::Uncached>,
        index: usize,
        access: impl FnOnce(*mut u32) -> R,
    ) -> R {
        assert!(index < region.len_bytes() / 4, "word {index} of a region of {} words", region.len_bytes() / 4);
        let address = region.start().plus(index * 4);
        match address.home() {
            Home::Controller(_) => {
                let word = self.in_window(SHARED_UNCACHED, address);
                access(core::ptr::with_exposed_provenance_mut(word))
            }
            Home::Core(_) => {
                // The same lines are seen as MPBT lines, by the same addresses: no cache may stand between.
                // SAFETY: as in `push_out`.
                unsafe { cache_operations::atoll_scc_drain(self.own_line_0) };
                cache_operations::atoll_scc_invalidate_mpb();
                paging::with_uncached_page(self.slot_address_of(address) as u32, access)
            }
        }
    }

    /// Loads a word that is not counted.
    pub(crate) fn load_word_uncounted(&self, region: Region<kind::Uncached>, index: usize) -> u32 {
        // SAFETY: the word is there, aligned, and reached by single accesses only.
        self.with_word(region, index, |word| unsafe { word.read_volatile() })
    }
}

impl Combined for ScCore {
    fn write(&self, region: Region<kind::Combined>, offset: usize, bytes: &[u8]) {
        let _operation = self.operation();
        assert_inside(region, offset, bytes.len());
        self.assert_reachable(region, offset, bytes.len());
        self.write_bytes(region, offset, bytes);
    }

    fn read(&self, region: Region<kind::Combined>, offset: usize, bytes: &mut [u8]) {
        let _operation = self.operation();
        assert_inside(region, offset, bytes.len());
        self.assert_reachable(region, offset, bytes.len());
        self.read_bytes(region, offset, bytes);
    }

    fn copy(
        &self,
        from: Region<kind::Combined>,
        from_offset: usize,
        to: Region<kind::Combined>,
        to_offset: usize,
        len_bytes: usize,
    ) {
        let _operation = self.operation();
        assert_copy(from, from_offset, to, to_offset, len_bytes);
        self.assert_reachable(from, from_offset, len_bytes);
        self.assert_reachable(to, to_offset, len_bytes);
        self.copy_bytes(from, from_offset, to, to_offset, len_bytes);
    }
}

impl Uncached for ScCore {
    fn load_word(&self, region: Region<kind::Uncached>, index: usize) -> u32 {
        let _operation = self.operation();
        self.counting.count(|counters| counters.words_read += 1);
        self.load_word_uncounted(region, index)
    }

    fn store_word(&self, region: Region<kind::Uncached>, index: usize, value: u32) {
        let _operation = self.operation();
        self.counting.count(|counters| counters.words_written += 1);
        // SAFETY: as in `load_word_uncounted`.
        self.with_word(region, index, |word| unsafe { word.write_volatile(value) });
    }
}
