//! `MPI_Pack`, `MPI_Unpack`, and the same in `external32`.

use core::{
    ffi::{CStr, c_char},
    slice,
};

use kernel::hal::Core;

use super::{
    super::{
        class::{Class, Fault},
        handles::Handle,
        place::Place,
        state::Here,
    },
    Datatype,
    arguments::{Number, committed, count, give_number},
    buffers::check_buffer,
    external::{from_external, to_external},
};

/// What is packed so far, or unpacked, of a buffer of so many bytes.
fn start<T: Number>(position: Place<T>, size: T, needed: Option<i64>) -> Result<(usize, usize), Fault> {
    let at = position.read().wide();
    let end = needed.and_then(|needed| at.checked_add(needed)).filter(|end| at >= 0 && *end <= size.wide());
    let end = end.ok_or_else(|| Fault::new(Class::TRUNCATE, "the packed buffer is too short for these values"))?;
    Ok((at as usize, end as usize))
}

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them.

#[expect(clippy::too_many_arguments, reason = "the standard's")]
pub(super) unsafe fn pack<C: Core, T: Number>(
    here: &Here<'_, '_, '_, C>,
    source: *const u8,
    number: T,
    datatype: Handle,
    packed: *mut u8,
    size: T,
    position: Place<T>,
    comm: Handle,
) -> Result<(), Fault> {
    let of = here.communicator(comm)?;
    // SAFETY: see above; the packed bytes lie within the buffer.
    let work = || unsafe {
        let (datatype, number) = (committed(here, datatype)?, count(number)?);
        check_buffer(source, number, &datatype)?;
        let (at, end) = start(position, size, datatype.size_count().checked_mul(number as i64))?;
        if end > at {
            datatype.pack(source, number, slice::from_raw_parts_mut(packed.add(at), end - at));
        }
        give_number(position, end as i64);
        Ok(())
    };
    work().map_err(|fault| of.blame(fault))
}

#[expect(clippy::too_many_arguments, reason = "the standard's")]
pub(super) unsafe fn unpack<C: Core, T: Number>(
    here: &Here<'_, '_, '_, C>,
    packed: *const u8,
    size: T,
    position: Place<T>,
    target: *mut u8,
    number: T,
    datatype: Handle,
    comm: Handle,
) -> Result<(), Fault> {
    let of = here.communicator(comm)?;
    // SAFETY: see above; the packed bytes lie within the buffer.
    let work = || unsafe {
        let (datatype, number) = (committed(here, datatype)?, count(number)?);
        check_buffer(target, number, &datatype)?;
        let (at, end) = start(position, size, datatype.size_count().checked_mul(number as i64))?;
        if end > at {
            datatype.unpack(slice::from_raw_parts(packed.add(at), end - at), target, number);
        }
        give_number(position, end as i64);
        Ok(())
    };
    work().map_err(|fault| of.blame(fault))
}

pub(super) fn pack_size<C: Core, T: Number>(
    here: &Here<'_, '_, '_, C>,
    number: T,
    datatype: Handle,
    comm: Handle,
    size: Place<T>,
) -> Result<(), Fault> {
    let of = here.communicator(comm)?;
    let work = || {
        let bytes = here.datatypes.get(datatype)?.size_count().checked_mul(count(number)? as i64);
        size.write(bytes.and_then(T::of).unwrap_or_else(T::undefined));
        Ok(())
    };
    work().map_err(|fault| of.blame(fault))
}

/// Refuses what is not `external32`.
unsafe fn check_representation(name: *const c_char) -> Result<(), Fault> {
    // SAFETY: see above.
    if name.is_null() || unsafe { CStr::from_ptr(name) } != c"external32" {
        return Err(Fault::new(Class::UNSUPPORTED_DATAREP, "the only data representation is external32"));
    }
    Ok(())
}

fn external_bytes(datatype: &Datatype, number: usize) -> Option<i64> {
    datatype.external_size()?.checked_mul(number as i64)
}

#[expect(clippy::too_many_arguments, reason = "the standard's")]
pub(super) unsafe fn pack_external<C: Core, T: Number, S: Number>(
    here: &Here<'_, '_, '_, C>,
    representation: *const c_char,
    source: *const u8,
    number: T,
    datatype: Handle,
    packed: *mut u8,
    size: S,
    position: Place<S>,
) -> Result<(), Fault> {
    let (datatype, number) = (committed(here, datatype)?, count(number)?);
    check_buffer(source, number, &datatype)?;
    // SAFETY: see above; the packed bytes lie within the buffer, and each number is one of the values'.
    unsafe {
        check_representation(representation)?;
        let (mut at, end) = start(position, size, external_bytes(&datatype, number))?;
        for value in 0..number as i64 {
            datatype.for_each_number(value * datatype.extent_count(), &mut |offset, format, external| {
                let bytes = slice::from_raw_parts(source.wrapping_offset(offset as isize), format.size());
                to_external(format, bytes, slice::from_raw_parts_mut(packed.add(at), external));
                at += external;
            });
        }
        debug_assert_eq!(at, end, "as many bytes as were counted");
        give_number(position, end as i64);
        Ok(())
    }
}

#[expect(clippy::too_many_arguments, reason = "the standard's")]
pub(super) unsafe fn unpack_external<C: Core, T: Number, S: Number>(
    here: &Here<'_, '_, '_, C>,
    representation: *const c_char,
    packed: *const u8,
    size: S,
    position: Place<S>,
    target: *mut u8,
    number: T,
    datatype: Handle,
) -> Result<(), Fault> {
    let (datatype, number) = (committed(here, datatype)?, count(number)?);
    check_buffer(target, number, &datatype)?;
    // SAFETY: as in `pack_external`.
    unsafe {
        check_representation(representation)?;
        let (mut at, end) = start(position, size, external_bytes(&datatype, number))?;
        for value in 0..number as i64 {
            datatype.for_each_number(value * datatype.extent_count(), &mut |offset, format, external| {
                let bytes = slice::from_raw_parts_mut(target.wrapping_offset(offset as isize), format.size());
                from_external(format, slice::from_raw_parts(packed.add(at), external), bytes);
                at += external;
            });
        }
        give_number(position, end as i64);
        Ok(())
    }
}

pub(super) unsafe fn pack_external_size<C: Core, T: Number, S: Number>(
    here: &Here<'_, '_, '_, C>,
    representation: *const c_char,
    number: T,
    datatype: Handle,
    size: Place<S>,
) -> Result<(), Fault> {
    let bytes = external_bytes(&*here.datatypes.get(datatype)?, count(number)?);
    // SAFETY: see above.
    unsafe { check_representation(representation)? };
    size.write(bytes.and_then(S::of).unwrap_or_else(S::undefined));
    Ok(())
}
