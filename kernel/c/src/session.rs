//! What a rank knows while its program in C runs.

use core::cell::{Cell, RefCell};

use kernel::{
    Failure, Rank,
    collectives::Comm,
    hal::{Caches, Core},
};

use crate::{
    files::Files,
    lines::Lines,
    spent::{Calls, Misses, Spent},
    watched::Watched,
};

/// One rank and its program in C.
pub(crate) struct Session<'s, 'r, C: Core> {
    /// The ranks, and communication between them.
    pub(crate) comm: &'r Comm<'r, C>,
    rank: RefCell<&'s mut Rank<'r, C>>,
    pub(crate) files: RefCell<Files<'r>>,
    /// Its memory that a machine that checks it wants to know about.
    pub(crate) watched: Watched,
    /// What its computation takes.
    pub(crate) spent: Spent,
    /// Standard output and standard error.
    lines: [RefCell<Lines>; 2],
    /// How often it may have waited for other ranks.
    waits: Cell<u32>,
}

impl<'s, 'r, C: Core> Session<'s, 'r, C> {
    pub(crate) fn new(rank: &'s mut Rank<'r, C>, misses: Option<Misses>, calls: Calls) -> Self {
        let inputs = (0..).map_while(|index| rank.input(index).ok()).map(|input| (input.name, input.bytes));
        Self {
            comm: rank.comm,
            watched: Watched::new(rank.comm.hal().is_checked()),
            spent: Spent::new(misses, calls),
            files: RefCell::new(Files::new(inputs)),
            lines: Default::default(),
            waits: Cell::new(0),
            rank: RefCell::new(rank),
        }
    }

    /// Whether the program was started with this word among its options.
    pub(crate) fn has_option(&self, name: &str) -> bool {
        self.rank.borrow().args.flag(name).unwrap_or(false)
    }

    /// Does something with the caches of the core.
    ///
    /// # Panics
    /// If that is done already, further up.
    pub(crate) fn with_caches<R>(&self, action: impl FnOnce(&mut Caches) -> R) -> R {
        action(&mut self.rank.borrow_mut().caches)
    }

    /// Prints what the program has printed to standard output (0) or standard error (1).
    pub(crate) fn print(&self, stream: usize, bytes: &[u8]) {
        self.lines[stream].borrow_mut().take(bytes, &mut |line| self.print_line(line));
    }

    /// To be called by whatever may wait for other ranks: a line that was begun is printed, lest theirs overtake it.
    pub(crate) fn before_waiting(&self) {
        self.waits.set(self.waits.get().wrapping_add(1));
        self.lines.iter().for_each(|lines| lines.borrow_mut().end(&mut |line| self.print_line(line)));
    }

    /// How often this rank has been about to wait: another number if it may have heard of others since.
    pub(crate) fn waits(&self) -> u32 {
        self.waits.get()
    }

    /// Sends a file to the host.
    pub(crate) fn write_file(&self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        self.rank.borrow().write_file(name, bytes)
    }

    /// Prints a line of the library's own.
    pub(crate) fn print_line(&self, line: &str) {
        self.rank.borrow().print(format_args!("{line}"));
    }

    /// The heap of the rank, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.rank.borrow().heap_bytes()
    }
}
