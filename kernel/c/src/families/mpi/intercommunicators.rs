//! Intercommunicators: two groups whose ranks send to each other's.

use alloc::{rc::Rc, vec::Vec};

use kernel::hal::Core;

use super::{
    class::{Class, Fault},
    collective::party::Party,
    communicators::{
        Communicator,
        agreement::{Bridge, agree},
    },
    contexts,
    groups::Group,
    handles::Handle,
    place::Place,
    state::Here,
    state::Mpi,
};

impl<'r, C: Core> Mpi<'r, C> {
    /// The bytes of all ranks of the own group, and for an intercommunicator of those of the other one. Each rank has as many.
    pub(super) fn exchange_all(&self, comm: &Communicator, own: &[u8]) -> Result<[Vec<Vec<u8>>; 2], Fault> {
        let ours = self.gather_all_bytes(comm, own)?;
        let Some(remote) = &comm.remote else { return Ok([ours, Vec::new()]) };
        let (party, ours_together) = (self.party(comm), ours.concat());
        let (bridge, local) = (Bridge::of(&party), party.local());
        let told = bridge.tell(&local, &ours_together, own.len() * remote.size());
        let theirs = Party::wait(&self.engine, told)?;
        Ok([ours, theirs.chunks(own.len()).map(<[u8]>::to_vec).collect()])
    }
}

/// Numbers as bytes.
fn bytes_of(ranks: impl IntoIterator<Item = usize>) -> Vec<u8> {
    ranks.into_iter().flat_map(|rank| (rank as u32).to_le_bytes()).collect()
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = usize> {
    bytes.chunks_exact(4).map(|word| word.first_chunk().map_or(0, |word| u32::from_le_bytes(*word)) as usize)
}

pub(super) fn intercomm_create<C: Core>(
    here: &Here<'_, '_, '_, C>,
    local: Handle,
    local_leader: i32,
    peer: Handle,
    remote_leader: i32,
    tag: i32,
    made: Place<Handle>,
) -> Result<(), Fault> {
    let comm = here.intra(local)?;
    here.session.before_waiting();
    let fault = |class: Class| Fault::from(class).on_comm(local);
    let leader = usize::try_from(local_leader).ok().filter(|leader| *leader < comm.size());
    let leader = leader.ok_or_else(|| fault(Class::RANK))?;
    let tag = u32::try_from(tag).map_err(|_| fault(Class::TAG))?;
    let party = here.party(&comm);
    let way = if comm.rank == leader {
        let peer_comm = here.communicator(peer)?;
        let peers = peer_comm.peers();
        let other = usize::try_from(remote_leader).ok().filter(|other| *other < peers.size());
        let other = other.ok_or_else(|| Fault::from(Class::RANK).on_comm(peer))?;
        Some((here.party_with(&peer_comm, contexts::of_group(peer_comm.context(), tag)), other))
    } else {
        None
    };
    let bridge = Bridge { leader, way };
    // First the leaders tell each other who is in their groups.
    let own = bytes_of(comm.group.ranks().iter().copied());
    let told = Party::wait(&here.engine, bridge.tell(&party, &own, 4 * here.world.size()));
    let remote = Group::new(numbers(&told.map_err(|fault| fault.on_comm(local))?));
    if remote.ranks().iter().any(|rank| comm.group.place(*rank).is_some()) {
        return Err(Fault::new(Class::COMM, "a rank is in both groups").on_comm(local));
    }
    // Both groups know the tag.
    let agreed = Party::wait(&here.engine, agree(&party, Some(&bridge), &here.contexts, tag));
    let context = agreed.map_err(|fault| fault.on_comm(local))?;
    made.write(here.assemble(context, [Some(comm.group.clone()), Some(remote)], comm.errhandler.get()));
    Ok(())
}

pub(super) fn intercomm_merge<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    is_high: i32,
    made: Place<Handle>,
) -> Result<(), Fault> {
    let comm = here.communicator(handle)?;
    let Some(remote) = comm.remote.clone() else { return Err(Fault::from(Class::COMM).on_comm(handle)) };
    here.session.before_waiting();
    let [ours, theirs] = here.exchange_all(&comm, &[u8::from(is_high != 0)]).map_err(|fault| fault.on_comm(handle))?;
    let (context, ()) = here.agree_on(&comm, Ok(())).map_err(|fault| fault.on_comm(handle))?;
    let [ours, theirs] = [ours, theirs].map(|all| all.first().is_some_and(|high| high[0] != 0));
    // Where both say the same, the group whose first rank is lower in the world comes first.
    let is_first = if ours == theirs { comm.group.ranks().first() < remote.ranks().first() } else { theirs };
    let (first, second): (Rc<Group>, _) =
        if is_first { (comm.group.clone(), remote) } else { (remote, comm.group.clone()) };
    let all = [first.ranks(), second.ranks()].concat();
    made.write(here.assemble(context, [Some(Group::new(all)), None], comm.errhandler.get()));
    Ok(())
}
