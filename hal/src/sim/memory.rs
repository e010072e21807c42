//! The memory that all cores of a simulated machine share: MPBs, shared DRAM, what cores expose of their private
//! memory, test-and-set registers.
//!
//! It is coherent and knows nothing of time; who reads it when is the engine's matter. It costs the host nothing until
//! it is touched, so that machines of thousands of cores fit; the thread's next run uses it again.

use std::{
    cell::{Cell, RefCell, RefMut},
    collections::BTreeSet,
    ptr::NonNull,
};

use crate::{
    ATOMIC_COUNTERS, CoreId, Home, LINE_BYTES, Line, LineAddress, MPB_LINES, Region, SharedAddress, kind,
    kit::CounterAccess, topology::SHARED_BYTES_PER_CONTROLLER,
};

use super::reused_memory::ReusedMemory;

/// Private memory that a core exposes.
struct Exposed {
    region: Region<kind::Cached>,
    memory: NonNull<u8>,
    /// Other cores that may access it.
    reached_by: BTreeSet<CoreId>,
}

/// All shared memory of a machine.
pub(super) struct Memory {
    mpbs: ReusedMemory,
    shared: ReusedMemory,
    /// What each core exposes.
    exposed: RefCell<Vec<Vec<Exposed>>>,
    /// Who holds each register.
    registers: Vec<Cell<Option<CoreId>>>,
    counters: [Cell<u32>; ATOMIC_COUNTERS],
}

impl Memory {
    pub(super) fn new(cores: usize, controllers: usize) -> Self {
        Self {
            mpbs: ReusedMemory::new(cores * MPB_LINES * LINE_BYTES),
            shared: ReusedMemory::new(controllers * SHARED_BYTES_PER_CONTROLLER),
            exposed: RefCell::new((0..cores).map(|_| Vec::new()).collect()),
            registers: vec![Cell::new(None); cores],
            counters: [const { Cell::new(0) }; ATOMIC_COUNTERS],
        }
    }

    pub(super) fn read_line(&self, at: LineAddress) -> Line {
        let mut line = Line::default();
        // SAFETY: `line_at` points to a whole line, and no reference to shared memory exists.
        unsafe { line.0.as_mut_ptr().copy_from_nonoverlapping(self.line_at(at), LINE_BYTES) };
        line
    }

    pub(super) fn write_line(&self, at: LineAddress, data: &Line, mask: u32) {
        let target = self.line_at(at);
        if mask == u32::MAX {
            // SAFETY: `line_at` points to a whole line, and no reference to shared memory exists.
            unsafe { target.copy_from_nonoverlapping(data.0.as_ptr(), LINE_BYTES) };
            return;
        }
        for (index, byte) in data.0.iter().enumerate().filter(|(index, _)| mask >> index & 1 == 1) {
            // SAFETY: as above, and the index is that of a byte of the line.
            unsafe { target.add(index).write(*byte) };
        }
    }

    pub(super) fn read_word(&self, at: SharedAddress) -> u32 {
        // SAFETY: `shared` checks that there are four bytes; no alignment is asked for.
        u32::from_le_bytes(unsafe { self.shared(at, 4).cast::<[u8; 4]>().read() })
    }

    pub(super) fn write_word(&self, at: SharedAddress, value: u32) {
        // SAFETY: `shared` checks that there are four bytes; no alignment is asked for.
        unsafe { self.shared(at, 4).cast::<[u8; 4]>().write(value.to_le_bytes()) };
    }

    /// Reads a register for `core`: true if it was free and is the core's now.
    pub(super) fn test_and_set(&self, register: CoreId, core: CoreId) -> bool {
        let holder = &self.registers[register.index()];
        let free = holder.get().is_none();
        if free {
            holder.set(Some(core));
        }
        free
    }

    pub(super) fn free(&self, register: CoreId) {
        self.registers[register.index()].set(None);
    }

    /// Accesses an atomic counter and returns what it was.
    pub(super) fn access_counter(&self, counter: usize, access: CounterAccess) -> u32 {
        let counter = &self.counters[counter];
        counter.replace(access.result(counter.get()))
    }

    pub(super) fn holder(&self, register: CoreId) -> Option<CoreId> {
        self.registers[register.index()].get()
    }

    /// `memory` is `region` from now on, until it is concealed.
    ///
    /// # Safety
    /// It stays valid for reads and writes of the region's length for as long, and nobody else reaches it.
    pub(super) unsafe fn expose(&self, region: Region<kind::Cached>, memory: NonNull<u8>) {
        self.of_owner(region).push(Exposed { region, memory, reached_by: BTreeSet::new() });
    }

    /// Takes back what is exposed, unless another core may still access it.
    pub(super) fn conceal(&self, region: Region<kind::Cached>) -> Result<(), CoreId> {
        let mut exposed = self.of_owner(region);
        let Some(index) = exposed.iter().position(|exposed| exposed.region == region) else { return Ok(()) };
        exposed[index].reached_by.first().map_or(Ok(()), |core| Err(*core))?;
        exposed.remove(index);
        Ok(())
    }

    /// Changes who may access what is exposed, as far as that has bytes of a region.
    pub(super) fn for_each_exposed(&self, region: Region<kind::Cached>, change: impl Fn(&mut BTreeSet<CoreId>)) {
        let mut exposed = self.of_owner(region);
        exposed.iter_mut().filter(|exposed| exposed.region.overlaps(&region)).for_each(|it| change(&mut it.reached_by));
    }

    /// What the core exposes whose memory a region is.
    fn of_owner(&self, region: Region<kind::Cached>) -> RefMut<'_, Vec<Exposed>> {
        let Home::Core(owner) = region.start().home() else { panic!("{} is no core's", region.start()) };
        RefMut::map(self.exposed.borrow_mut(), |exposed| &mut exposed[owner.index()])
    }

    /// `len` bytes of shared DRAM itself, or of memory that is exposed.
    pub(super) fn shared(&self, at: SharedAddress, len: usize) -> *mut u8 {
        self.if_there(at, len).unwrap_or_else(|| panic!("{at} is not exposed"))
    }

    /// Bytes as [`shared`](Self::shared) finds them, or `None` where no memory is exposed.
    pub(super) fn if_there(&self, at: SharedAddress, len: usize) -> Option<*mut u8> {
        let Home::Core(owner) = at.home() else { return Some(self.shared.at(at.flat(), len)) };
        let exposed = self.exposed.borrow();
        let offset = |exposed: &Exposed| {
            let offset = at.offset().checked_sub(exposed.region.start().offset())?;
            (offset <= exposed.region.len_bytes() && len <= exposed.region.len_bytes() - offset).then_some(offset)
        };
        let (exposed, offset) = exposed[owner.index()].iter().find_map(|exposed| Some((exposed, offset(exposed)?)))?;
        // SAFETY: inside the memory that was exposed, as just checked.
        Some(unsafe { exposed.memory.as_ptr().add(offset) })
    }

    fn line_at(&self, at: LineAddress) -> *mut u8 {
        match at {
            LineAddress::Mpb(line) => {
                assert!(usize::from(line.line) < MPB_LINES, "{line} does not exist");
                self.mpbs.at((line.core.index() * MPB_LINES + usize::from(line.line)) * LINE_BYTES, LINE_BYTES)
            }
            LineAddress::Shared(address) => self.shared(address, LINE_BYTES),
        }
    }
}
