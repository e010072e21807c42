//! Where a handler puts what arrives, and a program takes it from.
//!
//! The handler fills one box while the program reads another one; the program exchanges them. So what the two share
//! is touched for moments only, and the handler allocates nothing.

use alloc::vec::Vec;
use core::mem;

/// A message that is complete.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) from: u16,
    pub(super) end: usize,
    /// When it was complete, in ticks of the receiver's clock.
    pub(super) arrived: u64,
}

/// Messages, one after the other.
#[derive(Default)]
pub(super) struct Filled {
    pub(super) bytes: Vec<u8>,
    pub(super) entries: Vec<Entry>,
}

impl Filled {
    pub(super) fn with_capacity(bytes: usize, messages: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), entries: Vec::with_capacity(messages) }
    }
}

/// The handler's side.
pub(super) struct Mailbox {
    filled: Filled,
    bytes: usize,
    messages: usize,
    /// Where the message that is coming in goes on.
    incoming: Option<usize>,
}

impl Mailbox {
    /// An empty mailbox for `bytes` bytes and `messages` messages.
    pub(super) fn new(bytes: usize, messages: usize) -> Self {
        Self { filled: Filled::with_capacity(bytes, messages), bytes, messages, incoming: None }
    }

    /// From now on there is no limit but the heap.
    pub(super) fn unlimit(&mut self) {
        (self.bytes, self.messages) = (usize::MAX, usize::MAX);
    }

    /// Makes room for a message of `len` bytes, unless one is coming in. False if it is full.
    pub(super) fn begin(&mut self, len: usize) -> bool {
        if self.incoming.is_some() {
            return true;
        }
        let start = self.filled.bytes.len();
        if self.filled.entries.len() >= self.messages || len > self.bytes - start {
            return false;
        }
        self.filled.bytes.resize(start + len, 0);
        self.incoming = Some(start);
        true
    }

    /// Room for the next `len` bytes of the message that is coming in.
    pub(super) fn next(&mut self, len: usize) -> &mut [u8] {
        let start = self.incoming.unwrap_or(self.filled.bytes.len());
        self.incoming = Some(start + len);
        &mut self.filled.bytes[start..start + len]
    }

    /// The message that is coming in is complete if all its bytes are there.
    pub(super) fn complete(&mut self, from: usize, arrived: u64) {
        if self.incoming == Some(self.filled.bytes.len()) {
            self.filled.entries.push(Entry { from: from as u16, end: self.filled.bytes.len(), arrived });
            self.incoming = None;
        }
    }

    /// Whether there are messages that can be taken.
    pub(super) fn has_messages(&self) -> bool {
        !self.filled.entries.is_empty() && self.incoming.is_none()
    }

    /// Takes what is there for an empty box. False if there is nothing, or a message is coming in behind it.
    pub(super) fn exchange(&mut self, empty: &mut Filled) -> bool {
        let exchanges = self.has_messages();
        if exchanges {
            mem::swap(&mut self.filled, empty);
        }
        exchanges
    }
}
