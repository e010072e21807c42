//! What the image was told when it was loaded, with the board's description in it: the same on every core.

use descriptions::boards::{Handed, Wrong, map};

use crate::bare::{options, private::PrivateOnce};

static HANDED: PrivateOnce<Handed<'static>> = PrivateOnce::new();

/// What the image was told.
///
/// # Panics
/// If it was not read yet.
pub fn handed() -> &'static Handed<'static> {
    HANDED.get().expect("the description of the board is asked for after it was read")
}

/// The number of cores of this machine.
pub fn core_count() -> usize {
    handed().setting.cores as usize
}

/// The command line of the image.
pub fn command_line() -> &'static str {
    handed().command_line
}

/// The value of the word `key=value` of the command line; the last one counts.
pub fn option(key: &str) -> Option<&'static str> {
    options::value_of(command_line(), key)
}

/// The input files with their names and contents.
pub fn modules() -> impl Iterator<Item = (&'static str, &'static [u8])> {
    handed().modules().map(|module| {
        let start = core::ptr::with_exposed_provenance(module.start as usize);
        // SAFETY: the file was loaded there, above the heap, the pages are mapped read-only, and nobody else knows of
        // them.
        let contents = unsafe { core::slice::from_raw_parts(start, module.len_bytes as usize) };
        (module.name, contents)
    })
}

/// Reads what the image was told.
///
/// # Errors
/// If it cannot be read.
pub(super) fn read() -> Result<(), Wrong> {
    let block = core::ptr::with_exposed_provenance::<u8>(map::HANDED as usize);
    // SAFETY: the address range is RAM of every board, nobody writes to it, and every byte is one.
    let block = unsafe { core::slice::from_raw_parts(block, map::HANDED_BYTES as usize) };
    HANDED.set(Handed::read(block)?);
    Ok(())
}
