//! Stopping a run at a moment, and looking at all of it: where cores are, what they wait for, what they hold of a line.
//!
//! A run is a pure function of what it is given, so going back to a moment is going there again.

use std::fmt;

use crate::{CoreId, LINE_BYTES, Line, LineAddress, MPB_LINES, MpbLine, SharedAddress, Trace, topology};

use super::{Failure, SimCore, failure::Time, faults};

/// Where a run stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// Before anything takes effect at this virtual time, in picoseconds, or later.
    Time(u64),
    /// Before the access to what cores share that has this number takes effect, as [`Work`](super::Work) counts them, from 1 on.
    Access(u64),
}

/// A line to look at: `mpb:CORE:LINE` or `memory:CONTROLLER:OFFSET`.
///
/// # Errors
/// What is wrong with the text.
pub fn parse_line(text: &str, cores: usize, controllers: usize) -> Result<LineAddress, String> {
    let wrong = || format!("`{text}` is no line: expected is mpb:CORE:LINE, or memory:CONTROLLER:OFFSET, in bytes");
    let mut parts = text.split(':');
    let (Some(kind), Some(whose), Some(which), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return Err(wrong());
    };
    let number = |digits: &str| match digits.strip_prefix("0x") {
        Some(digits) => usize::from_str_radix(digits, 16).map_err(|_| wrong()),
        None => digits.parse::<usize>().map_err(|_| wrong()),
    };
    let (whose, which) = (number(whose)?, number(which)?);
    let below = |number: usize, end: usize, what: &str| match number < end {
        true => Ok(()),
        false => Err(format!("`{text}` does not exist: {what} are below {end}")),
    };
    match kind {
        "mpb" => {
            below(whose, cores, "cores")?;
            below(which, MPB_LINES, "lines of an MPB")?;
            Ok(LineAddress::Mpb(MpbLine::new(CoreId::new(whose), which)))
        }
        "memory" => {
            below(whose, controllers, "controllers")?;
            below(which, topology::SHARED_BYTES_PER_CONTROLLER, "offsets")?;
            Ok(LineAddress::Shared(SharedAddress::new(whose, which / LINE_BYTES * LINE_BYTES)))
        }
        _ => Err(wrong()),
    }
}

/// One core of a run that has stopped, in words: where it is, what it waits for, what is under way, what its write-combine
/// buffer holds, and what it has of the given lines. The first core says first what memory has of them.
pub struct State<'s> {
    /// Which core.
    pub core: &'s SimCore,
    /// Why the run has stopped.
    pub why: &'s Failure,
    /// Lines to look at.
    pub lines: &'s [LineAddress],
}

impl fmt::Display for State<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let platform = self.core.platform();
        let (id, shared) = (platform.id(), platform.shared());
        if id.index() == 0 {
            writeln!(out, "{}", self.why)?;
            for at in self.lines {
                writeln!(out, "{at}: memory has {}", Bytes(&shared.memory.read_line(*at), u32::MAX))?;
            }
        }
        let engine = shared.engine.borrow();
        let wait = &engine.waits[id.index()];
        write!(out, "rank {}, at {}: ", id.index(), Time(engine.clock_ps(id.index())))?;
        if !platform.stands() {
            return writeln!(out, "has finished");
        }
        match wait.awaited() {
            Some(reason) => writeln!(out, "waits since {} for {reason}", Time(wait.since_ps))?,
            None => writeln!(out, "runs")?,
        }
        drop(engine);
        writeln!(out, "{}", faults::place(self.core))?;
        let mut under_way = Vec::new();
        self.core.tell_trace(&mut |line| under_way.extend(named(&line.to_string())));
        if !under_way.is_empty() {
            writeln!(out, "  under way: {}", under_way.join(" > "))?;
        }
        let lines = self.core.cached_lines();
        if let Some(pending) = lines.pending() {
            let what = format_args!("{}: {}", pending.at, Bytes(&pending.data, pending.mask));
            writeln!(out, "  its write-combine buffer holds {what}, which nobody else sees yet")?;
        }
        for at in self.lines {
            let now = shared.memory.read_line(*at);
            if let Some(line) = lines.lookup(*at) {
                let (state, bytes) = (if line == now { "as memory" } else { "unlike memory" }, Bytes(&line, u32::MAX));
                writeln!(out, "  its L1 has {at}, {state}: {bytes}")?;
            }
            let LineAddress::Shared(address) = *at else { continue };
            if let Some((line, dirty)) = self.core.copy_of(address) {
                let state = match dirty {
                    0 if line == now => "clean, as memory",
                    0 => "clean, unlike memory",
                    _ => "dirty",
                };
                writeln!(out, "  its cache has {at}, {state}: {}", Bytes(&line, u32::MAX))?;
            }
        }
        Ok(())
    }
}

/// What a line of a trace says is under way.
fn named(line: &str) -> Option<String> {
    let mut words = line.strip_prefix("o ")?.splitn(6, ' ').skip(2);
    let (peer, bytes, kind, name) = (words.next()?, words.next()?, words.next()?, words.next()?);
    // Waits are told already.
    let mut text = (kind != "w").then(|| name.to_string())?;
    if peer != "-" {
        text += &format!(" (core {peer})");
    }
    if bytes != "0" {
        text += &format!(" of {bytes} bytes");
    }
    Some(text)
}

/// Bytes of a line; those that do not count are dots.
struct Bytes<'l>(&'l Line, u32);

impl fmt::Display for Bytes<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(line, mask) = self;
        for (index, byte) in line.0.iter().enumerate() {
            let gap = if index > 0 && index % 4 == 0 { " " } else { "" };
            match mask >> index & 1 {
                0 => write!(out, "{gap}..")?,
                _ => write!(out, "{gap}{byte:02x}")?,
            }
        }
        Ok(())
    }
}
