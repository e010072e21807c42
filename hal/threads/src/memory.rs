//! What the cores of a machine share: MPBs, shared DRAM, what cores expose, registers and counters.

use std::{
    ptr::NonNull,
    sync::{
        Mutex, PoisonError,
        atomic::{
            AtomicBool, AtomicU8, AtomicU32,
            Ordering::{AcqRel, Acquire, Relaxed, Release},
        },
    },
};

use hal::{
    ATOMIC_COUNTERS, CoreId, Home, LINE_BYTES, Layout, Line, LineAddress, MPB_LINES, Region, SharedAddress,
    emulated::HostMemory, kind, kit::CounterAccess, topology::SHARED_BYTES_PER_CONTROLLER,
};

/// Bytes of an uncached word.
const WORD_BYTES: usize = size_of::<u32>();

/// Locks that lines move under, by address.
const LOCKS: usize = 1024;

/// Private memory that a core exposes.
struct Exposed {
    region: Region<kind::Cached>,
    memory: NonNull<u8>,
    /// Other cores that may access it.
    reached_by: Vec<CoreId>,
}

/// All that cores share.
pub(crate) struct Memory {
    mpbs: HostMemory,
    shared: HostMemory,
    /// A line is read, and written, as one.
    lines: Vec<Mutex<()>>,
    /// What each core exposes.
    exposed: Vec<Mutex<Vec<Exposed>>>,
    registers: Vec<AtomicBool>,
    counters: [AtomicU32; ATOMIC_COUNTERS],
}

// SAFETY: the memory is valid for as long as it is in the list, whichever thread looks at it, and is accessed atomically, but
// for the owner's views on a coherent machine.
unsafe impl Send for Exposed {}

/// Takes a lock. A core that panicked while it held it has left nothing half done.
fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Memory {
    pub(crate) fn new(layout: &Layout) -> Self {
        let cores = layout.cores();
        Self {
            mpbs: HostMemory::new(cores * MPB_LINES * LINE_BYTES),
            shared: HostMemory::new(layout.controllers() * SHARED_BYTES_PER_CONTROLLER),
            lines: (0..LOCKS).map(|_| Mutex::new(())).collect(),
            exposed: (0..cores).map(|_| Mutex::default()).collect(),
            registers: (0..cores).map(|_| AtomicBool::new(false)).collect(),
            counters: [const { AtomicU32::new(0) }; ATOMIC_COUNTERS],
        }
    }

    /// Calls `access` with a pointer to `len_bytes` bytes of a line, while nobody else does.
    fn with<R>(&self, at: LineAddress, len_bytes: usize, access: impl FnOnce(*mut u8) -> R) -> R {
        let memory = match at {
            LineAddress::Mpb(mpb) => {
                assert!(mpb.core.index() < self.registers.len(), "{} does not exist", mpb.core);
                assert!(usize::from(mpb.line) < MPB_LINES, "{mpb} does not exist");
                self.mpbs.at((mpb.core.index() * MPB_LINES + usize::from(mpb.line)) * LINE_BYTES, len_bytes)
            }
            LineAddress::Shared(address) => match address.home() {
                Home::Controller(_) => self.shared.at(address.flat(), len_bytes),
                Home::Core(owner) => {
                    let exposed = locked(&self.exposed[owner.index()]);
                    return access(find(&exposed, address, len_bytes).unwrap_or_else(|| {
                        panic!("{address} is not exposed");
                    }));
                }
            },
        };
        let _guard = locked(&self.lines[memory.addr() / LINE_BYTES % LOCKS]);
        access(memory)
    }

    pub(crate) fn read_line(&self, at: LineAddress) -> Line {
        let mut line = Line::default();
        self.with(at, LINE_BYTES, |memory| {
            for (index, word) in line.0.chunks_exact_mut(WORD_BYTES).enumerate() {
                // SAFETY: `with` points to a whole line, which is aligned to words and accessed atomically.
                let found = unsafe { AtomicU32::from_ptr(memory.cast::<u32>().add(index)) }.load(Acquire);
                word.copy_from_slice(&found.to_ne_bytes());
            }
        });
        line
    }

    pub(crate) fn write_line(&self, at: LineAddress, data: &Line, mask: u32) {
        self.with(at, LINE_BYTES, |memory| {
            for (index, word) in data.0.chunks_exact(WORD_BYTES).enumerate() {
                let target = memory.wrapping_add(index * WORD_BYTES);
                match (mask >> (index * WORD_BYTES) & 0xF, word.try_into()) {
                    (0, _) => {}
                    (0xF, Ok(bytes)) => {
                        // SAFETY: as in `read_line`.
                        unsafe { AtomicU32::from_ptr(target.cast()) }.store(u32::from_ne_bytes(bytes), Release);
                    }
                    (mask, _) => {
                        for (byte, value) in word.iter().enumerate().filter(|(byte, _)| mask >> byte & 1 == 1) {
                            // SAFETY: as in `read_line`; the byte is one of the word's.
                            unsafe { AtomicU8::from_ptr(target.add(byte)) }.store(*value, Release);
                        }
                    }
                }
            }
        });
    }

    pub(crate) fn read_word(&self, at: SharedAddress) -> u32 {
        self.with(LineAddress::Shared(at), WORD_BYTES, |memory| {
            // SAFETY: as in `read_line`; addresses of words are multiples of 4.
            unsafe { AtomicU32::from_ptr(memory.cast()) }.load(Acquire)
        })
    }

    pub(crate) fn write_word(&self, at: SharedAddress, value: u32) {
        self.with(LineAddress::Shared(at), WORD_BYTES, |memory| {
            // SAFETY: as in `read_word`.
            unsafe { AtomicU32::from_ptr(memory.cast()) }.store(value, Release);
        });
    }

    pub(crate) fn test_and_set(&self, register: CoreId) -> bool {
        !self.registers[register.index()].swap(true, Acquire)
    }

    pub(crate) fn is_taken(&self, register: CoreId) -> bool {
        self.registers[register.index()].load(Relaxed)
    }

    pub(crate) fn free(&self, register: CoreId) {
        self.registers[register.index()].store(false, Release);
    }

    pub(crate) fn access_counter(&self, counter: usize, access: CounterAccess) -> u32 {
        let counter = &self.counters[counter];
        match access {
            CounterAccess::Increment => counter.fetch_add(1, AcqRel),
            CounterAccess::Decrement => counter.fetch_sub(1, AcqRel),
            CounterAccess::Read => counter.load(Acquire),
            CounterAccess::Set(value) => counter.swap(value, AcqRel),
        }
    }

    /// The exposures of the core whose memory a region is.
    fn of_owner(&self, region: Region<kind::Cached>) -> std::sync::MutexGuard<'_, Vec<Exposed>> {
        let Home::Core(owner) = region.start().home() else { panic!("{} is no core's", region.start()) };
        locked(&self.exposed[owner.index()])
    }

    /// `memory` is `region` from now on, until it is concealed.
    ///
    /// # Safety
    /// It stays valid for reads and writes of the region's length for as long, and nobody else reaches it.
    pub(crate) unsafe fn expose(&self, region: Region<kind::Cached>, memory: NonNull<u8>) {
        self.of_owner(region).push(Exposed { region, memory, reached_by: Vec::new() });
    }

    /// Takes back what is exposed, unless another core may still access it.
    pub(crate) fn conceal(&self, region: Region<kind::Cached>) -> Result<(), CoreId> {
        let mut exposed = self.of_owner(region);
        let Some(index) = exposed.iter().position(|exposed| exposed.region == region) else { return Ok(()) };
        exposed[index].reached_by.first().map_or(Ok(()), |core| Err(*core))?;
        exposed.remove(index);
        Ok(())
    }

    /// Notes whether a core may access what is exposed, as far as that has bytes of a region.
    pub(crate) fn set_reached(&self, core: CoreId, region: Region<kind::Cached>, is_reached: bool) {
        for exposed in self.of_owner(region).iter_mut().filter(|exposed| exposed.region.overlaps(&region)) {
            exposed.reached_by.retain(|by| *by != core);
            exposed.reached_by.extend(is_reached.then_some(core));
        }
    }

    /// Memory of a region itself.
    pub(crate) fn at(&self, region: Region<kind::Cached>) -> *mut u8 {
        match region.start().home() {
            Home::Controller(_) => self.shared.at(region.start().flat(), region.len_bytes()),
            Home::Core(_) => find(&self.of_owner(region), region.start(), region.len_bytes())
                .unwrap_or_else(|| panic!("{} is not exposed", region.start())),
        }
    }
}

/// Where bytes are that a core exposes.
fn find(exposed: &[Exposed], address: SharedAddress, len_bytes: usize) -> Option<*mut u8> {
    exposed.iter().find_map(|exposed| {
        let offset = address.offset().checked_sub(exposed.region.start().offset())?;
        let fits = offset.checked_add(len_bytes)? <= exposed.region.len_bytes();
        fits.then(|| exposed.memory.as_ptr().wrapping_add(offset))
    })
}
