//! Making the core that runs this.

use crate::{
    LineAddress,
    bare::{cpu, private::Private},
    scc::{
        sc_core::{ScCore, interrupts},
        trap::set_interrupt_handler,
    },
};

/// This core, for its interrupt handler.
static CORE: Private<Option<ScCore>> = Private::new(None);

/// Makes the core that runs this.
///
/// # Panics
/// If it was made before.
pub fn start_core() -> &'static ScCore {
    // SAFETY: 1. the static is private to this core; 2. it is written only here, once, before the interrupt handler
    // that reads it is set; 3. afterwards only shared references to it exist.
    let core = unsafe {
        // Looked at by a shared reference: a core that was made has others.
        assert!((*CORE.get()).is_none(), "a core is started once");
        let slot = &mut *CORE.get();
        &*slot.insert(ScCore::new())
    };
    set_interrupt_handler(|| {
        interrupts::note_edge();
        // SAFETY: as above, 2 and 3.
        if let Some(core) = unsafe { (*CORE.get()).as_ref() } {
            core.interrupted();
        }
    });
    core
}

/// The line that this core has stored to and not drained.
pub(crate) fn undrained() -> Option<LineAddress> {
    let _interrupts = cpu::InterruptsOff::new();
    // SAFETY: 2 and 3 of `start_core`.
    unsafe { (*CORE.get()).as_ref() }?.undrained()
}
