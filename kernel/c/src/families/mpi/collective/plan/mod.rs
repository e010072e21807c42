//! What an operation of all is to do: what a program says, looked at once.

pub(crate) mod described;

use alloc::{rc::Rc, vec::Vec};

use super::{
    super::{
        class::{Class, Fault},
        communicators::Communicator,
        datatypes::{Datatype, buffers::check_buffer},
        operators::Operator,
    },
    blocks::Block,
    neighbours::Neighbours,
};

/// Operations, as `atoll/mpi.h` numbers them. Those with counts for each rank are the same ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Barrier,
    Broadcast,
    Gather,
    Scatter,
    Allgather,
    Alltoall,
    Reduce,
    Allreduce,
    ReduceScatter,
    Scan,
    Exscan,
    NeighbourAllgather,
    NeighbourAlltoall,
}

/// Who is the root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Root {
    /// This rank, here or in an intercommunicator.
    Here,
    /// A rank of the own group, or of the other one of an intercommunicator.
    At(usize),
    /// Another rank of this group of an intercommunicator; this one has nothing to do.
    Beside,
}

/// The blocks of one side, one for each rank.
pub(crate) enum Blocks {
    /// One behind the other, each like the first.
    Alike(Block),
    Each(Vec<Block>),
}

impl Blocks {
    pub(crate) fn get(&self, at: usize) -> Block {
        match self {
            Self::Alike(first) => first.at((at * first.count) as isize, first.count),
            Self::Each(all) => all[at].clone(),
        }
    }

    /// The first one.
    pub(crate) fn first(&self) -> Result<Block, Fault> {
        match self {
            Self::Alike(first) => Ok(first.clone()),
            Self::Each(all) => all.first().cloned().ok_or_else(|| Class::ARG.into()),
        }
    }

    /// With these many blocks.
    pub(crate) fn numbered(&self, count: usize) -> Vec<(usize, Block)> {
        (0..count).map(|at| (at, self.get(at))).collect()
    }
}

/// What an operation is to do.
pub(crate) struct Plan {
    pub(crate) kind: Kind,
    pub(crate) comm: Rc<Communicator>,
    pub(crate) root: Root,
    /// What this rank sends: nothing if it is in place, or this rank has nothing to send.
    pub(crate) sends: Option<Blocks>,
    pub(crate) receives: Option<Blocks>,
    /// Results take the place of operands.
    pub(crate) is_in_place: bool,
    pub(crate) operator: Option<Rc<Operator>>,
    pub(crate) neighbours: Option<Neighbours>,
}

impl Plan {
    /// The operands of a reduction, which lie where the results come if they are in place.
    pub(crate) fn operands(&self) -> Result<Block, Fault> {
        if let Some(sends) = &self.sends {
            let first = sends.first()?;
            // One block of each rank, of which only the result's length is known.
            if self.kind == Kind::ReduceScatter {
                return Ok(first.at(0, self.all_results()?.count));
            }
            return Ok(first);
        }
        if self.kind == Kind::ReduceScatter { self.all_results() } else { self.results() }
    }

    pub(crate) fn results(&self) -> Result<Block, Fault> {
        self.receives.as_ref().ok_or(Class::ARG)?.first()
    }

    /// Of a reduction whose result is divided: all of it, as if it came where this rank's part does.
    pub(crate) fn all_results(&self) -> Result<Block, Fault> {
        let parts = self.receives.as_ref().ok_or(Class::ARG)?;
        let first = parts.first()?;
        let count = (0..self.comm.size()).try_fold(0_usize, |sum, rank| sum.checked_add(parts.get(rank).count));
        let count = count.ok_or(Class::COUNT)?;
        first.datatype.size_of(count)?;
        Ok(first.at(0, count))
    }

    /// Refuses what this rank sends where it receives: `MPI_IN_PLACE` says so.
    fn check_places(&self) -> Result<(), Fault> {
        if !matches!(self.kind, Kind::Gather | Kind::Scatter | Kind::Allgather | Kind::Alltoall) {
            return Ok(());
        }
        if let (Some(sends), Some(receives)) = (&self.sends, &self.receives) {
            let own = |blocks: &Blocks, is_divided: bool| blocks.get(if is_divided { self.comm.rank } else { 0 });
            let sent = own(sends, matches!(self.kind, Kind::Scatter | Kind::Alltoall));
            let received = own(receives, self.kind != Kind::Scatter);
            check_apart(&sent, &received)?;
        }
        Ok(())
    }

    fn check_reduction(&self) -> Result<(), Fault> {
        let Some(operator) = &self.operator else { return Ok(()) };
        let datatype: Rc<Datatype> = match (&self.sends, &self.receives) {
            (Some(blocks), _) | (None, Some(blocks)) => blocks.first()?.datatype,
            (None, None) => return Ok(()),
        };
        operator.check(&datatype)?;
        if let (Some(_), Some(receives)) = (&self.sends, &self.receives) {
            let part = if self.kind == Kind::ReduceScatter { self.comm.rank } else { 0 };
            let operands = self.operands()?;
            check_buffer(operands.address, operands.count, &operands.datatype)?;
            // Of results that are divided, this rank's part comes where all receives begin.
            check_apart(&operands, &receives.first()?.at(0, receives.get(part).count))?;
        }
        Ok(())
    }
}

/// Whether there are values, which begin at the block's address.
fn is_plain(block: &Block) -> bool {
    block.len_bytes() > 0 && block.datatype.is_contiguous()
}

/// Refuses values that begin where those received do. Where types have gaps, addresses do not say it.
fn check_apart(sent: &Block, received: &Block) -> Result<(), Fault> {
    if sent.address == received.address && is_plain(sent) && is_plain(received) {
        return Err(Fault::new(Class::BUFFER, "it sends from where it receives; name MPI_IN_PLACE"));
    }
    Ok(())
}
