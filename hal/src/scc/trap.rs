//! What traps do on this backend: report and end the machine. An NMI asks where the core is.

use crate::{
    bare::{
        this_core::this_core,
        trap::{self, Hooks},
    },
    scc::{
        console,
        exit::machine::{exit, is_ending},
        memory::{self, areas},
        status::meeting,
    },
};

pub(super) use crate::bare::trap::set_interrupt_handler;

/// Tells the traps of this core what they shall do.
pub(super) fn prepare() {
    trap::set_hooks(Hooks {
        core: this_core,
        nmi: |spot| console::write_urgent(format_args!("core {} runs {spot}\n", this_core())),
        repair: |_, _| false,
        stack: areas::stack,
        code: || memory::image::text_start()..memory::image::text_end(),
        tell_who_waits: meeting::tell_who_waits,
        is_ending,
        write_urgent: |message| console::write_urgent(message),
        fail: || exit(false),
    });
}
