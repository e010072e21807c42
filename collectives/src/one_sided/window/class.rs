//! The synchronisation classes that a window can have.

use core::{fmt, str::FromStr};

use crate::UnknownName;

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
    /// All classes.
    pub const ALL: [Self; 6] =
        [Self::Default, Self::TrulyOneSided, Self::TriggerOnly, Self::Immediate, Self::Deferred, Self::Message];

    /// What the class is called on command lines and in measurements.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::TrulyOneSided => "truly-one-sided",
            Self::TriggerOnly => "scosco",
            Self::Immediate => "immediate",
            Self::Deferred => "deferred",
            Self::Message => "message",
        }
    }

    pub(super) const fn patience(self) -> Patience {
        match self {
            Self::Default | Self::TrulyOneSided => Patience::CompletePrompt,
            Self::TriggerOnly => Patience::Operation,
            Self::Immediate => Patience::Start,
            Self::Deferred | Self::Message => Patience::CompleteDeferred,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

const UNKNOWN: UnknownName = UnknownName {
    kind: "synchronisation class",
    known: "default, truly-one-sided, scosco, immediate, deferred and message",
};

impl FromStr for Class {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|class| class.name() == name).ok_or(UNKNOWN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn names_are_parsed() {
        for class in Class::ALL {
            assert_eq!(class.to_string().parse(), Ok(class));
            assert!(UNKNOWN.known.contains(class.name()), "{class} is among the known names");
        }
        assert_eq!("fast".parse::<Class>(), Err(UNKNOWN));
    }
}
