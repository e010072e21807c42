//! The papers, a module for each: its published numbers, what is run to measure them again, what is claimed, and its figures.
//! A new paper is a new module here, and an entry of [`ALL`]; `tests/papers/README.md` says step by step.

mod oc_bcast;
mod ours;
mod scalable_barriers;
mod scosco;
mod truly_one_sided;

use crate::{bench::Bench, fidelity::Entry, figures::figure::Figure};

/// A paper, and all that is done about it here.
pub(crate) struct Paper {
    /// As short as it can be told apart.
    pub(crate) name: &'static str,
    /// Authors and title.
    pub(crate) reference: &'static str,
    /// What measures its numbers again, with claims.
    pub(crate) benches: &'static [Bench],
    /// Its numbers beside ours.
    pub(crate) entries: &'static [Entry],
    /// The counterparts of its figures and tables.
    pub(crate) figures: &'static [Figure],
}

/// All papers, in the order in which tables and the report have them.
pub(crate) const ALL: [&Paper; 4] =
    [&scosco::PAPER, &oc_bcast::PAPER, &truly_one_sided::PAPER, &scalable_barriers::PAPER];

/// All benches: those of papers, and those of nothing but ours.
pub(crate) fn benches() -> impl Iterator<Item = &'static Bench> {
    ALL.into_iter().flat_map(|paper| paper.benches).chain(ours::BENCHES)
}

/// All published numbers.
pub(crate) fn entries() -> impl Iterator<Item = &'static Entry> {
    ALL.into_iter().flat_map(|paper| paper.entries)
}

/// All figures, each with its paper.
pub(crate) fn figures() -> impl Iterator<Item = (&'static Paper, &'static Figure)> {
    ALL.into_iter().flat_map(|paper| paper.figures.iter().map(move |figure| (paper, figure)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Run;
    use host::machine::Variant;
    use kernel::{
        Arguments, Program,
        args::KnownOption,
        programs::{Fft, Terrain, Wave},
    };
    use measurements::*;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn names_differ_and_can_be_file_names() {
        let names: BTreeSet<_> = benches().map(|bench| bench.name).collect();
        assert_eq!(names.len(), benches().count());
        assert!(names.iter().flat_map(|name| name.chars()).all(|letter| letter.is_ascii_lowercase() || letter == '-'));
    }

    #[test]
    fn machines_are_well_formed() {
        let is_well_formed = |run: &Run| run.value::<Variant>("machine").is_some() || run.machine().is_some();
        let has_machine = |run: &Run| run.words.iter().any(|word| word.starts_with("machine="));
        assert!(benches().flat_map(Bench::runs).filter(has_machine).all(|run| is_well_formed(&run)));
    }

    /// The options of every program that benches run.
    fn known_options() -> BTreeMap<&'static str, &'static [KnownOption]> {
        let mut all = BTreeMap::new();
        macro_rules! options {
            ($($program:ty),+) => { all.extend([$((<$program>::NAME, <$program>::OPTIONS)),+]) };
        }
        measurements::programs!(options);
        options!(Fft, Instructions, Terrain, Wave);
        all
    }

    #[test]
    fn programs_understand_what_benches_tell_them() {
        let known = known_options();
        for run in benches().flat_map(Bench::runs) {
            let options = known.get(run.program).unwrap_or_else(|| panic!("there is no program {}", run.program));
            for word in run.program_words() {
                assert!(Arguments::new(word, options).is_ok(), "{} {word}", run.program);
            }
        }
    }

    #[test]
    fn every_bench_runs_something() {
        assert!(benches().all(|bench| {
            let runs = !bench.runs.is_empty() || bench.measure.is_some();
            runs && !bench.name.is_empty() && !bench.about.is_empty()
        }));
    }
}
