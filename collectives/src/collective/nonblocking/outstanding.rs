//! The non-blocking operations of a rank that are outstanding, and what makes them go on.

use alloc::{boxed::Box, rc::Rc, vec::Vec};
use core::cell::{Cell, OnceCell, RefCell};

use hal::{Core, CoreId, Line, Place, Poll};

use crate::{Comm, Error, comm::engines::Engine};

use super::{
    REQUESTS,
    lines::Lines,
    operation::{Kind, Operation, Want},
};

/// Numbers of the first chunks in lines that hold 0.
const FIRST_CHUNKS: [u32; REQUESTS] = [1; REQUESTS];

/// What was found in a line that an operation waited for.
type Found = (usize, Want, Line);

/// The operations that are outstanding, each in its place.
pub(super) struct Outstanding {
    /// The cores of the communicator's ranks: any wait of this core drives its operations.
    cores: OnceCell<Box<[CoreId]>>,
    operations: RefCell<[Option<Operation>; REQUESTS]>,
    /// What the next look is for, and what the last one has found.
    watched: RefCell<Vec<(usize, Want)>>,
    found: RefCell<Vec<Found>>,
    /// Number of the next chunk of each place's lines.
    next: Cell<[u32; REQUESTS]>,
    begun: Cell<usize>,
    /// How many times something went on.
    steps: Cell<u64>,
}

impl Default for Outstanding {
    fn default() -> Self {
        Self {
            cores: OnceCell::new(),
            operations: RefCell::default(),
            watched: RefCell::default(),
            found: RefCell::default(),
            next: Cell::new(FIRST_CHUNKS),
            begun: Cell::new(0),
            steps: Cell::new(0),
        }
    }
}

impl Outstanding {
    /// Begins an operation, and does what it can do at once. Returns its place.
    pub(super) fn begin<C: Core>(&self, comm: &Comm<'_, C>, kind: Kind, data: Vec<u8>) -> Result<usize, Error> {
        let words = comm.operation_words();
        let limit = if words.is_some() { 1 } else { comm.mpb_layout().requests() };
        let mut operations = self.operations.borrow_mut();
        let place = self.begun.get().checked_rem(limit).filter(|place| operations[*place].is_none());
        let place = place.ok_or(Error::TooManyRequests { limit })?;
        self.cores.get_or_init(|| comm.members().cores().into());
        let at = words.map_or_else(
            || Lines::Mpb(comm.mpb_layout().request(place)),
            |(region, first)| Lines::Words(region, first),
        );
        let mut next = self.next.get();
        let mut operation = Operation::new(kind, (comm.rank(), comm.size()), at, next[place], data);
        next[place] = operation.next();
        self.next.set(next);
        self.begun.set(self.begun.get() + 1);
        operation.go_on(comm.hal(), |rank| comm.alert(comm.core_of(rank)));
        operations[place] = Some(operation);
        Ok(place)
    }

    fn check_none(&self) -> Result<(), Error> {
        let is_none = self.operations.borrow().iter().all(Option::is_none);
        if is_none { Ok(()) } else { Err(Error::RequestsOutstanding) }
    }

    /// Whether the operation at a place is done.
    pub(super) fn is_done(&self, place: usize) -> bool {
        self.operations.borrow()[place].as_ref().is_none_or(Operation::is_done)
    }

    /// The data of the operation at a place, which is given up.
    pub(super) fn end(&self, place: usize) -> Vec<u8> {
        self.operations.borrow_mut()[place].take().map_or_else(Vec::new, |operation| operation.data)
    }

    /// How many times something went on, and which chunk the operation at a place waits for, from whom.
    pub(super) fn progress(&self, place: usize) -> (u64, u32, Option<usize>) {
        let operations = self.operations.borrow();
        let (chunk, rank) = operations[place].as_ref().map_or((0, None), |operation| {
            (operation.first_undone(), operation.wants().next().map(|(_, rank, _)| rank))
        });
        (self.steps.get(), chunk, rank)
    }

    pub(super) fn steps(&self) -> u64 {
        self.steps.get()
    }
}

impl<C: Core> Engine<C> for Outstanding {
    fn is_idle(&self) -> bool {
        self.operations.borrow().iter().flatten().all(Operation::is_done)
    }

    fn add_places(&self, _: &Comm<'_, C>, places: &mut Vec<Place>) {
        let cores = self.cores.get().map_or(&[][..], |cores| cores);
        let mut watched = self.watched.borrow_mut();
        watched.clear();
        for (place, operation) in self.operations.borrow().iter().enumerate() {
            let Some(operation) = operation else { continue };
            for (want, rank, line) in operation.wants() {
                watched.push((place, want));
                places.extend(operation.lines().places(cores[rank], (rank, line)));
            }
        }
    }

    fn has_news(&self, _: &Comm<'_, C>, poll: &Poll<'_>, first: usize) -> bool {
        let operations = self.operations.borrow();
        let mut found = self.found.borrow_mut();
        found.clear();
        let mut at = first;
        for &(place, want) in self.watched.borrow().iter() {
            let Some(operation) = &operations[place] else { continue };
            let with_data = !matches!(want, Want::Taken(_));
            let (line, places) = operation.lines().find(poll, at, with_data, |line| operation.finds(want, line));
            at += places;
            found.extend(line.map(|line| (place, want, line)));
        }
        !found.is_empty()
    }

    fn handle(&self, comm: &Comm<'_, C>) -> bool {
        let mut operations = self.operations.borrow_mut();
        for (place, want, line) in self.found.borrow_mut().drain(..) {
            if let Some(operation) = &mut operations[place] {
                operation.take(comm.hal(), want, &line);
            }
        }
        let cores = self.cores.get().map_or(&[][..], |cores| cores);
        for operation in operations.iter_mut().flatten() {
            operation.go_on(comm.hal(), |rank| comm.alert(cores[rank]));
        }
        self.steps.set(self.steps.get() + 1);
        // Operations end.
        false
    }
}

/// The non-blocking operations of a communicator.
#[derive(Default)]
struct Requests(Rc<Outstanding>);

impl<C> Comm<'_, C> {
    /// The operations that are outstanding.
    pub(super) fn outstanding(&self) -> &Outstanding {
        &self.state::<Requests>().0
    }

    /// Refuses if an operation of this rank has not been completed.
    ///
    /// # Errors
    /// [`Error::RequestsOutstanding`].
    pub(crate) fn check_no_requests(&self) -> Result<(), Error> {
        self.outstanding().check_none()
    }

    /// The lines of all operations are cleared, and none is outstanding.
    pub(crate) fn restart_requests(&self) {
        self.outstanding().next.set(FIRST_CHUNKS);
    }
}

impl<C: Core> Comm<'_, C> {
    /// From now on waits drive what is outstanding.
    pub(super) fn drive_requests(&self) {
        self.engines().add(self.state::<Requests>().0.clone());
    }

    /// None is outstanding, and none will be.
    pub(crate) fn end_requests(&self) {
        let engine: Rc<dyn Engine<C>> = self.state::<Requests>().0.clone();
        self.engines().remove(&engine);
    }
}

/// Whom an operation waits for, as a core.
pub(super) fn core_of<C>(comm: &Comm<'_, C>, rank: Option<usize>) -> Option<CoreId> {
    rank.map(|rank| comm.core_of(rank))
}
