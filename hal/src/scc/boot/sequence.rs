//! What each core does from the end of the start code to its program.

use core::arch::asm;

use crate::{
    LINE_BYTES,
    bare::{
        cpu, descriptor,
        this_core::{set_this_core, this_core},
    },
    scc::{
        boot::{other_cores, own_parts},
        exit::failure::fail,
        handed::{self, core_count, handed},
        lapic,
        memory::{areas, lookup_table, paging},
        registers::tile::Registers,
        status::{meeting, status_page},
        trap,
    },
};

unsafe extern "Rust" {
    /// The program of every core, on its stack, with interrupts off and the x87 ready.
    safe fn atoll_core_main(core: usize) -> !;
}

/// What `cpuid` says of the chip's cores (`hal::hardware`, Caches).
const FAMILY_AND_MODEL: (u32, u32) = (5, 2);

/// Goes on after the start code, without paging and caches.
pub(crate) extern "C" fn start() -> ! {
    handed::read().unwrap_or_else(|wrong| fail(format_args!("{wrong}")));
    let handed = handed();
    // SAFETY: 1. what was read describes this board; 2. there is no paging yet.
    let id = unsafe { Registers::own(&handed.geometry) }.tile_id().read();
    let core = id.core(&handed.geometry);
    if core >= handed.setting.cores {
        cpu::park();
    }
    set_this_core(core as usize);
    check();
    areas::lay_out();
    // SAFETY: paging is off, and nobody uses what was laid out.
    unsafe { paging::enter() }
    // SAFETY: paging is on, and has what goes past the caches mapped so; nothing was cached since the reset.
    unsafe { cpu::enable_caches() }

    trap::prepare();
    // SAFETY: the one call of this core, in its own address space, with interrupts off.
    unsafe { descriptor::load(&[]) }
    lapic::enable();

    lookup_table::share_views();
    status_page::reach();
    if core == 0 && handed.setting.starts_others != 0 {
        other_cores::start();
    }
    own_parts::own_parts();
    meeting::gather();
    read_stack();
    // SAFETY: the stack is mapped, this core's own and unused, and what is on the present one is never needed again.
    unsafe {
        asm!(
            "mov esp, {top}",
            "xor ebp, ebp",
            "call {main}",
            "ud2",
            top = in(reg) areas::areas().stack.end,
            main = sym main,
            options(noreturn)
        )
    }
}

/// Bytes of the stack that a program's calls are usually in.
const USUAL_STACK_BYTES: usize = 32 << 10;

/// Reads the part of the program's stack that it begins with, so that the caches have it: a store to a line that no cache has goes
/// out to memory by itself (`hal::hardware`, Caches), again and again where nobody reads what was stored.
fn read_stack() {
    let stack = areas::areas().stack.clone();
    for line in (stack.end.saturating_sub(USUAL_STACK_BYTES).max(stack.start)..stack.end).step_by(LINE_BYTES) {
        // SAFETY: the stack is mapped and this core's own, and any bytes are a number.
        unsafe { (line as *const u32).read_volatile() };
    }
}

/// The program, on its own stack.
extern "C" fn main() -> ! {
    atoll_core_main(this_core())
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
    if !lookup_table::has_room_for_views(&handed().geometry) {
        fail(format_args!("the board has other uses for the slots of shared memory's views"));
    }
    let (cores, most) = (core_count(), status_page::MAX_CORES.min(handed().geometry.cores() as usize));
    if cores > most {
        fail(format_args!("{cores} cores are wanted, and {most} are possible on this board"));
    }
}
