//! What a core loads and stores: memory, its local APIC, and ports.

use descriptions::boards::map::{PAGE_BYTES, SLOT_BYTES};
use unicorn_engine::{RegisterX86, Unicorn};

use super::{Hooks, read};
use crate::{
    PageKind, Violation,
    cpu::{lapic, operands},
};

impl Hooks {
    #[inline]
    pub(in crate::cpu) fn load(&self, cpu: &mut Unicorn<'_, ()>, physical: u32, kind: PageKind, len: usize) -> u64 {
        if self.state.borrow().locked.is_some() && self.refuses_locked(cpu, physical, kind) {
            return 0;
        }
        let mut state = self.state.borrow_mut();
        let mut shared = self.shared.borrow_mut();
        if state.clock.is_some() {
            let number = state.number;
            if let Some(value) = shared.chip.load_hit(number, physical, kind, len) {
                return value;
            }
            drop((state, shared));
            let need = self.shared.borrow().chip.load_needs(number, physical, kind);
            if !self.reach(cpu, |_| need) {
                return 0;
            }
            if self.notes_polls() {
                self.note_look(need, physical, kind, len);
            }
            state = self.state.borrow_mut();
            shared = self.shared.borrow_mut();
        }
        if kind == PageKind::Uncached {
            state.tick(&mut shared.chip);
        }
        match shared.chip.load(state.number, physical, kind, len) {
            Ok(value) => {
                let keeps_time = state.clock.is_some();
                drop((state, shared));
                if keeps_time {
                    self.write_back(cpu);
                }
                value
            }
            Err(violation) => {
                drop((state, shared));
                self.refuse(cpu, violation);
                0
            }
        }
    }

    #[inline]
    pub(in crate::cpu) fn store(
        &self,
        cpu: &mut Unicorn<'_, ()>,
        physical: u32,
        kind: PageKind,
        len: usize,
        value: u64,
    ) {
        if self.state.borrow().locked.is_some() && self.refuses_locked(cpu, physical, kind) {
            return;
        }
        if self.state.borrow().clock.is_some() {
            let number = self.state.borrow().number;
            let need = self.shared.borrow().chip.store_needs(number, physical, kind, len);
            if !self.reach(cpu, |_| need) {
                return;
            }
            if self.notes_polls() {
                self.note_store(need, physical, kind, len, value);
            }
        }
        let mut state = self.state.borrow_mut();
        let mut shared = self.shared.borrow_mut();
        if kind == PageKind::Uncached {
            state.tick(&mut shared.chip);
        }
        let number = state.number;
        let code = state.code.note_store(physical, len, value);
        let stored = code.map_err(|refused| Violation::new(number, physical, refused.0));
        let stored = stored.and_then(|()| shared.chip.store(number, physical, kind, len, value));
        let stored = stored.and_then(|()| {
            if kind == PageKind::Uncached {
                // A pin that the core lowers by itself may rise again before its next turn, and has an edge then.
                state.look_at_pins(&shared.chip)?;
            }
            Ok(())
        });
        drop((state, shared));
        if let Err(violation) = stored {
            self.refuse(cpu, violation);
        }
    }

    /// Whether the core notes what its polls do.
    #[inline]
    fn notes_polls(&self) -> bool {
        self.state.borrow().clock.as_ref().is_some_and(|clock| clock.polls.notes())
    }

    /// What the core does now is no part of a poll that may be left out.
    fn spoil_polls(&self) {
        self.state.borrow_mut().clock.iter_mut().for_each(|clock| clock.polls.spoil());
    }

    /// Refuses a locked access to what other cores reach: nothing between cores locks, so it is not one step for them.
    /// Returns whether it is one.
    #[cold]
    fn refuses_locked(&self, cpu: &mut Unicorn<'_, ()>, physical: u32, kind: PageKind) -> bool {
        let (number, locked, pages) = {
            let state = self.state.borrow();
            (state.number, state.locked.clone().unwrap_or_default(), state.control.is_paged())
        };
        let first_shared = self.shared.borrow().chip.board().geometry.shared_slot;
        // Without pages nothing is cached, and no slot below leads to other cores' memory yet.
        if (kind == PageKind::WriteBack || !pages) && physical / SLOT_BYTES < first_shared {
            return false;
        }
        let cr3 = read(cpu, RegisterX86::CR3);
        let is_accessed = |linear: &u32| {
            let mapped = self.translate(cr3, *linear, false);
            mapped.is_ok_and(|mapped| mapped.physical | linear & (PAGE_BYTES - 1) == physical)
        };
        let refused = locked.iter().any(|locked| operands::addresses(cpu, locked).iter().any(is_accessed));
        if refused {
            let reason = "a locked instruction accesses what other cores reach, and locks nothing there";
            self.refuse(cpu, Violation::new(number, physical, reason));
        }
        refused
    }

    pub(super) fn load_apic(&self, cpu: &mut Unicorn<'_, ()>, offset: u32, len: usize) -> u64 {
        self.spoil_polls();
        let state = self.state.borrow();
        let now = self.shared.borrow().chip.shown_cycles(state.number) + state.cycles;
        match state.apic.load(offset, len, now) {
            Ok(value) => value.into(),
            Err(reason) => {
                let violation = Violation::new(state.number, lapic::BASE + offset, reason);
                drop(state);
                self.refuse(cpu, violation);
                0
            }
        }
    }

    pub(super) fn store_apic(&self, cpu: &mut Unicorn<'_, ()>, offset: u32, len: usize, value: u32) {
        self.spoil_polls();
        let mut state = self.state.borrow_mut();
        let now = self.shared.borrow().chip.shown_cycles(state.number) + state.cycles;
        // What it held off may come now.
        state.interrupted = true;
        if let Err(reason) = state.apic.store(offset, len, value, now) {
            let violation = Violation::new(state.number, lapic::BASE + offset, reason);
            drop(state);
            self.refuse(cpu, violation);
        }
    }

    pub(super) fn port_in(&self, cpu: &mut Unicorn<'_, ()>, port: u16, len: usize) -> u32 {
        self.spoil_polls();
        let number = self.state.borrow().number;
        let loaded = self.shared.borrow_mut().chip.port_in(number, port, len);
        loaded.unwrap_or_else(|violation| {
            self.refuse(cpu, violation);
            0
        })
    }

    pub(super) fn port_out(&self, cpu: &mut Unicorn<'_, ()>, port: u16, len: usize, value: u32) {
        self.spoil_polls();
        let number = self.state.borrow().number;
        let stored = self.shared.borrow_mut().chip.port_out(number, port, len, value);
        if let Err(violation) = stored {
            self.refuse(cpu, violation);
        }
    }
}
