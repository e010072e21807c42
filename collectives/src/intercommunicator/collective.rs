//! Collective operations of two groups: what one has comes to the other.
//!
//! Each group gathers or combines at its first rank, by the operations of its own communicator. The first ranks send each other what came out,
//! or the root sends or gets it, and what has come is passed on in the group.

use alloc::{vec, vec::Vec};

use bytemuck::Pod;
use hal::Core;

use super::{Intercommunicator, OWN};
use crate::{Combine, Envelope, Error, Source, Tag};

/// Who is the root of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Root {
    /// This rank.
    Here,
    /// This rank of the other group.
    At(usize),
    /// Another rank of this group: this one has nothing to do.
    Beside,
}

impl<C: Core> Intercommunicator<'_, C> {
    /// Waits until all ranks of both groups are here.
    pub fn barrier(&self) {
        self.both.barrier();
    }

    /// Sends `message` of the root to all ranks of the other group. Collective over both groups; lengths are equal where it counts.
    ///
    /// # Errors
    /// [`Error::MessageLength`] on all ranks of the group to which something comes that is longer or shorter than they want;
    /// [`Error::NoSuchRank`] for the root, on all ranks of a group alike; as [`Comm::broadcast`](crate::Comm::broadcast) and
    /// [`Comm::send_tagged`](crate::Comm::send_tagged).
    pub fn broadcast<T: Pod>(&self, message: &mut [T], root: Root) -> Result<(), Error> {
        match root {
            Root::Here => self.tell(message, 0),
            Root::At(root) => {
                self.hear_at_first(message, root)?;
                self.local.broadcast(message, 0)
            }
            Root::Beside => Ok(()),
        }
    }

    /// Brings the blocks of all ranks of the other group to the root, into `all`, in the order of their ranks. Blocks are equally long. At
    /// the root `block` does not count, elsewhere `all` does not.
    ///
    /// # Errors
    /// As [`broadcast`](Self::broadcast).
    pub fn gather<T: Pod>(&self, block: &[T], all: &mut [T], root: Root) -> Result<(), Error> {
        match root {
            Root::Here => self.hear(all, 0),
            Root::At(root) => {
                let gathered = self.gathered(block)?;
                self.tell_from_first(&gathered, root)
            }
            Root::Beside => Ok(()),
        }
    }

    /// Brings the blocks of `all` of the root to the ranks of the other group, in their order. Blocks are equally long. At the root
    /// `block` does not count, elsewhere `all` does not.
    ///
    /// # Errors
    /// As [`broadcast`](Self::broadcast).
    pub fn scatter<T: Pod>(&self, all: &[T], block: &mut [T], root: Root) -> Result<(), Error> {
        match root {
            Root::Here => self.tell(all, 0),
            Root::At(root) => {
                let mut blocks = self.room(block.len() * self.size());
                self.hear_at_first(&mut blocks, root)?;
                self.local.scatter(&blocks, block, 0)
            }
            Root::Beside => Ok(()),
        }
    }

    /// Brings the blocks of all ranks of the other group to all ranks of this one, into `all`, in the order of their ranks. Blocks of a
    /// group are equally long.
    ///
    /// # Errors
    /// As [`broadcast`](Self::broadcast).
    pub fn allgather<T: Pod>(&self, block: &[T], all: &mut [T]) -> Result<(), Error> {
        let gathered = self.gathered(block)?;
        self.swap(&gathered, all)?;
        self.local.broadcast(all, 0)
    }

    /// Sends a block of `all` to each rank of the other group, in their order, and gets one of each, into `received`.
    ///
    /// # Errors
    /// [`Error::Length`] if there are not as many blocks as ranks; as [`broadcast`](Self::broadcast).
    pub fn alltoall<T: Pod>(&self, all: &[T], received: &mut [T]) -> Result<(), Error> {
        let (ranks, first) = (self.remote_size(), self.firsts[1]);
        for len in [all.len(), received.len()] {
            if len % ranks != 0 {
                return Err(Error::Length { len, wanted: len.next_multiple_of(ranks) });
            }
        }
        let sends = (0..ranks).map(|rank| {
            let len = all.len() / ranks;
            self.both.start_send_tagged(&all[rank * len..(rank + 1) * len], first + rank, OWN)
        });
        let sends = sends.collect::<Result<Vec<_>, _>>()?;
        let len = received.len() / ranks;
        // What is wrong with one block keeps no other one from being received.
        let mut result = Ok(());
        for rank in 0..ranks {
            result = result.and(self.hear(&mut received[rank * len..(rank + 1) * len], rank));
        }
        sends.into_iter().fold(result, |result, mut send| result.and(send.wait().map(drop)))
    }

    /// Combines the operands of all ranks of the other group at the root, in the order of their ranks. At the root `operands` do not
    /// count, elsewhere `result` does not.
    ///
    /// # Errors
    /// As [`Comm::reduce`](crate::Comm::reduce) and [`broadcast`](Self::broadcast).
    pub fn reduce<T: Pod>(
        &self,
        operands: &[T],
        result: &mut [T],
        operation: &impl Combine<T>,
        root: Root,
    ) -> Result<(), Error> {
        match root {
            Root::Here => self.hear(result, 0),
            Root::At(root) => {
                let reduced = self.reduced(operands, operation)?;
                self.tell_from_first(&reduced, root)
            }
            Root::Beside => Ok(()),
        }
    }

    /// Combines the operands of all ranks of the other group, in the order of their ranks, at all ranks of this one.
    ///
    /// # Errors
    /// As [`reduce`](Self::reduce).
    pub fn allreduce<T: Pod>(
        &self,
        operands: &[T],
        result: &mut [T],
        operation: &impl Combine<T>,
    ) -> Result<(), Error> {
        let reduced = self.reduced(operands, operation)?;
        self.swap(&reduced, result)?;
        self.local.broadcast(result, 0)
    }

    /// Combines the operands of all ranks of the other group, and divides what comes out among the ranks of this one: each gets as many
    /// elements as it has in `result`. Both groups have as many operands as that makes in either.
    ///
    /// # Errors
    /// As [`reduce`](Self::reduce).
    pub fn reduce_scatter<T: Pod>(
        &self,
        operands: &[T],
        result: &mut [T],
        operation: &impl Combine<T>,
    ) -> Result<(), Error> {
        let reduced = self.reduced(operands, operation)?;
        let mut all = self.room(result.len() * self.size());
        self.swap(&reduced, &mut all)?;
        self.local.scatter(&all, result, 0)
    }

    fn is_first(&self) -> bool {
        self.rank() == 0
    }

    /// Room for what only the first rank has.
    fn room<T: Pod>(&self, len: usize) -> Vec<T> {
        vec![T::zeroed(); if self.is_first() { len } else { 0 }]
    }

    /// The blocks of all ranks of this group, at the first one.
    fn gathered<T: Pod>(&self, block: &[T]) -> Result<Vec<T>, Error> {
        let mut all = self.room(block.len() * self.size());
        self.local.gather(block, &mut all, 0)?;
        Ok(all)
    }

    /// What the operands of all ranks of this group make, at the first one.
    fn reduced<T: Pod>(&self, operands: &[T], operation: &impl Combine<T>) -> Result<Vec<T>, Error> {
        let mut result = self.room(operands.len());
        self.local.reduce(operands, &mut result, operation, 0)?;
        Ok(result)
    }

    /// Sends to a rank of the other group.
    fn tell<T: Pod>(&self, message: &[T], to: usize) -> Result<(), Error> {
        self.across.check_rank(to)?;
        self.both.send_tagged(message, self.firsts[1] + to, OWN)
    }

    /// Receives from a rank of the other group.
    fn hear<T: Pod>(&self, message: &mut [T], from: usize) -> Result<(), Error> {
        let received = self.both.receive_tagged(message, Source::Rank(self.firsts[1] + from), Tag::Is(OWN));
        self.check_heard(received, size_of_val(message), from)
    }

    /// Refuses what has come from a rank of the other group if it is not as long as what is wanted.
    fn check_heard(&self, received: Result<Envelope, Error>, wanted: usize, from: usize) -> Result<(), Error> {
        let sent = match received {
            Ok(envelope) => envelope.len_bytes,
            Err(Error::Truncated { sent, .. }) => sent,
            Err(error) => return Err(error),
        };
        if sent == wanted { Ok(()) } else { Err(Error::MessageLength { from, to: self.rank(), sent, wanted }) }
    }

    fn tell_from_first<T: Pod>(&self, message: &[T], to: usize) -> Result<(), Error> {
        self.across.check_rank(to)?;
        if self.is_first() { self.tell(message, to) } else { Ok(()) }
    }

    /// Receives something for all ranks of this group, at the first one.
    fn hear_at_first<T: Pod>(&self, message: &mut [T], from: usize) -> Result<(), Error> {
        self.across.check_rank(from)?;
        self.local.all_hear(if self.is_first() { self.hear(message, from) } else { Ok(()) }, 0)
    }

    /// The first ranks of both groups send each other something.
    fn swap<T: Pod>(&self, message: &[T], received: &mut [T]) -> Result<(), Error> {
        let (other, mut heard) = (self.firsts[1], Ok(()));
        if self.is_first() {
            let wanted = size_of_val(received);
            let received = (received, Source::Rank(other), Tag::Is(OWN));
            heard = self.check_heard(self.both.exchange_tagged((message, other, OWN), received), wanted, 0);
        }
        self.local.all_hear(heard, 0)
    }
}
