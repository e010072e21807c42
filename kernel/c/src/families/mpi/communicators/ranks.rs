//! What the ranks of a communicator do together: agree, gather, wait for each other.

use alloc::{rc::Rc, vec::Vec};

use kernel::{collectives::collective::nonblocking::schedules::Peers, hal::Core};

use super::{
    super::{
        class::{Class, Fault},
        collective::party::Party,
        constants::COMM_NULL,
        contexts::{self, Context, Contexts},
        errors::ARE_FATAL,
        groups::Group,
        handles::Handle,
        state::Mpi,
    },
    Communicator, FIRST,
    agreement::{Bridge, agree},
};

impl<'r, C: Core> Mpi<'r, C> {
    /// Makes the communicators that are always there.
    pub(crate) fn make_first(&self) {
        let rank = self.world.rank();
        let groups = [Group::new(0..self.world.size()), Group::new([rank])];
        let mut made = groups.into_iter().zip(0..).zip(FIRST).zip([c"MPI_COMM_WORLD", c"MPI_COMM_SELF"]).filter_map(
            |(((group, number), handle), name)| {
                let comm = Communicator::new(self.contexts.take(number)?, [Some(group), None], rank, ARE_FATAL)?;
                *comm.name.borrow_mut() = name.into();
                comm.handle.set(handle);
                Some(Rc::new(comm))
            },
        );
        *self.first.borrow_mut() = made.next().zip(made.next()).map(<[_; 2]>::from);
    }

    /// The ranks of the next operation of all on a communicator; the peers are those of the other group of an
    /// intercommunicator.
    pub(crate) fn party(&self, comm: &Communicator) -> Party<'r, C> {
        self.party_with(comm, comm.next_operation())
    }

    pub(crate) fn party_with(&self, comm: &Communicator, tag: u32) -> Party<'r, C> {
        Party::new(&self.engine, (&comm.group, comm.rank), comm.peers(), tag)
    }

    /// Waits until all ranks of a communicator's group are here.
    pub(crate) fn barrier(&self, comm: &Communicator) -> Result<(), Fault> {
        Party::wait(&self.engine, self.party(comm).local().barrier())
    }

    /// Waits until all ranks of a communicator's group are here, and fails if anything has at any of them: with the rank's own error
    /// there, and at the others with this reason.
    pub(crate) fn all_or_none(
        &self,
        comm: &Communicator,
        own: Result<(), Fault>,
        why: &'static str,
    ) -> Result<(), Fault> {
        let mut are_well = alloc::vec![u8::from(own.is_ok())];
        let party = self.party(comm).local();
        Party::wait(&self.engine, async { party.combine_bytes(&mut are_well, Contexts::common).await })?;
        own?;
        if are_well == [1] { Ok(()) } else { Err(Fault::new(Class::OTHER, why)) }
    }

    /// The bytes of all ranks of a communicator's group, of which each has as many.
    pub(crate) fn gather_all_bytes(&self, comm: &Communicator, own: &[u8]) -> Result<Vec<Vec<u8>>, Fault> {
        Party::wait(&self.engine, self.party(comm).local().gather_all_bytes(own))
    }

    /// A number for a communicator that all ranks of a communicator can use, those of the other group of an
    /// intercommunicator, too; and what this rank goes on with. Where that is an error at any rank, all fail, and nobody waits for it.
    pub(crate) fn agree_on<T>(&self, comm: &Communicator, own: Result<T, Fault>) -> Result<(Context, T), Fault> {
        let contexts = if own.is_ok() { self.contexts.clone() } else { Contexts::refusal() };
        let number = Party::wait(&self.engine, agreed(self.party(comm), comm.remote.is_some(), contexts));
        let own = own?;
        Ok((number?, own))
    }

    /// Makes a communicator with an error handler, if this rank is in it.
    pub(crate) fn assemble(&self, context: Context, groups: [Option<Rc<Group>>; 2], errhandler: Handle) -> Handle {
        let made = Communicator::new(context, groups, self.world.rank(), errhandler);
        made.map_or(COMM_NULL, |made| Communicator::add(made, &self.communicators).handle.get())
    }

    /// An intracommunicator.
    pub(crate) fn intra(&self, handle: Handle) -> Result<Rc<Communicator>, Fault> {
        let comm = self.communicator(handle)?;
        match comm.remote {
            None => Ok(comm),
            Some(_) => Err(Fault::new(Class::COMM, "it takes an intracommunicator").on_comm(handle)),
        }
    }

    /// Forgets a communicator. Its number can be used again when nothing on it is under way and no request of it is left.
    pub(crate) fn discard(&self, comm: &Communicator) {
        self.communicators.borrow_mut().remove(comm.handle.replace(COMM_NULL));
    }

    /// Copies a communicator, with its topology, but without what is attached to it.
    pub(crate) fn copy(&self, comm: &Communicator) -> Result<Rc<Communicator>, Fault> {
        Ok(Communicator::add(comm.copied(self.agree_on(comm, Ok(()))?.0), &self.communicators))
    }
}

/// A number that all ranks of an operation's group can use, and if it is one of an intercommunicator those of the other group.
pub(super) async fn agreed<'r, C: Core>(
    party: Party<'r, C>,
    is_inter: bool,
    contexts: Rc<Contexts>,
) -> Result<Context, Fault> {
    let bridge = is_inter.then(|| Bridge::of(&party));
    agree(&party.local(), bridge.as_ref(), &contexts, contexts::mixed(party.tag)).await
}
