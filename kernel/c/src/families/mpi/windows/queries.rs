//! What programs say and ask of windows beside their use: names, attributes, groups, error handlers.

use alloc::string::ToString;
use core::ffi::c_char;

use kernel::hal::Core;

use super::access::on_window;
use crate::families::mpi::{
    attributes::Of,
    class::{Class, Fault},
    errors,
    handles::Handle,
    infos::{Info, calls::NULL as NO_INFO},
    place::Place,
    state::Here,
};

/// The handle of no window.
const NULL: Handle = 0x110;

/// The ABI's keys of what is always attached.
const BASE: i32 = 601;
const UNIT: i32 = 602;
const SIZE: i32 = 603;
const FLAVOR: i32 = 604;
const MODEL: i32 = 605;

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them.

pub(super) fn get_group<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    group: Place<Handle>,
) -> Result<(), Fault> {
    on_window(here, handle, |window| {
        group.write(here.new_group(window.comm.group.clone()));
        Ok(())
    })
}

pub(super) unsafe fn set_name<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    name: *const c_char,
) -> Result<(), Fault> {
    on_window(here, handle, |window| {
        // SAFETY: see above.
        *window.name.borrow_mut() = unsafe { errors::read_name(name)? };
        Ok(())
    })
}

pub(super) unsafe fn get_name<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    name: Place<c_char>,
    len: Place<i32>,
) -> Result<(), Fault> {
    let own = if handle == NULL {
        c"MPI_WIN_NULL".into()
    } else {
        on_window(here, handle, |window| Ok(window.name.borrow().clone()))?
    };
    // SAFETY: see above; a name has room for as many bytes.
    unsafe { errors::write_name(&own, name, len) };
    Ok(())
}

pub(super) unsafe fn set_attr<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    key: i32,
    value: usize,
) -> Result<(), Fault> {
    on_window(here, handle, |window| {
        // SAFETY: see above.
        unsafe { window.attributes.set(&here.keys, (Of::Window, handle), key, value) }
    })
}

pub(super) fn get_attr<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    key: i32,
    value: Place<usize>,
    flag: Place<i32>,
) -> Result<(), Fault> {
    on_window(here, handle, |window| {
        let facts = &window.facts;
        let found = match key {
            BASE => Some(facts.base.get()),
            UNIT => Some((&raw const facts.unit).expose_provenance()),
            SIZE => Some((&raw const facts.size).expose_provenance()),
            FLAVOR => Some((&raw const facts.flavor).expose_provenance()),
            MODEL => Some((&raw const facts.model).expose_provenance()),
            _ => window.attributes.get(&here.keys, Of::Window, key)?,
        };
        flag.write(found.is_some().into());
        found.into_iter().for_each(|found| value.write(found));
        Ok(())
    })
}

pub(super) unsafe fn delete_attr<C: Core>(here: &Here<'_, '_, '_, C>, handle: Handle, key: i32) -> Result<(), Fault> {
    on_window(here, handle, |window| {
        // SAFETY: see above.
        unsafe { window.attributes.delete(&here.keys, (Of::Window, handle), key) }
    })
}

/// Hints of windows that the standard names, as they are unless a program says something else.
const HINTS: [(&str, &str); 6] = [
    ("no_locks", "false"),
    ("accumulate_ordering", "rar,raw,war,waw"),
    ("accumulate_ops", "same_op_no_op"),
    ("same_size", "false"),
    ("same_disp_unit", "false"),
    ("alloc_shared_noncontig", "false"),
];

/// The hints of a window that is made with this info.
pub(super) fn hints_by<C: Core>(here: &Here<'_, '_, '_, C>, info: Handle) -> Result<Info, Fault> {
    let mut hints = Info::default();
    HINTS.into_iter().for_each(|(key, value)| hints.set(key.to_string(), value.to_string()));
    note_hints(here, info, &mut hints)?;
    Ok(hints)
}

/// Notes what an info says of hints, which change nothing; those that are not known are not noted.
fn note_hints<C: Core>(here: &Here<'_, '_, '_, C>, info: Handle, hints: &mut Info) -> Result<(), Fault> {
    if info == NO_INFO {
        return Ok(());
    }
    let infos = here.infos.borrow();
    let given = infos.get(info).ok_or(Class::INFO)?;
    for (key, value) in HINTS.into_iter().filter_map(|(key, _)| Some((key, given.get(key)?))) {
        hints.set(key.to_string(), value.to_string());
    }
    Ok(())
}

pub(super) unsafe fn set_info<C: Core>(here: &Here<'_, '_, '_, C>, handle: Handle, info: Handle) -> Result<(), Fault> {
    on_window(here, handle, |window| note_hints(here, info, &mut window.hints.borrow_mut()))
}

pub(super) fn get_info<C: Core>(here: &Here<'_, '_, '_, C>, handle: Handle, info: Place<Handle>) -> Result<(), Fault> {
    on_window(here, handle, |window| {
        let hints = window.hints.borrow().clone();
        let made = here.infos.borrow_mut().insert(hints);
        info.write(made);
        Ok(())
    })
}

pub(super) unsafe fn set_errhandler<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    handler: Handle,
) -> Result<(), Fault> {
    on_window(here, handle, |window| {
        window.errhandler.set(errors::calls::checked(here, handler, Of::Window)?);
        Ok(())
    })
}

pub(super) fn get_errhandler<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    handler: Place<Handle>,
) -> Result<(), Fault> {
    on_window(here, handle, |window| {
        handler.write(errors::calls::another(here, window.errhandler.get()));
        Ok(())
    })
}

pub(super) unsafe fn call_errhandler<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    code: i32,
) -> Result<(), Fault> {
    here.windows.get(handle)?;
    errors::calls::raise(here, "win_call_errhandler", Fault::from(Class(code)).on_window(handle));
    Ok(())
}
