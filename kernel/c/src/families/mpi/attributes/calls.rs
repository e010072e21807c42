//! Attributes: the functions that a program calls.

use core::ffi::c_void;

use kernel::hal::Core;

use super::{
    super::{class::Fault, handles::Handle, place::Place, state::Here},
    Of,
};

/// No key.
const INVALID: i32 = 0;

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them.

macro_rules! keys {
    ($($create:ident, $free:ident of $of:ident;)*) => {
        $(
            pub(crate) fn $create<C: Core>(
                here: &Here<'_, '_, '_, C>,
                copy: usize,
                delete: usize,
                key: Place<i32>,
                extra: *mut c_void,
            ) -> Result<(), Fault> {
                key.write(here.keys.create(Of::$of, copy, delete, extra));
                Ok(())
            }

            pub(crate) fn $free<C: Core>(here: &Here<'_, '_, '_, C>, key: Place<i32>) -> Result<(), Fault> {
                here.keys.free(key.read(), Of::$of)?;
                key.write(INVALID);
                Ok(())
            }
        )*
    };
}

keys! {
    comm_create_keyval, comm_free_keyval of Comm;
    type_create_keyval, type_free_keyval of Datatype;
    win_create_keyval, win_free_keyval of Window;
}

pub(crate) unsafe fn comm_set_attr<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    key: i32,
    value: usize,
) -> Result<(), Fault> {
    let comm = here.communicator(handle)?;
    // SAFETY: see above.
    unsafe { comm.attributes.set(&here.keys, (Of::Comm, handle), key, value) }.map_err(|fault| fault.on_comm(handle))
}

pub(crate) fn comm_get_attr<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    key: i32,
    value: Place<usize>,
    flag: Place<i32>,
) -> Result<(), Fault> {
    let comm = here.communicator(handle)?;
    let found = match here.predefined.get(key) {
        Some(place) => Some(place),
        None => comm.attributes.get(&here.keys, Of::Comm, key).map_err(|fault| fault.on_comm(handle))?,
    };
    flag.write(found.is_some().into());
    found.into_iter().for_each(|found| value.write(found));
    Ok(())
}

pub(crate) unsafe fn comm_delete_attr<C: Core>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    key: i32,
) -> Result<(), Fault> {
    let comm = here.communicator(handle)?;
    // SAFETY: see above.
    unsafe { comm.attributes.delete(&here.keys, (Of::Comm, handle), key) }.map_err(|fault| fault.on_comm(handle))
}
