//! What traps do on this backend: page faults bring in what was promised or is cached, NMIs ask, and stop
//! what runs on at the end.

use core::arch::global_asm;

use crate::{
    bare::{
        cpu,
        private::Private,
        this_core::this_core,
        trap::{self, Hooks, Spot},
    },
    qemu::{
        cluster::{heartbeat, nodes},
        console,
        emulator::{domain, stuck},
        exit::{ending::is_ending, machine::exit, traces},
        memory::{self, areas, demand},
    },
};

pub(super) use crate::bare::trap::set_interrupt_handler;

/// A page fault's second chance: gets the address, says whether the access may be repeated.
pub(super) type FaultHandler = fn(address: usize) -> bool;

global_asm!(
    r#"
    .section .text.trap, "ax", @progbits
    /* The timer of a cluster's node. Its handler leaves the x87 alone. */
    .balign 16
    .globl trap_timer
    .type trap_timer, @function
trap_timer:
    pushal
    cld
    movl %esp, %ebx
    andl $-16, %esp
    call {timer}
    movl %ebx, %esp
    popal
    iretl
    .size trap_timer, . - trap_timer
    .text
    "#,
    timer = sym heartbeat::tick,
    options(att_syntax)
);

unsafe extern "C" {
    static trap_timer: u8;
}

/// Entry point of the timer's interrupts.
pub(super) fn timer_stub() -> usize {
    (&raw const trap_timer).addr()
}

/// Tells the traps of this core what they shall do.
pub(super) fn prepare() {
    trap::set_hooks(Hooks {
        core: || nodes::global(this_core()).index(),
        nmi: |spot| {
            if is_ending() {
                traces::tell_if_wanted();
                cpu::park();
            }
            if !domain::told() {
                say_where(spot);
                traces::tell();
            }
        },
        repair: |address, is_present| !is_present && demand::keep_promise(address) || repaired(address),
        stack: areas::stack,
        code: || memory::image::text_start()..memory::image::text_end(),
        tell_who_waits: stuck::tell_who_waits,
        is_ending,
        write_urgent: |message| console::write_urgent(message),
        fail: || exit(false),
    });
}

static FAULT_HANDLER: Private<Option<FaultHandler>> = Private::new(None);
static IN_FAULT_HANDLER: Private<bool> = Private::new(false);

/// Sets this core's fault handler. It runs on the interrupted stack with interrupts off, must not use the x87, and a
/// page fault within it is reported.
pub(super) fn set_fault_handler(handler: FaultHandler) {
    let _interrupts = cpu::InterruptsOff::new();
    // SAFETY: only this core reaches the value.
    unsafe { FAULT_HANDLER.get().write(Some(handler)) }
}

/// Lets the fault handler repair a page fault.
fn repaired(address: usize) -> bool {
    // SAFETY: only this core reaches the two values, and a nested fault only reads the flag.
    unsafe {
        if IN_FAULT_HANDLER.get().read_volatile() {
            return false;
        }
        let Some(handler) = FAULT_HANDLER.get().read_volatile() else { return false };
        IN_FAULT_HANDLER.get().write_volatile(true);
        let done = handler(address);
        IN_FAULT_HANDLER.get().write_volatile(false);
        done
    }
}

/// Says where this core is, or what it waits for: somebody wants to know why the machine does not end. It goes on
/// afterwards.
fn say_where(spot: Spot) {
    let core = nodes::global(this_core()).index();
    match stuck::waits_for(this_core()) {
        Some(info) => console::write_urgent(format_args!("core {core} waits for {}\n", info.reason)),
        None => console::write_urgent(format_args!("core {core} runs {spot}\n")),
    }
}
