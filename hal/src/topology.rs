//! Who and where a core is: ids, tiles, distances, memory controllers, coherence domains.
//!
//! Distances are counted as in the OC-Bcast paper (section 3.1): `d` is the number of routers that a packet
//! traverses, so 1 on the same tile and Manhattan distance + 1 in general (9 at most on the SCC).

use core::fmt;

/// The number of a core, counted from 0 as the SCC counts them: `(x + columns * y) * cores_per_tile + z`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CoreId(u16);

impl CoreId {
    /// The core with this number.
    ///
    /// # Panics
    /// If `index` does not fit 16 bits; no machine here has that many cores.
    pub const fn new(index: usize) -> Self {
        assert!(index <= u16::MAX as usize, "core number does not fit 16 bits");
        Self(index as u16)
    }

    /// The number as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for CoreId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "core {}", self.0)
    }
}

/// Coordinates of a tile, which are those of its router: column `x` from the west, row `y` from the south.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tile {
    /// Column.
    pub x: u16,
    /// Row.
    pub y: u16,
}

impl Tile {
    /// Routers that a packet from `self` to `other` traverses, both ends included.
    pub const fn routers_to(self, other: Tile) -> u32 {
        self.x.abs_diff(other.x) as u32 + self.y.abs_diff(other.y) as u32 + 1
    }
}

/// How the cores of a machine are laid out: a mesh of tiles with four memory controllers at its west and east edges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    columns: u16,
    rows: u16,
    cores_per_tile: u16,
    cores: u16,
    cores_per_domain: u16,
}

/// Memory controllers of a machine (SCC facts 1.1).
pub const CONTROLLERS: usize = 4;

/// Shared DRAM behind each memory controller, in bytes: the legacy shared memory (SCC facts 1.2, slots 0x80–0x83).
pub const SHARED_BYTES_PER_CONTROLLER: usize = 16 << 20;

impl Layout {
    /// The Intel SCC: 6 × 4 tiles of two cores; every core a coherence domain of its own.
    pub const fn scc() -> Self {
        Self::mesh(6, 4, 2)
    }

    /// A mesh of `columns` × `rows` tiles with `cores_per_tile` cores each, all of them present.
    ///
    /// # Panics
    /// If a side is 0 or there are more than 65535 cores.
    pub const fn mesh(columns: u16, rows: u16, cores_per_tile: u16) -> Self {
        let cores = columns as u32 * rows as u32 * cores_per_tile as u32;
        assert!(cores > 0 && cores <= u16::MAX as u32, "a mesh has 1 to 65535 cores");
        Self { columns, rows, cores_per_tile, cores: cores as u16, cores_per_domain: 1 }
    }

    /// The same mesh with only the first `cores` cores running; rows are added if that many do not fit.
    ///
    /// # Panics
    /// If `cores` is 0 or the mesh would need more than 65535 cores.
    pub const fn with_cores(self, cores: usize) -> Self {
        let per_row = self.columns as usize * self.cores_per_tile as usize;
        let needed = cores.div_ceil(per_row) as u16;
        let rows = if needed > self.rows { needed } else { self.rows };
        let grown = Self::mesh(self.columns, rows, self.cores_per_tile);
        assert!(cores > 0, "a machine has at least one core");
        Self { cores: cores as u16, cores_per_domain: self.cores_per_domain, ..grown }
    }

    /// The same mesh with `cores` neighbouring cores in each coherence domain.
    ///
    /// # Panics
    /// If `cores` is 0.
    pub const fn with_domains_of(self, cores: u16) -> Self {
        assert!(cores > 0, "a coherence domain has at least one core");
        Self { cores_per_domain: cores, ..self }
    }

    /// Number of running cores.
    pub const fn cores(&self) -> usize {
        self.cores as usize
    }

    /// Tile columns of the mesh.
    pub const fn columns(&self) -> usize {
        self.columns as usize
    }

    /// Tile rows of the mesh.
    pub const fn rows(&self) -> usize {
        self.rows as usize
    }

    /// Cores on each tile.
    pub const fn cores_per_tile(&self) -> usize {
        self.cores_per_tile as usize
    }

    /// The tile that `core` sits on.
    pub const fn tile(&self, core: CoreId) -> Tile {
        let tile = core.0 / self.cores_per_tile;
        Tile { x: tile % self.columns, y: tile / self.columns }
    }

    /// Routers between two cores: 1 on the same tile, Manhattan distance + 1 otherwise.
    pub const fn distance(&self, from: CoreId, to: CoreId) -> u32 {
        self.tile(from).routers_to(self.tile(to))
    }

    /// The tile whose router memory controller `controller` hangs off (SCC facts 1.1): west and east edge, lower and
    /// upper half.
    pub const fn controller_tile(&self, controller: usize) -> Tile {
        Tile {
            x: if controller.is_multiple_of(2) { 0 } else { self.columns - 1 },
            y: if controller < 2 { 0 } else { self.rows / 2 },
        }
    }

    /// The memory controller of the quadrant that `core` is in (SCC facts 1.1; this rule also decides ties).
    pub const fn nearest_controller(&self, core: CoreId) -> usize {
        let tile = self.tile(core);
        let east = tile.x >= self.columns.div_ceil(2);
        let upper = self.rows > 1 && tile.y >= self.rows / 2;
        east as usize + 2 * upper as usize
    }

    /// Routers between `core` and memory controller `controller`.
    pub const fn controller_distance(&self, core: CoreId, controller: usize) -> u32 {
        self.tile(core).routers_to(self.controller_tile(controller))
    }

    /// The coherence domain of `core`: cores of one domain see each other's cached stores.
    pub const fn domain(&self, core: CoreId) -> usize {
        (core.0 / self.cores_per_domain) as usize
    }
}

/// Identity of this core and the layout of its machine.
pub trait Topology {
    /// This core.
    fn core(&self) -> CoreId;

    /// The machine that it is part of.
    fn layout(&self) -> &Layout;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scc_distances_are_those_of_the_paper() {
        let scc = Layout::scc();
        assert_eq!(scc.cores(), 48);
        assert_eq!(scc.distance(CoreId::new(0), CoreId::new(1)), 1);
        assert_eq!(scc.distance(CoreId::new(0), CoreId::new(47)), 9);
        assert_eq!(scc.tile(CoreId::new(47)), Tile { x: 5, y: 3 });
    }

    #[test]
    fn quadrants_own_controllers() {
        let scc = Layout::scc();
        // facts 2.3, the standard .mt table: pids 0–5 and 12–17 on (0,0), 6–11 and 18–23 on (5,0), and so on.
        for pid in 0..48 {
            let expected = match pid {
                0..=5 | 12..=17 => 0,
                6..=11 | 18..=23 => 1,
                24..=29 | 36..=41 => 2,
                _ => 3,
            };
            assert_eq!(scc.nearest_controller(CoreId::new(pid)), expected, "core {pid}");
        }
        assert_eq!(scc.controller_tile(3), Tile { x: 5, y: 2 });
    }

    #[test]
    fn a_mesh_grows_rows_for_more_cores() {
        let grown = Layout::scc().with_cores(255);
        assert_eq!((grown.columns(), grown.rows(), grown.cores()), (6, 22, 255));
        let one = Layout::mesh(1, 1, 1);
        assert_eq!(one.nearest_controller(CoreId::new(0)), 0);
        assert_eq!(one.controller_distance(CoreId::new(0), 3), 1);
    }

    #[test]
    fn domains_group_neighbours() {
        let layout = Layout::mesh(2, 2, 2).with_domains_of(4);
        assert_eq!(layout.domain(CoreId::new(3)), 0);
        assert_eq!(layout.domain(CoreId::new(4)), 1);
    }
}
