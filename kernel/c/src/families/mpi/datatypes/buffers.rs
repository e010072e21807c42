//! What a program names as a buffer.

use super::{
    super::{
        class::{Class, Fault},
        constants::IN_PLACE,
    },
    Datatype,
};

/// Refuses a buffer that is none.
pub(crate) fn check_buffer(buffer: *const u8, count: usize, datatype: &Datatype) -> Result<(), Fault> {
    // Displacements from MPI_BOTTOM are addresses.
    let start = buffer.wrapping_offset(datatype.true_lower_bound());
    let has_values = count > 0 && datatype.size() > 0;
    if has_values && start.is_null() {
        return Err(Fault::new(Class::BUFFER, "the buffer is a null pointer"));
    }
    if has_values && buffer.addr() == IN_PLACE {
        return Err(Fault::new(Class::BUFFER, "MPI_IN_PLACE stands for no buffer here"));
    }
    Ok(())
}
