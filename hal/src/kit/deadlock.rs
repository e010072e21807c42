//! The last line of a report on a deadlock, on every backend: who waits for whom in a circle, who waited first, and what
//! was never drained.

use core::fmt;

use crate::LineAddress;

/// Cores of a circle that are named.
const NAMED: usize = 16;

/// What is known of a machine on which nothing can move any more. Displays as the end of a line, which begins with `; ` unless
/// it is empty: `write!(out, "2 of 2 cores wait{deadlock}")`.
pub struct Deadlock<'a> {
    /// Cores of the machine.
    pub cores: usize,
    /// The core that has to act for another one to go on, where it is known; nobody for one that does not wait.
    pub awaits: &'a dyn Fn(usize) -> Option<usize>,
    /// When a core began to wait, in any unit; nothing where that is not known, or the core does not wait.
    pub since: &'a dyn Fn(usize) -> Option<u64>,
    /// Writes what a core waits for.
    pub reason: &'a dyn Fn(usize, &mut fmt::Formatter<'_>) -> fmt::Result,
    /// The lines in the write-combine buffers of cores.
    pub undrained: &'a dyn Fn(usize) -> Option<LineAddress>,
}

impl Deadlock<'_> {
    /// Writes a line for each core: what it waits for, or that it has finished, and what it has not drained. Then writes how
    /// many cores wait, and the deadlock itself.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_with_cores(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waits = |core: &usize| (self.since)(*core).is_some();
        for core in 0..self.cores {
            if waits(&core) {
                write!(out, "core {core} waits for ")?;
                (self.reason)(core, out)?;
                writeln!(out)?;
            } else {
                writeln!(out, "core {core} has finished")?;
            }
            if let Some(line) = (self.undrained)(core) {
                writeln!(out, "core {core} has not drained its write-combine buffer, which holds {line}")?;
            }
        }
        write!(out, "deadlock: {} of {} cores wait{self}", (0..self.cores).filter(waits).count(), self.cores)
    }

    /// The first core of a circle in which each waits for the next, if there is one.
    fn circle(&self) -> Option<usize> {
        (0..self.cores).find(|start| in_circle(self.cores, self.awaits, *start))
    }

    /// The core that has waited longest: of those in the circle, if there is one and it is known since when they wait.
    /// Others may have waited before for something that would have come.
    fn first(&self, circle: Option<usize>) -> Option<usize> {
        let longest = |counts: &dyn Fn(usize) -> bool| {
            let waiting = (0..self.cores).filter(|core| counts(*core));
            waiting.filter_map(|core| Some(((self.since)(core)?, core))).min()
        };
        let in_circle = |core| circle.is_some_and(|start| reaches(self.cores, self.awaits, start, core));
        longest(&in_circle).or_else(|| longest(&|_| true)).map(|(_, core)| core)
    }

    /// A core and the line of an MPB that it has not drained. Waits look at lines of MPBs and not at lines of shared memory:
    /// what is stored to those may well wait for its drain.
    fn undrained(&self) -> Option<(usize, LineAddress)> {
        let undrained = (0..self.cores).filter_map(|core| Some((core, (self.undrained)(core)?)));
        undrained.into_iter().find(|(_, line)| matches!(line, LineAddress::Mpb(_)))
    }
}

/// Whether `core` waits for others that wait for it in the end.
pub(crate) fn in_circle(cores: usize, awaits: &dyn Fn(usize) -> Option<usize>, core: usize) -> bool {
    let next = awaits(core).filter(|next| *next < cores);
    next.is_some_and(|next| reaches(cores, awaits, next, core))
}

/// Whether who is awaited, from `start` on, comes to `core`.
fn reaches(cores: usize, awaits: &dyn Fn(usize) -> Option<usize>, start: usize, core: usize) -> bool {
    core::iter::successors(Some(start), |core| awaits(*core).filter(|next| *next < cores))
        .take(cores)
        .any(|at| at == core)
}

impl fmt::Display for Deadlock<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let circle = self.circle();
        if let Some(start) = circle {
            write!(out, "; core {start}")?;
            let mut core = start;
            for named in 1.. {
                let Some(next) = (self.awaits)(core) else { break };
                if named >= NAMED && next != start {
                    if named == NAMED {
                        out.write_str(" waits for …")?;
                    }
                } else {
                    write!(out, " waits for core {next}")?;
                }
                if next == start {
                    break;
                }
                core = next;
            }
        }
        if let Some(core) = self.first(circle) {
            write!(out, "; core {core} was the first to wait, for ")?;
            (self.reason)(core, out)?;
        }
        if let Some((core, line)) = self.undrained() {
            write!(out, "; core {core} has not drained {line}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};

    use super::*;
    use crate::{CoreId, MpbLine, SharedAddress};

    fn text(awaits: &[Option<usize>]) -> String {
        let (cores, awaits) = (awaits.len(), |core: usize| awaits[core]);
        Deadlock { cores, awaits: &awaits, since: &|_| None, reason: &|_, _| Ok(()), undrained: &|_| None }.to_string()
    }

    #[test]
    fn circles_are_found_and_named() {
        assert_eq!(text(&[Some(1), Some(0)]), "; core 0 waits for core 1 waits for core 0");
        assert_eq!(
            text(&[Some(1), Some(2), Some(3), Some(1)]),
            "; core 1 waits for core 2 waits for core 3 waits for core 1"
        );
        assert_eq!(text(&[Some(0)]), "; core 0 waits for core 0");
        for none in [&[None, Some(0), Some(1)][..], &[None], &[], &[Some(7), None]] {
            assert_eq!(text(none), "");
        }
        // Just longer than what is shown: looking for circles takes the square of that, and Miri looks, too.
        let long: alloc::vec::Vec<_> = (0..17).map(|core| Some((core + 1) % 17)).collect();
        assert!(text(&long).ends_with("core 15 waits for … waits for core 0"), "{}", text(&long));
    }

    #[test]
    fn the_first_and_what_is_not_drained_are_named() {
        let flag = LineAddress::Mpb(MpbLine::new(CoreId::new(0), 5));
        let deadlock = Deadlock {
            cores: 2,
            awaits: &|_| None,
            since: &|core| [None, Some(3)][core],
            reason: &|_, out| out.write_str("a flag from core 0"),
            undrained: &|core| [Some(flag), None][core],
        };
        let expected =
            "; core 1 was the first to wait, for a flag from core 0; core 0 has not drained MPB line 5 of core 0";
        assert_eq!(deadlock.to_string(), expected);
        // Nobody looks at a line of shared memory while it waits.
        let put = LineAddress::Shared(SharedAddress::new(0, 64));
        let deadlock = Deadlock { undrained: &|_| Some(put), ..deadlock };
        assert_eq!(deadlock.to_string(), "; core 1 was the first to wait, for a flag from core 0");
    }

    #[test]
    fn the_first_is_one_of_the_circle() {
        let deadlock = Deadlock {
            cores: 3,
            awaits: &|core| [Some(1), Some(2), Some(1)][core],
            since: &|core| [Some(1), Some(3), Some(2)][core],
            reason: &|core, out| write!(out, "what {core} wants"),
            undrained: &|_| None,
        };
        let expected = "; core 1 waits for core 2 waits for core 1; core 2 was the first to wait, for what 2 wants";
        assert_eq!(deadlock.to_string(), expected);
    }
}
