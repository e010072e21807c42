//! Collective operations as schedules of messages: who sends what to whom, and what becomes of what has come.
//!
//! A schedule is written once, and is a future: whoever carries it out polls it when messages have gone on. It knows nothing of how messages
//! go; that is what [`Peers`] are for.

use alloc::{borrow::Cow, vec, vec::Vec};
use core::ops::Range;

/// The ranks of an operation, as one of them reaches them. Messages from one rank to another keep their order, and meet no others.
#[expect(async_fn_in_trait, reason = "a rank is one core, on which futures stay")]
pub trait Peers {
    /// What goes wrong with messages.
    type Error;
    /// A send that was begun.
    type Sent;
    /// A receive that was begun.
    type Received;

    /// This rank.
    fn rank(&self) -> usize;

    /// Number of ranks.
    fn size(&self) -> usize;

    /// Begins to send a message. It is copied.
    ///
    /// # Errors
    /// What goes wrong.
    fn begin_send(&self, bytes: &[u8], to: usize) -> Result<Self::Sent, Self::Error>;

    /// Waits for the end of a send.
    async fn sent(&self, sent: Self::Sent) -> Result<(), Self::Error>;

    /// Begins to receive a message of `len` bytes.
    ///
    /// # Errors
    /// What goes wrong.
    fn begin_receive(&self, len: usize, from: usize) -> Result<Self::Received, Self::Error>;

    /// Waits for a message. If it has another length than is wanted, the operation goes on all the same, as others may wait for this rank;
    /// whoever waits for the operation is told of the length at its end.
    async fn received(&self, received: Self::Received) -> Result<Vec<u8>, Self::Error>;

    /// Sends a message.
    async fn send(&self, bytes: &[u8], to: usize) -> Result<(), Self::Error> {
        let sent = self.begin_send(bytes, to)?;
        self.sent(sent).await
    }

    /// Receives a message of `len` bytes.
    async fn receive(&self, len: usize, from: usize) -> Result<Vec<u8>, Self::Error> {
        let received = self.begin_receive(len, from)?;
        self.received(received).await
    }

    /// Sends a message to a rank, and receives one of `len` bytes from it.
    async fn swap(&self, bytes: &[u8], len: usize, with: usize) -> Result<Vec<u8>, Self::Error> {
        let sent = self.begin_send(bytes, with)?;
        let received = self.receive(len, with).await?;
        self.sent(sent).await?;
        Ok(received)
    }

    /// Waits until all ranks are here: by dissemination.
    async fn barrier(&self) -> Result<(), Self::Error> {
        let (rank, size) = (self.rank(), self.size());
        let mut distance = 1;
        while distance < size {
            // The receive is there before the send is awaited: this may have to wait until the peer wants it, as the peer's does.
            let sent = self.begin_send(&[], (rank + distance) % size)?;
            self.receive(0, (rank + size - distance) % size).await?;
            self.sent(sent).await?;
            distance *= 2;
        }
        Ok(())
    }

    /// Passes a message on from a root to all ranks, along a binomial tree. It has its length on all of them, and is passed on
    /// as it comes.
    async fn broadcast(&self, message: &mut Vec<u8>, root: usize) -> Result<(), Self::Error> {
        let (rank, size) = (self.rank(), self.size());
        let place = (rank + size - root) % size;
        let mut distance = 1;
        while distance < size && place & distance == 0 {
            distance *= 2;
        }
        if place > 0 {
            *message = self.receive(message.len(), (rank + size - distance) % size).await?;
        }
        let mut sends = Vec::new();
        while distance > 1 {
            distance /= 2;
            if place + distance < size {
                sends.push(self.begin_send(message, (rank + distance) % size)?);
            }
        }
        for sent in sends {
            self.sent(sent).await?;
        }
        Ok(())
    }

    /// Combines the operands of all ranks along a binomial tree: in the order of ranks from `first` on, which is 0 unless that order does
    /// not matter. `combine` makes those of an earlier and a later rank the later one's. The result is the root's, in its operands;
    /// others have something there that is not said.
    async fn reduce<O: Operands>(
        &self,
        operands: &mut O,
        combine: &impl Fn(&O, &mut O),
        [first, root]: [usize; 2],
    ) -> Result<(), Self::Error> {
        let (rank, size) = (self.rank(), self.size());
        let place = (rank + size - first) % size;
        let len = operands.bytes().len();
        let mut distance = 1;
        while distance < size {
            if place & distance != 0 {
                self.send(&operands.bytes(), (rank + size - distance) % size).await?;
                break;
            }
            if place + distance < size {
                let mut later = operands.like(&self.receive(len, (rank + distance) % size).await?);
                combine(operands, &mut later);
                *operands = later;
            }
            distance *= 2;
        }
        if first != root && rank == first {
            self.send(&operands.bytes(), root).await?;
        }
        if first != root && rank == root {
            *operands = operands.like(&self.receive(len, first).await?);
        }
        Ok(())
    }

    /// Combines the operands of all ranks in their order; all get the same bits.
    async fn allreduce<O: Operands>(&self, operands: &mut O, combine: &impl Fn(&O, &mut O)) -> Result<(), Self::Error> {
        self.reduce(operands, combine, [0, 0]).await?;
        let mut result = operands.bytes().into_owned();
        self.broadcast(&mut result, 0).await?;
        if self.rank() > 0 {
            *operands = operands.like(&result);
        }
        Ok(())
    }

    /// Combines the operands of all ranks in their order, and gives each rank its block of what comes out.
    async fn reduce_scatter<O: Operands>(
        &self,
        operands: &mut O,
        combine: &impl Fn(&O, &mut O),
        blocks: &[Range<usize>],
    ) -> Result<Vec<u8>, Self::Error> {
        self.reduce(operands, combine, [0, 0]).await?;
        self.divide(&operands.bytes(), blocks).await
    }

    /// Gives each rank its block of what rank 0 has. A rank whose block rank 0 lacks gets an empty message, which has the wrong length.
    async fn divide(&self, whole: &[u8], blocks: &[Range<usize>]) -> Result<Vec<u8>, Self::Error> {
        let own = blocks[self.rank()].clone();
        if self.rank() > 0 {
            return self.receive(own.len(), 0).await;
        }
        let block_of = |block: &Range<usize>| whole.get(block.clone()).unwrap_or_default();
        let mut sends = Vec::with_capacity(blocks.len());
        for (rank, block) in (1..).zip(&blocks[1..]) {
            sends.push(self.begin_send(block_of(block), rank)?);
        }
        for sent in sends {
            self.sent(sent).await?;
        }
        Ok(block_of(&own).to_vec())
    }

    /// Combines the operands of all ranks up to this one in its own, in their order, and returns what those below make; nothing on rank 0.
    /// By doubling distances: after each step a rank knows what as many ranks before it have together.
    async fn scan<O: Operands>(&self, known: &mut O, combine: &impl Fn(&O, &mut O)) -> Result<Option<O>, Self::Error> {
        let (rank, size, len) = (self.rank(), self.size(), known.bytes().len());
        let mut before: Option<O> = None;
        let mut distance = 1;
        while distance < size {
            let sent =
                if rank + distance < size { Some(self.begin_send(&known.bytes(), rank + distance)?) } else { None };
            if rank >= distance {
                let earlier = known.like(&self.receive(len, rank - distance).await?);
                combine(&earlier, known);
                match &mut before {
                    Some(before) => combine(&earlier, before),
                    None => before = Some(earlier),
                }
            }
            if let Some(sent) = sent {
                self.sent(sent).await?;
            }
            distance *= 2;
        }
        Ok(before)
    }
}

/// Two groups of ranks, as a rank of one of them reaches both: what one group has comes to the other one, by way of the first ranks.
pub struct TwoGroups<P> {
    /// The own group.
    pub own: P,
    /// The other group: its ranks are those to which messages go, and from which they come. Which rank this is, the own group says.
    pub other: P,
}

impl<P: Peers> TwoGroups<P> {
    /// Passes on to all ranks of the own group what rank `root` of the other one sends to the first of them.
    ///
    /// # Errors
    /// What goes wrong.
    pub async fn broadcast_from(&self, message: &mut Vec<u8>, root: usize) -> Result<(), P::Error> {
        if self.own.rank() == 0 {
            *message = self.other.receive(message.len(), root).await?;
        }
        self.own.broadcast(message, 0).await
    }

    /// Combines the operands of the own group, in the order of its ranks, for rank `root` of the other one: the first rank sends it the
    /// result.
    ///
    /// # Errors
    /// What goes wrong.
    pub async fn reduce_for<O: Operands>(
        &self,
        operands: &mut O,
        combine: &impl Fn(&O, &mut O),
        root: usize,
    ) -> Result<(), P::Error> {
        self.own.reduce(operands, combine, [0, 0]).await?;
        if self.own.rank() > 0 {
            return Ok(());
        }
        self.other.send(&operands.bytes(), root).await
    }

    /// Combines the operands of each group, in the order of its ranks, for all ranks of the other one, which get `len` bytes here.
    ///
    /// # Errors
    /// What goes wrong.
    pub async fn allreduce<O: Operands>(
        &self,
        operands: &mut O,
        combine: &impl Fn(&O, &mut O),
        len: usize,
    ) -> Result<Vec<u8>, P::Error> {
        let mut result = self.reduce_and_swap(operands, combine, len).await?;
        self.own.broadcast(&mut result, 0).await?;
        Ok(result)
    }

    /// Combines the operands of each group, in the order of its ranks, and gives each rank of the other one its block of what comes out:
    /// the ranks of the own one these blocks.
    ///
    /// # Errors
    /// What goes wrong.
    pub async fn reduce_scatter<O: Operands>(
        &self,
        operands: &mut O,
        combine: &impl Fn(&O, &mut O),
        blocks: &[Range<usize>],
    ) -> Result<Vec<u8>, P::Error> {
        let len = blocks.iter().map(|block| block.end).max().unwrap_or(0);
        let result = self.reduce_and_swap(operands, combine, len).await?;
        // A vector of another length is divided otherwise: none of its blocks are right.
        self.own.divide(if result.len() == len { &result } else { &[] }, blocks).await
    }

    /// What the operands of the other group make, at the first rank, which tells that of the other group what those of its own make.
    async fn reduce_and_swap<O: Operands>(
        &self,
        operands: &mut O,
        combine: &impl Fn(&O, &mut O),
        len: usize,
    ) -> Result<Vec<u8>, P::Error> {
        self.own.reduce(operands, combine, [0, 0]).await?;
        if self.own.rank() > 0 {
            return Ok(vec![0; len]);
        }
        self.other.swap(&operands.bytes(), len, 0).await
    }
}

/// The operands of a reduction.
pub trait Operands: Sized {
    /// Them as a message.
    fn bytes(&self) -> Cow<'_, [u8]>;

    /// As many operands of the same kind, from a message.
    fn like(&self, message: &[u8]) -> Self;
}

impl Operands for Vec<u8> {
    fn bytes(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(self)
    }

    fn like(&self, message: &[u8]) -> Self {
        message.to_vec()
    }
}
