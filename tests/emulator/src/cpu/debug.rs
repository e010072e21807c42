//! Where a debugger wants cores to stop. A core that is debugged looks before each instruction whether it shall, and gives way
//! there; so all that it is made of is then as before that instruction.

use std::{
    cell::{Cell, RefCell},
    collections::HashSet,
    rc::Rc,
};

use unicorn_engine::{Unicorn, uc_error};

use super::{
    giving_way::Request,
    hooks::{Cpu, Hooks, SPAN},
    met::Met,
    state::{Seen, Stop},
};
use crate::PageKind;

/// Where cores stop.
#[derive(Default)]
pub(crate) struct Points {
    /// Linear addresses of instructions, on all cores.
    breakpoints: RefCell<HashSet<u32>>,
    /// Cores that execute one instruction and stop.
    steps: RefCell<HashSet<usize>>,
    /// Whether there are any of the two, since that is asked before each instruction.
    are_some: Cell<bool>,
}

impl Points {
    /// From now on all cores stop before the instruction at a linear address, or do not.
    pub(crate) fn break_at(&self, linear: u32, stops: bool) {
        if stops {
            self.breakpoints.borrow_mut().insert(linear);
        } else {
            self.breakpoints.borrow_mut().remove(&linear);
        }
        self.note();
    }

    /// A core is to execute one instruction and stop.
    pub(crate) fn step(&self, number: usize) {
        self.steps.borrow_mut().insert(number);
        self.note();
    }

    /// No core is to do that.
    pub(crate) fn forget_steps(&self) {
        self.steps.borrow_mut().clear();
        self.note();
    }

    /// Forgets all.
    pub(crate) fn clear(&self) {
        self.breakpoints.borrow_mut().clear();
        self.forget_steps();
    }

    fn note(&self) {
        self.are_some.set(!(self.breakpoints.borrow().is_empty() && self.steps.borrow().is_empty()));
    }

    /// What the core `number` meets before the instruction at a linear address.
    fn met(&self, number: usize, linear: u32) -> Option<Met> {
        if !self.are_some.get() {
            return None;
        }
        // A step that ends at a breakpoint has met that.
        let steps = self.steps.borrow_mut().remove(&number);
        let breaks = self.breakpoints.borrow().contains(&linear);
        if breaks { Some(Met::Breakpoint) } else { steps.then_some(Met::Step) }
    }
}

impl Hooks {
    /// Lets the core look, before each instruction, whether it shall stop.
    pub(super) fn debug(&self, cpu: &mut Cpu, points: &Rc<Points>) -> Result<(), uc_error> {
        self.state.borrow_mut().seen = Some(Seen { at: super::RESET_LINEAR, has_stopped: false });
        let (hooks, points) = (self.clone(), Rc::clone(points));
        cpu.add_code_hook(1, 0, move |cpu, linear, _| hooks.arrive(cpu, linear as u32, &points))?;
        Ok(())
    }

    /// Maps pages of a kind where the CPU library finds them, so that whoever watches memory is told of accesses.
    pub(super) fn map_watched(&self, cpu: &mut Cpu, base: u64, kind: PageKind) -> Result<(), uc_error> {
        let (loads, stores) = (self.clone(), self.clone());
        cpu.mmio_map(
            base,
            SPAN,
            Some(move |cpu: &mut Unicorn<'_, ()>, physical: u64, len: usize| {
                let value = loads.load(cpu, physical as u32, kind, len);
                loads.show(physical as u32, kind, len, false);
                value
            }),
            Some(move |cpu: &mut Unicorn<'_, ()>, physical: u64, len: usize, value: u64| {
                stores.store(cpu, physical as u32, kind, len, value);
                stores.show(physical as u32, kind, len, true);
            }),
        )
    }

    fn show(&self, physical: u32, kind: PageKind, len: usize, stores: bool) {
        let number = self.state.borrow().number;
        self.shared.borrow_mut().chip.note_access(number, physical, kind, len, stores);
    }

    /// The core is before the instruction at a linear address.
    fn arrive(&self, cpu: &mut Unicorn<'_, ()>, linear: u32, points: &Points) {
        let number = {
            let mut state = self.state.borrow_mut();
            if state.stop.is_some() {
                return;
            }
            state.seen = Some(Seen { at: linear, has_stopped: false });
            state.number
        };
        let watched = self.shared.borrow_mut().chip.take_met(number).map(Met::Watchpoint);
        let Some(met) = watched.or_else(|| points.met(number, linear)) else { return };
        let (now, gives_way) = {
            let mut state = self.state.borrow_mut();
            let chip = &mut self.shared.borrow_mut().chip;
            state.tick(chip);
            state.seen = Some(Seen { at: linear, has_stopped: true });
            let Some(clock) = &state.clock else { return };
            (chip.cycles(number), clock.gives_way())
        };
        let resumed = gives_way(Request::Stopped { now, met });
        let seen = self.state.borrow_mut().seen.replace(Seen { at: linear, has_stopped: false });
        if self.go_on(cpu, resumed, |_| (now, None)) && seen.is_some_and(|seen| seen.at != linear) {
            self.stop(cpu, Stop::Again);
        }
    }
}
