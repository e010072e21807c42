//! What the C side says of an operation of all.

use alloc::{rc::Rc, vec::Vec};
use core::ffi::c_char;

use kernel::hal::Core;

use super::{
    super::{
        super::{
            class::{Class, Fault},
            communicators::Communicator,
            constants::{IN_PLACE, PROC_NULL, ROOT},
            handles::Handle,
            state::Mpi,
        },
        neighbours::Neighbours,
    },
    Blocks, Kind, Plan, Root,
};

const KINDS: [Kind; 13] = [
    Kind::Barrier,
    Kind::Broadcast,
    Kind::Gather,
    Kind::Scatter,
    Kind::Allgather,
    Kind::Alltoall,
    Kind::Reduce,
    Kind::Allreduce,
    Kind::ReduceScatter,
    Kind::Scan,
    Kind::Exscan,
    Kind::NeighbourAllgather,
    Kind::NeighbourAlltoall,
];

/// One side's buffer, as `struct atoll_mpi_side`.
#[repr(C)]
pub(crate) struct CSide {
    address: *mut u8,
    count: i64,
    datatype: Handle,
    /// For each rank, or null pointers.
    counts: *const u8,
    places: *const u8,
    datatypes: *const Handle,
}

/// A call, as `struct atoll_mpi_collective`.
#[repr(C)]
pub(crate) struct CCollective {
    pub(crate) name: *const c_char,
    kind: i32,
    pub(crate) form: i32,
    /// Whether counts are `MPI_Count`, and places `MPI_Aint`.
    has_wide_counts: i32,
    has_wide_places: i32,
    send: CSide,
    receive: CSide,
    operator: Handle,
    root: i32,
    pub(crate) comm: Handle,
}

impl CSide {
    fn is_in_place(&self) -> bool {
        self.address.addr() == IN_PLACE
    }

    /// The blocks for so many ranks. Of those that are other ranks', if this has only one that is `own`, only the lengths count.
    ///
    /// # Safety
    /// Where there are counts, places and datatypes for each rank, there are so many.
    unsafe fn blocks<C: Core>(
        &self,
        mpi: &Mpi<'_, C>,
        count: usize,
        own: Option<usize>,
        kind: Kind,
        wide: [bool; 2],
    ) -> Result<Blocks, Fault> {
        if count == 0 {
            return Ok(Blocks::Each(Vec::new()));
        }
        if self.counts.is_null() && self.places.is_null() && self.datatypes.is_null() {
            // All of them together have to fit, too.
            mpi.block_anywhere(self.address, self.count.saturating_mul(count as i64), self.datatype)?;
            return Ok(Blocks::Alike(mpi.block(self.address, self.count, self.datatype)?));
        }
        let block = |at: usize| {
            // SAFETY: the caller says so.
            let (number, place) = unsafe {
                let number: i64 = match wide[0] {
                    _ if self.counts.is_null() => self.count,
                    true => self.counts.cast::<i64>().add(at).read(),
                    false => self.counts.cast::<i32>().add(at).read().into(),
                };
                let place: isize = match wide[1] {
                    _ if self.places.is_null() => 0,
                    true => self.places.cast::<isize>().add(at).read(),
                    false => self.places.cast::<i32>().add(at).read() as isize,
                };
                (number, place)
            };
            if self.places.is_null() && kind != Kind::ReduceScatter {
                return Err(Fault::new(Class::ARG, "there are counts, and no displacements"));
            }
            // SAFETY: the caller says so.
            let datatype = match self.datatypes.is_null() {
                true => self.datatype,
                // SAFETY: the caller says so.
                false => unsafe { self.datatypes.add(at).read() },
            };
            let extent = if self.datatypes.is_null() { mpi.datatypes.get(datatype)?.extent() } else { 1 };
            let offset = place.wrapping_mul(extent);
            let address = if number == 0 { self.address } else { self.address.wrapping_offset(offset) };
            if own.is_some_and(|own| own != at) {
                return mpi.block_anywhere(address, number, datatype);
            }
            if self.datatypes.is_null() {
                // What displacements are counted from has to be there, too.
                mpi.block(self.address, number, datatype)?;
            }
            mpi.block(address, number, datatype)
        };
        Ok(Blocks::Each((0..count).map(block).collect::<Result<_, _>>()?))
    }
}

impl CCollective {
    pub(crate) fn kind(&self) -> Kind {
        KINDS[self.kind as usize]
    }

    /// # Safety
    /// As for [`collective`](super::collective).
    pub(crate) unsafe fn plan<C: Core>(&self, mpi: &Mpi<'_, C>) -> Result<Rc<Plan>, Fault> {
        let (kind, comm) = (self.kind(), mpi.communicator(self.comm)?);
        let wide = [self.has_wide_counts != 0, self.has_wide_places != 0];
        let root = self.root(kind, &comm)?;
        let is_inter = comm.remote.is_some();
        let peers = comm.peers().size();
        let neighbours = match kind {
            Kind::NeighbourAllgather | Kind::NeighbourAlltoall => Some(Neighbours::of(&comm)?),
            _ => None,
        };
        let operator = match kind {
            Kind::Reduce | Kind::Allreduce | Kind::ReduceScatter | Kind::Scan | Kind::Exscan => {
                Some(mpi.operators.get(self.operator)?)
            }
            _ => None,
        };
        if is_inter && matches!(kind, Kind::Scan | Kind::Exscan) {
            return Err(Fault::new(Class::COMM, "it takes an intracommunicator"));
        }
        let is_root = root == Root::Here;
        // On an intercommunicator the root does one thing, and the ranks of the other group do the other.
        let at_root = is_root;
        let at_others = if is_inter { matches!(root, Root::At(_)) } else { true };
        let [sent, received] = match kind {
            Kind::Barrier => [None, None],
            Kind::Broadcast => {
                let is_mine = root != Root::Beside;
                [None, is_mine.then_some(1)]
            }
            Kind::Gather => [at_others.then_some(1), at_root.then_some(peers)],
            Kind::Scatter => [at_root.then_some(peers), at_others.then_some(1)],
            Kind::Allgather => [Some(1), Some(peers)],
            Kind::Alltoall => [Some(peers), Some(peers)],
            Kind::Reduce => [at_others.then_some(1), at_root.then_some(1)],
            Kind::Allreduce | Kind::Scan | Kind::Exscan => [Some(1), Some(1)],
            Kind::ReduceScatter => [Some(1), Some(comm.size())],
            Kind::NeighbourAllgather | Kind::NeighbourAlltoall => {
                let neighbours = neighbours.as_ref().map_or((0, 0), Neighbours::counts);
                let sent = if kind == Kind::NeighbourAllgather { 1 } else { neighbours.1 };
                [Some(sent), Some(neighbours.0)]
            }
        };
        // Where a rank may leave its own values where they are; other ranks' buffers are ignored.
        let may_be = match kind {
            Kind::Gather | Kind::Reduce => [is_root, false],
            Kind::Scatter => [false, is_root],
            Kind::Allgather | Kind::Alltoall => [true, false],
            Kind::Allreduce | Kind::ReduceScatter | Kind::Scan | Kind::Exscan => [true, false],
            Kind::Barrier | Kind::Broadcast | Kind::NeighbourAllgather | Kind::NeighbourAlltoall => [false, false],
        };
        let are = [sent.is_some() && self.send.is_in_place(), received.is_some() && self.receive.is_in_place()];
        let is_in_place = are[0] || are[1];
        if is_in_place && is_inter {
            return Err(Fault::new(Class::BUFFER, "MPI_IN_PLACE is for intracommunicators"));
        }
        if are[0] && !may_be[0] || are[1] && !may_be[1] {
            return Err(Fault::new(Class::BUFFER, "MPI_IN_PLACE stands for no buffer here"));
        }
        // SAFETY: the caller says so.
        let side = |side: &CSide, count: Option<usize>, own: Option<usize>| unsafe {
            match count.filter(|_| !side.is_in_place()) {
                Some(count) => side.blocks(mpi, count, own, kind, wide).map(Some),
                None => Ok(None),
            }
        };
        // In place, the operands of all ranks' parts are there.
        let own = (kind == Kind::ReduceScatter && !is_in_place).then_some(comm.rank);
        let (sends, receives) = (side(&self.send, sent, None)?, side(&self.receive, received, own)?);
        let plan = Plan { kind, comm, root, sends, receives, is_in_place, operator, neighbours };
        plan.check_reduction()?;
        if !is_inter {
            plan.check_places()?;
        }
        Ok(Rc::new(plan))
    }

    fn root(&self, kind: Kind, comm: &Communicator) -> Result<Root, Fault> {
        if !matches!(kind, Kind::Broadcast | Kind::Gather | Kind::Scatter | Kind::Reduce) {
            return Ok(Root::Here);
        }
        match usize::try_from(self.root) {
            Ok(root) if comm.remote.is_none() && root == comm.rank => Ok(Root::Here),
            Ok(root) if root < comm.peers().size() => Ok(Root::At(root)),
            Err(_) if comm.remote.is_some() && self.root == ROOT => Ok(Root::Here),
            Err(_) if comm.remote.is_some() && self.root == PROC_NULL => Ok(Root::Beside),
            _ => Err(Fault::new(Class::ROOT, alloc::format!("root {} of {}", self.root, comm.peers().size()))),
        }
    }
}
