//! What a program asks of communicators, and how it names them.

use core::ffi::c_char;

use kernel::hal::Core;

use super::{
    super::{
        class::{Class, Fault},
        constants::{COMM_NULL, CONGRUENT, IDENT, SIMILAR, UNEQUAL},
        errors::{read_name, write_name},
        handles::Handle,
        place::Place,
        state::Here,
    },
    Communicator,
};

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
        IDENT if one.context() == other.context() => IDENT,
        IDENT => CONGRUENT,
        SIMILAR => SIMILAR,
        _ => UNEQUAL,
    }
}

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them.

pub(crate) fn comm_size<C: Core>(here: &Here<'_, '_, '_, C>, comm: Handle, size: Place<i32>) -> Result<(), Fault> {
    let comm = here.communicator(comm)?;
    size.write(comm.size() as i32);
    Ok(())
}

pub(crate) fn comm_rank<C: Core>(here: &Here<'_, '_, '_, C>, comm: Handle, rank: Place<i32>) -> Result<(), Fault> {
    let comm = here.communicator(comm)?;
    rank.write(comm.rank as i32);
    Ok(())
}

pub(crate) fn comm_remote_size<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    size: Place<i32>,
) -> Result<(), Fault> {
    let comm = here.communicator(handle)?;
    let remote = comm.remote.as_ref().ok_or_else(|| Fault::from(Class::COMM).on_comm(handle))?;
    size.write(remote.size() as i32);
    Ok(())
}

pub(crate) fn comm_test_inter<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    flag: Place<i32>,
) -> Result<(), Fault> {
    let comm = here.communicator(comm)?;
    flag.write(comm.remote.is_some().into());
    Ok(())
}

pub(crate) fn comm_group<C: Core>(here: &Here<'_, '_, '_, C>, comm: Handle, group: Place<Handle>) -> Result<(), Fault> {
    let comm = here.communicator(comm)?;
    group.write(here.new_group(comm.group.clone()));
    Ok(())
}

pub(crate) fn comm_remote_group<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    group: Place<Handle>,
) -> Result<(), Fault> {
    let comm = here.communicator(handle)?;
    let remote = comm.remote.clone().ok_or_else(|| Fault::from(Class::COMM).on_comm(handle))?;
    group.write(here.new_group(remote));
    Ok(())
}

pub(crate) fn comm_compare<C: Core>(
    here: &Here<'_, '_, '_, C>,
    one: Handle,
    other: Handle,
    result: Place<i32>,
) -> Result<(), Fault> {
    let compared = compare(&*here.communicator(one)?, &*here.communicator(other)?);
    result.write(compared);
    Ok(())
}

pub(crate) unsafe fn comm_get_name<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    name: Place<c_char>,
    len: Place<i32>,
) -> Result<(), Fault> {
    // No communicator has a name, too.
    let known =
        if comm == COMM_NULL { c"MPI_COMM_NULL".into() } else { here.communicator(comm)?.name.borrow().clone() };
    // SAFETY: see above.
    unsafe { write_name(&known, name, len) };
    Ok(())
}

pub(crate) unsafe fn comm_set_name<C: Core>(
    here: &Here<'_, '_, '_, C>,
    comm: Handle,
    name: *const c_char,
) -> Result<(), Fault> {
    // SAFETY: see above.
    let name = unsafe { read_name(name) }.map_err(|fault| fault.on_comm(comm))?;
    *here.communicator(comm)?.name.borrow_mut() = name;
    Ok(())
}
