//! What no program may do.

use std::fmt;

/// Something that is undefined, broken or pointless on the chip: which core did it, where, and what is wrong with it.
///
/// Small, since every access to memory may return one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation(Box<Details>);

#[derive(Clone, PartialEq, Eq, Debug)]
struct Details {
    core: usize,
    address: u32,
    reason: String,
}

impl Violation {
    /// A violation by `core` at its physical `address`, or its port. The reason is one line.
    #[cold]
    pub fn new(core: usize, address: u32, reason: impl Into<String>) -> Self {
        Self(Box::new(Details { core, address, reason: reason.into() }))
    }

    /// Who did it.
    pub fn core(&self) -> usize {
        self.0.core
    }

    /// The physical address, as the core sees it.
    pub fn address(&self) -> u32 {
        self.0.address
    }

    /// What is wrong with it.
    pub fn reason(&self) -> &str {
        &self.0.reason
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "core {} at {:#010x}: {}", self.core(), self.address(), self.reason())
    }
}

impl std::error::Error for Violation {}
