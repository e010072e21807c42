//! Communicators.

pub(crate) mod agreement;
pub(crate) mod making;
pub(crate) mod queries;

use alloc::{
    rc::Rc,
    string::{String, ToString},
    vec::Vec,
};
use core::cell::{Cell, RefCell};

use kernel::hal::Core;

use self::agreement::{Bridge, agree};
use super::{
    Mpi,
    attributes::Attributes,
    buffered::Buffered,
    class::{Class, Fault},
    collective::party::Party,
    constants::{COMM_NULL, COMM_SELF, COMM_WORLD},
    contexts::{self, Context, Contexts},
    errors::ARE_FATAL,
    groups::Group,
    handles::{Handle, Slab},
    topologies::Topology,
};

/// Those that are always there.
pub(crate) const FIRST: [Handle; 2] = [COMM_WORLD, COMM_SELF];

/// A communicator.
pub(crate) struct Communicator {
    context: Context,
    pub(crate) group: Rc<Group>,
    /// The other group of an intercommunicator.
    pub(crate) remote: Option<Rc<Group>>,
    /// Of this rank in its group.
    pub(crate) rank: usize,
    /// Operations of all so far.
    operations: Cell<u32>,
    name: RefCell<String>,
    pub(crate) errhandler: Cell<Handle>,
    pub(crate) attributes: Attributes,
    /// Its own buffer for buffered sends, if one is attached.
    pub(crate) buffered: Rc<RefCell<Buffered>>,
    pub(crate) topology: RefCell<Option<Rc<Topology>>>,
    /// Its own handle.
    pub(crate) handle: Cell<Handle>,
}

impl Communicator {
    /// Of this rank of the world, with the error handler of another one.
    fn new(
        context: Context,
        [group, remote]: [Option<Rc<Group>>; 2],
        world_rank: usize,
        errhandler: Handle,
    ) -> Option<Self> {
        let group = group?;
        Some(Self {
            context,
            rank: group.place(world_rank)?,
            group,
            remote,
            operations: Cell::new(0),
            name: RefCell::default(),
            errhandler: Cell::new(errhandler),
            attributes: Attributes::default(),
            buffered: Rc::default(),
            topology: RefCell::default(),
            handle: Cell::new(COMM_NULL),
        })
    }

    /// The same ranks with the same topology by another number.
    fn copied(&self, context: Context) -> Self {
        Self {
            context,
            group: self.group.clone(),
            remote: self.remote.clone(),
            rank: self.rank,
            operations: Cell::new(0),
            name: RefCell::default(),
            errhandler: self.errhandler.clone(),
            attributes: Attributes::default(),
            buffered: Rc::default(),
            topology: self.topology.clone(),
            handle: Cell::new(COMM_NULL),
        }
    }

    /// Gives it a handle.
    fn add(self, all: &RefCell<Slab<Rc<Self>>>) -> Rc<Self> {
        let comm = Rc::new(self);
        comm.handle.set(all.borrow_mut().insert(comm.clone()));
        comm
    }

    /// The number that its messages have.
    pub(crate) fn context(&self) -> u32 {
        self.context.number()
    }

    pub(crate) fn size(&self) -> usize {
        self.group.size()
    }

    /// The group that ranks of messages are of.
    pub(crate) fn peers(&self) -> &Rc<Group> {
        self.remote.as_ref().unwrap_or(&self.group)
    }

    /// The tag of the next operation of all.
    fn next_operation(&self) -> u32 {
        let number = self.operations.get();
        self.operations.set(number.wrapping_add(1));
        contexts::of_operation(self.context(), number)
    }
}

impl<'r, C: Core> Mpi<'r, C> {
    /// Makes the communicators that are always there.
    pub(crate) fn make_first(&self) {
        let rank = self.world.rank();
        let groups = [Group::new(0..self.world.size()), Group::new([rank])];
        let mut made = groups.into_iter().zip(0..).zip(FIRST).zip(["MPI_COMM_WORLD", "MPI_COMM_SELF"]).filter_map(
            |(((group, number), handle), name)| {
                let comm = Communicator::new(self.contexts.take(number)?, [Some(group), None], rank, ARE_FATAL)?;
                *comm.name.borrow_mut() = name.to_string();
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

    pub(super) fn party_with(&self, comm: &Communicator, tag: u32) -> Party<'r, C> {
        Party {
            engine: self.engine.clone(),
            group: comm.group.clone(),
            rank: comm.rank,
            peers: comm.peers().clone(),
            tag,
        }
    }

    /// Waits until all ranks of a communicator's group are here.
    pub(crate) fn barrier(&self, comm: &Communicator) -> Result<(), Fault> {
        Party::wait(&self.engine, self.party(comm).local().barrier())
    }

    /// The bytes of all ranks of a communicator's group, of which each has as many.
    pub(crate) fn gather_all_bytes(&self, comm: &Communicator, own: &[u8]) -> Result<Vec<Vec<u8>>, Fault> {
        Party::wait(&self.engine, self.party(comm).local().gather_all_bytes(own))
    }

    /// A number for a communicator that all ranks of a communicator can use, those of the other group of an
    /// intercommunicator, too.
    pub(crate) fn agree_on(&self, comm: &Communicator) -> Result<Context, Fault> {
        Party::wait(&self.engine, agreed(self.party(comm), comm.remote.is_some(), self.contexts.clone()))
    }

    /// Makes a communicator, if this rank is in it.
    pub(super) fn assemble(&self, context: Context, groups: [Option<Rc<Group>>; 2], like: &Communicator) -> Handle {
        let made = Communicator::new(context, groups, self.world.rank(), like.errhandler.get());
        made.map_or(COMM_NULL, |made| Communicator::add(made, &self.communicators).handle.get())
    }

    /// An intracommunicator.
    pub(super) fn intra(&self, handle: Handle) -> Result<Rc<Communicator>, Fault> {
        let comm = self.communicator(handle)?;
        match comm.remote {
            None => Ok(comm),
            Some(_) => Err(Fault::new(Class::COMM, "it takes an intracommunicator").on_comm(handle)),
        }
    }

    /// Forgets a communicator. Its number can be used again when nothing of it is under way any more.
    pub(super) fn discard(&self, comm: &Communicator) {
        self.communicators.borrow_mut().remove(comm.handle.get());
    }

    /// Copies a communicator, with its topology, but without what is attached to it.
    pub(super) fn copy(&self, comm: &Communicator) -> Result<Rc<Communicator>, Fault> {
        Ok(Communicator::add(comm.copied(self.agree_on(comm)?), &self.communicators))
    }
}

/// A number that all ranks of an operation's group can use, and if it is one of an intercommunicator those of the other group.
async fn agreed<'r, C: Core>(party: Party<'r, C>, is_inter: bool, contexts: Rc<Contexts>) -> Result<Context, Fault> {
    let bridge = is_inter.then(|| Bridge::of(&party));
    agree(&party.local(), bridge.as_ref(), &contexts, contexts::mixed(party.tag)).await
}
