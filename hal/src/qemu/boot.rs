//! From the multiboot loader to `atoll_core_main` on every core.
//!
//! The first core copies the loader's information, lays memory out, and enters its own address space; then it starts
//! the others. A core's number is its place in the order of local APICs, so it is the same in every run.
//!
//! The image's crate defines `atoll_core_main`:
//!
//! ```ignore
//! #[unsafe(no_mangle)]
//! fn atoll_core_main(core: usize) -> ! { … }
//! ```

use super::memory::{self, PAGE_BYTES};
use super::multiboot::{self, Handed};
use super::{cluster, console, fw_cfg, heartbeat, layout, legacy, lock, pit, processors, smp, trap};
use crate::bare::{
    descriptor, lapic, uart,
    words::{self, value_of},
};
use crate::limits;
use core::fmt;
use spin::once::Once;

unsafe extern "Rust" {
    /// The program of every core, on its private stack, with interrupts off and the x87 ready.
    safe fn atoll_core_main(core: usize) -> !;
}

/// The least stack, on which a core can come to its program.
const LEAST_STACK_KIB: usize = 16;
/// What a heap needs to keep a trace, beside the trace.
const TRACE_SLACK_KIB: usize = 64;
/// 256 KiB, the size of a core's L2 cache on the SCC.
const DEFAULT_CACHE_FRAMES: usize = 64;

/// What is known about the machine after the start; the same on every core.
pub(super) struct Information {
    pub(super) core_count: usize,
    pub(super) cache_frames: usize,
    /// Neighbouring cores that share their copies of controllers' memory.
    pub(super) cores_per_domain: usize,
    pub(super) shared_dram: usize,
    pub(super) mpb: usize,
    /// This node's place in a cluster, if it is one.
    pub(super) membership: Option<cluster::Membership>,
    heap_bytes: usize,
    first_heap_bytes: usize,
    pub(super) stack_bytes: usize,
}

impl Information {
    /// Frames of a core's own: half of them where it shares the other half with its coherence domain.
    pub(super) fn own_frames(&self) -> usize {
        if self.cores_per_domain == 1 { self.cache_frames } else { self.cache_frames.div_ceil(2) }
    }

    /// Frames that the cores of a coherence domain share.
    pub(super) fn domain_frames(&self) -> usize {
        let per_core = self.cache_frames - self.cache_frames.div_ceil(2);
        (per_core * self.cores_per_domain).clamp(1, memory::CACHE_MAX_FRAMES)
    }

    /// Bytes of a core's heap. The first core of the whole machine has its own size.
    pub(super) fn heap_bytes(&self, core: usize) -> usize {
        let is_first = core == 0 && self.membership.is_none_or(|member| member.node == 0);
        if is_first { self.first_heap_bytes } else { self.heap_bytes }
    }

    /// Cores of all nodes.
    pub(super) fn all_cores(&self) -> usize {
        self.core_count * self.membership.map_or(1, |member| member.nodes)
    }
}

#[unsafe(link_section = ".bss.emulator")]
static HANDED: Once<Handed, lock::Pause> = Once::new();

#[unsafe(link_section = ".emulator")]
static INFORMATION: Once<Information, lock::Pause> = Once::new();

pub(super) fn information() -> &'static Information {
    INFORMATION.get().unwrap_or_else(|| fail(format_args!("asked for the machine's layout before it was made")))
}

/// What is known, or nothing before the start has found it out.
pub(super) fn known_information() -> Option<&'static Information> {
    INFORMATION.get()
}

/// The number of cores of this machine; of a cluster, those of this node.
pub fn core_count() -> usize {
    information().core_count
}

/// The command line of the image. QEMU puts the path of the image before the words.
pub fn command_line() -> &'static str {
    HANDED.get().map_or("", |handed| handed.command_line.as_str())
}

/// The value of the word `key=value` of the command line; the last one counts.
pub fn option(key: &str) -> Option<&'static str> {
    value_of(command_line(), key)
}

/// Whether the command line has this word.
pub fn has_word(word: &str) -> bool {
    words::has(command_line(), word)
}

/// The modules with their names (the text that the loader gave) and contents, readable from every core.
pub fn modules() -> impl Iterator<Item = (&'static str, &'static [u8])> {
    HANDED.get().into_iter().flat_map(|handed| &handed.modules).map(|module| {
        let start = core::ptr::with_exposed_provenance(module.contents.start);
        // SAFETY: the range is reserved, mapped read-only on every core, and never changes.
        let contents = unsafe { core::slice::from_raw_parts(start, module.contents.len()) };
        (module.name.as_str(), contents)
    })
}

/// Prints why the start failed and ends the machine.
pub(super) fn fail(message: fmt::Arguments<'_>) -> ! {
    smp::report_failure(message)
}

/// A number from the command line within limits.
pub(super) fn number(line: &str, key: &str, default: usize, max: usize) -> usize {
    words::number(line, key, max, fail).unwrap_or(default)
}

/// Prepares the machine and returns the page directory of core 0. Paging is off; called by the start code.
pub(super) extern "C" fn first_core(magic: u32, loader_information: usize) -> usize {
    fw_cfg::probe();
    uart::initialise();
    legacy::mask();
    if magic != multiboot::LOADER_MAGIC {
        fail(format_args!("not started by a multiboot 1 loader (eax is {magic:#x})"));
    }
    // SAFETY: the magic number says that this is the loader's structure; nothing was allocated or written so far but
    // the image's own shared part.
    let handed = unsafe { multiboot::read(loader_information) }.unwrap_or_else(|why| fail(format_args!("{why}")));
    let handed = HANDED.call_once(|| handed);
    let line = handed.command_line.as_str();
    fw_cfg::obey(line);
    // SAFETY: paging is off, and nothing was written below 1 MiB.
    let (core_count, source) = unsafe { processors::find(line) };
    let heap_max_kib = memory::HEAP_MAX_BYTES >> 10;
    let heap_kib = number(line, "heap_kib", limits::HEAP_KIB, heap_max_kib);
    let first_heap_kib = number(line, "heap0_kib", heap_kib, heap_max_kib);
    // What a trace takes, it takes on top of the program's heap; a little more is for the heap's own account of it.
    let trace_kib =
        value_of(line, "trace_kib").map_or(0, |_| number(line, "trace_kib", 0, heap_max_kib) + TRACE_SLACK_KIB);
    let heap_of = |kib: usize| ((kib + trace_kib).min(heap_max_kib) << 10).next_multiple_of(PAGE_BYTES);
    let membership = cluster::membership(line, core_count);
    let domains = if membership.is_some() { 1 } else { number(line, "domains", core_count, core_count) };
    let mut information = Information {
        core_count,
        cores_per_domain: core_count.div_ceil(domains),
        cache_frames: number(line, "cache_frames", DEFAULT_CACHE_FRAMES, memory::CACHE_MAX_FRAMES),
        shared_dram: 0,
        mpb: 0,
        membership,
        heap_bytes: heap_of(heap_kib),
        first_heap_bytes: heap_of(first_heap_kib),
        stack_bytes: (number(line, "stack_kib", limits::STACK_KIB, limits::MOST_STACK_KIB).max(LEAST_STACK_KIB) << 10)
            .next_multiple_of(PAGE_BYTES),
    };
    // SAFETY: paging is off, and `handed` is what the loader said.
    if let Err(shortage) = unsafe { layout::build(&mut information, handed) } {
        fail(format_args!(
            "{core_count} cores with heaps of {heap_kib} KiB ({first_heap_kib} KiB on core 0) and {} cache frames \
             need {} MiB of memory, but the machine has {} MiB",
            information.cache_frames, shortage.needed_mib, shortage.present_mib
        ));
    }
    INFORMATION.call_once(|| information);
    if !fw_cfg::is_used() {
        pit::measure();
        // On a line of its own, whatever the loader has said before.
        let cores = if core_count == 1 { "core" } else { "cores" };
        console::write_fmt(format_args!("\nAtoll on {core_count} {cores}, found {source}; {}\n", pit::Rate));
    }
    smp::DIRECTORIES[0].load(core::sync::atomic::Ordering::Acquire) as usize
}

/// Goes on after the start code, on the core's own stack and in its own memory.
pub(super) extern "C" fn core_start(core: usize) -> ! {
    super::set_this_core(core);
    trap::prepare();
    // SAFETY: the one call of this core, in its own address space, with interrupts off; `trap` has made the stub.
    unsafe { descriptor::load(&legacy::gates(trap::timer_stub())) }
    let cores = core_count();
    if cores > 1 {
        lapic::enable();
    }
    if core == 0 {
        smp::start_others(cores);
        heartbeat::join();
        smp::open_gate();
    } else {
        smp::arrive(core);
    }
    atoll_core_main(core)
}
