//! The classic way to the same memory: pieces that `bin2obj` makes an object of, and the list of cores that `sccMerge`
//! multiplies it by.

use super::{
    names::{self, OBJECT},
    object::{Content, end, origin},
};
use crate::flash::directory::Directory;
use anyhow::Result;
use descriptions::boards::Memory;
use std::io::{self, Write};

/// Writes all files of the classic way.
pub(super) fn write(directory: &mut Directory, memory: &Memory, cores: u32, content: &[Content]) -> Result<()> {
    for Content { run, .. } in content {
        directory.file(&names::piece(run.address), |out| out.write_all(&run.bytes))?;
    }
    directory.file(names::MAP, |out| {
        content
            .iter()
            .try_for_each(|Content { run, .. }| writeln!(out, "{:08x} {}", run.address, names::piece(run.address)))
    })?;
    directory.file(OBJECT, |out| object(out, content))?;
    directory.file(names::CORES, |out| list(out, memory, cores))
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
