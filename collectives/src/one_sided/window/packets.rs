//! Operations as packets: what the class `Message` does instead of reaching into the target's part.

use alloc::{vec, vec::Vec};

use hal::{Core, Pod, SharedAddress};

use crate::one_sided::message::{Channel, Ticket};

use super::{operation::Operation, peers::Peers};

/// Bytes that were asked for, and the buffer that they are for.
pub(super) struct Answer<'b, T> {
    ticket: Ticket,
    into: &'b mut [T],
}

impl<T: Pod> Answer<'_, T> {
    /// Waits for the bytes.
    pub(super) fn finish<C: Core>(self, channel: &Channel, at: &Peers<'_, C>) {
        channel.finish(at.comm, self.ticket, bytemuck::cast_slice_mut(self.into));
    }
}

/// Asks `target` for an operation on its part. What it answers with is handed out when the epoch is complete.
pub(super) fn request<'b, C: Core, T: Pod>(
    channel: &Channel,
    at: &Peers<'_, C>,
    target: usize,
    operation: Operation<'b, T>,
    answers: &mut Vec<Answer<'b, T>>,
) {
    let (comm, window, size) = (at.comm, at.number, size_of::<T>());
    match operation {
        Operation::Put { to, source } => {
            for (first, block) in to.firsts().zip(source.elements().chunks(to.block.max(1))) {
                channel.put(comm, window, target, first * size, bytemuck::cast_slice(block));
            }
        }
        Operation::Get { from, into } => {
            for (first, into) in from.firsts().zip(into.chunks_mut(from.block.max(1))) {
                let ticket = channel.request(comm, window, target, first * size, into.len() * size);
                answers.push(Answer { ticket, into });
            }
        }
        Operation::Accumulate { first, source, fetched, operator } => {
            let (offset, code) = (first * size, operator.code());
            let operands = bytemuck::cast_slice(source.elements());
            match fetched {
                None => channel.accumulate(comm, window, target, offset, code, operands, None),
                Some(into) => {
                    let ticket = channel.request_fetch(comm, window, target, offset, code, operands);
                    answers.push(Answer { ticket, into });
                }
            }
        }
        Operation::CompareAndSwap { index, expected, replacement, found } => {
            let ticket = channel.request_swap(
                comm,
                window,
                target,
                index * size,
                bytemuck::bytes_of(&expected),
                bytemuck::bytes_of(&replacement),
            );
            answers.push(Answer { ticket, into: core::slice::from_mut(found) });
        }
        Operation::CopyTo(copy) => {
            let mut bytes = vec![0; copy.len_bytes];
            let (lines, within) = copy.lines_at(copy.from, comm.regions());
            comm.hal().read(lines, within, &mut bytes);
            channel.put(comm, window, target, offset_in_part(at, target, copy.to), &bytes);
        }
        Operation::CopyFrom(copy) => {
            let mut bytes = vec![0; copy.len_bytes];
            channel.get(comm, window, target, offset_in_part(at, target, copy.from), &mut bytes);
            let (lines, within) = copy.lines_at(copy.to, comm.regions());
            comm.hal().write(lines, within, &bytes);
        }
        Operation::Notify { counter } => channel.notify(comm, window, target, counter as u32),
    }
}

/// Where a byte of `target`'s part is in it.
fn offset_in_part<C: Core>(at: &Peers<'_, C>, target: usize, address: SharedAddress) -> usize {
    address.offset() - at.part(target).start().offset()
}
