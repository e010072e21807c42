//! The first core's way to its program, and each other core's.

use crate::{
    bare::{PAGE_BYTES, descriptor, lapic, options::value_of, this_core::set_this_core, uart},
    limits,
    qemu::{
        boot::{address_spaces, arrivals, membership, other_cores, processors},
        cluster::heartbeat,
        console,
        exit::failure::{fail, number},
        handed::{
            facts::{self, Information},
            multiboot,
        },
        memory::{addresses, directories::DIRECTORIES},
        pc::{fw_cfg, interrupt_controllers, pit},
        trap,
    },
};

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

/// Prepares the machine and returns the page directory of core 0. Paging is off; called by the start code.
pub(crate) extern "C" fn first_core(magic: u32, loader_information: usize) -> usize {
    fw_cfg::probe();
    uart::initialise();
    interrupt_controllers::mask();
    if magic != multiboot::LOADER_MAGIC {
        fail(format_args!("not started by a multiboot 1 loader (eax is {magic:#x})"));
    }
    // SAFETY: the magic number says that this is the loader's structure; nothing was allocated or written so far but
    // the image's own shared part.
    let handed = unsafe { multiboot::read(loader_information) }.unwrap_or_else(|why| fail(format_args!("{why}")));
    let handed = facts::note_handed(handed);
    let line = handed.command_line.as_str();
    fw_cfg::obey(line);
    // SAFETY: paging is off, and nothing was written below 1 MiB.
    let (core_count, source) = unsafe { processors::find(line) };
    let heap_max_kib = addresses::HEAP_MAX_BYTES >> 10;
    let heap_kib = number(line, "heap_kib", limits::HEAP_KIB, heap_max_kib);
    let first_heap_kib = number(line, "heap0_kib", heap_kib, heap_max_kib);
    // What a trace takes, it takes on top of the program's heap; a little more is for the heap's own account of it.
    let trace_kib = ["trace_kib", "failure_trace_kib"]
        .into_iter()
        .find(|key| value_of(line, key).is_some())
        .map_or(0, |key| number(line, key, 0, heap_max_kib) + TRACE_SLACK_KIB);
    let heap_of = |kib: usize| ((kib + trace_kib).min(heap_max_kib) << 10).next_multiple_of(PAGE_BYTES);
    let membership = membership::membership(line, core_count);
    let domains = if membership.is_some() { 1 } else { number(line, "domains", core_count, core_count) };
    let mut information = Information {
        core_count,
        cores_per_domain: core_count.div_ceil(domains),
        cache_frames: number(line, "cache_frames", DEFAULT_CACHE_FRAMES, addresses::CACHE_MAX_FRAMES),
        shared_dram: 0,
        mpb: 0,
        membership,
        heap_bytes: heap_of(heap_kib),
        first_heap_bytes: heap_of(first_heap_kib),
        trace_bytes: trace_kib << 10,
        stack_bytes: (number(line, "stack_kib", limits::STACK_KIB, limits::MOST_STACK_KIB).max(LEAST_STACK_KIB) << 10)
            .next_multiple_of(PAGE_BYTES),
    };
    // SAFETY: paging is off, and `handed` is what the loader said.
    if let Err(shortage) = unsafe { address_spaces::build(&mut information, handed) } {
        fail(format_args!(
            "{core_count} cores with heaps of {heap_kib} KiB ({first_heap_kib} KiB on core 0) and {} cache frames \
             need {} MiB of memory, but the machine has {} MiB",
            information.cache_frames, shortage.needed_mib, shortage.present_mib
        ));
    }
    facts::note(information);
    if !fw_cfg::is_used() {
        pit::measure();
        // On a line of its own, whatever the loader has said before.
        let cores = if core_count == 1 { "core" } else { "cores" };
        console::write_fmt(format_args!("\nAtoll on {core_count} {cores}, found {source}; {}\n", pit::Rate));
    }
    DIRECTORIES[0].load(core::sync::atomic::Ordering::Acquire) as usize
}

/// Goes on after the start code, on the core's own stack and in its own memory.
pub(crate) extern "C" fn core_start(core: usize) -> ! {
    set_this_core(core);
    trap::prepare();
    // SAFETY: the one call of this core, in its own address space, with interrupts off; `trap` has made the stub.
    unsafe { descriptor::load(&interrupt_controllers::gates(trap::timer_stub())) }
    let cores = facts::core_count();
    if cores > 1 {
        lapic::enable();
    }
    if core == 0 {
        other_cores::start_others(cores);
        heartbeat::join();
        arrivals::open_gate();
    } else {
        arrivals::arrive(core);
    }
    atoll_core_main(core)
}
