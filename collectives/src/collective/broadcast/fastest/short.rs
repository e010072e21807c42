//! Short messages: data and tag in one line, which everybody polls.
//!
//! The root puts 28 bytes and the tag of the operation into its own [cell](crate::mpb::sequence), one line. The others
//! poll that line from where they are, and the poll that finds the tag has brought the data along: there is no flag
//! beside the data, no get after the flag, and no acknowledgement. Nothing is pushed, since a write to each reader
//! would take the root longer than all their reads of one line. Where there are more ranks than one MPB can serve,
//! those with [children](super::tree) write the line to their own cell, from registers, before they keep it.
//!
//! In a tree of one level, a few more lines can follow in the same operation: in cells of the root's neighbours,
//! which nobody else has a use for then.
//!
//! The root and every rank with children write each line, the others none, and all remote reads are polls. With one
//! level, one line takes a put, a poll that on average began half a poll before, and a line of memory written:
//! `C_put^mem(1) + 1.5 C_r^mpb + o_get^mem + C_w^mem`. Every further one takes the readers a poll, and 28 of its bytes
//! to memory.

use core::slice;

use hal::{Deadline, Messenger, Mpb, MpbLine, Place, Reason, Wait};

use crate::{
    Comm,
    mpb::{
        sequence::{CELLS, Turn, Writers},
        tagged::{Kept, Source, TAGGED_BYTES, put_tagged, tagged_data},
    },
};

use super::tree::Tree;

/// Lines that an operation can have: the root's first cell, and all cells of four neighbours.
pub(super) const MOST_LINES: usize = 1 + 4 * CELLS;

/// Lines of an operation: fewer where there are fewer ranks, or where neighbours need their cells themselves.
fn room(tree: &Tree) -> usize {
    if tree.is_flat() { MOST_LINES.min(1 + CELLS * tree.others()) } else { 1 }
}

/// Broadcasts what fits a line down a tree of one level: as [`broadcast`] does, with nothing to be found out.
#[inline]
pub(super) fn in_a_line<C: Messenger>(comm: &Comm<'_, C>, message: &mut [u8], root: usize) {
    let turn = comm.turn(0, Writers::Owner);
    let (cell, tag) = (comm.mpb_line(root, turn.cells[0]), turn.tag);
    if comm.rank() == root {
        // Of most it is known how long they are.
        return match <&[u8; TAGGED_BYTES]>::try_from(&*message) {
            Ok(message) => put_tagged(comm.hal(), message, Source::Memory, tag, cell),
            Err(_) => put_tagged(comm.hal(), message, Source::Memory, tag, cell),
        };
    }
    let reason = Reason::new("a short broadcast").from(cell.core);
    let mut data = [0; TAGGED_BYTES / size_of::<u32>()];
    // What it brings goes where it is kept from, and not by way of what a wait returns.
    let brought = &mut data;
    let found = comm.wait_until(cell, Deadline::Never, reason, move |poll| {
        let [words @ .., found] = poll.line_words::<8>(0, 0);
        (found == tag).then(|| *brought = words.map(u32::to_le))
    });
    // It does not come on a machine that is dying.
    if found.is_ok() {
        let data: &[u8; TAGGED_BYTES] = bytemuck::cast_ref(&data);
        match message.first_chunk_mut::<TAGGED_BYTES>() {
            Some(message) => comm.hal().keep(data, message),
            None => keep_some(comm, data, message),
        }
    }
}

/// Keeps less than a line brings. A call of its own, so that of a whole one it is known how long it is.
#[inline(never)]
fn keep_some<C: Messenger>(comm: &Comm<'_, C>, data: &[u8; TAGGED_BYTES], message: &mut [u8]) {
    comm.hal().keep(&data[..message.len()], message);
}

/// Broadcasts down `tree`, in as many operations as the message takes.
pub(super) fn broadcast<C: Messenger>(comm: &Comm<'_, C>, tree: &Tree, message: &mut [u8]) {
    let most = room(tree) * TAGGED_BYTES;
    match message.len() {
        0 => {}
        len if len <= most => in_one(comm, tree, message),
        _ => message.chunks_mut(most).for_each(|message| in_one(comm, tree, message)),
    }
}

/// Broadcasts what fits one operation.
#[inline]
fn in_one<C: Messenger>(comm: &Comm<'_, C>, tree: &Tree, message: &mut [u8]) {
    let turn = comm.turn(0, Writers::Owner);
    match tree.parent() {
        None => send(comm, tree, &turn, message),
        Some(parent) => pass_on(comm, tree, &turn, parent, message),
    }
}

/// What the root does in an operation.
fn send<C: Messenger>(comm: &Comm<'_, C>, tree: &Tree, turn: &Turn, message: &[u8]) {
    for (index, piece) in message.chunks(TAGGED_BYTES).enumerate() {
        put_tagged(comm.hal(), piece, Source::Memory, turn.tag, line(comm, tree, turn, comm.rank(), index));
    }
}

/// What any other rank does in one: its memory gets what the lines bring as they come.
fn pass_on<C: Messenger>(comm: &Comm<'_, C>, tree: &Tree, turn: &Turn, parent: usize, message: &mut [u8]) {
    let mut kept = Kept::new(message);
    for index in 0.. {
        let place = Place::Line(line(comm, tree, turn, parent, index));
        let reason = Reason::new("a short broadcast");
        let found = comm.wait_until(slice::from_ref(&place), Deadline::Never, reason, |poll| {
            let data = tagged_data(&poll.line(0), turn.tag).copied();
            if data.is_none() {
                poll.missing(comm.core_of(parent));
            }
            data
        });
        // It does not come on a machine that is dying.
        let Ok(data) = found else { return };
        if !tree.is_flat() {
            hand_down(comm, tree, turn, index, &data[..kept.lacks().min(TAGGED_BYTES)]);
        }
        kept.add(comm.hal(), &data);
        if kept.lacks() == 0 {
            return;
        }
    }
}

/// Puts a line that has come where the children find it, if there are any.
#[inline(never)]
fn hand_down<C: Messenger>(comm: &Comm<'_, C>, tree: &Tree, turn: &Turn, index: usize, data: &[u8]) {
    if !tree.children().is_empty() {
        put_tagged(comm.hal(), data, Source::Cache, turn.tag, line(comm, tree, turn, comm.rank(), index));
    }
}

/// Where line `index` is for the children of `rank`.
#[inline]
fn line<C: Mpb + Wait>(comm: &Comm<'_, C>, tree: &Tree, turn: &Turn, rank: usize, index: usize) -> MpbLine {
    match index.checked_sub(1) {
        None => comm.mpb_line(rank, turn.cells[0]),
        Some(beyond) => comm.mpb_line(tree.rank_at(1 + beyond / CELLS), turn.cells[beyond % CELLS]),
    }
}
