//! Messages within collective operations: RCCE's rendezvous as published, for the baselines.
//!
//! Sender and receiver know the length, since all ranks call the operation alike, so it does not go along; and a
//! message of 0 bytes is none. Both directions are [signals](crate::mpb::signals), which the operations of a communicator
//! share in their order. No message of a program can be taken for one of these, nor the other way round.

use core::ops::Range;

use hal::{LINE_BYTES, Mpb, MpbCopy, Reason, Span, Wait};

use crate::{
    Comm, Error,
    mpb::tagged::{Source, put_from},
};

impl<C: Mpb + MpbCopy + Wait> Comm<'_, C> {
    /// Sends `message`, which is where `source` says, to rank `to`, and returns when that has received it.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::SelfMessage`].
    pub(crate) fn send_within(&self, source: Source, message: &[u8], to: usize) -> Result<(), Error> {
        self.peer(to)?;
        let _span = self.hal().span(Span::new("send").with(self.core_of(to)).of(message.len()));
        let payload = self.payload();
        let staging = self.mpb_line(self.rank(), payload.start);
        self.first_buffer_is_raw(message.len().div_ceil(LINE_BYTES));
        for chunk in message.chunks(payload.len() * LINE_BYTES) {
            put_from(self.hal(), chunk, source, staging);
            self.signal(to);
            self.take_signal(to, Reason::new("a collective operation's message being received"));
        }
        Ok(())
    }

    /// Receives a message of `message.len()` bytes from rank `from`.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::SelfMessage`].
    pub(crate) fn receive_within(&self, message: &mut [u8], from: usize) -> Result<(), Error> {
        self.peer(from)?;
        let _span = self.hal().span(Span::new("receive").with(self.core_of(from)).of(message.len()));
        let payload = self.payload();
        let staging = self.mpb_line(from, payload.start);
        for chunk in message.chunks_mut(payload.len() * LINE_BYTES) {
            self.take_signal(from, Reason::new("a collective operation's message"));
            self.hal().get(staging, chunk);
            self.signal(from);
        }
        Ok(())
    }

    /// A message goes in chunks of the first staging buffer, or of what the [profile](crate::mpb::rcce_profile) has.
    fn payload(&self) -> Range<usize> {
        let layout = self.mpb_layout();
        let buffer = layout.buffer(0)..layout.buffer(1);
        if self.profile_in_force() { layout.rcce_payload() } else { buffer }
    }
}
