//! The last line of a report on a deadlock, on every backend: who waits for whom in a circle, who waited first, and what
//! was never drained.

use core::fmt;

use crate::{CoreId, LineAddress};

/// Cores of a circle that are named.
const NAMED: usize = 16;

/// What is known of a machine on which nothing can move any more. Displays as the end of a line.
pub(crate) struct Deadlock<'a> {
    /// Cores of the machine.
    pub(crate) cores: usize,
    /// The core that has to act for another one to go on, where it is known; nobody for one that does not wait.
    pub(crate) awaits: &'a dyn Fn(usize) -> Option<usize>,
    /// The core that has waited longest, and what for.
    pub(crate) first: Option<(usize, &'a dyn fmt::Display)>,
    /// A core and the line in its write-combine buffer.
    pub(crate) undrained: Option<(CoreId, LineAddress)>,
}

impl Deadlock<'_> {
    /// A core of a circle in which each waits for the next, if there is one.
    pub(crate) fn in_circle(&self) -> Option<usize> {
        let awaits = |core: usize| (self.awaits)(core).filter(|core| *core < self.cores);
        let comes_back = |start: usize| {
            let mut core = start;
            for _ in 0..self.cores {
                match awaits(core) {
                    Some(next) if next == start => return true,
                    Some(next) => core = next,
                    None => return false,
                }
            }
            false
        };
        (0..self.cores).find(|start| comes_back(*start))
    }
}

impl fmt::Display for Deadlock<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(start) = self.in_circle() {
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
        if let Some((core, reason)) = self.first {
            write!(out, "; core {core} was the first to wait, for {reason}")?;
        }
        if let Some((core, line)) = self.undrained {
            write!(out, "; {core} has not drained {line}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};

    use super::*;

    fn text(awaits: &[Option<usize>]) -> String {
        Deadlock { cores: awaits.len(), awaits: &|core| awaits[core], first: None, undrained: None }.to_string()
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
        let long: alloc::vec::Vec<_> = (0..255).map(|core| Some((core + 1) % 255)).collect();
        assert!(text(&long).ends_with("core 15 waits for … waits for core 0"), "{}", text(&long));
    }

    #[test]
    fn the_first_and_what_is_not_drained_are_named() {
        let line = LineAddress::Mpb(crate::MpbLine::new(CoreId::new(0), 5));
        let deadlock = Deadlock {
            cores: 2,
            awaits: &|_| None,
            first: Some((1, &"a flag from core 0")),
            undrained: Some((CoreId::new(0), line)),
        };
        let expected =
            "; core 1 was the first to wait, for a flag from core 0; core 0 has not drained MPB line 5 of core 0";
        assert_eq!(deadlock.to_string(), expected);
    }
}
