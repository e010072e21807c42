//! The blocks on their way to rank 0, by gets.

use alloc::{vec, vec::Vec};

use collectives::{Comm, Group, Window};
use hal::{Caches, Core};

use crate::Failure;

use super::{
    field::Field,
    grid::{Block, Grid},
};

/// Elements that are got, or stored to a view, at a time.
const PIECE: usize = 1024;

/// Brings all blocks together on rank 0, which gets the heights of the whole map, row by row.
pub(super) fn to_rank_0<'c, C: Core>(
    comm: &'c Comm<'c, C>,
    caches: &mut Caches,
    grid: &Grid,
    field: Option<Field>,
) -> Result<Option<Vec<f64>>, Failure> {
    let len = field.as_ref().map_or(0, |field| field.width() * field.height());
    let (window, mut view) = Window::create(comm, caches, len)?;
    if let Some(field) = &field {
        for row in 0..field.height() {
            for (piece, cells) in field.row(row).chunks(PIECE).enumerate() {
                view.copy_from(row * field.width() + piece * PIECE, cells);
            }
        }
    }
    drop(field);
    let to_root = if len > 0 { Group::of([0])? } else { Group::empty() };
    let exposure = window.post(view, caches, &to_root)?;

    let mut whole = None;
    if comm.rank() == 0 {
        let access = window.start(&Group::all(grid.blocks())?)?;
        let mut heights = vec![0.0; grid.width() * grid.height()];
        let mut piece = vec![0.0; PIECE];
        for (rank, block) in (0..).map_while(|rank| Some((rank, grid.block(rank)?))) {
            for first in (0..block.cells()).step_by(PIECE) {
                let piece = &mut piece[..PIECE.min(block.cells() - first)];
                access.get(rank, first, piece)?;
                place(&mut heights, grid.width(), &block, first, piece);
            }
        }
        access.complete();
        whole = Some(heights);
    }
    drop(exposure.wait(caches));
    Ok(whole)
}

/// Puts cells of a block, from its cell `first` on, to their places in the map.
fn place(heights: &mut [f64], width: usize, block: &Block, first: usize, mut cells: &[f64]) {
    let (mut row, mut column) = (first / block.width(), first % block.width());
    while !cells.is_empty() {
        let count = cells.len().min(block.width() - column);
        let start = (block.y.start + row) * width + block.x.start + column;
        heights[start..start + count].copy_from_slice(&cells[..count]);
        cells = &cells[count..];
        (row, column) = (row + 1, 0);
    }
}
