//! Agreeing on the number of a new communicator.
//!
//! Several agreements can be under way at a rank, of different communicators, and get on in another order at another rank. So
//! ranks first find a number that is free at all of them, and then take it, where another agreement may have been faster. If
//! it was so at any rank, all begin again, at another place among the numbers. Agreements that take the last numbers from each other
//! again and again give up together with their ranks.

use alloc::{rc::Rc, vec, vec::Vec};

use kernel::{collectives::collective::nonblocking::schedules::Peers, hal::Core};

use super::super::{
    class::{Class, Fault},
    collective::party::Party,
    contexts::{self, Context, Contexts},
};

/// Rounds after which ranks give up. Two agreements that have two free numbers find the same one in half of all rounds.
const ROUNDS: u32 = 64;

/// The way to another group: what the ranks of both agree on, their leaders tell each other.
pub(crate) struct Bridge<'r, C: Core> {
    /// The place of this group's leader.
    pub(crate) leader: usize,
    /// At the leader: how it reaches the other one, which has this place there.
    pub(crate) way: Option<(Party<'r, C>, usize)>,
}

impl<'r, C: Core> Bridge<'r, C> {
    /// Between the groups of an intercommunicator.
    pub(crate) fn of(party: &Party<'r, C>) -> Self {
        Self { leader: 0, way: (party.rank == 0).then(|| (party.clone(), 0)) }
    }

    /// What the leader of the other group says, told to all: of the length that it names, and never longer than `limit`.
    pub(crate) async fn tell(&self, local: &Party<'r, C>, own: &[u8], limit: usize) -> Result<Vec<u8>, Fault> {
        let mut other = match &self.way {
            Some((way, place)) => {
                let other = way.swap(own, limit, *place).await?;
                // Its length is the other group's choice.
                let _ = way.ended();
                other
            }
            None => Vec::new(),
        };
        other.truncate(limit);
        let mut len = Vec::from((other.len() as u32).to_le_bytes());
        local.broadcast(&mut len, self.leader).await?;
        other.resize(len.first_chunk().map_or(0, |len| u32::from_le_bytes(*len)) as usize, 0);
        local.broadcast(&mut other, self.leader).await?;
        Ok(other)
    }
}

/// A number for a communicator that all ranks of a group can use, and those beyond the bridge, if there is one; it is taken.
/// Agreements that may be under way together should begin at different places.
pub(crate) async fn agree<'r, C: Core>(
    local: &Party<'r, C>,
    bridge: Option<&Bridge<'r, C>>,
    contexts: &Rc<Contexts>,
    begin: u32,
) -> Result<Context, Fault> {
    let common = async |bytes: &mut Vec<u8>| {
        local.combine_bytes(bytes, Contexts::common).await?;
        if let Some(bridge) = bridge {
            let other = bridge.tell(local, bytes, bytes.len()).await?;
            Contexts::common(bytes, &other);
        }
        Ok::<_, Fault>(())
    };
    let too_many = || Fault::new(Class::OTHER, "there are too many communicators; free some");
    let mut begin = begin;
    for _ in 0..ROUNDS {
        let mut free = contexts.bytes();
        common(&mut free).await?;
        if !Contexts::are_agreed(&free) {
            return Err(Fault::new(Class::OTHER, "a rank has wrong arguments, or could not copy what is attached"));
        }
        let number = Contexts::first(&free, begin).ok_or_else(too_many)?;
        let taken = contexts.take(number);
        let mut is_taken = vec![u8::from(taken.is_some())];
        common(&mut is_taken).await?;
        if let (Some(taken), [1]) = (taken, &is_taken[..]) {
            return Ok(taken);
        }
        begin = contexts::another(begin);
    }
    Err(too_many())
}
