//! What other runs of a program than the plain one have shown.

use crate::finding::Access;

/// How the search for a run that goes wrong went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explored {
    /// Accesses of the plain run.
    pub accesses: u64,
    /// Runs that walked through the orders of accesses.
    pub in_order: u64,
    /// Whether these were all that there are.
    pub is_complete: bool,
    /// Runs by chance.
    pub by_chance: u64,
    /// Runs that were broken off.
    pub broken_off: u64,
    /// The depth of mistakes for which runs are made by chance.
    pub depth: u32,
}

/// A run that goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failing {
    /// What it did differently from the plain run when it was met: a number of things.
    pub met_with: u64,
    /// Whether there was time to try to leave out each that is left.
    pub is_least: bool,
    /// Runs that it took to leave out the others.
    pub shrinking: u64,
    /// What it does differently, as the simulator is told it.
    pub deviations: String,
    /// How it ends, in words.
    pub end: String,
}

/// A step of what happened in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// When, in picoseconds.
    pub time_ps: u64,
    /// How often in a row.
    pub times: u32,
    /// Who does what, and where.
    pub access: Access,
}

impl Explored {
    /// Reads words, each a key with its value.
    #[must_use]
    pub fn parse(words: &str) -> Option<Self> {
        Some(Self {
            accesses: value(words, "accesses")?.parse().ok()?,
            in_order: value(words, "in_order")?.parse().ok()?,
            is_complete: value(words, "is_complete")?.parse().ok()?,
            by_chance: value(words, "by_chance")?.parse().ok()?,
            broken_off: value(words, "broken_off")?.parse().ok()?,
            depth: value(words, "depth")?.parse().ok()?,
        })
    }
}

impl Failing {
    /// Reads words, each a key with its value; the last one has all the rest.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let (words, end) = line.split_once(" end=")?;
        Some(Self {
            met_with: value(words, "met_with")?.parse().ok()?,
            is_least: value(words, "is_least")?.parse().ok()?,
            shrinking: value(words, "shrinking")?.parse().ok()?,
            deviations: value(words, "deviations")?.to_owned(),
            end: end.to_owned(),
        })
    }
}

impl Step {
    /// Reads fields between tabs: picoseconds, how often, and an access as a finding has it.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split('\t').map(str::to_owned);
        let (time_ps, times) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        let mut accesses = Access::parse_all(&mut fields)?.into_iter();
        let access = accesses.next()?;
        accesses.next().is_none().then_some(Self { time_ps, times, access })
    }
}

fn value<'w>(words: &'w str, key: &str) -> Option<&'w str> {
    words.split(' ').find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_explored_is_read() {
        let line = "accesses=40 in_order=12 is_complete=false by_chance=3 broken_off=1 depth=3";
        let explored = Explored::parse(line).unwrap();
        assert_eq!((explored.accesses, explored.in_order, explored.by_chance, explored.depth), (40, 12, 3, 3));
        assert!(Explored::parse("accesses=40").is_none());
        let line = "met_with=9 is_least=true shrinking=14 deviations=drain:1:2,behind:0:4:1 end=core 1 has end=3";
        let failing = Failing::parse(line).unwrap();
        assert_eq!((failing.deviations.as_str(), failing.end.as_str()), ("drain:1:2,behind:0:4:1", "core 1 has end=3"));
        let step = Step::parse("7\t2\tA\t1\tstores\tput\tF\trun\t/a.rs\t7").unwrap();
        assert_eq!((step.time_ps, step.times, step.access.rank, step.access.frames.len()), (7, 2, 1, 1));
        assert!(Step::parse("7\t2").is_none());
    }
}
