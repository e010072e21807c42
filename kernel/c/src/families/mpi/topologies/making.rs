//! How communicators with a topology are made and asked for it.

use alloc::rc::Rc;

use kernel::hal::Core;

use super::{
    super::{
        class::{Class, Fault},
        communicators::Communicator,
        constants::{COMM_NULL, UNDEFINED},
        groups::Group,
        handles::Handle,
        place::Place,
        state::Here,
    },
    Topology,
};

/// `MPI_CART`, `MPI_GRAPH`, `MPI_DIST_GRAPH`.
const GRID: i32 = 211;
const GRAPH: i32 = 212;
const DISTRIBUTED: i32 = 213;

/// The topology of a communicator, of the kind that `pick` picks.
pub(crate) fn topology<C: Core, R>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    pick: impl FnOnce(&Communicator, &Topology) -> Option<Result<R, Fault>>,
) -> Result<R, Fault> {
    let comm = here.communicator(handle)?;
    let topology = comm.topology.borrow().clone();
    let picked = topology.as_ref().and_then(|topology| pick(&comm, topology));
    picked.unwrap_or_else(|| Err(Class::TOPOLOGY.into())).map_err(|fault| fault.on_comm(handle))
}

/// Makes a communicator of the first ranks of another one, with a topology, if all ranks have one to make. Ranks stay where they are.
pub(crate) fn make<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: &Communicator,
    wanted: Result<(usize, Topology), Fault>,
) -> Result<Handle, Fault> {
    here.session.before_waiting();
    let (context, (size, topology)) = here.agree_on(comm, wanted).map_err(|fault| comm.blame(fault))?;
    let group = Group::new(comm.group.ranks()[..size].iter().copied());
    let made = here.assemble(context, [Some(group), None], comm.errhandler.get());
    if made != COMM_NULL {
        *here.communicator(made)?.topology.borrow_mut() = Some(Rc::new(topology));
    }
    Ok(made)
}

/// Ranks stay where they are, as far as there are places.
pub(crate) fn mapped<C: Core>(here: &Here<'_, '_, '_, C>, comm: Handle, size: usize) -> Result<i32, Fault> {
    let comm = here.communicator(comm)?;
    if size > comm.size() {
        return Err(Class::DIMS.into());
    }
    Ok(if comm.rank < size { comm.rank as i32 } else { UNDEFINED })
}

pub(crate) fn topo_test<C: Core>(here: &Here<'_, '_, '_, C>, comm: Handle, kind: Place<i32>) -> Result<(), Fault> {
    let comm = here.communicator(comm)?;
    let found = match comm.topology.borrow().as_deref() {
        None => UNDEFINED,
        Some(Topology::Grid(_)) => GRID,
        Some(Topology::Graph(_)) => GRAPH,
        Some(Topology::Distributed(_)) => DISTRIBUTED,
    };
    kind.write(found);
    Ok(())
}
