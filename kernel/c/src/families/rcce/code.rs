//! What services return: RCCE's error numbers, counted from its base; and states of requests below zero.

use kernel::collectives::Error;

/// The call did what it should.
pub(super) const SUCCESS: i32 = 0;
/// A request goes on.
pub(super) const PENDING: i32 = -2;
/// A request waits for its turn behind others.
pub(super) const RESERVED: i32 = -3;
/// Requests have to be complete first. Programs get [`MALLOC`], and a line.
pub(super) const REQUESTS: i32 = -4;

pub(super) const TARGET: i32 = 1;
pub(super) const SOURCE: i32 = 2;
pub(super) const ID: i32 = 3;
pub(super) const MESSAGE_LENGTH: i32 = 4;
pub(super) const FLAG_UNDEFINED: i32 = 5;
pub(super) const DATA_OVERLAP: i32 = 7;
pub(super) const FLAG_NOT_ALLOCATED: i32 = 12;
pub(super) const COMM_UNDEFINED: i32 = 22;
pub(super) const ILLEGAL_OP: i32 = 23;
pub(super) const ILLEGAL_TYPE: i32 = 24;
pub(super) const MALLOC: i32 = 25;

/// The number for an error of `collectives`.
pub(super) fn of(error: Error) -> i32 {
    match error {
        Error::NoSuchRank { .. } | Error::SelfMessage { .. } | Error::RegisterOutOfReach { .. } => ID,
        Error::MessageLength { .. } | Error::Length { .. } => MESSAGE_LENGTH,
        Error::BeyondLines { .. } => TARGET,
        Error::NoSpareLines { .. } | Error::OutOfSharedMemory { .. } | Error::PartTooLarge { .. } => MALLOC,
        _ => COMM_UNDEFINED,
    }
}

/// The result of a service that only says whether it worked.
pub(super) fn status(result: Result<(), i32>) -> i32 {
    result.err().unwrap_or(SUCCESS)
}
