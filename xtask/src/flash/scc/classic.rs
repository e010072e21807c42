//! The classic way to the same memory: pieces that `bin2obj` makes an object of, and the list of cores that `sccMerge`
//! multiplies it by.

use super::{
    files::Content,
    object::{end, origin},
};
use crate::flash::directory::Directory;
use anyhow::Result;
use descriptions::boards::Memory;
use std::io::{self, Write};

/// What `bin2obj` reads.
pub(super) const MAP: &str = "load.map";

/// What it writes: the private memory of one core.
pub(super) const OBJECT: &str = "core.32.obj";

/// What `sccMerge` reads.
pub(super) const CORES: &str = "cores.mt";

/// Writes all files of the classic way.
///
/// # Errors
///
/// When one cannot be written.
pub(super) fn write(directory: &mut Directory, memory: &Memory, cores: u32, content: &[Content]) -> Result<()> {
    for Content { run, .. } in content {
        directory.file(&piece(run.address), |out| out.write_all(&run.bytes))?;
    }
    directory.file(MAP, |out| {
        content.iter().try_for_each(|Content { run, .. }| writeln!(out, "{:08x} {}", run.address, piece(run.address)))
    })?;
    directory.file(OBJECT, |out| object(out, content))?;
    directory.file(CORES, |out| list(out, memory, cores))
}

/// The name of a piece.
fn piece(address: u32) -> String {
    format!("memory-{address:08x}.bin")
}

fn object(out: &mut impl Write, content: &[Content]) -> io::Result<()> {
    for Content { run, text } in content {
        origin(out, run.address.into())?;
        out.write_all(text)?;
    }
    end(out)
}

/// A core in a line: its number, its controller's tile and side, which of that controller's cores it is, and its
/// object. Those that core 0 starts are among them, since `sccMerge` writes no lookup tables for others.
fn list(out: &mut impl Write, memory: &Memory, cores: u32) -> io::Result<()> {
    writeln!(out, "# pid mch-route mch-dest-id mch-offset-base testcase")?;
    for core in 0..cores {
        let place = memory.place(core);
        let controller = memory.board().controllers[place.controller];
        let ([x, y], side) = (controller.tile, controller.side as u32);
        writeln!(out, "{core} 0x{:02x} {side} {} {OBJECT}", y << 4 | x, place.base)?;
    }
    Ok(())
}
