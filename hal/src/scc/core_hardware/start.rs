//! Making the core that runs this.

use crate::{
    LineAddress,
    bare::{cpu, private::PrivateOnce},
    scc::trap::set_interrupt_handler,
};

use super::{ScCore, Scc, core_registers};

/// This core, for its interrupt handler.
static CORE: PrivateOnce<ScCore> = PrivateOnce::new();

/// Makes the core that runs this.
///
/// # Panics
/// If it was made before.
pub fn start_core() -> &'static ScCore {
    assert!(CORE.get().is_none(), "a core is started once");
    let core = CORE.set(ScCore::new(Scc::new()));
    set_interrupt_handler(|| {
        core_registers::note_edge();
        if let Some(core) = CORE.get() {
            core.interrupted();
        }
    });
    core
}

/// The line that this core has stored to and not drained.
pub(crate) fn undrained() -> Option<LineAddress> {
    let _interrupts = cpu::InterruptsOff::new();
    CORE.get()?.hardware().account.stored_last()
}
