//! What MPI knows of a rank, and where its functions are called.

use alloc::rc::Rc;
use core::cell::{Cell, RefCell};

use kernel::{
    collectives::{Comm, Messages},
    hal::Core,
};

use super::{
    attributes::{Keys, Predefined},
    buffered::Buffered,
    class::{Class, Fault},
    communicators::{Communicator, FIRST},
    contexts::{Contexts, TAG_LIMIT},
    datatypes::Datatypes,
    declarations::Declarations,
    engine::Engine,
    errors::{self, Added, Handler},
    groups::Group,
    handles::{Handle, Kind, Slab},
    infos::Info,
    matched_probes::Found,
    operators::Operators,
    partitioned::Offers,
    requests::Request,
    windows::Windows,
};
use crate::session::Session;

/// What there has been of `MPI_Init` and `MPI_Finalize`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    Before,
    Running,
    Over,
}

/// What MPI knows of a rank.
pub(crate) struct Mpi<'r, C: Core> {
    pub(crate) world: &'r Comm<'r, C>,
    pub(super) phase: Cell<Phase>,
    /// The level of threads that `MPI_Init` has given.
    pub(super) thread_level: Cell<i32>,
    pub(super) messages: RefCell<Option<Messages<'r, C>>>,
    pub(super) engine: Rc<Engine<'r, C>>,
    pub(super) contexts: Rc<Contexts>,
    /// `MPI_COMM_WORLD` and `MPI_COMM_SELF`.
    pub(super) first: RefCell<Option<[Rc<Communicator>; 2]>>,
    pub(super) communicators: Rc<RefCell<Slab<Rc<Communicator>>>>,
    pub(super) groups: RefCell<Slab<Rc<Group>>>,
    pub(super) requests: RefCell<Slab<Request>>,
    pub(super) partitioned: Rc<Offers>,
    /// The error handler of `MPI_FILE_NULL`.
    pub(super) file_handler: Cell<Handle>,
    /// Error handlers of sessions.
    pub(super) sessions: RefCell<Slab<Handle>>,
    /// Messages that a matched probe has found.
    pub(super) found: RefCell<Slab<Found<'r, C>>>,
    pub(super) infos: RefCell<Slab<Info>>,
    pub(super) buffered: Rc<RefCell<Buffered>>,
    pub(crate) keys: Keys,
    pub(super) predefined: Predefined,
    pub(super) errhandlers: RefCell<Slab<Handler>>,
    pub(super) added: RefCell<Added>,
    pub(crate) datatypes: Rc<Datatypes>,
    pub(crate) operators: Operators,
    pub(super) windows: Rc<Windows>,
    pub(super) declared: Declarations,
}

impl<'r, C: Core> Mpi<'r, C> {
    /// Before `MPI_Init`.
    pub(super) fn new(world: &'r Comm<'r, C>) -> Self {
        let datatypes = Rc::new(Datatypes::new());
        Self {
            world,
            phase: Cell::new(Phase::Before),
            thread_level: Cell::new(0),
            messages: RefCell::default(),
            engine: Rc::new(Engine::new(world)),
            contexts: Contexts::new(),
            first: RefCell::default(),
            communicators: Rc::new(RefCell::new(Slab::new(Kind::Comm))),
            groups: RefCell::new(Slab::new(Kind::Group)),
            requests: RefCell::new(Slab::new(Kind::Request)),
            partitioned: Rc::default(),
            file_handler: Cell::new(errors::RETURN),
            sessions: RefCell::new(Slab::new(Kind::Session)),
            found: RefCell::new(Slab::new(Kind::Message)),
            infos: RefCell::new(Slab::new(Kind::Info)),
            buffered: Rc::default(),
            keys: Keys::default(),
            predefined: Predefined::new(world.size(), TAG_LIMIT),
            errhandlers: RefCell::new(Slab::new(Kind::Errhandler)),
            added: RefCell::default(),
            operators: Operators::new(&datatypes),
            datatypes,
            windows: Rc::new(Windows::new()),
            declared: Declarations::default(),
        }
    }

    /// Whatever this rank waits for from now on, its tasks go on.
    pub(super) fn drive_tasks(&self) {
        let engine = self.engine.clone();
        let work: Rc<dyn Fn() + 'r> = Rc::new(move || engine.go_on());
        // SAFETY: the work is taken back before this ends (see `drop`), and what it has lives longer than this.
        let work = unsafe { core::mem::transmute::<Rc<dyn Fn() + 'r>, Rc<dyn Fn()>>(work) };
        self.world.work_while_waiting(Some(work));
    }

    /// The communicator of a handle.
    pub(crate) fn communicator(&self, handle: Handle) -> Result<Rc<Communicator>, Fault> {
        if let Some(at) = FIRST.iter().position(|first| *first == handle) {
            return match &*self.first.borrow() {
                Some(first) if self.phase.get() == Phase::Running => Ok(first[at].clone()),
                _ if self.phase.get() == Phase::Before => Err(Fault::new(Class::OTHER, "call MPI_Init first")),
                _ => Err(Fault::new(Class::OTHER, "MPI_Finalize has been called")),
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

/// Where a function of MPI is called.
pub(crate) struct Here<'h, 's, 'r, C: Core> {
    pub(crate) session: &'h Session<'s, 'r, C>,
    pub(super) mpi: &'h Mpi<'r, C>,
}

impl<'r, C: Core> core::ops::Deref for Here<'_, '_, 'r, C> {
    type Target = Mpi<'r, C>;

    fn deref(&self) -> &Mpi<'r, C> {
        self.mpi
    }
}
