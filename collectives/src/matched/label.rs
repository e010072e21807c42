//! What messages are known by.

use hal::{Act, Core, CoreId};

use crate::Comm;

/// Whose messages are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// Messages from any rank.
    Any,
    /// Messages from this rank.
    Rank(usize),
}

/// Which messages are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tag {
    /// Messages with any tag.
    Any,
    /// Messages with this tag.
    Is(u32),
    /// Messages with a tag from the first number to the second, both included.
    Within(u32, u32),
}

/// What is known of a message besides its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Envelope {
    /// The rank that has sent it.
    pub source: usize,
    /// Its tag.
    pub tag: u32,
    /// Its length in bytes.
    pub len_bytes: usize,
}

impl Envelope {
    pub(super) fn of<C: Core>(comm: &Comm<'_, C>, label: &Label) -> Self {
        let source = comm.members().rank_on(CoreId::new(label.from));
        Self { source: source.unwrap_or(label.from), tag: label.tag, len_bytes: label.len }
    }
}

/// What a message is known by at its receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Label {
    pub(super) context: u32,
    /// Rank of the world that has sent it.
    pub(super) from: usize,
    pub(super) tag: u32,
    pub(super) len: usize,
}

impl Label {
    /// The message is with this rank's program, or it has dropped it.
    pub(super) fn declare_received<C: Core>(&self, comm: &Comm<'_, C>) {
        let channel = [self.context.into(), self.tag.into(), 0];
        comm.hal().declare(&Act::Receives { from: CoreId::new(self.from), channel });
    }
}

/// What a receive, or a probe, wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pattern {
    pub(super) context: u32,
    /// Rank of the world; any, if none.
    pub(super) from: Option<usize>,
    pub(super) tag: Tag,
}

impl Pattern {
    pub(super) fn fits(&self, label: &Label) -> bool {
        self.context == label.context
            && self.from.is_none_or(|from| from == label.from)
            && match self.tag {
                Tag::Any => true,
                Tag::Is(tag) => tag == label.tag,
                Tag::Within(first, last) => (first..=last).contains(&label.tag),
            }
    }
}
