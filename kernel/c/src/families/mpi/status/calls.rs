//! Statuses: the functions that a program calls.

use kernel::hal::Core;

use super::{
    super::{
        class::{Class, Fault},
        constants::UNDEFINED,
        handles::Handle,
        place::Place,
        state::Here,
    },
    Status,
};

/// Elements of the datatype in the message, if they are whole.
fn count<C: Core>(here: &Here<'_, '_, '_, C>, len: u64, datatype: Handle) -> Result<Option<u64>, Fault> {
    let size = here.datatypes.get(datatype)?.size() as u64;
    Ok(match size {
        0 => (len == 0).then_some(0),
        _ => len.is_multiple_of(size).then(|| len / size),
    })
}

pub(crate) fn get_count<C: Core>(
    here: &Here<'_, '_, '_, C>,
    status: Place<Status>,
    datatype: Handle,
    number: Place<i32>,
) -> Result<(), Fault> {
    let found = count(here, status.read().len_bytes(), datatype)?;
    number.write(found.and_then(|count| i32::try_from(count).ok()).unwrap_or(UNDEFINED));
    Ok(())
}

pub(crate) fn get_count_c<C: Core>(
    here: &Here<'_, '_, '_, C>,
    status: Place<Status>,
    datatype: Handle,
    number: Place<i64>,
) -> Result<(), Fault> {
    let found = count(here, status.read().len_bytes(), datatype)?;
    number.write(found.map_or(UNDEFINED.into(), |count| count as i64));
    Ok(())
}

/// As if a message had come with so many basic values of the datatype.
pub(crate) fn status_set_elements_c<C: Core>(
    here: &Here<'_, '_, '_, C>,
    status: Place<Status>,
    datatype: Handle,
    number: i64,
) -> Result<(), Fault> {
    let datatype = here.datatypes.get(datatype)?;
    let len = u64::try_from(number).ok().and_then(|number| datatype.bytes_of_elements(number));
    let len = len.ok_or_else(|| Fault::new(Class::COUNT, "there are no messages with so many values"))?;
    let mut set = status.read();
    set.set_len_bytes(len);
    status.write(set);
    Ok(())
}

pub(crate) fn test_cancelled<C: Core>(
    _: &Here<'_, '_, '_, C>,
    status: Place<Status>,
    flag: Place<i32>,
) -> Result<(), Fault> {
    flag.write(status.read().internal[2]);
    Ok(())
}

pub(crate) fn status_set_cancelled<C: Core>(
    _: &Here<'_, '_, '_, C>,
    status: Place<Status>,
    flag: i32,
) -> Result<(), Fault> {
    let mut set = status.read();
    set.internal[2] = i32::from(flag != 0);
    status.write(set);
    Ok(())
}
