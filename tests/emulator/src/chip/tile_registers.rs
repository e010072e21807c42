//! The configuration registers of the tiles.

use descriptions::boards::{Geometry, map::SLOTS};

use super::{Chip, mesh::ENTRY_BITS};
use crate::Violation;

/// What sccKit writes to `GLCFG` at a reset of the board.
const CONFIGURATION: u32 = 0x0034_8DF8;

/// What it writes to `L2CFG`: L2 is on.
const L2_CONFIGURATION: u32 = 0x6CF;

/// `GCBCFG` after it: some clocks, and all resets.
const TILE_CONFIGURATION: u32 = 0x0070_E1FF;

/// The bits of `GLCFG` that are the pins LINT1 and LINT0.
const PINS: u32 = 0b11;

/// The first of them, which nothing masks.
const NMI: u32 = 0b01;

/// The bit of `L2CFG` that switches L2 off.
const WAY_DISABLE: u32 = 1 << 4;

/// The bits of `GCBCFG` that are resets: two for the cores, two for their L2.
const RESETS: u32 = 0xF;

/// Offsets of the thermal sensor, which all boards have there.
const SENSOR: [u32; 2] = [0x40, 0x48];

/// A register that several cores read, modify and write.
struct Shared {
    value: u32,
    /// Counts the writes.
    version: u32,
    writer: usize,
    /// Which version each core has seen last.
    seen: Box<[u32]>,
}

impl Shared {
    fn new(value: u32, cores: usize) -> Self {
        Self { value, version: 1, writer: 0, seen: vec![0; cores].into() }
    }

    fn read(&mut self, core: usize) -> u32 {
        self.seen[core] = self.version;
        self.value
    }

    /// Why a write is wrong that may change the bits in `allowed`.
    fn objection(&self, core: usize, value: u32, allowed: u32) -> Option<String> {
        if self.seen[core] == 0 {
            Some("it is written by a core that never read it, and has bits that have to stay".into())
        } else if self.seen[core] != self.version {
            Some(format!("it is written over a change by core {}, made since it was read", self.writer))
        } else if (self.value ^ value) & !allowed != 0 {
            Some(format!("the store of {value:#x} over {:#x} changes bits that have to stay", self.value))
        } else {
            None
        }
    }

    fn write(&mut self, core: usize, value: u32) {
        self.value = value;
        self.version += 1;
        self.writer = core;
        self.seen[core] = self.version;
    }
}

/// Those of one tile, but for the lookup tables.
pub(super) struct Registers {
    configuration: [Shared; 2],
    l2_configuration: [Shared; 2],
    sensor: u32,
    tile: Shared,
    /// Whether each lock is free.
    locks: [bool; 2],
}

impl Registers {
    /// As after a reset of the board, and some time later: locks are free or not.
    pub(super) fn new(tile: usize, cores: usize) -> Self {
        let shared = |value| [Shared::new(value, cores), Shared::new(value, cores)];
        Self {
            configuration: shared(CONFIGURATION),
            l2_configuration: shared(L2_CONFIGURATION),
            sensor: 0,
            tile: Shared::new(TILE_CONFIGURATION, cores),
            locks: [tile.is_multiple_of(2), tile.is_multiple_of(3)],
        }
    }

    /// Whether a core of the tile is not held in reset.
    pub(super) fn runs(&self, which: usize) -> bool {
        self.tile.value >> which & 1 == 0
    }

    /// Clears the resets of a core and its L2, as the board's host does.
    pub(super) fn release(&mut self, which: usize) {
        let value = self.tile.value & !(0b101 << which);
        self.tile.value = value;
        self.tile.version += 1;
    }

    /// Raises the pin LINT1 of each core.
    pub(super) fn raise_nmi(&mut self) {
        self.configuration.iter_mut().for_each(|configuration| configuration.value |= NMI);
    }

    /// The pins LINT1 and LINT0 of a core, as bits 0 and 1.
    pub(super) fn pins(&self, which: usize) -> u32 {
        self.configuration[which].value & PINS
    }
}

#[derive(Clone, Copy)]
enum Register {
    Configuration(usize),
    L2Configuration(usize),
    SensorControl,
    SensorValue,
    Tile,
    TileId,
    Lock(usize),
    Table(usize, usize),
}

fn decode(geometry: &Geometry, offset: u32) -> Option<Register> {
    let cores = geometry.cores_per_tile;
    let which = |start: u32, stride: u32| {
        let index = offset.checked_sub(start)? / stride.max(1);
        (index < cores && (offset - start).is_multiple_of(stride)).then_some(index as usize)
    };
    let in_table = |which: u32| {
        let within = offset.checked_sub(geometry.lookup_table + which * geometry.lookup_table_stride)?;
        (within / 8 < SLOTS && within % 8 == 0).then_some(Register::Table(which as usize, within as usize / 8))
    };
    if let Some(index) = which(geometry.core_configuration, 8) {
        return Some(Register::Configuration(index));
    }
    if let Some(index) = which(geometry.l2_configuration, 8) {
        return Some(Register::L2Configuration(index));
    }
    if let Some(index) = which(geometry.test_and_set, geometry.test_and_set_stride) {
        return Some(Register::Lock(index));
    }
    match offset {
        _ if offset == SENSOR[0] => Some(Register::SensorControl),
        _ if offset == SENSOR[1] => Some(Register::SensorValue),
        _ if offset == geometry.tile_configuration => Some(Register::Tile),
        _ if offset == geometry.tile_id => Some(Register::TileId),
        _ => (0..cores).find_map(in_table),
    }
}

impl Chip {
    fn register(&self, core: usize, physical: u32, offset: u32, len: usize) -> Result<Register, Violation> {
        let register = decode(&self.mesh.board.geometry, offset).ok_or_else(|| {
            Violation::new(core, physical, format!("a tile has no register with the offset {offset:#x}"))
        })?;
        match (register, len) {
            (_, 4) | (Register::Lock(_), 1) => Ok(register),
            _ => Err(Violation::new(core, physical, format!("{len} bytes of a register are accessed instead of 4"))),
        }
    }

    /// Loads from a register of a tile.
    pub(super) fn load_register(
        &mut self,
        core: usize,
        physical: u32,
        (tile, offset): (usize, u32),
        len: usize,
    ) -> Result<u32, Violation> {
        let register = self.register(core, physical, offset, len)?;
        let registers = &mut self.registers[tile];
        Ok(match register {
            Register::Configuration(which) => registers.configuration[which].read(core),
            Register::L2Configuration(which) => registers.l2_configuration[which].read(core),
            Register::SensorControl => registers.sensor,
            Register::SensorValue => 0x0051_4A44,
            Register::Tile => registers.tile.read(core),
            Register::TileId => {
                let (own, which) = self.mesh.board.tile_of(core);
                if own != tile {
                    return Err(Violation::new(core, physical, "the number of another tile says nothing"));
                }
                let [x, y] = self.mesh.board.place_of(tile);
                y << 7 | x << 3 | which as u32
            }
            Register::Lock(which) => {
                let free = std::mem::take(&mut registers.locks[which]);
                if free {
                    self.mesh.changes += 1;
                } else {
                    self.cores[core].counts.failed_locks += 1;
                }
                let register = self.core_of(tile, which);
                self.mesh.notes.asked(core, register, free);
                free.into()
            }
            Register::Table(which, slot) => self.mesh.entry(self.core_of(tile, which), slot),
        })
    }

    /// Stores to one.
    pub(super) fn store_register(
        &mut self,
        core: usize,
        physical: u32,
        (tile, offset): (usize, u32),
        len: usize,
        value: u32,
    ) -> Result<(), Violation> {
        let register = self.register(core, physical, offset, len)?;
        let objection = |reason: String| Err(Violation::new(core, physical, reason));
        let registers = &mut self.registers[tile];
        self.mesh.changes += 1;
        match register {
            Register::Configuration(which) => {
                let shared = &mut registers.configuration[which];
                if let Some(reason) = shared.objection(core, value, PINS) {
                    return objection(reason);
                }
                let raises = value & !shared.value & PINS != 0;
                shared.write(core, value);
                self.raised += 1;
                let other = self.core_of(tile, which);
                if raises && other != core {
                    self.mesh.notes.interrupted(core, other, self.mesh.now);
                }
            }
            Register::L2Configuration(which) => {
                let shared = &mut registers.l2_configuration[which];
                if let Some(reason) = shared.objection(core, value, WAY_DISABLE) {
                    return objection(reason);
                }
                shared.write(core, value);
                let of = self.core_of(tile, which);
                let on = value & WAY_DISABLE == 0;
                if !on && let Some(address) = self.cores[of].modified_in_l2() {
                    return objection(format!("the L2 of core {of} is switched off with {address:#x} modified in it"));
                }
                self.cores[of].l2_on = on;
            }
            Register::SensorControl => registers.sensor = value,
            Register::SensorValue | Register::TileId => {
                return objection("a store to a register that is read only".into());
            }
            Register::Tile => {
                if let Some(reason) = registers.tile.objection(core, value, RESETS) {
                    return objection(reason);
                }
                let before = registers.tile.value;
                registers.tile.write(core, value);
                return self.reset(core, physical, tile, before);
            }
            Register::Lock(which) => {
                registers.locks[which] = true;
                let register = self.core_of(tile, which);
                self.mesh.notes.freed(core, register, self.mesh.now);
            }
            Register::Table(which, slot) => {
                if value & !ENTRY_BITS != 0 {
                    return objection(format!("{value:#x} is no entry of a lookup table, which has 22 bits"));
                }
                let of = self.core_of(tile, which);
                if value != self.mesh.entry(of, slot)
                    && let Some((address, place)) = self.cores[of].held(slot)
                {
                    return objection(format!(
                        "slot {slot:#x} of core {of} is pointed elsewhere while {place} holds {address:#x}"
                    ));
                }
                self.mesh.set_entry(of, slot, value);
            }
        }
        Ok(())
    }

    /// Writes a register of a tile or a word of its MPB, as the board's host does before any core runs.
    pub(super) fn host_write_tile(&mut self, tile: usize, side: u32, offset: u32, value: u64) -> Result<(), String> {
        const REGISTERS: u32 = 2;
        const MPB: u32 = 3;
        if side == MPB {
            let place = self.mesh.mpbs[tile].get_mut(offset as usize..offset as usize + 8);
            place
                .ok_or_else(|| format!("{offset:#x} is beyond the end of an MPB"))?
                .copy_from_slice(&value.to_le_bytes());
            return Ok(());
        }
        if side != REGISTERS {
            return Err(format!("side {side} of tile {tile} is neither its registers nor its MPB"));
        }
        let value = u32::try_from(value).map_err(|_| format!("{value:#x} does not fit a register"))?;
        let registers = &mut self.registers[tile];
        match decode(&self.mesh.board.geometry, offset) {
            Some(Register::Table(which, slot)) if value & !ENTRY_BITS == 0 => {
                let core = self.core_of(tile, which);
                self.mesh.set_entry(core, slot, value);
            }
            Some(Register::Table(..)) => return Err(format!("{value:#x} is no entry of a lookup table")),
            Some(Register::Configuration(which)) => registers.configuration[which].value = value,
            Some(Register::L2Configuration(which)) => {
                registers.l2_configuration[which].value = value;
                let core = self.core_of(tile, which);
                self.cores[core].l2_on = value & WAY_DISABLE == 0;
            }
            Some(Register::SensorControl) => registers.sensor = value,
            Some(Register::Tile) => registers.tile.value = value,
            Some(Register::Lock(which)) => registers.locks[which] = true,
            Some(Register::SensorValue | Register::TileId) => return Err(format!("register {offset:#x} is read only")),
            None => return Err(format!("a tile has no register with the offset {offset:#x}")),
        }
        Ok(())
    }

    /// Resets and starts cores of a tile, after a change of its resets.
    fn reset(&mut self, core: usize, physical: u32, tile: usize, before: u32) -> Result<(), Violation> {
        let value = self.registers[tile].tile.value;
        self.resets += 1;
        for which in 0..self.mesh.board.geometry.cores_per_tile as usize {
            let of = self.core_of(tile, which);
            let bit = 1 << which;
            if value & bit == 0 && value >> 2 & bit != 0 {
                return Err(Violation::new(core, physical, format!("core {of} is started with its L2 in reset")));
            }
            if !before & value & bit != 0 {
                self.cores[of].reset();
            }
            if before & !value & bit != 0 {
                self.cores[of].clock = self.time;
            }
        }
        Ok(())
    }

    /// The number of a core of a tile.
    fn core_of(&self, tile: usize, which: usize) -> usize {
        tile * self.mesh.board.geometry.cores_per_tile as usize + which
    }
}
