//! The two-sided version: faces and totals are sent and received.
//!
//! A send returns when its message has been received, so neighbours must not both send first. Along x, then y, then
//! z, blocks with even and with odd coordinates form pairs: first each even one with the next, then each even one
//! with the one before. In a pair the even one sends first. A rank waits only for one that is in the same or an
//! earlier round, so the rounds end in their order.

use alloc::vec::Vec;

use collectives::Comm;
use hal::Core;

use crate::Failure;

use super::{
    exchange::{Computing, Exchange},
    field::Field,
    grid::{Grid, Side},
    physics::Totals,
    tree,
};

/// The neighbour of one round.
struct Partner {
    side: Side,
    rank: usize,
    sends_first: bool,
}

/// A rank's partners, round by round.
pub(super) struct TwoSided<'c, C> {
    comm: &'c Comm<'c, C>,
    partners: Vec<Partner>,
    face: Vec<f64>,
    strip: Vec<f64>,
}

impl<'c, C: Core> TwoSided<'c, C> {
    /// Puts the neighbours of this rank in order.
    pub(super) fn new(comm: &'c Comm<'c, C>, grid: &Grid) -> Self {
        let me = comm.rank();
        let rounds = (0..3).flat_map(|axis| [true, false].map(|first| (axis, first)));
        let partner = |(axis, first): (usize, bool)| {
            let is_even = grid.place(me)[axis].is_multiple_of(2);
            let side = Side { axis, up: is_even == first };
            Some(Partner { side, rank: grid.neighbour(me, side)?, sends_first: is_even })
        };
        Self { comm, partners: rounds.filter_map(partner).collect(), face: Vec::new(), strip: Vec::new() }
    }
}

impl<C: Core> Exchange for TwoSided<'_, C> {
    fn step(&mut self, field: &mut Field, computing: &mut Computing, _is_last: bool) -> Result<Totals, Failure> {
        let (comm, hal) = (self.comm, self.comm.hal());
        for Partner { side, rank, sends_first } in &self.partners {
            field.pack(*side, &mut self.face, hal);
            self.strip.resize(self.face.len(), 0.0);
            if *sends_first {
                comm.send(bytemuck::cast_slice(&self.face), *rank)?;
            }
            comm.receive(bytemuck::cast_slice_mut(&mut self.strip), *rank)?;
            if !sends_first {
                comm.send(bytemuck::cast_slice(&self.face), *rank)?;
            }
            field.unpack(*side, &self.strip, hal);
        }
        // In the order of the other version, which decides how the totals are rounded.
        computing.time(hal, || field.compute_interior(hal));
        Ok(computing.time(hal, || field.compute_rim(hal)))
    }

    fn reduce(&mut self, own: Totals, _is_last: bool) -> Result<Totals, Failure> {
        let (comm, mut sum) = (self.comm, own);
        for child in tree::children(comm.rank(), comm.size()) {
            let mut place = [0.0; 2];
            comm.receive(bytemuck::cast_slice_mut(&mut place), child)?;
            sum.merge(Totals::from_array(place));
        }
        if let Some((parent, _)) = tree::parent(comm.rank()) {
            comm.send(bytemuck::cast_slice(&sum.to_array()), parent)?;
        }
        tree::tell_all(comm, sum)
    }
}
