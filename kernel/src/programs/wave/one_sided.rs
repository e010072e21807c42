//! The one-sided version: faces and totals are put, in PSCW epochs between fixed groups.
//!
//! A rank's part of the window of faces has a strip for each neighbour, into which that neighbour puts its face.
//! Faces are packed, since a line that is written in part costs as much as a whole one, and strips begin with a line.
//! In a step a rank puts its faces, computes its interior while its neighbours' come, waits for them, copies them to
//! its field, and posts again at once, so that the next faces can come before it is done with its rim.
//!
//! The window of totals has a place for each child in the tree; it is posted like the other.
//!
//! Each element that arrives is read once. So strips and places are read past the caches, and the part stays with its
//! origins: the view would have to be invalidated as a whole in each step.

use alloc::vec::Vec;

use collectives::{Class, Comm, ExposureEpoch, Group, Window};
use hal::{Caches, Core, LINE_BYTES, LocalView};

use crate::Failure;

use super::{
    exchange::{Computing, Exchange},
    field::Field,
    grid::{Grid, Side},
    physics::Totals,
    tree,
};

/// Elements of a line.
const PER_LINE: usize = LINE_BYTES / size_of::<f64>();

/// Where the strip of `side` begins in the part of `rank`. Behind the last side the part ends.
fn strip_of(grid: &Grid, rank: usize, side: usize) -> usize {
    let sides = Side::all().take(side).filter(|side| grid.neighbour(rank, *side).is_some());
    sides.map(|side| grid.face_len(rank, side).next_multiple_of(PER_LINE)).sum()
}

/// Both windows, which have to outlive their epochs.
pub(super) struct Windows<'c, C: Core> {
    faces: Window<'c, C, f64>,
    totals: Window<'c, C, [f64; 2]>,
}

/// The views of a rank's parts, until they are posted.
pub(super) struct Views<'c> {
    faces: LocalView<'c, f64>,
    totals: LocalView<'c, [f64; 2]>,
}

impl<'c, C: Core> Windows<'c, C> {
    /// Makes the windows. Collective; ranks without a block or without children have empty parts. They live as long
    /// as the program.
    pub(super) fn create(
        comm: &'c Comm<'c, C>,
        caches: &mut Caches,
        grid: &Grid,
        class: Class,
    ) -> Result<(Self, Views<'c>), Failure> {
        let len = strip_of(grid, comm.rank(), Side::COUNT);
        let (faces, faces_view) = Window::with_class(comm, caches, len, class)?;
        let places = tree::children(comm.rank(), comm.size()).len();
        let (totals, totals_view) = Window::with_class(comm, caches, places, class)?;
        Ok((Self { faces, totals }, Views { faces: faces_view, totals: totals_view }))
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
    /// The own face, on its way there.
    face: Vec<f64>,
}

/// A rank's windows, and its parts exposed to those that put into them.
pub(super) struct OneSided<'w, 'c, C: Core> {
    comm: &'c Comm<'c, C>,
    windows: &'w Windows<'c, C>,
    neighbours: Vec<Neighbour>,
    neighbour_group: Group,
    /// What a neighbour has put, on its way to the field.
    strip: Vec<f64>,
    /// What the children have put.
    places: Vec<[f64; 2]>,
    /// There until the last step.
    faces: Option<ExposureEpoch<'w, 'c, C, f64>>,
    totals: Option<ExposureEpoch<'w, 'c, C, [f64; 2]>>,
}

impl<'w, 'c, C: Core> OneSided<'w, 'c, C> {
    /// Posts the parts of this rank for the first of some steps.
    pub(super) fn new(
        comm: &'c Comm<'c, C>,
        caches: &mut Caches,
        grid: &Grid,
        windows: &'w Windows<'c, C>,
        views: Views<'c>,
    ) -> Result<Self, Failure> {
        let me = comm.rank();
        let neighbour = |side: Side| {
            let rank = grid.neighbour(me, side)?;
            let their_strip = strip_of(grid, rank, side.opposite().number());
            let own_strip = strip_of(grid, me, side.number());
            Some(Neighbour { side, rank, their_strip, own_strip, face: Vec::new() })
        };
        let neighbours: Vec<_> = Side::all().filter_map(neighbour).collect();
        let neighbour_group = Group::of(neighbours.iter().map(|neighbour| neighbour.rank))?;
        let children = tree::children(me, comm.size());
        Ok(Self {
            faces: Some(windows.faces.post(views.faces, caches, &neighbour_group)?),
            totals: Some(windows.totals.post(views.totals, caches, &Group::of(children.clone())?)?),
            comm,
            windows,
            neighbours,
            neighbour_group,
            strip: Vec::new(),
            places: alloc::vec![[0.0; 2]; children.len()],
        })
    }
}

impl<C: Core> Exchange for OneSided<'_, '_, C> {
    fn step(&mut self, field: &mut Field, computing: &mut Computing, is_last: bool) -> Result<Totals, Failure> {
        let hal = self.comm.hal();
        self.neighbours.iter_mut().for_each(|neighbour| field.pack(neighbour.side, &mut neighbour.face, hal));
        let access = self.windows.faces.start(&self.neighbour_group)?;
        for neighbour in &self.neighbours {
            access.put(neighbour.rank, neighbour.their_strip, &neighbour.face)?;
        }
        computing.time(hal, || field.compute_interior(hal));
        access.complete();

        let Some(faces) = self.faces.take() else { return Err(after_the_last()) };
        faces.await_origins();
        for neighbour in &self.neighbours {
            self.strip.resize(neighbour.face.len(), 0.0);
            faces.read(neighbour.own_strip, &mut self.strip)?;
            field.unpack(neighbour.side, &self.strip, hal);
        }
        self.faces = (!is_last).then(|| faces.post_again());
        Ok(computing.time(hal, || field.compute_rim(hal)))
    }

    fn reduce(&mut self, own: Totals, is_last: bool) -> Result<Totals, Failure> {
        let (me, mut sum) = (self.comm.rank(), own);
        let Some(totals) = self.totals.take() else { return Err(after_the_last()) };
        totals.await_origins();
        totals.read(0, &mut self.places)?;
        self.places.iter().for_each(|place| sum.merge(Totals::from_array(*place)));
        self.totals = (!is_last).then(|| totals.post_again());
        if let Some((parent, place)) = tree::parent(me) {
            let access = self.windows.totals.start(&Group::of([parent])?)?;
            access.put_value(parent, place, sum.to_array())?;
            access.complete();
        }
        tree::tell_all(self.comm, sum)
    }
}

fn after_the_last() -> Failure {
    Failure::new("no step comes after the last one")
}
