//! The layout of a board, as its description says it: what an image on the board starts from, and a simulator of the
//! board has to agree with.

use boards::Geometry;

use crate::{Costs, Layout, Tile};

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
        placed.with_cores(cores).with_atomic_counters(counters).with_costs(costs(geometry))
    }
}

fn costs(geometry: &Geometry) -> Costs {
    let costs = &geometry.costs;
    Costs {
        hop_ps: costs.hop_ps,
        mpb_ps: costs.mpb_ps,
        memory_read_ps: costs.memory_read_ps,
        memory_write_ps: costs.memory_write_ps,
        put_from_mpb_ps: costs.put_from_mpb_ps,
        put_from_memory_ps: costs.put_from_memory_ps,
        get_to_memory_ps: costs.get_to_memory_ps,
        core_mhz: geometry.core_mhz,
        cache_sets: geometry.l2_sets,
        mpb_port_ps: costs.mpb_port_ps,
        is_flat: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scc_is_the_layout_without_a_file() {
        let board = boards::Board::built_in("scc").expect("there is a file of the SCC");
        let geometry = board.mesh().expect("the SCC is a mesh").geometry;
        assert_eq!(Layout::of_board(&geometry, 48), Layout::scc());
    }
}
