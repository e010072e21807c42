//! Operations of communicators that are not all ranks, by messages between their members; and their barrier, by flags.

use alloc::{vec, vec::Vec};
use core::ffi::c_long;

use kernel::{
    collectives::{Comm, Error, InPlace, Operator, collective::element::Element},
    hal::{Core, Deadline, Reason},
};

use super::{buffers::Buffers, code};

/// A communicator as services are told it.
#[derive(Clone, Copy)]
pub(super) struct Members<'m> {
    /// Ranks of its members, ascending.
    pub(super) ranks: &'m [i32],
    /// This rank's place among them.
    pub(super) place: usize,
    /// Whether these are all ranks, and the operations of `collectives` can be used.
    pub(super) is_world: bool,
}

impl Members<'_> {
    fn rank(&self, place: usize) -> usize {
        self.ranks[place] as usize
    }

    fn check(&self, root: usize) -> Result<(), i32> {
        if root < self.ranks.len() { Ok(()) } else { Err(code::ID) }
    }
}

/// Sends the bytes of the member at place `root` to all.
pub(super) fn broadcast<C: Core>(
    comm: &Comm<'_, C>,
    members: Members<'_>,
    bytes: &mut [u8],
    root: usize,
) -> Result<(), Error> {
    if members.is_world {
        return comm.broadcast(bytes, root);
    }
    // A binomial tree: who has the bytes gives them to whoever is half as far away as the one before.
    let size = members.ranks.len();
    let distance = (members.place + size - root) % size;
    let at = |distance: usize| members.rank((distance + root) % size);
    let highest = if distance == 0 { size.next_power_of_two() } else { 1 << distance.trailing_zeros() };
    if distance > 0 {
        comm.receive(bytes, at(distance - highest))?;
    }
    let mut half = highest / 2;
    while half > 0 {
        if distance + half < size {
            comm.send(bytes, at(distance + half))?;
        }
        half /= 2;
    }
    Ok(())
}

/// A type of the elements that are combined, by RCCE's numbers.
#[derive(Clone, Copy)]
pub(super) enum Type {
    Int,
    Long,
    Float,
    Double,
}

impl Type {
    pub(super) fn of(number: i32) -> Result<Self, i32> {
        [Self::Int, Self::Long, Self::Float, Self::Double]
            .get(usize::try_from(number).unwrap_or(usize::MAX))
            .copied()
            .ok_or(code::ILLEGAL_TYPE)
    }

    pub(super) fn bytes(self) -> usize {
        match self {
            Self::Int | Self::Float => 4,
            Self::Long => size_of::<c_long>(),
            Self::Double => 8,
        }
    }

    /// Combines operands of all members into the bytes of the one at place `root`, or of all.
    pub(super) fn reduce<C: Core>(
        self,
        comm: &Comm<'_, C>,
        members: Members<'_>,
        operands: &[u8],
        operator: i32,
        root: Option<usize>,
    ) -> Result<Vec<u8>, i32> {
        match self {
            Self::Int => reduce::<i32, C>(comm, members, operands, operator, root),
            Self::Long => reduce::<c_long, C>(comm, members, operands, operator, root),
            Self::Float => reduce::<f32, C>(comm, members, operands, operator, root),
            Self::Double => reduce::<f64, C>(comm, members, operands, operator, root),
        }
    }
}

fn reduce<T: Element, C: Core>(
    comm: &Comm<'_, C>,
    members: Members<'_>,
    operands: &[u8],
    operator: i32,
    root: Option<usize>,
) -> Result<Vec<u8>, i32> {
    let operator = match operator {
        0 => Operator::<T>::SUM,
        1 => Operator::MIN,
        2 => Operator::MAX,
        3 => Operator::PRODUCT,
        _ => return Err(code::ILLEGAL_OP),
    };
    members.check(root.unwrap_or(0))?;
    // Programs' buffers need not be aligned.
    let mut values: Vec<T> = bytemuck::pod_collect_to_vec(operands);
    combine(comm, members, &mut values, operator, root).map_err(code::of)?;
    Ok(bytemuck::cast_slice(&values).to_vec())
}

fn combine<T: Element, C: Core>(
    comm: &Comm<'_, C>,
    members: Members<'_>,
    values: &mut [T],
    operator: Operator<T>,
    root: Option<usize>,
) -> Result<(), Error> {
    if members.is_world {
        return match root {
            Some(root) => comm.reduce(InPlace, values, &operator, root),
            None => comm.allreduce(InPlace, values, &operator),
        };
    }
    // The same tree as for a broadcast, upwards.
    let (size, top) = (members.ranks.len(), root.unwrap_or(0));
    let distance = (members.place + size - top) % size;
    let at = |distance: usize| members.rank((distance + top) % size);
    let mut theirs = vec![T::zeroed(); values.len()];
    let mut step = 1;
    while step < size {
        if distance & step != 0 {
            comm.send(bytemuck::cast_slice(values), at(distance - step))?;
            break;
        }
        if distance + step < size {
            comm.receive(bytemuck::cast_slice_mut(&mut theirs), at(distance + step))?;
            operator.apply(values, &theirs);
        }
        step *= 2;
    }
    if root.is_none() { broadcast(comm, members, bytemuck::cast_slice_mut(values), 0) } else { Ok(()) }
}

/// Bytes that the barrier of `members` members needs: a word for the release, and a byte for each but the first.
pub(super) fn barrier_bytes(members: usize) -> usize {
    RELEASE + members
}

/// Bytes of the release, before those of the arrivals.
const RELEASE: usize = 4;

/// A barrier of some ranks: each stores the number of the barrier, from 1 on, into a byte of the first member's MPB, who
/// then stores it where all others poll it.
pub(super) fn barrier<C: Core>(
    buffers: &Buffers<'_, C>,
    members: Members<'_>,
    start: usize,
    number: u8,
) -> Result<(), Error> {
    let (lines, first) = (&buffers.lines, members.rank(0));
    let comm = lines.comm();
    let word = start / RELEASE;
    if members.place > 0 {
        lines.store_byte(first, start + RELEASE + members.place, number)?;
        let reason = Reason::new("the release of a communicator's barrier").from(comm.core_of(first));
        let released = |value: u32| value == u32::from(number);
        lines.wait_for_word_of(first, word, reason, Deadline::Never, released)?;
        return Ok(());
    }
    for place in 1..members.ranks.len() {
        let at = start + RELEASE + place;
        let reason = Reason::new("a member of a communicator's barrier").from(comm.core_of(members.rank(place)));
        lines.wait_for_word(at / 4, reason, |value| (value >> (at % 4 * 8)) as u8 == number)?;
    }
    if members.ranks.len() > 1 {
        lines.store_word(first, word, number.into())?;
    }
    Ok(())
}
