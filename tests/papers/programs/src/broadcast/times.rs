//! Times of all ranks, together.

use alloc::{vec, vec::Vec};

use collectives::{Comm, Error};
use hal::Messenger;

/// When the ranks called an operation and when it returned to them, for many operations. Clocks of all ranks are the
/// same.
#[derive(Default)]
pub(crate) struct Times(Vec<u64>);

/// One operation on all ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Span {
    /// When the root called it.
    pub(crate) root_call: u64,
    /// When the last rank called it.
    pub(crate) last_call: u64,
    /// When the last rank returned.
    pub(crate) last_return: u64,
    /// When the last rank but the root returned; the root's call where there is no other.
    pub(crate) last_other_return: u64,
}

/// Numbers that a rank keeps for an operation.
const FIELDS: usize = 4;

impl Times {
    /// Keeps what one rank saw of an operation.
    pub(crate) fn push(&mut self, is_root: bool, call: u64, returned: u64) {
        let (at_root, elsewhere) = if is_root { (call, 0) } else { (0, returned) };
        self.0.extend([at_root, call, returned, elsewhere]);
    }

    /// All operations, in their order, on rank 0; nothing on others. Collective: all ranks have kept as many.
    ///
    /// # Errors
    /// Only on a dying machine.
    pub(crate) fn combine<C: Messenger>(mut self, comm: &Comm<'_, C>) -> Result<Vec<Span>, Error> {
        combine(comm, &mut self.0, u64::max)?;
        if comm.rank() != 0 {
            return Ok(Vec::new());
        }
        let span = |numbers: &[u64]| Span {
            root_call: numbers[0],
            last_call: numbers[1],
            last_return: numbers[2],
            last_other_return: numbers[3].max(numbers[0]),
        };
        Ok(self.0.chunks_exact(FIELDS).map(span).collect())
    }
}

/// Combines the numbers of all ranks, place by place, into those of rank 0: up a binomial tree of messages. Those of
/// other ranks are left as anything.
///
/// # Errors
/// Only on a dying machine.
pub(crate) fn combine<C: Messenger>(
    comm: &Comm<'_, C>,
    numbers: &mut [u64],
    with: impl Fn(u64, u64) -> u64,
) -> Result<(), Error> {
    let me = comm.rank();
    let mut theirs = vec![0_u64; numbers.len()];
    for distance in (0..).map(|level| 1 << level).take_while(|distance| *distance < comm.size()) {
        if me & distance != 0 {
            return comm.send(bytemuck::cast_slice(numbers), me - distance);
        }
        if me + distance < comm.size() {
            comm.receive(bytemuck::cast_slice_mut(&mut theirs), me + distance)?;
            numbers.iter_mut().zip(&theirs).for_each(|(own, other)| *own = with(*own, *other));
        }
    }
    Ok(())
}
