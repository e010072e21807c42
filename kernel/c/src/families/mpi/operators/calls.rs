//! The functions of operators.

use kernel::hal::Core;

use super::{
    super::{
        class::{Class, Fault},
        datatypes::{
            arguments::{Number, committed, count},
            buffers::check_buffer,
        },
        handles::Handle,
        place::Place,
        state::Here,
    },
    By, Function, LargeFunction,
};

/// The handle of no operator.
const NULL: Handle = 0x20;

// SAFETY, of all that follow: pointers are the program's, as the standard of MPI has them.

pub(crate) fn create<C: Core>(
    here: &Here<'_, '_, '_, C>,
    function: Option<Function>,
    is_commutative: i32,
    new: Place<Handle>,
) -> Result<(), Fault> {
    let function = function.ok_or_else(|| Fault::new(Class::ARG, "the function is a null pointer"))?;
    new.write(here.operators.add(By::Program(function), is_commutative != 0));
    Ok(())
}

pub(crate) fn create_c<C: Core>(
    here: &Here<'_, '_, '_, C>,
    function: Option<LargeFunction>,
    is_commutative: i32,
    new: Place<Handle>,
) -> Result<(), Fault> {
    let function = function.ok_or_else(|| Fault::new(Class::ARG, "the function is a null pointer"))?;
    new.write(here.operators.add(By::LargeProgram(function), is_commutative != 0));
    Ok(())
}

pub(crate) fn free<C: Core>(here: &Here<'_, '_, '_, C>, operator: Place<Handle>) -> Result<(), Fault> {
    here.operators.free(operator.read())?;
    operator.write(NULL);
    Ok(())
}

pub(crate) fn commutative<C: Core>(
    here: &Here<'_, '_, '_, C>,
    operator: Handle,
    commutes: Place<i32>,
) -> Result<(), Fault> {
    commutes.write(here.operators.get(operator)?.is_commutative().into());
    Ok(())
}

pub(crate) unsafe fn reduce_local<C: Core, T: Number>(
    here: &Here<'_, '_, '_, C>,
    input: *const u8,
    inout: *mut u8,
    number: T,
    datatype: Handle,
    operator: Handle,
) -> Result<(), Fault> {
    let (datatype, number) = (committed(here, datatype)?, count(number)?);
    let operator = here.operators.get(operator)?;
    operator.check(&datatype)?;
    check_buffer(input, number, &datatype)?;
    check_buffer(inout, number, &datatype)?;
    let bytes = datatype.extent().unsigned_abs() * number;
    if bytes > 0 && input.addr().abs_diff(inout.addr()) < bytes {
        return Err(Fault::new(Class::BUFFER, "the two buffers overlap"));
    }
    // SAFETY: see above; the buffers do not overlap.
    unsafe { operator.combine(input, inout, number, &datatype) };
    Ok(())
}
