//! The synchronisation classes that a window can have.

use crate::names;

/// How a window's epochs are synchronised (SCOSCo's Table I, and what goes beyond it). The calls and their meaning are
/// the same for all.
///
/// | class | posts and completions are | START | put before the post is seen |
/// |---|---|---|---|
/// | `Default` | marks in MPBs, in uncached memory where those are full | takes note | is queued, goes out from a later call |
/// | `TrulyOneSided` | match vectors and completion counters | takes note | is queued, goes out from a later call |
/// | `TriggerOnly` | match vectors and completion counters | takes note | blocks |
/// | `Immediate` | the same | blocks for all posts | cannot happen |
/// | `Deferred` | the same | takes note | all are carried out in COMPLETE |
/// | `Message` | packets, and so is the data | takes note | all are carried out in COMPLETE |
///
/// A queue holds 64 operations; one more waits for the post that the first of them waits for.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Class {
    /// Ours, and the fastest: single-writer marks in MPBs, no locks; nothing blocks before COMPLETE and WAIT.
    #[default]
    Default,
    /// The aim of Lai and Panda's *Designing Truly One-Sided MPI-2 RMA*, section 4.1, on SCOSCo's data: nothing blocks
    /// before COMPLETE and WAIT.
    TrulyOneSided,
    /// SCOSCo's own: match vectors and completion counters in uncached memory, under registers.
    TriggerOnly,
    /// START waits for the posts of its whole group. All ranks of a cycle must post before they start.
    Immediate,
    /// Operations are noted down and carried out in COMPLETE.
    Deferred,
    /// The baseline that SCOSCo compares with: everything goes as packets between ranks that have to take part
    /// (MPICH's CH3).
    Message,
}

/// When the origin waits for the post of a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Patience {
    /// In START, for all targets.
    Start,
    /// In the first operation that addresses the target.
    Operation,
    /// In COMPLETE; operations go out as soon as a call finds the post there.
    CompletePrompt,
    /// In COMPLETE, which carries out all operations.
    CompleteDeferred,
}

impl Class {
    pub(super) const fn patience(self) -> Patience {
        match self {
            Self::Default | Self::TrulyOneSided => Patience::CompletePrompt,
            Self::TriggerOnly => Patience::Operation,
            Self::Immediate => Patience::Start,
            Self::Deferred | Self::Message => Patience::CompleteDeferred,
        }
    }
}

names! {
    "synchronisation class": pub Class {
        Default => "default",
        TrulyOneSided => "truly-one-sided",
        TriggerOnly => "scosco",
        Immediate => "immediate",
        Deferred => "deferred",
        Message => "message",
    }
}
