//! From the reset to `atoll_core_main`, on every core by itself.
//!
//! 1. The start code in assembly ends in `start`, on the core's stack.
//! 2. What the image is told is read, and the board with it: it says where the core finds its own number (`TILEID`,
//!    `hal::hardware`, Tile registers; identifiers of local APICs are of no use, `hal::hardware`, Interrupts). A core
//!    that takes no part stops here.
//! 3. Memory is laid out, paging switched on with the MPB type (`hal::hardware`, MPB type), then the caches.
//! 4. Descriptors, traps, the local APIC. From here on a fault is reported.
//! 5. Shared memory gets its slots (`lut`), and one is pointed at the memory of core 0, where all tell how far they are
//!    (`status`).
//! 6. If core 0 alone was started, it starts the others.
//! 7. What nobody has loaded holds anything (`hal::hardware`, Reset): each core prepares what is its own, then they
//!    wait for each other.
//!
//! The image's crate defines `atoll_core_main`:
//!
//! ```ignore
//! #[unsafe(no_mangle)]
//! fn atoll_core_main(core: usize) -> ! { … }
//! ```

use core::{arch::asm, fmt};

use boards::{Handed, map};

use crate::bare::{cpu, descriptor, private::Private, words};

use super::{
    console, exit, lapic, lut, memory, others, paging, prepare,
    registers::Registers,
    status,
    this::{set_this_core, this_core},
    trap,
};

unsafe extern "Rust" {
    /// The program of every core, on its stack, with interrupts off and the x87 ready.
    safe fn atoll_core_main(core: usize) -> !;
}

/// What `cpuid` says of the chip's cores (`hal::hardware`, Caches).
const FAMILY_AND_MODEL: (u32, u32) = (5, 2);

/// How long a wait may last, unless the command line says otherwise.
const STUCK_SECONDS: u64 = 60;

static HANDED: Private<Option<Handed<'static>>> = Private::new(None);

/// What the image was told.
pub fn handed() -> &'static Handed<'static> {
    // SAFETY: only this core reaches the value, which is written once, before anything else asks for it.
    match unsafe { (*HANDED.get()).as_ref() } {
        Some(handed) => handed,
        None => fail(format_args!("asked for the description of the board before it was read")),
    }
}

/// The number of cores of this machine.
pub fn core_count() -> usize {
    handed().setting.cores as usize
}

/// The command line of the image.
pub fn command_line() -> &'static str {
    handed().command_line
}

/// The value of the word `key=value` of the command line; the last one counts.
pub fn option(key: &str) -> Option<&'static str> {
    words::value_of(command_line(), key)
}

/// The input files with their names and contents.
pub fn modules() -> impl Iterator<Item = (&'static str, &'static [u8])> {
    handed().modules().map(|module| {
        let start = core::ptr::with_exposed_provenance(module.start as usize);
        // SAFETY: the file was loaded there, above the heap, the pages are mapped read-only, and nobody else knows of
        // them.
        let contents = unsafe { core::slice::from_raw_parts(start, module.len_bytes as usize) };
        (module.name, contents)
    })
}

/// Prints why the start failed, and stops.
pub(super) fn fail(message: fmt::Arguments<'_>) -> ! {
    console::write_urgent(format_args!("boot: {message}\n@done failed boot: {message}\n"));
    exit::exit(false)
}

/// A number from the command line within limits, if it is there.
pub(super) fn number(key: &str, max: usize) -> Option<usize> {
    words::number(command_line(), key, max, fail)
}

/// Cycles of a core after which a wait takes the machine to be stuck (`stuck_s=`); nothing if it never does.
pub(super) fn stuck_cycles() -> Option<u64> {
    let seconds = match option("stuck_s") {
        None => STUCK_SECONDS,
        Some("0") => return None,
        Some(_) => number("stuck_s", 1_000_000).map_or(STUCK_SECONDS, |seconds| seconds as u64),
    };
    Some(seconds * u64::from(handed().geometry.core_mhz) * 1_000_000)
}

/// Goes on after the start code, without paging and caches.
pub(super) extern "C" fn start() -> ! {
    read_handed();
    let handed = handed();
    // SAFETY: 1. what was read describes this board; 2. there is no paging yet.
    let id = unsafe { Registers::own(&handed.geometry) }.tile_id().read();
    let core = id.core(&handed.geometry);
    if core >= handed.setting.cores {
        cpu::park();
    }
    set_this_core(core as usize);
    check();
    memory::lay_out();
    // SAFETY: paging is off, and nobody uses what was laid out.
    unsafe { paging::enter() }
    // SAFETY: paging is on, and has what goes past the caches mapped so; nothing was cached since the reset.
    unsafe { cpu::enable_caches() }

    trap::prepare();
    // SAFETY: the one call of this core, in its own address space, with interrupts off.
    unsafe { descriptor::load(&[]) }
    lapic::enable();

    lut::share_views();
    status::reach();
    if core == 0 && handed.setting.starts_others != 0 {
        others::start();
    }
    prepare::own_parts();
    status::gather();
    // SAFETY: the stack is mapped, this core's own and unused, and what is on the present one is never needed again.
    unsafe {
        asm!(
            "mov esp, {top}",
            "xor ebp, ebp",
            "call {main}",
            "ud2",
            top = in(reg) memory::areas().stack.end,
            main = sym main,
            options(noreturn)
        )
    }
}

/// The program, on its own stack.
extern "C" fn main() -> ! {
    atoll_core_main(this_core())
}

fn read_handed() {
    let block = core::ptr::with_exposed_provenance::<u8>(map::HANDED as usize);
    // SAFETY: the address range is RAM of every board, nobody writes to it, and every byte is one.
    let block = unsafe { core::slice::from_raw_parts(block, map::HANDED_BYTES as usize) };
    match Handed::read(block) {
        // SAFETY: only this core reaches the value, and nobody has asked for it yet.
        Ok(handed) => unsafe { HANDED.get().write(Some(handed)) },
        Err(wrong) => fail(format_args!("{wrong}")),
    }
}

/// Ends what cannot work on this machine.
fn check() {
    let (family, model) = cpu::family_and_model();
    if (family, model) != FAMILY_AND_MODEL {
        let (wanted_family, wanted_model) = FAMILY_AND_MODEL;
        fail(format_args!(
            "the processor is of family {family}, model {model}, and the image is for {wanted_family}, {wanted_model}"
        ));
    }
    if !lut::has_room_for_views(&handed().geometry) {
        fail(format_args!("the board has other uses for the slots of shared memory's views"));
    }
    let (cores, most) = (core_count(), status::MAX_CORES.min(handed().geometry.cores() as usize));
    if cores > most {
        fail(format_args!("{cores} cores are wanted, and {most} are possible on this board"));
    }
}
