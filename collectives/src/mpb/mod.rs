//! The message passing buffers: who owns which line, and what lives in them.

pub(crate) mod bytes;
pub(crate) mod first_buffer;
pub mod layout;
pub mod program_lines;
pub mod rcce_profile;
pub(crate) mod sequence;
pub mod signals;
pub(crate) mod spare_lines;
pub(crate) mod tagged;

use core::cell::Cell;

use hal::{Mpb, MpbLine, Topology, Trace, Wait};

use crate::{Comm, comm::members::Members};

use self::{
    first_buffer::FirstBuffer,
    layout::MpbLayout,
    sequence::Sequence,
    signals::Signals,
    spare_lines::{SPARE, SpareLines},
};

/// What a rank knows of all MPBs, and of what lives in them.
pub(crate) struct Buffers {
    layout: Cell<MpbLayout>,
    signals: Signals,
    sequence: Sequence,
    spare_lines: SpareLines,
    first_buffer: FirstBuffer,
    profile: Cell<bool>,
}

impl Buffers {
    pub(crate) fn new(hal: &impl Mpb, members: &Members, layout: MpbLayout) -> Self {
        Self {
            layout: Cell::new(layout),
            signals: Signals::new(hal, members, &layout),
            sequence: Sequence::default(),
            spare_lines: SpareLines::new(layout.spare()),
            first_buffer: FirstBuffer::default(),
            profile: Cell::new(false),
        }
    }

    pub(crate) fn layout(&self) -> MpbLayout {
        self.layout.get()
    }

    /// Lays this rank's MPB out anew, for those who have made sure that nobody uses what changes.
    pub(crate) fn set_layout(&self, layout: MpbLayout) {
        self.layout.set(layout);
    }
}

impl<C> Comm<'_, C> {
    /// The layout of every rank's MPB. It changes when windows whose ranks communicate by packets come and go; when a
    /// program [reserves](Self::reserve_lines) lines for which staging gives some away, or has lines of the [payload of
    /// RCCE](crate::RcceProfile::into_lines); and when the first other communicator is made, or messages with tags are opened
    /// before. The layout of a communicator of some ranks follows that of all ranks at its next operation.
    pub fn mpb_layout(&self) -> MpbLayout {
        self.buffers().layout()
    }

    /// The order of collective operations.
    pub(crate) fn sequence(&self) -> &Sequence {
        &self.buffers().sequence
    }

    /// The lines of this rank's MPB that protocols may take for a time.
    pub(crate) fn spare_lines(&self) -> &SpareLines {
        &self.world_of().buffers().spare_lines
    }

    /// Line `line` of `rank`'s MPB.
    pub(crate) fn mpb_line(&self, rank: usize, line: usize) -> MpbLine {
        MpbLine::new(self.core_of(rank), line)
    }
}

impl<C: Topology> Comm<'_, C> {
    /// Line `line` of this rank's own MPB.
    #[inline]
    pub(crate) fn own_line(&self, line: usize) -> MpbLine {
        MpbLine::new(self.hal().core(), line)
    }
}

impl<C: Trace> Comm<'_, C> {
    /// Says what the lines of all MPBs are, but for the spare ones.
    pub(crate) fn name_areas(&self) {
        self.mpb_layout().areas().for_each(|(what, lines)| self.hal().name_lines(lines, what));
    }
}

impl<C: Mpb + Wait> Comm<'_, C> {
    /// Lays this rank's MPB out anew. Its first staging buffer is quiescent, and all ranks do the same.
    pub(crate) fn set_mpb_layout(&self, layout: MpbLayout) {
        self.own_staging_turn(2 * self.mpb_layout().buffer_lines());
        let spare = self.mpb_layout().spare();
        self.buffers().set_layout(layout);
        self.name_areas();
        self.hal().name_lines(spare.end..layout.spare().end.max(spare.end), SPARE);
        self.sequence().restart_staging();
        self.choices().forget();
    }

    /// Finds out which lines this communicator gets from that of all ranks, where those may have changed.
    #[inline]
    pub(crate) fn refresh_mpb_layout(&self) {
        if self.is_part() {
            let layout = self.mpb_layout().lent_from(&self.world_of().mpb_layout());
            self.buffers().layout.set(layout);
        }
    }
}
