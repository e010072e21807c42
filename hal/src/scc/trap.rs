//! What traps do on this backend: report and end the machine. An NMI asks where the core is.

use crate::{
    bare::{
        this_core::this_core,
        trap::{self, Hooks, Spot},
    },
    scc::{
        console,
        exit::machine::{exit, is_ending},
        memory::{self, areas},
        status::{meeting, status_page},
    },
};

pub(super) use crate::bare::trap::set_interrupt_handler;

/// Tells the traps of this core what they shall do.
pub(super) fn prepare() {
    trap::set_hooks(Hooks {
        core: this_core,
        nmi: say_where,
        repair: |_, _| false,
        stack: areas::stack,
        code: || memory::image::text_start()..memory::image::text_end(),
        tell_who_waits: meeting::tell_who_waits,
        is_ending,
        write_urgent: |message| console::write_urgent(message),
        fail: || exit(false),
    });
}

/// Says where this core is, or what it waits for if it has told the others: somebody wants to know why the board does not end.
/// It goes on afterwards.
fn say_where(spot: Spot) {
    let core = this_core();
    match status_page::is_reached().then(|| status_page::wait_of(core)).flatten() {
        Some(reason) => console::write_urgent(format_args!("core {core} waits for {reason}\n")),
        None => console::write_urgent(format_args!("core {core} runs {spot}\n")),
    }
}
