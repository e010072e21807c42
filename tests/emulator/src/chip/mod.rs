//! The chip without the execution units of its cores: everything that an access to memory or to a port can reach.

mod cache;
mod core;
mod counts;
mod dram;
mod fpga;
mod mesh;
mod registers;
mod uart;

use self::{
    cache::{LINE_BYTES, cut, line_of, put},
    core::Core,
    fpga::Fpga,
    mesh::Mesh,
    registers::Registers,
    uart::Uart,
};
pub use self::{counts::Counts, dram::Dram, mesh::System};
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
    /// What bits of an entry of a page table say (3: PWT, 4: PCD, 7: PMB), if the MPB's type is switched on (`CR4.MPE`).
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
    /// Modified lines are evicted now and then, at moments that depend on this number.
    pub evictions: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { bypass_works: false, coherent: false, strict_kinds: true, evictions: None }
    }
}

/// Loads and stores that reach L2 for one eviction, if there are some.
const MISSES_PER_EVICTION: u64 = 97;

/// Cycles of a core that an access to the board's FPGA takes, at least: who waits for time to pass sees it pass.
const FPGA_CYCLES: u64 = 600;

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
    misses: u64,
}

impl Chip {
    /// A chip that behaves as strictly as it can.
    pub fn new(board: &Board) -> Self {
        Self::with_settings(board, Settings::default())
    }

    /// A chip.
    ///
    /// # Panics
    /// If the board has caches, cores or controllers that are not modelled.
    pub fn with_settings(board: &Board, settings: Settings) -> Self {
        let geometry = &board.geometry;
        assert!((1..=2).contains(&geometry.cores_per_tile), "{} cores of a tile", geometry.cores_per_tile);
        assert!(geometry.l2_ways as usize == cache::WAYS, "an L2 of {} ways", geometry.l2_ways);
        assert!((1..=16).contains(&board.memory_gib), "{} GB behind a controller", board.memory_gib);
        let cores = board.cores();
        Self {
            settings,
            mesh: Mesh::new(board, settings.bypass_works),
            cores: (0..cores).map(|core| Core::new(core, geometry.l2_sets as usize)).collect(),
            registers: (0..board.tiles()).map(|tile| Registers::new(tile, cores)).collect(),
            fpga: Fpga::new(geometry),
            uarts: (0..cores).map(|_| Uart::default()).collect(),
            console: Vec::new(),
            time: 0,
            misses: 0,
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
    }

    /// Whether a core is not held in reset.
    pub fn running(&self, core: usize) -> bool {
        let (tile, which) = self.mesh.board.tile_of(core);
        self.registers[tile].runs(which)
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

    /// A load of `len` bytes, 1 to 8, by a core.
    ///
    /// # Errors
    /// A violation if no program should do that.
    #[inline]
    pub fn load(&mut self, core: usize, physical: u32, kind: PageKind, len: usize) -> Result<u64, Violation> {
        debug_assert!((1..=8).contains(&len), "a load of {len} bytes");
        let offset = physical as usize % LINE_BYTES;
        if kind != PageKind::Uncached && offset + len <= LINE_BYTES {
            let state = &mut self.cores[core];
            if let Some(slot) = state.l1.find(physical, kind.is_mpbt()) {
                state.counts.l1_hits += 1;
                return Ok(cut(state.l1.line(slot), offset, len));
            }
        }
        self.load_missed(core, physical, kind, len)
    }

    #[inline(never)]
    fn load_missed(&mut self, core: usize, physical: u32, kind: PageKind, len: usize) -> Result<u64, Violation> {
        let offset = physical as usize % LINE_BYTES;
        if offset + len > LINE_BYTES {
            let first = LINE_BYTES - offset;
            let low = self.load(core, physical, kind, first)?;
            let high = self.load(core, physical.wrapping_add(first as u32), kind, len - first)?;
            return Ok(low | high << (8 * first));
        }
        if kind == PageKind::Uncached || self.settings.coherent {
            return self.load_uncached(core, physical, len);
        }
        self.evict_now_and_then(core)?;
        let state = &mut self.cores[core];
        state.check_kinds(&self.settings, physical, Some(kind.is_mpbt()))?;
        let slot = state.miss(&mut self.mesh, physical, kind.is_mpbt())?;
        Ok(cut(state.l1.line(slot), offset, len))
    }

    fn load_uncached(&mut self, core: usize, physical: u32, len: usize) -> Result<u64, Violation> {
        let state = &mut self.cores[core];
        state.counts.uncached_loads += 1;
        state.check_kinds(&self.settings, physical, None)?;
        match self.mesh.translate(core, physical)? {
            System::Memory { .. } | System::Mpb { .. } => {
                let mut bytes = [0; 8];
                self.mesh.read(core, physical, &mut bytes[..len], &mut state.counts)?;
                Ok(u64::from_le_bytes(bytes))
            }
            System::Registers { tile, offset } => Ok(self.load_register(core, physical, (tile, offset), len)?.into()),
            System::Board { offset } => {
                self.board_access(core, physical, len)?;
                let loaded = self.fpga.load(&self.mesh.board.geometry, offset, self.time);
                Ok(loaded.map_err(|reason| Violation::new(core, physical, reason))?.into())
            }
        }
    }

    /// A store of `len` bytes, 1 to 8, by a core.
    ///
    /// # Errors
    /// A violation if no program should do that.
    #[inline]
    pub fn store(
        &mut self,
        core: usize,
        physical: u32,
        kind: PageKind,
        len: usize,
        value: u64,
    ) -> Result<(), Violation> {
        debug_assert!((1..=8).contains(&len), "a store of {len} bytes");
        let offset = physical as usize % LINE_BYTES;
        if kind == PageKind::WriteBack && offset + len <= LINE_BYTES {
            let state = &mut self.cores[core];
            state.counts.cached_stores += 1;
            if let Some(slot) = state.l1.find(physical, false) {
                put(state.l1.modify(slot), offset, len, value);
                return Ok(());
            }
        }
        self.store_missed(core, physical, kind, len, value)
    }

    #[inline(never)]
    fn store_missed(
        &mut self,
        core: usize,
        physical: u32,
        kind: PageKind,
        len: usize,
        value: u64,
    ) -> Result<(), Violation> {
        let offset = physical as usize % LINE_BYTES;
        if offset + len > LINE_BYTES {
            let first = LINE_BYTES - offset;
            self.store(core, physical, kind, first, value)?;
            let rest = physical.wrapping_add(first as u32);
            return self.store(core, rest, kind, len - first, value >> (8 * first));
        }
        if kind == PageKind::Uncached || self.settings.coherent {
            return self.store_uncached(core, physical, len, value);
        }
        self.evict_now_and_then(core)?;
        let state = &mut self.cores[core];
        state.check_kinds(&self.settings, physical, Some(kind.is_mpbt()))?;
        if kind.is_mpbt() {
            state.store_mpbt(&mut self.mesh, physical, len, value, kind == PageKind::MpbtWriteBack)
        } else {
            state.store_missed(&mut self.mesh, physical, len, value)
        }
    }

    fn store_uncached(&mut self, core: usize, physical: u32, len: usize, value: u64) -> Result<(), Violation> {
        let state = &mut self.cores[core];
        state.counts.uncached_stores += 1;
        state.check_kinds(&self.settings, physical, None)?;
        match self.mesh.translate(core, physical)? {
            System::Memory { .. } | System::Mpb { .. } => {
                self.mesh.write(core, physical, &value.to_le_bytes()[..len], u32::MAX, &mut state.counts)?;
                Ok(())
            }
            System::Registers { tile, offset } => {
                self.store_register(core, physical, (tile, offset), len, value as u32)
            }
            System::Board { offset } => {
                self.board_access(core, physical, len)?;
                self.mesh.changes += 1;
                let stored = self.fpga.store(&self.mesh.board.geometry, offset, value as u32);
                stored.map_err(|reason| Violation::new(core, physical, reason))
            }
        }
    }

    fn board_access(&mut self, core: usize, physical: u32, len: usize) -> Result<(), Violation> {
        self.tick(core, FPGA_CYCLES);
        if len == 4 {
            Ok(())
        } else {
            Err(Violation::new(core, physical, format!("{len} bytes of a register are accessed instead of 4")))
        }
    }

    fn evict_now_and_then(&mut self, core: usize) -> Result<(), Violation> {
        let Some(seed) = self.settings.evictions else { return Ok(()) };
        self.misses += 1;
        if self.misses.is_multiple_of(MISSES_PER_EVICTION) {
            self.cores[core].evict_something(&mut self.mesh, seed ^ self.misses)
        } else {
            Ok(())
        }
    }

    /// The page of instructions that a core fetches from: what is in memory, and over it what is modified in its caches.
    ///
    /// # Errors
    /// A violation if the page is not in memory.
    ///
    /// # Panics
    /// Never: a page is in one piece of memory.
    pub fn fetch_page(&self, core: usize, physical: u32) -> Result<[u8; 4096], Violation> {
        let page = physical & !0xFFF;
        let System::Memory { controller, address } = self.mesh.translate(core, page)? else {
            return Err(Violation::new(core, physical, "instructions are fetched from something that is no memory"));
        };
        let mut bytes = [0; 4096];
        self.mesh.controllers[controller].read(address, &mut bytes);
        for (line, address) in bytes.chunks_exact_mut(LINE_BYTES).zip((page..).step_by(LINE_BYTES)) {
            self.cores[core].overlay(line_of(address), line);
        }
        Ok(bytes)
    }

    /// CL1INVMB: the core's L1 forgets all MPBT lines.
    pub fn cl1invmb(&mut self, core: usize) {
        self.cores[core].forget_mpbt();
    }

    /// `wbinvd`: the core's L1 writes back everything, to L2 where that has the line, and forgets it. L2 stays as it is.
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
        Ok(self.uarts[core].read(Self::uart_register(core, port, len)?).into())
    }

    /// A store to a port.
    ///
    /// # Errors
    /// A violation if there is no such port.
    pub fn port_out(&mut self, core: usize, port: u16, len: usize, value: u32) -> Result<(), Violation> {
        let register = Self::uart_register(core, port, len)?;
        if let Some(line) = self.uarts[core].write(register, value as u8) {
            self.console.push((core, String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned()));
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
        self.time = self.time.max(*clock);
    }

    /// Cycles of a core since the chip was powered on, whether it ran or not.
    pub fn cycles(&self, core: usize) -> u64 {
        self.cores[core].clock
    }

    /// The most of all cores: what the board's timestamp goes by.
    pub fn time(&self) -> u64 {
        self.time
    }

    /// A number that grows when anything changes that another core could see. If it stays, and all cores only look, nothing
    /// will ever happen.
    pub fn changes(&self) -> u64 {
        self.mesh.changes
    }

    /// What a core did.
    pub fn counts(&self, core: usize) -> &Counts {
        &self.cores[core].counts
    }

    /// The memory behind a controller, as the board's host sees it.
    pub fn memory(&self, controller: usize) -> &Dram {
        &self.mesh.controllers[controller]
    }

    /// The same, to be written to.
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
