//! Numbers of the ABI that several modules have.

use super::handles::Handle;

pub(super) const ANY_SOURCE: i32 = -1;
pub(super) const ANY_TAG: i32 = -2;
pub(super) const PROC_NULL: i32 = -3;
pub(super) const ROOT: i32 = -4;
pub(super) const UNDEFINED: i32 = -32766;

pub(super) const IDENT: i32 = 201;
pub(super) const CONGRUENT: i32 = 202;
pub(super) const SIMILAR: i32 = 203;
pub(super) const UNEQUAL: i32 = 204;

pub(super) const COMM_NULL: Handle = 0x100;
pub(super) const COMM_WORLD: Handle = 0x101;
pub(super) const COMM_SELF: Handle = 0x102;

pub(super) const GROUP_NULL: Handle = 0x108;

/// `MPI_IN_PLACE`.
pub(super) const IN_PLACE: usize = 1;
