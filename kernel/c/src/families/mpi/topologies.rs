//! Topologies: grids, and graphs.

use alloc::{rc::Rc, vec, vec::Vec};
use core::slice;

use kernel::hal::Core;

use super::{
    class::{Class, Fault},
    communicators::Communicator,
    constants::{COMM_NULL, PROC_NULL, UNDEFINED},
    groups::Group,
    handles::Handle,
    table::Here,
};

/// `MPI_CART`, `MPI_GRAPH`, `MPI_DIST_GRAPH`.
const GRID: i32 = 211;
const GRAPH: i32 = 212;
const DISTRIBUTED: i32 = 213;

/// `MPI_UNWEIGHTED` and `MPI_WEIGHTS_EMPTY`.
const UNWEIGHTED: usize = 10;
const WEIGHTS_EMPTY: usize = 11;

/// How the ranks of a communicator lie.
pub(crate) enum Topology {
    Grid(Grid),
    Graph(Graph),
    Distributed(DistributedGraph),
}

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

/// A graph that all ranks know.
pub(crate) struct Graph {
    /// Where the neighbours of each rank end.
    ends: Vec<i32>,
    edges: Vec<i32>,
}

impl Graph {
    fn of(&self, rank: usize) -> &[i32] {
        let start = if rank == 0 { 0 } else { self.ends[rank - 1] as usize };
        &self.edges[start..self.ends[rank] as usize]
    }

    pub(crate) fn neighbours(&self, rank: usize) -> impl Iterator<Item = usize> {
        self.of(rank).iter().map(|neighbour| *neighbour as usize)
    }
}

/// What a rank knows of a graph: its own edges.
pub(crate) struct DistributedGraph {
    pub(crate) sources: Vec<usize>,
    pub(crate) destinations: Vec<usize>,
    /// Weights of both, if there are any.
    weights: Option<[Vec<i32>; 2]>,
}

/// # Safety
/// There are so many numbers.
unsafe fn numbers<'n>(count: usize, numbers: *const i32) -> &'n [i32] {
    // SAFETY: the caller says so.
    if count == 0 { &[] } else { unsafe { slice::from_raw_parts(numbers, count) } }
}

/// A count that is not below zero.
fn counted(count: i32) -> Result<usize, Fault> {
    usize::try_from(count).map_err(|_| Class::ARG.into())
}

/// The topology of a communicator, of the kind that `pick` picks.
fn topology<C: Core, R>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    pick: impl FnOnce(&Communicator, &Topology) -> Option<Result<R, Fault>>,
) -> Result<R, Fault> {
    let comm = here.communicator(handle)?;
    let topology = comm.topology.borrow().clone();
    let picked = topology.as_ref().and_then(|topology| pick(&comm, topology));
    picked.unwrap_or_else(|| Err(Class::TOPOLOGY.into())).map_err(|fault| fault.on_comm(handle))
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

fn graph<C: Core, R>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    action: impl FnOnce(&Graph) -> Result<R, Fault>,
) -> Result<R, Fault> {
    topology(here, handle, |_, topology| match topology {
        Topology::Graph(graph) => Some(action(graph)),
        _ => None,
    })
}

/// Makes a communicator of the first ranks of another one, with a topology. Ranks stay where they are.
fn make<C: Core>(here: &Here<'_, '_, '_, C>, handle: Handle, size: usize, topology: Topology) -> Result<Handle, Fault> {
    let comm = here.intra(handle)?;
    here.session.before_waiting();
    let context = here.agree(&here.party(&comm)).map_err(|fault| fault.on_comm(handle))?;
    let group = Group::new(comm.group.ranks()[..size].iter().copied());
    let made = here.assemble(context, [Some(group), None], &comm);
    if made != COMM_NULL {
        *here.communicator(made)?.topology.borrow_mut() = Some(Rc::new(topology));
    }
    Ok(made)
}

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them.

pub(super) unsafe fn cart_create<C: Core>(
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

pub(super) unsafe fn cartdim_get<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    dimensions: *mut i32,
) -> Result<(), Fault> {
    let count = grid(here, comm, |_, grid| Ok(grid.dimensions()))?;
    // SAFETY: see above.
    unsafe { dimensions.write(count as i32) };
    Ok(())
}

pub(super) unsafe fn cart_get<C: Core>(
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

pub(super) unsafe fn cart_rank<C: Core>(
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

pub(super) unsafe fn cart_coords<C: Core>(
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

pub(super) unsafe fn cart_shift<C: Core>(
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

pub(super) unsafe fn cart_sub<C: Core>(
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
        super::communicators::comm_split(here, handle, color as i32, key as i32, made)?;
        *here.communicator(made.read())?.topology.borrow_mut() = Some(Rc::new(Topology::Grid(part)));
    }
    Ok(())
}

/// Ranks stay where they are, as far as there are places.
fn mapped<C: Core>(here: &Here<'_, '_, '_, C>, comm: Handle, size: usize) -> Result<i32, Fault> {
    let comm = here.communicator(comm)?;
    if size > comm.size() {
        return Err(Class::DIMS.into());
    }
    Ok(if comm.rank < size { comm.rank as i32 } else { UNDEFINED })
}

pub(super) unsafe fn cart_map<C: Core>(
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

pub(super) unsafe fn graph_map<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    nodes: i32,
    _ends: *const i32,
    _edges: *const i32,
    rank: *mut i32,
) -> Result<(), Fault> {
    let place = mapped(here, comm, counted(nodes)?).map_err(|fault| fault.on_comm(comm))?;
    // SAFETY: see above.
    unsafe { rank.write(place) };
    Ok(())
}

/// Fills in lengths that are zero: as equal as they can be, and the largest first.
pub(super) unsafe fn dims_create<C: Core>(
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

pub(super) unsafe fn topo_test<C: Core>(here: &Here<'_, '_, '_, C>, comm: Handle, kind: *mut i32) -> Result<(), Fault> {
    let comm = here.communicator(comm)?;
    let found = match comm.topology.borrow().as_deref() {
        None => UNDEFINED,
        Some(Topology::Grid(_)) => GRID,
        Some(Topology::Graph(_)) => GRAPH,
        Some(Topology::Distributed(_)) => DISTRIBUTED,
    };
    // SAFETY: see above.
    unsafe { kind.write(found) };
    Ok(())
}

pub(super) unsafe fn graph_create<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    nodes: i32,
    ends: *const i32,
    edges: *const i32,
    _may_reorder: i32,
    made: *mut Handle,
) -> Result<(), Fault> {
    let (limit, count) = (here.intra(comm)?.size(), counted(nodes).map_err(|fault| fault.on_comm(comm))?);
    // SAFETY: see above.
    let ends = unsafe { numbers(count, ends) };
    let edge_count = counted(ends.last().copied().unwrap_or(0)).map_err(|fault| fault.on_comm(comm))?;
    // SAFETY: see above.
    let edges = unsafe { numbers(edge_count, edges) };
    let are_right =
        ends.is_sorted() && ends.iter().all(|end| *end >= 0) && edges.iter().all(|to| (0..nodes).contains(to));
    if count > limit || !are_right {
        return Err(Fault::from(Class::ARG).on_comm(comm));
    }
    let created = if count == 0 {
        make(here, comm, 0, Topology::Graph(Graph { ends: Vec::new(), edges: Vec::new() }))?
    } else {
        make(here, comm, count, Topology::Graph(Graph { ends: ends.to_vec(), edges: edges.to_vec() }))?
    };
    // SAFETY: see above.
    unsafe { made.write(created) };
    Ok(())
}

pub(super) unsafe fn graphdims_get<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    nodes: *mut i32,
    edges: *mut i32,
) -> Result<(), Fault> {
    let (ends, count) = graph(here, comm, |graph| Ok((graph.ends.len(), graph.edges.len())))?;
    // SAFETY: see above.
    unsafe {
        nodes.write(ends as i32);
        edges.write(count as i32);
    }
    Ok(())
}

pub(super) unsafe fn graph_get<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    most_ends: i32,
    most_edges: i32,
    ends: *mut i32,
    edges: *mut i32,
) -> Result<(), Fault> {
    graph(here, comm, |graph| {
        // SAFETY: see above.
        unsafe {
            write_all(&graph.ends, counted(most_ends)?, ends);
            write_all(&graph.edges, counted(most_edges)?, edges);
        }
        Ok(())
    })
}

/// # Safety
/// There is room for so many numbers.
unsafe fn write_all(all: &[i32], most: usize, target: *mut i32) {
    for (at, number) in all.iter().take(most).enumerate() {
        // SAFETY: the caller says so.
        unsafe { target.add(at).write(*number) };
    }
}

fn neighbours_of<C: Core, R>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    rank: i32,
    action: impl FnOnce(&[i32]) -> Result<R, Fault>,
) -> Result<R, Fault> {
    graph(here, comm, |graph| {
        let rank = usize::try_from(rank).ok().filter(|rank| *rank < graph.ends.len()).ok_or(Class::RANK)?;
        action(graph.of(rank))
    })
}

pub(super) unsafe fn graph_neighbors_count<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    rank: i32,
    count: *mut i32,
) -> Result<(), Fault> {
    let found = neighbours_of(here, comm, rank, |neighbours| Ok(neighbours.len()))?;
    // SAFETY: see above.
    unsafe { count.write(found as i32) };
    Ok(())
}

pub(super) unsafe fn graph_neighbors<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    rank: i32,
    most: i32,
    neighbours: *mut i32,
) -> Result<(), Fault> {
    neighbours_of(here, comm, rank, |all| {
        // SAFETY: see above.
        unsafe { write_all(all, counted(most)?, neighbours) };
        Ok(())
    })
}

/// Ranks of a communicator that C names.
fn ranks(all: &[i32], size: usize) -> Result<Vec<usize>, Fault> {
    let rank = |rank: &i32| usize::try_from(*rank).ok().filter(|rank| *rank < size).ok_or_else(|| Class::ARG.into());
    all.iter().map(rank).collect()
}

pub(super) unsafe fn dist_graph_create_adjacent<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    [source_count, destination_count]: [i32; 2],
    [sources, source_weights, destinations, destination_weights]: [*const i32; 4],
    made: *mut Handle,
) -> Result<(), Fault> {
    let work = || {
        let size = here.intra(comm)?.size();
        let counts = [counted(source_count)?, counted(destination_count)?];
        // SAFETY: see above.
        unsafe {
            let is_weighted = source_weights.addr() != UNWEIGHTED && destination_weights.addr() != UNWEIGHTED;
            let weights = |count: usize, weights: *const i32| {
                if weights.addr() == WEIGHTS_EMPTY { Vec::new() } else { numbers(count, weights).to_vec() }
            };
            let graph = DistributedGraph {
                sources: ranks(numbers(counts[0], sources), size)?,
                destinations: ranks(numbers(counts[1], destinations), size)?,
                weights: is_weighted
                    .then(|| [weights(counts[0], source_weights), weights(counts[1], destination_weights)]),
            };
            made.write(make(here, comm, size, Topology::Distributed(graph))?);
        }
        Ok(())
    };
    work().map_err(|fault: Fault| fault.on_comm(comm))
}

/// Each rank names edges of any ranks; all are told to those at their ends.
pub(super) unsafe fn dist_graph_create<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    count: i32,
    [from, degrees, to, weights]: [*const i32; 4],
    made: *mut Handle,
) -> Result<(), Fault> {
    let work = || {
        let comm = here.intra(handle)?;
        here.session.before_waiting();
        let (size, count) = (comm.size(), counted(count)?);
        let is_weighted = weights.addr() != UNWEIGHTED;
        let mut own: Vec<i32> = vec![is_weighted.into()];
        // SAFETY: see above.
        unsafe {
            let mut next = 0;
            for at in 0..count {
                for _ in 0..counted(degrees.add(at).read())? {
                    let has_weight = is_weighted && weights.addr() != WEIGHTS_EMPTY;
                    let weight = if has_weight { weights.add(next).read() } else { 0 };
                    own.extend([from.add(at).read(), to.add(next).read(), weight]);
                    next += 1;
                }
            }
        }
        ranks(&own[1..].chunks(3).flat_map(|edge| [edge[0], edge[1]]).collect::<Vec<_>>(), size)?;
        let lens = here.gather_all_bytes(&comm, &(own.len() as u32).to_le_bytes())?;
        let word = |bytes: &[u8]| bytes.first_chunk().map_or(0, |word| i32::from_le_bytes(*word));
        let most = lens.iter().map(|len| word(len) as usize).max().unwrap_or(0);
        let mut bytes: Vec<u8> = own.iter().flat_map(|number| number.to_le_bytes()).collect();
        bytes.resize(4 * most, 0);
        let mut graph = DistributedGraph { sources: Vec::new(), destinations: Vec::new(), weights: None };
        let mut all_weights = [Vec::new(), Vec::new()];
        for (told, len) in here.gather_all_bytes(&comm, &bytes)?.iter().zip(&lens) {
            let numbers: Vec<_> = told.chunks(4).take(word(len) as usize).map(word).collect();
            for edge in numbers[1..].chunks(3) {
                if edge[1] as usize == comm.rank {
                    graph.sources.push(edge[0] as usize);
                    all_weights[0].push(edge[2]);
                }
                if edge[0] as usize == comm.rank {
                    graph.destinations.push(edge[1] as usize);
                    all_weights[1].push(edge[2]);
                }
            }
        }
        graph.weights = is_weighted.then_some(all_weights);
        // SAFETY: see above.
        unsafe { made.write(make(here, handle, size, Topology::Distributed(graph))?) };
        Ok(())
    };
    work().map_err(|fault: Fault| fault.on_comm(handle))
}

fn distributed<C: Core, R>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    action: impl FnOnce(&DistributedGraph) -> Result<R, Fault>,
) -> Result<R, Fault> {
    topology(here, handle, |_, topology| match topology {
        Topology::Distributed(graph) => Some(action(graph)),
        _ => None,
    })
}

pub(super) unsafe fn dist_graph_neighbors_count<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    sources: *mut i32,
    destinations: *mut i32,
    is_weighted: *mut i32,
) -> Result<(), Fault> {
    distributed(here, comm, |graph| {
        // SAFETY: see above.
        unsafe {
            sources.write(graph.sources.len() as i32);
            destinations.write(graph.destinations.len() as i32);
            is_weighted.write(graph.weights.is_some().into());
        }
        Ok(())
    })
}

pub(super) unsafe fn dist_graph_neighbors<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    most: [i32; 2],
    targets: [*mut i32; 2],
    weights: [*mut i32; 2],
) -> Result<(), Fault> {
    distributed(here, comm, |graph| {
        for (side, all) in [&graph.sources, &graph.destinations].into_iter().enumerate() {
            let most = counted(most[side])?;
            let all: Vec<_> = all.iter().map(|rank| *rank as i32).collect();
            // SAFETY: see above.
            unsafe {
                write_all(&all, most, targets[side]);
                if let Some(known) = &graph.weights
                    && weights[side].addr() != UNWEIGHTED
                {
                    write_all(&known[side], most, weights[side]);
                }
            }
        }
        Ok(())
    })
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
