//! Communicators.

pub(crate) mod agreement;
pub(crate) mod making;
pub(crate) mod queries;
pub(crate) mod ranks;

use alloc::{ffi::CString, rc::Rc};
use core::cell::{Cell, RefCell};

use super::{
    attributes::Attributes,
    buffered::Buffered,
    class::Fault,
    constants::{COMM_NULL, COMM_SELF, COMM_WORLD},
    contexts::{self, Context},
    groups::Group,
    handles::{Handle, Slab},
    topologies::Topology,
};

/// Those that are always there.
pub(crate) const FIRST: [Handle; 2] = [COMM_WORLD, COMM_SELF];

/// A communicator.
pub(crate) struct Communicator {
    pub(crate) number: Rc<Context>,
    pub(crate) group: Rc<Group>,
    /// The other group of an intercommunicator.
    pub(crate) remote: Option<Rc<Group>>,
    /// Of this rank in its group.
    pub(crate) rank: usize,
    /// Operations of all so far, and persistent ones that were made.
    operations: Cell<u32>,
    persistent: Cell<u32>,
    name: RefCell<CString>,
    pub(crate) errhandler: Cell<Handle>,
    pub(crate) attributes: Attributes,
    /// Its own buffer for buffered sends, if one is attached.
    pub(crate) buffered: Rc<RefCell<Buffered>>,
    pub(crate) topology: RefCell<Option<Rc<Topology>>>,
    /// Its own handle; none once the program has freed it.
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
            number: Rc::new(context),
            rank: group.place(world_rank)?,
            group,
            remote,
            operations: Cell::new(0),
            persistent: Cell::new(0),
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
            number: Rc::new(context),
            group: self.group.clone(),
            remote: self.remote.clone(),
            rank: self.rank,
            operations: Cell::new(0),
            persistent: Cell::new(0),
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

    /// The same as an error of this one's, also when it was freed: its handle may be another one's by then.
    pub(crate) fn blame(&self, fault: Fault) -> Fault {
        match self.handle.get() {
            COMM_NULL => fault.on_handler(self.errhandler.get()),
            handle => fault.on_comm(handle),
        }
    }

    /// The number that its messages have.
    pub(crate) fn context(&self) -> u32 {
        self.number.number()
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
        contexts::of_operation(self.context(), next(&self.operations))
    }

    /// The tag of the next persistent one that is made, which has it each time that it is started.
    pub(crate) fn next_persistent(&self) -> u32 {
        contexts::of_persistent(self.context(), next(&self.persistent))
    }
}

fn next(numbers: &Cell<u32>) -> u32 {
    let number = numbers.get();
    numbers.set(number.wrapping_add(1));
    number
}
