//! Our fastest broadcasts: short messages in polled lines, long ones through hosts.

mod hosts;
mod long;
mod pieces;
mod rotation;
mod select;
mod short;
mod tree;

use hal::{Clock, Mpb, MpbCopy, Wait};

use crate::Comm;

use self::tree::Tree;

/// The faster one for the length.
pub(super) fn broadcast<C: Mpb + MpbCopy + Clock + Wait>(comm: &Comm<'_, C>, message: &mut [u8], root: usize) {
    if select::is_short(&Tree::new(comm, root), message.len()) {
        short(comm, message, root);
    } else {
        long(comm, message, root);
    }
}

/// 28 bytes at a time in tagged lines.
pub(super) fn short<C: Mpb + MpbCopy + Clock + Wait>(comm: &Comm<'_, C>, message: &mut [u8], root: usize) {
    if comm.size() > 1 {
        short::broadcast(comm, &Tree::new(comm, root), message);
    }
}

/// Put once into the MPBs of hosts, and got from there.
pub(super) fn long<C: Mpb + MpbCopy + Clock + Wait>(comm: &Comm<'_, C>, message: &mut [u8], root: usize) {
    if comm.size() > 1 {
        long::broadcast(comm, &Tree::new(comm, root), message);
    }
}
