//! Intercommunicators: two groups whose ranks send to each other's.

use alloc::{rc::Rc, vec::Vec};

use kernel::hal::Core;

use super::{
    Mpi,
    class::{Class, Fault},
    collective::party::Party,
    communicators::Communicator,
    contexts::{self, Contexts},
    groups::Group,
    handles::Handle,
    table::Here,
};

impl<'r, C: Core> Mpi<'r, C> {
    /// What the leaders of two groups tell each other, told to all: of the length that a rank of the other group names,
    /// and never longer than `limit`.
    fn tell_each_other(&self, party: &Party<'r, C>, own: &[u8], limit: usize) -> Result<Vec<u8>, Fault> {
        let work = async {
            let mut other = Vec::new();
            if party.rank == 0 {
                other = party.swap(own, limit, 0).await?;
            }
            let local = party.local();
            let mut len = Vec::from((other.len() as u32).to_le_bytes());
            local.broadcast(&mut len, 0).await?;
            other.resize(len.first_chunk().map_or(0, |len| u32::from_le_bytes(*len)) as usize, 0);
            local.broadcast(&mut other, 0).await?;
            Ok(other)
        };
        Party::wait(&self.engine, work)
    }

    /// The bytes of all ranks of the own group, and for an intercommunicator of those of the other one. Each rank has as many.
    pub(super) fn exchange_all(&self, comm: &Communicator, own: &[u8]) -> Result<[Vec<Vec<u8>>; 2], Fault> {
        let ours = self.gather_all_bytes(comm, own)?;
        let Some(remote) = &comm.remote else { return Ok([ours, Vec::new()]) };
        let theirs = self.tell_each_other(&self.party(comm), &ours.concat(), own.len() * remote.size())?;
        Ok([ours, theirs.chunks(own.len()).map(<[u8]>::to_vec).collect()])
    }

    /// A number for a communicator that all ranks of both groups can use.
    pub(super) fn agree_with_remote(&self, party: &Party<'r, C>) -> Result<u32, Fault> {
        let mut free = self.contexts.borrow().bytes();
        Party::wait(&self.engine, party.local().combine_bytes(&mut free, Contexts::common))?;
        let other = self.tell_each_other(party, &free, free.len())?;
        Contexts::common(&mut free, &other);
        Contexts::first(&free).ok_or_else(|| Fault::new(Class::OTHER, "there are too many communicators; free some"))
    }
}

/// Numbers as bytes.
fn bytes_of(ranks: impl IntoIterator<Item = usize>) -> Vec<u8> {
    ranks.into_iter().flat_map(|rank| (rank as u32).to_le_bytes()).collect()
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = usize> {
    bytes.chunks_exact(4).map(|word| word.first_chunk().map_or(0, |word| u32::from_le_bytes(*word)) as usize)
}

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them.

pub(super) unsafe fn intercomm_create<C: Core>(
    here: &Here<'_, '_, '_, C>,
    local: Handle,
    local_leader: i32,
    peer: Handle,
    remote_leader: i32,
    tag: i32,
    made: *mut Handle,
) -> Result<(), Fault> {
    let comm = here.intra(local)?;
    here.session.before_waiting();
    let fault = |class: Class| Fault::from(class).on_comm(local);
    let leader = usize::try_from(local_leader).ok().filter(|leader| *leader < comm.size());
    let leader = leader.ok_or_else(|| fault(Class::RANK))?;
    let tag = u32::try_from(tag).map_err(|_| fault(Class::TAG))?;
    let party = here.party(&comm);
    // First the leaders tell each other who is in their groups, and which numbers are free there.
    let mut free = here.contexts.borrow().bytes();
    Party::wait(&here.engine, party.combine_bytes(&mut free, Contexts::common))
        .map_err(|fault| fault.on_comm(local))?;
    let mut told = Vec::new();
    if comm.rank == leader {
        let peer_comm = here.communicator(peer)?;
        let peers = peer_comm.peers();
        let other = usize::try_from(remote_leader).ok().filter(|other| *other < peers.size());
        let other = other.ok_or_else(|| Fault::from(Class::RANK).on_comm(peer))?;
        let bridge = here.party_with(&peer_comm, contexts::of_group(peer_comm.context, tag));
        let own = [bytes_of(comm.group.ranks().iter().copied()), free.clone()].concat();
        let limit = 4 * here.world.size() + free.len();
        told = Party::wait(&here.engine, bridge.swap(&own, limit, other)).map_err(|fault| fault.on_comm(peer))?;
    }
    let work = async {
        let mut len = bytes_of([told.len()]);
        party.broadcast(&mut len, leader).await?;
        told.resize(numbers(&len).next().unwrap_or(0), 0);
        party.broadcast(&mut told, leader).await
    };
    Party::wait(&here.engine, work).map_err(|fault| fault.on_comm(local))?;
    let (ranks, other_free) = told.split_at(told.len() - free.len());
    let remote = Group::new(numbers(ranks));
    if remote.ranks().iter().any(|rank| comm.group.place(*rank).is_some()) {
        return Err(Fault::new(Class::COMM, "a rank is in both groups").on_comm(local));
    }
    Contexts::common(&mut free, other_free);
    let context = Contexts::first(&free).ok_or_else(|| fault(Class::OTHER))?;
    // SAFETY: see above.
    unsafe { made.write(here.assemble(context, [Some(comm.group.clone()), Some(remote)], &comm)) };
    Ok(())
}

pub(super) unsafe fn intercomm_merge<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    is_high: i32,
    made: *mut Handle,
) -> Result<(), Fault> {
    let comm = here.communicator(handle)?;
    let Some(remote) = comm.remote.clone() else { return Err(Fault::from(Class::COMM).on_comm(handle)) };
    here.session.before_waiting();
    let [ours, theirs] = here.exchange_all(&comm, &[u8::from(is_high != 0)]).map_err(|fault| fault.on_comm(handle))?;
    let context = here.agree_with_remote(&here.party(&comm)).map_err(|fault| fault.on_comm(handle))?;
    let [ours, theirs] = [ours, theirs].map(|all| all.first().is_some_and(|high| high[0] != 0));
    // Where both say the same, the group whose first rank is lower in the world comes first.
    let is_first = if ours == theirs { comm.group.ranks().first() < remote.ranks().first() } else { theirs };
    let (first, second): (Rc<Group>, _) =
        if is_first { (comm.group.clone(), remote) } else { (remote, comm.group.clone()) };
    let all = [first.ranks(), second.ranks()].concat();
    // SAFETY: see above.
    unsafe { made.write(here.assemble(context, [Some(Group::new(all)), None], &comm)) };
    Ok(())
}
