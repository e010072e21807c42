//! The exchange of edges between neighbours, by puts in PSCW epochs.
//!
//! A rank's part of the window is four strips, one for each side: what its neighbour there puts its edge into. In a
//! step a rank posts its strips to its neighbours, puts its own edges into theirs, and computes its interior while
//! theirs come in. A neighbour can put again only after the next post, when the strips have been read.

use alloc::vec::Vec;

use collectives::{Comm, Group, Window};
use hal::{Caches, Core, LocalView};

use crate::Failure;

use super::{
    field::Field,
    grid::{Block, Grid, Side},
};

/// Where the strip of `side` begins in the part of the rank that has `block`.
fn strip_of(block: &Block, side: Side) -> usize {
    let (width, height) = (block.width(), block.height());
    match side {
        Side::North => 0,
        Side::South => width,
        Side::West => 2 * width,
        Side::East => 2 * width + height,
    }
}

/// The neighbour on one side.
struct Neighbour {
    side: Side,
    rank: usize,
    /// Where its strip for us begins.
    their_strip: usize,
    /// Where ours for it does.
    own_strip: usize,
}

/// A rank's means to exchange edges.
pub(super) struct Halo<'c, C: Core> {
    window: Window<'c, C, f64>,
    view: LocalView<'c, f64>,
    neighbours: Vec<Neighbour>,
    group: Group,
    /// The own edges, on their way to the neighbours.
    edges: Vec<Vec<f64>>,
    strip: Vec<f64>,
}

impl<'c, C: Core> Halo<'c, C> {
    /// Makes the window. Collective; ranks without a block have an empty part. It lives as long as the program.
    pub(super) fn create(comm: &'c Comm<'c, C>, caches: &mut Caches, grid: &Grid) -> Result<Self, Failure> {
        let own = grid.block(comm.rank());
        let len = own.as_ref().map_or(0, |block| 2 * (block.width() + block.height()));
        let (window, view) = Window::create(comm, caches, len)?;
        let mut neighbours = Vec::new();
        for side in Side::ALL {
            if let Some(own) = &own
                && let Some(rank) = grid.neighbour(comm.rank(), side)
                && let Some(block) = grid.block(rank)
            {
                let their_strip = strip_of(&block, side.opposite());
                neighbours.push(Neighbour { side, rank, their_strip, own_strip: strip_of(own, side) });
            }
        }
        let group = Group::of(neighbours.iter().map(|neighbour| neighbour.rank))?;
        let edges = neighbours.iter().map(|_| Vec::new()).collect();
        Ok(Self { window, view, neighbours, group, edges, strip: Vec::new() })
    }

    /// Makes one step on this rank's block.
    pub(super) fn step(&mut self, field: &mut Field, caches: &mut Caches, hal: &C) -> Result<(), Failure> {
        Side::ALL.into_iter().for_each(|side| field.mirror(side));
        self.window.while_posted(&mut self.view, caches, &self.group, |_| {
            for (neighbour, edge) in self.neighbours.iter().zip(&mut self.edges) {
                edge.clear();
                edge.extend(field.edge(neighbour.side));
            }
            let access = self.window.start(&self.group)?;
            for (neighbour, edge) in self.neighbours.iter().zip(&self.edges) {
                access.put(neighbour.rank, neighbour.their_strip, edge)?;
            }
            field.compute_interior(hal);
            access.complete();
            Ok::<_, Failure>(())
        })??;
        for neighbour in &self.neighbours {
            self.strip.resize(field.len_of(neighbour.side), 0.0);
            self.view.copy_to(neighbour.own_strip, &mut self.strip);
            field.set_outside(neighbour.side, &self.strip);
        }
        field.compute_rim(hal);
        field.advance();
        Ok(())
    }
}
