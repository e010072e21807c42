//! The ranks of an operation of all, and how their messages go.

use alloc::{boxed::Box, rc::Rc, vec, vec::Vec};
use core::{future::Future, pin::Pin};

use kernel::{
    collectives::{Source, Tag},
    hal::Core,
};

use super::{
    super::{
        class::Fault,
        engine::{End, Engine, Pending},
        groups::Group,
        operators::Operator,
    },
    blocks::{Block, Elements},
};

/// One operation of the ranks of a group, and for an intercommunicator of those of another one. Its messages have a tag of
/// their own.
pub(crate) struct Party<'r, C: Core> {
    pub(crate) engine: Rc<Engine<'r, C>>,
    pub(crate) group: Rc<Group>,
    /// Of this rank in its group.
    pub(crate) rank: usize,
    /// The other end of messages: the group itself, or the remote one.
    pub(crate) peers: Rc<Group>,
    pub(crate) tag: u32,
}

impl<C: Core> Clone for Party<'_, C> {
    fn clone(&self) -> Self {
        Self {
            engine: self.engine.clone(),
            group: self.group.clone(),
            rank: self.rank,
            peers: self.peers.clone(),
            tag: self.tag,
        }
    }
}

impl<'r, C: Core> Party<'r, C> {
    pub(crate) fn size(&self) -> usize {
        self.group.size()
    }

    /// The same operation among the ranks of the own group.
    pub(crate) fn local(&self) -> Self {
        Self { peers: self.group.clone(), ..self.clone() }
    }

    pub(super) fn begin_send(&self, bytes: &[u8], to: usize) -> Result<Rc<Pending>, Fault> {
        Ok(self.engine.send(bytes, self.peers.world_rank(to), self.tag, false)?)
    }

    fn source(&self, from: usize) -> Source {
        Source::Rank(self.peers.world_rank(from))
    }

    /// Waits for a send that was begun.
    pub(super) async fn end(&self, sent: Rc<Pending>) -> Result<(), Fault> {
        End(sent).await.map(drop)
    }

    pub(crate) async fn send(&self, bytes: &[u8], to: usize) -> Result<(), Fault> {
        End(self.begin_send(bytes, to)?).await.map(drop)
    }

    /// Receives a message of at most so many bytes.
    pub(crate) async fn receive(&self, len: usize, from: usize) -> Result<Vec<u8>, Fault> {
        let pending = self.engine.receive_own(len, self.source(from), Tag::Is(self.tag))?;
        End(pending.clone()).await?;
        Ok(pending.take_message())
    }

    /// Sends a message to a peer, and receives one of at most so many bytes from it.
    pub(crate) async fn swap(&self, bytes: &[u8], len: usize, with: usize) -> Result<Vec<u8>, Fault> {
        let sent = self.begin_send(bytes, with)?;
        let received = self.receive(len, with).await?;
        self.end(sent).await?;
        Ok(received)
    }

    /// Receives into a block.
    ///
    /// # Safety
    /// Nobody else reads or writes it until this is over.
    pub(crate) unsafe fn begin_receive(&self, block: &Block, from: usize) -> Result<Rc<Pending>, Fault> {
        let (source, tag) = (self.source(from), Tag::Is(self.tag));
        let Block { address, count, datatype } = block;
        // SAFETY: the caller says so.
        Ok(unsafe { self.engine.receive((*address, *count, datatype.clone()), source, tag)? })
    }

    /// Sends blocks to peers and receives others from peers, all at the same time. Those that are received may take the place of
    /// those that are sent only if these go first.
    ///
    /// # Safety
    /// Nobody else writes to the blocks until this is over, nor reads those that are received.
    pub(crate) async unsafe fn exchange(
        &self,
        sends: Vec<(usize, Block)>,
        receives: Vec<(usize, Block)>,
        sends_first: bool,
    ) -> Result<(), Fault> {
        let mut all = Vec::with_capacity(sends.len() + receives.len());
        let send = |all: &mut Vec<Rc<Pending>>| {
            for (to, block) in &sends {
                // SAFETY: the caller says so.
                let bytes = unsafe { block.bytes() };
                all.push(self.begin_send(&bytes, *to)?);
            }
            Ok::<_, Fault>(())
        };
        if sends_first {
            send(&mut all)?;
        }
        for (from, block) in &receives {
            // SAFETY: the caller says so.
            all.push(unsafe { self.begin_receive(block, *from)? });
        }
        if !sends_first {
            send(&mut all)?;
        }
        let mut result = Ok(());
        for pending in all {
            let ended = End(pending).await.map(drop);
            result = result.and(ended);
        }
        result
    }

    /// Waits until all ranks of the group are here.
    pub(crate) async fn barrier(&self) -> Result<(), Fault> {
        let size = self.size();
        let mut distance = 1;
        while distance < size {
            self.send(&[], (self.rank + distance) % size).await?;
            self.receive(0, (self.rank + size - distance) % size).await?;
            distance *= 2;
        }
        Ok(())
    }

    /// Passes a message on from a root to all ranks of the group, along a binomial tree.
    pub(crate) async fn broadcast(&self, message: &mut Vec<u8>, root: usize) -> Result<(), Fault> {
        let size = self.size();
        let place = (self.rank + size - root) % size;
        let mut distance = 1;
        while distance < size && place & distance == 0 {
            distance *= 2;
        }
        if place > 0 {
            *message = self.receive(message.len(), (self.rank + size - distance) % size).await?;
        }
        let mut sends = Vec::new();
        while distance > 1 {
            distance /= 2;
            if place + distance < size {
                sends.push(self.begin_send(message, (self.rank + distance) % size)?);
            }
        }
        for pending in sends {
            End(pending).await?;
        }
        Ok(())
    }

    /// Combines the elements of all ranks, in the order of ranks if the operator wants it; the result is the root's, in
    /// its elements. Others have something that is not said in theirs.
    pub(crate) async fn reduce(&self, elements: &mut Elements, operator: &Operator, root: usize) -> Result<(), Fault> {
        let size = self.size();
        // A tree in the order of ranks begins with rank 0, which tells the root.
        let first = if operator.is_commutative() { root } else { 0 };
        let place = (self.rank + size - first) % size;
        let mut distance = 1;
        while distance < size {
            if place & distance != 0 {
                let to = (self.rank + size - distance) % size;
                self.send(&elements.bytes(), to).await?;
                break;
            }
            if place + distance < size {
                let later = self.receive(elements.len_bytes(), (self.rank + distance) % size).await?;
                elements.combine_with_later(&later, operator);
            }
            distance *= 2;
        }
        if first != root && self.rank == first {
            self.send(&elements.bytes(), root).await?;
        }
        if first != root && self.rank == root {
            let result = self.receive(elements.len_bytes(), first).await?;
            elements.set(&result);
        }
        Ok(())
    }

    /// Combines the elements of all ranks; all get the same bits.
    pub(crate) async fn allreduce(&self, elements: &mut Elements, operator: &Operator) -> Result<(), Fault> {
        self.reduce(elements, operator, 0).await?;
        let mut result = if self.rank == 0 { elements.bytes().into_owned() } else { vec![0; elements.len_bytes()] };
        self.broadcast(&mut result, 0).await?;
        if self.rank > 0 {
            elements.set(&result);
        }
        Ok(())
    }

    /// Combines bytes of all ranks of the group by a function, whose order does not matter.
    pub(crate) async fn combine_bytes(
        &self,
        bytes: &mut Vec<u8>,
        combine: impl Fn(&mut [u8], &[u8]),
    ) -> Result<(), Fault> {
        let size = self.size();
        let mut distance = 1;
        while distance < size {
            if self.rank & distance != 0 {
                self.send(bytes, self.rank - distance).await?;
                break;
            }
            if self.rank + distance < size {
                let other = self.receive(bytes.len(), self.rank + distance).await?;
                combine(bytes, &other);
            }
            distance *= 2;
        }
        self.broadcast(bytes, 0).await
    }

    /// The bytes of all ranks of the group, of which each has as many.
    pub(crate) async fn gather_all_bytes(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, Fault> {
        let mut all = own.to_vec();
        if self.rank == 0 {
            for rank in 1..self.size() {
                all.extend(self.receive(own.len(), rank).await?);
            }
        } else {
            self.send(own, 0).await?;
        }
        all.resize(own.len() * self.size(), 0);
        self.broadcast(&mut all, 0).await?;
        Ok((0..self.size()).map(|rank| all[rank * own.len()..(rank + 1) * own.len()].to_vec()).collect())
    }

    /// Waits until something is done, and lets everything else go on meanwhile.
    pub(crate) fn wait<T>(engine: &Engine<'r, C>, work: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        let mut work: Pin<Box<dyn Future<Output = Result<T, Fault>> + '_>> = Box::pin(work);
        loop {
            let mut context = core::task::Context::from_waker(core::task::Waker::noop());
            if let core::task::Poll::Ready(result) = work.as_mut().poll(&mut context) {
                return result;
            }
            engine.step(true)?;
        }
    }
}
