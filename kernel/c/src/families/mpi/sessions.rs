//! Sessions: MPI without `MPI_COMM_WORLD`. A program asks one for groups of ranks, and makes communicators of these.

use alloc::format;
use core::ffi::{CStr, c_char};

use kernel::{collectives::Comm, hal::Core};

use super::{
    attributes::Of,
    class::{Class, Fault},
    collective::party::Party,
    communicators::agreement::{Bridge, agree},
    constants::{COMM_NULL, GROUP_NULL},
    contexts, environment, errors,
    groups::Group,
    handles::Handle,
    place::Place,
    state::{Here, Mpi, Phase},
};

/// No session.
const NULL: Handle = 0x120;

/// Sets of ranks that there are.
const SETS: [&CStr; 2] = [c"mpi://WORLD", c"mpi://SELF"];

impl<C: Core> Mpi<'_, C> {
    /// Whether there are open sessions.
    pub(super) fn has_sessions(&self) -> bool {
        self.sessions.borrow().iter().next().is_some()
    }

    /// Refuses what is no session.
    fn check_session(&self, session: Handle) -> Result<(), Fault> {
        self.sessions.borrow().get(session).map(|_| ()).ok_or_else(|| Class::SESSION.into())
    }
}

/// The tag by which ranks meet that make a communicator, by a text of the program's.
///
/// # Safety
/// It ends with a zero.
unsafe fn meeting(text: *const c_char) -> Result<u32, Fault> {
    // SAFETY: the caller says so.
    let bytes = unsafe { errors::read_text(text)? }.to_bytes();
    // FNV-1a.
    let hash = bytes.iter().fold(0x811C_9DC5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    Ok(contexts::of_group(contexts::OF_NO_COMMUNICATOR, hash ^ hash >> 16))
}

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them.

/// Opens messages when a program with sessions starts: all ranks are there.
pub(super) fn session_open<C: Core>(here: &Here<'_, '_, '_, C>) -> Result<(), Fault> {
    environment::open(here).map_err(|fault| fault.of_function("session_init"))
}

pub(super) fn session_init<C: Core>(
    here: &Here<'_, '_, '_, C>,
    _info: Handle,
    handler: Handle,
    session: Place<Handle>,
) -> Result<(), Fault> {
    let handler = errors::calls::checked(here, handler, Of::Session)?;
    session.write(here.sessions.borrow_mut().insert(handler));
    Ok(())
}

pub(super) fn session_finalize<C: Core>(here: &Here<'_, '_, '_, C>, session: Place<Handle>) -> Result<(), Fault> {
    let handle = session.read();
    here.check_session(handle)?;
    here.session.before_waiting();
    here.sessions.borrow_mut().remove(handle);
    if here.phase.get() != Phase::Running && !here.has_sessions() {
        here.engine.finish()?;
    }
    session.write(NULL);
    Ok(())
}

pub(super) fn session_set_errhandler<C: Core>(
    here: &Here<'_, '_, '_, C>,
    session: Handle,
    handler: Handle,
) -> Result<(), Fault> {
    here.check_session(session)?;
    let handler = errors::calls::checked(here, handler, Of::Session).map_err(|fault| fault.on_session(session))?;
    *here.sessions.borrow_mut().get_mut(session).ok_or(Class::SESSION)? = handler;
    Ok(())
}

pub(super) fn session_get_errhandler<C: Core>(
    here: &Here<'_, '_, '_, C>,
    session: Handle,
    handler: Place<Handle>,
) -> Result<(), Fault> {
    let of_session = *here.sessions.borrow().get(session).ok_or(Class::SESSION)?;
    handler.write(errors::calls::another(here, of_session));
    Ok(())
}

pub(super) fn session_call_errhandler<C: Core>(
    here: &Here<'_, '_, '_, C>,
    session: Handle,
    code: i32,
) -> Result<(), Fault> {
    here.check_session(session)?;
    errors::calls::raise(here, "session_call_errhandler", Fault::from(Class(code)).on_session(session));
    Ok(())
}

pub(super) fn session_get_num_psets<C: Core>(
    here: &Here<'_, '_, '_, C>,
    session: Handle,
    _info: Handle,
    count: Place<i32>,
) -> Result<(), Fault> {
    here.check_session(session)?;
    count.write(SETS.len() as i32);
    Ok(())
}

/// The name of a set, as far as there is room, and how much room it needs.
pub(super) unsafe fn session_get_nth_pset<C: Core>(
    here: &Here<'_, '_, '_, C>,
    session: Handle,
    _info: Handle,
    number: i32,
    room: Place<i32>,
    name: *mut c_char,
) -> Result<(), Fault> {
    here.check_session(session)?;
    let set = usize::try_from(number).ok().and_then(|number| SETS.get(number));
    let text =
        set.ok_or_else(|| Fault::new(Class::ARG, format!("set {number} of {}", SETS.len())).on_session(session))?;
    // SAFETY: see above.
    unsafe {
        if let Some(room) = usize::try_from(room.read()).ok().filter(|room| *room > 0) {
            here.refuse_missing(&[(name.is_null(), Some(session))])?;
            errors::write_text(text.to_bytes(), name, None, room);
        }
        room.write(text.count_bytes() as i32 + 1);
    }
    Ok(())
}

pub(super) unsafe fn group_from_session_pset<C: Core>(
    here: &Here<'_, '_, '_, C>,
    session: Handle,
    name: *const c_char,
    group: Place<Handle>,
) -> Result<(), Fault> {
    here.check_session(session)?;
    let world: &Comm<'_, C> = here.world;
    // SAFETY: see above.
    let name = unsafe { errors::read_text(name) };
    let made = name.and_then(|name| {
        // Names of sets are URIs, whose case says nothing.
        match SETS.iter().position(|set| set.to_bytes().eq_ignore_ascii_case(name.to_bytes())) {
            Some(0) => Ok(Group::new(0..world.size())),
            Some(_) => Ok(Group::new([world.rank()])),
            None => Err(Fault::new(Class::ARG, format!("there is no set {name:?}"))),
        }
    });
    group.write(made.as_ref().map_or(GROUP_NULL, |made| here.new_group(made.clone())));
    made.map(|_| ()).map_err(|fault| fault.on_session(session))
}

/// Only the ranks of the group take part.
pub(super) unsafe fn comm_create_from_group<C: Core>(
    here: &Here<'_, '_, '_, C>,
    group: Handle,
    text: *const c_char,
    _info: Handle,
    handler: Handle,
    made: Place<Handle>,
) -> Result<(), Fault> {
    let handler = errors::calls::checked(here, handler, Of::Comm)?;
    let work = || {
        let group = here.group(group)?;
        if group.size() == 0 {
            return Ok(COMM_NULL);
        }
        environment::check_open(here)?;
        let rank = group.place(here.world.rank());
        let rank = rank.ok_or_else(|| Fault::new(Class::GROUP, "this rank is not in the group"))?;
        here.session.before_waiting();
        // SAFETY: see above.
        let tag = unsafe { meeting(text)? };
        let party = Party::new(&here.engine, (&group, rank), &group, tag);
        let context = Party::wait(&here.engine, agree(&party, None, &here.contexts, contexts::mixed(tag)))?;
        Ok(here.assemble(context, [Some(group), None], handler))
    };
    let comm = work().map_err(|fault: Fault| fault.on_handler(handler))?;
    made.write(comm);
    Ok(())
}

/// Only the ranks of both groups take part.
pub(super) unsafe fn intercomm_create_from_groups<C: Core>(
    here: &Here<'_, '_, '_, C>,
    [local, remote]: [Handle; 2],
    [local_leader, remote_leader]: [i32; 2],
    text: *const c_char,
    handler: Handle,
    made: Place<Handle>,
) -> Result<(), Fault> {
    let handler = errors::calls::checked(here, handler, Of::Comm)?;
    let work = || {
        let (group, remote) = (here.group(local)?, here.group(remote)?);
        if group.size() == 0 || remote.size() == 0 {
            return Ok(COMM_NULL);
        }
        environment::check_open(here)?;
        let rank = group.place(here.world.rank());
        let rank = rank.ok_or_else(|| Fault::new(Class::GROUP, "this rank is not in the local group"))?;
        let leader = |number: i32, of: &Group| {
            let place = usize::try_from(number).ok().filter(|place| *place < of.size());
            place.ok_or_else(|| Fault::new(Class::RANK, format!("leader {number} of {}", of.size())))
        };
        let own_leader = leader(local_leader, &group)?;
        // Only the leader knows the other one.
        let other = if rank == own_leader { Some(leader(remote_leader, &remote)?) } else { None };
        if remote.ranks().iter().any(|rank| group.place(*rank).is_some()) {
            return Err(Fault::new(Class::GROUP, "a rank is in both groups"));
        }
        here.session.before_waiting();
        // SAFETY: see above.
        let tag = unsafe { meeting(text)? };
        let party = |peers| Party::new(&here.engine, (&group, rank), peers, tag);
        let bridge = Bridge { leader: own_leader, way: other.map(|other| (party(&remote), other)) };
        let own = party(&group);
        let agreed = agree(&own, Some(&bridge), &here.contexts, contexts::mixed(tag));
        let context = Party::wait(&here.engine, agreed)?;
        Ok(here.assemble(context, [Some(group.clone()), Some(remote)], handler))
    };
    let comm = work().map_err(|fault: Fault| fault.on_handler(handler))?;
    made.write(comm);
    Ok(())
}
