//! What the engine and whoever waits both know of a message that is under way.

use alloc::vec::Vec;
use core::{
    cell::{Cell, RefCell},
    mem,
};

use hal::Core;

use super::{
    label::{Envelope, Label},
    packet::lines_of,
};
use crate::{Comm, Error};

/// What the engine and whoever waits both know of a send or a receive.
pub(super) struct State {
    room: usize,
    /// Whether whoever waits reads a long message itself.
    is_direct: bool,
    is_done: Cell<bool>,
    /// Which one a message that has gone is of those of this rank there.
    number: Cell<Option<u32>>,
    /// What has come, or is coming.
    label: Cell<Option<Label>>,
    copy: RefCell<Vec<u8>>,
}

impl State {
    /// Of a receive with `room` bytes of room, or of a send.
    pub(super) fn new(room: usize, is_direct: bool) -> Self {
        let (is_done, number, label) = (Cell::new(false), Cell::new(None), Cell::new(None));
        Self { room, is_direct, is_done, number, label, copy: RefCell::default() }
    }

    /// Becomes the state of another receive that waits; returns the memory that was for a copy.
    pub(super) fn begin_again(&mut self, room: usize) -> Vec<u8> {
        mem::replace(self, Self::new(room, true)).copy.into_inner()
    }

    pub(super) fn room(&self) -> usize {
        self.room
    }

    pub(super) fn is_direct(&self) -> bool {
        self.is_direct
    }

    pub(super) fn is_done(&self) -> bool {
        self.is_done.get()
    }

    /// A message goes, as the one with this number.
    pub(super) fn go(&self, number: u32) {
        self.number.set(Some(number));
    }

    /// Which one a message that has gone is there.
    pub(super) fn number(&self) -> Option<u32> {
        self.number.get()
    }

    pub(super) fn finish_sent(&self) {
        self.is_done.set(true);
    }

    /// A message is here, or as much of one as is wanted.
    pub(super) fn finish_received(&self, label: Label, bytes: Vec<u8>) {
        self.label.set(Some(label));
        *self.copy.borrow_mut() = bytes;
        self.is_done.set(true);
    }

    /// A long message is coming.
    pub(super) fn begin(&self, label: Label) {
        self.label.set(Some(label));
        if !self.is_direct {
            self.copy.borrow_mut().resize(label.len, 0);
        }
    }

    /// The length of what has come, or is coming.
    pub(super) fn len(&self) -> Option<usize> {
        self.label.get().map(|label| label.len)
    }

    pub(super) fn finish_read(&self) {
        self.is_done.set(true);
    }

    pub(super) fn with_copy(&self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.copy.borrow_mut());
    }

    /// What was received, with the bytes that are not in `buffer` yet copied there.
    pub(super) fn take<C: Core>(&self, comm: &Comm<'_, C>, buffer: &mut [u8]) -> Result<Envelope, Error> {
        let envelope = self.take_envelope(comm)?;
        let copy = self.copy.borrow();
        if !copy.is_empty() {
            buffer[..copy.len()].copy_from_slice(&copy);
        }
        Ok(envelope)
    }

    /// What was received, and its bytes, by a receive that has no buffer.
    pub(super) fn take_message<C: Core>(&self, comm: &Comm<'_, C>) -> Result<(Envelope, Vec<u8>), Error> {
        let envelope = self.take_envelope(comm)?;
        Ok((envelope, self.copy.take()))
    }

    /// What was received, of which the bytes that are here are copied to where they belong.
    fn take_envelope<C: Core>(&self, comm: &Comm<'_, C>) -> Result<Envelope, Error> {
        let Some(label) = self.label.get() else { unreachable!("a receive that is done has a message") };
        let envelope = Envelope::of(comm, &label);
        label.declare_received(comm);
        if label.len > self.room {
            return Err(Error::Truncated { from: envelope.source, tag: label.tag, sent: label.len, room: self.room });
        }
        let copied = self.copy.borrow().len();
        if copied > 0 {
            let (written, read) = lines_of(copied);
            comm.hal().account_memory(read, written);
        }
        Ok(envelope)
    }
}
