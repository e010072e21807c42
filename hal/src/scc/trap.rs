//! What traps do on this backend: report and end the machine. An NMI asks where the core is.

use crate::bare::trap::{self, Hooks};

use super::{console, exit, memory, this_core};

pub(super) use crate::bare::trap::set_interrupt_handler;

/// Tells the traps of this core what they shall do.
pub(super) fn prepare() {
    trap::set_hooks(Hooks {
        core: this_core,
        nmi: |eip| console::write_urgent(format_args!("core {} runs at {eip:#010x}\n", this_core())),
        repair: |_, _| false,
        is_stack_guard: memory::is_stack_guard,
        is_ending: exit::is_ending,
        write_urgent: |message| console::write_urgent(message),
        fail: || exit::exit(false),
    });
}
