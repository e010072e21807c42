//! The non-blocking operations of a rank that are outstanding, and what makes them go on.

use alloc::{boxed::Box, collections::VecDeque, rc::Rc, vec::Vec};
use core::cell::{Cell, OnceCell, RefCell};

use hal::{Clock, Core, CoreId, LINE_BYTES, Line, Place, Poll, Reason, Span, TimedOut};

use crate::{Comm, Error, comm::engines::Engine};

use super::{
    REQUESTS,
    lines::{CHUNK_BYTES, Lines},
    operation::{Kind, Operation, Want},
};

/// Numbers of the first chunks in lines that hold 0.
const FIRST_CHUNKS: [u32; REQUESTS] = [1; REQUESTS];

/// What was found in a line that an operation waited for.
type Found = (usize, Want, Line);

/// Operations that have the same lines, in the order in which they were begun, each with its number. One goes on when all before it are
/// done; those that are done are there until they are taken.
type Queue = VecDeque<(usize, Operation)>;

/// The operation of a queue that goes on.
fn current(queue: &Queue) -> Option<&(usize, Operation)> {
    queue.iter().find(|(_, operation)| !operation.is_done())
}

/// Lets the operations of a queue go on as far as they get. One that is done may have to say what it has taken.
fn go_on(queue: &mut Queue, hal: &impl Core, tell: impl Fn(usize)) {
    for (_, operation) in queue {
        operation.go_on(hal, &tell);
        if !operation.is_done() {
            break;
        }
    }
}

/// The operations that are outstanding, each in the queue for its lines.
pub(crate) struct Outstanding {
    /// The cores of the communicator's ranks: any wait of this core drives its operations.
    cores: OnceCell<Box<[CoreId]>>,
    queues: RefCell<[Queue; REQUESTS]>,
    /// What the next look is for, and what the last one has found.
    watched: RefCell<Vec<(usize, Want)>>,
    found: RefCell<Vec<Found>>,
    /// Number of the next chunk of each queue's lines.
    next: Cell<[u32; REQUESTS]>,
    /// Lines of how many operations there are, and the number of the next operation.
    lines: Cell<usize>,
    begun: Cell<usize>,
    /// How many times something went on.
    steps: Cell<u64>,
}

impl Default for Outstanding {
    fn default() -> Self {
        Self {
            cores: OnceCell::new(),
            queues: RefCell::default(),
            watched: RefCell::default(),
            found: RefCell::default(),
            next: Cell::new(FIRST_CHUNKS),
            lines: Cell::new(1),
            begun: Cell::new(0),
            steps: Cell::new(0),
        }
    }
}

impl Outstanding {
    /// Begins an operation, and does what it can do at once. Returns its number.
    pub(super) fn begin<C: Core>(&self, comm: &Comm<'_, C>, kind: Kind, data: Vec<u8>) -> usize {
        let words = comm.operation_words();
        self.lines.set(if words.is_some() { 1 } else { comm.mpb_layout().requests() });
        let number = self.begun.get();
        let place = self.place(number);
        self.cores.get_or_init(|| comm.members().cores().into());
        let at = words.map_or_else(
            || Lines::Mpb(comm.mpb_layout().request(place)),
            |(region, first)| Lines::Words(region, first),
        );
        let mut next = self.next.get();
        let operation = Operation::new(kind, (comm.rank(), comm.size()), at, next[place], data);
        next[place] = operation.next();
        self.next.set(next);
        self.begun.set(number + 1);
        let queue = &mut self.queues.borrow_mut()[place];
        queue.push_back((number, operation));
        go_on(queue, comm.hal(), |rank| comm.alert(comm.core_of(rank)));
        number
    }

    /// The queue of an operation.
    fn place(&self, number: usize) -> usize {
        number % self.lines.get()
    }

    /// What `find` makes of an operation.
    fn with<R>(&self, number: usize, find: impl FnOnce(&Operation) -> R) -> Option<R> {
        let queues = self.queues.borrow();
        let (_, operation) = queues[self.place(number)].iter().find(|(of, _)| *of == number)?;
        Some(find(operation))
    }

    fn check_none(&self) -> Result<(), Error> {
        let is_none = self.queues.borrow().iter().all(Queue::is_empty);
        if is_none { Ok(()) } else { Err(Error::RequestsOutstanding) }
    }

    /// Whether an operation is done.
    pub(crate) fn is_done(&self, number: usize) -> bool {
        self.with(number, Operation::is_done).unwrap_or(true)
    }

    /// The data of an operation, which is given up.
    fn end(&self, number: usize) -> Vec<u8> {
        let queue = &mut self.queues.borrow_mut()[self.place(number)];
        let at = queue.iter().position(|(of, _)| *of == number);
        at.and_then(|at| queue.remove(at)).map_or_else(Vec::new, |(_, operation)| operation.data)
    }

    /// How many times something went on, and which chunk an operation waits for, from whom.
    fn progress(&self, number: usize) -> (u64, u32, Option<usize>) {
        let find =
            |operation: &Operation| (operation.first_undone(), operation.wants().next().map(|(_, rank, _)| rank));
        let (chunk, rank) = self.with(number, find).unwrap_or_default();
        (self.steps.get(), chunk, rank)
    }
}

impl<C: Core> Engine<C> for Outstanding {
    fn is_idle(&self) -> bool {
        self.queues.borrow().iter().all(|queue| current(queue).is_none())
    }

    fn add_places(&self, _: &Comm<'_, C>, places: &mut Vec<Place>) {
        let cores = self.cores.get().map_or(&[][..], |cores| cores);
        let mut watched = self.watched.borrow_mut();
        watched.clear();
        for (number, operation) in self.queues.borrow().iter().filter_map(current) {
            for (want, rank, line) in operation.wants() {
                watched.push((*number, want));
                places.extend(operation.lines().places(cores[rank], (rank, line)));
            }
        }
    }

    fn has_news(&self, _: &Comm<'_, C>, poll: &Poll<'_>, first: usize) -> bool {
        let mut found = self.found.borrow_mut();
        found.clear();
        let mut at = first;
        for &(number, want) in self.watched.borrow().iter() {
            let with_data = !matches!(want, Want::Taken(_));
            let find =
                |operation: &Operation| operation.lines().find(poll, at, with_data, |line| operation.finds(want, line));
            let Some((line, places)) = self.with(number, find) else { continue };
            at += places;
            found.extend(line.map(|line| (number, want, line)));
        }
        !found.is_empty()
    }

    fn handle(&self, comm: &Comm<'_, C>) -> bool {
        let mut queues = self.queues.borrow_mut();
        for (number, want, line) in self.found.borrow_mut().drain(..) {
            let queue = &mut queues[self.place(number)];
            if let Some((_, operation)) = queue.iter_mut().find(|(of, _)| *of == number) {
                operation.take(comm.hal(), want, &line);
            }
        }
        let cores = self.cores.get().map_or(&[][..], |cores| cores);
        queues.iter_mut().for_each(|queue| go_on(queue, comm.hal(), |rank| comm.alert(cores[rank])));
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
    pub(crate) fn outstanding(&self) -> &Outstanding {
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
    /// Waits until an operation is done.
    ///
    /// # Errors
    /// [`Error::TimedOut`] on a dying machine.
    pub(crate) fn await_operation(&self, number: usize, name: &'static str, len_bytes: usize) -> Result<(), Error> {
        let _span = self.hal().span(Span::new("wait for request").of(len_bytes));
        let outstanding = self.outstanding();
        while !outstanding.is_done(number) {
            let (steps, chunk, rank) = outstanding.progress(number);
            let mut reason = Reason::new(name).number(chunk);
            if let Some(rank) = rank {
                reason = reason.from(self.core_of(rank));
            }
            let went_on = || (outstanding.steps.get() != steps).then_some(());
            self.wait_for_engines(reason, went_on).map_err(|TimedOut { reason }| Error::TimedOut { reason })?;
        }
        Ok(())
    }

    /// Takes the result of an operation that is done.
    pub(crate) fn take_operation(&self, number: usize) -> Vec<u8> {
        let data = self.outstanding().end(number);
        account_long_copy(self.hal(), data.len());
        data
    }

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

/// Accounts for the copy between the buffer and where an operation works, which others may drive while the buffer is
/// borrowed. A single chunk is in L1 all the time; its read or write of memory is accounted for where it is combined
/// or taken.
pub(super) fn account_long_copy(hal: &impl Clock, len: usize) {
    if len > CHUNK_BYTES {
        hal.account_memory(len.div_ceil(LINE_BYTES), len.div_ceil(LINE_BYTES));
    }
}
