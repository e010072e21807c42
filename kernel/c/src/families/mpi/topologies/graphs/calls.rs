//! Graphs: the functions that a program calls.

use alloc::vec::Vec;
use core::iter;

use kernel::hal::Core;

use super::{
    super::{
        super::{
            class::{Class, Fault},
            constants::COMM_NULL,
            handles::Handle,
            place::{Place, give_list, values},
            state::Here,
        },
        Topology, counted,
        making::{make, mapped, topology},
    },
    DistributedGraph, Graph, ranks,
};

/// `MPI_UNWEIGHTED` and `MPI_WEIGHTS_EMPTY`.
const UNWEIGHTED: usize = 10;
const WEIGHTS_EMPTY: usize = 11;

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

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them.

pub(crate) fn graph_map<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    nodes: i32,
    _ends: *const i32,
    _edges: *const i32,
    rank: Place<i32>,
) -> Result<(), Fault> {
    let place = counted(nodes).and_then(|size| mapped(here, comm, size)).map_err(|fault| fault.on_comm(comm))?;
    rank.write(place);
    Ok(())
}

pub(crate) unsafe fn graph_create<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    nodes: i32,
    ends: *const i32,
    edges: *const i32,
    _may_reorder: i32,
    made: Place<Handle>,
) -> Result<(), Fault> {
    made.write(COMM_NULL);
    let comm = here.intra(handle)?;
    let wanted = || {
        let count = counted(nodes)?;
        // SAFETY: see above.
        let ends = unsafe { values(count, ends)? };
        // SAFETY: see above.
        let edges = unsafe { values(counted(ends.last().copied().unwrap_or(0))?, edges)? };
        let are_right =
            ends.is_sorted() && ends.iter().all(|end| *end >= 0) && edges.iter().all(|to| (0..nodes).contains(to));
        if count > comm.size() || !are_right {
            return Err(Class::ARG.into());
        }
        Ok((count, Topology::Graph(Graph { ends: ends.to_vec(), edges: edges.to_vec() })))
    };
    made.write(make(here, &comm, wanted())?);
    Ok(())
}

pub(crate) fn graphdims_get<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    nodes: Place<i32>,
    edges: Place<i32>,
) -> Result<(), Fault> {
    let (ends, count) = graph(here, comm, |graph| Ok((graph.ends.len(), graph.edges.len())))?;
    nodes.write(ends as i32);
    edges.write(count as i32);
    Ok(())
}

pub(crate) unsafe fn graph_get<C: Core>(
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
            give_list(ends, graph.ends.iter().copied().take(counted(most_ends)?))?;
            give_list(edges, graph.edges.iter().copied().take(counted(most_edges)?))?;
        }
        Ok(())
    })
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

pub(crate) fn graph_neighbors_count<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    rank: i32,
    count: Place<i32>,
) -> Result<(), Fault> {
    let found = neighbours_of(here, comm, rank, |neighbours| Ok(neighbours.len()))?;
    count.write(found as i32);
    Ok(())
}

pub(crate) unsafe fn graph_neighbors<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    rank: i32,
    most: i32,
    neighbours: *mut i32,
) -> Result<(), Fault> {
    neighbours_of(here, comm, rank, |all| {
        // SAFETY: see above.
        unsafe { give_list(neighbours, all.iter().copied().take(counted(most)?))? };
        Ok(())
    })
}

pub(crate) unsafe fn dist_graph_create_adjacent<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    [source_count, destination_count]: [i32; 2],
    [sources, source_weights, destinations, destination_weights]: [*const i32; 4],
    made: Place<Handle>,
) -> Result<(), Fault> {
    made.write(COMM_NULL);
    let comm = here.intra(handle)?;
    let wanted = || {
        let size = comm.size();
        let counts = [counted(source_count)?, counted(destination_count)?];
        // SAFETY: see above.
        unsafe {
            let is_weighted = source_weights.addr() != UNWEIGHTED && destination_weights.addr() != UNWEIGHTED;
            let weights = |count: usize, weights: *const i32| {
                if weights.addr() == WEIGHTS_EMPTY {
                    Ok(Vec::new())
                } else {
                    values(count, weights).map(<[i32]>::to_vec)
                }
            };
            let graph = DistributedGraph {
                sources: ranks(values(counts[0], sources)?, size)?,
                destinations: ranks(values(counts[1], destinations)?, size)?,
                weights: if is_weighted {
                    Some([weights(counts[0], source_weights)?, weights(counts[1], destination_weights)?])
                } else {
                    None
                },
            };
            Ok((size, Topology::Distributed(graph)))
        }
    };
    made.write(make(here, &comm, wanted())?);
    Ok(())
}

/// Each rank names edges of any ranks; all are told to those at their ends.
pub(crate) unsafe fn dist_graph_create<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    count: i32,
    [from, degrees, to, weights]: [*const i32; 4],
    made: Place<Handle>,
) -> Result<(), Fault> {
    made.write(COMM_NULL);
    let comm = here.intra(handle)?;
    here.session.before_waiting();
    let (size, is_weighted) = (comm.size(), weights.addr() != UNWEIGHTED);
    let named = || {
        let count = counted(count)?;
        let mut own: Vec<i32> = Vec::new();
        // SAFETY: see above.
        unsafe {
            let degrees =
                values(count, degrees)?.iter().map(|degree| counted(*degree)).collect::<Result<Vec<_>, _>>()?;
            let edges = degrees.iter().try_fold(0_usize, |sum, degree| sum.checked_add(*degree)).ok_or(Class::ARG)?;
            let has_weights = is_weighted && weights.addr() != WEIGHTS_EMPTY;
            let weights = if has_weights { values(edges, weights)? } else { &[] };
            let from = values(count, from)?.iter().zip(degrees).flat_map(|(from, degree)| iter::repeat_n(from, degree));
            for (at, (from, to)) in from.zip(values(edges, to)?).enumerate() {
                own.extend([*from, *to, weights.get(at).copied().unwrap_or(0)]);
            }
        }
        ranks(&own.chunks(3).flat_map(|edge| [edge[0], edge[1]]).collect::<Vec<_>>(), size)?;
        Ok(own)
    };
    // A rank with wrong arguments names no edges, and then no graph is made.
    let (own, checked) = named().map_or_else(|fault| (Vec::new(), Err(fault)), |own| (own, Ok(())));
    let work = || {
        let lens = here.gather_all_bytes(&comm, &(own.len() as u32).to_le_bytes())?;
        let word = |bytes: &[u8]| bytes.first_chunk().map_or(0, |word| i32::from_le_bytes(*word));
        let most = lens.iter().map(|len| word(len) as usize).max().unwrap_or(0);
        let mut bytes: Vec<u8> = own.iter().flat_map(|number| number.to_le_bytes()).collect();
        bytes.resize(4 * most, 0);
        let mut graph = DistributedGraph { sources: Vec::new(), destinations: Vec::new(), weights: None };
        let mut all_weights = [Vec::new(), Vec::new()];
        for (told, len) in here.gather_all_bytes(&comm, &bytes)?.iter().zip(&lens) {
            let numbers: Vec<_> = told.chunks(4).take(word(len) as usize).map(word).collect();
            for edge in numbers.chunks(3) {
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
        made.write(make(here, &comm, checked.map(|()| (size, Topology::Distributed(graph))))?);
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

pub(crate) fn dist_graph_neighbors_count<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    sources: Place<i32>,
    destinations: Place<i32>,
    is_weighted: Place<i32>,
) -> Result<(), Fault> {
    distributed(here, comm, |graph| {
        sources.write(graph.sources.len() as i32);
        destinations.write(graph.destinations.len() as i32);
        is_weighted.write(graph.weights.is_some().into());
        Ok(())
    })
}

pub(crate) unsafe fn dist_graph_neighbors<C: Core>(
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
                give_list(targets[side], all.into_iter().take(most))?;
                if let Some(known) = &graph.weights
                    && weights[side].addr() != UNWEIGHTED
                {
                    give_list(weights[side], known[side].iter().copied().take(most))?;
                }
            }
        }
        Ok(())
    })
}
