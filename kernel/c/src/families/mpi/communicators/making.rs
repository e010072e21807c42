//! How communicators are made and freed.

use alloc::{boxed::Box, rc::Rc, string::ToString, vec::Vec};

use kernel::hal::Core;

use super::{
    super::{
        attributes::Attributes,
        class::{Class, Fault},
        collective::party::Party,
        constants::{COMM_NULL, UNDEFINED},
        contexts::{self, Contexts},
        engine::DONE,
        groups::Group,
        handles::Handle,
        place::Place,
        requests::{Request, What},
        state::Here,
        state::Mpi,
    },
    Communicator, FIRST,
    agreement::agree,
    ranks::agreed,
};

/// `MPI_COMM_TYPE_*`.
const SHARED: i32 = 221;
const UNGUIDED: i32 = 222;
const GUIDED: i32 = 223;
const BY_RESOURCE: i32 = 224;

/// The key of infos that names hardware, and what there is: all ranks reach the same shared memory, and some are on one tile.
const HARDWARE: &str = "mpi_hw_resource_type";
const MEMORY: &str = "mpi_shared_memory";
const TILE: &str = "tile";

impl<C: Core> Mpi<'_, C> {
    /// Divides a communicator by colours, and in the order of keys.
    fn split(&self, comm: &Communicator, color: Result<Option<u32>, Fault>, key: i32) -> Result<Handle, Fault> {
        let own = color.as_ref().ok().copied().flatten().unwrap_or(u32::MAX);
        let ends = self.exchange_all(comm, &[own.to_le_bytes(), key.to_le_bytes()].concat())?;
        let (context, color) = self.agree_on(comm, color)?;
        let Some(color) = color else { return Ok(COMM_NULL) };
        let chosen = |group: &Group, all: &[Vec<u8>]| {
            let word =
                |rank: usize, at: usize| all[rank][at..].first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
            let mut ranks: Vec<_> = (0..group.size()).filter(|rank| word(*rank, 0) == color).collect();
            ranks.sort_by_key(|rank| word(*rank, 4) as i32);
            Group::new(ranks.into_iter().map(|rank| group.world_rank(rank)))
        };
        let group = chosen(&comm.group, &ends[0]);
        let remote = comm.remote.as_ref().map(|remote| chosen(remote, &ends[1]));
        if remote.as_ref().is_some_and(|remote| remote.size() == 0) {
            return Ok(COMM_NULL);
        }
        Ok(self.assemble(context, [Some(group), remote], comm.errhandler.get()))
    }
}

/// Begins to copy a communicator with what is attached to it, for which the program's functions are called at once. If one of them
/// fails, at any rank, the copy fails at all of them. Returns what became of that here, and what all ranks have to go on with.
///
/// # Safety
/// The functions of the keys are those of the program.
unsafe fn begin_dup<'r, C: Core>(
    here: &Here<'_, '_, 'r, C>,
    comm: &Rc<Communicator>,
    handle: Handle,
) -> (Result<(), Fault>, impl Future<Output = Result<Rc<Communicator>, Fault>> + use<'r, C>) {
    let attributes = Attributes::default();
    // SAFETY: the caller says so.
    let copied = unsafe { comm.attributes.copy_to(handle, &attributes) }.map_err(|fault| fault.on_comm(handle));
    let contexts = if copied.is_ok() { here.contexts.clone() } else { Contexts::refusal() };
    let number = agreed(here.party(comm), comm.remote.is_some(), contexts);
    let (of, all) = (comm.clone(), here.communicators.clone());
    let made = async move {
        match number.await {
            Ok(number) => Ok(Communicator { attributes, ..of.copied(number) }.add(&all)),
            Err(fault) => {
                // SAFETY: the caller says so. The first error counts.
                let _ = unsafe { attributes.delete_all(handle) };
                Err(fault)
            }
        }
    };
    (copied, made)
}

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them.

pub(crate) unsafe fn comm_dup<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    made: Place<Handle>,
) -> Result<(), Fault> {
    let comm = here.communicator(handle)?;
    here.session.before_waiting();
    // SAFETY: see above.
    let (copied, copy) = unsafe { begin_dup(here, &comm, handle) };
    let copy = Party::wait(&here.engine, copy);
    made.write(COMM_NULL);
    copied?;
    made.write(copy.map_err(|fault| fault.on_comm(handle))?.handle.get());
    Ok(())
}

/// The hints of infos are taken and change nothing.
pub(crate) unsafe fn comm_dup_with_info<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    _info: Handle,
    made: Place<Handle>,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe { comm_dup(here, handle, made) }
}

/// Copies a communicator while the program goes on. What is attached to it is copied at once.
pub(crate) unsafe fn comm_idup<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    made: Place<Handle>,
    request: Place<Handle>,
) -> Result<(), Fault> {
    let comm = here.communicator(handle)?;
    // SAFETY: see above.
    let (copied, copy) = unsafe { begin_dup(here, &comm, handle) };
    // Until there is one, and if there is none.
    made.write(COMM_NULL);
    let pending = here.engine.spawn(Box::pin(async move {
        made.write(copy.await?.handle.get());
        Ok(DONE)
    }));
    // Without a request the other ranks hear of it all the same.
    copied?;
    request.write(here.new_request(Request::new(comm, What::Collective, Some(pending))));
    Ok(())
}

pub(crate) fn comm_split<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    color: i32,
    key: i32,
    made: Place<Handle>,
) -> Result<(), Fault> {
    let comm = here.communicator(handle)?;
    here.session.before_waiting();
    let color = match color {
        UNDEFINED => Ok(None),
        0.. => Ok(Some(color as u32)),
        _ => Err(Fault::new(Class::ARG, "a colour is below zero")),
    };
    let split = here.split(&comm, color, key).map_err(|fault| fault.on_comm(handle))?;
    made.write(split);
    Ok(())
}

/// By hardware that ranks have in common. An unguided split says in the info what that is.
pub(crate) fn comm_split_type<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    kind: i32,
    key: i32,
    info: Handle,
    made: Place<Handle>,
) -> Result<(), Fault> {
    let comm = here.intra(handle)?;
    here.session.before_waiting();
    let cores_per_tile = here.world.hal().layout().cores_per_tile();
    let tile = |rank: usize| (here.world.core_of(rank).index() / cores_per_tile) as u32;
    let own = tile(here.world.rank());
    let color = match kind {
        SHARED => Ok(Some(0)),
        UNGUIDED => {
            // A split that would be no smaller is none.
            let is_same = comm.group.ranks().iter().all(|rank| tile(*rank) == own);
            Ok((!is_same).then_some(own))
        }
        GUIDED | BY_RESOURCE => match here.infos.borrow().get(info).and_then(|info| info.get(HARDWARE)) {
            Some(MEMORY) => Ok(Some(0)),
            Some(TILE) => Ok(Some(own)),
            _ => Ok(None),
        },
        UNDEFINED => Ok(None),
        _ => Err(Class::ARG.into()),
    };
    let split = here.split(&comm, color, key).map_err(|fault| fault.on_comm(handle))?;
    if let Some(info) = here.infos.borrow_mut().get_mut(info).filter(|_| kind == UNGUIDED && split != COMM_NULL) {
        info.set(HARDWARE.to_string(), TILE.to_string());
    }
    made.write(split);
    Ok(())
}

pub(crate) fn comm_create<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    group: Handle,
    made: Place<Handle>,
) -> Result<(), Fault> {
    let comm = here.communicator(handle)?;
    here.session.before_waiting();
    let group = here.group(group).and_then(|group| {
        let is_part = group.ranks().iter().all(|rank| comm.group.place(*rank).is_some());
        let why = "a rank of the group is not in the communicator";
        if is_part { Ok(group) } else { Err(Fault::new(Class::GROUP, why)) }
    });
    let created = if comm.remote.is_some() {
        // Each side learns who is in the other one by the places that its members name.
        let place = group.as_ref().ok().and_then(|group| group.place(here.world.rank()));
        let ends = here.exchange_all(&comm, &place.map_or(0, |place| place as u32 + 1).to_le_bytes())?;
        let (context, _) = here.agree_on(&comm, group).map_err(|fault| fault.on_comm(handle))?;
        let of = |group: &Group, places: &[Vec<u8>]| {
            let place = |rank: &usize| places[*rank].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
            let mut members: Vec<_> = (0..group.size()).filter(|rank| place(rank) > 0).collect();
            members.sort_by_key(|rank| place(rank));
            Group::new(members.into_iter().map(|rank| group.world_rank(rank)))
        };
        let remote = comm.remote.as_ref().map(|remote| of(remote, &ends[1]));
        let is_empty = remote.as_ref().is_none_or(|remote| remote.size() == 0);
        if is_empty {
            COMM_NULL
        } else {
            here.assemble(context, [Some(of(&comm.group, &ends[0])), remote], comm.errhandler.get())
        }
    } else {
        let (context, group) = here.agree_on(&comm, group).map_err(|fault| fault.on_comm(handle))?;
        here.assemble(context, [Some(group), None], comm.errhandler.get())
    };
    made.write(created);
    Ok(())
}

/// Only the ranks of the group take part.
pub(crate) fn comm_create_group<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    group: Handle,
    tag: i32,
    made: Place<Handle>,
) -> Result<(), Fault> {
    let comm = here.intra(handle)?;
    let group = here.group(group).map_err(|fault| comm.blame(fault))?;
    here.session.before_waiting();
    let tag = u32::try_from(tag).map_err(|_| Fault::from(Class::TAG).on_comm(handle))?;
    let created = match group.place(here.world.rank()) {
        None => COMM_NULL,
        Some(rank) => {
            let tag = contexts::of_group(comm.context(), tag);
            let party = Party::new(&here.engine, (&group, rank), &group, tag);
            let agreed = agree(&party, None, &here.contexts, contexts::mixed(party.tag));
            let context = Party::wait(&here.engine, agreed).map_err(|fault| fault.on_comm(handle))?;
            here.assemble(context, [Some(group), None], comm.errhandler.get())
        }
    };
    made.write(created);
    Ok(())
}

/// Waits for what was begun on the communicator, too.
pub(crate) unsafe fn comm_disconnect<C: Core>(here: &Here<'_, '_, '_, C>, comm: Place<Handle>) -> Result<(), Fault> {
    let handle = comm.read();
    let of = here.communicator(handle)?;
    here.session.before_waiting();
    let waited = here.engine.wait(|| {
        let is_busy = here.requests.borrow().iter().any(|request| request.is_under_way_on(&of));
        !is_busy && of.buffered.borrow().is_over()
    });
    waited.map_err(|error| Fault::from(error).on_comm(handle))?;
    // SAFETY: see above.
    unsafe { comm_free(here, comm) }
}

/// Waits for nobody, as the standard expects of it: programs free communicators in different orders, and while others still
/// have to send what this rank receives by a request. The number is free for a new communicator when all its ranks have freed it.
pub(crate) unsafe fn comm_free<C: Core>(here: &Here<'_, '_, '_, C>, comm: Place<Handle>) -> Result<(), Fault> {
    let handle = comm.read();
    if FIRST.contains(&handle) {
        return Err(Fault::new(Class::COMM, "this communicator is always there").on_comm(handle));
    }
    let of = here.communicator(handle)?;
    // SAFETY: see above.
    unsafe { of.attributes.delete_all(handle) }.map_err(|fault| fault.on_comm(handle))?;
    here.discard(&of);
    comm.write(COMM_NULL);
    Ok(())
}
