//! Broadcast: one rank's message to all.
//!
//! All algorithms have one interface, and leave the communicator in the same state: ranks may use different ones one
//! after the other, as long as all use the same one at a time.

mod binomial;
#[cfg(test)]
mod exploration;
mod fastest;
mod halving;
mod name;
mod notification;
mod oc_bcast;
mod one_sided_scatter_allgather;
mod parameters;
mod ring;
mod scatter_allgather;
mod tree;

use bytemuck::{Pod, cast_slice_mut};
use hal::{Messenger, Span};

use self::ring::Ring;
use crate::{
    Comm, Error,
    collective::call::{Call, Collective},
};

pub(crate) use self::fastest::by_domains;
pub use self::{parameters::OcBcast, scatter_allgather::Rounds};

/// A broadcast algorithm, with its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Broadcast {
    /// The fastest for the machine, the ranks and the length: on an SCC [`Short`](Self::Short) up to 252 bytes, then
    /// [`Long`](Self::Long); between nodes of several cores [`OcBcast`] of one rank of each.
    #[default]
    Default,
    /// 28 bytes at a time in lines with a tag, which all ranks poll in the MPB of the root, or of a parent if they
    /// are more than its port can serve.
    Short,
    /// Put once by the root into a few MPBs, and got from there by everybody.
    Long,
    /// The pipelined k-ary tree of the OC-Bcast paper.
    OcBcast(OcBcast),
    /// RCCE_comm's binomial tree over two-sided messages.
    Binomial,
    /// RCCE_comm's scatter-allgather over two-sided messages, and a variant whose rounds overlap.
    ScatterAllgather(Rounds),
    /// Scatter-allgather over one-sided puts and gets.
    OneSidedScatterAllgather,
}

impl Broadcast {
    /// The name by which what it executes has a price.
    const fn price(&self) -> &'static str {
        match self {
            Self::Default | Self::Short | Self::Long => "broadcast",
            _ => "broadcast in chunks",
        }
    }

    /// Broadcasts by this algorithm, whatever is preferred.
    #[inline]
    pub(crate) fn broadcast<C: Messenger, T: Pod>(
        &self,
        comm: &Comm<'_, C>,
        message: &mut [T],
        root: usize,
    ) -> Result<(), Error> {
        comm.check_call(|| Call::new(Collective::Broadcast).of::<T>().len(message.len()).rooted(root).by(self))?;
        comm.check_rank(root)?;
        let message = cast_slice_mut(message);
        let span = Span::new("broadcast").priced_as(self.price());
        let _span = comm.hal().span(span.with(comm.core_of(root)).of(message.len()));
        comm.check_lines(matches!(self, Self::Binomial | Self::ScatterAllgather(_)))?;
        comm.operate(|| {
            match self {
                Self::Default => fastest::broadcast(comm, message, root)?,
                Self::Short => fastest::short(comm, message, root),
                Self::Long => fastest::long(comm, message, root),
                Self::OcBcast(parameters) => parameters.run(comm, message, root)?,
                Self::Binomial => binomial::broadcast(comm, message, root)?,
                Self::ScatterAllgather(rounds) => scatter_allgather::broadcast(comm, message, root, *rounds)?,
                Self::OneSidedScatterAllgather => one_sided_scatter_allgather::broadcast(comm, message, root),
            }
            Ok(())
        })
    }
}

impl<C: Messenger> Comm<'_, C> {
    /// Broadcasts `message` from rank `root` to all. Collective: all ranks name the same root, type and length.
    ///
    /// By the fastest algorithm, or the [`Broadcast`] that it is [told](Self::using).
    ///
    /// # Errors
    /// On every rank alike, with nothing sent: [`Error::NoSuchRank`] for the root; [`Error::NoDegree`] for
    /// [`OcBcast`] with a tree of degree 0; [`Error::ProfileInForce`] while the MPBs are lent to two-sided messages,
    /// for all algorithms but those over them, and for these on a communicator of some ranks.
    pub fn broadcast<T: Pod>(&self, message: &mut [T], root: usize) -> Result<(), Error> {
        self.preferred::<Broadcast>().broadcast(self, message, root)
    }
}

#[cfg(test)]
mod tests {
    use super::Broadcast;
    use crate::testing::has_price;

    #[test]
    fn all_prices_are_in_the_table() {
        for broadcast in [Broadcast::Default, Broadcast::Binomial] {
            assert!(has_price(broadcast.price()), "{broadcast}: {}", broadcast.price());
        }
    }
}
