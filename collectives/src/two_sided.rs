//! Two-sided messages through the MPB: RCCE's rendezvous (local put, remote get).
//!
//! The sender puts a chunk into its own MPB and signals the receiver; the receiver gets it from there and signals back; so
//! on, chunk by chunk. Both must name the same length. A send returns when the message has been received, which leaves the
//! sender's staging quiescent.

use hal::{LINE_BYTES, Mpb, MpbCopy, Reason, Wait};

use crate::{Comm, Error};

impl<C: Mpb + MpbCopy + Wait> Comm<'_, C> {
    /// Sends `message` to rank `to`, which has to receive as many bytes. Returns when it has.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::SelfMessage`].
    pub fn send(&self, message: &[u8], to: usize) -> Result<(), Error> {
        self.check_peer(to)?;
        let staging = self.mpb_line(self.rank(), self.mpb_layout().buffer(0));
        for chunk in message.chunks(self.message_chunk_bytes()) {
            self.hal().put(chunk, staging);
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
        let staging = self.mpb_line(from, self.mpb_layout().buffer(0));
        for chunk in message.chunks_mut(self.message_chunk_bytes()) {
            self.take_signal(from, Reason::new("a message"));
            self.hal().get(staging, chunk);
            self.signal(from);
        }
        Ok(())
    }

    /// A message goes in chunks of the first staging buffer.
    fn message_chunk_bytes(&self) -> usize {
        self.mpb_layout().buffer_lines() * LINE_BYTES
    }

    fn check_peer(&self, rank: usize) -> Result<(), Error> {
        self.check_rank(rank)?;
        if rank == self.rank() { Err(Error::SelfMessage { rank }) } else { Ok(()) }
    }
}
