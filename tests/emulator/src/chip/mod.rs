//! The chip without the execution units of its cores: everything that an access to memory or to a port can reach.

mod access;
mod cache;
mod core;
mod counts;
mod dram;
mod fpga;
#[cfg(feature = "cpu")]
mod look;
mod mesh;
#[cfg(feature = "cpu")]
mod needs;
mod notes;
mod system;
mod tile_registers;
mod uart;
#[cfg(feature = "cpu")]
mod watch;

#[cfg(feature = "cpu")]
pub(crate) use self::{cache::LINE_BYTES, needs::Need, watch::Watchpoint};
use self::{core::Core, fpga::Fpga, mesh::Mesh, tile_registers::Registers, uart::Uart};
pub use self::{counts::Counts, dram::Dram, system::System};
use crate::{Board, Violation};

/// How a page is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageKind {
    /// Cached in L1 and L2.
    WriteBack,
    /// Not cached.
    Uncached,
    /// Of the MPB's type, where stores go through L1.
    Mpbt,
    /// Of the MPB's type, where stores to lines that L1 has stay there.
    MpbtWriteBack,
}

impl PageKind {
    /// What bits of an entry of a page table say (3: PWT, 4: PCD, 7: PMB), if the MPB's type is switched on
    /// (`CR4.MPE`).
    ///
    /// # Errors
    /// Why no program should use such a page, in one line.
    pub const fn from_page_bits(entry: u32) -> Result<Self, &'static str> {
        let (through, uncached, mpbt) = (entry >> 3 & 1 != 0, entry >> 4 & 1 != 0, entry >> 7 & 1 != 0);
        match (mpbt, uncached, through) {
            (true, true, _) => Err("a page of the MPB's type is uncached, too"),
            (true, false, true) => Ok(Self::Mpbt),
            (true, false, false) => Ok(Self::MpbtWriteBack),
            (false, true, _) => Ok(Self::Uncached),
            (false, false, false) => Ok(Self::WriteBack),
            (false, false, true) => Err("a page is cached and written through, which L2 is not known to do"),
        }
    }

    const fn is_mpbt(self) -> bool {
        matches!(self, Self::Mpbt | Self::MpbtWriteBack)
    }
}

/// Levels of the pins of a core's local APIC.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pins {
    /// LINT0: bit 1 of `GLCFG`.
    pub intr: bool,
    /// LINT1: bit 0 of `GLCFG`.
    pub nmi: bool,
}

/// How the model behaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The router's bypass works, as on no chip that exists.
    pub bypass_works: bool,
    /// All accesses go to memory at once, as if no core had caches: shows what only the caches find.
    pub coherent: bool,
    /// An access to a line that is in a cache in another way is a violation.
    pub strict_kinds: bool,
    /// The consoles have a line status register, as with one of the drivers of the board's host, and not with the
    /// other.
    pub console_status: bool,
    /// Modified lines are evicted now and then, at moments that depend on this number.
    pub evictions: Option<u64>,
    /// Where time is kept, polls that cannot succeed are executed like others, to compare.
    pub executes_polls: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            bypass_works: false,
            coherent: false,
            strict_kinds: true,
            console_status: true,
            evictions: None,
            executes_polls: false,
        }
    }
}

/// A chip after a reset of its board, with all cores held in reset.
pub struct Chip {
    settings: Settings,
    mesh: Mesh,
    cores: Vec<Core>,
    registers: Vec<Registers>,
    fpga: Fpga,
    uarts: Vec<Uart>,
    console: Vec<(usize, String)>,
    /// The clock of the core that is furthest.
    time: u64,
    /// Whether clocks are kept by who runs the cores, each its own.
    pub(crate) keeps_time: bool,
    /// Cycles that were left out because nobody did anything but wait.
    pub(crate) skipped: u64,
    /// Grows with each change of a reset.
    pub(crate) resets: u64,
    /// Grows with each change of a core's pins.
    pub(crate) raised: u64,
    misses: u64,
    /// Polls that were made and not executed.
    polls_left_out: u64,
}

impl Chip {
    /// A chip that behaves as strictly as it can.
    ///
    /// # Panics
    /// As [`with_settings`](Self::with_settings).
    pub fn new(board: &Board) -> Self {
        Self::with_settings(board, Settings::default())
    }

    /// Says why a board cannot be modelled, if it cannot.
    ///
    /// # Errors
    /// The reason, in one line.
    pub fn check(board: &Board) -> Result<(), String> {
        let geometry = &board.geometry;
        if !(1..=2).contains(&geometry.cores_per_tile) {
            return Err(format!("tiles have 1 or 2 cores in the model, and not {}", geometry.cores_per_tile));
        }
        if geometry.l2_ways as usize != cache::WAYS {
            return Err(format!("L2 has {} ways in the model, and not {}", cache::WAYS, geometry.l2_ways));
        }
        if !(1..=16).contains(&board.memory_gib) {
            return Err(format!("a controller has 1 to 16 GB in the model, and not {}", board.memory_gib));
        }
        Ok(())
    }

    /// A chip.
    ///
    /// # Panics
    /// If [`check`](Self::check) does not let the board pass.
    pub fn with_settings(board: &Board, settings: Settings) -> Self {
        if let Err(reason) = Self::check(board) {
            panic!("{reason}");
        }
        let geometry = &board.geometry;
        let cores = board.cores();
        Self {
            settings,
            mesh: Mesh::new(board, settings.bypass_works),
            cores: (0..cores).map(|core| Core::new(core, geometry.costs.cache_sets as usize)).collect(),
            registers: (0..board.tiles()).map(|tile| Registers::new(tile, cores)).collect(),
            fpga: Fpga::new(geometry),
            uarts: (0..cores).map(|_| Uart::default()).collect(),
            console: Vec::new(),
            time: 0,
            keeps_time: false,
            skipped: 0,
            resets: 0,
            raised: 0,
            misses: 0,
            polls_left_out: 0,
        }
    }

    /// The board.
    pub fn board(&self) -> &Board {
        &self.mesh.board
    }

    /// Starts a core and its L2, as the board's host does (`sccReset -r`).
    pub fn release(&mut self, core: usize) {
        let (tile, which) = self.mesh.board.tile_of(core);
        self.registers[tile].release(which);
        self.cores[core].clock = self.time;
        self.resets += 1;
    }

    /// Whether a core is not held in reset.
    pub fn running(&self, core: usize) -> bool {
        let (tile, which) = self.mesh.board.tile_of(core);
        self.registers[tile].runs(which)
    }

    /// Raises the pin NMI of all cores, as the board's host can.
    pub fn raise_nmi(&mut self) {
        self.registers.iter_mut().for_each(Registers::raise_nmi);
        self.raised += 1;
    }

    /// What a core's interrupt pins are told by its `GLCFG`. The board's FPGA tells them nothing: it is masked.
    pub fn interrupt_pins(&self, core: usize) -> Pins {
        let (tile, which) = self.mesh.board.tile_of(core);
        let pins = self.registers[tile].pins(which);
        Pins { intr: pins & 2 != 0, nmi: pins & 1 != 0 }
    }

    /// Where an address of a core leads.
    ///
    /// # Errors
    /// A violation if it leads nowhere.
    pub fn translate(&self, core: usize, physical: u32) -> Result<System, Violation> {
        self.mesh.translate(core, physical)
    }

    /// CL1INVMB: the core's L1 forgets all MPBT lines.
    pub fn cl1invmb(&mut self, core: usize) {
        self.cores[core].forget_mpbt();
    }

    /// `wbinvd`: the core's L1 writes back everything, to L2 where that has the line, and forgets it. L2 stays as it
    /// is.
    ///
    /// # Errors
    /// A violation if a modified line leads nowhere any more.
    pub fn wbinvd(&mut self, core: usize) -> Result<(), Violation> {
        self.cores[core].flush_l1(&mut self.mesh)
    }

    /// A load from a port.
    ///
    /// # Errors
    /// A violation if there is no such port.
    pub fn port_in(&mut self, core: usize, port: u16, len: usize) -> Result<u32, Violation> {
        let register = Self::uart_register(core, port, len)?;
        if register == uart::LINE_STATUS && !self.settings.console_status {
            return Ok(0);
        }
        Ok(self.uarts[core].read(register).into())
    }

    /// A store to a port.
    ///
    /// # Errors
    /// A violation if there is no such port.
    pub fn port_out(&mut self, core: usize, port: u16, len: usize, value: u32) -> Result<(), Violation> {
        let register = Self::uart_register(core, port, len)?;
        if let Some(line) = self.uarts[core].write(register, value as u8) {
            let line = String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned();
            self.mesh.notes.printed(core, &line, self.cores[core].clock + self.skipped);
            self.console.push((core, line));
        }
        Ok(())
    }

    fn uart_register(core: usize, port: u16, len: usize) -> Result<u16, Violation> {
        match port.checked_sub(uart::COM1) {
            Some(register) if register < 8 && len == 1 => Ok(register),
            Some(register) if register < 8 => {
                Err(Violation::new(core, port.into(), format!("{len} bytes of a port are accessed instead of 1")))
            }
            _ => Err(Violation::new(core, port.into(), format!("there is no port {port:#x}"))),
        }
    }

    /// The lines that cores have completed on their consoles since the last call, in that order.
    pub fn take_console_lines(&mut self) -> Vec<(usize, String)> {
        std::mem::take(&mut self.console)
    }

    /// What a core has sent since the end of its last line.
    pub fn unfinished_line(&self, core: usize) -> String {
        String::from_utf8_lossy(self.uarts[core].unfinished()).into_owned()
    }

    /// Lets a core's time pass.
    pub fn tick(&mut self, core: usize, cycles: u64) {
        let clock = &mut self.cores[core].clock;
        *clock += cycles;
        // Where clocks are kept, an access lasts from when it goes out until it is complete.
        if !self.keeps_time {
            self.mesh.notes.lasts(core, Some(*clock + self.skipped), *clock + self.skipped);
            self.time = self.time.max(*clock);
        }
    }

    /// It is so late on the board, and so late for a core, where [clocks are kept](Self::keeps_time).
    #[cfg(feature = "cpu")]
    pub(crate) fn set_clock(&mut self, core: usize, cycles: u64, time: u64) {
        self.cores[core].clock = cycles;
        self.time = self.time.max(time);
        self.mesh.now = self.time + self.skipped;
        self.mesh.notes.lasts(core, None, cycles + self.skipped);
    }

    /// A core begins an access that goes out, where [clocks are kept](Self::keeps_time).
    #[cfg(feature = "cpu")]
    pub(crate) fn begins(&mut self, core: usize, cycles: u64) {
        self.mesh.notes.lasts(core, Some(cycles + self.skipped), cycles + self.skipped);
    }

    /// Cycles of a core since the chip was powered on, whether it ran or not.
    pub fn cycles(&self, core: usize) -> u64 {
        self.cores[core].clock
    }

    /// What a core is told of its cycles.
    pub(crate) fn shown_cycles(&self, core: usize) -> u64 {
        self.cores[core].clock + self.skipped
    }

    /// Whether a console has a line that nobody has taken.
    #[cfg(feature = "cpu")]
    pub(crate) fn has_console_lines(&self) -> bool {
        !self.console.is_empty()
    }

    /// The most of all cores: what the board's timestamp goes by.
    pub fn time(&self) -> u64 {
        self.time
    }

    /// A number that grows when anything changes that another core could see. If it stays, and all cores only look,
    /// nothing will ever happen.
    pub fn changes(&self) -> u64 {
        self.mesh.changes
    }

    /// Polls of all cores that were left out because they could not succeed, where time is kept.
    pub fn polls_left_out(&self) -> u64 {
        self.polls_left_out
    }

    /// What a core did.
    pub fn counts(&self, core: usize) -> &Counts {
        &self.cores[core].counts
    }

    /// The memory behind a controller, as the board's host sees it.
    pub fn memory(&self, controller: usize) -> &Dram {
        &self.mesh.controllers[controller]
    }

    /// The memory behind a controller, for the board's host to write to.
    pub fn memory_mut(&mut self, controller: usize) -> &mut Dram {
        &mut self.mesh.controllers[controller]
    }

    /// The MPB of a tile, as the board's host sees it.
    pub fn mpb(&self, tile: usize) -> &[u8] {
        &self.mesh.mpbs[tile]
    }

    /// Writes a register or a word of the MPB of a tile, as the board's host does.
    ///
    /// # Errors
    /// Why the host cannot do that.
    pub fn host_write(&mut self, x: u32, y: u32, side: u32, offset: u32, value: u64) -> Result<(), String> {
        let tile = self.mesh.board.tile_at(x, y).ok_or_else(|| format!("there is no tile ({x}, {y})"))?;
        self.host_write_tile(tile, side, offset, value)
    }
}
