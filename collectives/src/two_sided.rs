//! Two-sided messages through the MPB: RCCE's rendezvous (local put, remote get).
//!
//! The sender puts a chunk into its own MPB and signals the receiver; the receiver gets it from there and signals
//! back; so on, chunk by chunk. Both must name the same length. A send returns when the message has been received,
//! which leaves the sender's staging quiescent.

use core::ops::Range;

use hal::{LINE_BYTES, Mpb, MpbCopy, Reason, Span, Wait};

use crate::{
    Comm, Error,
    tagged::{Source, put_from},
};

impl<C: Mpb + MpbCopy + Wait> Comm<'_, C> {
    /// Sends `message` to rank `to`, which has to receive as many bytes. Returns when it has.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::SelfMessage`].
    pub fn send(&self, message: &[u8], to: usize) -> Result<(), Error> {
        self.send_from(Source::Memory, message, to)
    }

    /// [`send`](Self::send) of a message that may be in L1, as `source` says.
    pub(crate) fn send_from(&self, source: Source, message: &[u8], to: usize) -> Result<(), Error> {
        self.check_peer(to)?;
        let _span = self.hal().span(Span::new("send").with(self.core_of(to)).of(message.len()));
        let payload = self.payload();
        let staging = self.mpb_line(self.rank(), payload.start);
        for chunk in message.chunks(payload.len() * LINE_BYTES) {
            put_from(self.hal(), chunk, source, staging);
            self.signal(to);
            self.take_signal(to, Reason::new("a message being received"));
        }
        Ok(())
    }

    /// Receives a message of exactly `message.len()` bytes from rank `from`.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::SelfMessage`].
    pub fn receive(&self, message: &mut [u8], from: usize) -> Result<(), Error> {
        self.check_peer(from)?;
        let _span = self.hal().span(Span::new("receive").with(self.core_of(from)).of(message.len()));
        let payload = self.payload();
        let staging = self.mpb_line(from, payload.start);
        for chunk in message.chunks_mut(payload.len() * LINE_BYTES) {
            self.take_signal(from, Reason::new("a message"));
            self.hal().get(staging, chunk);
            self.signal(from);
        }
        Ok(())
    }

    /// A message goes in chunks of the first staging buffer, or of what the [profile](crate::rcce_profile) has.
    fn payload(&self) -> Range<usize> {
        let layout = self.mpb_layout();
        let buffer = layout.buffer(0)..layout.buffer(1);
        if self.profile_in_force() { layout.rcce_payload() } else { buffer }
    }

    fn check_peer(&self, rank: usize) -> Result<(), Error> {
        self.check_rank(rank)?;
        if rank == self.rank() { Err(Error::SelfMessage { rank }) } else { Ok(()) }
    }
}
