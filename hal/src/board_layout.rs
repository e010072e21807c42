//! The layout of a board, as its description says it: what an image on the board starts from, and a simulator of the
//! board has to agree with.

use descriptions::boards::Geometry;

use crate::{Layout, Tile};

impl Layout {
    /// The first `cores` cores of a board, with what it has and what its operations cost. On hardware accesses always
    /// wait for each other.
    ///
    /// # Panics
    /// If there are no cores, or the board is none that a board file can describe.
    pub fn of_board(geometry: &Geometry, cores: usize) -> Self {
        let mesh = Self::mesh(geometry.columns as u16, geometry.rows as u16, geometry.cores_per_tile as u16);
        let tiles = geometry.controller_tiles.map(|[x, y]| Tile { x: x as u16, y: y as u16 });
        let tiles = &tiles[..geometry.controllers as usize];
        // The SCC's own placement of controllers has a rule of its own for which is nearest.
        let is_usual = tiles.len() == mesh.controllers()
            && tiles.iter().enumerate().all(|(controller, tile)| mesh.controller_tile(controller) == *tile);
        let placed = if is_usual { mesh } else { mesh.with_controllers(tiles) };
        let counters = if geometry.board_slot == 0 { 0 } else { geometry.counters as usize };
        placed.with_cores(cores).with_atomic_counters(counters).with_costs(geometry.costs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scc_is_the_layout_without_a_file() {
        let board = descriptions::boards::Board::built_in("scc").expect("there is a file of the SCC");
        let geometry = board.mesh().expect("the SCC is a mesh").geometry;
        assert_eq!(Layout::of_board(&geometry, 48), Layout::scc());
    }
}
