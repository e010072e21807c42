//! Which board is modelled.

use descriptions::{
    Contention, MOST_CONTROLLERS,
    boards::{Geometry, MeshBoard},
};

/// A board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Board {
    /// Its layout and its registers.
    pub geometry: Geometry,
    /// Memory behind each controller, in GB.
    pub memory_gib: u32,
    /// Code of the side of its tile that each controller is on (`hal::hardware`, Tiles: 4 east, 5 south, 6 west, 7
    /// north).
    pub controller_sides: [u32; MOST_CONTROLLERS],
    /// The entry of a lookup table that leads to the board's registers; 0 if there are none.
    pub registers_entry: u32,
    /// What its single accesses take.
    pub hardware: descriptions::Hardware,
    /// What they do to each other where they meet.
    pub contention: Contention,
}

impl Board {
    /// The Intel SCC with `memory_gib` GiB of memory behind each of its four controllers (4, 8 or 16 GB).
    ///
    /// # Panics
    /// If there is no file of it, which tests see to.
    pub fn scc(memory_gib: u32) -> Self {
        let board = descriptions::boards::Board::built_in("scc").expect("there is a file of the SCC");
        Self { memory_gib, ..Self::of(board.mesh().expect("the SCC is a mesh")) }
    }

    /// The board that a file describes, with the memory that the file says it has unless told otherwise.
    pub fn of(mesh: &MeshBoard) -> Self {
        let geometry = mesh.geometry;
        let mut controller_sides = [0; MOST_CONTROLLERS];
        mesh.controllers
            .iter()
            .zip(&mut controller_sides)
            .for_each(|(controller, side)| *side = controller.side as u32);
        let is_board = |(slot, _): &&(u8, descriptions::boards::LutEntry)| u32::from(*slot) == geometry.board_slot;
        let registers_entry = mesh.fixed.iter().find(is_board).map_or(0, |(_, entry)| entry.to_register());
        Self {
            geometry,
            memory_gib: mesh.default_memory_gib as u32,
            controller_sides,
            registers_entry,
            hardware: mesh.hardware,
            contention: mesh.contention,
        }
    }

    /// The prices of its accesses.
    #[cfg(feature = "cpu")]
    pub(crate) fn prices(&self) -> prices::Hardware {
        use descriptions::Tile;
        use prices::{Hardware, Mesh};
        let geometry = &self.geometry;
        let tile = |[x, y]: [u32; 2]| Tile { x: x as u16, y: y as u16 };
        let mesh = Mesh {
            columns: geometry.columns as usize,
            rows: geometry.rows as usize,
            cores_per_tile: geometry.cores_per_tile as usize,
            controllers: geometry.controller_tiles[..geometry.controllers as usize].iter().copied().map(tile).collect(),
        };
        let board = tile([self.registers_entry >> 13 & 0xF, self.registers_entry >> 17 & 0xF]);
        Hardware::new(self.hardware, self.contention, mesh, board)
    }

    /// Number of cores.
    pub const fn cores(&self) -> usize {
        self.geometry.cores() as usize
    }

    /// Number of tiles.
    pub const fn tiles(&self) -> usize {
        (self.geometry.columns * self.geometry.rows) as usize
    }

    /// Tile of a core, and which core of the tile it is.
    pub(crate) const fn tile_of(&self, core: usize) -> (usize, usize) {
        let per_tile = self.geometry.cores_per_tile as usize;
        (core / per_tile, core % per_tile)
    }

    /// Number of the tile at a place of the mesh, if there is one.
    pub(crate) const fn tile_at(&self, x: u32, y: u32) -> Option<usize> {
        let geometry = &self.geometry;
        if x < geometry.columns && y < geometry.rows { Some((x + geometry.columns * y) as usize) } else { None }
    }

    /// Column and row of a tile.
    pub(crate) const fn place_of(&self, tile: usize) -> [u32; 2] {
        [tile as u32 % self.geometry.columns, tile as u32 / self.geometry.columns]
    }

    /// The controller at a tile, and the side that it is on, if there is one.
    pub(crate) fn controller_at(&self, x: u32, y: u32) -> Option<(usize, u32)> {
        let tiles = &self.geometry.controller_tiles[..self.geometry.controllers as usize];
        let controller = tiles.iter().position(|tile| *tile == [x, y])?;
        Some((controller, self.controller_sides[controller]))
    }
}
