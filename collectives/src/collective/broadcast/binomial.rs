//! RCCE_comm's binomial tree over two-sided messages (OC-Bcast paper, section 5.2.2), the baseline for short messages.
//!
//! The whole message goes down the [binary recursive tree](super::halving), received before it is sent on: ⌈log₂ P⌉
//! messages one after the other. A rank that has the message in L1 sends it without reading memory, which is every
//! rank but the root, and the root after its first message; a message that is larger than L1 is read again each time.
//!
//! Messages go through one staging buffer, or through RCCE's 251 lines while its [profile](crate::mpb::rcce_profile) is in
//! force.

use hal::Messenger;

use super::{Ring, halving::halvings};
use crate::{Comm, Error, mpb::tagged::Source};

pub(super) fn broadcast<C: Messenger>(comm: &Comm<'_, C>, message: &mut [u8], root: usize) -> Result<(), Error> {
    let ring = Ring::new(comm, root);
    let mut source = Source::Memory;
    for halving in halvings(ring.position, comm.size()) {
        if ring.position == halving.first {
            comm.send_within(source, message, ring.rank_at(halving.middle))?;
        } else if ring.position == halving.middle {
            comm.receive_within(message, ring.rank_at(halving.first))?;
        } else {
            continue;
        }
        source = Source::after(message.len());
    }
    Ok(())
}
