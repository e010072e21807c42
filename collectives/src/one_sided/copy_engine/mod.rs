//! Copy engines: cores set aside to carry out puts and gets, so that others can compute meanwhile.
//!
//! The SCC has no DMA engine; the role that I/OAT plays in Lai and Panda's *Designing Truly One-Sided MPI-2 RMA*
//! (section 4.3) is played by cores. Each other core is the client of the engine that is nearest to it. A client
//! describes a copy in one line of a ring in its own MPB; the engine polls the rings of its clients, copies memory to
//! memory, and counts what is done in another line of the client's MPB. Lines are atomic, each has one writer, and
//! numbers only rise: there is no lock.
//!
//! A source or target of a copy lies in shared memory: the parts of windows, and [`SharedBuffer`]s. A client's
//! descriptor follows its data in the write-combine buffer, so the data is in memory when the engine sees the
//! descriptor; the engine drains before it counts.
//!
//! | who | accesses for each copy |
//! |---|---|
//! | client | a line write to its own MPB; a look at its own MPB when it waits |
//! | engine | a line read for each client and look, a read and a write for each line copied, a line write to the client's MPB |
//!
//! An engine core takes no part in anything else while it serves, in particular not in barriers, broadcasts and the
//! making of windows.

mod buffer;
mod descriptor;

use alloc::{boxed::Box, vec, vec::Vec};
use core::cell::Cell;

use hal::{Core, Deadline, LINE_BYTES, MpbLine, Place, Poll, Reason, Span};

use crate::{Comm, Error, Group};

pub use self::buffer::SharedBuffer;
pub(crate) use self::descriptor::Transfer;

use self::descriptor::Descriptor;

/// Copies that a client can have asked for and not seen done; one more waits for the first of them.
const RING: usize = 16;

/// The cores of a communicator that copy for the others.
pub struct CopyEngines<'c, C> {
    comm: &'c Comm<'c, C>,
    engines: Group,
    /// The engine that serves each rank; an engine serves itself.
    engine_of: Box<[usize]>,
    /// First of the lines of every MPB that are used: the ring, and the count of what is done.
    first: usize,
    asked: Cell<u32>,
    /// What each client of this engine has asked for, and what was done of it.
    done: Box<[Cell<u32>]>,
}

/// Lines of each MPB that engines take.
const LINES: usize = RING + 1;

impl<'c, C: Core> CopyEngines<'c, C> {
    /// Sets the ranks of `engines` aside. Collective.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`]; [`Error::Engines`] if there are none, or nobody else; [`Error::NoSpareLines`] if the MPBs
    /// have no room for the rings.
    pub fn assign(comm: &'c Comm<'c, C>, engines: &Group) -> Result<Self, Error> {
        engines.check(comm.size())?;
        if engines.is_empty() || engines.len() == comm.size() {
            return Err(Error::Engines { engines: engines.len(), size: comm.size() });
        }
        let first =
            comm.take_spare_lines(LINES, "rings of copy engines").ok_or(Error::NoSpareLines { wanted: LINES })?;
        let layout = comm.hal().layout();
        let nearest = |rank| {
            let distance = |engine: &usize| layout.distance(comm.core_of(rank), comm.core_of(*engine));
            engines.iter().min_by_key(distance).unwrap_or(rank)
        };
        let engine_of = (0..comm.size()).map(|rank| if engines.contains(rank) { rank } else { nearest(rank) });
        let made = Self {
            comm,
            engines: engines.clone(),
            engine_of: engine_of.collect(),
            first,
            asked: Cell::new(0),
            done: vec![Cell::new(0); comm.size()].into_boxed_slice(),
        };
        for line in first..first + LINES {
            comm.hal().store(comm.mpb_line(comm.rank(), line), 0, &[0; LINE_BYTES]);
        }
        comm.hal().drain();
        comm.barrier();
        Ok(made)
    }

    /// The ranks that are set aside.
    pub fn engines(&self) -> &Group {
        &self.engines
    }

    /// The ranks that are not.
    pub fn clients(&self) -> Group {
        self.comm.group().difference(&self.engines)
    }

    /// Whether this rank is an engine, which has to [`serve`](Self::serve).
    pub fn is_engine(&self) -> bool {
        self.engines.contains(self.comm.rank())
    }

    /// Copies for this engine's clients until all of them have [dismissed](Self::dismiss) it; then it may serve again.
    /// On other ranks it returns at once.
    pub fn serve(&self) {
        let me = self.comm.rank();
        let is_client = |rank: &usize| *rank != me && self.engine_of[*rank] == me;
        let mut clients: Vec<usize> = (0..self.comm.size()).filter(is_client).collect();
        while !clients.is_empty() {
            let places: Vec<_> = clients.iter().map(|client| self.next_of(*client)).collect();
            let asked = |poll: &Poll<'_>| {
                (0..clients.len()).find_map(|index| {
                    let number = self.done[clients[index]].get().wrapping_add(1);
                    Some((index, Descriptor::from_line(&poll.line(index), number)?))
                })
            };
            let reason = Reason::new("clients of a copy engine");
            let Ok((index, descriptor)) = self.comm.wait_until(&places, Deadline::Never, reason, asked) else {
                // The machine is dying.
                return;
            };
            let _span = self.comm.hal().span(Span::new("serve").with(self.comm.core_of(clients[index])));
            if let Descriptor::Copy(copy) = descriptor {
                copy.perform(self.comm);
            }
            // A client that was served goes to the end, so that none starves.
            let client = clients.remove(index);
            let done = &self.done[client];
            done.set(done.get().wrapping_add(1));
            // It hits another line than the data before it, and so pushes that out first.
            self.comm.hal().store(self.done_of(client), 0, &done.get().to_le_bytes());
            self.comm.hal().drain();
            if descriptor != Descriptor::Leave {
                clients.push(client);
            }
        }
    }

    /// Lets this client's engine go: it takes no more copies of this rank until it serves again. Every client has to,
    /// once for each time that its engine serves. On engines it returns at once.
    pub fn dismiss(&self) {
        if !self.is_engine() {
            self.ask(Descriptor::Leave);
            self.finish();
        }
    }

    /// Gives the lines in the MPBs back. Collective, when the engines have returned from [`serve`](Self::serve).
    pub fn free(self) {
        self.comm.barrier();
        self.comm.give_back_lines(self.first, LINES);
    }

    /// Asks for a copy. Waits only if the ring is full.
    pub(crate) fn copy(&self, copy: Transfer) {
        self.ask(Descriptor::Copy(copy));
    }

    /// Waits until all copies that were asked for are done.
    pub(crate) fn finish(&self) {
        let _span = self.comm.hal().span(Span::new("await copies"));
        self.await_done(self.asked.get());
    }

    fn ask(&self, descriptor: Descriptor) {
        let number = self.asked.get().wrapping_add(1);
        self.await_done(number.wrapping_sub(RING as u32));
        let line = self.first + (number.wrapping_sub(1) as usize) % RING;
        let hal = self.comm.hal();
        hal.store(self.comm.mpb_line(self.comm.rank(), line), 0, &descriptor.to_bytes(number));
        hal.drain();
        self.asked.set(number);
    }

    /// Waits until `count` copies are done; fewer than none are at once.
    fn await_done(&self, count: u32) {
        let place = self.done_of(self.comm.rank());
        let reason = Reason::new("copies").from(self.comm.core_of(self.engine_of[self.comm.rank()]));
        let is_done = |poll: &Poll<'_>| (poll.line(0).word(0).wrapping_sub(count) as i32 >= 0).then_some(());
        // It fails on a dying machine only.
        let _ = self.comm.wait_until(&[Place::Line(place)], Deadline::Never, reason, is_done);
    }

    /// Where a client's next descriptor will be.
    fn next_of(&self, client: usize) -> Place {
        Place::Line(self.comm.mpb_line(client, self.first + self.done[client].get() as usize % RING))
    }

    /// Where a client sees what is done.
    fn done_of(&self, rank: usize) -> MpbLine {
        self.comm.mpb_line(rank, self.first + RING)
    }
}
