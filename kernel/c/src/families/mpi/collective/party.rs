//! The ranks of an operation of all, and how their messages go.

use alloc::{boxed::Box, format, rc::Rc, vec::Vec};
use core::{cell::RefCell, future::Future, pin::Pin};

use kernel::{
    collectives::{
        Source, Tag,
        collective::nonblocking::schedules::{Peers, TwoGroups},
    },
    hal::Core,
};

use super::{
    super::{
        class::{Class, Fault},
        engine::{End, Engine, Pending},
        groups::Group,
    },
    blocks::Block,
};

/// What was begun, and of a receive the sender, and the bytes that are wanted.
type Begun = (Rc<Pending>, Option<(usize, usize)>);

/// One operation of the ranks of a group, and for an intercommunicator of those of another one. Its messages have a tag of
/// their own.
///
/// A message of another length than is wanted is received as it has come, and [noted](Self::ended). Its receiver goes on as if nothing had
/// happened, and sends what it has to send, so that nobody waits for it.
pub(crate) struct Party<'r, C: Core> {
    pub(crate) engine: Rc<Engine<'r, C>>,
    pub(crate) group: Rc<Group>,
    /// Of this rank in its group.
    pub(crate) rank: usize,
    /// The other end of messages: the group itself, or the remote one.
    pub(crate) peers: Rc<Group>,
    pub(crate) tag: u32,
    /// What was first found to be wrong with a message.
    differs: Rc<RefCell<Option<Fault>>>,
}

impl<C: Core> Clone for Party<'_, C> {
    fn clone(&self) -> Self {
        Self {
            engine: self.engine.clone(),
            group: self.group.clone(),
            rank: self.rank,
            peers: self.peers.clone(),
            tag: self.tag,
            differs: self.differs.clone(),
        }
    }
}

impl<C: Core> Peers for Party<'_, C> {
    type Error = Fault;
    type Sent = Rc<Pending>;
    /// What was begun, the bytes that are wanted, and who sends them.
    type Received = (Rc<Pending>, usize, usize);

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.group.size()
    }

    fn begin_send(&self, bytes: &[u8], to: usize) -> Result<Rc<Pending>, Fault> {
        Ok(self.engine.send(bytes, self.peers.world_rank(to), self.tag, false)?)
    }

    async fn sent(&self, sent: Rc<Pending>) -> Result<(), Fault> {
        End(sent).await.map(drop)
    }

    fn begin_receive(&self, len: usize, from: usize) -> Result<Self::Received, Fault> {
        Ok((self.engine.receive_own(usize::MAX, self.source(from), Tag::Is(self.tag))?, len, from))
    }

    async fn received(&self, (received, wanted, from): Self::Received) -> Result<Vec<u8>, Fault> {
        End(received.clone()).await?;
        let message = received.take_message();
        self.check_len(from, message.len(), wanted);
        Ok(message)
    }
}

impl<'r, C: Core> Party<'r, C> {
    /// Of this rank of a group, whose messages go to these peers and have this tag.
    pub(crate) fn new(
        engine: &Rc<Engine<'r, C>>,
        (group, rank): (&Rc<Group>, usize),
        peers: &Rc<Group>,
        tag: u32,
    ) -> Self {
        let differs = Rc::default();
        Self { engine: engine.clone(), group: group.clone(), rank, peers: peers.clone(), tag, differs }
    }

    /// Notes that a peer has sent another number of bytes than is wanted.
    fn check_len(&self, from: usize, sent: usize, wanted: usize) {
        if sent != wanted {
            let class = if sent > wanted { Class::TRUNCATE } else { Class::NOT_SAME };
            let why = format!("rank {from} has sent {sent} bytes, where this one wants {wanted}");
            self.differs.borrow_mut().get_or_insert_with(|| Fault::new(class, why));
        }
    }

    /// The end of the operation: an error if a message was longer or shorter than was wanted.
    pub(crate) fn ended(&self) -> Result<(), Fault> {
        self.differs.take().map_or(Ok(()), Err)
    }

    /// The same operation among the ranks of the own group.
    pub(crate) fn local(&self) -> Self {
        Self { peers: self.group.clone(), ..self.clone() }
    }

    /// The same operation between both groups of an intercommunicator.
    pub(crate) fn two_groups(&self) -> TwoGroups<Self> {
        TwoGroups { own: self.local(), other: self.clone() }
    }

    fn source(&self, from: usize) -> Source {
        Source::Rank(self.peers.world_rank(from))
    }

    /// Receives into a block.
    ///
    /// # Safety
    /// Nobody else reads or writes it until this is over.
    unsafe fn begin_landing(&self, block: &Block, from: usize) -> Result<Rc<Pending>, Fault> {
        // SAFETY: the caller says so.
        Ok(unsafe { self.engine.receive(block.clone(), self.source(from), Tag::Is(self.tag))? })
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
        let send = |all: &mut Vec<Begun>| {
            for (to, block) in &sends {
                // SAFETY: the caller says so.
                let bytes = unsafe { block.bytes() };
                all.push((self.begin_send(&bytes, *to)?, None));
            }
            Ok::<_, Fault>(())
        };
        if sends_first {
            send(&mut all)?;
        }
        for (from, block) in &receives {
            // SAFETY: the caller says so.
            all.push((unsafe { self.begin_landing(block, *from)? }, Some((*from, block.len_bytes()))));
        }
        if !sends_first {
            send(&mut all)?;
        }
        let mut result = Ok(());
        for (pending, receives) in all {
            let ended = End(pending).await.map(|envelope| {
                if let Some((from, wanted)) = receives {
                    self.check_len(from, envelope.len_bytes, wanted);
                }
            });
            result = result.and(ended);
        }
        result
    }

    /// Combines bytes of all ranks of the group by a function, whose order does not matter. Fails where they are not as many at all ranks,
    /// as when these call different things.
    pub(crate) async fn combine_bytes(
        &self,
        bytes: &mut Vec<u8>,
        combine: impl Fn(&mut [u8], &[u8]),
    ) -> Result<(), Fault> {
        let combine = |other: &Vec<u8>, bytes: &mut Vec<u8>| {
            if other.len() == bytes.len() {
                combine(bytes, other);
            }
        };
        self.allreduce(bytes, &combine).await?;
        self.ended()
    }

    /// The bytes of all ranks of the group. Fails where they are not as many at all ranks.
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
        self.ended()?;
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
