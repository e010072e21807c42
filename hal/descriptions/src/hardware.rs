//! What the hardware of a mesh takes for single accesses, without any software.

use crate::Values;

/// What single accesses take, without any software. To what goes over the mesh, two hops are added for each router on the
/// way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hardware {
    /// Clock of the cores.
    pub core_mhz: u64,
    /// A packet traverses one router.
    pub hop_ps: u64,
    /// Cycles in which L2 answers a load that L1 does not have, or takes a store.
    pub l2_cycles: u64,
    /// Cycles of the load of an MPB line, or of a register of a tile.
    pub mpb_read_cycles: u64,
    /// Cycles in which what the write-combine buffer holds gets to an MPB, and the answer back.
    pub mpb_write_cycles: u64,
    /// Cycles that a core spends on a line of memory.
    pub dram_cycles: u64,
    /// What the memory spends on a line that is read.
    pub dram_read_ps: u64,
    /// What it spends on one that is written.
    pub dram_write_ps: u64,
    /// Cycles of an access to an uncached word, by routers to its controller: the distances at which it was measured.
    pub word_cycles: [[u64; 2]; 4],
    /// An access to the registers of the board.
    pub board_ps: u64,
    /// Cycles in which `wbinvd` empties L1.
    pub l1_flush_cycles: u64,
}

impl Hardware {
    /// What a file says, in which the clock is called so.
    pub(crate) fn of(values: &Values, core_mhz: &str) -> Self {
        let number = |key| values.number(key);
        let mut word_cycles = [[0; 2]; 4];
        word_cycles.iter_mut().zip(values.pairs("prices.word_cycles")).for_each(|(to, pair)| *to = *pair);
        Self {
            core_mhz: number(core_mhz),
            hop_ps: number("prices.hop_ps"),
            l2_cycles: number("hardware.l2_cycles"),
            mpb_read_cycles: number("hardware.mpb_read_cycles"),
            mpb_write_cycles: number("hardware.mpb_write_cycles"),
            dram_cycles: number("hardware.dram_cycles"),
            dram_read_ps: number("hardware.dram_read_ps"),
            dram_write_ps: number("hardware.dram_write_ps"),
            word_cycles,
            board_ps: number("prices.counter_ps"),
            l1_flush_cycles: number("hardware.l1_flush_cycles"),
        }
    }
}
