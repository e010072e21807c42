//! The two ways that packets go.

use alloc::vec::Vec;

use hal::{Core, Place, Poll};

use crate::{Comm, Error};

use super::{packet::Header, rings::Rings, sections::Sections};

/// How packets get from one rank to another, in order for each pair.
pub(super) enum Transport {
    /// Through MPBs.
    Sections(Sections),
    /// Through uncached memory.
    Rings(Rings),
}

impl Transport {
    /// Sets the better of the two up that there is room for. Collective; a barrier has to follow.
    pub(super) fn open<C: Core>(comm: &Comm<'_, C>) -> Result<Self, Error> {
        let Some(layout) = comm.mpb_layout().with_packets() else {
            comm.check_registers()?;
            return Ok(Self::Rings(Rings::allocate(comm)?));
        };
        // Nobody reads this rank's staging any more, and none but this rank writes there.
        comm.set_mpb_layout(layout);
        Ok(Self::Sections(Sections::new(comm, layout)))
    }

    /// Gives the room back. Collective; all ranks have taken all packets, and have seen that all others have.
    pub(super) fn close<C: Core>(&self, comm: &Comm<'_, C>) -> Result<(), Error> {
        match self {
            Self::Sections(_) => {
                comm.set_mpb_layout(comm.mpb_layout().without_packets());
                Ok(())
            }
            Self::Rings(rings) => rings.free(comm),
        }
    }

    /// Bytes of payload that a packet can have.
    pub(super) fn capacity(&self) -> usize {
        match self {
            Self::Sections(sections) => sections.capacity(),
            Self::Rings(_) => Rings::CAPACITY,
        }
    }

    /// Whether there is room for a packet to `to`, as far as this rank has seen.
    pub(super) fn is_ready(&self, to: usize) -> bool {
        match self {
            Self::Sections(sections) => sections.is_ready(to),
            Self::Rings(rings) => rings.is_ready(to),
        }
    }

    /// Looks whether there is room for a packet to `to`, if that takes a look before it is sent.
    pub(super) fn refresh<C: Core>(&self, comm: &Comm<'_, C>, to: usize) {
        if let Self::Sections(sections) = self {
            sections.refresh(comm, to);
        }
    }

    /// Sends a packet to `to`, which was ready. Returns false if others have taken the room.
    pub(super) fn send<C: Core>(&self, comm: &Comm<'_, C>, to: usize, header: Header, payload: &[u8]) -> bool {
        let is_sent = match self {
            Self::Sections(sections) => {
                sections.send(comm, to, header, payload);
                true
            }
            Self::Rings(rings) => rings.send(comm, to, header, payload),
        };
        if is_sent {
            comm.alert(comm.core_of(to));
        }
        is_sent
    }

    /// Takes the next of the packets that were there at the last look, with its sender.
    pub(super) fn take<C: Core>(&self, comm: &Comm<'_, C>) -> Option<(usize, Header, Vec<u8>)> {
        let taken = match self {
            Self::Sections(sections) => sections.take(comm),
            Self::Rings(rings) => rings.take(comm),
        };
        // There is room for the next one.
        if let Some((from, ..)) = &taken {
            comm.alert(comm.core_of(*from));
        }
        taken
    }

    /// Adds the places where packets, and room at the ranks of `blocked` (ascending), show.
    pub(super) fn add_places<C: Core>(
        &self,
        comm: &Comm<'_, C>,
        blocked: impl Iterator<Item = usize>,
        places: &mut Vec<Place>,
    ) {
        match self {
            Self::Sections(sections) => sections.add_places(comm, blocked, places),
            Self::Rings(rings) => rings.add_places(comm, blocked, places),
        }
    }

    /// Looks at all of these places, of which the first has number `first` in the poll. Returns whether there is a
    /// packet or room.
    pub(super) fn has_news(&self, poll: &Poll<'_>, first: usize, blocked: impl Iterator<Item = usize> + Clone) -> bool {
        match self {
            Self::Sections(sections) => sections.has_news(poll, first, blocked),
            Self::Rings(rings) => rings.has_news(poll, first, blocked),
        }
    }

    /// Looks at the same places without a wait.
    pub(super) fn look<C: Core>(&self, comm: &Comm<'_, C>, blocked: impl Iterator<Item = usize>) {
        match self {
            Self::Sections(sections) => sections.look(comm, blocked),
            Self::Rings(rings) => rings.look(comm, blocked),
        }
    }
}
