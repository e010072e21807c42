//! Shared memory for programs: allocated by any core, used by all.
//!
//! Each memory controller has a heap of its own, with its metadata in uncached words of that same memory, under a
//! test-and-set register. A block is preceded by a header line of its own, so that no user's line holds metadata that
//! a whole-line write-back could wipe out. Free blocks form a list in ascending order of address, taken first fit,
//! merged when freed.
//!
//! The registers that guard the heaps are those of the first core of each quadrant, and the same that windows use:
//! whoever holds one must not allocate, free, or communicate through windows. On a machine where registers can be
//! reached within a coherence domain only, core 0's register guards all heaps, and only the cores of its domain can
//! allocate and free; they do it for the others, as rank 0 does for windows.
//!
//! What an allocation is mapped as is decided by whoever asks; a region keeps its kind in its type. Before a
//! region is freed, nobody may have lines of it in a cache: views given up and flushed, or the next owner's data may be
//! overwritten by an eviction.

use hal::{
    Combined, CoreId, LINE_BYTES, Region, Regions, SharedAddress, TestAndSet, Topology, Uncached, kind,
    topology::SHARED_BYTES_PER_CONTROLLER,
};

use crate::Error;

/// Length of the window database behind each controller of a machine with `cores` cores, in bytes; the line after it
/// holds the head of the heap's list. On the SCC that is enough for more than 64 windows of all cores. A window
/// without room in the MPBs takes a byte for each pair of ranks, for which a quarter of their number is added; so
/// there are some windows on thousands of cores, too.
pub(crate) const fn database_bytes(cores: usize) -> usize {
    let pairs = (cores * cores / 4).next_multiple_of(LINE_BYTES);
    cores.div_ceil(256) * (256 << 10) + pairs - LINE_BYTES
}

/// Bytes of a block's header.
const HEADER: usize = LINE_BYTES;

/// Mark of an allocated block, in the word that links free blocks.
const ALLOCATED: u32 = 0xA701_1A11;

/// Behind which memory controller an allocation goes. Where that one is full, the next one with room takes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placement {
    /// The nearest to this core.
    Near(CoreId),
    /// Round robin by this index.
    Striped(usize),
    /// Any, drawn with this seed.
    Random(u64),
}

/// The allocator of shared memory. It has no state of its own: all of that is in shared memory.
pub struct SharedAllocator<'c, C> {
    hal: &'c C,
    regions: &'c Regions,
}

impl<'c, C: Topology + Uncached + Combined + TestAndSet> SharedAllocator<'c, C> {
    pub(crate) fn new(hal: &'c C, regions: &'c Regions) -> Self {
        Self { hal, regions }
    }

    fn heap(&self, controller: usize) -> Heap<'c, C> {
        let Self { hal, regions } = *self;
        let memory = regions.region(SharedAddress::new(controller, 0), SHARED_BYTES_PER_CONTROLLER);
        Heap { hal, regions, memory, controller }
    }

    /// The window database behind `controller`.
    pub(crate) fn database(&self, controller: usize) -> Region<kind::Uncached> {
        self.regions.region(SharedAddress::new(controller, 0), database_bytes(self.hal.layout().cores()))
    }

    /// Sets up the heaps that this core keeps, in memory that is all zero. Collective; a barrier has to follow.
    pub(crate) fn initialise(&self) -> Result<(), Error> {
        for controller in 0..self.hal.layout().controllers() {
            if self.keeper(controller) == self.hal.core() {
                let heap = self.heap(controller);
                if heap.head() != 0 {
                    return Err(Error::SecondWorld);
                }
                heap.set(heap.start(), SIZE, (SHARED_BYTES_PER_CONTROLLER - heap.start()) as u32);
                heap.set(heap.start(), NEXT, 0);
                heap.set_head(heap.start());
                self.hal.store_word(self.database(controller), 0, 0);
            }
        }
        Ok(())
    }

    /// Allocates at least `len_bytes` bytes, rounded up to whole lines, with any contents.
    ///
    /// # Errors
    /// [`Error::PartTooLarge`] if no controller has that much, [`Error::OutOfSharedMemory`] if none has it left,
    /// [`Error::RegisterOutOfReach`] if this core cannot reach the register that guards the heaps.
    pub fn allocate<K: kind::Kind>(&self, len_bytes: usize, placement: Placement) -> Result<Region<K>, Error> {
        if len_bytes > self.limit_bytes() {
            return Err(self.refusal(len_bytes));
        }
        self.check_reach()?;
        let len = len_bytes.next_multiple_of(LINE_BYTES);
        let first = self.first_choice(placement);
        let controllers = self.hal.layout().controllers();
        (0..controllers)
            .map(|turn| (first + turn) % controllers)
            .find_map(|controller| {
                let _guard = self.hal.lock(self.keeper(controller), "the shared heap");
                self.heap(controller).take(len)
            })
            .ok_or_else(|| self.refusal(len_bytes))
    }

    /// Allocates like [`allocate`](Self::allocate), and writes zeros to memory.
    ///
    /// # Errors
    /// As `allocate`.
    pub fn allocate_zeroed<K: kind::Kind>(&self, len_bytes: usize, placement: Placement) -> Result<Region<K>, Error> {
        let region = self.allocate::<K>(len_bytes, placement)?;
        self.clear(region);
        Ok(region)
    }

    /// Writes zeros to a region's memory.
    pub(crate) fn clear<K: kind::Kind>(&self, region: Region<K>) {
        for line in 0..region.len_lines() {
            // A whole line leaves the write-combine buffer by itself.
            self.hal.write(region.mapped(), line * LINE_BYTES, &[0; LINE_BYTES]);
        }
    }

    /// Frees a region that was allocated, as whatever kind. No cache may hold lines of it any more. Regions and views of it
    /// that are left reach what is somebody else's from then on.
    ///
    /// # Errors
    /// [`Error::NotAllocated`] if it is not the region of an allocation, [`Error::RegisterOutOfReach`] as for
    /// `allocate`.
    pub fn free<K: kind::Kind>(&self, region: Region<K>) -> Result<(), Error> {
        let controller = region.start().controller().ok_or(Error::NotAllocated { start: region.start() })?;
        self.check_reach()?;
        let _guard = self.hal.lock(self.keeper(controller), "the shared heap");
        self.heap(controller).give_back(region.start().offset(), region.len_bytes())
    }

    /// The largest allocation that any controller could have room for.
    fn limit_bytes(&self) -> usize {
        SHARED_BYTES_PER_CONTROLLER - self.heap(0).start() - HEADER
    }

    /// Why an allocation of `len_bytes` bytes was refused.
    pub(crate) fn refusal(&self, len_bytes: usize) -> Error {
        match self.limit_bytes() {
            limit_bytes if len_bytes > limit_bytes => Error::PartTooLarge { len_bytes, limit_bytes },
            _ => Error::OutOfSharedMemory { len_bytes },
        }
    }

    /// Whether `core` can allocate and free: on a machine where registers do not reach everywhere, only the cores of
    /// the first coherence domain can.
    pub fn can_allocate(&self, core: CoreId) -> bool {
        let layout = self.hal.layout();
        layout.registers_reach_everywhere() || layout.reaches_register(core, CoreId::new(0))
    }

    fn check_reach(&self) -> Result<(), Error> {
        let (core, register) = (self.hal.core(), CoreId::new(0));
        if self.can_allocate(core) { Ok(()) } else { Err(Error::RegisterOutOfReach { core, register }) }
    }

    /// The core whose test-and-set register guards what is shared behind `controller`: the first one of its quadrant;
    /// where registers do not reach everywhere, core 0.
    pub(crate) fn keeper(&self, controller: usize) -> CoreId {
        let layout = self.hal.layout();
        if !layout.registers_reach_everywhere() {
            return CoreId::new(0);
        }
        (0..layout.cores())
            .map(CoreId::new)
            .find(|core| layout.nearest_controller(*core) == controller)
            .unwrap_or(CoreId::new(0))
    }

    fn first_choice(&self, placement: Placement) -> usize {
        match placement {
            Placement::Near(core) => self.hal.layout().nearest_controller(core),
            Placement::Striped(index) => index % self.hal.layout().controllers(),
            Placement::Random(seed) => {
                // One step of SplitMix64: neighbouring seeds give unrelated controllers.
                let mixed =
                    (seed.wrapping_add(0x9E37_79B9_7F4A_7C15) ^ (seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
                (mixed >> 33) as usize % self.hal.layout().controllers()
            }
        }
    }
}

/// Word of a header: bytes of the block, header included.
const SIZE: usize = 0;
/// Word of a header: offset of the next free block, 0 for the last; or [`ALLOCATED`].
const NEXT: usize = 1;

/// Bytes of a block for `len` bytes; even an allocation of nothing has a line of its own.
fn block_bytes(len: usize) -> usize {
    HEADER + len.max(LINE_BYTES)
}

/// The heap behind one controller. Its keeper's register is held.
struct Heap<'h, C> {
    hal: &'h C,
    regions: &'h Regions,
    memory: Region<kind::Uncached>,
    controller: usize,
}

impl<C: Uncached> Heap<'_, C> {
    fn get(&self, block: usize, word: usize) -> u32 {
        self.hal.load_word(self.memory, block / 4 + word)
    }

    fn set(&self, block: usize, word: usize, value: u32) {
        self.hal.store_word(self.memory, block / 4 + word, value);
    }

    /// Where the line with the list's head lies.
    fn list(&self) -> usize {
        database_bytes(self.hal.layout().cores())
    }

    /// Where the blocks begin.
    fn start(&self) -> usize {
        self.list() + LINE_BYTES
    }

    fn head(&self) -> usize {
        self.get(self.list(), 0) as usize
    }

    fn set_head(&self, block: usize) {
        self.set(self.list(), 0, block as u32);
    }

    /// Links `block` behind `previous`, or at the head of the list.
    fn link(&self, previous: Option<usize>, block: usize) {
        match previous {
            Some(previous) => self.set(previous, NEXT, block as u32),
            None => self.set_head(block),
        }
    }

    fn take<K: kind::Kind>(&self, len: usize) -> Option<Region<K>> {
        let wanted = block_bytes(len);
        let (mut previous, mut block) = (None, self.head());
        while block != 0 {
            let (size, next) = (self.get(block, SIZE) as usize, self.get(block, NEXT) as usize);
            if size >= wanted {
                if size - wanted > HEADER {
                    let rest = block + wanted;
                    self.set(rest, SIZE, (size - wanted) as u32);
                    self.set(rest, NEXT, next as u32);
                    self.link(previous, rest);
                    self.set(block, SIZE, wanted as u32);
                } else {
                    self.link(previous, next);
                }
                self.set(block, NEXT, ALLOCATED);
                return Some(self.regions.region(SharedAddress::new(self.controller, block + HEADER), len));
            }
            (previous, block) = (Some(block), next);
        }
        None
    }

    fn give_back(&self, offset: usize, len: usize) -> Result<(), Error> {
        let not_allocated = Error::NotAllocated { start: SharedAddress::new(self.controller, offset) };
        let block = offset.checked_sub(HEADER).filter(|block| *block >= self.start()).ok_or(not_allocated)?;
        let size = self.get(block, SIZE) as usize;
        // A block is one line longer where the rest would have been too small for a block of its own.
        let fits = size == block_bytes(len) || size == block_bytes(len) + HEADER;
        if self.get(block, NEXT) != ALLOCATED || !fits {
            return Err(not_allocated);
        }
        let (mut previous, mut next) = (None, self.head());
        while next != 0 && next < block {
            (previous, next) = (Some(next), self.get(next, NEXT) as usize);
        }
        let mut size = size;
        if next == block + size {
            size += self.get(next, SIZE) as usize;
            next = self.get(next, NEXT) as usize;
        }
        match previous {
            Some(before) if before + self.get(before, SIZE) as usize == block => {
                self.set(block, NEXT, 0);
                size += self.get(before, SIZE) as usize;
                self.set(before, SIZE, size as u32);
                self.set(before, NEXT, next as u32);
            }
            _ => {
                self.set(block, SIZE, size as u32);
                self.set(block, NEXT, next as u32);
                self.link(previous, block);
            }
        }
        Ok(())
    }
}
