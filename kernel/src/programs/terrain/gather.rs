//! The blocks on their way to rank 0, by gets.

use alloc::{vec, vec::Vec};

use collectives::{Comm, Group, Window};
use hal::{Caches, Core, LocalView};

use crate::Failure;

use super::{
    field::Field,
    grid::{Block, Grid},
};

/// Elements that are stored to a view at a time.
const PIECE: usize = 1024;

/// Makes the window that blocks are got from. Collective; ranks without a block have an empty part.
pub(super) fn window<'c, C: Core>(
    comm: &'c Comm<'c, C>,
    caches: &mut Caches,
    grid: &Grid,
) -> Result<(Window<'c, C, f64>, LocalView<'c, f64>), Failure> {
    let len = grid.block(comm.rank()).map_or(0, |block| block.cells());
    Ok(Window::create(comm, caches, len)?)
}

/// Brings all blocks together on rank 0, which gets the heights of the whole map, row by row.
pub(super) fn to_rank_0<'c, C: Core>(
    comm: &Comm<'c, C>,
    window: &Window<'c, C, f64>,
    mut view: LocalView<'c, f64>,
    caches: &mut Caches,
    grid: &Grid,
    field: Option<Field>,
) -> Result<Option<Vec<f64>>, Failure> {
    if let Some(field) = &field {
        for row in 0..field.height() {
            for (piece, cells) in field.row(row).chunks(PIECE).enumerate() {
                view.copy_from(row * field.width() + piece * PIECE, cells);
            }
        }
    }
    let to_root = if field.is_some() { Group::of([0])? } else { Group::empty() };
    drop(field);
    let exposure = window.post(view, caches, &to_root)?;

    let mut whole = None;
    if comm.rank() == 0 {
        let mut heights = vec![0.0; grid.width() * grid.height()];
        // An epoch for each block, so that one block at a time is in memory twice.
        for (rank, block) in (0..).map_while(|rank| Some((rank, grid.block(rank)?))) {
            let mut cells = vec![0.0; block.cells()];
            let access = window.start(&Group::of([rank])?)?;
            access.get(rank, 0, &mut cells)?;
            access.complete();
            place(&mut heights, grid.width(), &block, &cells);
        }
        whole = Some(heights);
    }
    drop(exposure.wait(caches));
    Ok(whole)
}

/// Puts the cells of a block to their places in the map.
fn place(heights: &mut [f64], width: usize, block: &Block, cells: &[f64]) {
    for (row, cells) in cells.chunks(block.width()).enumerate() {
        let start = (block.y.start + row) * width + block.x.start;
        heights[start..start + cells.len()].copy_from_slice(cells);
    }
}
