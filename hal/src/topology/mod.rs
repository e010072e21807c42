//! Who and where a core is: ids, tiles, distances, memory controllers, coherence domains.
//!
//! Distances are counted as in the OC-Bcast paper (section 3.1): `d` is the number of routers that a packet
//! traverses, so 1 on the same tile and Manhattan distance + 1 in general (9 at most on the SCC).

use core::ops::Range;

use crate::{Costs, Home, Prices};

pub use crate::address::{EXPOSED_BYTES_PER_CORE, MAX_CONTROLLERS, SHARED_BYTES_PER_CONTROLLER};
pub use crate::core_id::CoreId;
pub use descriptions::Tile;

#[cfg(test)]
mod tests;

/// How the cores of a machine are laid out: a mesh of tiles with memory controllers at some of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    columns: u16,
    rows: u16,
    cores_per_tile: u16,
    cores: u16,
    domains: Domains,
    controllers: Controllers,
    registers: Registers,
    counters: u16,
    prices: PricedBy,
}

/// Where the prices of a machine come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PricedBy {
    /// What operations cost on a mesh, at its distances.
    Costs(Costs),
    /// A list that does not depend on them.
    List(Prices),
}

/// From where a core's test-and-set register can be reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Registers {
    Everywhere,
    /// From cores of the same coherence domain only.
    InDomains,
}

/// Which neighbouring cores are a coherence domain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Domains {
    /// Each has this number of cores.
    Of(u16),
    /// There are this many domains, of equally many cores as far as possible.
    Number(u16),
}

/// Where the memory controllers are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Controllers {
    /// Four, as on the SCC: at the west and east edge, of the lower and the upper half. They move as the mesh grows.
    Quadrants,
    /// Their number, and a list that begins with their tiles.
    At(usize, [Tile; MAX_PLACED_CONTROLLERS]),
    /// One at each tile, or at [`MAX_CONTROLLERS`] of them that are spread evenly.
    Nodes,
}

/// Counters of an SCC's board.
pub const ATOMIC_COUNTERS: usize = 96;

/// Memory controllers that can be put at tiles one by one.
pub const MAX_PLACED_CONTROLLERS: usize = 8;

impl Layout {
    /// The Intel SCC: 6 × 4 tiles of two cores; every core a coherence domain of its own.
    pub const fn scc() -> Self {
        Self::mesh(6, 4, 2)
    }

    /// A mesh of `columns` × `rows` tiles with `cores_per_tile` cores each, all of them present. It has the SCC's four controllers,
    /// 96 atomic counters and costs, by which algorithms are chosen, unless methods below say otherwise.
    ///
    /// # Panics
    /// If a side is 0 or there are more than 65535 cores.
    pub const fn mesh(columns: u16, rows: u16, cores_per_tile: u16) -> Self {
        let cores = columns as u32 * rows as u32 * cores_per_tile as u32;
        assert!(cores > 0 && cores <= u16::MAX as u32, "a mesh has 1 to 65535 cores");
        Self {
            columns,
            rows,
            cores_per_tile,
            cores: cores as u16,
            domains: Domains::Of(1),
            controllers: Controllers::Quadrants,
            registers: Registers::Everywhere,
            counters: ATOMIC_COUNTERS as u16,
            prices: PricedBy::Costs(Costs::SCC),
        }
    }

    /// A cluster of `nodes` nodes with `cores_per_node` cores each, in a square mesh of nodes. A node is a tile, a
    /// coherence domain, and the home of shared memory; where there are more nodes than [`MAX_CONTROLLERS`], that many
    /// of them are. Test-and-set registers can be reached within their node only.
    ///
    /// # Panics
    /// If there are no cores, or more than 65535.
    pub const fn cluster(nodes: u16, cores_per_node: u16) -> Self {
        let cores = nodes as u32 * cores_per_node as u32;
        assert!(cores > 0 && cores <= u16::MAX as u32, "a cluster has 1 to 65535 cores");
        let mut columns = 1;
        while (columns as u32) * (columns as u32) < nodes as u32 {
            columns += 1;
        }
        Self {
            columns,
            rows: nodes.div_ceil(columns),
            cores_per_tile: cores_per_node,
            cores: cores as u16,
            domains: Domains::Of(cores_per_node),
            controllers: Controllers::Nodes,
            registers: Registers::InDomains,
            counters: ATOMIC_COUNTERS as u16,
            prices: PricedBy::Costs(Costs::SCC),
        }
    }

    /// The same mesh with only the first `cores` cores running; rows are added if that many do not fit.
    ///
    /// # Panics
    /// If `cores` is 0 or the mesh would need more than 65535 cores.
    pub const fn with_cores(self, cores: usize) -> Self {
        let per_row = self.columns as usize * self.cores_per_tile as usize;
        assert!(cores <= u16::MAX as usize, "a mesh has 1 to 65535 cores");
        let needed = cores.div_ceil(per_row) as u16;
        let rows = if needed > self.rows { needed } else { self.rows };
        assert!(cores > 0, "a machine has at least one core");
        Self { cores: cores as u16, rows, ..self }
    }

    /// The same mesh with memory controllers at these tiles, instead of the SCC's four. Each core's nearest one is
    /// that with the fewest routers between, the first of them where several are.
    ///
    /// # Panics
    /// If there is none, there are more than [`MAX_PLACED_CONTROLLERS`], or one is outside of the mesh.
    pub const fn with_controllers(self, tiles: &[Tile]) -> Self {
        assert!(!tiles.is_empty() && tiles.len() <= MAX_PLACED_CONTROLLERS, "1 to 8 memory controllers are placed");
        let mut at = [Tile { x: 0, y: 0 }; MAX_PLACED_CONTROLLERS];
        let mut index = 0;
        while index < tiles.len() {
            assert!(tiles[index].x < self.columns && tiles[index].y < self.rows, "a controller is at a tile");
            at[index] = tiles[index];
            index += 1;
        }
        Self { controllers: Controllers::At(tiles.len(), at), ..self }
    }

    /// The same mesh with `cores` neighbouring cores in each coherence domain.
    ///
    /// # Panics
    /// If `cores` is 0.
    pub const fn with_domains_of(self, cores: u16) -> Self {
        assert!(cores > 0, "a coherence domain has at least one core");
        Self { domains: Domains::Of(cores), ..self }
    }

    /// This mesh in `number` coherence domains of neighbouring cores, as long as there are as many cores; the last
    /// domain may have fewer than the others, and where the cores do not come out even there may be fewer domains.
    ///
    /// # Panics
    /// If `number` is 0.
    pub const fn with_domains(self, number: u16) -> Self {
        assert!(number > 0, "a machine has at least one coherence domain");
        Self { domains: Domains::Number(number), ..self }
    }

    /// Whether coherence domains were chosen; otherwise every core is one.
    pub const fn has_domains(&self) -> bool {
        !matches!(self.domains, Domains::Of(1))
    }

    /// The same machine, on which no operation is atomic between coherence domains: a test-and-set register can be
    /// reached by cores of its own domain only.
    pub const fn with_registers_in_domains(self) -> Self {
        Self { registers: Registers::InDomains, ..self }
    }

    /// This machine, whose board has `counters` atomic counters.
    ///
    /// # Panics
    /// If that are more than [`ATOMIC_COUNTERS`].
    pub const fn with_atomic_counters(self, counters: usize) -> Self {
        assert!(counters <= ATOMIC_COUNTERS, "a board has 96 atomic counters at most");
        Self { counters: counters as u16, ..self }
    }

    /// The same mesh, whose operations cost this: algorithms are chosen by it. Without, it is what they cost on the SCC.
    pub const fn with_costs(self, costs: Costs) -> Self {
        Self { prices: PricedBy::Costs(costs), ..self }
    }

    /// The same machine with these prices to choose algorithms by, whatever its distances.
    pub const fn with_prices(self, prices: Prices) -> Self {
        Self { prices: PricedBy::List(prices), ..self }
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
        let tile = core.index() as u16 / self.cores_per_tile;
        Tile { x: tile % self.columns, y: tile / self.columns }
    }

    /// Routers between two cores: 1 on the same tile, Manhattan distance + 1 otherwise.
    pub const fn distance(&self, from: CoreId, to: CoreId) -> u32 {
        self.tile(from).routers_to(self.tile(to))
    }

    /// Number of memory controllers.
    pub const fn controllers(&self) -> usize {
        match self.controllers {
            Controllers::Quadrants => 4,
            Controllers::At(count, _) => count,
            Controllers::Nodes if self.nodes() < MAX_CONTROLLERS => self.nodes(),
            Controllers::Nodes => MAX_CONTROLLERS,
        }
    }

    /// Tiles with running cores.
    const fn nodes(&self) -> usize {
        self.cores().div_ceil(self.cores_per_tile())
    }

    /// The tile whose router memory controller `controller` hangs off (`sccDefines.h` of sccKit).
    ///
    /// # Panics
    /// If there is no such controller.
    pub const fn controller_tile(&self, controller: usize) -> Tile {
        assert!(controller < self.controllers(), "no such memory controller");
        match self.controllers {
            Controllers::Quadrants => Tile {
                x: if controller.is_multiple_of(2) { 0 } else { self.columns - 1 },
                y: if controller < 2 { 0 } else { self.rows / 2 },
            },
            Controllers::At(_, tiles) => tiles[controller],
            Controllers::Nodes => {
                let node = (controller * self.nodes()).div_ceil(self.controllers()) as u16;
                Tile { x: node % self.columns, y: node / self.columns }
            }
        }
    }

    /// The memory controller of `core`: on a mesh with the SCC's four, that of the quadrant that it is in (sccKit's
    /// rule, which also decides ties); on a cluster, that of its node, or of the last node before it that has one;
    /// otherwise the first of those with the fewest routers between.
    pub const fn nearest_controller(&self, core: CoreId) -> usize {
        let tile = self.tile(core);
        match self.controllers {
            Controllers::Quadrants => {
                let east = tile.x >= self.columns.div_ceil(2);
                let upper = self.rows > 1 && tile.y >= self.rows / 2;
                east as usize + 2 * upper as usize
            }
            Controllers::At(count, tiles) => {
                let mut nearest = 0;
                let mut index = 1;
                while index < count {
                    if tile.routers_to(tiles[index]) < tile.routers_to(tiles[nearest]) {
                        nearest = index;
                    }
                    index += 1;
                }
                nearest
            }
            Controllers::Nodes => core.index() / self.cores_per_tile() * self.controllers() / self.nodes(),
        }
    }

    /// Routers between `core` and memory controller `controller`.
    pub const fn controller_distance(&self, core: CoreId, controller: usize) -> u32 {
        self.tile(core).routers_to(self.controller_tile(controller))
    }

    /// The coherence domain of `core`: cores of one domain see each other's cached stores.
    pub const fn domain(&self, core: CoreId) -> usize {
        core.index() / self.cores_per_domain()
    }

    /// Cores of a coherence domain; the last one may have fewer.
    pub const fn cores_per_domain(&self) -> usize {
        match self.domains {
            Domains::Of(cores) => cores as usize,
            Domains::Number(number) => self.cores().div_ceil(number as usize),
        }
    }

    /// Number of coherence domains.
    pub const fn domains(&self) -> usize {
        self.cores().div_ceil(self.cores_per_domain())
    }

    /// The cores of a coherence domain, as numbers.
    pub fn domain_cores(&self, domain: usize) -> Range<usize> {
        let first = domain * self.cores_per_domain();
        first.min(self.cores())..(first + self.cores_per_domain()).min(self.cores())
    }

    /// Whether core `from` can reach the test-and-set register of core `register`.
    pub const fn reaches_register(&self, from: CoreId, register: CoreId) -> bool {
        match self.registers {
            Registers::Everywhere => true,
            Registers::InDomains => self.domain(from) == self.domain(register),
        }
    }

    /// Whether every core can reach every test-and-set register.
    pub const fn registers_reach_everywhere(&self) -> bool {
        matches!(self.registers, Registers::Everywhere) || self.domains() == 1
    }

    /// The coherence domain, of several cores, that memory with this home belongs to: inside it loads of that memory are
    /// always current, and stores that other domains push there are seen. A controller's memory belongs to a domain if
    /// the controller was placed and is the nearest one of this domain only; on the SCC, and where every core is a
    /// domain of its own, no memory belongs to any.
    pub fn home_domain(&self, home: Home) -> Option<usize> {
        if self.cores_per_domain() == 1 {
            return None;
        }
        match (home, self.controllers) {
            (Home::Core(core), _) => Some(self.domain(core)),
            (Home::Controller(_), Controllers::Quadrants) => None,
            (Home::Controller(controller), Controllers::At(..) | Controllers::Nodes) => {
                let is_nearest = |core: &CoreId| self.nearest_controller(*core) == usize::from(controller);
                let mut domains = (0..self.cores()).map(CoreId::new).filter(is_nearest).map(|core| self.domain(core));
                let first = domains.next()?;
                domains.all(|domain| domain == first).then_some(first)
            }
        }
    }

    /// Atomic counters of the machine's board; none where nothing is atomic between coherence domains.
    pub const fn atomic_counters(&self) -> usize {
        match self.registers {
            Registers::Everywhere => self.counters as usize,
            Registers::InDomains => 0,
        }
    }

    /// The tile from whose router the board's registers are reached: south of tile (3,0) on the SCC.
    pub const fn board_tile(&self) -> Tile {
        Tile { x: self.columns / 2, y: 0 }
    }

    /// What the primitive operations of the machine cost, to choose between algorithms. It is worked out from the sides
    /// of the mesh: to be asked for when something is made, not in each operation.
    pub fn prices(&self) -> Prices {
        match self.prices {
            PricedBy::Costs(costs) => {
                let (columns, rows) = self.used();
                Prices::of(
                    &costs,
                    self.mean_tenths_between(columns, rows),
                    self.mean_tenths_between(self.columns.into(), self.rows.into()),
                )
            }
            PricedBy::List(prices) => prices,
        }
    }

    /// Sets of the cache that flushes go through: to flush this many lines by ranges takes as long as to flush everything.
    pub const fn cache_sets(&self) -> usize {
        match self.prices {
            PricedBy::Costs(costs) => costs.cache_sets as usize,
            PricedBy::List(prices) => prices.cache_sets as usize,
        }
    }

    /// Columns and rows of the tiles by whose distances the cores that run are priced: the rows that are in use. The flags of
    /// one row only are so few that estimates are off by more than the distances differ; so it is priced as the whole mesh.
    const fn used(&self) -> (u64, u64) {
        let tiles = (self.cores as u64).div_ceil(self.cores_per_tile as u64);
        let rows = tiles.div_ceil(self.columns as u64);
        (self.columns as u64, if rows > 1 { rows } else { self.rows as u64 })
    }

    /// Routers between two different cores of a mesh with these sides, beyond the one of the own tile, in the mean and in
    /// tenths.
    pub(crate) const fn mean_tenths_between(&self, columns: u64, rows: u64) -> u64 {
        let cores = columns * rows * self.cores_per_tile as u64;
        // Of two tiles drawn from n in a row, the mean distance is (n² - 1) / 3n.
        let sum = (columns * columns - 1) * rows + (rows * rows - 1) * columns;
        let others = if cores > 1 { cores - 1 } else { 1 };
        (10 * sum * cores).div_ceil(3 * columns * rows * others)
    }
}

/// Identity of this core and the layout of its machine.
pub trait Topology {
    /// This core.
    fn core(&self) -> CoreId;

    /// The machine that it is part of.
    fn layout(&self) -> &Layout;

    /// A number that no other machine of the process has. Where there is no simulator there is one machine.
    fn machine(&self) -> u64 {
        0
    }
}
