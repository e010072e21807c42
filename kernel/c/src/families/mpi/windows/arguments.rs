//! What a program says of the target of an operation.

use alloc::rc::Rc;

use kernel::hal::Core;

use super::{Window, wire::Place};
use crate::families::mpi::{
    class::{Class, Fault},
    collective::blocks::Block,
    datatypes::{
        Datatype,
        arguments::{Number, committed, count},
        buffers::check_buffer,
    },
    handles::Handle,
    state::Here,
};

/// Values at a target.
pub(super) struct Target {
    /// Rank of the world.
    pub(super) rank: usize,
    pub(super) place: Place,
    pub(super) datatype: Rc<Datatype>,
    pub(super) bytes: usize,
}

/// Values of this rank's.
pub(super) fn block<C: Core, T: Number>(
    here: &Here<'_, '_, '_, C>,
    address: *mut u8,
    number: T,
    datatype: Handle,
) -> Result<Block, Fault> {
    let (number, datatype) = (count(number)?, committed(here, datatype)?);
    datatype.size_of(number)?;
    check_buffer(address, number, &datatype)?;
    Ok(Block { address, count: number, datatype })
}

impl Window {
    /// The values that are meant; none of nobody, and what there is none of.
    pub(super) fn values<C: Core, T: Number>(
        &self,
        here: &Here<'_, '_, '_, C>,
        rank: i32,
        displacement: isize,
        number: T,
        datatype: Handle,
    ) -> Result<Option<Target>, Fault> {
        let (number, datatype) = (count(number)?, committed(here, datatype)?);
        let bytes = datatype.size_of(number)?;
        let Some(rank) = self.target(rank)? else { return Ok(None) };
        if self.parts.is_some() && displacement < 0 {
            return Err(Fault::new(Class::DISP, "the displacement is below zero"));
        }
        let flat = datatype.flat().clone();
        if let (Some(parts), Some(bounds)) = (&self.parts, flat.bounds(number)) {
            let (size, unit) = parts[self.comm.group.place(rank).unwrap_or(0)];
            let start = (displacement as i64).checked_mul(unit);
            let fits = |start: i64| {
                start.checked_add(bounds.start).is_some_and(|first| first >= 0)
                    && start.checked_add(bounds.end).is_some_and(|end| end <= size)
            };
            if !start.is_some_and(fits) {
                let why = alloc::format!("bytes {}.. of {size} at displacement {displacement}", bounds.start);
                return Err(Fault::new(Class::RMA_RANGE, why));
            }
        }
        Ok(Some(Target {
            rank,
            place: Place { displacement: displacement as i64, count: number, flat },
            datatype,
            bytes,
        }))
    }
}

/// Refuses values that do not fit where they are to go.
pub(super) fn check_len(from: usize, to: usize) -> Result<(), Fault> {
    if from > to {
        return Err(Fault::new(Class::TRUNCATE, alloc::format!("{from} bytes do not fit into {to}")));
    }
    Ok(())
}
