//! Where the cores and the memory controllers of a machine are.

use descriptions::Tile;

/// A mesh of tiles, with cores in the order of rows and memory controllers at some tiles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mesh {
    /// Tiles from west to east.
    pub columns: usize,
    /// Tiles from south to north.
    pub rows: usize,
    /// Cores of each tile.
    pub cores_per_tile: usize,
    /// The tiles of the memory controllers.
    pub controllers: Vec<Tile>,
}

impl Mesh {
    /// Places for cores, on all tiles.
    pub const fn cores(&self) -> usize {
        self.columns * self.rows * self.cores_per_tile
    }

    /// The tile of a core.
    pub const fn tile(&self, core: u16) -> Tile {
        let tile = core as usize / self.cores_per_tile;
        Tile { x: (tile % self.columns) as u16, y: (tile / self.columns) as u16 }
    }
}
