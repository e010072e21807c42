//! Grids: the functions that a program calls.

use alloc::{rc::Rc, vec::Vec};

use kernel::hal::Core;

use super::{
    super::{
        super::{
            class::{Class, Fault},
            communicators::{Communicator, making::comm_split},
            constants::{COMM_NULL, PROC_NULL},
            handles::Handle,
            place::{Place, give_list, values, values_mut},
            state::Here,
        },
        Topology, counted,
        making::{make, mapped, topology},
    },
    Grid, balanced,
};

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
    handle: Handle,
    dimensions: i32,
    lengths: *const i32,
    rings: *const i32,
    _may_reorder: i32,
    made: Place<Handle>,
) -> Result<(), Fault> {
    made.write(COMM_NULL);
    let comm = here.intra(handle)?;
    let wanted = || {
        let count = usize::try_from(dimensions).map_err(|_| Class::DIMS)?;
        // SAFETY: see above.
        let (lengths, rings) = unsafe { (values(count, lengths)?, values(count, rings)?) };
        let lengths: Vec<_> = lengths.iter().map(|length| usize::try_from(*length).unwrap_or(0)).collect();
        let size = lengths.iter().try_fold(1_usize, |size, length| size.checked_mul(*length)).unwrap_or(0);
        if size == 0 || size > comm.size() {
            return Err(Fault::new(Class::DIMS, alloc::format!("{size} places for {} ranks", comm.size())));
        }
        let grid = Grid { lengths, rings: rings.iter().map(|ring| *ring != 0).collect() };
        Ok((size, Topology::Grid(grid)))
    };
    made.write(make(here, &comm, wanted())?);
    Ok(())
}

pub(crate) fn cartdim_get<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    dimensions: Place<i32>,
) -> Result<(), Fault> {
    let count = grid(here, comm, |_, grid| Ok(grid.dimensions()))?;
    dimensions.write(count as i32);
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
        let most = counted(most)?;
        // SAFETY: see above.
        unsafe {
            give_list(lengths, grid.lengths.iter().map(|len| *len as i32).take(most))?;
            give_list(rings, grid.rings.iter().map(|is_ring| i32::from(*is_ring)).take(most))?;
            give_list(places, grid.places(comm.rank).into_iter().map(|place| place as i32).take(most))
        }
    })
}

pub(crate) unsafe fn cart_rank<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    places: *const i32,
    rank: Place<i32>,
) -> Result<(), Fault> {
    grid(here, comm, |_, grid| {
        // SAFETY: see above.
        let places: Vec<_> = unsafe { values(grid.dimensions(), places)? }.iter().map(|at| i64::from(*at)).collect();
        let found = grid.rank(&places).ok_or(Class::RANK)?;
        rank.write(found as i32);
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
        let found = grid.places(rank).into_iter().map(|place| place as i32).take(counted(most)?);
        // SAFETY: see above.
        unsafe { give_list(places, found) }
    })
}

pub(crate) fn cart_shift<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    dimension: i32,
    steps: i32,
    source: Place<i32>,
    destination: Place<i32>,
) -> Result<(), Fault> {
    grid(here, comm, |comm, grid| {
        let dimension = usize::try_from(dimension).ok().filter(|at| *at < grid.dimensions()).ok_or(Class::ARG)?;
        let at = |steps: i64| grid.neighbour(comm.rank, dimension, steps).map_or(PROC_NULL, |rank| rank as i32);
        source.write(at(-i64::from(steps)));
        destination.write(at(steps.into()));
        Ok(())
    })
}

pub(crate) unsafe fn cart_sub<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    keeps: *const i32,
    made: Place<Handle>,
) -> Result<(), Fault> {
    made.write(COMM_NULL);
    let (color, key, part) = grid(here, handle, |comm, grid| {
        // SAFETY: see above.
        let keeps = unsafe { values(grid.dimensions(), keeps)? };
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
    comm_split(here, handle, color as i32, key as i32, made)?;
    *here.communicator(made.read())?.topology.borrow_mut() = Some(Rc::new(Topology::Grid(part)));
    Ok(())
}

pub(crate) unsafe fn cart_map<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    dimensions: i32,
    lengths: *const i32,
    _rings: *const i32,
    rank: Place<i32>,
) -> Result<(), Fault> {
    // SAFETY: see above.
    let work = || unsafe {
        let lengths = values(counted(dimensions)?, lengths)?;
        let size = lengths.iter().try_fold(1_usize, |size, length| size.checked_mul(usize::try_from(*length).ok()?));
        rank.write(mapped(here, comm, size.ok_or(Class::DIMS)?)?);
        Ok(())
    };
    work().map_err(|fault: Fault| fault.on_comm(comm))
}

/// Fills in lengths that are zero: as close to each other as they can be, and the largest first.
pub(crate) unsafe fn dims_create<C: Core>(
    _: &Here<'_, '_, '_, C>,
    nodes: i32,
    dimensions: i32,
    lengths: *mut i32,
) -> Result<(), Fault> {
    let (nodes, count) = (usize::try_from(nodes).map_err(|_| Class::DIMS)?, counted(dimensions)?);
    // SAFETY: see above.
    let lengths = unsafe { values_mut(count, lengths)? };
    let mut given = lengths.iter().filter(|length| **length != 0);
    let given = given.try_fold(1_usize, |product, length| product.checked_mul(usize::try_from(*length).ok()?));
    let given = given.ok_or(Class::DIMS)?;
    let open = lengths.iter().filter(|length| **length == 0).count();
    if nodes == 0 || !nodes.is_multiple_of(given) {
        return Err(Class::DIMS.into());
    }
    if open == 0 {
        return if nodes == given { Ok(()) } else { Err(Class::DIMS.into()) };
    }
    let mut chosen = balanced(nodes / given, open).into_iter();
    for length in lengths.iter_mut().filter(|length| **length == 0) {
        *length = chosen.next().unwrap_or(1) as i32;
    }
    Ok(())
}
