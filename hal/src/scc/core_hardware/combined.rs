//! Memory that is reached past the caches: lines of MPBs, and combined and uncached memory, behind controllers and of other
//! cores.

use crate::{
    CoreId, Home, LINE_BYTES, Line, LineAddress, MpbLine, Region, SharedAddress,
    bare::private::Private,
    exposed::SLOT_BYTES,
    kind,
    kit::{self, Account, CombinedLines, Slot, UncachedWords},
    scc::{
        caches::{cache_operations, lines},
        memory::{
            exposed::{Table, Words},
            lookup_table,
            map::{CONTROLLER_SPAN, SHARED_CACHED, SHARED_COMBINED, SHARED_UNCACHED},
            paging,
        },
        registers::tile::slot_address,
    },
    topology::SHARED_BYTES_PER_CONTROLLER,
};

use super::Scc;

const _: () = assert!(CONTROLLER_SPAN == SHARED_BYTES_PER_CONTROLLER, "a controller's shared memory is one slot");

/// What this core exposes. The image is the same on all cores, so each finds the tables of the others at the address of
/// its own. Reached by its address only, past the caches.
static TABLE: Private<Aligned> = Private::new(Aligned([[0; _]; _]));

/// A table of whole lines.
#[repr(align(32))]
struct Aligned(#[expect(dead_code, reason = "reached by its address")] Table);

/// This core's way to the tables.
pub(super) struct Tables<'a>(pub(super) &'a Scc);

impl Tables<'_> {
    /// Calls `access` with a pointer to a word of the table of `owner`.
    fn with_word<R>(&self, owner: CoreId, word: usize, access: impl FnOnce(*mut u32) -> R) -> R {
        let Self(hardware) = *self;
        let region =
            Region::<kind::Uncached>::new(SharedAddress::exposed(owner, TABLE.get().addr()), size_of::<Table>());
        let address = region.start().plus(word * 4);
        if owner != hardware.core {
            kit::map(hardware, region.lines_around(word * 4, word * 4 + 4));
        }
        let place = hardware.physical_address(address).expect("it was just mapped");
        paging::with_uncached_page(place as u32, access)
    }
}

impl Words for Tables<'_> {
    fn core(&self) -> CoreId {
        self.0.core
    }

    fn load(&self, owner: CoreId, word: usize) -> u32 {
        // SAFETY: the word is there, aligned, and reached by single accesses only.
        self.with_word(owner, word, |word| unsafe { word.read_volatile() })
    }

    fn store(&self, owner: CoreId, word: usize, value: u32) {
        // SAFETY: the word is there, aligned, and reached by single accesses only.
        self.with_word(owner, word, |word| unsafe { word.write_volatile(value) });
    }

    fn push_out(&self) {
        self.0.push_out();
    }
}

impl Scc {
    /// Where shared memory behind a controller is, in a window that begins at `window`.
    #[inline]
    fn in_window(&self, window: usize, address: SharedAddress) -> usize {
        match address.home() {
            Home::Controller(controller) if usize::from(controller) < self.controllers => {
                window + usize::from(controller) * SHARED_BYTES_PER_CONTROLLER + address.offset()
            }
            _ => no_such_memory(address),
        }
    }

    /// Where a core sees shared memory through its caches.
    pub(super) fn cached_address(&self, address: SharedAddress) -> usize {
        self.in_window(SHARED_CACHED, address)
    }

    /// Where a line is that goes through the write-combine buffer.
    #[inline]
    fn line(&self, at: LineAddress) -> *mut Line {
        let address = match at {
            LineAddress::Mpb(line) => return self.lines_of_mpb(line, 1),
            LineAddress::Shared(address) => address,
        };
        core::ptr::with_exposed_provenance_mut(match address.home() {
            Home::Controller(_) => self.in_window(SHARED_COMBINED, address),
            Home::Core(_) => self.slot_address_of(address),
        })
    }

    /// Where lines of an MPB are, the first of which is `at`.
    #[inline(always)]
    fn lines_of_mpb(&self, at: MpbLine, lines: usize) -> *mut Line {
        let first = usize::from(at.line);
        match self.cores.get(at.core.index()) {
            Some(places) if first < self.mpb_lines && lines <= self.mpb_lines - first => {
                core::ptr::with_exposed_provenance_mut(places.mpb + first * LINE_BYTES)
            }
            _ => self.no_such_lines(at, lines),
        }
    }

    #[cold]
    fn no_such_lines(&self, at: MpbLine, lines: usize) -> ! {
        assert!(at.core.index() < self.cores.len(), "{} does not exist", at.core);
        panic!("{lines} lines from {at} on do not exist")
    }

    /// Pushes out what is in the write-combine buffer, though the program has not asked for it.
    pub(super) fn push_out(&self) {
        self.account.pushed_out();
        self.drain();
    }

    /// Where what a core exposes is in this core's physical memory, past its caches.
    fn slot_address_of(&self, address: SharedAddress) -> usize {
        let is_exposed = match address.home() {
            Home::Core(owner) if owner != self.core => {
                self.reached.borrow_mut().reach(&Tables(self), owner, address.offset())
            }
            _ => self.account.exposes(address.line_start().offset(), LINE_BYTES),
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
            self.free_slots.foreign_at(self.account.place_of(slot)?)
        };
        Some(slot_address(place) + address.offset() % SLOT_BYTES)
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
    /// No cache holds anything of what the slot led to before: MPBT lines were [forgotten](crate::kit::ExposedMemory::forget_slot), and its
    /// words are uncached.
    ///
    /// # Safety
    /// The slot is one of those for other cores' memory, and is given to nothing else meanwhile.
    pub(super) unsafe fn point(&self, slot: u32, owner: CoreId, number: usize) {
        assert!(number < self.private_slots, "no core has private memory in slot {number}");
        // SAFETY: the caller says so, and no cache holds anything of the slot, see above.
        unsafe { lookup_table::point(slot, owner.index(), number as u32) };
        paging::map_foreign(slot);
    }

    /// Calls `access` with a pointer to word `index` of a region, through which it is uncached.
    #[inline]
    fn with_word<R>(&self, region: Region<kind::Uncached>, index: usize, access: impl FnOnce(*mut u32) -> R) -> R {
        let offset = Account::word_offset(region, index);
        match region.start().home() {
            Home::Controller(_) => {
                let word = self.in_window(SHARED_UNCACHED, region.start()) + offset;
                access(core::ptr::with_exposed_provenance_mut(word))
            }
            Home::Core(_) => self.with_exposed_word(region.start().plus(offset), access),
        }
    }

    /// Calls `access` with a pointer to a word that a core exposes.
    #[cold]
    fn with_exposed_word<R>(&self, address: SharedAddress, access: impl FnOnce(*mut u32) -> R) -> R {
        // The same lines are seen as MPBT lines, by the same addresses: no cache may stand between.
        self.drain();
        self.invalidate_lines();
        paging::with_uncached_page(self.slot_address_of(address) as u32, access)
    }
}

#[cold]
fn no_such_memory(address: SharedAddress) -> ! {
    panic!("{address} does not exist")
}

impl CombinedLines for Scc {
    #[inline]
    fn mpb_lines(&self) -> usize {
        self.mpb_lines
    }

    #[inline]
    fn load_line(&self, at: LineAddress) -> Line {
        // SAFETY: `line` checked that it is there; lines of this type are reached like this only.
        unsafe { lines::load(self.line(at)) }
    }

    #[inline]
    fn store_line(&self, at: LineAddress, offset: usize, bytes: &[u8]) {
        let line = self.line(at);
        self.invalidate_lines();
        // SAFETY: `line` checked that it is there.
        unsafe { lines::store(line, offset, bytes) }
    }

    #[inline]
    fn load_mpb_line(&self, at: MpbLine) -> Line {
        // SAFETY: `lines_of_mpb` checked that it is there.
        unsafe { lines::load(self.lines_of_mpb(at, 1)) }
    }

    #[inline]
    fn load_mpb_line_to(&self, at: MpbLine, target: &mut [u8; LINE_BYTES]) {
        // SAFETY: `lines_of_mpb` checked that it is there; a mutable reference is valid for writes.
        unsafe { lines::load_to(self.lines_of_mpb(at, 1), target) }
    }

    #[inline]
    fn load_mpb_words(&self, at: MpbLine, first: usize, words: &mut [u32]) {
        // SAFETY: `lines_of_mpb` checked that it is there.
        unsafe { lines::load_words(self.lines_of_mpb(at, 1), first, words) }
    }

    #[inline(always)]
    fn address_of(&self, at: MpbLine) -> usize {
        self.lines_of_mpb(at, 1).expose_provenance()
    }

    #[inline(always)]
    unsafe fn store_found_byte(&self, _at: MpbLine, _offset: usize, address: usize, value: u8) {
        self.invalidate_lines();
        // SAFETY: the caller has it from `address_of`, which checked that the line is there; there is one machine in an image.
        unsafe { core::ptr::with_exposed_provenance_mut::<u8>(address).write_volatile(value) }
    }

    #[inline(always)]
    unsafe fn load_found_words(&self, _at: MpbLine, _first: usize, address: usize, words: &mut [u32]) {
        let first = core::ptr::with_exposed_provenance::<u32>(address);
        for (index, word) in words.iter_mut().enumerate() {
            // SAFETY: the caller has found as many words at this address, of a line that `address_of` checked to be there.
            *word = u32::from_le(unsafe { first.add(index).read_volatile() });
        }
    }

    #[inline]
    fn store_mpb_line(&self, at: MpbLine, offset: usize, bytes: &[u8]) {
        let line = self.lines_of_mpb(at, 1);
        self.invalidate_lines();
        // SAFETY: `lines_of_mpb` checked that it is there.
        unsafe { lines::store(line, offset, bytes) }
    }

    #[inline]
    fn store_mpb_words(&self, at: MpbLine, first: usize, words: impl ExactSizeIterator<Item = u32>) {
        let line = self.lines_of_mpb(at, 1);
        self.invalidate_lines();
        // SAFETY: `lines_of_mpb` checked that it is there.
        unsafe { lines::store_words(line, first, words) }
    }

    #[inline]
    fn store_lines(&self, to: MpbLine, lines: usize, mut fill: impl FnMut(usize, &mut [u8; LINE_BYTES])) {
        let first = self.lines_of_mpb(to, lines);
        let mut line = Line::default();
        for index in 0..lines {
            fill(index, &mut line.0);
            self.invalidate_lines();
            // SAFETY: `lines_of_mpb` checked that all of them are there.
            unsafe { lines::put(&line.0, first.add(index)) };
        }
    }

    #[inline]
    fn put_lines(&self, to: MpbLine, lines: &[[u8; LINE_BYTES]], before: impl Fn()) {
        let first = self.lines_of_mpb(to, lines.len());
        for (index, line) in lines.iter().enumerate() {
            before();
            self.invalidate_lines();
            // SAFETY: `lines_of_mpb` checked that all of them are there.
            unsafe { lines::put(line, first.add(index)) };
        }
    }

    #[inline]
    fn copy_lines(&self, from: MpbLine, to: MpbLine, lines: usize, before: impl Fn(), loaded: impl Fn(usize)) {
        let [source, target] = [from, to].map(|first| self.lines_of_mpb(first, lines));
        // Within one MPB the line that is stored to may be the next one to be loaded, or this one.
        let through_memory = from.core == to.core;
        for index in 0..lines {
            before();
            // Before anything is stored, what L1 may have of that line is forgotten.
            // SAFETY: `lines_of_mpb` checked that all of them are there.
            unsafe {
                if through_memory {
                    let line = lines::load(source.add(index));
                    self.invalidate_lines();
                    lines::put(&line.0, target.add(index));
                } else {
                    self.invalidate_lines();
                    lines::copy(source.add(index), target.add(index));
                }
            }
            loaded(index);
        }
    }

    #[inline]
    fn get_lines(&self, from: MpbLine, lines: &mut [[u8; LINE_BYTES]], after: impl Fn(usize)) {
        let first = self.lines_of_mpb(from, lines.len());
        for (index, line) in lines.iter_mut().enumerate() {
            // SAFETY: `lines_of_mpb` checked that all of them are there.
            unsafe { lines::get(first.add(index), line) };
            after(index);
        }
    }

    #[inline]
    fn load_lines(&self, from: MpbLine, lines: usize, mut take: impl FnMut(usize, &[u8; LINE_BYTES])) {
        let first = self.lines_of_mpb(from, lines);
        let mut line = Line::default();
        for index in 0..lines {
            // SAFETY: `lines_of_mpb` checked that all of them are there.
            unsafe { lines::load_to(first.add(index), &raw mut line.0) };
            take(index, &line.0);
        }
    }

    #[inline]
    fn invalidate_lines(&self) {
        cache_operations::invalidate_mpb();
    }

    #[inline]
    fn drain(&self) {
        // SAFETY: `new` has found where that is, and the core on top lets nobody store there.
        unsafe { cache_operations::drain(self.own_line_0) };
    }

    /// Where a store that misses is to be cached, too.
    #[inline]
    fn bring_in(&self, target: &mut [u8]) {
        lines::bring_in(target);
    }
}

impl UncachedWords for Scc {
    #[inline]
    fn load_word(&self, region: Region<kind::Uncached>, index: usize) -> u32 {
        // SAFETY: the word is there, aligned, and reached by single accesses only.
        self.with_word(region, index, |word| unsafe { word.read_volatile() })
    }

    #[inline]
    fn store_word(&self, region: Region<kind::Uncached>, index: usize, value: u32) {
        // SAFETY: the word is there, aligned, and reached by single accesses only.
        self.with_word(region, index, |word| unsafe { word.write_volatile(value) });
    }
}
