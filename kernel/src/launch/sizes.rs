//! What the words of a command line ask for on the host: cores, and their memory.

use hal::limits;

use crate::args;

/// What unoptimised code needs in place of one byte of stack, roughly.
const STACK_FACTOR: usize = if cfg!(debug_assertions) { 4 } else { 1 };

/// How many cores the words ask for.
pub(super) fn cores(line: &str) -> Result<Option<usize>, String> {
    let Some(cores) = number(line, "cores")? else { return Ok(None) };
    match usize::try_from(cores) {
        Ok(cores @ 1..=MAX_CORES) => Ok(Some(cores)),
        _ => Err(format!("option `cores={cores}`: a machine has 1 to {MAX_CORES} cores")),
    }
}

/// Bytes of a core's stack.
pub(super) fn stack_bytes(line: &str) -> Result<usize, String> {
    Ok((kib(line, "stack_kib", limits::STACK_KIB, limits::MOST_STACK_KIB)? * STACK_FACTOR) << 10)
}

/// KiB of the heap of every core but the first, and of core 0's.
pub(super) fn heaps_kib(line: &str) -> Result<[usize; 2], String> {
    let others = kib(line, "heap_kib", limits::HEAP_KIB, MOST_HEAP_KIB)?;
    Ok([others, kib(line, "heap0_kib", others, MOST_HEAP_KIB)?])
}

/// A number of KiB.
fn kib(line: &str, key: &str, default: usize, most: usize) -> Result<usize, String> {
    match number(line, key)?.map(usize::try_from) {
        None => Ok(default),
        Some(Ok(kib)) if (1..=most).contains(&kib) => Ok(kib),
        Some(_) => Err(format!("option `{key}` is a number of KiB from 1 to {most}")),
    }
}

/// A gibibyte: more than a core of a 32-bit machine can have.
pub(super) const MOST_HEAP_KIB: usize = 1 << 20;

/// What a communicator can have.
const MAX_CORES: usize = collectives::comm::group::MAX_RANKS;

pub(super) fn number(line: &str, key: &str) -> Result<Option<u64>, String> {
    let parse = |text: &str| text.parse().map_err(|error| format!("option `{key}={text}`: {error}"));
    args::value(line, key).map(parse).transpose()
}
