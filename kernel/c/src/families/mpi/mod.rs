//! MPI: what its C side asks for.
//!
//! Functions of programs are in C, beside this (`kernel/c/mpi`), one line each: they call through the [table]. Here is what they
//! do. All messages, and those of operations of all, go over messages with tags of the communicator of all ranks
//! (`collectives::matched`), whose tags say which communicator of the program they belong to ([contexts]); so communicators of the
//! program take no lines of the MPBs. The [engine] has what is under way: [messages], and [collective] operations, which are
//! written down once, as tasks, whether the program waits for them, or goes on meanwhile, or starts them again and again.

mod attributes;
mod buffered;
mod calls;
mod class;
mod collective;
mod communicators;
mod constants;
mod contexts;
mod datatypes;
mod declared;
mod engine;
mod environment;
mod errors;
mod groups;
mod handles;
mod infos;
mod intercommunicators;
mod matched_probes;
mod messages;
mod operators;
mod requests;
mod status;
mod table;
mod topologies;
mod windows;

use alloc::rc::Rc;
use core::cell::{Cell, RefCell};

use kernel::{
    collectives::{Comm, Messages},
    hal::Core,
};

use self::{
    attributes::{Keys, Predefined},
    buffered::Buffered,
    class::{Class, Fault},
    communicators::Communicator,
    contexts::{Contexts, TAG_LIMIT},
    datatypes::Datatypes,
    engine::Engine,
    errors::{Added, Handler},
    groups::Group,
    handles::{Handle, Kind, Slab},
    infos::Info,
    matched_probes::Found,
    operators::Operators,
    requests::Request,
    windows::Windows,
};

pub(crate) use self::table::Table;

/// What there has been of `MPI_Init` and `MPI_Finalize`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Before,
    Running,
    Over,
}

/// What MPI knows of a rank.
pub(crate) struct Mpi<'r, C: Core> {
    pub(crate) world: &'r Comm<'r, C>,
    phase: Cell<Phase>,
    messages: RefCell<Option<Messages<'r, C>>>,
    engine: Rc<Engine<'r, C>>,
    contexts: RefCell<Contexts>,
    /// `MPI_COMM_WORLD` and `MPI_COMM_SELF`.
    first: RefCell<Option<[Rc<Communicator>; 2]>>,
    communicators: RefCell<Slab<Rc<Communicator>>>,
    groups: RefCell<Slab<Rc<Group>>>,
    requests: RefCell<Slab<Request>>,
    /// Messages that a matched probe has found.
    found: RefCell<Slab<Found<'r, C>>>,
    infos: RefCell<Slab<Info>>,
    buffered: RefCell<Buffered>,
    pub(crate) keys: Keys,
    predefined: Predefined,
    errhandlers: RefCell<Slab<Handler>>,
    added: RefCell<Added>,
    pub(crate) datatypes: Datatypes,
    pub(crate) operators: Operators,
    windows: Rc<Windows>,
    declared: declared::Declared,
}

impl<'r, C: Core> Mpi<'r, C> {
    /// Before `MPI_Init`.
    fn new(world: &'r Comm<'r, C>) -> Self {
        Self {
            world,
            phase: Cell::new(Phase::Before),
            messages: RefCell::default(),
            engine: Rc::new(Engine::new(world)),
            contexts: RefCell::new(Contexts::new(communicators::FIRST.len() as u32)),
            first: RefCell::default(),
            communicators: RefCell::new(Slab::new(Kind::Comm)),
            groups: RefCell::new(Slab::new(Kind::Group)),
            requests: RefCell::new(Slab::new(Kind::Request)),
            found: RefCell::new(Slab::new(Kind::Message)),
            infos: RefCell::new(Slab::new(Kind::Info)),
            buffered: RefCell::default(),
            keys: Keys::default(),
            predefined: Predefined::new(world.size(), TAG_LIMIT),
            errhandlers: RefCell::new(Slab::new(Kind::Errhandler)),
            added: RefCell::default(),
            datatypes: Datatypes::new(),
            operators: Operators::new(),
            windows: Rc::new(Windows::new()),
            declared: declared::Declared::default(),
        }
    }

    /// Whatever this rank waits for from now on, its tasks go on.
    fn drive_tasks(&self) {
        let engine = self.engine.clone();
        let work: Rc<dyn Fn() + 'r> = Rc::new(move || engine.go_on());
        // SAFETY: the work is taken back before this ends (see `drop`), and what it has lives longer than this.
        let work = unsafe { core::mem::transmute::<Rc<dyn Fn() + 'r>, Rc<dyn Fn()>>(work) };
        self.world.work_while_waiting(Some(work));
    }

    /// The communicator of a handle.
    pub(crate) fn communicator(&self, handle: Handle) -> Result<Rc<Communicator>, Fault> {
        if let Some(at) = communicators::FIRST.iter().position(|first| *first == handle) {
            return match &*self.first.borrow() {
                Some(first) => Ok(first[at].clone()),
                None if self.phase.get() == Phase::Before => Err(Fault::new(Class::OTHER, "call MPI_Init first")),
                None => Err(Fault::new(Class::OTHER, "MPI_Finalize has been called")),
            };
        }
        self.communicators.borrow().get(handle).cloned().ok_or_else(|| Class::COMM.into())
    }
}

impl<C: Core> Drop for Mpi<'_, C> {
    fn drop(&mut self) {
        self.world.work_while_waiting(None);
    }
}
