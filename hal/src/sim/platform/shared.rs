//! What all cores of a machine share, and what happens to it in one step.

use std::cell::{Cell, RefCell};

use crate::{Act, CoreId, LINE_BYTES, Layout, Line, LineAddress, SharedAddress, emulated::FetchUnit, kit::Conflict};

use super::super::{
    access::{Access, Effect},
    check::Checker,
    cost::Cost,
    domains::Domains,
    engine::Engine,
    heat::HeatMap,
    memory::Memory,
    network::Stored,
};
use super::SimCore;

/// What all cores of a machine share.
pub(in super::super) struct Shared {
    /// The number of the run: no other run of the process has it.
    pub(in super::super) number: u64,
    pub(in super::super) layout: Layout,
    pub(in super::super) cost: Cost,
    pub(in super::super) memory: Memory,
    pub(in super::super) domains: Domains,
    pub(in super::super) engine: RefCell<Engine>,
    pub(in super::super) coherent: bool,
    pub(in super::super) fetch_unit: FetchUnit,
    /// The run has failed and its cores are being unwound.
    pub(in super::super) dying: Cell<bool>,
    /// The cores, while they run.
    pub(in super::super) running: Cell<*const [Box<SimCore>]>,
    /// Where the traffic is, if it is counted.
    pub(in super::super) heat: Option<RefCell<HeatMap>>,
    /// Who follows what the program does, if it is checked.
    pub(in super::super) checker: Option<RefCell<Checker>>,
    /// The parts of windows that there are.
    pub(in super::super) parts: RefCell<Vec<Part>>,
}

/// The part of a window that a core has.
#[derive(Clone, Copy)]
pub(in super::super) struct Part {
    pub(in super::super) window: u32,
    pub(in super::super) core: CoreId,
    pub(in super::super) start: SharedAddress,
    pub(in super::super) len_bytes: usize,
}

impl Shared {
    /// A core has a part of a window, or one less.
    pub(in super::super) fn follow_parts(&self, core: CoreId, act: &Act<'_>) {
        let mut parts = self.parts.borrow_mut();
        match *act {
            Act::HasPart { window, part: start, len_bytes } => parts.push(Part { window, core, start, len_bytes }),
            Act::FreesPart { window, part: start } => {
                parts.retain(|part| (part.window, part.core, part.start) != (window, core, start));
            }
            _ => {}
        }
    }
}

impl Shared {
    /// A store that was on its way takes effect.
    ///
    /// # Errors
    /// If a slice excludes it.
    pub(in super::super) fn land(&self, stored: Stored) -> Result<(), Conflict> {
        let access = match stored {
            Stored::Line(at, data, mask) => {
                self.write_line(at, &data, mask)?;
                Access::line(at, mask, Effect::Write)
            }
            Stored::Word(at, value) => {
                self.write_word(at, value)?;
                Access::word(at, Effect::Write)
            }
        };
        self.engine.borrow_mut().landed(access);
        Ok(())
    }

    /// Whether slices allow an access to memory: where that is what they look at, it is for them to say.
    fn ask_slices(&self, at: SharedAddress, len_bytes: usize, writes: bool) -> Result<(), Conflict> {
        if !self.coherent {
            return Ok(());
        }
        self.domains.slices(0).access_memory(at, len_bytes, writes)
    }

    /// Reads a line from memory, now.
    pub(super) fn read_line(&self, at: LineAddress) -> Line {
        if let LineAddress::Shared(at) = at {
            insist(self.ask_slices(at, LINE_BYTES, false));
        }
        self.memory.read_line(at)
    }

    /// Reads a word from memory, now.
    pub(super) fn read_word(&self, at: SharedAddress) -> u32 {
        insist(self.ask_slices(at, size_of::<u32>(), false));
        self.memory.read_word(at)
    }

    /// Writes bytes of a line to memory, now, where the domain that it is home of sees them.
    pub(super) fn write_line(&self, at: LineAddress, data: &Line, mask: u32) -> Result<(), Conflict> {
        let LineAddress::Shared(address) = at else {
            self.memory.write_line(at, data, mask);
            return Ok(());
        };
        let (first, end) = (mask.trailing_zeros() as usize, (u32::BITS - mask.leading_zeros()) as usize);
        if first < end {
            self.ask_slices(address.plus(first), end - first, true)?;
        }
        self.memory.write_line(at, data, mask);
        self.domains.pushed(address, data, mask)
    }

    /// Writes a word to memory, now.
    pub(super) fn write_word(&self, at: SharedAddress, value: u32) -> Result<(), Conflict> {
        self.ask_slices(at, size_of::<u32>(), true)?;
        self.memory.write_word(at, value);
        self.domains.pushed_word(at, value)
    }
}

/// Panics if a slice excludes what was done.
pub(super) fn insist(done: Result<(), Conflict>) {
    if let Err(conflict) = done {
        panic!("{conflict}");
    }
}
