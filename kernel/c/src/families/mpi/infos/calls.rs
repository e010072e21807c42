//! Infos: the functions that a program calls.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use core::ffi::{CStr, c_char};

use kernel::hal::Core;

use super::{
    super::{
        class::{Class, Fault},
        errors::write_text,
        handles::Handle,
        place::Place,
        state::Here,
    },
    Info,
};

/// No info, and what is known of how the program was started, which is nothing but its level of threads.
pub(in crate::families::mpi) const NULL: Handle = 0x130;
const ENV: Handle = 0x131;

/// Bytes of the longest key and value, with their ends.
const KEY_BYTES: usize = 256;
const VALUE_BYTES: usize = 1024;

/// Does something with an info.
fn with<C: Core, R>(
    here: &Here<'_, '_, '_, C>,
    handle: Handle,
    action: impl FnOnce(&mut Info) -> Result<R, Fault>,
) -> Result<R, Fault> {
    if handle == ENV {
        return action(&mut Info(Vec::from([("thread_level".to_string(), "MPI_THREAD_FUNNELED".to_string())])));
    }
    action(here.infos.borrow_mut().get_mut(handle).ok_or(Class::INFO)?)
}

/// Says whether an info has a key, and does something with its value if it has.
///
/// # Safety
/// The key ends with a zero.
unsafe fn find<C: Core>(
    here: &Here<'_, '_, '_, C>,
    info: Handle,
    key: *const c_char,
    flag: Place<i32>,
    action: impl FnOnce(&str) -> Result<(), Fault>,
) -> Result<(), Fault> {
    // SAFETY: the caller says so.
    let key = unsafe { text(key, KEY_BYTES, Class::INFO_KEY)? };
    with(here, info, |info| {
        let found = info.get(&key);
        flag.write(found.is_some().into());
        found.map_or(Ok(()), action)
    })
}

/// A text of the program's that is neither empty, if it is a key, nor too long.
///
/// # Safety
/// It ends with a zero.
unsafe fn text(text: *const c_char, room: usize, class: Class) -> Result<String, Fault> {
    if text.is_null() {
        return Err(class.into());
    }
    // SAFETY: the caller says so.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    if text.len() >= room || (class == Class::INFO_KEY && text.is_empty()) { Err(class.into()) } else { Ok(text) }
}

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them.

pub(crate) fn info_create<C: Core>(here: &Here<'_, '_, '_, C>, info: Place<Handle>) -> Result<(), Fault> {
    info.write(here.infos.borrow_mut().insert(Info::default()));
    Ok(())
}

pub(crate) fn info_dup<C: Core>(here: &Here<'_, '_, '_, C>, info: Handle, made: Place<Handle>) -> Result<(), Fault> {
    let copy = with(here, info, |info| Ok(info.clone()))?;
    made.write(here.infos.borrow_mut().insert(copy));
    Ok(())
}

pub(crate) fn info_free<C: Core>(here: &Here<'_, '_, '_, C>, info: Place<Handle>) -> Result<(), Fault> {
    here.infos.borrow_mut().remove(info.read()).ok_or(Class::INFO)?;
    info.write(NULL);
    Ok(())
}

pub(crate) unsafe fn info_set<C: Core>(
    here: &Here<'_, '_, '_, C>,
    info: Handle,
    key: *const c_char,
    value: *const c_char,
) -> Result<(), Fault> {
    // SAFETY: see above.
    let (key, value) =
        unsafe { (text(key, KEY_BYTES, Class::INFO_KEY)?, text(value, VALUE_BYTES, Class::INFO_VALUE)?) };
    with(here, info, |info| {
        info.set(key, value);
        Ok(())
    })
}

pub(crate) unsafe fn info_delete<C: Core>(
    here: &Here<'_, '_, '_, C>,
    info: Handle,
    key: *const c_char,
) -> Result<(), Fault> {
    // SAFETY: see above.
    let key = unsafe { text(key, KEY_BYTES, Class::INFO_KEY)? };
    with(here, info, |info| {
        info.get(&key).ok_or(Class::INFO_NOKEY)?;
        info.0.retain(|(known, _)| *known != key);
        Ok(())
    })
}

/// The value, as far as there is room, and how much room it takes with its end.
pub(crate) unsafe fn info_get_string<C: Core>(
    here: &Here<'_, '_, '_, C>,
    info: Handle,
    key: *const c_char,
    room: Place<i32>,
    value: *mut c_char,
    flag: Place<i32>,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe {
        find(here, info, key, flag, |found| {
            if let Ok(room @ 1..) = usize::try_from(room.read()) {
                write_text(found.as_bytes(), Place::of(value)?.pointer(), None, room);
            }
            room.write(found.len() as i32 + 1);
            Ok(())
        })
    }
}

/// The value, as far as there is room for so many bytes and its end.
pub(crate) unsafe fn info_get<C: Core>(
    here: &Here<'_, '_, '_, C>,
    info: Handle,
    key: *const c_char,
    len: i32,
    value: Place<c_char>,
    flag: Place<i32>,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe {
        let room = usize::try_from(len).map_err(|_| Class::ARG)?;
        find(here, info, key, flag, |found| {
            write_text(found.as_bytes(), value.pointer(), None, room + 1);
            Ok(())
        })
    }
}

pub(crate) unsafe fn info_get_valuelen<C: Core>(
    here: &Here<'_, '_, '_, C>,
    info: Handle,
    key: *const c_char,
    len: Place<i32>,
    flag: Place<i32>,
) -> Result<(), Fault> {
    // SAFETY: see above.
    unsafe {
        find(here, info, key, flag, |found| {
            len.write(found.len() as i32);
            Ok(())
        })
    }
}

pub(crate) fn info_get_nkeys<C: Core>(
    here: &Here<'_, '_, '_, C>,
    info: Handle,
    count: Place<i32>,
) -> Result<(), Fault> {
    let found = with(here, info, |info| Ok(info.0.len()))?;
    count.write(found as i32);
    Ok(())
}

pub(crate) unsafe fn info_get_nthkey<C: Core>(
    here: &Here<'_, '_, '_, C>,
    info: Handle,
    at: i32,
    key: Place<c_char>,
) -> Result<(), Fault> {
    with(here, info, |info| {
        let found = usize::try_from(at).ok().and_then(|at| info.0.get(at)).ok_or(Class::ARG)?;
        // SAFETY: see above.
        unsafe { write_text(found.0.as_bytes(), key.pointer(), None, KEY_BYTES) };
        Ok(())
    })
}
