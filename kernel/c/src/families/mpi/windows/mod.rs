//! Windows: memory of a rank's that others put to and get from.
//!
//! A program's memory is private: on a machine without coherence nobody but its owner can read or write it as the owner sees it.
//! So origins do not reach it. They say what they want ([wire]), by calls (`collectives::matched`) that the target answers in
//! whatever it waits for, a call of MPI or any other wait, and it is the target that reads, writes and computes ([part]). What
//! follows from that:
//!
//! * the memory may be anywhere, of any length, static, on the stack, in the heap, attached later: nothing is copied to a twin, and
//!   the model is `MPI_WIN_UNIFIED`, as on a machine with coherence. Shared windows are the exception (`MPI_WIN_SEPARATE`);
//! * all that is done to a part is done by one rank, one thing after the other: every accumulate is atomic, and those of one
//!   origin are in order;
//! * a target that computes without a call of MPI keeps its origins waiting, which the standard's section on progress allows.
//!
//! What goes to one target is done in order, so that one answer says that all before it is done: a flush costs one call and its
//! answer, an unlock too. A lock is a call and a grant; with `MPI_Win_lock_all` only of those targets that are accessed. A post and
//! a completion are one call each. A put's data, up to 512 bytes, are copied when it is called; a
//! longer put returns when its target has the data. Either way it is complete at its origin then. After each MiB that is queued for a target
//! by puts and accumulates the origin waits for its answer.

pub(crate) mod access;
mod arguments;
pub(crate) mod calls;
mod declared;
mod ends;
mod epochs;
mod locks;
mod making;
mod operations;
mod part;
mod queries;
mod shared;
mod shown;
mod synchronisation;
mod wire;

use alloc::{
    collections::{BTreeMap, BTreeSet},
    ffi::CString,
    rc::Rc,
    vec::Vec,
};
use core::cell::{Cell, RefCell};

use kernel::hal::Core;

use self::{
    ends::{AllEnds, Ends},
    epochs::Epochs,
    shared::Shared,
};
use super::{
    attributes::Attributes,
    class::Class,
    communicators::Communicator,
    handles::{Handle, Kind, Slab},
    infos::Info,
};

/// The windows of a rank.
pub(crate) struct Windows {
    ends: Rc<AllEnds>,
    all: RefCell<Slab<Rc<Window>>>,
    /// How many this rank has numbered.
    numbered: Cell<u32>,
}

impl Windows {
    pub(crate) fn new() -> Self {
        Self { ends: Rc::default(), all: RefCell::new(Slab::new(Kind::Window)), numbered: Cell::new(0) }
    }

    /// The window of a handle.
    ///
    /// # Errors
    /// [`Class::WIN`].
    pub(crate) fn get(&self, handle: Handle) -> Result<Rc<Window>, Class> {
        self.all.borrow().get(handle).cloned().ok_or(Class::WIN)
    }

    /// After something that other ranks may have been heard of by: no shared memory here is older than what they have written.
    ///
    /// # Safety
    /// Nothing that waits has borrowed memory of the program.
    pub(crate) unsafe fn catch_up<C: Core>(&self, hal: &C) {
        // SAFETY: 1. the caller says so; 2. what is pending has no mutable reference to such memory (`Engine::receive`); 3. by the standard
        // of MPI, others do not write to what this rank sends meanwhile.
        unsafe { self.ends.catch_up(hal) };
    }

    /// Whether this rank has got a lock of any of them: an epoch that has asked for none yet keeps nobody waiting.
    fn have_locks(&self) -> bool {
        self.all.borrow().iter().any(|window| window.ends.has_locks())
    }
}

/// What the attributes of a window that are always there point to.
struct Facts {
    base: Cell<usize>,
    size: isize,
    unit: i32,
    flavor: i32,
    model: i32,
}

/// A window.
pub(crate) struct Window {
    /// A communicator of its own, of the same ranks as the program's.
    comm: Rc<Communicator>,
    ends: Rc<Ends>,
    epochs: RefCell<Epochs>,
    /// Bytes of each rank's part, and of what displacements are counted in; nothing if it is dynamic.
    parts: Option<Vec<(i64, i64)>>,
    facts: Facts,
    name: RefCell<CString>,
    /// Hints that the standard names, as the program has given them; they change nothing.
    hints: RefCell<Info>,
    pub(crate) errhandler: Cell<Handle>,
    attributes: Attributes,
    /// Its memory, if all ranks reach all of it.
    shared: Option<Rc<Shared>>,
    /// Targets where something may not be done yet, and about how many bytes were queued for them since they last answered a flush.
    open: RefCell<BTreeMap<usize, usize>>,
    /// Targets that this rank has locked alone.
    alone: RefCell<BTreeSet<usize>>,
}
