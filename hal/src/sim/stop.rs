//! Stopping a run at a moment, and looking at all of it: where cores are, what they wait for, what they hold of a line.
//!
//! A run is a pure function of what it is given, so going back to a moment is going there again.

use std::fmt;

use crate::{CoreId, LINE_BYTES, Line, LineAddress, MPB_LINES, MpbLine, SharedAddress, Trace, topology};

use super::{
    Failure, SimCore,
    failure::Time,
    faults,
    memory::Memory,
    platform::{Part, Running},
};

/// Where a run stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// Before anything takes effect at this virtual time, in picoseconds, or later.
    Time(u64),
    /// Before the access to what cores share that has this number takes effect, as [`Work`](super::Work) counts them, from 1 on.
    Access(u64),
}

/// Lines of a part of a window whose bytes are shown.
const SHOWN_LINES: usize = 32;

/// What to look at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shown {
    /// A line.
    Line(LineAddress),
    /// All windows of this number: the parts of all ranks, or of one.
    Window(u32, Option<CoreId>),
}

/// A line to look at.
fn parse_line(text: &str, cores: usize, controllers: usize) -> Result<LineAddress, String> {
    let wrong = || {
        let known = "mpb:CORE:LINE, memory:CONTROLLER:OFFSET, in bytes, or window:NUMBER";
        format!("`{text}` is nothing to show: expected is {known}")
    };
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
/// buffer holds, and what it has of the given lines and windows. The first core says first what memory has of them.
pub struct State<'s> {
    /// Which core.
    pub core: &'s SimCore,
    /// Why the run has stopped.
    pub why: &'s Failure,
    /// What to look at.
    pub shown: &'s [Shown],
}

/// A line to look at, and of which part of a window it is one.
struct Looked {
    at: LineAddress,
    /// The number of the window, whose part it is, and where in the part the line is, in bytes.
    within: Option<(u32, CoreId, usize)>,
}

impl fmt::Display for Looked {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.within {
            Some((window, core, offset)) => write!(out, "window {window} of rank {}, byte {offset}", core.index()),
            None => self.at.fmt(out),
        }
    }
}

impl Shown {
    /// What a text says: `mpb:CORE:LINE`, `memory:CONTROLLER:OFFSET`, `window:NUMBER` or `window:NUMBER@RANK`.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str, cores: usize, controllers: usize) -> Result<Self, String> {
        let Some(which) = text.strip_prefix("window:") else {
            return parse_line(text, cores, controllers).map(Self::Line);
        };
        let wrong = || format!("`{text}` is no window: expected is window:NUMBER, or window:NUMBER@RANK");
        let (number, rank) = which.split_once('@').map_or((which, None), |(number, rank)| (number, Some(rank)));
        let rank = match rank.map(|rank| rank.parse::<usize>().map_err(|_| wrong())).transpose()? {
            Some(rank) if rank >= cores => return Err(format!("`{text}` does not exist: ranks are below {cores}")),
            rank => rank.map(CoreId::new),
        };
        Ok(Self::Window(number.parse().map_err(|_| wrong())?, rank))
    }

    /// The parts of windows that are meant, if they are still exposed.
    fn parts<'p>(self, parts: &'p [Part], memory: &Memory) -> impl Iterator<Item = &'p Part> {
        parts.iter().filter(move |part| match self {
            Self::Line(_) => false,
            Self::Window(window, rank) => {
                let is_meant = part.window == window && rank.is_none_or(|rank| rank == part.core);
                is_meant && memory.if_there(part.start, part.len_bytes).is_some()
            }
        })
    }
}

impl Part {
    /// Its lines.
    fn lines(&self) -> impl ExactSizeIterator<Item = Looked> {
        let Self { window, core, start, len_bytes } = *self;
        let first = start.line_start();
        let before = start.offset() - first.offset();
        (0..(before + len_bytes).div_ceil(LINE_BYTES)).map(move |index| Looked {
            at: LineAddress::Shared(first.plus(index * LINE_BYTES)),
            within: Some((window, core, (index * LINE_BYTES).saturating_sub(before))),
        })
    }
}

impl State<'_> {
    /// Says what memory has.
    fn write_memory(&self, parts: &[Part], out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let memory = &self.core.platform().shared().memory;
        let write = |line: &Looked, out: &mut fmt::Formatter<'_>| {
            writeln!(out, "{line}: memory has {}", Bytes(&memory.read_line(line.at), u32::MAX))
        };
        for &shown in self.shown {
            match shown {
                Shown::Line(at) => write(&Looked { at, within: None }, out)?,
                Shown::Window(window, rank) if shown.parts(parts, memory).next().is_none() => {
                    let whose = rank.map_or(String::new(), |rank| format!(" of rank {}", rank.index()));
                    writeln!(out, "window {window}{whose}: there is none now")?;
                }
                Shown::Window(..) => {}
            }
            for part in shown.parts(parts, memory) {
                part.lines().take(SHOWN_LINES).try_for_each(|line| write(&line, out))?;
                match part.lines().len() {
                    0 => writeln!(out, "window {} of rank {}: it is empty", part.window, part.core.index())?,
                    lines if lines > SHOWN_LINES => {
                        writeln!(out, "  and {} lines more of that part", lines - SHOWN_LINES)?;
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Says what the core has of what is shown: of a part, no more than [`SHOWN_LINES`] lines.
    fn write_all_held(&self, parts: &[Part], out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let memory = &self.core.platform().shared().memory;
        for &shown in self.shown {
            if let Shown::Line(at) = shown {
                self.write_held(&Looked { at, within: None }, out)?;
            }
            for part in shown.parts(parts, memory) {
                let mut left = SHOWN_LINES;
                for line in part.lines() {
                    match (self.holds(line.at), left) {
                        (false, _) => {}
                        (true, 0) => {
                            writeln!(out, "  and more lines of that part")?;
                            break;
                        }
                        (true, _) => {
                            self.write_held(&line, out)?;
                            left -= 1;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether the core has a line at all.
    fn holds(&self, at: LineAddress) -> bool {
        let copy = match at {
            LineAddress::Shared(address) => self.core.copy_of(address).is_some(),
            LineAddress::Mpb(_) => false,
        };
        copy || self.core.cached_lines().lookup(at.key()).is_some()
    }

    /// Says what the core has of a line.
    fn write_held(&self, line: &Looked, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let now = self.core.platform().shared().memory.read_line(line.at);
        if let Some(held) = self.core.cached_lines().lookup(line.at.key()) {
            let (state, bytes) = (if held == now { "as memory" } else { "unlike memory" }, Bytes(&held, u32::MAX));
            writeln!(out, "  its L1 has {line}, {state}: {bytes}")?;
        }
        let LineAddress::Shared(address) = line.at else { return Ok(()) };
        if let Some((held, dirty)) = self.core.copy_of(address) {
            let state = match dirty {
                0 if held == now => "clean, as memory".into(),
                0 => "clean, unlike memory".into(),
                u32::MAX => "dirty".into(),
                _ => format!("dirty in {} bytes", dirty.count_ones()),
            };
            writeln!(out, "  its cache has {line}, {state}: {}", Bytes(&held, u32::MAX))?;
        }
        Ok(())
    }
}

impl fmt::Display for State<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let platform = self.core.platform();
        let (id, shared) = (platform.id(), platform.shared());
        if id.index() == 0 {
            writeln!(out, "{}", self.why)?;
            self.write_memory(&shared.parts.borrow(), out)?;
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
        // The stack of a core that runs, and says this of itself, changes meanwhile.
        if !Running::is(platform) {
            writeln!(out, "{}", faults::place(self.core))?;
        }
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
        drop(lines);
        self.write_all_held(&shared.parts.borrow(), out)
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
