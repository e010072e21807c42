//! Grids: ranks at places along dimensions.

use alloc::{rc::Rc, vec, vec::Vec};
use core::slice;

use kernel::hal::Core;

use super::{
    super::{
        class::{Class, Fault},
        communicators::{Communicator, making::comm_split},
        constants::PROC_NULL,
        handles::Handle,
        table::Here,
    },
    Topology, counted, make, mapped, numbers, topology,
};

/// A grid of dimensions, each open or closed to a ring. The last one's ranks are one behind the other.
pub(crate) struct Grid {
    lengths: Vec<usize>,
    rings: Vec<bool>,
}

impl Grid {
    pub(crate) fn dimensions(&self) -> usize {
        self.lengths.len()
    }

    fn places(&self, rank: usize) -> Vec<usize> {
        let mut rest = rank;
        let mut places: Vec<_> = self
            .lengths
            .iter()
            .rev()
            .map(|length| {
                let place = rest % length;
                rest /= length;
                place
            })
            .collect();
        places.reverse();
        places
    }

    /// The rank at these places; none beyond an edge.
    fn rank(&self, places: &[i64]) -> Option<usize> {
        let mut rank = 0;
        for ((place, length), is_ring) in places.iter().zip(&self.lengths).zip(&self.rings) {
            let length = *length as i64;
            let place = if *is_ring { place.rem_euclid(length) } else { *place };
            if !(0..length).contains(&place) {
                return None;
            }
            rank = rank * length + place;
        }
        Some(rank as usize)
    }

    /// The rank so many steps away.
    pub(crate) fn neighbour(&self, rank: usize, dimension: usize, steps: i64) -> Option<usize> {
        let mut places: Vec<_> = self.places(rank).into_iter().map(|place| place as i64).collect();
        places[dimension] += steps;
        self.rank(&places)
    }
}

fn grid<C: Core, R>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    action: impl FnOnce(&Communicator, &Grid) -> Result<R, Fault>,
) -> Result<R, Fault> {
    topology(here, handle, |comm, topology| match topology {
        Topology::Grid(grid) => Some(action(comm, grid)),
        _ => None,
    })
}

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them.

pub(crate) unsafe fn cart_create<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    dimensions: i32,
    lengths: *const i32,
    rings: *const i32,
    _may_reorder: i32,
    made: *mut Handle,
) -> Result<(), Fault> {
    let fault = |class: Class| Fault::from(class).on_comm(comm);
    let limit = here.intra(comm)?.size();
    let count = usize::try_from(dimensions).map_err(|_| fault(Class::DIMS))?;
    // SAFETY: see above.
    let (lengths, rings) = unsafe { (numbers(count, lengths), numbers(count, rings)) };
    let lengths: Vec<_> = lengths.iter().map(|length| usize::try_from(*length).unwrap_or(0)).collect();
    let size = lengths.iter().try_fold(1_usize, |size, length| size.checked_mul(*length)).unwrap_or(0);
    if size == 0 {
        return Err(fault(Class::DIMS));
    }
    if size > limit {
        return Err(Fault::new(Class::DIMS, alloc::format!("{size} places for {limit} ranks")).on_comm(comm));
    }
    let grid = Grid { lengths, rings: rings.iter().map(|ring| *ring != 0).collect() };
    let created = make(here, comm, size, Topology::Grid(grid))?;
    // SAFETY: see above.
    unsafe { made.write(created) };
    Ok(())
}

pub(crate) unsafe fn cartdim_get<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    dimensions: *mut i32,
) -> Result<(), Fault> {
    let count = grid(here, comm, |_, grid| Ok(grid.dimensions()))?;
    // SAFETY: see above.
    unsafe { dimensions.write(count as i32) };
    Ok(())
}

pub(crate) unsafe fn cart_get<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    most: i32,
    lengths: *mut i32,
    rings: *mut i32,
    places: *mut i32,
) -> Result<(), Fault> {
    grid(here, comm, |comm, grid| {
        for (at, place) in grid.places(comm.rank).into_iter().take(counted(most)?).enumerate() {
            // SAFETY: see above.
            unsafe {
                lengths.add(at).write(grid.lengths[at] as i32);
                rings.add(at).write(grid.rings[at].into());
                places.add(at).write(place as i32);
            }
        }
        Ok(())
    })
}

pub(crate) unsafe fn cart_rank<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    places: *const i32,
    rank: *mut i32,
) -> Result<(), Fault> {
    grid(here, comm, |_, grid| {
        // SAFETY: see above.
        let places: Vec<_> = unsafe { numbers(grid.dimensions(), places) }.iter().map(|at| i64::from(*at)).collect();
        let found = grid.rank(&places).ok_or(Class::RANK)?;
        // SAFETY: see above.
        unsafe { rank.write(found as i32) };
        Ok(())
    })
}

pub(crate) unsafe fn cart_coords<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    rank: i32,
    most: i32,
    places: *mut i32,
) -> Result<(), Fault> {
    grid(here, comm, |comm, grid| {
        let rank = usize::try_from(rank).ok().filter(|rank| *rank < comm.size()).ok_or(Class::RANK)?;
        for (at, place) in grid.places(rank).into_iter().take(counted(most)?).enumerate() {
            // SAFETY: see above.
            unsafe { places.add(at).write(place as i32) };
        }
        Ok(())
    })
}

pub(crate) unsafe fn cart_shift<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    dimension: i32,
    steps: i32,
    source: *mut i32,
    destination: *mut i32,
) -> Result<(), Fault> {
    grid(here, comm, |comm, grid| {
        let dimension = usize::try_from(dimension).ok().filter(|at| *at < grid.dimensions()).ok_or(Class::ARG)?;
        let at = |steps: i64| grid.neighbour(comm.rank, dimension, steps).map_or(PROC_NULL, |rank| rank as i32);
        // SAFETY: see above.
        unsafe {
            source.write(at(-i64::from(steps)));
            destination.write(at(steps.into()));
        }
        Ok(())
    })
}

pub(crate) unsafe fn cart_sub<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    keeps: *const i32,
    made: *mut Handle,
) -> Result<(), Fault> {
    let (color, key, part) = grid(here, handle, |comm, grid| {
        // SAFETY: see above.
        let keeps = unsafe { numbers(grid.dimensions(), keeps) };
        let (mut color, mut key) = (0, 0);
        let mut part = Grid { lengths: Vec::new(), rings: Vec::new() };
        for (at, place) in grid.places(comm.rank).into_iter().enumerate() {
            if keeps[at] != 0 {
                key = key * grid.lengths[at] + place;
                part.lengths.push(grid.lengths[at]);
                part.rings.push(grid.rings[at]);
            } else {
                color = color * grid.lengths[at] + place;
            }
        }
        Ok((color, key, part))
    })?;
    // SAFETY: see above.
    unsafe {
        comm_split(here, handle, color as i32, key as i32, made)?;
        *here.communicator(made.read())?.topology.borrow_mut() = Some(Rc::new(Topology::Grid(part)));
    }
    Ok(())
}

pub(crate) unsafe fn cart_map<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    dimensions: i32,
    lengths: *const i32,
    _rings: *const i32,
    rank: *mut i32,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe {
        let lengths = numbers(counted(dimensions)?, lengths);
        let size = lengths.iter().try_fold(1_usize, |size, length| size.checked_mul(usize::try_from(*length).ok()?));
        rank.write(mapped(here, comm, size.ok_or(Class::DIMS)?).map_err(|fault| fault.on_comm(comm))?);
    }
    Ok(())
}

/// Fills in lengths that are zero: as equal as they can be, and the largest first.
pub(crate) unsafe fn dims_create<C: Core>(
    _: &Here<'_, '_, '_, C>,
    nodes: i32,
    dimensions: i32,
    lengths: *mut i32,
) -> Result<(), Fault> {
    let (nodes, count) = (usize::try_from(nodes).map_err(|_| Class::DIMS)?, counted(dimensions)?);
    // SAFETY: see above.
    let lengths = if count == 0 { &mut [][..] } else { unsafe { slice::from_raw_parts_mut(lengths, count) } };
    let given: i32 = lengths.iter().filter(|length| **length != 0).product();
    let given = usize::try_from(given).map_err(|_| Class::DIMS)?;
    let open = lengths.iter().filter(|length| **length == 0).count();
    if lengths.iter().any(|length| *length < 0) || nodes == 0 || !nodes.is_multiple_of(given) {
        return Err(Class::DIMS.into());
    }
    if open == 0 {
        return if nodes == given { Ok(()) } else { Err(Class::DIMS.into()) };
    }
    let mut chosen = balanced(nodes / given, open, usize::MAX).into_iter();
    for length in lengths.iter_mut().filter(|length| **length == 0) {
        *length = chosen.next().unwrap_or(1) as i32;
    }
    Ok(())
}

/// Factors of a number, none above a limit, the largest first and as small as it can be.
fn balanced(number: usize, count: usize, limit: usize) -> Vec<usize> {
    if count == 1 {
        return if number <= limit { vec![number] } else { Vec::new() };
    }
    let fits = |first: usize| first.checked_pow(count as u32).is_none_or(|most| most >= number);
    for first in (1..=number.min(limit)).filter(|first| number.is_multiple_of(*first) && fits(*first)) {
        let mut all = vec![first];
        let rest = balanced(number / first, count - 1, first);
        if !rest.is_empty() {
            all.extend(rest);
            return all;
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_have_neighbours() {
        let grid = Grid { lengths: vec![2, 3], rings: vec![false, true] };
        assert_eq!((grid.places(5), grid.rank(&[1, -1]), grid.rank(&[2, 0])), (vec![1, 2], Some(5), None));
        assert_eq!(
            [grid.neighbour(0, 1, -1), grid.neighbour(0, 0, -1), grid.neighbour(2, 0, 1)],
            [Some(2), None, Some(5)]
        );
    }

    #[test]
    fn lengths_are_balanced() {
        let cases: [(usize, usize, &[usize]); 6] = [
            (12, 2, &[4, 3]),
            (48, 3, &[4, 4, 3]),
            (7, 2, &[7, 1]),
            (1, 3, &[1, 1, 1]),
            (64, 3, &[4, 4, 4]),
            (30, 3, &[5, 3, 2]),
        ];
        for (number, count, lengths) in cases {
            assert_eq!(balanced(number, count, usize::MAX), lengths, "{number}");
        }
    }
}
