//! The MPBs as RCCE lays them out: one payload buffer of 251 lines, for its algorithms only.
//!
//! The OC-Bcast paper compares with algorithms over RCCE's send and receive, which have all of the MPB but a few
//! flags for one message (section 5.1). Here windows, cells and staging share it, and a message goes through 96
//! lines. So that the baselines can run as published, all ranks can lend them the lines of everybody: while an
//! [`RcceProfile`] is in force, two-sided messages, and the broadcasts over them, go through [251
//! lines](crate::MpbLayout::rcce_payload), or what signals leave of them beyond 128 ranks. Barriers and signals go on
//! as before; everything else that needs lines of the MPBs is refused with [`Error::ProfileInForce`], or panics where
//! it cannot refuse. Communicators of some ranks have their messages and barriers then, and no other operations.
//!
//! The lines change hands in barriers, and cells, the lines of non-blocking operations and the head of messages are cleared,
//! because what is left there could look like tagged data, or like a message.

use hal::{LINE_BYTES, Messenger};

use crate::{
    Comm, Error,
    collective::call::{Call, Collective},
};

/// What the lines of the payload are.
const PROFILE: &str = "the profile of RCCE";

/// The time in which two-sided messages have the payload of RCCE. Ends when it is dropped, which is collective: a
/// barrier.
#[must_use = "the profile ends when this is dropped"]
pub struct RcceProfile<'p, 'c, C: Messenger> {
    comm: &'p Comm<'c, C>,
    /// First of the spare lines.
    spare: usize,
}

impl<'c, C: Messenger> Comm<'c, C> {
    /// Lends the MPBs to two-sided messages, until what it returns is dropped. Collective.
    ///
    /// # Errors
    /// On every rank alike: [`Error::NoSpareLines`] if windows or other communicators have lines of the MPBs,
    /// [`Error::ProfileInForce`] if it is already, [`Error::WholeMachine`] on a communicator of some ranks. [`Error::RequestsOutstanding`] on a rank that has not completed all of its non-blocking
    /// operations, as all have to.
    pub fn rcce_profile(&self) -> Result<RcceProfile<'_, 'c, C>, Error> {
        self.check_call(|| Call::new(Collective::RcceProfile))?;
        self.check_no_profile()?;
        self.check_whole("the profile of RCCE")?;
        self.check_no_requests()?;
        let layout = self.mpb_layout();
        let refused = Error::NoSpareLines { wanted: layout.rcce_payload().len() };
        if layout.section_lines() > 0 {
            return Err(refused);
        }
        let spare = self.take_spare_lines(layout.spare().len(), PROFILE).ok_or(refused)?;
        // All earlier operations are complete on all ranks when this returns.
        self.synchronise();
        self.buffers().profile.set(true);
        self.hal().name_lines(layout.rcce_lines(), PROFILE);
        Ok(RcceProfile { comm: self, spare })
    }
}

impl<'p, 'c, C: Messenger> RcceProfile<'p, 'c, C> {
    /// The communicator whose MPBs are lent.
    pub(crate) fn comm(&self) -> &'p Comm<'c, C> {
        self.comm
    }
}

impl<C> Comm<'_, C> {
    /// Whether the MPBs are lent.
    pub(crate) fn profile_in_force(&self) -> bool {
        self.world_of().buffers().profile.get()
    }

    /// Refuses what needs lines that are lent.
    pub(crate) fn check_no_profile(&self) -> Result<(), Error> {
        if self.profile_in_force() { Err(Error::ProfileInForce) } else { Ok(()) }
    }

    /// Refuses an operation that needs lines which are lent. Over messages it needs none on the communicator of all ranks. On that
    /// of some ranks it does, since each operation of one without lines begins by clearing cells, which the payload covers.
    pub(crate) fn check_lines(&self, is_over_messages: bool) -> Result<(), Error> {
        if is_over_messages && !self.is_part() { Ok(()) } else { self.check_no_profile() }
    }
}

impl<C: Messenger> Drop for RcceProfile<'_, '_, C> {
    fn drop(&mut self) {
        let (comm, layout) = (self.comm, self.comm.mpb_layout());
        comm.buffers().profile.set(false);
        comm.sequence().staging_is_raw();
        comm.first_buffer_is_raw(layout.buffer_lines());
        comm.restart_requests();
        comm.give_back_lines(self.spare, layout.spare().len());
        comm.name_areas();
        if comm.hal().is_dying() {
            return;
        }
        // Nobody reads this rank's payload any more: its last message has been received.
        let lines = layout.cells().start..layout.message_head() + 1;
        let at = comm.mpb_line(comm.rank(), lines.start);
        comm.hal().put_made(lines.len() * LINE_BYTES, at, |_, bytes| bytes.fill(0));
        comm.hal().drain();
        comm.barrier();
    }
}
