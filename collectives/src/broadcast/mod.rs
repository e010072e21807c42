//! Broadcast: one rank's message to all.
//!
//! All algorithms have one interface, and leave the communicator in the same state: ranks may use different ones one after the
//! other, as long as all use the same one at a time.

mod oc_bcast;

use core::{fmt, str::FromStr};

use hal::{Clock, Mpb, MpbCopy, Wait};

use crate::{Comm, Error};

pub use self::oc_bcast::OcBcast;

/// A broadcast algorithm, with its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Broadcast {
    /// The pipelined k-ary tree of the OC-Bcast paper.
    OcBcast(OcBcast),
}

impl Default for Broadcast {
    fn default() -> Self {
        Self::OcBcast(OcBcast::default())
    }
}

impl Broadcast {
    /// Broadcasts `message` from rank `root` to all. Collective: all ranks name the same algorithm, root and length.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for the root, and those of the algorithm's parameters; on every rank alike, with nothing sent.
    pub fn broadcast<C: Mpb + MpbCopy + Clock + Wait>(
        &self,
        comm: &Comm<'_, C>,
        message: &mut [u8],
        root: usize,
    ) -> Result<(), Error> {
        comm.check_rank(root)?;
        match self {
            Self::OcBcast(parameters) => parameters.broadcast(comm, message, root),
        }
    }
}

impl<C: Mpb + MpbCopy + Clock + Wait> Comm<'_, C> {
    /// Broadcasts `message` from rank `root` to all by the fastest algorithm. Collective, with equal lengths.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for the root.
    pub fn broadcast(&self, message: &mut [u8], root: usize) -> Result<(), Error> {
        Broadcast::default().broadcast(self, message, root)
    }
}

/// No broadcast algorithm has this name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownBroadcast;

impl fmt::Display for UnknownBroadcast {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("no such broadcast; there are default and oc-kN")
    }
}

impl FromStr for Broadcast {
    type Err = UnknownBroadcast;

    /// Understands the names that measurements use: `oc-k7` and the like.
    fn from_str(name: &str) -> Result<Self, UnknownBroadcast> {
        match name {
            "default" => Ok(Self::default()),
            _ => {
                let k = name.strip_prefix("oc-k").and_then(|k| k.parse().ok()).ok_or(UnknownBroadcast)?;
                Ok(Self::OcBcast(OcBcast { k }))
            }
        }
    }
}
