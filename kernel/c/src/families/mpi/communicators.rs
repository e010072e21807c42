//! Communicators: how they are made, compared and freed.

use alloc::{
    rc::Rc,
    string::{String, ToString},
    vec::Vec,
};
use core::{
    cell::{Cell, RefCell},
    ffi::{CStr, c_char},
};

use kernel::hal::Core;

use super::{
    Mpi,
    attributes::Attributes,
    class::{Class, Fault},
    collective::party::Party,
    constants::{COMM_NULL, COMM_SELF, COMM_WORLD, CONGRUENT, IDENT, SIMILAR, UNDEFINED, UNEQUAL},
    contexts::{self, Contexts},
    errors::{ARE_FATAL, write_text},
    groups::Group,
    handles::Handle,
    table::Here,
    topologies::Topology,
};

/// Those that are always there.
pub(crate) const FIRST: [Handle; 2] = [COMM_WORLD, COMM_SELF];

/// The longest name, with its end.
const NAME_BYTES: usize = 128;

/// `MPI_COMM_TYPE_*`.
const SHARED: i32 = 221;
const UNGUIDED: i32 = 222;
const GUIDED: i32 = 223;
const BY_RESOURCE: i32 = 224;

/// A communicator.
pub(crate) struct Communicator {
    pub(crate) context: u32,
    pub(crate) group: Rc<Group>,
    /// The other group of an intercommunicator.
    pub(crate) remote: Option<Rc<Group>>,
    /// Of this rank in its group.
    pub(crate) rank: usize,
    /// Operations of all so far.
    operations: Cell<u32>,
    name: RefCell<String>,
    pub(crate) errhandler: Cell<Handle>,
    pub(crate) attributes: Attributes,
    pub(crate) topology: RefCell<Option<Rc<Topology>>>,
    /// Its own handle.
    pub(crate) handle: Cell<Handle>,
}

impl Communicator {
    /// Of this rank of the world, with the error handler of another one.
    fn new(
        context: u32,
        [group, remote]: [Option<Rc<Group>>; 2],
        world_rank: usize,
        errhandler: Handle,
    ) -> Option<Self> {
        let group = group?;
        Some(Self {
            context,
            rank: group.place(world_rank)?,
            group,
            remote,
            operations: Cell::new(0),
            name: RefCell::default(),
            errhandler: Cell::new(errhandler),
            attributes: Attributes::default(),
            topology: RefCell::default(),
            handle: Cell::new(COMM_NULL),
        })
    }

    pub(crate) fn size(&self) -> usize {
        self.group.size()
    }

    /// The group that ranks of messages are of.
    pub(crate) fn peers(&self) -> &Rc<Group> {
        self.remote.as_ref().unwrap_or(&self.group)
    }

    /// The tag of the next operation of all.
    fn next_operation(&self) -> u32 {
        let number = self.operations.get();
        self.operations.set(number.wrapping_add(1));
        contexts::of_operation(self.context, number)
    }
}

impl<'r, C: Core> Mpi<'r, C> {
    /// Makes the communicators that are always there.
    pub(crate) fn make_first(&self) {
        let rank = self.world.rank();
        let groups = [Group::new(0..self.world.size()), Group::new([rank])];
        let mut made = groups.into_iter().zip(0..).zip(FIRST).zip(["MPI_COMM_WORLD", "MPI_COMM_SELF"]).filter_map(
            |(((group, context), handle), name)| {
                let comm = Communicator::new(context, [Some(group), None], rank, ARE_FATAL)?;
                *comm.name.borrow_mut() = name.to_string();
                comm.handle.set(handle);
                Some(Rc::new(comm))
            },
        );
        *self.first.borrow_mut() = made.next().zip(made.next()).map(<[_; 2]>::from);
    }

    /// The ranks of the next operation of all on a communicator; the peers are those of the other group of an
    /// intercommunicator.
    pub(crate) fn party(&self, comm: &Communicator) -> Party<'r, C> {
        self.party_with(comm, comm.next_operation())
    }

    pub(super) fn party_with(&self, comm: &Communicator, tag: u32) -> Party<'r, C> {
        Party {
            engine: self.engine.clone(),
            group: comm.group.clone(),
            rank: comm.rank,
            peers: comm.peers().clone(),
            tag,
        }
    }

    /// Waits until all ranks of a communicator's group are here.
    pub(crate) fn barrier(&self, comm: &Communicator) -> Result<(), Fault> {
        Party::wait(&self.engine, self.party(comm).local().barrier())
    }

    /// The bytes of all ranks of a communicator's group, of which each has as many.
    pub(crate) fn gather_all_bytes(&self, comm: &Communicator, own: &[u8]) -> Result<Vec<Vec<u8>>, Fault> {
        Party::wait(&self.engine, self.party(comm).local().gather_all_bytes(own))
    }

    /// A number for a communicator that all ranks of a party can use.
    pub(super) fn agree(&self, party: &Party<'r, C>) -> Result<u32, Fault> {
        let mut free = self.contexts.borrow().bytes();
        Party::wait(&self.engine, party.combine_bytes(&mut free, Contexts::common))?;
        Contexts::first(&free).ok_or_else(|| Fault::new(Class::OTHER, "there are too many communicators; free some"))
    }

    /// Makes a communicator, if this rank is in it, and takes its number.
    pub(super) fn assemble(&self, context: u32, groups: [Option<Rc<Group>>; 2], like: &Communicator) -> Handle {
        let errhandler = like.errhandler.get();
        let Some(comm) = Communicator::new(context, groups, self.world.rank(), errhandler) else { return COMM_NULL };
        self.contexts.borrow_mut().take(context);
        let comm = Rc::new(comm);
        let handle = self.communicators.borrow_mut().insert(comm.clone());
        comm.handle.set(handle);
        handle
    }

    /// An intracommunicator.
    pub(super) fn intra(&self, handle: Handle) -> Result<Rc<Communicator>, Fault> {
        let comm = self.communicator(handle)?;
        match comm.remote {
            None => Ok(comm),
            Some(_) => Err(Fault::new(Class::COMM, "it takes an intracommunicator").on_comm(handle)),
        }
    }

    /// The common number of both groups of an intercommunicator, or of the one of another.
    fn agree_on(&self, comm: &Communicator) -> Result<u32, Fault> {
        match comm.remote {
            None => self.agree(&self.party(comm)),
            Some(_) => self.agree_with_remote(&self.party(comm)),
        }
    }

    /// Divides a communicator by colours, and in the order of keys.
    fn split(&self, comm: &Communicator, color: Option<u32>, key: i32) -> Result<Handle, Fault> {
        let mut own = Vec::from(color.unwrap_or(u32::MAX).to_le_bytes());
        own.extend(key.to_le_bytes());
        let ends = self.exchange_all(comm, &own)?;
        let context = self.agree_on(comm)?;
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
        Ok(self.assemble(context, [Some(group), remote], comm))
    }

    /// Forgets a communicator. Its number can be used again: all have come so far, and with it what they have sent.
    pub(super) fn discard(&self, comm: &Communicator) {
        self.communicators.borrow_mut().remove(comm.handle.get());
        self.contexts.borrow_mut().give_back(comm.context);
    }

    /// Copies a communicator, with its topology, but without what is attached to it.
    pub(super) fn copy(&self, comm: &Communicator) -> Result<Rc<Communicator>, Fault> {
        let context = self.agree_on(comm)?;
        let handle = self.assemble(context, [Some(comm.group.clone()), comm.remote.clone()], comm);
        let copy = self.communicator(handle)?;
        (*copy.topology.borrow_mut()).clone_from(&comm.topology.borrow());
        Ok(copy)
    }
}

/// What two communicators have in common, as `MPI_Comm_compare` has it.
fn compare(one: &Communicator, other: &Communicator) -> i32 {
    let groups = match (&one.remote, &other.remote) {
        (None, None) => one.group.compare(&other.group),
        (Some(remote), Some(of_other)) => {
            let both = [one.group.compare(&other.group), remote.compare(of_other)];
            both.into_iter().max().unwrap_or(UNEQUAL)
        }
        _ => UNEQUAL,
    };
    match groups {
        IDENT if one.context == other.context => IDENT,
        IDENT => CONGRUENT,
        SIMILAR => SIMILAR,
        _ => UNEQUAL,
    }
}

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them.

pub(super) unsafe fn comm_size<C: Core>(here: &Here<'_, '_, '_, C>, comm: Handle, size: *mut i32) -> Result<(), Fault> {
    let comm = here.communicator(comm)?;
    // SAFETY: see above.
    unsafe { size.write(comm.size() as i32) };
    Ok(())
}

pub(super) unsafe fn comm_rank<C: Core>(here: &Here<'_, '_, '_, C>, comm: Handle, rank: *mut i32) -> Result<(), Fault> {
    let comm = here.communicator(comm)?;
    // SAFETY: see above.
    unsafe { rank.write(comm.rank as i32) };
    Ok(())
}

pub(super) unsafe fn comm_remote_size<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    size: *mut i32,
) -> Result<(), Fault> {
    let comm = here.communicator(handle)?;
    let remote = comm.remote.as_ref().ok_or_else(|| Fault::from(Class::COMM).on_comm(handle))?;
    // SAFETY: see above.
    unsafe { size.write(remote.size() as i32) };
    Ok(())
}

pub(super) unsafe fn comm_test_inter<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    flag: *mut i32,
) -> Result<(), Fault> {
    let comm = here.communicator(comm)?;
    // SAFETY: see above.
    unsafe { flag.write(comm.remote.is_some().into()) };
    Ok(())
}

pub(super) unsafe fn comm_group<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    group: *mut Handle,
) -> Result<(), Fault> {
    let comm = here.communicator(comm)?;
    // SAFETY: see above.
    unsafe { group.write(here.new_group(comm.group.clone())) };
    Ok(())
}

pub(super) unsafe fn comm_remote_group<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    group: *mut Handle,
) -> Result<(), Fault> {
    let comm = here.communicator(handle)?;
    let remote = comm.remote.clone().ok_or_else(|| Fault::from(Class::COMM).on_comm(handle))?;
    // SAFETY: see above.
    unsafe { group.write(here.new_group(remote)) };
    Ok(())
}

pub(super) unsafe fn comm_compare<C: Core>(
    here: &Here<'_, '_, '_, C>,
    one: Handle,
    other: Handle,
    result: *mut i32,
) -> Result<(), Fault> {
    let compared = compare(&*here.communicator(one)?, &*here.communicator(other)?);
    // SAFETY: see above.
    unsafe { result.write(compared) };
    Ok(())
}

pub(super) unsafe fn comm_dup<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    made: *mut Handle,
) -> Result<(), Fault> {
    let comm = here.communicator(handle)?;
    here.session.before_waiting();
    let copy = here.copy(&comm).map_err(|fault| fault.on_comm(handle))?;
    // SAFETY: see above.
    unsafe {
        comm.attributes.copy_to(handle, &copy.attributes).map_err(|fault| fault.on_comm(handle))?;
        made.write(copy.handle.get());
    }
    Ok(())
}

/// The hints of infos are taken and change nothing.
pub(super) unsafe fn comm_dup_with_info<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    _info: Handle,
    made: *mut Handle,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe { comm_dup(here, handle, made) }
}

pub(super) unsafe fn comm_split<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    color: i32,
    key: i32,
    made: *mut Handle,
) -> Result<(), Fault> {
    let comm = here.communicator(handle)?;
    here.session.before_waiting();
    let color = match color {
        UNDEFINED => None,
        0.. => Some(color as u32),
        _ => return Err(Fault::new(Class::ARG, "a colour is below zero").on_comm(handle)),
    };
    let split = here.split(&comm, color, key).map_err(|fault| fault.on_comm(handle))?;
    // SAFETY: see above.
    unsafe { made.write(split) };
    Ok(())
}

/// All ranks reach the same shared memory. What hardware they have in common beyond that is their tile, by one level, and their
/// core, by no communicator.
pub(super) unsafe fn comm_split_type<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    kind: i32,
    key: i32,
    _info: Handle,
    made: *mut Handle,
) -> Result<(), Fault> {
    let comm = here.intra(handle)?;
    here.session.before_waiting();
    let color = match kind {
        SHARED => Some(0),
        UNGUIDED => {
            // A split that would be no smaller is none.
            let cores_per_tile = here.world.hal().layout().cores_per_tile();
            let tile = |rank: &usize| here.world.core_of(*rank).index() / cores_per_tile;
            let own = tile(&here.world.rank());
            let is_same = comm.group.ranks().iter().all(|rank| tile(rank) == own);
            (!is_same).then_some(own as u32)
        }
        GUIDED | BY_RESOURCE | UNDEFINED => None,
        _ => return Err(Fault::from(Class::ARG).on_comm(handle)),
    };
    let split = here.split(&comm, color, key).map_err(|fault| fault.on_comm(handle))?;
    // SAFETY: see above.
    unsafe { made.write(split) };
    Ok(())
}

pub(super) unsafe fn comm_create<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    group: Handle,
    made: *mut Handle,
) -> Result<(), Fault> {
    let (comm, group) = (here.communicator(handle)?, here.group(group)?);
    here.session.before_waiting();
    if group.ranks().iter().any(|rank| comm.group.place(*rank).is_none()) {
        return Err(Fault::new(Class::GROUP, "a rank of the group is not in the communicator").on_comm(handle));
    }
    let created = if comm.remote.is_some() {
        // Each side learns who is in the other one by the places that its members name.
        let place = group.place(here.world.rank()).map_or(0, |place| place as u32 + 1);
        let ends = here.exchange_all(&comm, &place.to_le_bytes())?;
        let context = here.agree_on(&comm)?;
        let of = |group: &Group, places: &[Vec<u8>]| {
            let place = |rank: &usize| places[*rank].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
            let mut members: Vec<_> = (0..group.size()).filter(|rank| place(rank) > 0).collect();
            members.sort_by_key(|rank| place(rank));
            Group::new(members.into_iter().map(|rank| group.world_rank(rank)))
        };
        let remote = comm.remote.as_ref().map(|remote| of(remote, &ends[1]));
        let is_empty = remote.as_ref().is_none_or(|remote| remote.size() == 0);
        if is_empty { COMM_NULL } else { here.assemble(context, [Some(of(&comm.group, &ends[0])), remote], &comm) }
    } else {
        let context = here.agree(&here.party(&comm)).map_err(|fault| fault.on_comm(handle))?;
        here.assemble(context, [Some(group), None], &comm)
    };
    // SAFETY: see above.
    unsafe { made.write(created) };
    Ok(())
}

/// Only the ranks of the group take part.
pub(super) unsafe fn comm_create_group<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    group: Handle,
    tag: i32,
    made: *mut Handle,
) -> Result<(), Fault> {
    let (comm, group) = (here.intra(handle)?, here.group(group)?);
    here.session.before_waiting();
    let tag = u32::try_from(tag).map_err(|_| Fault::from(Class::TAG).on_comm(handle))?;
    let created = match group.place(here.world.rank()) {
        None => COMM_NULL,
        Some(rank) => {
            let tag = contexts::of_group(comm.context, tag);
            let party = Party { engine: here.engine.clone(), group: group.clone(), rank, peers: group.clone(), tag };
            let context = here.agree(&party).map_err(|fault| fault.on_comm(handle))?;
            here.assemble(context, [Some(group), None], &comm)
        }
    };
    // SAFETY: see above.
    unsafe { made.write(created) };
    Ok(())
}

pub(super) unsafe fn comm_free<C: Core>(here: &Here<'_, '_, '_, C>, comm: *mut Handle) -> Result<(), Fault> {
    // SAFETY: see above.
    let handle = unsafe { comm.read() };
    if FIRST.contains(&handle) {
        return Err(Fault::new(Class::COMM, "this communicator is always there").on_comm(handle));
    }
    here.session.before_waiting();
    let of = here.communicator(handle)?;
    // SAFETY: see above.
    unsafe { of.attributes.delete_all(handle).map_err(|fault| fault.on_comm(handle))? };
    here.barrier(&of)?;
    here.discard(&of);
    // SAFETY: see above.
    unsafe { comm.write(COMM_NULL) };
    Ok(())
}

pub(super) unsafe fn comm_get_name<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    name: *mut c_char,
    len: *mut i32,
) -> Result<(), Fault> {
    // No communicator has a name, too.
    let known =
        if comm == COMM_NULL { "MPI_COMM_NULL".to_string() } else { here.communicator(comm)?.name.borrow().clone() };
    // SAFETY: see above.
    unsafe { write_text(&known, name, len, NAME_BYTES) };
    Ok(())
}

pub(super) unsafe fn comm_set_name<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    name: *const c_char,
) -> Result<(), Fault> {
    // SAFETY: see above.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
    *here.communicator(comm)?.name.borrow_mut() = name;
    Ok(())
}
