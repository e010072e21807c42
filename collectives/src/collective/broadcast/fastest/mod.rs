//! Our fastest broadcasts: short messages in polled lines, long ones through hosts; where cores share coherence domains,
//! one rank of each gets them for the others.

mod hosts;
mod long;
mod pieces;
mod rotation;
mod select;
mod short;
mod tree;

use hal::Messenger;

use crate::{Broadcast, Comm, Error, mpb::tagged::TAGGED_BYTES};

pub(crate) use self::select::by_domains;

use self::{select::Fastest, tree::Tree};

/// The fastest one for the length.
pub(super) fn broadcast<C: Messenger>(comm: &Comm<'_, C>, message: &mut [u8], root: usize) -> Result<(), Error> {
    if message.is_empty() || comm.size() == 1 {
        return Ok(());
    }
    let (fits_a_line, line_for_all) = (message.len() <= TAGGED_BYTES, comm.choices().line_for_all());
    if fits_a_line && line_for_all.get() {
        short::in_a_line(comm, message, root);
        return Ok(());
    }
    let tree = &Tree::new(comm, root);
    match select::fastest(comm, tree, message.len()) {
        Fastest::Short => {
            short::broadcast(comm, tree, message);
            line_for_all.set(line_for_all.get() || fits_a_line && tree.is_flat());
        }
        Fastest::Long => long::broadcast(comm, tree, message),
        Fastest::ByDomains(parameters) => return Broadcast::OcBcast(parameters).broadcast(comm, message, root),
    }
    Ok(())
}

/// 28 bytes at a time in tagged lines.
pub(super) fn short<C: Messenger>(comm: &Comm<'_, C>, message: &mut [u8], root: usize) {
    if comm.size() > 1 {
        short::broadcast(comm, &Tree::new(comm, root), message);
    }
}

/// Put once into the MPBs of hosts, and got from there.
pub(super) fn long<C: Messenger>(comm: &Comm<'_, C>, message: &mut [u8], root: usize) {
    if comm.size() > 1 {
        long::broadcast(comm, &Tree::new(comm, root), message);
    }
}
