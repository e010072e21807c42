//! What the cores of a machine share: MPBs, shared DRAM, what cores expose, registers and counters.
//!
//! A line is read, and written, as one: its version is odd while it is written, and whoever reads looks at the version before
//! and afterwards. So waits, which read again and again, take nothing from who writes. An MPB line's version is beside it.

use std::{
    hint,
    ptr::NonNull,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{
            self, AtomicBool, AtomicU32,
            Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
        },
    },
    thread,
};

use hal::{
    ATOMIC_COUNTERS, CoreId, Home, LINE_BYTES, Layout, Line, LineAddress, MPB_LINES, Region, SharedAddress,
    emulated::{HOST_LINE_BYTES, HostLines, HostMemory, store_masked},
    kind,
    kit::{CounterAccess, Slices, mask_of},
    topology::SHARED_BYTES_PER_CONTROLLER,
};

const WORD_BYTES: usize = size_of::<u32>();

/// Words of a line.
const WORDS: usize = LINE_BYTES / WORD_BYTES;

/// Bytes for a line with its version: no line of the host has two of them.
const STRIDE: usize = HOST_LINE_BYTES;

/// Versions of lines whose memory is that of views, by address.
const VERSIONS: usize = 256;

/// How often who waits for a line tries until it lets others run: who writes it may have lost its processor.
const TRIES: u32 = 64;

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
    /// Whether shared memory is that of views, and therefore has its versions elsewhere.
    coherent: bool,
    /// How lines of the host are written back and forgotten, where that is wanted.
    host_lines: Option<HostLines>,
    versions: Vec<AtomicU32>,
    /// What all cores look at by slices, where memory is coherent, and whether there is any.
    slices: Mutex<Slices>,
    has_slices: AtomicBool,
    /// What each core exposes.
    exposed: Vec<Mutex<Vec<Exposed>>>,
    registers: Vec<AtomicBool>,
    counters: [AtomicU32; ATOMIC_COUNTERS],
}

// SAFETY: the memory is valid for as long as it is in the list, whichever thread looks at it, and is accessed atomically, but
// for the owner's views on a coherent machine.
unsafe impl Send for Exposed {}

/// Takes a lock. A core that panicked while it held it has left nothing half done.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tries again and again. Who is waited for may have lost its processor.
fn back_off_while(mut fails: impl FnMut() -> bool) {
    let mut tries = 0;
    while fails() {
        tries += 1;
        if tries < TRIES { hint::spin_loop() } else { thread::yield_now() }
    }
}

/// A word of memory.
///
/// # Safety
/// The memory is aligned to words, valid for as long as the reference is used, and accessed by atomic words meanwhile.
unsafe fn word<'m>(memory: *mut u8, index: usize) -> &'m AtomicU32 {
    // SAFETY: the caller promises it.
    unsafe { AtomicU32::from_ptr(memory.cast::<u32>().wrapping_add(index)) }
}

/// Makes a version odd, so that nobody else writes, and returns what it was.
fn begin_write(version: &AtomicU32) -> u32 {
    let mut before = 0;
    back_off_while(|| {
        before = version.load(Relaxed) & !1;
        version.compare_exchange_weak(before, before + 1, SeqCst, Relaxed).is_err()
    });
    before
}

/// Writes bytes of a line after [`begin_write`], which has returned `before`, and makes its version even.
fn end_write(line: *mut u8, version: &AtomicU32, before: u32, data: &Line, mask: u32) {
    for (index, bytes) in data.0.as_chunks::<WORD_BYTES>().0.iter().enumerate() {
        // SAFETY: a line is there for as long as the machine, and has a word at each such index.
        let (target, new) = (unsafe { word(line, index) }, u32::from_ne_bytes(*bytes));
        match mask >> (index * WORD_BYTES) & 0xF {
            0 => {}
            0xF => target.store(new, Release),
            mask => store_masked(target, new, mask),
        }
    }
    version.store(before.wrapping_add(2), Release);
}

impl Memory {
    pub(crate) fn new(layout: &Layout, coherent: bool, host_lines: Option<HostLines>) -> Self {
        let cores = layout.cores();
        let stride = if coherent { LINE_BYTES } else { STRIDE };
        Self {
            mpbs: HostMemory::new(cores * MPB_LINES * STRIDE),
            shared: HostMemory::new(layout.controllers() * SHARED_BYTES_PER_CONTROLLER / LINE_BYTES * stride),
            coherent,
            host_lines,
            versions: (0..VERSIONS).map(|_| AtomicU32::new(0)).collect(),
            slices: Mutex::default(),
            has_slices: AtomicBool::new(false),
            exposed: (0..cores).map(|_| Mutex::default()).collect(),
            registers: (0..cores).map(|_| AtomicBool::new(false)).collect(),
            counters: [const { AtomicU32::new(0) }; ATOMIC_COUNTERS],
        }
    }

    /// Where a line is, its version, and what keeps it exposed meanwhile, if it is a core's.
    ///
    /// # Panics
    /// If there is no such line.
    fn place(&self, at: LineAddress) -> (*mut u8, &AtomicU32, Option<MutexGuard<'_, Vec<Exposed>>>) {
        let beside = |memory: &HostMemory, index: usize| {
            let line = memory.at(index * STRIDE, STRIDE);
            // SAFETY: a line has its version behind it, and nothing else is there.
            (line, unsafe { word(line, WORDS) }, None)
        };
        let apart = |line: *mut u8, guard| (line, &self.versions[line.addr() / LINE_BYTES % VERSIONS], guard);
        match at {
            LineAddress::Mpb(mpb) => {
                assert!(mpb.core.index() < self.registers.len(), "{} does not exist", mpb.core);
                assert!(usize::from(mpb.line) < MPB_LINES, "{mpb} does not exist");
                beside(&self.mpbs, mpb.core.index() * MPB_LINES + usize::from(mpb.line))
            }
            LineAddress::Shared(address) => match address.home() {
                Home::Controller(_) if self.coherent => apart(self.shared.at(address.flat(), LINE_BYTES), None),
                Home::Controller(_) => beside(&self.shared, address.flat() / LINE_BYTES),
                Home::Core(owner) => {
                    let exposed = locked(&self.exposed[owner.index()]);
                    let line = find(&exposed, address, LINE_BYTES);
                    apart(line.unwrap_or_else(|| panic!("{address} is not exposed")), Some(exposed))
                }
            },
        }
    }

    /// Whether a slice may exclude an access to a line.
    fn is_watched(&self, at: LineAddress) -> bool {
        self.coherent && matches!(at, LineAddress::Shared(_)) && self.has_slices.load(SeqCst)
    }

    /// Makes an access to bytes `from..from + len` of a line, unless a slice excludes it, and while none can come.
    fn past_slices<R>(&self, at: LineAddress, [from, len]: [usize; 2], writes: bool, access: impl FnOnce() -> R) -> R {
        let slices = locked(&self.slices);
        if let LineAddress::Shared(address) = at
            && let Err(conflict) = slices.access_memory(address.plus(from), len, writes)
        {
            drop(slices);
            panic!("{conflict}");
        }
        access()
    }

    /// Changes the account of the slices of a coherent machine.
    pub(crate) fn with_slices<R>(&self, change: impl FnOnce(&mut Slices) -> R) -> R {
        let mut slices = locked(&self.slices);
        let result = change(&mut slices);
        let has_slices = !slices.is_empty();
        if self.has_slices.swap(has_slices, SeqCst) != has_slices && has_slices {
            // Who writes, and has not seen that, ends first.
            for version in &self.versions {
                back_off_while(|| !version.load(SeqCst).is_multiple_of(2));
            }
        }
        result
    }

    /// Reads what `load` reads of a line: bytes `bytes[0]..bytes[0] + bytes[1]`.
    fn read<R>(&self, at: LineAddress, bytes: [usize; 2], load: impl Fn(*mut u8) -> R) -> R {
        let (line, version, _exposed) = self.place(at);
        // SAFETY: `place` points to memory.
        self.host_lines.inspect(|lines| unsafe { lines.forget(line) });
        let mut found = None;
        back_off_while(|| {
            let before = version.load(Acquire);
            let result = load(line);
            // A slice that came before this look may have changed it already.
            found = Some(if self.is_watched(at) { self.past_slices(at, bytes, false, || load(line)) } else { result });
            !before.is_multiple_of(2) || version.load(Relaxed) != before
        });
        found.expect("it was read once at least")
    }

    pub(crate) fn read_line(&self, at: LineAddress) -> Line {
        self.read(at, [0, LINE_BYTES], |line| {
            let mut data = Line::default();
            for (index, bytes) in data.0.as_chunks_mut::<WORD_BYTES>().0.iter_mut().enumerate() {
                // Who finds a new word finds the version odd afterwards, or later: this is an acquire.
                // SAFETY: `place` points to whole lines, which are accessed by atomic words.
                *bytes = unsafe { word(line, index) }.load(Acquire).to_ne_bytes();
            }
            data
        })
    }

    /// Writes the bytes of a line whose bits in `mask` are set: one at least.
    pub(crate) fn write_line(&self, at: LineAddress, data: &Line, mask: u32) {
        let (line, version, _exposed) = self.place(at);
        if mask == u32::MAX {
            // Where a whole line is written, the next ones mostly follow.
            HostLines::expect_store(line.wrapping_add(2 * STRIDE));
        } else {
            // Write-backs keep no order by themselves, and what is no whole line may be a flag: what was stored before comes first.
            self.fence();
        }
        let before = begin_write(version);
        if self.is_watched(at) {
            // Who makes slices has to come through first.
            version.store(before, Release);
            let first = mask.trailing_zeros() as usize;
            let bytes = [first, LINE_BYTES - mask.leading_zeros() as usize - first];
            self.past_slices(at, bytes, true, || end_write(line, version, begin_write(version), data, mask));
        } else {
            end_write(line, version, before, data, mask);
        }
        // SAFETY: a line is there for as long as the machine.
        self.host_lines.inspect(|lines| unsafe { lines.write_back(line) });
    }

    pub(crate) fn read_word(&self, at: SharedAddress) -> u32 {
        let within = at.offset() % LINE_BYTES;
        self.read(LineAddress::Shared(at.line_start()), [within, WORD_BYTES], |line| {
            // SAFETY: a line is there for as long as the machine, and the word is inside of it.
            unsafe { word(line, within / WORD_BYTES) }.load(Acquire)
        })
    }

    pub(crate) fn write_word(&self, at: SharedAddress, value: u32) {
        let (within, mut line) = (at.offset() % LINE_BYTES, Line::default());
        line.0[within..within + WORD_BYTES].copy_from_slice(&value.to_ne_bytes());
        self.write_line(LineAddress::Shared(at.line_start()), &line, mask_of(within, WORD_BYTES));
        self.fence();
    }

    /// What was written before is in memory before what is read or written afterwards.
    pub(crate) fn fence(&self) {
        self.host_lines.inspect(HostLines::fence);
        // Loads of the host pass stores that are still in a processor's buffer.
        atomic::fence(SeqCst);
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
    fn of_owner(&self, region: Region<kind::Cached>) -> MutexGuard<'_, Vec<Exposed>> {
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
